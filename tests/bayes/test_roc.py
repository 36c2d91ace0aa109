"""Posteriors of the curve: spread against the jackknife, likelihoods, degenerate data."""

import re
import warnings

import arviz
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import pytest
from matplotlib.figure import Figure
from numpyro import distributions
from numpyro.infer import HMC
from numpyro.infer.util import log_density
from scipy import stats
from scipy.special import expit, log_expit, softmax
from simulations import normal_scores

import dmfroc.bayes
from dmfroc import Predictions, dmf_auc_score, estimate, evaluate
from dmfroc._kit.compiled import in_double_precision
from dmfroc.applications import majority_costs, pair_covariance
from dmfroc.bayes import Priors, bayesian_roc, bayesian_table, method
from dmfroc.bayes.method import (
    against_the_rest,
    couple,
    posterior_of_curves,
    posterior_of_pairs,
    weights_of_pairs,
)
from dmfroc.bayes.models import (
    AverageCurve,
    ThresholdCounts,
    _binormal_splits,
    _halve,
    binomial_log_likelihood,
    model_of,
    ordinal_log_likelihood,
    pooled_quantiles,
    sample_curve,
)
from dmfroc.bayes.pairs import drawn_areas
from dmfroc.bayes.posterior import sampling_problems
from dmfroc.bayes.roc import approximated, check_choices, pairwise_counts
from dmfroc.inputs.arguments import as_predictions
from dmfroc.measures import (
    dmf_auc,
    hand_till,
    informedness,
    one_vs_one_auc,
    one_vs_rest_auc,
    partial_auc,
    roc_area,
)
from dmfroc.multiclass.rates import CurveOptions

# Two shapes of data, K = 4 and K = 2, serve most tests: compiling takes most of their time.
OF_TWO = {"n_thresholds": 31, "algorithm": "laplace"}
FAST = {"n_thresholds": 9, "algorithm": "laplace"}
SMALL = {"n_thresholds": 9, "n_chains": 2, "n_draws": 250, "n_warmup": 150}


@pytest.fixture(scope="module")
def sample():
    classes, scores = normal_scores(1, 600, 4)
    return classes, softmax(scores, axis=1)


@pytest.fixture(scope="module")
def jackknife(sample):
    return estimate(dmf_auc(n_thresholds=9), *sample)


@pytest.fixture(scope="module")
def small(sample):
    """A posterior by short Markov chains."""
    return bayesian_roc(*sample, **SMALL)


# Spread


@pytest.mark.slow
def test_standard_deviation_is_near_the_jackknife(jackknife, small):
    assert small.standard_error == pytest.approx(jackknife.standard_error, rel=0.15)
    assert small.value == pytest.approx(jackknife.value, abs=0.3 * jackknife.standard_error)
    assert small.interval == pytest.approx(jackknife.interval, abs=jackknife.standard_error / 2)


@pytest.mark.slow
def test_untempered_likelihood_is_too_sure(sample):
    tempered, plain = (
        bayesian_roc(*sample, tempering=tempering, **FAST) for tempering in ("overlap", "none")
    )
    assert plain.standard_error < 0.5 * tempered.standard_error
    said = [any("too narrow" in remark for remark in x.warnings) for x in (tempered, plain)]
    assert said == [False, True]
    bins = bayesian_roc(*sample, likelihood="ordinal", tempering="none", **FAST)
    assert plain.standard_error < bins.standard_error < tempered.standard_error


@pytest.mark.slow
def test_two_classes_have_counts_between_thresholds():
    classes, scores = normal_scores(2, 300, 2)
    found, ordinal = (
        bayesian_roc(classes, scores, likelihood=x, **OF_TWO) for x in (None, "ordinal")
    )
    assert found.interval == ordinal.interval


@pytest.mark.slow
def test_posterior_mean_is_the_area_of_the_fit_where_pairs_differ():
    """Three classes on a line, of which two are near each other; M is .044 below the area."""
    classes, generator = np.arange(6000) % 3, np.random.default_rng(3)
    x = np.array([0, 1, 4])[classes] + generator.normal(size=6000)
    scores = softmax(-(np.subtract.outer(x, [0, 1, 4]) ** 2) / 2, axis=1)
    target = estimate("dmf_auc", classes, scores)
    found = bayesian_roc(classes, scores, algorithm="laplace")
    assert found.value == pytest.approx(target.value, abs=target.standard_error)
    assert found.standard_error == pytest.approx(target.standard_error, rel=0.4)
    of_bins = bayesian_roc(classes, scores, likelihood="ordinal", algorithm="laplace")
    assert of_bins.value < target.value - 1.5 * target.standard_error
    assert not any("the model draws" in remark for x in (found, of_bins) for remark in x.warnings)
    # A column's thresholds have the same mean rate in each pair, which one factor cannot shift.
    # The areas of the pairs are drawn towards each other, and their mean is not M. This is told.
    m = posterior_of_pairs(hand_till(), of_bins, Predictions.from_arrays(classes, scores))
    assert m.value > estimate("hand_till", classes, scores).value + 3 * m.standard_error
    assert any("differ by more than the model expects" in remark for remark in of_bins.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [3, 6])
def test_tempering_by_overlap_has_about_the_jackknifes_standard_error(n_classes):
    classes, scores = normal_scores(13, 900, n_classes)
    target = estimate("dmf_auc", classes, scores).standard_error
    found = bayesian_roc(classes, scores, n_draws=4000, **FAST)
    assert found.standard_error == pytest.approx(target, rel=0.1)


@pytest.mark.slow
def test_columns_of_two_classes_do_not_overlap():
    classes, scores = normal_scores(14, 100, 2)
    overlap, none = (
        bayesian_roc(classes, scores, tempering=tempering, **OF_TWO)
        for tempering in ("overlap", "none")
    )
    assert overlap.interval == pytest.approx(none.interval, rel=1e-9)


@pytest.mark.slow
def test_normal_approximation_is_near_the_chains(sample, small):
    laplace = bayesian_roc(*sample, **FAST)
    assert laplace.value == pytest.approx(small.value, abs=0.2 * small.standard_error)
    assert laplace.standard_error == pytest.approx(small.standard_error, rel=0.15)


def test_mean_area_of_the_pairs_has_about_the_jackknifes_standard_error(sample):
    curve = bayesian_roc(*sample, **FAST)
    found = posterior_of_pairs(hand_till(), curve, Predictions.from_arrays(*sample))
    observed = curve.posterior["observed_data"]["pairwise_auc"].to_numpy()
    target = estimate("hand_till", *sample).standard_error
    assert found.measure == "hand_till"
    assert found.value == pytest.approx(observed.mean(), abs=target / 3)
    assert found.standard_error == pytest.approx(target, rel=0.2)
    np.testing.assert_allclose(found.draws, drawn_areas(curve.posterior).mean(axis=2).ravel())
    assert "hand_till" not in curve.posterior["posterior"]


@pytest.fixture(scope="module")
def imbalanced():
    return Predictions.from_arrays(*normal_scores(3, 600, 4, prior=[0.6, 0.25, 0.1, 0.05]))


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.25, 4, None])
def test_pair_weights_are_those_of_the_point_estimate(factor):
    # All pairs are alike, and so many observations leave the fit without a bias
    many = Predictions.from_arrays(*normal_scores(3, 6000, 4, prior=[0.6, 0.25, 0.1, 0.05]))
    weights = "prevalence" if factor is None else majority_costs(many, factor)
    jackknife = estimate(dmf_auc(pair_weights=weights, n_thresholds=9), many)
    found = bayesian_roc(many, pair_weights=weights, n_draws=2000, **FAST)
    assert found.value == pytest.approx(jackknife.value, abs=0.25 * jackknife.standard_error)
    assert found.standard_error == pytest.approx(jackknife.standard_error, rel=0.15)


def test_prevalence_weights_make_counts_of_the_observations_themselves(imbalanced):
    bound = CurveOptions("prevalence", 9)(imbalanced)
    sizes = imbalanced.class_counts
    expected = [(sizes[i], sizes[j]) for i in range(4) for j in range(4) if i != j]
    np.testing.assert_allclose(pairwise_counts(bound, imbalanced).sizes, expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "measure",
    [one_vs_one_auc(), one_vs_rest_auc(), one_vs_rest_auc("prevalence")],
    ids=lambda measure: measure.name,
)
def test_measures_of_pairs_have_their_own_weights(imbalanced, measure):
    jackknife = estimate(measure, imbalanced, stratify=True)
    weights = weights_of_pairs(measure, imbalanced)
    options = FAST | {"likelihood": "ordinal", "n_draws": 2000}
    curve = bayesian_roc(imbalanced, pair_weights=weights, **options)
    found = posterior_of_pairs(measure, curve, imbalanced)
    # Seven thresholds leave out a part of the areas, in the sample as in the model.
    observed = curve.posterior["observed_data"]["pairwise_auc"]
    expected = np.average(observed, weights=weights[0][~np.eye(4, dtype=bool)])
    assert found.value == pytest.approx(expected, abs=0.3 * jackknife.standard_error)
    assert found.standard_error == pytest.approx(jackknife.standard_error, rel=0.15)
    assert weights_of_pairs(hand_till(), imbalanced) == "equal"


@pytest.mark.slow
def test_measures_of_the_curve_of_each_class_are_coupled(imbalanced):
    curves = [bayesian_roc(against_the_rest(imbalanced, place), **OF_TWO) for place in range(4)]
    for measure in (partial_auc(0.3), roc_area()):
        jackknife = estimate(measure, imbalanced, stratify=True)
        found = posterior_of_curves(measure, curves, imbalanced)
        assert found.value == pytest.approx(jackknife.value, abs=jackknife.standard_error / 2)
        assert found.standard_error == pytest.approx(jackknife.standard_error, rel=0.15)
        of_class = found.posterior["posterior"]["of_class"]
        assert of_class.dims == ("chain", "draw", "class")
        np.testing.assert_allclose(of_class.mean("class").to_numpy().ravel(), found.draws)
    areas = [curve.posterior["posterior"]["auc"].mean() for curve in curves]
    np.testing.assert_allclose(of_class.mean(["chain", "draw"]), areas, rtol=1e-12)


@pytest.mark.slow
def test_measures_of_the_same_curve_share_its_draws(monkeypatch, sample):
    calls = []

    def draw(predictions, **options):
        calls.append(options)
        return bayesian_roc(predictions, **FAST, **options)

    monkeypatch.setattr(method, "bayesian_roc", draw)
    found = evaluate(
        *sample,
        measures=["dmf_auc", "hand_till", "one_vs_one_auc", "gorodkin_correlation"],
        method="bayes",
    )
    assert [call.get("likelihood") for call in calls] == [None, "ordinal"]  # of the area, of M
    assert [e.method for e in found.estimates.values()] == ["bayes"] * 4
    evaluate(*sample, measures=["dmf_auc"], pair_weights="prevalence", method="bayes")
    assert calls[2]["pair_weights"] == "prevalence"


@pytest.mark.slow
def test_columns_of_two_classes_that_rank_differently_have_the_posterior_of_their_difference():
    classes, scores = normal_scores(2, 300, 2)
    predictions = Predictions.from_arrays(classes, scores)
    of_both = posterior_of_pairs(hand_till(), bayesian_roc(predictions, **OF_TWO), predictions)
    complementary = Predictions.from_arrays(classes, scores[:, 1] - scores[:, 0])
    found = posterior_of_pairs(hand_till(), bayesian_roc(complementary, **OF_TWO), complementary)
    area = estimate("dmf_auc", complementary)
    assert found.value == pytest.approx(area.value, abs=area.standard_error / 2)
    assert of_both.value == found.value


def test_the_public_model_is_the_one_that_is_sampled(sample):
    data = bayesian_roc(*sample, **FAST).posterior["constant_data"]
    given = [data[name].to_numpy() for name in ("rates", "sizes", "tempering")]
    seeded = numpyro.handlers.seed(dmfroc.bayes.model, 0)
    with in_double_precision():
        fit = approximated(as_predictions(*sample), n_thresholds=FAST["n_thresholds"])
        trace = numpyro.handlers.trace(seeded).get_trace(*given)
        values = {name: x["value"] for name, x in trace.items() if x["type"] == "sample"}
        of_counts, _ = log_density(
            model_of("rank_one", "binomial", Priors()), (fit.counts,), {}, values
        )
        public, _ = log_density(dmfroc.bayes.model, given, {}, values)
    assert float(public) == pytest.approx(float(of_counts), rel=1e-6)

    def pairs(n_pairs):
        level = numpyro.sample("level", distributions.Normal(0, 0.1))
        return jnp.full(n_pairs, jnp.exp(level)), jnp.zeros((n_pairs, 2))

    with in_double_precision():
        own = numpyro.handlers.trace(seeded).get_trace(*given, structure=pairs)
    assert "level" in own
    assert "effect" not in own
    assert float(np.ptp(own["pair_effect"]["value"])) == 0


def test_areas_of_pairs_are_drawn_towards_each_other(sample):
    found = bayesian_roc(*sample, **FAST)
    pairs = found.pairs()
    assert list(pairs.index) == list(found.posterior["posterior"]["pair"].to_numpy())
    assert pairs["value"].std() < pairs["observed"].std()
    assert ((pairs["low"] < pairs["observed"]) & (pairs["observed"] < pairs["high"])).mean() > 0.8
    order = pairs.sort_values("value")["probability_worse"].to_numpy()
    assert order[0] > 0.5 > order[-1]
    assert found.to_datatree() is found.posterior
    with pytest.raises(ValueError, match="the posterior of informedness has no curve and no pairs"):
        bayesian_table("informedness", *sample, n_draws=50).pairs()


@pytest.mark.slow
def test_pictures_of_a_posterior(sample):
    found = bayesian_roc(*sample, **FAST)
    curve, band = found.curve, found.band(level=0.5)
    assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(found.value, abs=1e-3)
    assert curve.pairs[:4] == ((0, 1), (0, 2), (0, 3), (1, 0))
    expected = found.posterior["posterior"]["tpr"].mean()  # ends count, here as for the pairs
    assert curve.pairwise_tpr.mean() == pytest.approx(float(expected), abs=0.05)
    wide = found.band()
    assert (wide.low <= band.low).all()
    assert (band.low <= curve.tpr + 1e-12).all()
    assert (curve.tpr <= wide.high + 1e-12).all()
    assert (band.level, wide.level, wide.method) == (0.5, 0.95, "bayes")
    display = found.plot(ax=Figure().subplots(), plot_pairs=True, name="noisy")
    label = display.line_.get_label()
    assert label.startswith(f"noisy: DMF-AUC {found.value:.3f} (95 % bayes interval")
    assert len(display.pairs_.get_paths()) == 12
    assert display.band_ is not None
    assert found.plot(ax=Figure().subplots(), plot_band=False).band_ is None
    forest = found.plot_pairs(ax=Figure().subplots())
    names = [text.get_text() for text in forest.ax_.get_yticklabels()]
    assert names == list(found.pairs().sort_values("value").index)
    with pytest.raises(ValueError, match="has no curve and no pairs: bayesian_roc has both"):
        bayesian_table("informedness", *sample, n_draws=50).plot()


def test_coupled_draws_keep_their_distributions():
    generator = np.random.default_rng(0)
    draws = {"a": generator.normal(size=4000), "b": generator.beta(2, 1, size=4000)}
    coupled = couple(draws, np.array([[1, 0.8], [0.8, 1]]), 1)
    for name in draws:
        assert np.array_equal(np.sort(coupled[name]), np.sort(draws[name]))
    normal = stats.norm.ppf(stats.rankdata(list(coupled.values()), axis=1) / 4001)
    assert np.corrcoef(normal)[0, 1] == pytest.approx(0.8, abs=0.02)


@pytest.mark.slow
def test_rare_and_frequent_classes_weigh_the_same():
    # The pairs of the first two classes, nearly all of the sample, are much better separated. So
    # many observations leave the fit with little bias: a rare class has 240.
    classes, scores = normal_scores(12, 6000, 4, prior=[0.46, 0.46, 0.04, 0.04])
    scores[np.arange(6000), classes] += 2.0 * (classes < 2)
    reference = estimate(dmf_auc(n_thresholds=9), classes, scores)
    found = bayesian_roc(classes, scores, **FAST)
    assert found.value == pytest.approx(reference.value, abs=reference.standard_error / 2)
    # Bins within a column say less of easy pairs: a smaller area, which is that of equal classes
    of_bins = bayesian_roc(classes, scores, likelihood="ordinal", **FAST)
    classes, scores = normal_scores(12, 6000, 4)
    scores[np.arange(6000), classes] += 2.0 * (classes < 2)
    even = bayesian_roc(classes, scores, likelihood="ordinal", **FAST)
    assert of_bins.value == pytest.approx(even.value, abs=of_bins.standard_error)
    assert of_bins.value < found.value


@pytest.mark.slow
@pytest.mark.parametrize("strength", [0.05, 0.2])
def test_fit_is_the_mode_under_the_prior_that_its_strength_implies(strength):
    """Pair effects have the precision of strength times the cells of a column."""
    classes, scores = normal_scores(12, 4000, 4)
    scores[np.arange(4000), classes] += 2.0 * (classes < 2)
    # Wider ones leave splits beyond all observations so free that the mean is not near the mode
    wide = Priors(5, 5, shrinkage=strength)
    mode = bayesian_roc(classes, scores, tempering="none", priors=wide, **FAST).value
    areas = [dmf_auc_score(classes, scores, n_thresholds=9, shrinkage=s) for s in (strength, 0)]
    assert areas[1] - areas[0] > 0.005
    assert mode == pytest.approx(areas[0], abs=(areas[1] - areas[0]) / 5)


# Models


@pytest.mark.slow
def test_ordinal_likelihood_is_multinomial():
    generator = np.random.default_rng(4)
    logits = np.sort(generator.normal(size=(2, 5)), axis=1)
    scale, shift = np.array([0.5, 1.5]), generator.normal(size=(2, 2))
    rates = expit(scale[:, None, None] * logits + shift[..., None])
    edge = np.zeros((2, 2, 1))
    shares = np.diff(np.concatenate([edge, rates, edge + 1], axis=2), axis=2)
    inside = generator.poisson(5, size=shares.shape).astype(float)
    counts = ThresholdCounts(
        jnp.asarray(inside.cumsum(axis=2)[..., :-1]),
        jnp.asarray(inside.sum(axis=2)),
        jnp.ones(()),
    )
    curve = AverageCurve(jnp.asarray(logits), jnp.asarray(np.diff(logits, axis=1)))
    with jax.enable_x64(True):
        found = ordinal_log_likelihood(counts, curve, jnp.asarray(scale), jnp.asarray(shift))
        cells = binomial_log_likelihood(counts, curve, jnp.asarray(scale), jnp.asarray(shift))
    assert found == pytest.approx((inside * np.log(shares)).sum(axis=2), rel=1e-5)
    above, sizes = np.asarray(counts.above), np.asarray(counts.sizes)[..., None]
    expected = (above * np.log(rates) + (sizes - above) * np.log(1 - rates)).sum(axis=2)
    assert cells == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("far", [30.0, 800.0, 1e5])
def test_likelihoods_are_exact_where_rates_are_indistinguishable_from_0_and_1(far):
    # Beyond 700, where exp overflows, the density once rose without bound.
    logits = far * np.array([[-1.0, 0.2, 1.0], [-0.7, -0.1, 0.9]])
    above = np.array([[[3.0, 3, 7], [1, 2, 9]]])
    with jax.enable_x64(True):
        counts = ThresholdCounts(jnp.asarray(above), jnp.asarray([[10.0, 10]]), jnp.ones(()))
        curve = AverageCurve(jnp.asarray(logits), jnp.asarray(np.diff(logits, axis=1)))
        given = counts, curve, jnp.ones(1), jnp.zeros((1, 2))
        bins, cells = ordinal_log_likelihood(*given), binomial_log_likelihood(*given)
        slope = jax.grad(lambda scale: binomial_log_likelihood(*given[:2], scale, given[3]).sum())(
            given[2]
        )
    log_above, log_below = log_expit(logits), log_expit(-logits)
    expected = (above * log_above + (10 - above) * log_below).sum()
    assert np.asarray(cells).sum() == pytest.approx(expected, rel=1e-12)
    assert float(slope[0]) == pytest.approx((logits * (above - 10 * expit(logits))).sum(), rel=1e-9)
    edges = np.diff(
        np.concatenate([np.zeros((2, 1)), above[0], np.full((2, 1), 10)], axis=1), axis=1
    )
    shares = np.concatenate(
        [
            log_above[:, :1],
            log_above[:, 1:] + log_below[:, :-1] + np.log(-np.expm1(-np.diff(logits, axis=1))),
            log_below[:, -1:],
        ],
        axis=1,
    )
    assert np.asarray(bins).sum() == pytest.approx((edges * shares).sum(), rel=1e-12)


@pytest.mark.slow
def test_hierarchical_structure_takes_up_shifted_pairs():
    # Cases of class 1 are taken for class 0, but not the other way round. Thresholds of a pair
    # have one rate on average. Both of its rates are shifted towards it, at all thresholds.
    classes, scores = normal_scores(5, 300, 3, shift=1.0)
    scores[classes == 1, 0] += 2.0
    rank_one = bayesian_roc(classes, scores, **FAST)
    hierarchical = bayesian_roc(classes, scores, structure="hierarchical", **FAST)
    spread = hierarchical.posterior["posterior"]["spread"].mean(["chain", "draw"])
    assert spread.dims == ("effect",)
    assert (spread.sel(effect=["tpr", "fpr"]) > 0.3).all()
    shift = hierarchical.posterior["posterior"]["pair_shift"].mean(["chain", "draw"])
    assert shift.idxmin("pair").sel(rate="tpr").item() == "0 from 1"
    assert shift.idxmax("pair").sel(rate="fpr").item() == "0 from 1"
    np.testing.assert_allclose(shift.mean("pair"), 0, atol=1e-12)

    def misfit(found):
        replicated = found.posterior["posterior_predictive"]["pairwise_auc"]
        observed = found.posterior["observed_data"]["pairwise_auc"]
        return float((abs(replicated.mean(["chain", "draw"]) - observed)).mean())

    assert misfit(hierarchical) < misfit(rank_one)

    # Of one factor per pair both logits are linear functions; shifts vary by themselves.
    covariance = pair_covariance(rank_one)
    assert covariance["effects"].shape == (3, 1, 1)
    logits = rank_one.posterior["posterior"]["threshold_effect"].to_numpy()
    variance = rank_one.posterior["posterior"]["pair_effect"].to_numpy().var(axis=2)
    expected = np.einsum("cdrt,cdst,cd->trs", logits, logits, variance) / variance.size
    np.testing.assert_allclose(covariance["logits"].sel(summary="value"), expected, rtol=1e-9)
    covariance = pair_covariance(hierarchical).sel(threshold=0.5)
    low, value, high = (covariance.sel(summary=x) for x in ("low", "value", "high"))
    assert (low["logits"] <= value["logits"]).all()
    assert (value["logits"] <= high["logits"]).all()
    squares = (hierarchical.posterior["posterior"]["spread"] ** 2).mean(["chain", "draw"])
    np.testing.assert_allclose(np.diagonal(value["effects"]), squares)


def test_weights_in_one_class_count_by_their_effective_size():
    classes, scores = normal_scores(6, 90, 3)

    def counts(predictions):
        return pairwise_counts(CurveOptions(n_thresholds=9)(predictions), predictions)

    plain = counts(Predictions.from_arrays(classes, scores))
    weights = np.where(classes == 0, 5.0, 1.0)
    rescaled = Predictions.from_arrays(classes, scores, sample_weight=weights)
    np.testing.assert_allclose(counts(rescaled).sizes, plain.sizes)
    weights[np.flatnonzero(classes == 1)[:15]] = 0
    halved = Predictions.from_arrays(classes, scores, sample_weight=weights)
    harmonic = 3 / (1 / 30 + 1 / 15 + 1 / 30)
    np.testing.assert_allclose(counts(halved).sizes, harmonic)


# Draws


@pytest.mark.slow
@pytest.mark.parametrize("distance", [-3.0, 0.0, 0.4, 2.1, 7.0])
def test_prior_is_centred_at_the_binormal_curve(distance):
    known = {"discrimination": jnp.asarray(distance), "split": jnp.zeros((2, 49))}
    with jax.enable_x64(True):
        curve = numpyro.handlers.substitute(sample_curve, known)(jnp.zeros((2, 50)), 1.0, 1.0)
    tpr, fpr = expit(np.asarray(curve.logits))
    np.testing.assert_allclose((tpr + fpr) / 2, np.arange(1, 50) / 50, rtol=1e-12)
    np.testing.assert_allclose(np.diff(curve.logits, axis=1), curve.distances, atol=1e-9)
    # The probit ROC of two unit normals is a straight line of slope one.
    inside = (np.minimum(tpr, fpr) > 1e-12) & (np.maximum(tpr, fpr) < 1 - 1e-12)
    difference = stats.norm.ppf(tpr) - stats.norm.ppf(fpr)
    np.testing.assert_allclose(difference[inside], distance, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("distance", [-2.1, -0.04, 0.0, 0.05, 1.27, 3.3, 8.46])
def test_splits_of_two_normals_are_smooth_and_right_between_the_nodes_of_their_table(distance):
    halvings = _halve(50)
    with jax.enable_x64(True):
        logits = _binormal_splits(jnp.asarray(distance), halvings)
        slope = jax.jacfwd(_binormal_splits)(jnp.asarray(distance), halvings)
        ahead, behind = (
            np.asarray(_binormal_splits(jnp.asarray(distance + h), halvings)) for h in (1e-6, -1e-6)
        )
    edges = np.pad(pooled_quantiles(np.array([[distance]]), 49)[0], 1, constant_values=(-40, 40))
    for found, mean in zip(np.asarray(logits), (-distance / 2, distance / 2), strict=True):
        above, below = stats.norm.sf(edges, mean), stats.norm.cdf(edges, mean)
        first, second = (
            np.where(edges[low] > mean, above[low] - above[high], below[high] - below[low])
            for low, high in (halvings[:2], halvings[1:])
        )
        np.testing.assert_allclose(found, np.log(first / second), atol=2e-6)
    np.testing.assert_allclose(slope, (ahead - behind) / 2e-6, atol=1e-6)


def areas_of_prior(sample, seed=0, **options):
    predictions = Predictions.from_arrays(*sample)
    counts = pairwise_counts(CurveOptions(n_thresholds=9)(predictions), predictions)
    given = counts.above / counts.sizes[..., None], counts.sizes
    predictive = numpyro.infer.Predictive(dmfroc.bayes.model, num_samples=2000)
    with jax.enable_x64(True):
        return np.asarray(
            predictive(jax.random.key(seed), *given, likelihood="ordinal", **options)["auc"]
        )


@pytest.mark.slow
def test_counts_choose_coordinates_and_leave_the_prior_alone(sample):
    few = np.arange(4).repeat(2), np.eye(4).repeat(2, axis=0)
    areas = [areas_of_prior(data, seed=seed) for seed, data in enumerate((sample, few))]
    assert stats.ks_2samp(*areas).pvalue > 1e-4


@pytest.mark.slow
def test_prior_treats_a_curve_and_its_mirror_image_alike(sample):
    areas = areas_of_prior(sample)
    # Ten thousand false alarms for one of these bounds.
    assert stats.kstest(areas, 1 - areas).pvalue > 1e-4
    assert areas.min() < 0.1
    assert areas.max() > 0.9
    near_chance = Priors(discrimination_scale=0.5, split_scale=0.5)
    assert areas_of_prior(sample, priors=near_chance).std() < 0.5 * areas.std()


def test_posterior_predictive_areas_cover_the_observed_ones(small):
    replicated = small.posterior["posterior_predictive"]["pairwise_auc"]
    observed = small.posterior["observed_data"]["pairwise_auc"]
    share_below = (replicated < observed).mean(["chain", "draw"])
    assert ((share_below > 0.01) & (share_below < 0.99)).all()


def test_replicated_counts_are_those_of_the_replicated_areas(small):
    tree = small.posterior
    replicated, observed = (tree[x]["counts"] for x in ("posterior_predictive", "observed_data"))
    assert replicated.dims == ("chain", "draw", *observed.dims)
    assert (observed.diff("threshold") >= 0).all()
    share_below = (replicated < observed).mean(["chain", "draw"])
    assert float(abs(share_below - 0.5).mean()) < 0.35


@pytest.mark.parametrize("likelihood", ["binomial", "ordinal"])
def test_densities_of_arviz_are_those_of_the_model(sample, likelihood):
    few = Predictions.from_arrays(sample[0][:150], sample[1][:150])
    with jax.enable_x64(True):
        fit = approximated(few, n_thresholds=9, likelihood=likelihood)
        flat = fit.approximation.location + 0.1 * np.random.default_rng(0).normal(
            size=fit.sampler.size
        )
        sites = fit.sampler.sites(flat[None], fit.counts)
        of_effects = stats.norm.logpdf(flat[-fit.sampler.n_scaled :]).sum()
        parts = (
            sites["log_prior"][0],
            sites["log_likelihood_of_counts"][0].sum(),
            of_effects,
            flat[0],
        )
        # The last is the volume of the spread, whose logarithm is drawn
        assert float(fit.sampler.potential(flat, fit.counts)) == pytest.approx(-float(sum(parts)))


def test_arviz_weighs_prior_and_likelihood(small):
    tree = small.posterior
    assert tree["log_likelihood"]["counts_of_pairs"].dims == ("chain", "draw", "pair", "rate")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a pair whose effect hangs on its own counts
        assert np.isfinite(arviz.loo(tree).elpd)
    sensitivity = arviz.psense_summary(tree, var_names=["auc"]).loc["auc"]
    assert 0 < sensitivity["prior"] < sensitivity["likelihood"] < 1


def test_two_classes_have_a_likelihood_by_observation(sample):
    two = sample[0] > 0, sample[1][:, 1:].sum(axis=1)
    loo = arviz.loo(bayesian_roc(*two, **SMALL).posterior)
    assert np.isfinite(loo.elpd)
    assert not loo.warning


def test_arviz_reads_the_draws(small):
    summary = arviz.summary(small.posterior, var_names=["auc", "pair_effect"])
    assert summary.index[0] == "auc"
    assert summary.shape[0] == 13
    posterior = small.posterior["posterior"]
    assert posterior["threshold_effect"].dims == ("chain", "draw", "rate", "threshold")
    np.testing.assert_allclose(posterior["pair_effect"].mean("pair"), 1, rtol=1e-12)
    assert (posterior["threshold_effect"].diff("threshold") > 0).all()
    assert not small.posterior["sample_stats"]["diverging"].any()
    assert small.posterior.attrs["seed"] == 0
    assert small.posterior.attrs["level"] == 0.95
    area = np.trapezoid(posterior["tpr"], posterior["fpr"], axis=-1)
    np.testing.assert_allclose(area, posterior["auc"], rtol=1e-12)


@pytest.mark.slow
def test_same_seed_same_draws(sample, small):
    again = bayesian_roc(*sample, **SMALL)
    assert again.value == small.value
    assert again.interval == small.interval
    other = bayesian_roc(*sample, **SMALL, random_state=1)
    assert other.value != small.value
    generator = bayesian_roc(*sample, **FAST, random_state=np.random.default_rng(1))
    assert generator.seed == int(np.random.default_rng(1).integers(2**31))


@pytest.mark.slow
def test_own_kernel_is_used_and_short_chains_are_reported(sample):
    def static_trajectories(model):
        return HMC(model, num_steps=2, trajectory_length=None)

    found = bayesian_roc(*sample, **SMALL | {"n_draws": 20}, kernel=static_trajectories)
    assert (found.posterior["sample_stats"]["n_steps"] == 2).all()
    text = " ".join(found.warnings)
    assert "R-hat" in text
    assert "independent ones" in text


def test_divergences_are_reported(small):
    tree = small.posterior.copy()
    diverging = np.arange(500).reshape(2, 250) < 3
    tree["sample_stats"]["diverging"] = tree["sample_stats"]["diverging"].copy(data=diverging)
    assert "3 of 500 draws diverged" in sampling_problems(tree, ["auc"])[0]


def test_one_chain_is_compared_with_itself():
    draws = np.random.default_rng(0).normal(size=(1, 4000))
    for trend, expected in ((0.0, []), (1.0, ["the chains disagree about auc: R-hat is 1.1"])):
        drifting = draws + trend * np.linspace(0, 1, 4000)
        tree = arviz.from_dict({"posterior": {"auc": drifting}})
        found = [x[:40] for x in sampling_problems(tree, ["auc"]) if "disagree" in x]
        assert found == [x[:40] for x in expected]


# Special cases


@pytest.mark.slow
def test_two_classes_are_one_column():
    classes, scores = normal_scores(7, 200, 2)
    difference = scores[:, 1] - scores[:, 0]
    jackknife = estimate("dmf_auc", classes, difference)
    found = bayesian_roc(classes, difference, **OF_TWO)
    assert found.posterior["posterior"].sizes["pair"] == 1
    assert found.posterior["posterior"]["pair"].item() == "1 from 0"
    assert found.value == pytest.approx(jackknife.value, abs=0.4 * jackknife.standard_error)
    assert found.standard_error == pytest.approx(jackknife.standard_error, rel=0.15)


@pytest.mark.slow
def test_perfect_classifier_is_not_certain():
    intervals = {}
    for n in (40, 400):
        classes = np.arange(n) % 4
        found = bayesian_roc(classes, np.eye(4)[classes], **FAST)
        intervals[n] = found.interval
        assert 0.9 < found.value < 1
        assert found.standard_error > 0
        assert any("perfect" in remark for remark in found.warnings)
    # In the spirit of the rule of three: with ten per class, errors cannot be excluded.
    assert 0.7 < intervals[40][0] < 0.99
    assert intervals[40][0] < intervals[400][0] < 1


@pytest.mark.slow
@pytest.mark.parametrize("likelihood", ["binomial", "ordinal"])
@pytest.mark.filterwarnings("ignore:.*most rows of the classes")
def test_scores_without_any_variation_have_a_posterior(likelihood):
    classes = np.arange(40) % 4
    guess = bayesian_roc(classes, np.zeros((40, 4)), likelihood=likelihood, **FAST)
    assert guess.value == pytest.approx(0.5, abs=0.02)
    assert 0.25 < guess.interval[0] < 0.48
    always_wrong = bayesian_roc(classes, -np.eye(4)[classes], likelihood=likelihood, **FAST)
    assert 0 < always_wrong.value < 0.1
    assert always_wrong.standard_error > 0


@pytest.mark.slow
def test_near_perfect_classifier_is_left_alone():
    classes, scores = normal_scores(9, 300, 2, shift=4.0)
    jackknife = estimate("dmf_auc", classes, scores)
    found = bayesian_roc(classes, scores, **SMALL | {"n_thresholds": 31, "n_warmup": 300})
    assert abs(found.value - jackknife.value) < found.standard_error
    assert not any("the model draws the area" in remark for remark in found.warnings)


@pytest.mark.slow
def test_few_errors_are_told():
    """The posterior of an area near 1 rests on the errors of one or two observations."""

    def is_told(shift):
        found = bayesian_roc(*normal_scores(9, 300, 2, shift=shift), **FAST)
        return any("few observations determine" in remark for remark in found.warnings)

    assert is_told(4.0)
    assert not is_told(1.5)


@pytest.mark.slow
def test_pairs_that_the_model_draws_together_get_a_warning():
    """Two classes on a line are near each other and far from the third."""
    classes, rng = np.arange(300) % 3, np.random.default_rng(2)
    x = np.array([0, 1, 4])[classes] + rng.normal(size=300)
    line = -np.abs(np.subtract.outer(x, [0, 1, 4]))
    equal = rng.normal(size=(300, 3)) + 1.5 * np.eye(3)[classes]
    for scores, is_unequal in ((line, True), (equal, False)):
        found = bayesian_roc(classes, scores, **FAST)
        text = "pairs of classes differ by more than the model expects: .* '. from .'"
        assert any(re.search(text, remark) for remark in found.warnings) == is_unequal


@pytest.mark.slow
def test_a_prior_that_outweighs_the_data_is_told(sample):
    strong = Priors(discrimination_scale=0.1, split_scale=0.1)
    found = bayesian_roc(*sample, priors=strong, **FAST)
    assert found.value < dmf_auc_score(*sample)
    assert any("the model draws the area" in remark for remark in found.warnings)


def test_absent_class_is_left_out(sample):
    classes, scores = sample
    scores = np.column_stack([scores, np.zeros(len(scores))])
    with pytest.warns(UserWarning, match="1 class has a column but no observation"):
        found = bayesian_roc(classes, scores, labels=[0, 1, 2, 3, 4], **FAST)
    assert found.posterior["posterior"].sizes["pair"] == 12
    assert any("no observation" in remark for remark in found.warnings)


# Refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"structure": "rank_two"}, "structure must be one of"),
        ({"likelihood": "normal"}, "likelihood must be one of"),
        ({"tempering": "half"}, "tempering must be one of"),
        ({"algorithm": "gibbs"}, "algorithm must be one of"),
    ],
)
def test_choices_are_checked(options, message):
    given = {"structure": "rank_one", "likelihood": "ordinal", "tempering": "none"}
    with pytest.raises(ValueError, match=message):
        check_choices(**given | {"algorithm": "mcmc"} | options)


def test_numbers_are_checked(sample):
    with pytest.raises(ValueError, match="n_chains must be an integer >= 1, but it is 0"):
        bayesian_roc(*sample, n_chains=0)
    with pytest.raises(ValueError, match="n_thresholds must be an integer >= 9, but it is 0"):
        bayesian_roc(*sample, n_thresholds=0)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        bayesian_roc(*sample, level=1.5)


@pytest.mark.slow
def test_other_measures_are_refused(sample):
    for name in ("auc_mu", "average_precision", "roc_area_lower", "max_informedness"):
        with pytest.raises(ValueError, match=rf"{name} has no posterior\. .*='bayesian_bootstrap'"):
            estimate(name, *sample, method="bayes")
    with pytest.raises(ValueError, match="knows pair_weights alone"):
        estimate(dmf_auc(shrinkage=2.0), *sample, method="bayes")
    by_bias, predictions = one_vs_rest_auc("bias"), Predictions.from_arrays(*sample)
    with pytest.raises(ValueError, match="one_vs_rest_auc_bias is no function of the areas"):
        posterior_of_pairs(by_bias, bayesian_roc(predictions, **FAST), predictions)
    with pytest.raises(ValueError, match="pseudo_count must be positive"):
        bayesian_table(informedness(), *sample, pseudo_count=0.0)
    with pytest.raises(ValueError, match="split_scale must be positive"):
        Priors(split_scale=-1.0)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
@pytest.mark.parametrize("measure", ["dmf_auc", "informedness"])
def test_a_posterior_refuses_a_level_outside_0_and_1(measure, level):
    classes = np.arange(60) % 3
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        estimate(measure, classes, np.eye(3)[classes], method="bayes", level=level)


@pytest.mark.slow
def test_posterior_of_one_observed_class():
    """Accuracy is then a proportion: the prior of Perks adds 1/2 for each of two classes."""
    predictions = Predictions.from_labels([1] * 40, [1] * 30 + [0] * 10)
    with pytest.warns(UserWarning, match="1 class has a column but no observation"):
        posterior = bayesian_table("accuracy", predictions, n_draws=10_000)
    expected = stats.beta(30.5, 10.5)
    np.testing.assert_allclose(np.mean(posterior.draws), expected.mean(), atol=0.002)
    np.testing.assert_allclose(posterior.interval, expected.interval(0.95), atol=0.005)


def test_pairs_are_drawn_in_the_order_of_their_areas(small):
    axes = small.plot_pairs(Figure().add_subplot()).ax_
    names = [text.get_text() for text in axes.get_yticklabels()]
    values = small.pairs()["value"]
    assert sorted(names) == sorted(values.index)
    places = dict(zip(names, axes.get_yticks(), strict=True))
    lowest_first = sorted(names, key=lambda name: values[name])
    steps = np.diff([places[name] for name in lowest_first]) * (-1 if axes.yaxis_inverted() else 1)
    assert (steps < 0).all()
