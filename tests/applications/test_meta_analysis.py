"""Meta-analysis of counts: the two models are one, known fits, input that cannot be right."""

import warnings
from decimal import Decimal

import arviz
import jax
import numpy as np
import numpyro
import pandas as pd
import pytest
import xarray
from jax import numpy as jnp
from matplotlib.figure import Figure
from pages import page_parts
from scipy import integrate, optimize, stats
from scipy.special import expit, log_expit, logit, logsumexp

from dmfroc._kit.compiled import in_double_precision
from dmfroc.applications import SummaryPriors, summary_roc
from dmfroc.applications.meta_analysis import fit
from dmfroc.applications.meta_analysis.data import StudyCounts, read_studies
from dmfroc.applications.meta_analysis.models import (
    Average,
    Likelihood,
    _likelihood_given,
    _log_likelihood,
    _sample_locations_and_scales,
    _sample_normal,
    _sample_pairs,
    area_under_line,
    bivariate_of_hsroc,
    hsroc_of_bivariate,
    likelihood_of,
    line_of,
    region_around,
)
from dmfroc.applications.meta_analysis.summary import chosen_model

# One shape of data, 9 to 16 studies, serves all tests: compiling takes most of their time.
pytestmark = pytest.mark.slow  # by its fits, which tests share
SMALL = {"n_chains": 2, "n_draws": 1000, "n_warmup": 500}
COLUMNS = {role: role for role in ("study", "tp", "fn", "fp", "tn")}
LOCATION, SD, CORRELATION = np.array([1.2, -1.5]), np.array([0.6, 0.5]), 0.4


def simulated(seed, n_studies=9, n_people=400):
    generator = np.random.default_rng(seed)
    covariance = np.outer(SD, SD) * [[1, CORRELATION], [CORRELATION, 1]]
    rates = expit(generator.multivariate_normal(LOCATION, covariance, n_studies))
    tp, fp = generator.binomial(n_people, rates).T
    names = [f"study {i}" for i in range(n_studies)]
    return pd.DataFrame(
        {"study": names, "tp": tp, "fn": n_people - tp, "fp": fp, "tn": n_people - fp}
    )


@pytest.fixture(scope="module")
def found():
    return summary_roc(simulated(1), **SMALL)


def test_arviz_leaves_studies_out(found):
    """The likelihood of a study is integrated over its effects: here on a fine grid."""
    tree = found.posterior
    pointwise = tree["log_likelihood"]["study_counts"]
    drawn = tree["posterior"].dataset.isel(chain=0, draw=5)
    root = np.linalg.cholesky(drawn["correlation"].to_numpy() * np.outer(drawn["sd"], drawn["sd"]))
    grid = np.linspace(-7, 7, 301)
    standard = np.stack(np.meshgrid(grid, grid), axis=-1)
    eta = drawn["location"].to_numpy() + standard @ root.T
    log_prior = stats.norm.logpdf(standard).sum(axis=-1) + 2 * np.log(grid[1] - grid[0])
    positives = tree["observed_data"]["positives"][..., 0].to_numpy()
    negatives = tree["constant_data"]["sizes"].to_numpy() - positives
    for study in range(3):
        log_rates = positives[study] * log_expit(eta) + negatives[study] * log_expit(-eta)
        expected = logsumexp(log_rates.sum(axis=-1) + log_prior)
        assert float(pointwise[0, 5, study]) == pytest.approx(expected, abs=2e-3)
    loo = arviz.loo(tree)
    assert not loo.warning
    narrow = summary_roc(simulated(1), priors=SummaryPriors(spread_scale=0.01), **SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the model that is wrong
        compared = arviz.compare({"usual": tree, "narrow": narrow.posterior})
    assert compared.index[0] == "usual"
    sensitivity = arviz.psense_summary(tree, var_names=["auc"])
    assert sensitivity.loc["auc", "likelihood"] > sensitivity.loc["auc", "prior"]


def restricted_likelihood(table):
    """Fit Reitsma's model to logits taken for normal, by restricted maximum likelihood."""
    tp, fn, fp, tn = (table[x].to_numpy() + 0.5 for x in ("tp", "fn", "fp", "tn"))
    logits = np.stack([np.log(tp / fn), np.log(fp / tn)], axis=1)
    errors = np.stack([1 / tp + 1 / fn, 1 / fp + 1 / tn], axis=1)

    def pieces(parameters):
        sd, rho = np.exp(parameters[:2]), np.tanh(parameters[2])
        between = np.outer(sd, sd) * [[1, rho], [rho, 1]]
        weights = np.array([np.linalg.inv(between + np.diag(e)) for e in errors])
        total = weights.sum(axis=0)
        return weights, total, np.linalg.solve(total, np.einsum("iab,ib->a", weights, logits))

    def objective(parameters):
        weights, total, mean = pieces(parameters)
        deviation = logits - mean
        quadratic = np.einsum("ia,iab,ib->", deviation, weights, deviation)
        return quadratic - np.linalg.slogdet(weights)[1].sum() + np.linalg.slogdet(total)[1]

    best = optimize.minimize(objective, [0.0, 0.0, 0.0], method="Nelder-Mead", tol=1e-8).x
    return pieces(best)[2], np.exp(best[:2]), np.tanh(best[2])


def test_published_fit_of_the_normal_approximation(cases_directory):
    table = pd.read_csv(cases_directory / "kearon1998.csv")
    mean, _, _ = restricted_likelihood(table)
    assert mean == pytest.approx([-0.0498, -3.0092], abs=5e-5)
    # The exact likelihood adds no halves to empty cells, which lower the specificity
    exact = summary_roc(table, study=None, **SMALL)
    assert exact.sensitivity.value == pytest.approx(expit(mean[0]), abs=0.02)
    assert expit(-mean[1]) < exact.specificity.value < expit(-mean[1]) + 0.03


# The two models


@pytest.mark.parametrize("asymmetry", [-0.8, 0.0, 0.5])
def test_hsroc_is_the_bivariate_model_in_other_parameters(asymmetry):
    with in_double_precision():
        given = jnp.array(-0.3), jnp.array(2.4), jnp.array(asymmetry), jnp.array([0.5, 0.9])
        average = bivariate_of_hsroc(*given)
        intercept, slope = (float(x) for x in line_of("hsroc", average))
        location, factor = np.asarray(average.location), np.asarray(average.factor)
    back = hsroc_of_bivariate(location[None], (factor @ factor.T)[None])
    assert [float(x[0]) for x in back.values()] == pytest.approx([-0.3, 2.4, asymmetry, 0.5, 0.9])
    # Rutter and Gatsonis' definition: a study's logits, from its threshold and accuracy.
    generator = np.random.default_rng(0)
    theta, alpha = generator.normal([-0.3, 2.4], [0.5, 0.9], size=(200_000, 2)).T
    rates = np.stack(
        [
            (theta + alpha / 2) * np.exp(-asymmetry / 2),
            (theta - alpha / 2) * np.exp(asymmetry / 2),
        ]
    )
    assert rates.mean(axis=1) == pytest.approx(location, abs=0.01)
    assert np.cov(rates) == pytest.approx(factor @ factor.T, abs=0.02)
    # The curve is the line of all thresholds at the mean accuracy.
    thresholds = np.array([-1.0, 2.0])
    tpr = (thresholds + 1.2) * np.exp(-asymmetry / 2)
    fpr = (thresholds - 1.2) * np.exp(asymmetry / 2)
    assert intercept + slope * fpr == pytest.approx(tpr)


def test_both_models_agree(found):
    other = summary_roc(simulated(1), model="hsroc", **SMALL)
    for a, b in zip(
        (found.sensitivity, found.specificity, found.auc),
        (other.sensitivity, other.specificity, other.auc),
        strict=True,
    ):
        assert a.value == pytest.approx(b.value, abs=0.35 * a.standard_error)
        assert a.standard_error == pytest.approx(b.standard_error, rel=0.35)
    heterogeneity = [x.heterogeneity["value"][:2].to_numpy() for x in (found, other)]
    assert heterogeneity[0] == pytest.approx(heterogeneity[1], rel=0.25)


def test_agrees_with_restricted_maximum_likelihood(found):
    mean, sd, rho = restricted_likelihood(simulated(1))
    location = found.posterior["posterior"]["location"].to_numpy().reshape(-1, 2)
    assert location.mean(axis=0) == pytest.approx(mean, abs=0.5 * location.std(axis=0).min())
    low, high = found.heterogeneity.loc[:, ["low", "high"]].to_numpy().T
    assert (low[:3] < [*sd, rho]).all()
    assert (high[:3] > [*sd, rho]).all()


def test_public_data_agree_with_the_published_fit(external_directory):
    table = pd.read_csv(external_directory / "audit_c.csv").rename(columns=str.lower)
    mean, sd, rho = restricted_likelihood(table)
    assert mean == pytest.approx([2.10, -1.26], abs=0.005)
    found = summary_roc(table, study=None, **SMALL)
    location = found.posterior["posterior"]["location"].to_numpy().reshape(-1, 2)
    assert (np.abs(location.mean(axis=0) - mean) < location.std(axis=0)).all()
    low, high = found.heterogeneity.loc[:, ["low", "high"]].to_numpy().T
    # A study found all its 752 cases: without half a case added, the sensitivities differ more.
    assert (low[1:3] < [sd[1], rho]).all()
    assert (high[1:3] > [sd[1], rho]).all()
    assert sd[0] < high[0]


# Several thresholds


def ordinal_table(seed, n_studies=9, n_people=400, spread=0.3):
    generator = np.random.default_rng(seed)
    rows = []
    for study in range(n_studies):
        cases = generator.logistic(2.0 + generator.normal(scale=spread), 1.0, n_people)
        others = generator.logistic(0.0 + generator.normal(scale=spread), 0.7, n_people)
        cutoffs = generator.choice([-0.5, 0.5, 1.0, 1.5, 2.5], size=2 + study % 2, replace=False)
        rows += [
            {"study": study, "cut": c, "tp": a, "fn": n_people - a, "fp": b, "tn": n_people - b}
            for c in cutoffs
            for a, b in [((cases >= c).sum(), (others >= c).sum())]
        ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def by_threshold():
    return summary_roc(ordinal_table(0), threshold="cut", **SMALL)


def test_thresholds_that_differ_between_studies(by_threshold):
    thresholds = np.array([0.0, 1.0, 2.0])  # two of them no study has
    at = by_threshold.at(thresholds)
    for name, expected in (
        ("sensitivity", expit(2.0 - thresholds)),
        ("specificity", expit(thresholds / 0.7)),
    ):
        assert (at[f"{name}_low"] < expected).all()
        assert (at[f"{name}_high"] > expected).all()
        assert (at[f"{name}_predicted_low"] < at[f"{name}_low"]).all()
        assert at[name].to_numpy() == pytest.approx(expected, abs=0.1)
    assert at["sensitivity"].is_monotonic_decreasing
    # Area of two logistic distributions of different spread.
    expected, _ = integrate.quad(
        lambda x: expit(2.0 - x) * stats.logistic.pdf(x, 0, 0.7), -30, 30, points=[0]
    )
    assert by_threshold.auc.interval[0] < expected < by_threshold.auc.interval[1]
    tree = by_threshold.to_datatree()
    observed, replicated = (
        tree[group]["positives"] for group in ("observed_data", "posterior_predictive")
    )
    assert np.allclose(replicated.mean(["chain", "draw"]), observed, atol=15, equal_nan=True)


def test_summary_of_thresholds_is_asked_for_one(by_threshold, found):
    with pytest.raises(ValueError, match="those of a threshold"):
        _ = by_threshold.sensitivity
    with pytest.raises(ValueError, match=r"threshold must be a finite number, but it is nan"):
        by_threshold.at([1.0, np.nan])
    with pytest.raises(ValueError, match=r"threshold must be a finite number, but it is 'high'"):
        by_threshold.at("high")
    with pytest.raises(ValueError, match="thresholds must hold one threshold at least"):
        by_threshold.at([])
    with pytest.raises(ValueError, match="those of one threshold per study"):
        found.at(1.0)
    with pytest.raises(ValueError, match="there are no pairs of classes"):
        _ = found.pairs
    for rates in (found.point, found.region, found.by_study):
        with pytest.raises(ValueError, match="there are no pairs of classes"):
            rates(pair=("a", "b"))
    assert "specificity" not in str(by_threshold).lower()
    assert by_threshold.heterogeneity.index[0] == "sd of cases"
    display = by_threshold.plot(ax=Figure().subplots(), threshold=1.0)
    assert len(display.studies_) == 9
    assert set(display.regions_) == {"credible", "prediction"}
    assert not by_threshold.plot(ax=Figure().subplots()).regions_
    with pytest.raises(ValueError, match="those of a threshold"):
        by_threshold.plot_forest()


def test_studies_at_a_threshold_that_some_of_them_used(by_threshold):
    table = ordinal_table(0).astype({"study": str}).set_index("study")
    threshold = table["cut"].iloc[0]
    used = table[table["cut"] == threshold]
    assert 0 < len(used) < 9
    by_study = by_threshold.by_study(threshold)
    assert len(by_study) == 9
    counts = by_study[["tp", "fn", "fp", "tn"]].dropna()
    pd.testing.assert_frame_equal(counts, used[counts.columns].astype(float), check_names=False)
    observed = counts["tp"] / (counts["tp"] + counts["fn"])
    assert by_study.loc[counts.index, "sensitivity"].to_numpy() == pytest.approx(observed, abs=0.08)
    assert (by_study["sensitivity_low"] < by_study["sensitivity"]).all()
    in_single_precision = by_threshold.by_study(threshold * (1 + 5e-8))
    assert in_single_precision["tp"].equals(by_study["tp"])
    beside = by_threshold.by_study(threshold * (1 + 2e-7))
    assert beside["tp"].isna().all()
    assert beside["sensitivity"].to_numpy() == pytest.approx(by_study["sensitivity"])
    forest = by_threshold.plot_forest(axes=tuple(Figure().subplots(1, 2)), threshold=threshold)
    assert forest.axes_[0].get_xlabel() == f"Sensitivity at {threshold:g}"
    assert forest.axes_[0].get_xlim() == pytest.approx((0, 1), abs=0.05)
    assert len(forest.axes_[0].texts) == len(used)


def test_scale_of_thresholds_changes_nothing_but_their_names(by_threshold):
    table = ordinal_table(0)
    in_logarithms = summary_roc(
        table.assign(cut=np.exp(table["cut"])), threshold="cut", threshold_scale="log", **SMALL
    )
    assert in_logarithms.auc.value == pytest.approx(by_threshold.auc.value, abs=1e-9)
    assert in_logarithms.at(np.e).to_numpy() == pytest.approx(by_threshold.at(1.0).to_numpy())


def test_many_thresholds_agree_with_the_published_fit(external_directory):
    """Schneider et al. (2017): exhaled nitric oxide in asthma, predictive values at 30 %."""
    table = pd.read_csv(external_directory / "schneider2017.csv")
    names = {"cutpoint": "cut", "tpos": "tp", "fneg": "fn", "fpos": "fp", "tneg": "tn"}
    of_group = table["group"].fillna("")
    table = table.assign(study=table["author"] + table["year"].astype(str) + of_group)
    with pytest.warns(UserWarning, match="not all people have results at all thresholds"):
        found = summary_roc(
            table.rename(columns=names), threshold="cut", threshold_scale="log", **SMALL
        )
    at = found.at([20, 50])
    with_asthma = 0.3 * np.stack([at["sensitivity"], 1 - at["sensitivity"]])
    without = 0.7 * np.stack([1 - at["specificity"], at["specificity"]])
    assert (with_asthma / (with_asthma + without))[0, 1] == pytest.approx(0.76, abs=0.04)
    assert (without / (with_asthma + without))[1, 0] == pytest.approx(0.86, abs=0.04)


@pytest.mark.parametrize("sample", [_sample_normal, _sample_locations_and_scales])
def test_density_of_studies_is_the_multivariate_normal(sample):
    """Whatever likelihood the coordinates are made for, the effects have the prior's density."""
    generator = np.random.default_rng(5)
    roots = generator.normal(size=(3, 4, 3))
    likelihood = Likelihood(generator.normal(size=(3, 4)), roots @ roots.swapaxes(1, 2))
    factor = np.linalg.cholesky(np.cov(generator.normal(size=(4, 9))))
    if sample is _sample_locations_and_scales:
        factor = factor[::-1, ::-1]
    average = Average(generator.normal(size=4), factor)
    drawn = generator.normal(size=(3, 4))

    def effects_and_density(drawn):
        model = numpyro.handlers.substitute(sample, {"effect": drawn})
        trace = numpyro.handlers.trace(model)
        effects = trace("effect", average, likelihood)
        return effects, trace.trace["prior_of_effect"]["fn"].log_factor

    with in_double_precision():
        effects, density = effects_and_density(jnp.asarray(drawn))
        jacobian = jax.jacobian(lambda x: effects_and_density(x)[0])(jnp.asarray(drawn))
    prior = stats.multivariate_normal(average.location, factor @ factor.T)
    _, log_volume = np.linalg.slogdet(np.reshape(jacobian, (12, 12)))
    expected = prior.logpdf(effects).sum() + log_volume
    assert float(density) == pytest.approx(expected, rel=1e-10)


def test_one_threshold_tells_the_location_of_any_scale():
    studies = read_studies(ordinal_table(2), COLUMNS | {"threshold": "cut"})
    between, cutoff = studies.counts.between, studies.counts.cutoffs[:, :1]
    largest_alone = np.stack([between[..., 0], between[..., 1:].sum(axis=-1)], axis=-1)
    positives, negatives = 100 * np.moveaxis(largest_alone, -1, 0)
    log_scale = np.random.default_rng(0).normal(size=(9, 2))
    # Among many people the prior, which is there for what the counts leave open, moves nothing.
    with in_double_precision():
        many = StudyCounts(jnp.asarray(100 * largest_alone), jnp.asarray(cutoff))
        likelihood = likelihood_of("ordinal", SummaryPriors(), many)
        given = _likelihood_given(jnp.asarray(log_scale), likelihood)
        given = Likelihood(*map(np.asarray, given))
    logits = (given.mean - cutoff) * np.exp(-log_scale)
    assert logits == pytest.approx(np.log(positives / negatives), abs=1e-2)
    # The variance of a logit is 1 / (n p q), that of a location so many squares of the scale.
    information = positives * negatives / (positives + negatives)
    variance = np.linalg.inv(given.precision).diagonal(axis1=1, axis2=2)
    assert variance == pytest.approx(np.exp(2 * log_scale) / information, rel=1e-2)


def test_likelihood_is_multinomial_and_its_approximation_has_its_mode():
    studies = read_studies(ordinal_table(2), COLUMNS | {"threshold": "cut"})
    location, log_scale = np.array([0.9, -0.4]), np.array([0.1, -0.3])
    effects = np.tile(np.concatenate([location, log_scale]), (9, 1))
    with in_double_precision():
        counts = jax.tree.map(jnp.asarray, studies.counts)
        found = float(_log_likelihood("ordinal", counts, jnp.asarray(effects)).sum())
        likelihood = likelihood_of("ordinal", SummaryPriors(), counts)
        slope = jax.grad(lambda x: _log_likelihood("ordinal", counts, x).sum())(
            jnp.asarray(likelihood.mean)
        )
    expected = 0.0
    for study in range(9):
        known = np.isfinite(studies.thresholds[study])
        cutoffs = studies.standardized(studies.thresholds[study, known])
        for group in range(2):
            at = stats.logistic.sf(cutoffs, location[group], np.exp(log_scale[group]))
            shares = np.diff(np.concatenate([[0], at, [1]]))
            positives = studies.positives[study, group, known]
            cells = np.diff(np.concatenate([[0], positives, studies.sizes[study, [group]]]))
            expected += cells @ np.log(shares)
    assert found == pytest.approx(expected, rel=1e-12)
    # The prior, which is there for what the counts leave open, moves it by little.
    curvature = np.diagonal(likelihood.precision, axis1=1, axis2=2)
    assert (np.abs(slope) < 0.3 * np.sqrt(curvature)).all()


# Pairs of classes

OF_PAIRS = {"flu from cold": 1.0, "flu from none": 2.5, "cold from flu": 1.0, "cold from none": 2.0}


def table_of_pairs(seed, n_studies=6, n_people=200, spread=0.2):
    generator = np.random.default_rng(seed)
    rows = []
    for study in range(n_studies):
        moved = generator.normal(scale=spread, size=2)
        for pair, accuracy in OF_PAIRS.items():
            tp, fp = generator.binomial(n_people, expit(np.array([accuracy, -accuracy]) + moved))
            rows.append([study, pair, tp, n_people - tp, fp, n_people - fp])
    return pd.DataFrame(rows, columns=["study", "pair", "tp", "fn", "fp", "tn"])


def test_people_whom_several_pairs_count_are_counted_once():
    table = table_of_pairs(3).drop(index=5)  # the second study lacks flu from none
    studies = read_studies(table, COLUMNS | {"pair": "pair"})
    assert studies.pairs == tuple(OF_PAIRS)
    between = studies.counts.between.sum(axis=2)
    # Both pairs of flu have the same cases, and so have those of cold; none is two times reference.
    assert between[0] == pytest.approx([100, 200, 100, 100, 100, 200, 100, 100])
    assert between[1] == pytest.approx([200, 200, 0, 0, 100, 200, 100, 200])
    as_tuples = table.assign(pair=[tuple(x.split(" from ")) for x in table["pair"]])
    again = read_studies(as_tuples, COLUMNS | {"pair": "pair"})
    assert (again.counts.between == studies.counts.between).all()
    spaced = table["pair"].str.replace(" ", "  ")
    mixed = table.assign(pair=[*spaced[:9], *as_tuples["pair"][9:]])
    again = read_studies(mixed, COLUMNS | {"pair": "pair"})
    assert again.pairs == studies.pairs
    assert (again.counts.between == studies.counts.between).all()


def test_pairs_without_people_take_no_share():
    table = table_of_pairs(3)
    table.loc[1, ["tp", "fn"]] = 0  # flu from none, of the first study
    studies = read_studies(table, COLUMNS | {"pair": "pair"})
    assert studies.counts.between[0].sum(axis=1) == pytest.approx(
        [200, 200, 0, 100, 100, 200, 100, 100]
    )
    assert studies.remarks == ()
    table.loc[6, "fn"] += 30
    [remark] = read_studies(table, COLUMNS | {"pair": "pair"}).remarks
    assert remark.startswith("study '1': a class has not as many people in each of its pairs")


@pytest.fixture(scope="module")
def of_pairs():
    return summary_roc(table_of_pairs(3).drop(index=5), pair="pair", **SMALL)


def test_pairs_are_drawn_towards_their_mean(of_pairs):
    found = of_pairs
    assert not [remark for remark in found.warnings if "diverged" in remark]
    assert list(found.pairs.index) == list(OF_PAIRS)
    truth = expit(list(OF_PAIRS.values()))
    for rate in ("sensitivity", "specificity"):
        assert found.pairs[rate].to_numpy() == pytest.approx(truth, abs=0.06)
        assert (found.pairs[f"{rate}_low"] < truth).all()
        assert (found.pairs[f"{rate}_high"] > truth).all()
        assert (found.pairs[f"{rate}_predicted_low"] < found.pairs[f"{rate}_low"]).all()
    assert "6 studies, 4 pairs of classes, multiclass" in str(found)
    assert found.sensitivity.interval[0] < expit(np.mean(list(OF_PAIRS.values())))
    assert "sd of sensitivity between pairs" in found.heterogeneity.index
    tree = found.to_datatree()
    assert tree["posterior"]["rates"].dims[2:] == ("study", "rate", "point")
    replicated = tree["posterior_predictive"]["positives"].mean(["chain", "draw"])
    observed = tree["observed_data"]["positives"]
    assert np.allclose(replicated, observed, atol=15, equal_nan=True)
    display = found.plot(ax=Figure().subplots())
    assert "6 studies, 4 pairs of classes, by size" in [
        text.get_text() for text in display.ax_.get_legend().get_texts()
    ]


def test_studies_of_a_pair_that_one_lacks(of_pairs):
    table = table_of_pairs(3).drop(index=5).query("pair == 'flu from none'").set_index("study")
    by_study = of_pairs.by_study(pair="flu from none")
    assert list(by_study.index) == [str(study) for study in range(6)]
    lacks = by_study["tp"].isna()
    assert list(by_study.index[lacks]) == ["1"]
    counts = by_study.loc[~lacks, ["tp", "fn", "fp", "tn"]]
    assert (counts.to_numpy() == table[counts.columns].to_numpy()).all()
    observed = counts["tp"] / (counts["tp"] + counts["fn"])
    mean = of_pairs.point(pair="flu from none")
    drawn = by_study.loc[~lacks, "sensitivity"]
    assert drawn.std() < observed.std()
    width = by_study["sensitivity_high"] - by_study["sensitivity_low"]
    assert width.idxmax() == "1"  # only the others give information about it
    assert width["1"] < mean["sensitivity_predicted_high"] - mean["sensitivity_predicted_low"]
    forest = of_pairs.plot_forest(axes=tuple(Figure().subplots(1, 2)), pair="flu from none")
    assert forest.axes_[1].get_xlabel() == "Specificity, flu from none"
    assert len(forest.axes_[1].texts) == 5
    for call in (of_pairs.by_study, of_pairs.plot_forest):
        with pytest.raises(ValueError, match="several pairs: name one, pair='flu from cold'"):
            call()
    with pytest.raises(ValueError, match=r"pair must be one of \('flu from cold', .* 'a from b'"):
        of_pairs.point(pair="a from b")
    assert of_pairs.point(pair=("flu", "none")).equals(of_pairs.point(pair="flu from none"))
    assert np.log(of_pairs.region(pair="flu from none")[:, 1]).mean() == pytest.approx(
        np.log(mean["sensitivity"]), abs=0.05
    )


def test_surprise_is_that_of_the_pairs_of_a_study():
    """A study of the hardest pair alone is as expected if it is as hard there as in others."""
    table = table_of_pairs(4)
    is_easy = table["pair"].isin(["flu from none", "cold from none"])
    table.loc[is_easy, ["tp", "fn", "fp", "tn"]] = [195, 5, 5, 195]
    in_last = table["study"] == 5
    table = table[~in_last | (table["pair"] == "flu from cold")]
    typical = table[table["pair"] == "flu from cold"][["tp", "fn", "fp", "tn"]].median().astype(int)
    table.loc[table["study"] == 5, ["tp", "fn", "fp", "tn"]] = typical.to_numpy()
    table.loc[(table["study"] == 0) & (table["pair"] == "cold from flu"), ["tp", "fn"]] = [40, 160]
    table.loc[(table["study"] == 1), ["tp", "fn"]] = 0
    influence = summary_roc(table, pair="pair", **SMALL).leave_one_out()
    assert influence["surprise"].idxmax() == "0"
    assert influence.loc["5", "surprise"] < 0.5
    assert influence["surprise"].between(0, 1).all()  # also without any cases


def test_studies_share_what_all_of_their_pairs_have():
    """A pair in a study: that of all studies, plus what the study has, and what only both have."""
    generator = np.random.default_rng(2)
    likelihood = Likelihood(generator.normal(size=(5, 6)), np.tile(np.eye(6), (5, 1, 1)))
    sites = {
        "spread": np.array([0.3, 0.5, 1.0, 2.0, 0.2]),
        "root": np.linalg.cholesky([[1, 0.4], [0.4, 1]]),
        "center": np.zeros(2),
        "pair_effect": generator.normal(size=(3, 2)),
    }
    with in_double_precision():
        given = {name: jnp.asarray(value) for name, value in sites.items()}
        model = numpyro.handlers.substitute(_sample_pairs, given)
        average, of_study = model(SummaryPriors(), likelihood)
    of_studies = np.array([[0.09, 0.06], [0.06, 0.25]])
    expected = np.kron(np.ones((3, 3)), of_studies) + 0.04 * np.eye(6)
    of_all, of_one = (np.asarray(x.factor) for x in (of_study, average))
    assert of_all @ of_all.T == pytest.approx(expected)
    assert of_one @ of_one.T == pytest.approx(of_studies + 0.04 * np.eye(2))


# Curve and regions


@pytest.mark.parametrize(("intercept", "slope"), [(2.0, 1.0), (3.0, 0.4), (-1.0, 2.5), (0.0, 1.0)])
def test_area_is_that_under_the_curve(intercept, slope):
    expected, _ = integrate.quad(lambda x: expit(intercept + slope * logit(x)), 0, 1, limit=200)
    assert area_under_line(np.array(intercept), np.array(slope)) == pytest.approx(
        expected, abs=1e-7
    )


def test_region_holds_its_share_of_the_draws():
    draws = np.random.default_rng(0).multivariate_normal([0.5, -1], [[1, 0.6], [0.6, 2]], 20_000)
    corners = logit(region_around(draws, 0.9))
    exact = stats.chi2.ppf(0.9, 2)
    deviation = corners - draws.mean(axis=0)
    distance = np.einsum("ia,ab,ib->i", deviation, np.linalg.inv(np.cov(draws.T)), deviation)
    assert distance == pytest.approx(exact, rel=0.03)


def test_prediction_is_wider_than_credibility(found):
    credible, prediction = found.region("credible"), found.region("prediction")
    assert (np.ptp(prediction, axis=0) > np.ptp(credible, axis=0)).all()
    assert ((prediction > 0) & (prediction < 1)).all()
    with pytest.raises(ValueError, match="'credible' or 'prediction', but it is 'both'"):
        found.region("both")


def test_the_report_shows_summary_and_studies(found, tmp_path):
    found.to_html(tmp_path / "studies.html", title="Troponin")
    parts = page_parts((tmp_path / "studies.html").read_text())
    assert f"Sensitivity {found.sensitivity.value:.3f} (" in parts["numbers"]["sentences"][0]
    low = found.heterogeneity.loc["sensitivity of a new study", "low"]
    assert f"sensitivity between {low:.3f} and" in parts["numbers"]["sentences"][1]
    assert list(parts["tables.csv"]) == ["Mean study", "Studies", "How studies differ"]
    assert parts["source"].count('class="track"') == 2 * (len(found.studies.names) + 1)


def test_summary_prints_and_converts(found):
    assert "9 studies, 7200 people, bivariate" in str(found)
    assert found.to_pandas().loc["sensitivity", "value"] == found.sensitivity.value
    differ = found.to_pandas("heterogeneity")
    assert differ.index.name == "effect"
    assert differ["value"].tolist() == found.heterogeneity["value"].tolist()
    studies = found.to_pandas("studies")
    assert (studies[["tp", "fn", "fp", "tn"]].sum(axis=1) == found.studies.sizes.sum(axis=1)).all()
    tree = found.to_datatree()
    assert isinstance(tree, xarray.DataTree)
    assert tree.attrs["model"] == "bivariate"
    assert tree["posterior"]["study_effect"].dims == ("chain", "draw", "study", "effect")
    replicated = tree["posterior_predictive"]["positives"].mean(["chain", "draw"])
    observed = tree["observed_data"]["positives"]
    assert np.allclose(replicated, observed, atol=12)


def test_chains_that_disagree_are_run_again_twice_as_long(monkeypatch):
    settings = fit.Settings("bivariate", SummaryPriors(), 2, n_draws=30, n_warmup=20, seed=0)
    lengths = []

    def draw(counts, attempt, kernel):
        lengths.append((attempt.n_draws, attempt.n_warmup))

    monkeypatch.setattr(fit, "draw", draw)
    monkeypatch.setattr(fit, "tree_of", lambda *_: None)
    monkeypatch.setattr(fit, "sampling_problems", lambda *_: ["chains disagree"])
    assert fit.fit(read_studies(simulated(0), COLUMNS), settings) == (None, ["chains disagree"])
    assert lengths == [(30, 20), (60, 40)]


def test_leaving_out_a_study_shows_the_odd_one():
    table = simulated(1)
    table.loc[3, ["tp", "fn", "fp", "tn"]] = [40, 360, 360, 40]
    # That study makes one that has no influence of its own stand out all the less.
    short = SMALL | {"n_draws": 300, "n_warmup": 250}  # of a fit for each study
    influence = summary_roc(table, **short).leave_one_out()
    assert influence["shift"].idxmax() == "study 3"
    assert influence["surprise"].idxmax() == "study 3"
    assert influence.loc["study 3", "sensitivity"] > influence["sensitivity"].drop("study 3").max()
    assert (influence["r_hat"] < 1.05).all()


# Pictures


def test_displays(found):
    display = found.plot(ax=Figure().subplots(), plot_band=True)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels[0] == "9 studies, by size"
    assert f"AUC {found.auc.value:.3f}" in labels[1]
    assert set(display.regions_) == {"credible", "prediction"}
    low, high = found.observed_range
    x = display.line_.get_xdata()
    assert low <= x.min() <= x.max() <= high
    axes = tuple(Figure().subplots(1, 2))
    forest = found.plot_forest(axes=axes)
    assert [ax.get_xlabel() for ax in forest.axes_] == ["Sensitivity", "Specificity"]


def test_pairs_are_drawn_at_their_rates(of_pairs):
    lines = of_pairs.plot(ax=Figure().subplots()).ax_.lines
    [drawn] = [line for line in lines if line.get_label() == "pairs of classes"]
    assert np.array_equal(drawn.get_xdata(), 1 - of_pairs.pairs["specificity"])
    assert np.array_equal(drawn.get_ydata(), of_pairs.pairs["sensitivity"])


# Input


@pytest.mark.parametrize(
    ("change", "options", "error"),
    [
        ({"tp": [1.5] * 9}, {}, "column 'tp' must hold numbers of people, but row 0 .* has 1.5"),
        ({"fn": [-1] * 9}, {}, "column 'fn' must hold numbers of people, but row 0 .* has -1"),
        ({}, {"tp": "TP"}, "tp='TP' is no column of the table, which has 'study', 'tp'"),
        ({"study": ["a"] * 9}, {}, "study 'a' has 9 rows: keep one row per study, or name"),
        ({}, {"model": "ordinal"}, "model='ordinal' needs a column, threshold="),
        ({}, {"model": "multiclass"}, "model='multiclass' needs a column, pair="),
        ({}, {"model": "hsroc", "threshold": "tp"}, "model='hsroc' does not know threshold="),
        ({"pair": ["a-b"] * 9}, {"pair": "pair"}, "pair must name .true, reference. classes"),
        ({"pair": ["a from a"] * 9}, {"pair": "pair"}, "row 0 .* pairs 'a' with itself"),
        ({"pair": ["a from b"] * 9}, {"pair": "pair"}, "pair is 'a from b' in all rows: leave"),
        ({"pair": ["a from "] * 9}, {"pair": "pair"}, "pair must name .true, reference. classes"),
        (
            {"pair": [("a", pd.NA)] * 9},
            {"pair": "pair"},
            "pair must name .true, reference. classes",
        ),
        ({"pair": [("a from b", "c")] * 9}, {"pair": "pair"}, "pair must name .true, reference"),
        ({"pair": [None] * 9}, {"pair": "pair"}, "'pair' must name the pair of each row, but row"),
        ({"study": [*"abcdefgh", None]}, {}, "'study' must name the study of each row, but row 8"),
        ({"study": [*"abcdefgh", " "]}, {}, "'study' must name the study of each row, but row 8"),
        ({"study": [*"abcdefgh", "a "]}, {}, "study 'a' has 2 rows: keep one row per study, or"),
        ({}, {"threshold_scale": "log"}, "threshold_scale='log' is of thresholds: name their col"),
        (
            {"pair": ["a from b", "b from a", "a from b"] * 3},
            {"pair": "pair"},
            "'a from b' and 'b from a' count the same people twice: keep the rows of one",
        ),
        (
            {"pair": ["a from b"] * 8 + ["b from c"], "study": ["x"] * 3 + list("uvwxyz")},
            {"pair": "pair"},
            "study 'x' has several rows of a from b",
        ),
        ({"cut": [1.0] * 9}, {"threshold": "cut"}, "threshold is 1 in all rows"),
        (
            {"cut": ["1"] * 9},
            {"threshold": "cut"},
            "threshold must be a finite number, but row 0 .* '1'",
        ),
        (
            {"cut": [-1.0] * 9},
            {"threshold": "cut", "threshold_scale": "log"},
            "threshold must be positive for threshold_scale='log', but row 0",
        ),
        ({"tp": [0] * 9, "fn": [0] * 9, "fp": [0] * 9, "tn": [0] * 9}, {}, "no observations"),
        ({"tp": [0] * 9, "fn": [0] * 7 + [1, 1]}, {}, "2 studies of the table have cases"),
        ({}, {"level": 95.0}, "level must be between 0 and 1"),
        ({}, {"n_chains": 0}, "n_chains must be an integer >= 1"),
    ],
)
def test_input_that_cannot_be_right(change, options, error):
    with pytest.raises(ValueError, match=error):
        summary_roc(simulated(0).assign(**change), **options)


def test_rows_of_a_study_are_of_the_same_people():
    table = ordinal_table(0)
    columns = COLUMNS | {"threshold": "cut"}
    short = table.copy()
    short.loc[0, "fn"] += 60
    with pytest.raises(ValueError, match="study '0' has 400 to 460 cases"):
        read_studies(short, columns)
    with pytest.raises(ValueError, match="give minus the threshold"):
        read_studies(table.assign(cut=-table["cut"]), columns)
    with pytest.raises(ValueError, match="study '0' has several rows of threshold"):
        read_studies(pd.concat([table, table[:1]]), columns)
    nearly = table.copy()
    nearly.loc[0, "fn"] += 2
    assert "study '0': not all people" in read_studies(nearly, columns).remarks[0]


def test_studies_of_one_threshold_say_little_of_others():
    table = simulated(0).assign(cut=[0.0] * 5 + [1.0] * 4)
    [remark] = read_studies(table, COLUMNS | {"threshold": "cut"}).remarks
    assert remark.startswith("0 of 9 studies have several thresholds")
    assert read_studies(table, COLUMNS).remarks == ()


def test_other_input():
    with pytest.raises(ValueError, match=r"model must be one of .* but it is 'moses'"):
        chosen_model("moses", None, None)
    with pytest.raises(ValueError, match="are of different models"):
        chosen_model(None, "cut", "pair")
    with pytest.raises(ValueError, match="threshold_scale must be one of"):
        summary_roc(simulated(0), threshold_scale="sqrt")
    with pytest.raises(ValueError, match="needs 3 studies at least"):
        summary_roc(simulated(0)[:2])
    with pytest.raises(TypeError, match="table must be a data frame"):
        summary_roc(3)
    with pytest.raises(ValueError, match="columns of one length, each with a name of its own"):
        summary_roc({"tp": 3, "fn": 2, "fp": 1, "tn": 0})
    with pytest.raises(ValueError, match="columns of one length, each with a name of its own"):
        summary_roc({"tp": [1, 2], "fn": [1]})
    twice = simulated(0)
    twice.columns = ["study", "tp", "tp", "fp", "tn"]
    with pytest.raises(ValueError, match="columns of one length, each with a name of its own"):
        summary_roc(twice)
    with pytest.raises(ValueError, match="spread_scale must be positive"):
        SummaryPriors(spread_scale=0.0)
    with pytest.raises(TypeError, match="spread_scale must be a number, but it is None"):
        SummaryPriors(spread_scale=None)
    decimal = ordinal_table(0).assign(cut=lambda table: table["cut"].map(Decimal))
    as_decimal, as_float = (
        read_studies(table, COLUMNS | {"threshold": "cut"}) for table in (decimal, ordinal_table(0))
    )
    assert np.array_equal(as_decimal.thresholds, as_float.thresholds, equal_nan=True)
    studies = read_studies(simulated(0)[:4], COLUMNS)
    [remark] = studies.remarks
    assert remark.startswith("there are only 4 studies: how much")
    assert not read_studies(simulated(0)[:5], COLUMNS).remarks
    few_cases = simulated(0)
    few_cases.loc[:4, ["tp", "fn"]] = 0
    [remark] = read_studies(few_cases, COLUMNS).remarks
    assert remark.startswith("there are only 4 studies with cases: how much")
    two_pairs = simulated(0).assign(pair=["a from b", "a from c", "a from b"] * 3)
    [remark] = read_studies(two_pairs, COLUMNS | {"pair": "pair"}).remarks
    assert remark.startswith("there are only 2 pairs: how much pairs differ is mostly what the")
    for pair in (3, ("a", "b", "c")):
        with pytest.raises(ValueError, match=r"pair must name .* row 0 \(counting from 0\) has"):
            read_studies(simulated(0).assign(pair=[pair] * 9), COLUMNS | {"pair": "pair"})
