"""Measure how much of the failures of intervals a rehearsal of one sample sees."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import trust
from _runner import Study
from _study import RESULTS, arguments, markdown_table, run_studies, write_page
from trust import LEVEL, sample, truths

from dmfroc import evaluate
from dmfroc.applications import rehearse

N_SAMPLES = 40  # of a rehearsal
N_DIRECT = 10  # samples of the study beside each rehearsal
# The cells of `trust` that cover least with today's code, and some that hold
WORST = [
    ("K=50, n=500", "integrated_calibration_index"),
    ("K=50, n=500", "e90"),
    ("K=3, 3 % label noise", "e90"),
    ("K=3, strong", "e50"),
    ("K=2, 2 % label noise", "emax"),
    ("K=2, strong, uneven", "e50"),
    ("K=2, 5 % positives", "e50"),
    ("K=3, calibrated", "e50"),
    ("K=2, strong, uneven", "e90"),
    ("K=8, 1 % inverted", "max_informedness"),
]
OTHERS = [
    ("K=3, good", "dmf_auc", "paper_bootstrap"),
    ("K=3, good", "hand_till"),
    ("K=3, Cauchy", "fpr_at"),
    ("90/9/1, n=300", "hand_till"),
    ("K=3, 12 clusters of 25", "accuracy"),
    ("K=2, strong, uneven", "log_loss"),
]


def cell(
    generator: np.random.Generator, design: str, measure: str, method: str | None
) -> list[dict]:
    """Rehearse a sample, and see whether the intervals of others hold."""
    options = {"measures": measure, "method": method}

    def drawn() -> dict:
        found = sample(generator, design) | options
        return found if method is None else {**found, "stratify": None}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rehearsal = rehearse(evaluate, **drawn(), n_samples=N_SAMPLES)
        [found] = rehearsal.rehearsed
        rows = [{"kind": "rehearsed", "n": found.n, "held": found.held.value * found.n}]
        for _ in range(N_DIRECT):
            [e] = evaluate(**drawn()).estimates.values()
            low, high = e.interval
            truth = truths(design)[measure]
            is_defined = bool(np.isfinite([low, high]).all())
            rows.append(
                {"kind": "study", "n": int(is_defined), "held": float(low <= truth <= high)}
            )
    return rows


def study() -> Study:
    settings = [
        {"design": design, "measure": measure, "method": method[0] if method else None}
        for design, measure, *method in [*OTHERS, *WORST]
    ]
    return Study("rehearsal", cell, settings, replications=6, seed=1, directory=RESULTS)


def table_of(table: pd.DataFrame, cells: list) -> str:
    """Return the coverage in the study and in rehearsals, and how many of these see a failure."""
    rows = []
    for design, measure, *method in cells:
        own = table[(table["design"] == design) & (table["measure"] == measure)]
        own = own[own["method"].fillna("") == (method[0] if method else "")]
        direct, each = (own[own["kind"] == kind] for kind in ("study", "rehearsed"))
        if not len(each):  # of a quick run
            continue
        direct = direct[direct["n"] > 0]
        shares = each["held"] / each["n"]  # NaN if no sample has an interval
        is_seen = ~(shares >= LEVEL - 0.07)
        known = shares.dropna()
        rows.append(
            [
                f"`{measure}`" + (f", {method[0]}" if method else ""),
                design,
                f"{100 * direct['held'].sum() / direct['n'].sum():.0f}",
                int(direct["n"].sum()),
                f"{100 * known.mean():.0f}" if len(known) else "no interval",
                f"{100 * known.min():.0f} to {100 * known.max():.0f}" if len(known) else "",
                f"{int(is_seen.sum())} of {len(shares)}",
            ]
        )
    header = ["measure", "design", "coverage, %", "samples", "rehearsed, %", "least to most"]
    return markdown_table([*header, "below 88 %, or none"], rows)


def page(table: pd.DataFrame) -> str:
    return f"""# What a rehearsal sees

Made by `experiments/rehearsal.py`. [`rehearse`](../how_to.md) knows one sample alone. It draws
samples from a smoothed version of it, and counts how often their intervals hold. Here it rehearses
six samples of each cell, with {N_SAMPLES} drawn samples each. Beside it stands the coverage in
samples of the population itself. Nominal coverage is 95 %. Of 60 such samples, so many have an
interval. The last column says how many rehearsals find less than 88 %, or no interval.

The first table has the cells of [the study of all measures](trust.md) whose default intervals cover
least with the code of today. All but the last are errors of calibration by local regression, whose
intervals have a warning.

{table_of(table, WORST)}

The other cells hold, but for the bootstrap of the paper, which takes the cells of its table as
independent:

{table_of(table, OTHERS)}

If the population is special, a rehearsal sees part of a failure: nearly perfect calibration has no
smoothed version that is as nearly perfect.
"""


def main() -> None:
    global N_SAMPLES, N_DIRECT
    options = arguments(__doc__, is_study=True)
    if options.quick:
        N_SAMPLES, N_DIRECT, trust.POPULATION = 4, 2, 6000
    settings = study().settings[options.quick :]  # the first one is a bootstrap, which takes long
    [table] = run_studies({"rehearsal": replace(study(), settings=settings)}, options).values()
    text = page(table)
    if options.quick:
        print(text)
    else:
        write_page("rehearsal", text)


if __name__ == "__main__":
    main()
