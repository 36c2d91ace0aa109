"""Compare the jackknife's standard errors of the ranking measures with the bootstrap's.

``python -m experiments.ranking_intervals`` prints one row per measure: value, both standard
errors and their ratio, for one data set of five classes and 1,000 observations (three classes for
the volumes) and 2,000 bootstrap samples within the classes. A measure with kinks shows here by a
ratio far from one.
"""

from __future__ import annotations

import numpy as np

from dmfroc import Predictions, estimate
from dmfroc.measures import MEASURES

N_OBSERVATIONS, N_SAMPLES = 1000, 2000


def predictions_of(n_classes: int) -> Predictions:
    """Draw classes of unequal size and scores rounded to two digits."""
    generator = np.random.default_rng(11)
    prior = 0.8 ** np.arange(n_classes)
    y = generator.choice(n_classes, size=N_OBSERVATIONS, p=prior / prior.sum())
    scores = generator.normal(size=(N_OBSERVATIONS, n_classes))
    scores[np.arange(N_OBSERVATIONS), y] += 1.2
    return Predictions.from_arrays(y, np.round(scores, 2))


def main() -> None:
    """Print the table."""
    print("| measure | value | jackknife | bootstrap | ratio |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for n_classes in (5, 3):
        predictions = predictions_of(n_classes)
        for measure in MEASURES.values():
            is_volume = "vus" in measure.name
            if measure.family != "ranking" or not measure.applies_to(predictions):
                continue
            if is_volume != (n_classes == 3):
                continue
            found = estimate(measure, predictions, method="jackknife")
            error = estimate(
                measure, predictions, method="bootstrap", n_draws=N_SAMPLES
            ).standard_error
            ratio = found.standard_error / error
            print(
                f"| {measure.name} | {found.value:.4f} | {found.standard_error:.5f} "
                f"| {error:.5f} | {ratio:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
