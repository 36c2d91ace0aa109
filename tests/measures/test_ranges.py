"""Ranges: no table leaves them, some table reaches them; no ranking those of the first k."""

import numpy as np
import pytest

from dmfroc import Predictions, estimate
from dmfroc.measures import (
    MEASURES,
    informedness,
    kappa_area,
    lift_area,
    markedness,
    precision_at_k,
    ranges,
    recall_at,
)

OF_TABLES = [m for m in MEASURES.values() if m.range_of_shares and m.needs == "labels"]


def tables(generator, shares):
    """Return predictions of classes in these shares: all sorts of wrong ones, and right ones."""
    y = np.repeat(np.arange(len(shares)), (1000 * shares).round().astype(int))
    for _ in range(25):
        chances = generator.dirichlet(np.full(len(shares), generator.choice([0.02, 0.3])), len(y))
        yield y, (chances.cumsum(axis=1) < generator.random((len(y), 1))).sum(axis=1)
    yield y, y
    largest, next_largest = np.argsort(-shares)[:2]
    yield y, np.where(y == largest, next_largest, largest)
    yield y, np.where(y == next_largest, largest, next_largest)


@pytest.mark.parametrize(
    "shares", [[0.5, 0.5], [0.8, 0.2], [0.5, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4]], ids=str
)
def test_no_table_leaves_its_range(shares):
    shares = np.array(shares)
    least = dict.fromkeys((m.name for m in OF_TABLES), np.inf)
    for y, predicted in tables(np.random.default_rng(1), shares):
        predictions = Predictions.from_labels(y, predicted, labels=range(len(shares)))
        for measure in OF_TABLES:
            if not measure.applies_to(predictions):
                continue
            low, high = measure.range_in(predictions, sizes_are_fixed=True)
            least_of_any, most_of_any = measure.range_in(predictions)
            value = measure.summary(measure.statistic(predictions).count(np.ones(len(y)), np), np)
            least[measure.name] = min(least[measure.name], value)
            assert low - 1e-12 <= value <= high + 1e-12, (measure.name, value)
            assert measure.bounds[0] <= least_of_any <= low
            assert high <= most_of_any <= measure.bounds[1]
    # Where all are taken for the largest class, and it for the next
    largest, second = np.sort(shares)[::-1][:2]
    assert least["informedness_prevalence"] == pytest.approx(-largest / (1 - second), abs=1e-12)
    chance = largest * (1 - largest + second)
    assert least["cohen_kappa"] == pytest.approx(-chance / (1 - chance), abs=1e-12)


def test_three_even_classes_have_the_ranges_that_are_known():
    even = np.full(3, 1 / 3)
    assert ranges.informedness(even, True)[0] == pytest.approx(-5 / 6, rel=1e-12)
    for weighting in ("prevalence", "macro"):
        assert ranges.informedness(even, True, weighting)[0] == pytest.approx(-1 / 2, rel=1e-12)
    y = np.repeat([0, 1, 2], 20)
    all_for_the_first = np.where(y == 0, 1, 0)
    assert informedness()(y, y_pred=all_for_the_first) == pytest.approx(-5 / 6, rel=1e-12)
    # A class that is hardly ever predicted, and wrongly, counts as much as it occurs
    wide = np.repeat([0, 1, 2], 20_000)
    predicted = np.where(wide == 0, 1, 0)
    predicted[0] = 2
    least = ranges.markedness(even, True)[0]
    assert markedness()(wide, y_pred=predicted) == pytest.approx(least, abs=1e-3)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_areas_of_the_best_and_the_worst_ranking(share):
    n = 400
    y = np.repeat([0, 1], [n - round(n * share), round(n * share)])
    for name in ("kappa_area", "lift_area", "average_precision", "precision_recall_area"):
        low, high = MEASURES[name].range_in(
            Predictions.from_arrays(y, np.arange(n)), sizes_are_fixed=True
        )
        assert MEASURES[name](y, np.arange(n)) == pytest.approx(high, abs=1e-5)
        worst = MEASURES[name](y, -np.arange(n))
        assert low - 1e-9 <= worst <= low + 0.02, name
        perfect = estimate(name, y, y, stratify=True)
        assert low < perfect.interval[0] < high, name
        assert perfect.interval[1] == pytest.approx(high, abs=1e-5), name
    assert ranges.kappa_area(np.array([0.5, 0.5]), True)[1] == pytest.approx(0.5, abs=1e-5)
    assert -1 <= kappa_area("trapezoid")(y, np.arange(n)) <= 1


@pytest.mark.parametrize("ties", ["lower", "half", "upper"])
def test_lift_areas_of_any_shares_fill_their_bounds(ties):
    """The ends p/2 and 1 - p/2 come as near to 0 and 1 as positives are rare."""
    measure = lift_area(ties)
    low, high = measure.range_of_shares(np.array([1 - 1e-9, 1e-9]), True)
    assert (low, high) == pytest.approx(measure.bounds, abs=1e-8)


def test_intervals_of_information_end_at_the_entropy():
    """Five right predictions: not up to infinity."""
    scores = np.eye(2)[[0, 0, 0, 1, 1]]
    for stratify, most in (
        (None, np.log(2)),
        (True, ranges.entropy_real(np.array([0.6, 0.4]), True)[1]),
    ):
        found = estimate("mutual_information", [0, 0, 0, 1, 1], scores, stratify=stratify)
        assert 0 <= found.interval[0] < found.value <= found.interval[1] <= most + 1e-12


@pytest.mark.parametrize("k", [3, 20, 45, 0.25])
@pytest.mark.parametrize("sizes", [(30, 20), (25, 15, 10), (40, 5, 5)])
@pytest.mark.filterwarnings("ignore:.*most rows of the classes")
def test_rankings_reach_the_range_of_the_first_k(sizes, k):
    y = np.repeat(np.arange(len(sizes)), sizes)
    right = np.eye(len(sizes))[y]
    for measure in (precision_at_k(k), recall_at(k)):
        best, worst = (Predictions.from_arrays(y, x) for x in (right, 1 - right))
        low, high = measure.range_in(best, sizes_are_fixed=True)
        assert measure(best) == pytest.approx(high, abs=1e-12)
        assert measure(worst) == pytest.approx(low, abs=1e-12)
        assert measure.range_in(best) == (0, 1)


@pytest.mark.parametrize("sizes", [(30, 20), (25, 15, 10), (40, 5, 5)])
def test_perfect_forecasts_resolve_all_uncertainty(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    perfect = Predictions.from_arrays(y, np.eye(len(sizes))[y])
    uncertainty = MEASURES["brier_uncertainty"](perfect)
    for name in ("brier_resolution", "brier_discrimination"):
        found = estimate(name, perfect, stratify=True)
        assert found.value == pytest.approx(uncertainty, abs=1e-12)
        assert found.value <= found.interval[1] <= found.value + 1e-12
        assert 0 < found.interval[0] < found.value
        assert MEASURES[name].range_in(perfect)[1] == (1 - 1 / len(sizes)) / 2
