"""Whether an interval ever begins higher in a worse sample: perfect ones, spoilt miss by miss."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from _study import RESULTS, arguments, markdown_table, run_study, write_page

from dmfroc import Predictions, evaluate
from dmfroc.measures import MEASURES
from dmfroc.results.estimate import Estimate
from dmfroc.simulation.study import Study, grid

N_MISSES = 12
SAMPLES_PER_BATCH = 28
SMALLEST, LARGEST = 8, 79  # observations of a class
SHOWN = (1, 2, 4, 6, 8, 12)
ROUNDING = 1e-9


def spoilt(generator: np.random.Generator, n_classes: int) -> list[dict]:
    """Return how often intervals end better than they should, by measure and number of misses."""
    batch = pd.concat(
        against_earlier(ends_by_misses(generator, n_classes)) for _ in range(SAMPLES_PER_BATCH)
    )
    counts = batch.groupby(["measure", "misses"], sort=False).agg(
        samples=("above_perfect", "size"),
        above_perfect=("above_perfect", "sum"),
        worse=("is_worse", "sum"),
        rises=("rises", "sum"),
        total_rise=("rise", "sum"),
    )
    return counts.reset_index().to_dict("records")


def ends_by_misses(generator: np.random.Generator, n_classes: int) -> pd.DataFrame:
    """Return values, and the worse ends of their intervals, after each miss in a perfect sample.

    An observation falls behind some of the others or behind all, and is predicted as something else
    if it falls far; it may fall again. Left out are measures whose best value is another sample's.
    """
    rows: list[tuple] = []
    measures: str | list[str] = "all"
    sizes = generator.integers(SMALLEST, LARGEST + 1, n_classes)
    classes = np.repeat(np.arange(n_classes), sizes)
    scores = 2 * np.eye(n_classes)[classes] + generator.random((len(classes), n_classes))
    for n_misses in range(N_MISSES + 1):
        predictions = Predictions.from_arrays(classes, scores)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = evaluate(predictions, measures=measures).estimates
        if n_misses == 0:
            measures = [name for name in found if is_best(found[name], predictions)]
        for measure in measures:
            estimate = found[measure]
            sign = 1 if MEASURES[measure].greater_is_better else -1
            end = sign * estimate.interval[0 if sign > 0 else 1]
            rows.append((measure, n_misses, sign * estimate.value, end))
        row = generator.integers(len(classes))
        scores[row, classes[row]] -= generator.uniform(0, 3)
    return pd.DataFrame(rows, columns=["measure", "misses", "value", "end"]).dropna()


def is_best(estimate: Estimate, predictions: Predictions) -> bool:
    """Whether the value is the best that the measure can have."""
    measure = MEASURES[estimate.measure]
    best = measure.range_in(predictions, sizes_are_fixed=True)[int(measure.greater_is_better)]
    return bool(np.isclose(estimate.value, best, rtol=0, atol=1e-6))


def against_earlier(table: pd.DataFrame) -> pd.DataFrame:
    """Put each sample beside the perfect one that it was, and beside the one a miss before."""
    by_measure = table.groupby("measure", sort=False)
    rise = by_measure["end"].diff()
    table["above_perfect"] = table["end"] > by_measure["end"].transform("first") + ROUNDING
    table["is_worse"] = by_measure["value"].diff() < -ROUNDING
    table["rises"] = table["is_worse"] & (rise > ROUNDING)
    table["rise"] = rise.where(table["rises"], 0.0)
    return table[table["misses"] > 0]


def study() -> Study:
    settings = grid(n_classes=[2, 3, 4])
    return Study("misses", spoilt, settings, replications=10, seed=1, directory=RESULTS)


def misses_table(table: pd.DataFrame) -> str:
    """Return how often the end is better than it should be, by measure."""
    rows = []
    for measure, part in table.groupby("measure", sort=False):
        by_misses = part.groupby("misses")[["above_perfect", "samples"]].sum()
        shares = 100 * by_misses["above_perfect"] / by_misses["samples"]
        whole = part[["samples", "above_perfect", "worse", "rises", "total_rise"]].sum()
        rows.append(
            [
                f"`{measure}`",
                *(f"{shares[n]:.1f}" for n in SHOWN if n in shares),
                f"{100 * whole['above_perfect'] / whole['samples']:.2f}",
                f"{100 * whole['rises'] / max(whole['worse'], 1):.1f}",
                f"{whole['total_rise'] / max(whole['rises'], 1):.4f}",
            ]
        )
    header = ["measure", *(f"{n}, %" for n in SHOWN), "1 to 12, %"]
    return markdown_table([*header, "better than before the miss, %", "on average by"], rows)


def page(table: pd.DataFrame) -> str:
    n_perturbed = table.groupby("measure")["samples"].sum().max()
    return f"""# Worse samples, and where their intervals begin

Made by `experiments/misses.py`: perfect samples of 2 to 4 classes of {SMALLEST} to {LARGEST}
observations are spoilt miss by miss, up to {N_MISSES}, by random observations that fall behind
some of the others or behind all; {n_perturbed:,} samples with misses in all. In how many with 1, 2
or more misses does the jackknife's 95 % interval begin above that of the perfect sample (of
measures that are better when smaller: end below it)? Where a miss made the value worse, in how many
does the interval begin above that of the sample before it, and by how much?

A perfect sample's bound supposes nothing of what was not seen, the interval of many misses that
what was not seen is like them. Where six to twelve misses decide, the one gives way to the other
([uncertainty](../uncertainty.md)): there a worse sample can have the shorter interval.

{misses_table(table)}
"""


def main() -> None:
    global N_MISSES, SAMPLES_PER_BATCH
    options = arguments(__doc__, is_study=True)
    if options.quick:
        N_MISSES, SAMPLES_PER_BATCH = 2, 1
    table = run_study(study(), options)
    if options.quick:
        print(page(table))
    else:
        write_page("misses", page(table))


if __name__ == "__main__":
    main()
