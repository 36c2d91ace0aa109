"""Compare the jackknife's standard errors of the ranking measures with the bootstrap's."""

from __future__ import annotations

import numpy as np
from _study import arguments, markdown_table, write_page

import dmfroc
from dmfroc import Predictions, estimate
from dmfroc.measures import MEASURES

N_OBSERVATIONS, N_SAMPLES = 1000, 2000


def predictions_of(n_classes: int, n: int) -> Predictions:
    """Draw classes of unequal size and scores rounded to two digits."""
    generator = np.random.default_rng(11)
    prior = 0.8 ** np.arange(n_classes)
    y = generator.choice(n_classes, size=n, p=prior / prior.sum())
    scores = generator.normal(size=(n, n_classes))
    scores[np.arange(n), y] += 1.2
    return Predictions.from_arrays(y, np.round(scores, 2))


def rows(n: int, n_samples: int) -> list[list[str]]:
    """Return for each measure its value, both standard errors and their ratio."""
    found = []
    for n_classes in (5, 3):
        predictions = predictions_of(n_classes, n)
        for measure in MEASURES.values():
            if measure.family != "ranking" or not measure.applies_to(predictions):
                continue
            if ("vus" in measure.name) != (n_classes == 3):
                continue
            by_jackknife, by_bootstrap = (
                estimate(measure, predictions, method=method)
                for method in ("jackknife", dmfroc.Bootstrap(n_samples))
            )
            errors = by_jackknife.standard_error, by_bootstrap.standard_error
            cells = f"{by_jackknife.value:.4f}", *(f"{error:.5f}" for error in errors)
            found.append([f"`{measure.name}`", *cells, f"{errors[0] / errors[1]:.3f}"])
    return found


def page(n: int, n_samples: int) -> str:
    """Report one data set."""
    header = ["measure", "value", "jackknife's error", "bootstrap's error", "ratio"]
    return f"""# Standard errors of ranking measures

Made by `experiments/ranking_intervals.py`: one data set of five classes of unlike sizes and {n:,}
observations, of three for the volumes, and {n_samples:,} bootstrap samples within the classes. The
scores have two digits. A measure with kinks would show by a ratio far from one.

{markdown_table(header, rows(n, n_samples))}
"""


if __name__ == "__main__":
    if arguments(__doc__).quick:
        print(page(100, 100))
    else:
        write_page("ranking_intervals", page(N_OBSERVATIONS, N_SAMPLES))
