"""Size and power of the paired tests where classifiers are near-perfect, beside DeLong's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from _runner import Study, grid
from _study import RESULTS, arguments, markdown_table, run_study, write_page
from scipy.stats import norm

from dmfroc import Predictions
from dmfroc.inference.evidence import facts_of_classifiers, joint_facts
from dmfroc.inference.hypothesis import contrast_of_t
from dmfroc.inference.sign_flips import p_value_of_flips
from dmfroc.inference.units import sample_of
from dmfroc.measures import get_measure

SIGNIFICANCE = 0.05
SAMPLES_PER_BATCH = 50
MEASURES = ("hand_till", "accuracy")


@dataclass(frozen=True)
class Design:
    """Two classifiers of the same observations.

    Attributes
    ----------
    sizes : tuple of int
        Observations of each class.
    shift : float
        By how much the logit of an observation's own class exceeds the others on average.
    gap : float
        By how much more it does for the better of two unlike classifiers.
    correlation : float
        Of their noise.
    label_noise : float
        Share of the observations whose class is another one.
    """

    sizes: tuple[int, ...]
    shift: float
    gap: float
    correlation: float = 0.7
    label_noise: float = 0.0


DESIGNS = {
    "K=2, n=300, correlation .98": Design((150, 150), 3.0, 0.15, 0.98),
    "K=2, n=300": Design((150, 150), 2.6, 0.3),
    "K=2, 160/40": Design((160, 40), 2.3, 0.4),
    "K=3, n=180": Design((60, 60, 60), 3.0, 0.38),
    "K=3, n=300, correlation .95": Design((100,) * 3, 3.0, 0.12, 0.95),
    "K=10, n=300": Design((30,) * 10, 3.4, 0.26),
    "K=2, n=200, 2 % label noise": Design((100, 100), 3.0, 0.4, 0.9, 0.02),
    "K=2, n=200, not near-perfect": Design((100, 100), 1.2, 0.28),
}


def draw(generator: np.random.Generator, design: Design, gap: float) -> dict[str, Predictions]:
    """Draw one test set and the scores of both classifiers, in no order."""
    k = len(design.sizes)
    y = np.repeat(np.arange(k), design.sizes)
    shared, *own = generator.normal(size=(3, len(y), k))
    rho = design.correlation
    shifts = generator.permutation([design.shift, design.shift + gap])
    logits = [
        np.sqrt(rho) * shared + np.sqrt(1 - rho) * noise + shift * np.eye(k)[y]
        for noise, shift in zip(own, shifts, strict=True)
    ]
    is_wrong = generator.random(len(y)) < design.label_noise
    labels = np.where(is_wrong, (y + generator.integers(1, k, len(y))) % k, y)
    return {str(i): Predictions.from_arrays(labels, x) for i, x in enumerate(logits)}


def cell(generator: np.random.Generator, design: str, is_null: bool) -> list[dict]:
    """Compare two classifiers in a batch of samples by our test, a t test and DeLong's."""
    chosen, rows = DESIGNS[design], []
    for _ in range(SAMPLES_PER_BATCH):
        drawn = draw(generator, chosen, 0.0 if is_null else chosen.gap)
        samples = {name: sample_of(x, stratify=True) for name, x in drawn.items()}
        for name in MEASURES:
            measure = get_measure(name)
            joint = joint_facts(facts_of_classifiers(measure, samples))
            [(pair, moments)] = joint.differences.items()
            value = joint.facts[pair[0]].value - joint.facts[pair[1]].value
            flips, (error, freedom) = joint.sign_flips.get(pair), moments.spread
            of_t = 2 * contrast_of_t(value, error, freedom).tail(0.0)
            p = of_t if flips is None else p_value_of_flips(flips, 0, of_t)
            rows.append(
                {
                    "measure": name,
                    "p": p,
                    "p_t": of_t,
                    "p_delong": 2 * norm.sf(abs(value) / error) if error > 0 else 1.0,
                    "flips": flips is not None,
                }
            )
    return rows


def study() -> Study:
    settings = grid(design=list(DESIGNS), is_null=[True, False])
    return Study("paired_tests", cell, settings, replications=10, seed=8, directory=RESULTS)


def page(table: pd.DataFrame) -> str:
    rejected = table.assign(**{p: table[p] < SIGNIFICANCE for p in ("p", "p_t", "p_delong")})
    by = rejected.groupby(["measure", "design", "is_null"], sort=False)
    means, n = by[["p", "p_t", "p_delong", "flips"]].mean(), int(by.size().min())
    error = 100 * np.sqrt(SIGNIFICANCE * (1 - SIGNIFICANCE) / n)
    rows = []
    for measure in MEASURES:
        for design in DESIGNS:
            size, power = (means.loc[measure, design, is_null] for is_null in (True, False))
            ratio = power["p"] / power["p_delong"]
            numbers = [size["p"], size["p_t"], size["p_delong"]]
            numbers += [power["p"], power["p_t"], power["p_delong"], ratio, size["flips"]]
            rows.append([f"`{measure}`", design, *(f"{100 * x:.1f}" for x in numbers)])
    header = ["measure", "design", "size", "t", "z", "power", "t", "z", "power / z's", "flips"]
    return f"""# Paired tests near perfection

Made by `experiments/paired_tests.py`: how often the paired test of `dmfroc.compare` rejects at the
5 % level, in {n} samples of each design, in per cent. The Monte Carlo error of a size is
{error:.1f} points.

The peers are the t test with our degrees of freedom, and the z test with the same standard error,
which is DeLong's for `hand_till` with two classes. *Flips* is the share of samples in which so few
observations determine the variance that signs are flipped instead.

{markdown_table(header, rows)}

To compute the size, both classifiers have the same distribution, so that they are exchangeable.
For accuracy the flips are McNemar's mid-p test. If classifiers disagree in fewer than about eight
observations, its size stays far below 5 %, and it has less power than the z test. The z test
rejects if four observations decide for one classifier and none for the other.
"""


def main() -> None:
    global SAMPLES_PER_BATCH
    options = arguments(__doc__, is_study=True)
    SAMPLES_PER_BATCH = 3 if options.quick else SAMPLES_PER_BATCH
    text = page(run_study(study(), options))
    print(text) if options.quick else write_page("paired_tests", text)


if __name__ == "__main__":
    main()
