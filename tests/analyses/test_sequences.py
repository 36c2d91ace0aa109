"""Limits that hold at all times, alarms of drift, and streams compared at any time."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

import dmfroc
from dmfroc.analyses import sequences
from dmfroc.analyses.sequences import Look
from dmfroc.inference.anytime import (
    error_at_one_time,
    limits_of_mean,
    limits_of_share,
    log_e_value_of_change,
    log_e_value_of_means,
    log_e_value_of_shares,
    log_e_value_of_sums,
)

RNG = np.random.default_rng(0)


def stream(n, shift=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return y, rng.normal(size=(n, 3)) + shift * np.eye(3)[y]


def watched(y, scores, step=20, **options):
    accumulator = dmfroc.Accumulator(np.unique(y), **options)
    for first in range(0, len(y), step):
        accumulator.update(y[first : first + step], scores[first : first + step])
    return accumulator


@given(st.integers(1, 300), st.floats(0, 1), st.floats(0.001, 0.5))
def test_limits_of_a_share_invert_the_mixture(n, share, error):
    k = round(n * share)
    low, high = limits_of_share(k, n, error)
    assert 0 <= low <= k / n <= high <= 1
    for rate in {low, high} - {0.0, 1.0}:
        log_likelihood = special.xlogy(k, rate) + special.xlog1py(n - k, -rate)
        mixture = special.betaln(k + 0.5, n - k + 0.5) - special.betaln(0.5, 0.5)
        assert mixture - log_likelihood == pytest.approx(-math.log(error), abs=1e-6)


def test_limits_that_rounding_cannot_tell_from_zero_and_one_are_these():
    assert limits_of_share(1, 10**12, 0.05)[0] == 0
    assert limits_of_share(10**12 - 1, 10**12, 0.05)[1] == 1


def test_all_limits_of_shares_hold_at_once():
    right = RNG.random((400, 600)) < 0.85
    k = right.cumsum(axis=1)
    failures = sum(
        any(
            not limits_of_share(int(row[n - 1]), n, 0.2)[0]
            <= 0.85
            <= limits_of_share(int(row[n - 1]), n, 0.2)[1]
            for n in (5, 20, 50, 100, 200, 400, 600)
        )
        for row in k
    )
    assert failures / 400 < 0.2


def test_the_boundary_is_that_of_a_normal_mixture():
    for n, error in ((50, 0.05), (5000, 0.01)):
        z = -special.ndtri(error_at_one_time(n, error) / 2)
        rho = 8.1 / 500
        evidence = math.exp(z**2 / 2 * n * rho / (1 + n * rho)) / math.sqrt(1 + n * rho)
        assert evidence == pytest.approx(1 / error)


def test_evidence_has_mean_one_without_change():
    n, baseline = 12, 0.8
    k = np.arange(n + 1.0)
    evidence = np.exp(log_e_value_of_shares(k, np.full(n + 1, float(n)), baseline))
    assert (evidence * stats.binom.pmf(k, n, baseline)).sum() == pytest.approx(1)
    for better in (0.85, 0.95):
        assert (evidence * stats.binom.pmf(k, n, better)).sum() < 1

    def integrand(x):
        [log] = log_e_value_of_sums(np.array([x * math.sqrt(n)]), np.array([float(n)]))
        return math.exp(log) * stats.norm.pdf(x)

    assert integrate.quad(integrand, -12, 12)[0] == pytest.approx(1, abs=1e-6)


def test_weights_of_changes_are_no_more_than_one():
    assert log_e_value_of_change(np.zeros(10_000))[0] == pytest.approx(0, abs=2e-4)
    assert log_e_value_of_change(np.array([0.0, 9.0, 1.0]))[1] == 1


@pytest.mark.slow
def test_release_stream(external_directory):
    passed = pd.read_csv(external_directory / "release_stream.csv").passed.to_numpy()
    watched_one, late = dmfroc.Accumulator([0, 1]), dmfroc.Accumulator([0, 1])
    for row in passed:
        one = np.array([row])
        late.update([1], one, y_pred=one)
        if not (watched_one.n_observations and watched_one.drift(baseline=0.88).alarm):
            watched_one.update([1], one, y_pred=one)
    found = watched_one.drift(baseline=0.88)
    assert found.exact
    assert (found.alarm_at, found.changed_at) == (867, 600)
    assert found.p_value <= 0.05
    assert late.drift(baseline=0.7).alarm_at is None
    assert late.drift(baseline=0.88).alarm_at == 867  # looked at once, at the end


def test_accuracy_is_exact_and_others_are_not():
    y, scores = stream(600)
    accumulator = watched(y, scores)
    accuracy = accumulator.confidence_sequence("accuracy")
    right = int((scores.argmax(axis=1) == y).sum())
    assert accuracy.exact
    assert accuracy.interval == pytest.approx(limits_of_share(right, 600, 0.05))
    area = accumulator.confidence_sequence("hand_till")
    once = dmfroc.estimate("hand_till", y, scores, level=1 - error_at_one_time(600, 0.05))
    assert not area.exact
    assert area.value == pytest.approx(once.value, abs=1e-4)
    assert area.interval == pytest.approx(once.interval, abs=1e-3)  # counts have linear limits
    assert area.interval[0] < dmfroc.estimate("hand_till", y, scores).interval[0]


def test_rates_of_two_classes_are_exact():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=300)
    predicted = np.where(rng.random(300) < 0.8, y, 1 - y)
    accumulator = dmfroc.Accumulator([0, 1])
    accumulator.update(y, predicted.astype(float), y_pred=predicted)
    for name in ("recall", "specificity", "precision", "negative_predictive_value", "fallout",
                 "miss_rate"):  # fmt: skip
        found = accumulator.confidence_sequence(name)
        assert found.exact
        assert found.value == pytest.approx(dmfroc.estimate(name, y, y_pred=predicted).value)
    n = int((y == 1).sum())
    k = int(((y == 1) & (predicted == 1)).sum())
    assert accumulator.confidence_sequence("recall").interval == pytest.approx(
        limits_of_share(k, n, 0.05)
    )


def test_looking_changes_nothing():
    y, scores = stream(400)
    quiet, watched_one = watched(y, scores), dmfroc.Accumulator([0, 1, 2])
    for first in range(0, 400, 20):
        rows = slice(first, first + 20)
        watched_one.update(y[rows], scores[rows])
        sequence = watched_one.confidence_sequence("hand_till", level=0.9)
    assert len(sequence.looks) == 20
    assert np.array_equal(quiet.cuts, watched_one.cuts)
    assert quiet.compute(["hand_till"]).estimates["hand_till"].value == (
        watched_one.compute(["hand_till"]).estimates["hand_till"].value
    )
    assert len(watched_one.confidence_sequence("hand_till", level=0.9).looks) == 20
    each, once = dmfroc.Accumulator([0, 1, 2]), dmfroc.Accumulator([0, 1, 2])
    for row in range(40):
        for accumulator in (each, once):
            accumulator.update(y[[row]], scores[[row]])
        found = each.drift(baseline=0.95)
    assert found.p_value < 1
    assert found.p_value == pytest.approx(once.drift(baseline=0.95).p_value, rel=1e-12)


def test_drift_of_areas_and_of_errors():
    y, scores = stream(400)
    worse_y, worse = stream(300, 0.4, seed=1)
    accumulator = dmfroc.Accumulator([0, 1, 2])
    for first in range(0, 700, 50):
        rows = slice(first, first + 50)
        both = np.r_[y, worse_y][rows], np.r_[scores, worse][rows]
        accumulator.update(*both)
        found = accumulator.drift("hand_till", baseline=0.85)
    assert 400 < found.alarm_at <= 550
    assert 300 <= found.changed_at <= 450
    assert "Alarm at row" in str(found)
    assert found.as_json()["alarm"] is True
    errors = dmfroc.Accumulator([0, 1])
    rng = np.random.default_rng(2)
    for step in range(40):
        y = rng.integers(2, size=25)
        is_wrong = rng.random(25) < (0.1 if step < 20 else 0.35)
        predicted = np.where(is_wrong, 1 - y, y)
        errors.update(y, predicted.astype(float), y_pred=predicted)
        miss = errors.drift("miss_rate", baseline=0.1)
    assert miss.alarm
    assert miss.alarm_at > 500


def test_weights_make_accuracy_asymptotic():
    y, scores = stream(200)
    accumulator = dmfroc.Accumulator([0, 1, 2])
    accumulator.update(y, scores, sample_weight=np.linspace(0.5, 1.5, 200))
    assert not accumulator.confidence_sequence("accuracy").exact
    assert accumulator.drift(baseline=0.5).alarm_at is None


@pytest.mark.parametrize(("name", "baseline"), [("accuracy", 0.9), ("hand_till", 0.9)])
def test_watching_goes_on_after_load(tmp_path, name, baseline):
    y, scores = stream(600)
    whole, parts = (dmfroc.Accumulator([0, 1, 2], learn_from=50) for _ in range(2))
    for start in range(0, 600, 50):
        rows = slice(start, start + 50)
        if start == 300:
            parts.save(tmp_path / "a.npz")
            parts = dmfroc.Accumulator.load(tmp_path / "a.npz")
        for accumulator in (whole, parts):
            accumulator.update(y[rows], scores[rows])
            accumulator.drift(name, baseline=baseline)
            accumulator.confidence_sequence(name)
    one, other = (x.drift(name, baseline=baseline) for x in (whole, parts))
    assert str(one) == str(other)
    assert len(one.looks) >= 12
    assert one.alarm
    one, other = (x.confidence_sequence(name) for x in (whole, parts))
    assert one.as_json() == other.as_json()


def test_saved_loaded_and_merged(tmp_path):
    y, scores = stream(400)
    first, second = watched(y[:200], scores[:200], learn_from=100), watched(y[200:], scores[200:])
    first.save(tmp_path / "a.npz")
    loaded = dmfroc.Accumulator.load(tmp_path / "a.npz")
    second = dmfroc.Accumulator([0, 1, 2], cuts=loaded)
    second.update(y[200:], scores[200:])
    loaded.merge(second)
    found = loaded.confidence_sequence("accuracy")
    assert found.interval == watched(y, scores).confidence_sequence("accuracy").interval
    assert loaded.drift(baseline=0.9).alarm


def test_before_there_is_anything_to_say():
    accumulator = dmfroc.Accumulator([0, 1])
    with pytest.raises(ValueError, match="nothing has been accumulated"):
        accumulator.confidence_sequence("accuracy")
    accumulator.update([1, 1], [[0.2, 0.8], [0.1, 0.9]])
    found = accumulator.confidence_sequence("hand_till")
    assert found.interval == (0, 1)
    assert "one class only" in found.warnings[0]
    assert accumulator.drift("hand_till", baseline=0.9).alarm_at is None
    accumulator.confidence_sequence("accuracy")
    with pytest.raises(ValueError, match="baseline must be between 0 and 1"):
        accumulator.drift(baseline=1.0)
    with pytest.raises(ValueError, match="level"):
        accumulator.drift(baseline=0.5, level=1.5)


def test_evidence_of_means_is_an_average_of_martingales():
    """Each factor is at most 1 + b (x - m), whose mean is 1 for the mean m (Fan et al. 2015)."""
    rng = np.random.default_rng(0)
    x, m = rng.beta(0.3, 1.7, 200_000), 0.15
    one = np.exp(log_e_value_of_means(x, x**2, np.ones(len(x)), m))
    assert 0.99 < one.mean() < 1.002
    total, squares = x[:500].sum(), (x[:500] ** 2).sum()
    low, high = limits_of_mean(total, squares, 500, 0.05)
    n = np.array([500.0])
    at = log_e_value_of_means(np.array([total]), np.array([squares]), n, low)
    assert at == pytest.approx(np.log(40))
    mirrored = limits_of_mean(500 - total, 500 - 2 * total + squares, 500, 0.05)
    assert mirrored == pytest.approx((1 - high, 1 - low))
    assert limits_of_mean(0.0, 0.0, 3, 0.05)[0] == 0
    fixed = 2 * 1.96 * x[:500].std() / np.sqrt(500)
    assert 1.2 * fixed < high - low < 2.5 * fixed


def test_brier_score_is_exact_at_all_times(tmp_path):
    rng = np.random.default_rng(1)
    p = rng.uniform(0.02, 0.98, 900)
    y = (rng.random(900) < p).astype(int)
    accumulator, other = dmfroc.Accumulator([0, 1]), dmfroc.Accumulator([0, 1])
    for first in range(0, 600, 50):
        accumulator.update(y[first : first + 50], p[first : first + 50])
        drift = accumulator.drift("brier_score", baseline=1 / 6)
    assert not drift.alarm
    found = accumulator.confidence_sequence("brier_score")
    assert found.exact
    assert found.value == pytest.approx(dmfroc.estimate("brier_score", y[:600], p[:600]).value)
    assert found.interval[0] < 1 / 6 < found.interval[1]
    accumulator.save(tmp_path / "a.npz")
    loaded = dmfroc.Accumulator.load(tmp_path / "a.npz")
    for one in (accumulator, loaded):  # forecasts that are turned round
        one.update(y[600:700], 1 - p[600:700])
        assert one.drift("brier_score", baseline=1 / 6).alarm
    other.update(y[600:700], 1 - p[600:700])
    merged = dmfroc.Accumulator([0, 1], cuts=accumulator).merge(accumulator)
    assert merged.confidence_sequence("brier_score").value == pytest.approx(
        accumulator.confidence_sequence("brier_score").value
    )
    streams = {"a": accumulator, "b": merged}
    assert dmfroc.compare(streams, measure="brier_score").differences[0].p_value == 1
    other.update(y[:50], 5 * p[:50])
    with pytest.raises(ValueError, match="brier_score needs probabilities"):
        other.confidence_sequence("brier_score")


def test_a_few_perfect_rows_are_no_drift():
    y = np.array([0, 1, 2, 0, 1, 2])
    accumulator = dmfroc.Accumulator([0, 1, 2])
    accumulator.update(y, np.eye(3)[y])
    assert accumulator.drift("hand_till", baseline=0.9).p_value == 1
    assert accumulator.drift("hand_till", baseline=0.999).p_value == 1


def test_streams_are_compared_at_any_time():
    a, b = watched(*stream(800, 1.8)), watched(*stream(600, 1.0, seed=3))
    for measure in ("accuracy", "hand_till"):
        found = dmfroc.compare({"a": a, "b": b}, measure=measure)
        [d] = found.differences
        assert found.method == "confidence sequence"
        assert found.estimates["a"].interval == a.confidence_sequence(measure).interval
        assert d.interval[0] < d.value < d.interval[1]
        assert d.p_value < 0.01
        assert found.best_set() == ("a",)
        [back] = dmfroc.compare({"b": b, "a": a}, measure=measure).differences
        assert back.p_value == pytest.approx(d.p_value)
        str(found), found.to_json(), found.plot()
    with pytest.raises(ValueError, match="no option of a comparison of accumulators"):
        dmfroc.compare({"a": a, "b": b}, measure="accuracy", simultaneous=True)
    with pytest.raises(ValueError, match="at least two"):
        dmfroc.compare({"a": a}, measure="accuracy")
    one = dmfroc.Accumulator([0, 1])
    one.update([1], [[0.2, 0.8]])
    with pytest.raises(ValueError, match="cannot be compared yet"):
        dmfroc.compare({"a": a, "one": one}, measure="hand_till")


def test_results_are_drawn_and_reported(tmp_path):
    accumulator = watched(*stream(300))
    accumulator.confidence_sequence("accuracy")
    accumulator.update(*stream(50, seed=4))
    sequence = accumulator.confidence_sequence("accuracy")
    display = sequence.plot()
    assert display.line_.get_xdata().tolist() == [300, 350]
    sequence.to_html(tmp_path / "stream.html")
    found = accumulator.drift(baseline=0.99)
    assert found.alarm
    found.plot()
    assert list(found.to_pandas().columns) == ["n_observations", "value", "low", "high", "p_value"]


def test_of_very_many_looks_every_second_of_the_older_half_is_forgotten(monkeypatch):
    monkeypatch.setattr(sequences, "_MOST_LOOKS", 8)
    looks = []
    for n in range(9):
        sequences.add_look(looks, Look(n, 0.5, (0.4, 0.6)))
    assert [look.n_observations for look in looks] == [0, 2, 4, 5, 6, 7, 8]
