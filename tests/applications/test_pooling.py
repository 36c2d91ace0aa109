"""Receipts and pooled sites: published fits, federated against central, exact posteriors."""

import json

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.special import logit

import dmfroc
from dmfroc._kit.compiled import in_double_precision
from dmfroc.applications.sites import _digest
from dmfroc.cli.commands import app
from dmfroc.inference.random_effects import RandomEffects, on_line

# Colditz et al. (1994), trials of a vaccine: cases and others, vaccinated and not
BCG = np.array(
    [
        *([4, 119, 11, 128], [6, 300, 29, 274], [3, 228, 11, 209], [62, 13536, 248, 12619]),
        *([33, 5036, 47, 5761], [180, 1361, 372, 1079], [8, 2537, 10, 619]),
        *([505, 87886, 499, 87892], [29, 7470, 45, 7232], [17, 1699, 65, 1600]),
        *([186, 50448, 141, 27197], [5, 2493, 3, 2338], [27, 16886, 29, 17825]),
    ],
    float,
)
RNG = np.random.default_rng(0)
SITE = RNG.integers(7, size=1500)
Y = RNG.integers(2, size=1500)
SCORE = RNG.normal(size=1500) + Y * (1 + 0.3 * np.sin(SITE))
OTHER = SCORE + RNG.normal(size=1500)


def at_sites(analysis):
    return {f"s{k}": analysis(k == SITE) for k in range(7)}


def evaluated(rows):
    return dmfroc.evaluate(Y[rows], SCORE[rows], measures=["hand_till", "average_precision"])


def compared(rows):
    scores = {"a": SCORE[rows], "b": OTHER[rows]}
    return dmfroc.compare(Y[rows], scores, measures="hand_till")


def bcg():
    a, b, c, d = BCG.T
    errors = np.diag(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))
    return RandomEffects(np.log(a / (a + b) / (c / (c + d))), errors, np.ones((13, 1)))


def test_published_fit_of_metafor():
    """rma(yi, vi, data=dat.bcg, test="knha"), confint, and the test of heterogeneity."""
    model = bcg()
    assert model.tau2 == pytest.approx(0.3132, abs=5e-5)
    means, covariance = model.corrected()
    assert means[0] == pytest.approx(-0.7145, abs=5e-5)
    assert covariance[0, 0] ** 0.5 == pytest.approx(0.1808, abs=5e-5)
    assert model.fit(model.tau2)[1][0, 0] ** 0.5 == pytest.approx(0.1798, abs=5e-5)
    assert model.statistic(0.0) == pytest.approx(152.2330, abs=5e-5)
    assert model.tau2_at(np.array([0.025, 0.975])) == pytest.approx([0.1197, 1.1115], abs=5e-5)


def test_restricted_likelihood_is_that_of_the_whole_covariance():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(8, 8))
    x = np.stack([np.ones(8), np.arange(8.0)], axis=1)
    model = RandomEffects(rng.normal(size=8), root @ root.T / 8 + np.eye(8), x)

    def whole(tau2):
        precision = np.linalg.inv(model.covariance + tau2 * np.eye(8))
        means = np.linalg.solve(x.T @ precision @ x, x.T @ precision @ model.values)
        rest = model.values - x @ means
        logs = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(x.T @ precision @ x)[1]
        return (logs - rest @ precision @ rest) / 2, rest @ precision @ rest

    at = np.array([0.1, 0.7, 3.0])
    likelihoods, statistics = np.array([whole(t) for t in at]).T
    found = model.log_likelihood(at)
    assert found - found[0] == pytest.approx(likelihoods - likelihoods[0])
    assert model.statistic(at) == pytest.approx(statistics)
    draws = RandomEffects(model.values, np.diag([1e-12] * 8), x).draws(0)
    assert draws.mean(axis=0) == pytest.approx(model.values, abs=1e-5)


def test_federated_is_central(tmp_path):
    files = []
    for name, found in at_sites(evaluated).items():
        files.append(tmp_path / f"{name}.json")
        dmfroc.applications.write_receipt(found, files[-1])
    subgroups = dmfroc.compare_subgroups(Y, SCORE, [f"s{k}" for k in SITE], measures="hand_till")
    central, federated = (
        dmfroc.applications.pool(subgroups),
        dmfroc.applications.pool(files, measure="hand_till"),
    )
    for method in ("mean", "fixed"):
        a, b = (getattr(x, method) for x in (central, federated))
        assert [a.value, *a.interval] == pytest.approx([b.value, *b.interval], abs=1e-12)
    assert central.prediction == pytest.approx(federated.prediction, abs=1e-12)
    assert central.tau == pytest.approx(federated.tau, abs=1e-12)
    assert central.sizes == federated.sizes
    assert str(dmfroc.applications.pool(at_sites(evaluated), measure="hand_till")) == str(federated)
    found = CliRunner().invoke(app, ["pool", *map(str, files), "--measure", "hand_till", "--json"])
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["tau"] == pytest.approx(federated.tau, abs=1e-12)
    frame = federated.to_pandas("sites")
    assert list(frame.index) == list(federated) == [f"s{k}" for k in range(7)]
    rest = dmfroc.applications.pool(files[1:], measure="hand_till")
    assert federated.without["s0"].interval == pytest.approx(rest.mean.interval, abs=1e-12)


def test_receipt_holds_the_covariance_and_no_row(tmp_path):
    rows, path = SITE == 0, tmp_path / "north.json"
    scores = {"a": SCORE[rows], "b": OTHER[rows]}
    found = evaluated(rows).covariance
    measures = ("hand_till", "average_precision")
    influences = [dmfroc.extend.influences(m, Y[rows], scores["a"]) for m in measures]
    assert np.corrcoef(influences)[0, 1] == pytest.approx(
        found[0, 1] / np.sqrt(found[0, 0] * found[1, 1]), abs=0.02
    )
    comparison = compared(rows)
    dmfroc.applications.write_receipt(comparison, path)
    other = compared(SITE == 1)
    pooled = dmfroc.applications.pool({"x": other, "y": path}, measure="hand_till")
    assert "2 sites hardly show" in pooled.warnings[-1]
    for name, found in (("x", other), ("y", comparison)):
        [difference] = found.differences
        assert pooled[name].value == pytest.approx(difference.value)
        assert pooled[name].standard_error == pytest.approx(difference.standard_error, rel=1e-2)
    assert len(path.read_text()) < 2000
    few = dmfroc.evaluate(np.r_[Y[rows], [2] * 3], y_pred=np.r_[Y[rows], [2] * 3])
    dmfroc.applications.write_receipt(few, path)
    assert json.loads(path.read_text())["counts"]["2"] is None
    dmfroc.applications.write_receipt(few, path, least_cell=0)
    assert json.loads(path.read_text())["counts"]["2"] == 3


def test_differences_and_groups_of_sites():
    sites = at_sites(compared)
    pooled = dmfroc.applications.pool(
        sites, by={name: (name > "s3" and "late") or "early" for name in sites}
    )
    assert pooled.scale == "value"
    assert pooled.mean.value > 0
    assert set(pooled.groups) == {"early", "late"}
    assert pooled.between.degrees_of_freedom == (1, 5)
    first, second = (pooled.groups[x].value for x in ("early", "late"))
    assert (pooled.between.p_value < 0.05) == (abs(first - second) > 1)
    backwards = dmfroc.applications.pool(sites, classifier=("b", "a"))
    assert backwards.mean.value == pytest.approx(-pooled.mean.value)
    alone = dmfroc.applications.pool(sites, classifier="b")
    assert alone.scale == "logit"


@pytest.mark.slow
def test_posterior_is_that_of_numpyro():
    pooled = dmfroc.applications.pool(at_sites(evaluated), measure="hand_till", method="bayes")
    values, errors = np.array([*pooled.points.values()]).T

    def model():
        mean = numpyro.sample("mean", dist.Normal(0, 100))
        tau = numpyro.sample("tau", dist.HalfNormal(0.5))
        numpyro.sample("new", dist.Normal(mean, tau))
        numpyro.sample("y", dist.Normal(mean, (tau**2 + errors**2) ** 0.5), obs=values)

    with in_double_precision():
        kernel = numpyro.infer.NUTS(model, target_accept_prob=0.95)
        sampler = numpyro.infer.MCMC(kernel, num_warmup=500, num_samples=20_000, progress_bar=False)
        sampler.run(jax.random.PRNGKey(0))
        draws = {k: np.asarray(x) for k, x in sampler.get_samples().items()}
    error = draws["mean"].std()
    found = np.quantile(draws["mean"], [0.025, 0.975])
    assert logit(pooled.mean.interval) == pytest.approx(found, abs=0.08 * error)
    assert np.median(draws["tau"]) == pytest.approx(pooled.tau, rel=0.1)
    found = np.quantile(draws["new"], [0.025, 0.975])
    assert logit(pooled.prediction) == pytest.approx(found, abs=0.2 * draws["new"].std())


def counted(tp, fn, fp, tn):
    y = np.repeat([1, 1, 0, 0], [tp, fn, fp, tn])
    return dmfroc.evaluate(
        y, y_pred=np.repeat([1, 0, 1, 0], [tp, fn, fp, tn]), measures=["recall", "specificity"]
    )


def test_published_studies_of_counts(cases_directory, external_directory):
    """The bivariate fit, which borrows between both rates: -0.0498 (0.2027), 3.0092 (0.2582)."""
    table = pd.read_csv(cases_directory / "kearon1998.csv")
    sites = {
        str(i): counted(*row) for i, row in enumerate(table[["tp", "fn", "fp", "tn"]].to_numpy())
    }
    halves = table[["tp", "fn", "fp", "tn"]].to_numpy().T + 0.5  # which that fit adds to all counts
    for right, wrong, value, error in [
        (halves[0], halves[1], -0.0498, 0.2027),
        (halves[3], halves[2], 3.0092, 0.2582),
    ]:
        variances = np.diag(1 / right + 1 / wrong)
        model = RandomEffects(np.log(right / wrong), variances, np.ones((len(table), 1)))
        [mean], [[variance]] = model.fit(model.tau2)
        assert mean == pytest.approx(value, abs=0.03)
        assert variance**0.5 == pytest.approx(error, rel=0.02)
    found = {
        m: logit(dmfroc.applications.pool(sites, measure=m).mean.value)
        for m in ("recall", "specificity")
    }
    assert found["recall"] == pytest.approx(-0.0498, abs=0.08)
    assert 3.0092 < found["specificity"] < 3.5047  # of the binomial-normal model by quadrature
    table = pd.read_csv(external_directory / "schneider2017.csv")
    at_20 = table[(table.cutpoint >= 18) & (table.cutpoint <= 22)].groupby("study_id").first()
    sites = {
        str(i): counted(*row)
        for i, row in at_20[["tpos", "fneg", "fpos", "tneg"]].astype(int).iterrows()
    }
    found = {
        m: dmfroc.applications.pool(sites, measure=m).mean.value for m in ("recall", "specificity")
    }
    share = 0.7 * found["specificity"]
    npv = share / (share + 0.3 * (1 - found["recall"]))
    assert npv == pytest.approx(0.86, abs=0.03)  # as printed for 20 ppb and a prevalence of 30 %


def test_value_at_an_end_counts_half_an_error():
    perfect = dmfroc.estimate("recall", [0] * 30 + [1] * 20, y_pred=[0] * 30 + [1] * 20)
    value, error = on_line(perfect, (0.0, 1.0))
    assert value == pytest.approx(np.log(20.5 / 0.5), abs=0.05)
    assert error == pytest.approx(np.sqrt(1 / 20.5 + 1 / 0.5), abs=0.01)


@pytest.mark.parametrize("k", [20, 50])
def test_sites_without_errors_are_as_one_sample(k):
    """They lack one case together, not one each: 60 rows of each are as 60 k rows of one."""
    y = np.arange(60) % 2
    right = dmfroc.evaluate(y, y_pred=y, measures=["accuracy"])
    sites = {str(i): right for i in range(k)}
    mean = dmfroc.applications.pool(sites).mean
    assert 1 - mean.interval[0] == pytest.approx(1 - 0.025 ** (1 / (60 * k)), rel=0.15)
    assert mean.interval[0] < mean.value < mean.interval[1] == pytest.approx(1, abs=1e-6)


def test_pictures():
    pooled = dmfroc.applications.pool(at_sites(evaluated), measure="hand_till")
    labels = [x.get_text() for x in pooled.plot().ax_.get_yticklabels()]
    assert labels[-3:] == ["fixed effect", "mean", "a new site"]
    funnel = pooled.plot_funnel()
    errors = [error for _, error in pooled.points.values()]
    assert np.asarray(funnel.points_.get_offsets())[:, 1] == pytest.approx(errors)
    assert "a new site" in pooled.to_html()


def test_what_is_refused(tmp_path):
    sites, path = at_sites(evaluated), tmp_path / "a.json"
    with pytest.raises(ValueError, match="measure is missing: name one of"):
        dmfroc.applications.pool(sites)
    with pytest.raises(ValueError, match="measure 'accuracy' is not in 's0', which has"):
        dmfroc.applications.pool(sites, measure="accuracy")
    with pytest.raises(ValueError, match="at least two sites"):
        dmfroc.applications.pool(list(sites.values())[:1], measure="hand_till")
    with pytest.raises(TypeError, match="sites must be evaluations"):
        dmfroc.applications.pool({"a": 3}, measure="hand_till")
    with pytest.raises(ValueError, match="by lacks the group of site 's1'"):
        dmfroc.applications.pool(sites, measure="hand_till", by={"s0": "x"})
    with pytest.raises(ValueError, match="method must be"):
        dmfroc.applications.pool(sites, measure="hand_till", method="dl")
    path.write_text("[1]")
    with pytest.raises(ValueError, match="cannot be read: it is no receipt"):
        dmfroc.applications.pool([path, path.with_name("b.json")])
    with pytest.raises(ValueError, match=r"b\.json cannot be read: No such file"):
        dmfroc.applications.pool([path.with_name("b.json"), path])
    dmfroc.applications.write_receipt(sites["s0"], path)
    path.write_text(path.read_text().replace("0.95", "0.9"))
    with pytest.raises(ValueError, match="was changed after it was written"):
        dmfroc.applications.pool({"a": path, "b": sites["s1"]}, measure="hand_till")
    with pytest.raises(ValueError, match="sites need a name each"):
        dmfroc.applications.pool([path, path], measure="hand_till")
    few = dmfroc.applications.pool(list(sites.values())[:3], measure="hand_till")
    assert "3 sites hardly show" in few.warnings[-1]  # of its precision, no Python warning
    constant = dmfroc.evaluate([0, 1] * 40, [0.25] * 80, measures=["hand_till"])
    with pytest.warns(UserWarning, match="left out: c, whose value has no standard error"):
        pooled = dmfroc.applications.pool(sites | {"c": constant}, measure="hand_till")
    assert list(pooled.left_out) == ["c"]


SITES = at_sites(evaluated)
FORGED = {
    "level": (lambda x: x["estimates"][0].update(level=2), "level 2 is not between"),
    "counts": (lambda x: x["counts"].update({"0": -5}), "class '0' has -5 observations"),
    "text as count": (lambda x: x["counts"].update({"0": "many"}), "class '0' has 'many'"),
    "error": (lambda x: x["estimates"][0].update(standard_error=-0.1), "is impossible"),
    "ends": (lambda x: x["estimates"][0].update(interval=[0.9, 0.1]), "is impossible"),
    "one end": (lambda x: x["estimates"][0].update(interval=[0.9]), "is no receipt"),
    "text": (lambda x: x["estimates"][0].update(value="high"), "'high' in place of a number"),
    "truth": (lambda x: x["estimates"][0].update(value=True), "True in place of a number"),
    "no field": (lambda x: x["estimates"][0].pop("title"), "lacks 'title'"),
    "no estimates": (lambda x: x.update(estimates=[]), "it has no estimates"),
    "number": (lambda x: x.update(estimates=3), "is no receipt"),
    "copy": (lambda x: x["estimates"].append(x["estimates"][0]), "one of them twice"),
    "covariance": (lambda x: x.update(covariance=[[1.0]]), "covariance does not fit"),
    "ragged": (lambda x: x.update(covariance=[[1.0, 2.0], [1.0]]), "is no receipt"),
    "list": (lambda x: x.update(counts=[1, 2]), "is no receipt"),
    "range": (
        lambda x: x["estimates"][0].update(value=2.75),
        r"'north' has hand_till = 2\.75, outside of its range, 0 to 1",
    ),
    "measure": (
        lambda x: x["estimates"][0].update(measure="goodness", value=2.75),
        "'north' has 'goodness', which is no measure of dmfroc",
    ),
}


@pytest.mark.parametrize("what", FORGED)
def test_receipts_are_checked_like_any_foreign_file(what, tmp_path):
    """They are changed and signed again, so that the sum of their content says nothing."""
    (change, message), path = FORGED[what], tmp_path / "north.json"
    dmfroc.applications.write_receipt(SITES["s0"], path)
    content = json.loads(path.read_text())
    del content["sha256"]
    change(content)
    path.write_text(json.dumps(content | {"sha256": _digest(content)}))
    measure = "goodness" if what == "measure" else "hand_till"
    with pytest.raises(ValueError, match=message) as raised:
        dmfroc.applications.pool(
            {"north": path, "b": SITES["s1"], "c": SITES["s2"]}, measure=measure
        )
    assert "north" in str(raised.value)


@pytest.mark.filterwarnings("ignore:3 sites hardly show")
def test_merged_inputs_are_of_one_kind(tmp_path):
    """Measure with options, level, classes, version and content."""
    y, p = Y, 1 / (1 + np.exp(-SCORE))

    def of(measure, rows, **options):
        return dmfroc.evaluate(y[rows], p[rows], measures=[measure], **options)

    parts = [k == SITE for k in range(5)]
    brier = {"a": of("hand_till", parts[0]), "b": of("brier_score", parts[1])}
    with pytest.raises(ValueError, match=r"different measures.*'hand_till'.*'brier_score'"):
        dmfroc.applications.pool(brier)
    thresholds = (0.1, 0.5, 0.5)
    several = [
        of(dmfroc.measures.net_benefit(t), x) for t, x in zip(thresholds, parts[:3], strict=True)
    ]
    with pytest.raises(ValueError, match=r"different measures.*threshold=0\.1.*'net_benefit'"):
        dmfroc.applications.pool(several)
    named = {"a": p, "b": p**2}
    two = [
        dmfroc.compare(y[x], {k: s[x] for k, s in named.items()}, measures=m)
        for m, x in zip(map(dmfroc.measures.net_benefit, thresholds), parts[:3], strict=True)
    ]
    with pytest.raises(ValueError, match=r"different measures.*threshold=0\.1.*'net_benefit'"):
        dmfroc.applications.pool(two)
    levels = [of("hand_till", parts[0]), of("hand_till", parts[1], level=0.9)]
    with pytest.raises(ValueError, match=r"different levels.*0\.95.*0\.9"):
        dmfroc.applications.pool(levels)
    turned = dmfroc.evaluate(y[parts[1]], 1 - p[parts[1]], measures=["hand_till"], labels=[1, 0])
    with pytest.raises(ValueError, match="different positive classes"):
        dmfroc.applications.pool([levels[0], turned])
    one = of("hand_till", parts[0])
    for name in ("north.json", "copy.json"):
        dmfroc.applications.write_receipt(one, tmp_path / name)
    files = [tmp_path / "north.json", tmp_path / "copy.json"]
    for copies in (files, [one, one], [one, files[0]]):
        named = dict(zip("ab", copies, strict=True)) | {"c": of("hand_till", parts[2])}
        with pytest.warns(UserWarning, match="'a' and 'b' have the same value and error"):
            dmfroc.applications.pool(named)
    right = [counted(8, 2, 1, 9), counted(8, 2, 3, 7), counted(9, 1, 1, 9)]
    with pytest.warns(UserWarning, match="'1' and '2' have the same value.*if they are the same"):
        dmfroc.applications.pool(right, measure="recall")
    content = json.loads(files[0].read_text()) | {"version": "0.9"}
    del content["sha256"]
    files[0].write_text(json.dumps(content | {"sha256": _digest(content)}))
    named = {"a": files[0], "b": of("hand_till", parts[1]), "c": of("hand_till", parts[2])}
    with pytest.warns(UserWarning, match=r"different versions of dmfroc.*0\.9"):
        dmfroc.applications.pool(named)


def test_sites_with_one_error_each_are_pooled_though_their_numbers_are_the_same():
    y, rng = np.repeat([0, 1], 30), np.random.default_rng(0)
    sites = []
    for _ in range(3):
        scores = np.sort(rng.normal(size=60))
        scores[[29, 30]] = scores[[30, 29]]
        sites.append(dmfroc.evaluate(y, scores, measures="hand_till"))
    with pytest.warns(UserWarning, match="have the same value and error in all digits"):
        found = dmfroc.applications.pool(sites)
    assert found.mean.value == pytest.approx(1 - 1 / 900)
    assert found.mean.interval[0] < found.mean.value < found.mean.interval[1]


def test_intervals_of_sites_have_their_own_level():
    pooled = dmfroc.applications.pool(SITES, measure="hand_till", level=0.8)
    text = str(pooled)
    assert "80 % interval" in text.partition("site ")[0]
    assert "95 % interval" in text.partition("site ")[2]


def test_published_values_with_errors(cases_directory, tmp_path):
    path = cases_directory / "third" / "published_auc.csv"
    table = pd.read_csv(path)
    sites = dict(zip(table.study, zip(table.auc, table.se, strict=True), strict=True))
    others = table.assign(n=100).rename(columns={"auc": "value", "se": "Std. error"})
    for found in (
        dmfroc.applications.pool(table),
        dmfroc.applications.pool(path),
        dmfroc.applications.pool(sites, measure="hand_till"),
        dmfroc.applications.pool(others, measure=dmfroc.measures.hand_till()),
        dmfroc.applications.pool(table.set_index("study"), measure="AUC"),
    ):
        assert found.mean.value == pytest.approx(0.7510635, abs=1e-6)
        assert found.mean.interval == pytest.approx((0.7044656, 0.7924786), abs=1e-6)
        assert found.tau == pytest.approx(0.1771538, abs=1e-6)
        assert found.scale == "logit"
        assert list(found) == [f"S{k}" for k in range(1, 8)]
    done = CliRunner().invoke(app, ["pool", str(path), "--json"])
    assert json.loads(done.stdout)["tau"] == pytest.approx(0.1771538, abs=1e-6)
    logits = logit(found["S1"].interval)
    assert logits.mean() == pytest.approx(logit(0.807))
    for wrong, message in (
        (table.rename(columns={"auc": "x"}), "measure is missing: say what is published"),
        (table.drop(columns="se"), "of standard errors called 'se'"),
        (table.assign(study="a"), "need a name each"),
        (table.assign(auc=1.2), r"'S1' has auc = 1\.2"),
        (table.assign(se=[0.1] * 6 + [np.nan]), "error of site 'S7' must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            dmfroc.applications.pool(wrong)


def test_bayesian_errors_are_those_of_the_posterior():
    """By sums over a grid of the mean and of the standard deviation between sites."""
    values, errors = np.array([0.0, 1.5, 1.8, 1.2]), np.array([0.1, 0.5, 0.5, 0.5])
    share = 1 / (1 + np.exp(-values))
    sites = zip("abcd", zip(share, errors * share * (1 - share), strict=True), strict=True)
    found = dmfroc.applications.pool(
        dict(sites), measure="hand_till", method="bayes", tau_scale=0.8
    )
    assert "4 sites" in found.warnings[-1]
    mean, tau = np.meshgrid(np.linspace(-4, 5, 1801), np.linspace(0.0005, 4, 1000))
    logs = -((tau / 0.8) ** 2) / 2
    for value, error in zip(values, errors, strict=True):
        variance = error**2 + tau**2
        logs -= np.log(variance) / 2 + (value - mean) ** 2 / variance / 2
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    middle = (weights * mean).sum()
    spread = np.sqrt((weights * (mean - middle) ** 2).sum())
    value = found.mean.value
    assert logit(value) == pytest.approx(middle, abs=2e-3)
    assert found.mean.standard_error == pytest.approx(spread * value * (1 - value), rel=2e-3)


def test_tables_of_groups_have_their_means():
    by = {name: "late" if name > "s3" else "early" for name in SITES}
    pooled = dmfroc.applications.pool(SITES, measure="hand_till", by=by)
    frame = pooled.to_pandas("groups")
    assert list(frame.index) == ["early", "late"]
    for name, row in frame.iterrows():
        assert row["value"] == pooled.groups[name].value
        assert (row["low"], row["high"]) == pooled.groups[name].interval


def test_receipts_of_items_are_pooled_as_the_items(tmp_path):
    right = (SCORE > 0.5) == Y
    found = at_sites(lambda rows: dmfroc.applications.items({"a": right[rows], "b": Y[rows]}))
    for name, x in found.items():
        dmfroc.applications.write_receipt(x, tmp_path / f"{name}.json")
    for classifier in ("a", ("a", "b")):
        of_files, expected = (
            dmfroc.applications.pool(sites, classifier=classifier)
            for sites in (sorted(tmp_path.iterdir()), found)
        )
        assert of_files.mean == expected.mean
        assert of_files.prediction == expected.prediction
