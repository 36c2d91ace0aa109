"""What NumPy finds is what JAX makes of the same functions: values and their derivatives."""

import functools
from dataclasses import replace

import jax
import numpy as np
import pandas as pd
import pytest
from simulations import normal_scores
from sklearn import metrics

import dmfroc
from dmfroc import Measure, Predictions, compare, estimate, evaluate, multiclass_roc, scan
from dmfroc._kit.compiled import compiled
from dmfroc.measures import (
    MEASURES,
    auc_mu,
    dmf_auc,
    h_measure,
    kappa_area,
    one_vs_one_auc,
    partial_auc,
    precision_recall_gain_area,
    roc_area,
)
from dmfroc.measures.bound import values_and_influences
from dmfroc.measures.measure import bind, bind_in_groups, within
from dmfroc.measures.statistics import curves, projections
from dmfroc.multiclass import center

# More options than those under which measures are listed; each with the classes that it takes.
OTHERS = [
    auc_mu([[0, 1, 2], [1, 0, 3], [1, 1, 0]]),
    dmf_auc(pair_weights="prevalence", n_thresholds=20, shrinkage=0.2),
    dmf_auc(threshold_pool="pooled"),
    h_measure(alpha=2, beta=5),
    kappa_area("trapezoid", "scott"),
    one_vs_one_auc("macro"),
    partial_auc(0.35),
    precision_recall_gain_area(clip=True),
    roc_area(),
]


# Their derivatives are those of smoother curves, which show better how a point moves.
SLOPES_OF_CHORDS = {m.name for m in MEASURES.values() if m.family == "operating points"}


def applicable(predictions):
    """Return all measures that are defined for the predictions."""
    others = OTHERS if predictions.n_classes == 3 else OTHERS[1:]
    chosen = [m for m in (*MEASURES.values(), *others) if m.applies_to(predictions)]
    # The product of informedness and markedness of three classes is never far from its kink.
    return [m for m in chosen if m.name != "correlation"]


@functools.cache
def sample(kind, n_classes, weights=None):
    prior = {2: [0.6, 0.4], 3: [0.5, 0.3, 0.2]}[n_classes]
    # Of a bad classifier the precision gain changes its sign upwards and downwards.
    shift = {"bad": 0.1, "tied": 1.0, "near-perfect": 9.0}[kind]
    classes, scores = normal_scores(n_classes, 67, n_classes, shift, prior)
    if kind == "near-perfect":
        scores[[0, 1]] = scores[[1, 0]]
    scores = np.round(scores) if kind == "tied" else scores
    weights = None if weights is None else random_weights(n_classes)
    return Predictions.from_arrays(classes, scores, sample_weight=weights)


def random_weights(n_classes):
    weights = np.random.default_rng(1).choice([0, 0.5, 1, 2.5], size=67)
    weights[:n_classes] = 1  # the first ones of each class
    return weights


samples = pytest.mark.parametrize(
    ("kind", "n_classes"), [(k, n) for k in ("bad", "tied", "near-perfect") for n in (2, 3)]
)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n_classes"), [("bad", 2), ("tied", 3), ("near-perfect", 3)])
def test_derivatives_are_those_of_jax(kind, n_classes):
    predictions = sample(kind, n_classes)
    measures = [m for m in applicable(predictions) if m.name not in SLOPES_OF_CHORDS]
    n_compared = 0
    for positions, bind_group in bind_in_groups(measures, predictions):
        bound = bind_group()
        if not bound.is_compiled:
            continue
        n_compared += len(positions)
        # Forward mode compiles faster; derivatives of fitted centers exist in reverse mode only.
        is_fitted = any("dmf" in measures[p].name for p in positions)
        jacobian = jax.jacrev if is_fitted else jax.jacfwd
        by_jax = compiled(jacobian(lambda w, f=bound: (f(w),) * 2, has_aux=True))
        for weights in (np.ones(67), random_weights(n_classes)):
            values, gradients = bound.values_and_gradients(weights)
            np.testing.assert_array_equal(values, bound.values(weights))
            expected, expected_values = map(np.asarray, by_jax(weights))
            np.testing.assert_allclose(values, expected_values, rtol=1e-12, atol=1e-13)
            # An observation without weight has no influence, and may be where a derivative jumps.
            scale = np.abs(expected).max(axis=1, keepdims=True)
            # What is the same for all observations has no derivatives but rounding.
            difference = np.abs(gradients - expected) / np.where(scale > 1e-15, scale, 1)
            worst = difference[:, weights > 0].max(axis=1)
            told = {measures[p].name: x for p, x in zip(positions, worst, strict=True)}
            assert max(worst) < 1e-9, told
    without = {m.name for m in measures if not bind(m, predictions).is_compiled}
    of_numpy = {"ordinal_vus", "polytomous_discrimination_index"}
    of_numpy |= {"vus"} if n_classes == 3 else set()
    kinks = {"convex_hull_auc", "max_informedness", "h_measure", h_measure(2, 5).name}
    assert without == kinks | of_numpy
    assert n_compared == len(measures) - len(without)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["convex_hull_auc", "max_informedness", "h_measure"])
def test_derivatives_of_measures_with_kinks_are_finite_differences(name, n_classes):
    # Under random weights no two points of a curve compete, and no three lie on a line.
    classes, scores = normal_scores(9, 60, n_classes)
    weights = np.random.default_rng(10).uniform(0.5, 2, size=60)
    bound = bind(MEASURES[name], Predictions.from_arrays(classes, scores, sample_weight=weights))
    shifts = 1e-6 * np.eye(60)
    expected = (bound.values(weights + shifts) - bound.values(weights - shifts))[:, 0] / 2e-6
    _, [gradient] = bound.values_and_gradients(weights)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-6 * scale)
    assert scale > 1e-4


@pytest.mark.slow
@samples
def test_derivatives_along_the_weights_vanish(kind, n_classes):
    """Only ratios of the weights matter."""
    predictions = sample(kind, n_classes, "random")
    weights = predictions.sample_weight
    for measure in applicable(predictions):
        values, gradients = bind(measure, predictions).values_and_gradients(weights)
        if np.isfinite(values).all():
            scale = np.abs(gradients * weights).sum()
            assert abs(gradients @ weights).max() <= 1e-9 * max(scale, 1e-3), measure.name


def test_many_weights_at_once_are_each_by_itself():
    predictions = sample("tied", 3, "random")
    weights = np.random.default_rng(2).uniform(0, 2, size=(4, 67))
    for measure in applicable(predictions):
        bound = bind(measure, predictions)
        each = [bound.values(of_draw) for of_draw in weights]
        np.testing.assert_allclose(bound.values(weights), each, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["auc_mu", "kappa_area", "convex_hull_auc"])
def test_parts_of_a_statistic_add_up(monkeypatch, name):
    classes, scores = normal_scores(4, 60, 5)
    predictions = Predictions.from_arrays(classes, scores)
    weights = np.random.default_rng(3).uniform(0, 2, size=60)
    whole = bind(MEASURES[name], predictions).values_and_gradients(weights)
    monkeypatch.setattr(projections, "_PLACES_AT_ONCE", 50)
    monkeypatch.setattr(curves, "_POINTS_AT_ONCE", 1)
    monkeypatch.setattr(curves, "_FEWEST_AT_ONCE", 1)
    bound = bind(MEASURES[name], replace(predictions))
    assert len(bound.statistic.parts()) >= 5
    for found, expected in zip(bound.values_and_gradients(weights), whole, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


def test_only_rounding_is_put_back_into_the_range():
    values = np.array([-1e-9, -1e-14, 0.5, 1 + 1e-14, 1 + 1e-9, 2.0])
    assert within(values, (0.0, 1.0)).tolist() == [-1e-9, 0, 0.5, 1, 1 + 1e-9, 2]


def test_values_that_are_reached_at_the_ends_are_pooled_as_they_are():
    assert MEASURES["hand_till"].range_on_line == (0, 1)
    assert MEASURES["mutual_information"].range_on_line == (-np.inf, np.inf)
    assert MEASURES["mutual_information"].bounds == (0, np.inf)


def test_influences_on_several_numbers_are_those_on_each():
    predictions = sample("bad", 3, "random")
    bound = bind(MEASURES["accuracy"], predictions)
    weights = predictions.sample_weight

    def both(table, xp):
        accuracy = bound.summaries[0](table, xp)
        return xp.stack([accuracy, accuracy**2])

    values, influences = values_and_influences(bound.statistic, both, weights)
    value, gradient = bound.values_and_gradients(weights)
    assert values == pytest.approx([value[0], value[0] ** 2])
    np.testing.assert_allclose(influences[0], gradient[0] * weights, rtol=0, atol=1e-15)
    np.testing.assert_allclose(influences[1], 2 * value * gradient[0] * weights, rtol=0, atol=1e-15)


def test_few_rates_have_the_centre_of_many(monkeypatch):
    """Few are fitted by NumPy, many by JAX."""
    classes, scores = normal_scores(5, 200, 4)
    predictions = Predictions.from_arrays(classes, scores)
    bound = bind(dmf_auc(), predictions)
    area, gradient = bound.values_and_gradients(predictions.sample_weight)
    monkeypatch.setattr(center, "FEW_CELLS", 0)
    expected_area, expected = bound.values_and_gradients(predictions.sample_weight)
    assert area == pytest.approx(expected_area, rel=0, abs=1e-13)
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert area == pytest.approx(multiclass_roc(predictions).auc, rel=0, abs=1e-9)


@pytest.mark.parametrize("measures", ["all", ["hand_till"]])
def test_nothing_is_compiled_for_the_jackknife(measures):
    compilations = []

    def listen(event, duration, **kwargs):
        if event == "/jax/core/compile/backend_compile_duration":
            compilations.append(kwargs)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        evaluate(*normal_scores(7, 71, 4), measures=measures, method="jackknife")
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert compilations == []


# What a measure is


def test_a_measure_is_a_function_of_data():
    classes, scores = normal_scores(6, 60, 3)
    predictions = Predictions.from_arrays(classes, scores)
    for measure in MEASURES.values():
        if measure.applies_to(predictions):
            value = measure(classes, scores)
            assert type(value) is float
            assert value == measure(predictions)
            assert measure.obstacle(predictions) is None
    informedness = MEASURES["informedness"]
    assert informedness(classes, y_pred=predictions.predicted) == informedness(predictions)
    assert not MEASURES["recall"].applies_to(predictions)
    with pytest.raises(ValueError, match="recall is a measure of two classes, and there are 3"):
        MEASURES["recall"](predictions)


def of_first_weight(predictions):
    return lambda weights: weights[0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"name": ""}, ValueError, "name must be a non-empty string, but it is ''"),
        ({"bind": None}, TypeError, "'own' needs either bind=, or statistic= and summary="),
        (
            {"bind": None, "statistic": of_first_weight},
            TypeError,
            "'own' needs either bind=, or statistic=",
        ),
        ({"bounds": (1, 0)}, ValueError, r"bounds must be a smaller and a larger value.*\(1, 0\)"),
    ],
)
def test_what_is_no_measure_is_refused(options, error, message):
    given = {"name": "own", "bind": of_first_weight} | options
    with pytest.raises(error, match=message):
        Measure(**given)


def test_positional_arguments_are_refused():
    with pytest.raises(TypeError, match="positional"):
        Measure("own", "Own", of_first_weight)


def test_a_users_measure_of_labels_wants_labels():
    own = Measure(
        name="own",
        bind=lambda p: lambda weights: weights @ (p.predicted == p.true) / weights.sum(),
        needs="labels",
    )
    classes, scores = normal_scores(8, 60, 2)
    predicted = (scores[:, 1] > 0.5).astype(int)
    expected = np.mean(predicted == classes)
    assert own(classes, scores[:, 1], y_pred=predicted) == pytest.approx(expected, abs=1e-15)
    with pytest.raises(ValueError, match="own needs hard labels, and a one-dimensional y_score"):
        own(classes, scores[:, 1])
    assert not own.applies_to(Predictions.from_arrays(classes, scores[:, 1]))


# Functions that JAX cannot trace


def wrapped(metric):
    """Return what binds a metric of scikit-learn."""
    return lambda p: lambda weights: metric(p.true, p.scores[:, 1], sample_weight=weights)


OPTIONS = [
    {},
    {"sample_weight": np.arange(60) % 3 / 2},
    {"groups": np.arange(60) // 2},
    {"folds": np.arange(60) % 3},
    {"method": dmfroc.Bootstrap(100)},
    {"method": dmfroc.BayesianBootstrap(100, interval="percentile")},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS)
def test_a_wrapped_metric_is_the_measure_itself(options):
    classes, scores = normal_scores(1, 60, 2)
    metric = Measure(name="metric", bind=wrapped(metrics.roc_auc_score), bounds=(0, 1))
    found = estimate(metric, classes, scores[:, 1], **options)
    expected = estimate("hand_till", classes, scores[:, 1], **options)
    assert found.value == pytest.approx(expected.value, abs=1e-12)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-6)
    # Its derivatives at other weights are not known
    low, high = expected.interval
    np.testing.assert_allclose(found.interval, expected.interval, atol=0.1 * (high - low))


@pytest.mark.slow
def test_wrapped_metrics_are_compared():
    classes, scores = normal_scores(2, 60, 2)
    named = {"a": scores[:, 1], "b": np.round(scores[:, 1])}
    metric = Measure(name="metric", bind=wrapped(metrics.average_precision_score), bounds=(0, 1))
    (found,), (expected,) = (
        compare(classes, named, measures=measure).differences
        for measure in (metric, "average_precision")
    )
    assert found.value == pytest.approx(expected.value, abs=1e-12)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-5)


WRAPPED = {
    **{name: {} for name in ["accuracy_score", "balanced_accuracy_score", "cohen_kappa_score"]},
    **{name: {} for name in ["matthews_corrcoef", "hamming_loss", "zero_one_loss"]},
    **{name: {"average": "macro"} for name in ["f1_score", "jaccard_score"]},
    "precision_score": {"average": "macro", "zero_division": 0},  # of halves without a prediction
    "fbeta_score": {"average": "weighted", "beta": 2},
    "recall_score": {"average": "weighted"},
    **{name: {} for name in ["log_loss", "d2_log_loss_score", "average_precision_score"]},
    "brier_score_loss": {},
    "top_k_accuracy_score": {"k": 2},
    "roc_auc_score": {"multi_class": "ovr"},
}
OF_SCORES = list(WRAPPED)[-6:]
RESAMPLED = ("accuracy_score", "log_loss", "roc_auc_score")  # labels, probabilities, ranks


@pytest.mark.slow
@pytest.mark.parametrize("name", WRAPPED)
def test_metrics_of_scikit_learn_in_every_question(name):
    classes, scores = normal_scores(4, 24, 3)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    judge = functools.partial(getattr(metrics, name), **WRAPPED[name])

    def bind(p):
        judged = p.scores if name in OF_SCORES else p.predicted
        return lambda weights: judge(p.true, judged, sample_weight=weights)

    metric = Measure(name="metric", bind=bind)
    expected = judge(classes, shares if name in OF_SCORES else shares.argmax(axis=1))
    pair = compare(classes, {"a": shares, "b": shares[::-1]}, measures=metric)
    assert pair.estimates["a"].value == pytest.approx(expected, abs=1e-12)
    found = list(pair.estimates.values())
    if name in RESAMPLED:  # a call for each draw
        both = evaluate(classes, shares, measures=[metric], method=dmfroc.Bootstrap(100))
        assert both.estimates["metric"].value == pair.estimates["a"].value
        found.append(both.estimates["metric"])
    for estimated in found:
        assert 0 < estimated.standard_error < 0.4


def test_a_scan_refuses_functions_of_all_rows(tmp_path):
    classes, scores = normal_scores(4, 60, 3)
    pd.DataFrame(scores, columns=list("abc")).assign(y=np.array(list("abc"))[classes]).to_parquet(
        tmp_path / "rows.parquet"
    )
    metric = Measure(name="metric", bind=lambda p: lambda w: metrics.log_loss(p.true, p.scores))
    with pytest.raises(ValueError, match="metric is a function of all observations at once"):
        estimate(metric, scan(tmp_path / "rows.parquet", label="y"))


def test_other_functions_of_numpy_are_called_as_they_are():
    """What asks whether an array is true, or fills one in, cannot be traced."""

    def bind(predictions):
        def share(weights):
            if weights.sum() == 0:
                return 0.0
            kept = np.zeros(len(weights))
            kept[:] = weights * (predictions.predicted == predictions.true)
            return kept.sum() / float(weights.sum())

        return share

    classes, scores = normal_scores(3, 60, 3)
    own = estimate(Measure(name="own", bind=bind, bounds=(0, 1)), classes, scores)
    expected = estimate("accuracy", classes, scores)
    assert own.value == pytest.approx(expected.value, abs=1e-12)
    assert own.standard_error == pytest.approx(expected.standard_error, rel=1e-6)


def test_an_error_of_the_function_is_its_own():
    def bind(predictions):
        def fail(weights):
            raise KeyError("a column")

        return fail

    with pytest.raises(KeyError, match="a column"):
        Measure(name="failing", bind=bind)([0, 1, 1], [0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("bound", "message"),
    [
        (None, "returns a number, but it is None"),
        ("text", "returns a number, but it is 'text', of type str"),
        (np.ones(3), "returns a number, but it is array"),
        (lambda: 1, "returns a number: too many positional arguments"),
        (lambda weights: None, "but that returns a NoneType"),
        (lambda weights: "text", "but that returns a str"),
        (lambda weights: {"value": 1}, "but that returns a dict"),
        (lambda weights: weights, r"but that returns float64 values of shape \(60,\)"),
        (lambda weights: weights.sum() * 1j, "but that returns complex128 values"),
        (lambda weights: weights.sum() > 0, "but that returns bool values"),
    ],
    ids=range(10),
)
@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_a_users_measure_that_is_no_number_is_refused_by_name(method, bound, message):
    classes, scores = normal_scores(8, 60, 2)
    own = Measure(name="own", bind=lambda predictions: bound)
    with pytest.raises(TypeError, match=f"bind= of the measure 'own' .*must .*{message}"):
        estimate(own, classes, scores, method=method)


ROWS = np.arange(60)
RIGHT = ROWS % 4 > 0  # of rows in two classes


@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
@pytest.mark.parametrize(
    ("is_right", "bind"),
    [
        (RIGHT, lambda p: lambda weights: metrics.accuracy_score(p.true, p.predicted)),
        (RIGHT | True, lambda p: lambda weights: metrics.accuracy_score(p.true, p.predicted)),
        (RIGHT, lambda p: lambda weights: metrics.accuracy_score(ROWS % 2, p.predicted)),
        (RIGHT, lambda p: lambda weights: 0.75),
    ],
)
def test_a_measure_without_its_weights_has_no_interval(is_right, bind, method):
    own = Measure(name="own", bind=bind, bounds=(0, 1), needs="labels")
    y, predicted = ROWS % 2, np.where(is_right, ROWS % 2, 1 - ROWS % 2)
    assert own(y, y_pred=predicted) == pytest.approx(is_right.mean(), abs=0.1)
    with pytest.raises(ValueError, match=r"'own' is [\d.]+ whatever the weights .* sample_weight="):
        estimate(own, y, y_pred=predicted, method=method)


@pytest.mark.parametrize("options", [{}, {"folds": ROWS // 2 % 3}])
def test_a_heading_changes_no_number_of_a_users_measure(options):
    """`family` is where tables list it, not what is known of its rows."""
    y, predicted = ROWS % 2, np.where(RIGHT, ROWS % 2, 1 - ROWS % 2)

    def bind(p):
        is_right = p.predicted == p.true
        return lambda weights: (weights * is_right).sum() / weights.sum()

    given = {"bind": bind, "bounds": (0, 1), "needs": "labels"}
    own, listed = Measure(name="own", **given), Measure(name="own", family="mine", **given)
    expected, found = (estimate(x, y, y_pred=predicted, **options) for x in (own, listed))
    assert (found.value, found.standard_error) == (expected.value, expected.standard_error)
    assert found.interval == expected.interval
    forgets = Measure(**given | {"name": "own", "family": "mine", "bind": lambda p: lambda w: 0.75})
    with pytest.raises(ValueError, match=r"'own' is 0\.75 whatever the weights"):
        estimate(forgets, y, y_pred=predicted, **options)


@pytest.mark.parametrize("predicted", [ROWS % 2, 1 - ROWS % 2, ROWS * 0], ids=["all", "none", "0"])
def test_a_value_that_no_row_of_a_sample_changes_has_an_interval(predicted):
    """All are right or all are wrong, or the value is that of chance however rows are weighted."""

    def bind(p):
        judge = metrics.accuracy_score if predicted.any() else metrics.balanced_accuracy_score
        return lambda weights: judge(p.true, p.predicted, sample_weight=weights)

    own = Measure(name="own", bind=bind, bounds=(0, 1), needs="labels")
    found = estimate(own, ROWS % 2, y_pred=predicted)
    assert found.standard_error == pytest.approx(0, abs=1e-9)
    assert 0.005 < np.ptp(found.interval) < 0.1


@pytest.mark.parametrize("number", [0.5, 1, np.float32(0.25), [0.5]])
def test_a_users_measure_may_return_any_real_number(number):
    classes, scores = normal_scores(8, 60, 2)
    own = Measure(name="own", bind=lambda predictions: lambda weights: number, bounds=(0, 2))
    assert own(classes, scores) == float(np.ravel(number)[0])


def test_values_in_folds_are_those_that_have_derivatives():
    y, scores = normal_scores(0, 60, 3, 1.5)
    predictions = Predictions.from_arrays(y, scores).in_folds(np.arange(60) // 3 % 3)
    draws = np.random.default_rng(0).exponential(size=(4, 60))
    for name in ("hand_till", "average_precision", "macro_f1"):
        bound = bind(dmfroc.measures.get_measure(name), predictions)
        expected = [bound.values_and_gradients(weights)[0] for weights in draws]
        for found in (bound.values(draws), bound.values_of_each(draws)):
            np.testing.assert_allclose(found, expected, rtol=1e-13)
