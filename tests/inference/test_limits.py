"""Limits of any measure: the Bayesian bootstrap with the unseen observation, levels, coverage."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from simulations import area_of_shift, normal_scores, tied_probabilities

from dmfroc import Predictions
from dmfroc.analyses.evidence import evidence_of
from dmfroc.inference import limits as module
from dmfroc.inference.evidence import facts_in, facts_of, paired_limits
from dmfroc.inference.limits import limits_of_contrast
from dmfroc.inference.options import Options
from dmfroc.inference.units import Sample, sample_of
from dmfroc.inputs.arguments import as_predictions
from dmfroc.measures import get_measure

SKEWED = [0.6, 0.3, 0.1]


def limits_in(predictions, name, **options):
    return facts_in(sample_of(predictions, **options), get_measure(name)).limits


# The same law by draws


def drawn_values(limits, side, n_draws):
    """Return values under Dirichlet weights of the units and of those that were not seen."""
    unseen, n = limits._bases[side].unseen, len(limits.masses)
    stratum = np.append(limits.stratum, limits.unseen.stratum)
    masses = np.append(limits.masses, unseen)
    weights = np.zeros((n_draws, len(masses)))
    counts = masses > 0
    weights[:, counts] = np.random.default_rng(1).standard_gamma(
        masses[counts], (n_draws, counts.sum())
    )
    for c, size in enumerate(np.bincount(limits.stratum)):
        own = stratum == c
        weights[:, own] *= size / weights[:, own].sum(axis=1, keepdims=True)
    return np.array([limits.function.value(w[:n], w[n:]) for w in weights])


@pytest.mark.parametrize(
    ("name", "stratify"),
    [
        ("accuracy", None),
        ("hand_till", None),
        ("average_precision", None),
        ("informedness", True),
        ("brier_score", None),
    ],
)
def test_the_bayesian_bootstrap_with_the_unseen_observation_has_the_same_limits(
    name, stratify, monkeypatch
):
    """That is, as many draws beyond, within the error of so many, where the quantile is normal."""
    monkeypatch.setattr(module, "residual_freedom", lambda *_: np.inf)
    n_draws, predictions = 3000, Predictions.from_arrays(*tied_probabilities(3, 120, 3, 50))
    limits = replace(limits_in(predictions, name, stratify=stratify), lost=1.0)
    for side in (-1, 1):
        values = drawn_values(limits, side, n_draws)
        for error in (0.05, 0.2):
            tail = error / 2
            beyond = (side * values > side * limits.limit(side, error)).mean()
            chance = 4 * np.sqrt(tail * (1 - tail) / n_draws)
            # Weights of least likelihood know nothing of the curvature, a few per cent of the tail
            assert beyond == pytest.approx(tail, abs=chance + 0.05 * tail)


@pytest.mark.parametrize("sizes", [(30, 30), (100, 20)])
def test_a_perfect_sample_has_the_limit_of_the_draws(sizes):
    classes = np.repeat([0, 1], sizes)
    limits = limits_in(
        Predictions.from_arrays(classes, classes + np.arange(sum(sizes)) / 200), "hand_till"
    )
    beyond = (drawn_values(limits, -1, 3000) < limits.limit(-1, 0.05)).mean()
    assert beyond == pytest.approx(0.025, abs=4 * np.sqrt(0.025 * 0.975 / 3000) + 0.005)


@pytest.mark.parametrize("seed", [1, 2])
def test_many_classes_have_the_limits_of_the_draws(seed, monkeypatch):
    """An error of each of 30 classes has a tiny mass: 6 to 8 % of draws were beyond the limit."""
    monkeypatch.setattr(module, "residual_freedom", lambda *_: np.inf)
    rng, y = np.random.default_rng(seed), np.arange(180) % 30
    scores = 5 * np.eye(30)[y] + rng.normal(size=(180, 30))
    spoilt = np.vstack([np.roll(scores[:4], 1, axis=1), scores[4:]])
    measure = get_measure("average_precision")
    both = [facts_in(sample_of(Predictions.from_arrays(y, x)), measure) for x in (scores, spoilt)]
    limits = replace(paired_limits(*both), function=None, lost=1.0)
    masses = np.append(limits.masses, limits._bases[1].unseen)
    weights = np.random.default_rng(1).standard_gamma(masses, (8000, len(masses)))
    weights *= 180 / weights.sum(axis=1, keepdims=True)
    values = limits.value + weights @ np.append(limits.influences, limits.of_unseen)
    for side in (-1, 1):
        assert 0.02 < (side * values > side * limits.limit(side, 0.05)).mean() < 0.045


# Levels and ranges


@pytest.mark.parametrize("shift", [0.0, 1.0, 3.0])
@pytest.mark.parametrize(
    "name", ["accuracy", "hand_till", "average_precision", "macro_f1", "cohen_kappa"]
)
def test_limits_are_inside_the_range_at_any_error(name, shift):
    classes, scores = normal_scores(14, 60, 3, shift, prior=SKEWED)
    limits = limits_in(Predictions.from_arrays(classes, scores), name)
    least, most = limits.bounds
    ends = np.array([[limits.limit(s, e) for s in (-1, 1)] for e in (0.5, 0.1, 0.01, 1e-4, 1e-8)])
    assert (ends[:, 0] >= least).all()
    assert (ends[:, 1] <= most).all()
    assert (np.diff(ends[:3], axis=0) * [-1, 1] > 0).all()
    assert limits.limit(-1, 1.0) == pytest.approx(limits.limit(1, 1.0), abs=0.05)


@pytest.mark.parametrize("name", ["hand_till", "dmf_auc", "macro_f1", "cohen_kappa"])
@pytest.mark.parametrize("seed", [2, 3])
def test_limits_fall_with_the_error(name, seed):
    classes, scores = normal_scores(seed, 60, 3, 1.0, prior=SKEWED)
    limits = limits_in(Predictions.from_arrays(classes, scores), name)
    for side in (-1, 1):
        ends = [side * limits.limit(side, error) for error in (0.3, 0.2, 0.1, 0.05, 0.02, 0.01)]
        assert (np.diff(ends) > 0).all()


@pytest.mark.parametrize("times", [4.0, 100.0])
def test_a_sample_with_more_units_is_as_much_more_certain(times):
    limits = limits_in(Predictions.from_arrays(*normal_scores(15, 90, 3)), "hand_till")
    few, many = (np.ptp(x.interval_at(0.05)) for x in (limits.at_size(1), limits.at_size(times)))
    assert many * np.sqrt(times) == pytest.approx(few, rel=0.1)
    assert np.ptp(limits.interval_at(0.05)) == pytest.approx(few, rel=0.1)


def test_without_a_value_there_is_no_interval():
    limits = limits_in(Predictions.from_arrays(*normal_scores(15, 60, 3)), "hand_till")
    undefined = replace(limits, value=np.nan)
    assert np.isnan(undefined.interval_at(0.05)).all()


def test_an_interval_reaches_by_what_a_bias_allows_to_its_side_within_the_range():
    limits = limits_in(Predictions.from_arrays(*normal_scores(15, 60, 3)), "hand_till")
    low, high = limits.interval_at(0.05)
    for bias in (0.02, -0.02, 0.9, -0.9):
        found = replace(limits, bias=bias).interval_at(0.05)
        expected = low - max(bias, 0), high - min(bias, 0)
        assert found == pytest.approx(np.clip(expected, *limits.bounds))


@pytest.mark.parametrize("bias", [0.0, 0.04, -0.04])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_linear_limit_is_found_at_its_error(side, bias):
    generator = np.random.default_rng(7)
    influences = generator.exponential(size=40)
    influences = (influences - influences.mean()) / 400
    stratum = np.zeros(40, int)
    limits = module.Limits(0.3, influences, stratum, (-1.0, 1.0), np.ones(40), bias=bias)
    for error in (1e-6, 0.05, 0.7):
        end = limits.end_at(side, error)
        assert limits.error_reaching(side, end) == pytest.approx(error, rel=1e-4)


def test_a_contrast_of_three_values_is_wider_than_that_of_two():
    """Of independent samples: squared half-widths add up, about."""
    samples = [Predictions.from_arrays(*normal_scores(seed, 200, 3)) for seed in range(3)]
    each = [limits_in(p, "hand_till") for p in samples]
    lengths = [np.ptp(x.interval_at(0.05)) for x in each]
    pair = limits_of_contrast((1.0, -1.0), each[:2], 1.0)
    assert np.ptp(pair.interval_at(0.05)) == pytest.approx(np.hypot(*lengths[:2]), rel=0.03)
    gap = limits_of_contrast((1.0, -0.5, -0.5), each, 1.0)
    expected = np.sqrt(lengths[0] ** 2 + (lengths[1] ** 2 + lengths[2] ** 2) / 4)
    assert np.ptp(gap.interval_at(0.05)) == pytest.approx(expected, rel=0.03)
    nothing = limits_of_contrast((1.0, 0.0, -1.0), each, 1.0)
    alone = limits_of_contrast((1.0, -1.0), [each[0], each[2]], 1.0)
    assert nothing.interval_at(0.05) == pytest.approx(alone.interval_at(0.05), abs=1e-12)


def test_many_values_near_perfection_have_one_unseen_observation():
    """The mean of 20 perfect samples is about as certain as one sample of all their rows."""
    classes = np.repeat([0, 1], 30)
    perfect = Predictions.from_arrays(classes, np.arange(60.0))
    each = [limits_in(perfect, "hand_till")] * 20
    mean = limits_of_contrast([1 / 20] * 20, each, 1.0)
    large = Predictions.from_arrays(np.tile(classes, 20), np.tile(np.arange(60.0), 20))
    whole = limits_in(large, "hand_till")
    assert 1 - mean.limit(-1, 0.05) == pytest.approx(1 - whole.limit(-1, 0.05), rel=0.1)


# Coverage in fixed samples: intervals that cover 95 % have so few hits once in 1,000


N_SAMPLES = 40


def are_plausible(hits):
    return stats.binom(N_SAMPLES, 0.95).cdf(hits) > 1e-3


def average_precision_of_shift(share, shift):
    thresholds = np.linspace(shift + 8, -8, 20_001)
    tpr, fpr = stats.norm.sf(thresholds - shift), stats.norm.sf(thresholds)
    return np.trapezoid(share * tpr / (share * tpr + (1 - share) * fpr), tpr)


def accuracy_of_shift(shift, n_classes=3):
    x = np.linspace(-9, 9, 20_001)
    return np.trapezoid(stats.norm.pdf(x) * stats.norm.cdf(x + shift) ** (n_classes - 1), x)


@pytest.mark.slow
def test_differences_of_near_perfect_unequal_classifiers_are_covered():
    """Three classes, 200 rows: M of .9993 and .9933."""
    shifts, names = (4.5, 3.5), ["hand_till", "average_precision", "accuracy"]
    values = {
        "hand_till": area_of_shift,
        "average_precision": lambda shift: average_precision_of_shift(1 / 3, shift),
        "accuracy": accuracy_of_shift,
    }
    truth = [values[name](shifts[0]) - values[name](shifts[1]) for name in names]
    hits = np.zeros(3, int)
    for seed in range(N_SAMPLES):
        generator = np.random.default_rng(seed)
        classes, common = generator.integers(3, size=200), generator.normal(size=(200, 3))
        both = [
            Predictions.from_arrays(
                classes,
                (common + generator.normal(size=(200, 3))) / np.sqrt(2)
                + shift * np.eye(3)[classes],
            )
            for shift in shifts
        ]
        units = sample_of(both[0]).units
        for place, name in enumerate(names):
            facts = {x: facts_in(Sample(both[x], units), get_measure(name)) for x in (0, 1)}
            low, high = module.limits_of_difference(
                facts[0].limits, facts[1].limits, facts[0].value - facts[1].value, 1.0, 1.0
            ).interval_at(0.05)
            hits[place] += low <= truth[place] <= high
    assert are_plausible(hits).all()


@pytest.mark.slow
def test_values_of_hard_labels_with_eight_positives_are_covered():
    """Of 300 rows; the class is found with .6, and the other with .97."""
    share, found, kept = 8 / 300, 0.6, 0.97
    table = np.array(
        [[(1 - share) * kept, (1 - share) * (1 - kept)], [share * (1 - found), share * found]]
    )
    predicted, true = table.sum(axis=0), table.sum(axis=1)
    by_chance = predicted @ true
    truth = [
        table[1, 1] / predicted[1],
        (np.trace(table) - by_chance) / (1 - by_chance),
        np.linalg.det(table) / np.sqrt(np.prod(predicted) * np.prod(true)),
    ]
    measures = [get_measure(name) for name in ("precision", "cohen_kappa", "correlation")]
    hits = np.zeros(3, int)
    for seed in range(N_SAMPLES):
        generator = np.random.default_rng(seed)
        y = (generator.random(300) < share).astype(int)
        y[:2] = 1
        is_right = generator.random(300) < np.where(y == 1, found, kept)
        sample = sample_of(
            as_predictions(y, None, needs="labels", y_pred=np.where(is_right, y, 1 - y))
        )
        ends = [facts.interval_at(0.05) for facts in facts_of(measures, sample)]
        hits += [low <= value <= high for (low, high), value in zip(ends, truth, strict=True)]
    assert are_plausible(hits).all()


@pytest.mark.slow
def test_average_precision_at_a_small_share_is_covered():
    share = 0.01
    truth, hits = average_precision_of_shift(share, 1.5), 0
    for seed in range(N_SAMPLES):
        generator = np.random.default_rng(seed)
        y = generator.integers(2, size=400)
        scores, shares = generator.normal(size=400) + 1.5 * y, {0: 1 - share, 1: share}
        sample = evidence_of(y, scores, Options(population=shares), {}, needs="scores").sample
        low, high = facts_in(sample, get_measure("average_precision")).interval_at(0.05)
        hits += low <= truth <= high
    assert are_plausible(hits)


@pytest.mark.slow
def test_a_rare_class_among_three_is_covered():
    shares, shift = np.array([0.6, 0.35, 0.05]), 2.0
    truth = {
        "hand_till": area_of_shift(shift),
        "average_precision": np.mean([average_precision_of_shift(x, shift) for x in shares]),
    }
    hits = dict.fromkeys(truth, 0)
    for seed in range(N_SAMPLES):
        generator = np.random.default_rng(seed)
        classes = generator.choice(3, 400, p=shares)
        scores = generator.normal(size=(400, 3)) + shift * np.eye(3)[classes]
        sample = sample_of(Predictions.from_arrays(classes, scores))
        for name, value in truth.items():
            low, high = facts_in(sample, get_measure(name)).interval_at(0.05)
            hits[name] += low <= value <= high
    assert all(map(are_plausible, hits.values()))
