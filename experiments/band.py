"""Whether the band of the multiclass ROC curve covers, above all next to its corners."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import pandas as pd
from _runner import Study, grid
from _study import RESULTS, arguments, markdown_table, run_study, write_page

from dmfroc import Predictions, multiclass_roc
from dmfroc.inference.units import sample_of
from dmfroc.multiclass.band import BandKind, CurveBand, band_around
from dmfroc.multiclass.curve import curve_of
from dmfroc.multiclass.rates import CurveOptions

LEVEL = 0.95
POPULATION = 400_000
REPLICATIONS = 200
SHOWN = [0.005, 0.02, 0.06, 0.3, 0.9, 0.99]  # in tables
FPR = (0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.1, 0.3, 0.6, 0.9, 0.96, 0.99)
NEXT_TO_ORIGIN = [rate for rate in FPR if rate <= 0.06]


@dataclass(frozen=True)
class Design:
    """Normal scores: the column of an observation's own class is raised, and spread by `spread`."""

    sizes: tuple[int, ...]
    shift: float
    spread: float = 1.0
    degrees: float | None = None  # of a t distribution in place of the normal one
    is_concave: bool = True


DESIGNS = {
    "K=2, good": Design((75, 75), 1.0),
    "K=2, chance": Design((75, 75), 0.0),
    "K=2, few, strong": Design((20, 20), 2.0),
    "K=2, rare positives": Design((270, 30), 1.5),
    "K=2, rare negatives": Design((30, 270), 1.5),
    "K=2, wide positives": Design((75, 75), 0.5, spread=2.0),
    "K=3, good": Design((50, 50, 50), 1.5),
    "K=3, good, n=600": Design((200, 200, 200), 1.5),
    "K=3, strong": Design((50, 50, 50), 3.0),
    "K=5, imbalanced": Design((150, 75, 45, 20, 10), 1.5),
    "K=2, narrow positives": Design((75, 75), 1.0, spread=0.4, is_concave=False),
    "K=2, heavy tails": Design((75, 75), 1.0, degrees=2.0, is_concave=False),
    "K=3, narrow own column": Design((50, 50, 50), 1.5, spread=0.4, is_concave=False),
}


def draw(generator: np.random.Generator, design: Design, copies: int = 1) -> Predictions:
    """Draw one sample, or one of so many times as many observations."""
    y = np.repeat(np.arange(len(design.sizes)), copies * np.array(design.sizes))
    size = (len(y), len(design.sizes))
    noise = (
        generator.normal(size=size)
        if design.degrees is None
        else generator.standard_t(design.degrees, size)
    )
    own = np.eye(len(design.sizes))[y]
    scores = noise * np.where(own == 1, design.spread, 1) + design.shift * own
    return Predictions.from_arrays(y, scores[:, 1] if len(design.sizes) == 2 else scores)


@functools.cache
def truth(design: Design) -> Callable[[np.ndarray | Sequence[float]], np.ndarray]:
    """Return the true positive rates of the population, by false positive rate."""
    large = draw(np.random.default_rng(0), design, POPULATION // sum(design.sizes))
    curve = multiclass_roc(large)
    return lambda fpr: np.interp(fpr, curve.fpr, curve.tpr)


def band(generator: np.random.Generator, design: str) -> list[dict]:
    """Compare the bands of one sample with the truth, at some places and everywhere."""
    chosen = DESIGNS[design]
    sample, options = draw(generator, chosen), CurveOptions()
    curve, units = curve_of(sample, options), sample_of(sample)
    return [
        {
            "kind": kind,
            "fpr": fpr,
            "is_below": below < 0,
            "is_above": above < 0,
            "width": width,
            "holds_curve": holds_curve,
        }
        for kind in get_args(BandKind)
        for found in [band_around(curve, units, LEVEL, options, kind)]
        for holds_curve in [holds(found, chosen)]
        for fpr, below, above, width in places(found, chosen)
    ]


def places(found: CurveBand, design: Design) -> Iterator[tuple[float, ...]]:
    """Return at some places how far the truth is inside of either end, and the width."""
    low, high = (np.interp(FPR, found.fpr, ends) for ends in (found.low, found.high))
    tpr = truth(design)(FPR)
    return zip(FPR, tpr - low, high - tpr, high - low, strict=True)


def holds(found: CurveBand, design: Design) -> bool:
    """Return whether the whole curve is in the band."""
    inside = (found.fpr >= FPR[0]) & (found.fpr <= FPR[-1])
    tpr = truth(design)(found.fpr)
    return bool(((found.low <= tpr) & (tpr <= found.high))[inside].all())


def study(names: tuple[str, ...]) -> Study:
    return Study(
        "band", band, grid(design=names), replications=REPLICATIONS, seed=1, directory=RESULTS
    )


def summary(table: pd.DataFrame) -> str:
    """Return the least and the mean coverage next to the origin."""
    covered = ~(table["is_below"] | table["is_above"])
    near = table["fpr"].isin(NEXT_TO_ORIGIN)
    is_concave = table["design"].map({name: d.is_concave for name, d in DESIGNS.items()})
    rows = []
    for label, chosen in (("concave", is_concave), ("not concave", ~is_concave)):
        for where, place in (("up to 0.06", near), ("above", ~near)):
            part = covered[chosen & place]
            if len(part) == 0:
                continue
            cells = part.groupby([table["design"], table["fpr"]]).mean()
            name, rate = cells.idxmin()
            rows.append(
                [
                    label,
                    where,
                    f"{100 * cells.mean():.1f}",
                    f"{100 * cells.min():.1f} ({name}, {rate:g})",
                ]
            )
    header = ["true curve", "false positive rates", "mean coverage, %", "least coverage, %"]
    return markdown_table(header, rows)


def whole_table(table: pd.DataFrame) -> str:
    """Return how often bands hold the whole curve, and how wide they are."""
    by = table.groupby(["design", "kind"], sort=False)
    held, width = (by[column].mean().unstack() for column in ("holds_curve", "width"))
    rows = [
        [
            name,
            *(f"{100 * held.loc[name, kind]:.1f}" for kind in held.columns),
            f"{(width.loc[name, 'simultaneous'] / width.loc[name, 'pointwise']):.2f}",
        ]
        for name in held.index
    ]
    header = ["design", *(f"{kind}, %" for kind in held.columns), "ratio of widths"]
    return markdown_table(header, rows)


def page(every: pd.DataFrame) -> str:
    """Report the study."""
    table = every[every["kind"] == "pointwise"]
    n = table["replication"].nunique()
    error = 100 * np.sqrt(LEVEL * (1 - LEVEL) / n)
    return f"""# Coverage of the curve's band

Made by `experiments/band.py`: how often the pointwise {100 * LEVEL:g} % band of the multiclass ROC
curve holds the true positive rate of the population ({POPULATION:,} observations) at given false
positive rates, in {n} samples of each design. The Monte Carlo error of a coverage is {error:.1f}
points.

Below the smallest false positive rate that a sample shows, the lower end of the band is near 0, and
above the largest one it is flat. So the band does not assume that the curve is concave there.

{summary(table)}

How often the band holds the whole curve, from false positive rates of {FPR[0]:g} to {FPR[-1]:g}:
the pointwise band, and the one of `band="simultaneous"`, which is meant to do so.

{whole_table(every)}

Scores are normal with variance 1, raised by 1 to 3 in the column of the own class, and there spread
by other than one where the design says wide (2) or narrow (0.4); with heavy tails they have a t
distribution with 2 degrees of freedom.
"""


if __name__ == "__main__":
    options = arguments(__doc__, is_study=True)
    if options.quick:
        POPULATION = 10_000
        print(page(run_study(study(("K=2, good",)), options)))
    else:
        write_page("band", page(run_study(study(tuple(DESIGNS)), options)))
