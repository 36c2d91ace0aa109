"""A chosen threshold: published values, coverage, and criteria by brute force."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm
from sklearn.metrics import accuracy_score, f1_score

from dmfroc.applications import choose_threshold
from dmfroc.curves import boc_curve

RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=150)
SCORE = np.round(RNG.normal(size=150) + 1.2 * Y, 1)


def test_published_optimism(external_directory):
    """cutpointr: Youden at 2, in-bag 1.76 and out-of-bag 1.71 of sensitivity + specificity."""
    data = pd.read_csv(external_directory / "suicide.csv")
    found = choose_threshold(data.suicide == "yes", data.dsi)
    assert found.threshold.value == 2
    assert 1 + found.value.value == pytest.approx(1.75179, abs=5e-6)
    assert 1 + found.in_bag == pytest.approx(1.76, abs=0.01)
    assert 1 + found.out_of_bag == pytest.approx(1.71, abs=0.01)
    assert found.out_of_bag < found.corrected < found.value.value


@pytest.mark.parametrize(
    ("by", "score"),
    [
        ("f1", f1_score),
        ("accuracy", accuracy_score),
        ("youden", lambda y, p: p[y == 1].mean() - p[y == 0].mean()),
        ("cost", lambda y, p: -(2 * ((p == 1) & (y == 0)) + 5 * ((p == 0) & (y == 1))).mean()),
    ],
)
def test_criteria_are_maximised(by, score):
    costs = {"cost_fp": 2, "cost_fn": 5} if by == "cost" else {}
    found = choose_threshold(Y, SCORE, by=by, **costs, n_draws=100)
    values = [score(Y, (t <= SCORE).astype(int)) for t in np.unique(SCORE)]
    assert found.value.value == pytest.approx(max(values))
    at = score(Y, (found.threshold.value <= SCORE).astype(int))
    assert at == pytest.approx(max(values))


def test_rates_that_are_asked_for():
    found = choose_threshold(Y, SCORE, by="specificity", at_least=0.9, n_draws=100)
    predicted = found.threshold.value <= SCORE
    assert (~predicted)[Y == 0].mean() >= 0.9
    assert found.value.value == pytest.approx(predicted[Y == 1].mean())
    facts = json.loads(found.to_json())
    assert {name: facts[name] for name in ("by", "level", "n_draws", "seed")} == {
        "by": "specificity", "level": 0.95, "n_draws": 100, "seed": found.seed,
    }  # fmt: skip
    lower = SCORE[found.threshold.value > SCORE].max() <= SCORE
    assert (~lower)[Y == 0].mean() < 0.9


@pytest.mark.slow
def test_intervals_cover():
    rng, threshold, value = np.random.default_rng(1), [], []
    for _ in range(60):
        y = rng.integers(2, size=200)
        found = choose_threshold(y, rng.normal(size=200) + 1.5 * y, n_draws=200)
        truth = norm.cdf(found.threshold.value) - norm.cdf(found.threshold.value - 1.5)
        (low, high), (below, above) = found.threshold.interval, found.value.interval
        threshold.append(low <= 0.75 <= high)
        value.append(below <= truth <= above)
    assert np.mean(threshold) > 0.88
    assert np.mean(value) > 0.85


def test_several_classes_and_refusals():
    y, scores = RNG.integers(3, size=90), RNG.random((90, 3))
    found = choose_threshold(y, scores, n_draws=100)
    assert list(found) == [0, 1, 2]
    single = choose_threshold(y, scores, pos_label=1, n_draws=100)
    assert single.threshold == found[1].threshold
    assert "Youden's J" in str(single)
    assert "fewer than 200" in single.warnings[0]
    with pytest.raises(ValueError, match="by must be one of"):
        choose_threshold(Y, SCORE, by="gmean")
    for arrays in ((Y, SCORE), (y, scores)):
        with pytest.raises(ValueError, match="pos_label= must be one of the classes"):
            choose_threshold(*arrays, pos_label=5)


@pytest.mark.parametrize("by", ["f1", "accuracy", "cost", "youden"])
def test_prevalence_is_that_of_repeated_rows(by):
    rows = np.repeat(np.arange(150), np.where(Y == 1, 1, 20))
    share = (Y == 1).sum() / len(rows)
    options = {"by": by, "n_draws": 100} | ({"cost_fn": 5} if by == "cost" else {})
    found = choose_threshold(Y, SCORE, population=share, **options)
    long = choose_threshold(Y[rows], SCORE[rows], **options)
    assert found.threshold.value == long.threshold.value
    assert found.value.value == pytest.approx(long.value.value)
    low, high = found.value.interval
    assert low < found.corrected < high
    if by == "youden":
        own = choose_threshold(Y, SCORE, **options).value
        assert (low, high) == pytest.approx(own.interval)
    with pytest.raises(ValueError, match="add up to 1"):
        choose_threshold(Y, SCORE, population=[0.5, 0.6])


def test_prevalence_of_several_classes():
    y, scores = RNG.integers(3, size=90), RNG.random((90, 3))
    repeats = np.array([1, 2, 6])
    rows = np.repeat(np.arange(90), repeats[y])
    shares = np.bincount(y[rows]) / len(rows)
    found = choose_threshold(y, scores, by="f1", population=shares, n_draws=100)
    long = choose_threshold(y[rows], scores[rows], by="f1", n_draws=100)
    for label, choice in found.items():
        assert choice.value.value == pytest.approx(long[label].value.value)


@pytest.mark.parametrize("by", ["youden", "specificity"])
def test_picture_shows_the_criterion_and_the_choice(by):
    rate = {"at_least": 0.7} if by == "specificity" else {}
    found = choose_threshold(Y, SCORE, by=by, **rate, n_draws=100)
    display = found.plot()
    thresholds, values = display.line_.get_data()
    assert np.nanmax(values) == found.value.value
    assert thresholds[np.nanargmax(values)] == found.threshold.value
    assert np.isnan(values).any() == (by == "specificity")
    [segment] = display.chosen_.lines[2][0].get_segments()
    assert segment[:, 0] == pytest.approx(found.threshold.interval)
    [segment] = display.corrected_.lines[2][0].get_segments()
    assert segment[:, 1] == pytest.approx(found.value.interval)


@pytest.mark.parametrize("by", ["youden", "f1", "accuracy", "cost", "specificity", "sensitivity"])
def test_a_perfect_sample_is_no_certainty(by):
    y = np.arange(100) % 2
    found = choose_threshold(y, 3 * y + np.linspace(0, 1, 100), by=by, n_draws=100)
    low, high = found.value.interval
    assert high == found.value.value
    # Clopper and Pearson: 3 in 50 of a class may go unobserved
    assert found.value.value - low > 0.025


def test_an_infinite_end_of_the_threshold_is_explained():
    told = ["An infinite end is beyond all scores: the data do not limit the threshold there."]
    for n in (40, 400):
        y = np.arange(n) % 2
        scores = np.random.default_rng(0).normal(size=n) + y
        found = choose_threshold(y, scores, by="sensitivity", at_least=0.9, n_draws=100)
        of_which, *others = found.foot()
        assert of_which.startswith("Intervals of specificity at sensitivity 0.9, sensitivity and")
        assert others == told * (found.threshold.interval[0] == -np.inf) == told * (n == 40)


@pytest.mark.slow
@pytest.mark.parametrize(("by", "sign"), [("specificity", 1), ("sensitivity", -1)])
def test_limits_of_the_threshold_of_a_rate_are_order_statistics(by, sign):
    """Woodruff (1952): the number of scores above a quantile is binomial."""
    generator, held = np.random.default_rng(4), 0
    for _ in range(100):
        y = generator.integers(2, size=120)
        scores = generator.normal(size=120) + 3 * y
        found = choose_threshold(y, scores, by=by, at_least=0.9, n_draws=100)
        held += (
            found.threshold.interval[0]
            <= norm.ppf(0.9 if sign > 0 else 0.1) + 3 * (sign < 0)
            <= found.threshold.interval[1]
        )
    assert held >= 93
    y = np.repeat([0, 1], 40)
    found = choose_threshold(y, np.arange(80.0), by=by, at_least=0.9, n_draws=100)
    of_class = np.arange(40.0)[::-1] + 40 * (sign < 0)  # falling
    k = binom.ppf([0.025, 0.975], 40, 0.1 if sign > 0 else 0.9)
    low, high = found.threshold.interval
    assert low == of_class[int(k[1])]  # the score after that many
    assert high == max(of_class[int(k[0]) - 1] if k[0] else np.inf, found.threshold.value)


@pytest.mark.parametrize("weight", [1.0, 0.1])
@pytest.mark.parametrize(
    ("options", "worth"),
    [
        ({}, (1, -1)),
        ({"by": "accuracy"}, (1, -1)),
        ({"by": "accuracy", "population": 0.3}, (3, -7)),
        ({"by": "cost", "cost_fp": 1, "cost_fn": 9, "population": 0.1}, (1, -1)),
        ({"by": "specificity", "at_least": 0.6}, (1, 0)),
    ],
)
def test_rounding_breaks_no_tie_of_thresholds(options, worth, weight):
    """Classes of equal size: the criterion rises with a whole number, found without rounding."""
    of_tp, of_fp = worth
    for seed in range(3, 13):
        generator, y = np.random.default_rng(seed), np.arange(60) % 2
        score = np.round(generator.normal(size=60) + 0.6 * y, 1)
        thresholds = np.unique(score)[::-1]
        tp, fp = (((score >= thresholds[:, None]) & (y == k)).sum(axis=1) for k in (1, 0))
        exact = of_tp * tp + of_fp * fp
        if options.get("by") == "specificity":
            exact = np.where(30 - fp >= 18, exact, -1)
        found = choose_threshold(y, score, sample_weight=[weight] * 60, n_draws=100, **options)
        assert found.threshold.value == thresholds[exact.argmax()]
        if worth == (1, -1):
            best = boc_curve(y, score, sample_weight=[weight] * 60).maximum()
            assert set(best.thresholds) - {np.inf} == set(thresholds[exact == exact.max()])


def test_a_warning_says_that_nobody_positive_is_better():
    y = np.repeat([0, 1], 30)
    score = np.r_[np.linspace(0, 0.9, 27), [3] * 3, np.linspace(1, 2, 30)]
    told = (
        "Predict no row as 1, or improve the scores: accuracy is then 0.950, and 0.905 at the best "
        "threshold."
    )
    found = choose_threshold(y, score, by="accuracy", population=0.05, n_draws=100)
    assert found.value.value == pytest.approx(1 - 0.95 * 3 / 30)
    assert found.warnings[0] == told
    assert "Predict no row as 1" in str(found)
    assert told not in choose_threshold(y, score, by="accuracy", n_draws=100).warnings
