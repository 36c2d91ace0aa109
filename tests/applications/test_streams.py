"""Limits that hold at all times, and streams compared at any time."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special

import dmfroc
from dmfroc.applications import streams as watching
from dmfroc.applications.streams import (
    Look,
    error_at_one_time,
    limits_of_mean,
    limits_of_share,
)

RNG = np.random.default_rng(0)


def stream(n, shift=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return y, rng.normal(size=(n, 3)) + shift * np.eye(3)[y]


def watched(y, scores, step=20, **options):
    accumulator = dmfroc.counted.Accumulator(np.unique(y), **options)
    for first in range(0, len(y), step):
        accumulator.update(y[first : first + step], scores[first : first + step])
    return accumulator


@given(st.integers(1, 300), st.floats(0, 1), st.floats(0.001, 0.5))
@example(281, 1 / 256, 1 / 512)
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


def test_accuracy_is_exact_and_others_are_not():
    y, scores = stream(600)
    accumulator = watched(y, scores)
    accuracy = dmfroc.applications.confidence_sequence(accumulator, "accuracy")
    right = int((scores.argmax(axis=1) == y).sum())
    assert accuracy.exact
    assert accuracy.interval == pytest.approx(limits_of_share(right, 600, 0.05))
    area = dmfroc.applications.confidence_sequence(accumulator, "hand_till")
    once = dmfroc.estimate("hand_till", y, scores, level=1 - error_at_one_time(600, 0.05))
    assert not area.exact
    assert area.value == pytest.approx(once.value, abs=1e-4)
    assert area.interval == pytest.approx(once.interval, abs=1e-3)  # counts have linear limits
    assert area.interval[0] < dmfroc.estimate("hand_till", y, scores).interval[0]


def test_rates_of_two_classes_are_exact():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=300)
    predicted = np.where(rng.random(300) < 0.8, y, 1 - y)
    accumulator = dmfroc.counted.Accumulator([0, 1])
    accumulator.update(y, predicted.astype(float), y_pred=predicted)
    for name in ("recall", "specificity", "precision", "negative_predictive_value", "fallout",
                 "miss_rate"):  # fmt: skip
        found = dmfroc.applications.confidence_sequence(accumulator, name)
        assert found.exact
        assert found.value == pytest.approx(dmfroc.estimate(name, y, y_pred=predicted).value)
    n = int((y == 1).sum())
    k = int(((y == 1) & (predicted == 1)).sum())
    assert dmfroc.applications.confidence_sequence(accumulator, "recall").interval == pytest.approx(
        limits_of_share(k, n, 0.05)
    )


def test_looking_changes_nothing():
    y, scores = stream(400)
    quiet, watched_one = watched(y, scores), dmfroc.counted.Accumulator([0, 1, 2])
    for first in range(0, 400, 20):
        rows = slice(first, first + 20)
        watched_one.update(y[rows], scores[rows])
        sequence = dmfroc.applications.confidence_sequence(watched_one, "hand_till", level=0.9)
    assert len(sequence.looks) == 20
    assert np.array_equal(quiet.cuts, watched_one.cuts)
    assert quiet.compute(["hand_till"]).estimates["hand_till"].value == (
        watched_one.compute(["hand_till"]).estimates["hand_till"].value
    )
    assert (
        len(dmfroc.applications.confidence_sequence(watched_one, "hand_till", level=0.9).looks)
        == 20
    )


def test_weights_make_accuracy_asymptotic():
    y, scores = stream(200)
    accumulator = dmfroc.counted.Accumulator([0, 1, 2])
    accumulator.update(y, scores, sample_weight=np.linspace(0.5, 1.5, 200))
    assert not dmfroc.applications.confidence_sequence(accumulator, "accuracy").exact


@pytest.mark.parametrize("name", ["accuracy", "hand_till"])
def test_watching_goes_on_after_load(tmp_path, name):
    y, scores = stream(600)
    whole, parts = (dmfroc.counted.Accumulator([0, 1, 2], learn_from=50) for _ in range(2))
    for start in range(0, 600, 50):
        rows = slice(start, start + 50)
        if start == 300:
            parts.save(tmp_path / "a.npz")
            parts = dmfroc.counted.Accumulator.load(tmp_path / "a.npz")
        for accumulator in (whole, parts):
            accumulator.update(y[rows], scores[rows])
            dmfroc.applications.confidence_sequence(accumulator, name)
    one, other = (dmfroc.applications.confidence_sequence(x, name) for x in (whole, parts))
    assert one.as_json() == other.as_json()
    assert len(one.looks) >= 12


def test_saved_loaded_and_merged(tmp_path):
    y, scores = stream(400)
    first, second = watched(y[:200], scores[:200], learn_from=100), watched(y[200:], scores[200:])
    first.save(tmp_path / "a.npz")
    loaded = dmfroc.counted.Accumulator.load(tmp_path / "a.npz")
    second = dmfroc.counted.Accumulator([0, 1, 2], cuts=loaded)
    second.update(y[200:], scores[200:])
    loaded.merge(second)
    found = dmfroc.applications.confidence_sequence(loaded, "accuracy")
    assert (
        found.interval
        == dmfroc.applications.confidence_sequence(watched(y, scores), "accuracy").interval
    )


def test_before_there_is_anything_to_say():
    accumulator = dmfroc.counted.Accumulator([0, 1])
    with pytest.raises(ValueError, match="nothing has been accumulated"):
        dmfroc.applications.confidence_sequence(accumulator, "accuracy")
    accumulator.update([1, 1], [[0.2, 0.8], [0.1, 0.9]])
    found = dmfroc.applications.confidence_sequence(accumulator, "hand_till")
    assert found.interval == (0, 1)
    assert "one class only" in found.warnings[0]
    with pytest.raises(ValueError, match="level"):
        dmfroc.applications.confidence_sequence(accumulator, "accuracy", level=1.5)


def test_limits_of_a_mean_invert_an_average_of_martingales():
    """Each factor is at most 1 + b (x - m), whose mean is 1 for the mean m (Fan et al. 2015)."""
    rng = np.random.default_rng(0)
    x, bets = rng.beta(0.3, 1.7, 200_000), 2.0 ** -np.arange(1, 9)

    def evidence(total, squares, n, m):
        above, squared = total - n * m, squares - 2 * m * total + n * m**2
        factors = np.exp(
            np.multiply.outer(bets, above) + np.multiply.outer(np.log1p(-bets) + bets, squared)
        )
        return factors.mean(axis=0)

    assert 0.99 < evidence(x, x**2, 1, 0.15).mean() < 1.002
    total, squares = x[:500].sum(), (x[:500] ** 2).sum()
    low, high = limits_of_mean(total, squares, 500, 0.05)
    assert evidence(total, squares, 500, low) == pytest.approx(40)
    mirrored = limits_of_mean(500 - total, 500 - 2 * total + squares, 500, 0.05)
    assert mirrored == pytest.approx((1 - high, 1 - low))
    assert limits_of_mean(0.0, 0.0, 3, 0.05)[0] == 0
    fixed = 2 * 1.96 * x[:500].std() / np.sqrt(500)
    assert 1.2 * fixed < high - low < 2.5 * fixed


def test_brier_score_is_exact_at_all_times(tmp_path):
    rng = np.random.default_rng(1)
    p = rng.uniform(0.02, 0.98, 900)
    y = (rng.random(900) < p).astype(int)
    accumulator, other = dmfroc.counted.Accumulator([0, 1]), dmfroc.counted.Accumulator([0, 1])
    for first in range(0, 600, 50):
        accumulator.update(y[first : first + 50], p[first : first + 50])
    found = dmfroc.applications.confidence_sequence(accumulator, "brier_score")
    assert found.exact
    assert found.value == pytest.approx(dmfroc.estimate("brier_score", y[:600], p[:600]).value)
    assert found.interval[0] < 1 / 6 < found.interval[1]
    accumulator.save(tmp_path / "a.npz")
    loaded = dmfroc.counted.Accumulator.load(tmp_path / "a.npz")
    for one in (accumulator, loaded):  # forecasts that are turned round
        one.update(y[600:700], 1 - p[600:700])
        assert dmfroc.applications.confidence_sequence(one, "brier_score").value > found.value
    other.update(y[600:700], 1 - p[600:700])
    merged = dmfroc.counted.Accumulator([0, 1], cuts=accumulator).merge(accumulator)
    assert dmfroc.applications.confidence_sequence(merged, "brier_score").value == pytest.approx(
        dmfroc.applications.confidence_sequence(accumulator, "brier_score").value
    )
    streams = {"a": accumulator, "b": merged}
    assert (
        dmfroc.applications.compare_streams(streams, measure="brier_score").differences[0].p_value
        == 1
    )
    other.update(y[:50], 5 * p[:50])
    with pytest.raises(ValueError, match="brier_score needs probabilities"):
        dmfroc.applications.confidence_sequence(other, "brier_score")


def test_streams_are_compared_at_any_time():
    a, b = watched(*stream(800, 1.8)), watched(*stream(600, 1.0, seed=3))
    for measure in ("accuracy", "hand_till"):
        found = dmfroc.applications.compare_streams({"a": a, "b": b}, measure=measure)
        [d] = found.differences
        assert found.method == "confidence sequence"
        assert (
            found.estimates["a"].interval
            == dmfroc.applications.confidence_sequence(a, measure).interval
        )
        assert d.interval[0] < d.value < d.interval[1]
        assert d.p_value < 0.01
        assert found.best_set() == ("a",)
        [back] = dmfroc.applications.compare_streams({"b": b, "a": a}, measure=measure).differences
        assert back.p_value == pytest.approx(d.p_value)
        str(found), found.to_json(), found.plot()
    with pytest.raises(TypeError, match=r"call dmfroc\.applications\.compare_streams"):
        dmfroc.compare({"a": a, "b": b}, measures="accuracy")
    rules = [{"measure": "accuracy", "better_than": "b"}]
    assert dmfroc.applications.gate(rules, {"a": a, "b": b}).verdict == "pass"
    with pytest.raises(ValueError, match="no option of a comparison of accumulators"):
        dmfroc.applications.gate(rules, {"a": a, "b": b}, groups=[1])
    with pytest.raises(ValueError, match="at least two"):
        dmfroc.applications.compare_streams({"a": a}, measure="accuracy")
    one = dmfroc.counted.Accumulator([0, 1])
    one.update([1], [[0.2, 0.8]])
    with pytest.raises(ValueError, match="cannot be compared yet"):
        dmfroc.applications.compare_streams({"a": a, "one": one}, measure="hand_till")


def test_results_are_drawn_and_reported(tmp_path):
    accumulator = watched(*stream(300))
    dmfroc.applications.confidence_sequence(accumulator, "accuracy")
    accumulator.update(*stream(50, seed=4))
    sequence = dmfroc.applications.confidence_sequence(accumulator, "accuracy")
    display = sequence.plot()
    assert display.line_.get_xdata().tolist() == [300, 350]
    sequence.to_html(tmp_path / "stream.html")
    assert list(sequence.to_pandas().columns) == ["n_observations", "value", "low", "high"]


def test_of_very_many_looks_every_second_of_the_older_half_is_forgotten(monkeypatch):
    monkeypatch.setattr(watching, "_MOST_LOOKS", 8)
    looks = []
    for n in range(9):
        watching.add_look(looks, Look(n, 0.5, (0.4, 0.6)))
    assert [look.n_observations for look in looks] == [0, 2, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("measure", ["log_loss", "calibration_slope"])
def test_a_measure_that_cannot_be_counted_is_refused_as_elsewhere(measure):
    y, scores = stream(60)
    accumulator = watched(y, special.softmax(scores, axis=1))
    with pytest.raises(ValueError, match="which counts do not show") as elsewhere:
        accumulator.compute(measure)
    with pytest.raises(ValueError, match="which counts do not show") as found:
        dmfroc.applications.confidence_sequence(accumulator, measure)
    assert str(found.value) == str(elsewhere.value)
