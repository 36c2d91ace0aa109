"""Planning: half-widths and power against the jackknife's own formulas and exact cases."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from simulations import classifiers, cyclic_scores

from dmfroc import Predictions, estimate
from dmfroc._kit.text import on_one_line
from dmfroc.applications import plan


def pilot(n=240, **options):
    return Predictions.from_arrays(*cyclic_scores(n, **options))


def two_pilots(n=240, shifts=(1.5, 1.2)):
    y, scores = classifiers(n=n, shifts=shifts)
    return {name: Predictions.from_arrays(y, s) for name, s in scores.items()}


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["hand_till", "informedness", "dmf_auc"])
def test_the_pilots_own_size_gives_the_pilots_own_interval(measure):
    """But for what is not linear: limits of other sizes are linear."""
    for n, tolerance in ((240, 0.01), (2400, 1e-3)):
        found = plan(pilot(n), measure=measure, half_width=0.05)
        of_pilot = estimate(measure, pilot(n))
        assert found.half_width(n) == pytest.approx(np.ptp(of_pilot.interval) / 2, rel=tolerance)
        assert found.value == pytest.approx(of_pilot.value, rel=1e-12)


def test_a_pilot_of_groups_or_folds_has_the_interval_of_its_estimate():
    predictions, row = pilot(), np.arange(240)
    for units in (
        {"groups": row // 4},
        {"folds": row // 3 % 5},
        {"groups": row // 4, "folds": row // 120},
    ):
        found = plan(predictions, measure="hand_till", half_width=0.05, **units)
        of_pilot = estimate("hand_till", predictions, **units)
        assert found.half_width(240) == pytest.approx(np.ptp(of_pilot.interval) / 2, rel=0.02)
        assert found.value == pytest.approx(of_pilot.value, rel=1e-12)


def test_twins_count_as_one_case_of_a_plan():
    one, aim = pilot(120), {"measure": "hand_till", "half_width": 0.05}
    twins = Predictions.from_arrays(np.repeat(one.true, 2), np.repeat(one.scores, 2, axis=0))
    found = plan(twins, groups=np.repeat(np.arange(120), 2), **aim)
    assert found.half_width(240) == pytest.approx(plan(one, **aim).half_width(120), rel=1e-9)
    assert found.optimal_prevalence == found.prevalence
    assert "best shares" not in str(found)
    with pytest.raises(TypeError, match="leave prevalence= out"):
        plan(twins, groups=np.repeat(np.arange(120), 2), prevalence="balanced", **aim)


def test_n_is_the_smallest_that_suffices():
    found = plan(pilot(), measure="hand_till", half_width=0.02)
    assert found.half_width(found.n) <= 0.02 < found.half_width(found.n - 1)
    assert sum(found.class_counts.values()) == found.n
    assert found.n_interval[0] < found.n < found.n_interval[1]
    powered = plan(two_pilots(), measure="hand_till", difference=0.03, power=0.9)
    assert powered.power(powered.n) >= 0.9 > powered.power(powered.n - 3)


def test_power_is_that_of_the_t_test():
    """Two classes of equal variance: the noncentral t distribution of a two-sample test."""
    found = plan(two_pilots(600), measure="hand_till", difference=0.03, power=0.8)
    error = found.curve([found.n])["standard_error"].iloc[0]
    z = stats.norm.ppf(0.975)
    expected = stats.norm.sf(z - 0.03 / error) + stats.norm.cdf(-z - 0.03 / error)
    assert found.power(found.n) == pytest.approx(expected, abs=0.005)


def test_few_observations_are_planned_for_sign_flips_and_get_a_warning_with_a_margin():
    """Near perfection the t test of few degrees of freedom planned 80 % power, and it was 97 %."""
    pilots = two_pilots(3000, (4.4, 3.8))
    found = plan(pilots, measure="hand_till", difference=0.016, power=0.8)
    assert found._design.planned(found.n).spread.degrees_of_freedom < 30
    error = found.curve([found.n])["standard_error"].iloc[0]
    power = stats.norm.sf(1.959964 - 0.016 / error) + stats.norm.cdf(-1.959964 - 0.016 / error)
    assert found.power(found.n) == pytest.approx(power, abs=1e-3)
    with pytest.warns(
        UserWarning, match="^plan with more cases: few observations decide the difference"
    ):
        inferior = plan(pilots, measure="hand_till", margin=0.02)
    assert "plan with more cases" in inferior.warnings[-1]
    assert max(map(len, str(inferior).split("\n"))) <= 80


def test_power_without_a_difference_is_the_level():
    found = plan(two_pilots(), measure="hand_till", difference=0.05)
    assert found._design.power(300, 0.0, None) == pytest.approx(0.05, abs=1e-6)
    inferior = plan(two_pilots(), measure="hand_till", margin=0.05)
    assert inferior._design.power(300, -0.05, 0.05) == pytest.approx(0.025, abs=1e-6)


def test_names_and_signs_do_not_matter():
    pilots = two_pilots()
    turned = dict(reversed(pilots.items()))
    for options in ({"difference": 0.04}, {"difference": -0.04}, {"margin": 0.04}):
        one, other = (plan(p, measure="hand_till", **options) for p in (pilots, turned))
        assert one.n == other.n
        assert one.n_interval == other.n_interval
    assert one.value == pytest.approx(-other.value, rel=1e-12)


def test_non_inferiority_of_one_that_is_better_needs_fewer():
    equal, better = (
        plan(two_pilots(), measure="hand_till", margin=0.05, difference=d) for d in (0, 0.02)
    )
    assert better.n < equal.n
    assert equal.difference == 0


def test_best_shares_follow_the_standard_deviations():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [300, 300])
    scores = np.where(y == 1, rng.normal(1, 3, size=600), rng.normal(0, 0.3, size=600))
    found = plan(Predictions.from_arrays(y, scores), measure="hand_till", half_width=0.02)
    assert found.n_optimal < found.n
    influences = found._design.moments.variances**0.5
    assert list(found.optimal_prevalence.values()) == pytest.approx(
        influences / influences.sum(), rel=1e-12
    )
    near = plan(
        Predictions.from_arrays(y, scores),
        measure="hand_till",
        half_width=0.02,
        prevalence=list(found.optimal_prevalence.values()),
    )
    assert near.n == found.n_optimal


@pytest.mark.filterwarnings("ignore:pass the weights, which are whole numbers")
def test_a_measure_that_depends_on_shares_is_that_of_the_planned_ones():
    y, scores = cyclic_scores(300)
    rare = (y != 2) | (np.arange(300) % 5 == 0)
    sample = Predictions.from_arrays(y[rare], scores[rare])
    weights = np.where(y[rare] == 2, 5.0, 1.0)
    balanced = plan(sample, measure="accuracy", half_width=0.05, prevalence="balanced")
    expected = estimate("accuracy", y[rare], scores[rare], sample_weight=weights).value
    assert balanced.value == pytest.approx(expected, rel=1e-12)
    assert plan(sample, measure="accuracy", half_width=0.05).value != pytest.approx(
        expected, rel=1e-3
    )


def test_curve_and_text():
    found = plan(two_pilots(), measure="hand_till", difference=0.04)
    table = found.to_pandas("curve")
    assert (np.diff(table["power"]) > 0).all()
    assert (np.diff(table["half_width"]) < 0).all()
    text = on_one_line(str(found))
    assert str(found.n) in text
    assert "a difference of 0.04 (power 0.8, tests at 0.05)" in text
    of_one = plan(pilot(), measure="hand_till", difference=0.04)
    assert of_one.aim == "a difference of 0.04 from a fixed value (power 0.8, tests at 0.05)"
    display = found.plot()
    assert display.point_.get_xdata()[0] == found.n
    assert display.point_.get_ydata()[0] == found.power(found.n)
    np.testing.assert_array_equal(display.line_.get_ydata(), table["power"])
    box = display.interval_.get_bbox()
    assert (box.x0, box.x1) == found.n_interval
    assert display.figure_ is display.ax_.figure
    width = plan(two_pilots(), measure="hand_till", half_width=0.04).plot(color="black")
    assert (width.ax_.get_ylabel(), width.line_.get_color()) == ("half-width", "black")
    width.figure_.canvas.draw()
    low, high = width.ax_.get_xlim()
    ticks = [tick for tick in width.ax_.get_xticklabels() if low <= tick.get_position()[0] <= high]
    numbers = [float(tick.get_text().replace(",", "")) for tick in ticks]
    assert numbers == [tick.get_position()[0] for tick in ticks]
    assert {f"{n:g}"[0] for n in numbers} <= {"1", "2", "5"}
    [band, point] = [text.get_text() for text in width.ax_.get_legend().get_texts()]
    assert band == "95 % interval, by the pilot"
    assert point == f"{plan(two_pilots(), measure='hand_till', half_width=0.04).n:,} cases"


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({}, TypeError, "either half_width"),
        ({"half_width": 0.1, "difference": 0.1}, TypeError, "either half_width"),
        ({"half_width": 0}, ValueError, "half_width must be positive and finite"),
        ({"difference": 0}, ValueError, "difference must not be 0"),
        ({"difference": "large"}, TypeError, "difference must be a number"),
        ({"difference": np.nan}, ValueError, "difference"),
        ({"difference": 0.1, "power": 1}, ValueError, "power must be between"),
        ({"difference": -0.2, "margin": 0.1}, ValueError, "which is not above -margin"),
        ({"margin": 0.1}, ValueError, "margin compares two classifiers"),
        ({"half_width": 0.1, "prevalence": [1, 2]}, ValueError, "share of each of the 3"),
        ({"half_width": 0.1, "classifier": None}, TypeError, "pass nothing instead: the pilot is"),
        ({"half_width": 5}, ValueError, "range is 0 to 1: do you mean half_width=0.05"),
        ({"difference": -3}, ValueError, "do you mean difference=-0.03"),
        ({"half_width": 1e-9}, ValueError, "more than 1,000,000,000 cases"),
    ],
)
def test_bad_options_are_refused(options, kind, message):
    with pytest.raises(kind, match=message):
        plan(pilot(), measure="hand_till", **options)


def test_a_pilot_that_says_nothing_is_refused():
    y = np.arange(30) % 3
    with pytest.raises(ValueError, match="does not vary there"):
        plan(Predictions.from_arrays(y, np.eye(3)[y]), measure="hand_till", half_width=0.01)
    with pytest.raises(ValueError, match="needs the same observations"):
        plan({"a": pilot(), "b": pilot(120)}, measure="hand_till", difference=0.1)
    first = pilot()
    weighted = replace(first, sample_weight=1.0 + (np.arange(first.n_observations) == 7))
    with pytest.raises(ValueError, match="weights of 'a' and 'b' differ, first in row 7 "):
        plan({"a": first, "b": weighted}, measure="hand_till", difference=0.1)


def test_four_times_the_cases_have_half_the_error():
    """Whatever the shares of the classes add to it, where they are a matter of chance."""
    classes, scores = cyclic_scores(120, 3)
    pilot = Predictions.from_arrays(classes, scores)
    for measure in ("accuracy", "hand_till"):
        found = plan(pilot, measure=measure, half_width=0.05).curve([120, 480])["standard_error"]
        assert found[120] == pytest.approx(estimate(measure, pilot).standard_error, rel=1e-9)
        assert found[120] / found[480] == pytest.approx(2, rel=0.02)


def test_a_class_that_is_never_confused_needs_cases_too():
    classes, scores = cyclic_scores(120, 3)
    scores[:, 0] = np.where(classes == 0, 100.0, -100.0)
    scores[classes == 0, 1:] = -50.0
    found = plan(Predictions.from_arrays(classes, scores), measure="hand_till", half_width=0.02)
    assert min(found.optimal_prevalence.values()) > 0.005
    assert 0 < found.n_optimal <= found.n


@pytest.mark.parametrize("measure", ["observed_expected_ratio", "brier_score", "log_loss"])
def test_probabilities_at_another_prevalence_are_adapted_or_warned_of(measure):
    rng = np.random.default_rng(0)
    p = expit(1.5 * rng.normal(size=2000) - 3)
    y, shares = (rng.random(2000) < p).astype(int), [0.982, 0.018]
    own = Predictions.from_arrays(y, p)
    aim = {"measure": measure, "half_width": 0.05}
    assert plan(own, **aim).warnings == ()
    with pytest.warns(UserWarning, match=r"the ratio of its shares \(0 1\.08, 1 0\.195\)"):
        found = plan(own, prevalence=shares, **aim)
    assert "of the pilot do not fit these shares" in found.warnings[0]
    odds = p / (1 - p) * 0.018 / 0.982 / (y.mean() / (1 - y.mean()))
    adapted = Predictions.from_arrays(y, odds / (1 + odds))
    found = plan(adapted, prevalence=shares, **aim)
    assert found.warnings == ()
    if measure == "observed_expected_ratio":
        assert found.value == pytest.approx(1, abs=0.05)
    # Ranks do not depend on it
    assert plan(own, measure="hand_till", half_width=0.05, prevalence=shares).warnings == ()


def test_only_a_test_of_no_difference_has_the_power_of_sign_flips():
    """With a margin, or in small classes, it is the noncentral t distribution's."""
    few = plan(two_pilots(3000, (4.4, 3.8)), measure="hand_till", difference=0.016, power=0.8)
    small = plan(two_pilots(32), measure="hand_till", difference=0.1, power=0.8)
    for design, n, margin in ((few._design, few.n, 0.02), (small._design, 32, None)):
        scale, freedom = design.planned(n).spread
        assert freedom < 40
        critical = stats.t.ppf(0.975, freedom)
        shift = (0.01 + (margin or 0)) / scale
        expected = stats.nct.sf(critical, freedom, shift)
        if margin is None:
            expected += stats.nct.cdf(-critical, freedom, shift)
        assert design.power(n, 0.01, margin) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("n", [0, -5, 100.5, "100"])
def test_other_sizes_are_whole_numbers_of_cases(n):
    found = plan(two_pilots(), measure="hand_till", difference=0.05)
    for ask in (found.half_width, found.power, lambda n: found.curve([n])):
        with pytest.raises((TypeError, ValueError), match="must be an integer >= 1"):
            ask(n)
