"""Functions of arrays by JAX: equal to the measures, and right in every derivative."""

import math
import re
from functools import partial

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import numpyro
import pytest
from numpyro import distributions, infer

import dmfroc
from dmfroc import functional, measures
from dmfroc.functional import counts
from dmfroc.inputs.arguments import as_predictions
from dmfroc.measures.measure import bind

NAMES = [
    *("accuracy", "auc_mu", "average_precision", "brier_score", "dmf_auc", "gorodkin_correlation"),
    *("hand_till", "informedness", "log_loss", "one_vs_one_auc", "one_vs_rest_auc"),
]
N, K = 24, 3
GENERATOR = np.random.default_rng(0)
Y = GENERATOR.permutation(np.arange(N) % K)
SCORES = np.exp(GENERATOR.normal(size=(N, K)) + np.eye(K)[Y])
SCORES /= SCORES.sum(axis=1, keepdims=True)
TIED = np.round(SCORES * 4) + 1
TIED /= TIED.sum(axis=1, keepdims=True)
WEIGHTS = {
    "ones": np.ones(N),
    "whole": GENERATOR.integers(0, 3, N).astype(float),
    "real": GENERATOR.random(N) + 0.1,
}


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def by_numpy(name, y, scores, weights):
    predictions = as_predictions(y, scores, sample_weight=weights)
    [value], [gradient] = bind(getattr(measures, name)(), predictions).values_and_gradients(weights)
    return value, gradient


def differences(function, x, step=1e-6):
    """Return central differences of a function by each number of x."""
    x = np.asarray(x, float)
    found = []
    for place in np.ndindex(x.shape):
        moved = np.zeros_like(x)
        moved[place] = step
        found.append((np.asarray(function(x + moved)) - function(x - moved)) / (2 * step))
    of_each = np.reshape(found, (*x.shape, *np.shape(found[0])))
    return np.moveaxis(of_each, -1, 0) if of_each.ndim > x.ndim else of_each


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_values_and_derivatives_are_those_of_the_measures(name):
    function = getattr(functional, name)
    for scores in (SCORES, TIED):
        for weights in WEIGHTS.values():
            expected = by_numpy(name, Y, scores, weights)
            found = jax.value_and_grad(lambda w, s=scores: function(Y, s, w, n_classes=K))(weights)
            np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=1e-12)
            np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dmf_auc", "average_precision", "log_loss", "one_vs_rest_auc"])
def test_two_classes_have_one_score(name):
    y, scores = (Y > 0).astype(int), TIED[:, 1]
    function = partial(getattr(functional, name), n_classes=2)
    expected = by_numpy(name, y, scores, WEIGHTS["real"])
    found = jax.value_and_grad(lambda w: function(y, scores, w))(WEIGHTS["real"])
    np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("error")
def test_functions_can_be_compiled_and_mapped(name):
    """Whatever is traced, with 32 bits as JAX has them by default; wrong values give NaN."""
    function = partial(getattr(functional, name), n_classes=K)
    is_first = np.arange(N) == 0
    ys = np.stack([Y, np.roll(Y, 1), np.where(is_first, K, Y), Y, Y])
    scores = np.stack([SCORES, TIED, SCORES, np.where(is_first[:, None], np.nan, SCORES), SCORES])
    weights = np.ones((5, N))
    weights[4, 0] = -1
    with jax.enable_x64(False):
        by_rows = jax.vmap(jax.grad(lambda w, y, s: function(y, s, w)))
        gradients = by_rows(jnp.asarray(weights), ys, scores)
        values = jax.jit(jax.vmap(function))(ys, scores, weights)
    assert np.isnan(values[2:]).all()
    assert np.isnan(gradients[2:]).all()
    for row in range(2):
        # JAX has made the scores numbers of 32 bits
        as_given = scores[row].astype(np.float32)
        expected = by_numpy(name, ys[row], as_given, np.ones(N))
        np.testing.assert_allclose(values[row], expected[0], rtol=2e-7)
        np.testing.assert_allclose(gradients[row], expected[1], rtol=0, atol=2e-8)


@pytest.mark.parametrize("name", NAMES)
def test_weights_alone_can_be_traced(name):
    """While a function is traced, JAX computes nothing of arrays that are known unless asked to."""
    weights = WEIGHTS["real"]
    n, y, scores = (2, Y > 0, SCORES[:, 0]) if name == "average_precision" else (K, Y, SCORES)
    y, scores = jnp.asarray(y, int), jnp.asarray(scores)
    function = partial(getattr(functional, name), n_classes=n)
    found = jax.jit(lambda w: function(y, scores, w))(weights)
    assert found == pytest.approx(function(y, scores, weights))
    if n == K:
        wrong = scores.at[2, 0].set(np.inf)
        with pytest.raises(ValueError, match="scores must be finite, but row 2"):
            jax.jit(lambda w: function(y, wrong, w))(weights)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["accuracy", "hand_till"])
def test_second_derivatives_are_the_same_in_32_bits(name):
    function = getattr(functional, name)
    gradient = jax.grad(lambda w: function(Y, SCORES, w, n_classes=K))
    expected = differences(gradient, WEIGHTS["real"])
    with jax.enable_x64(False):
        weights = jnp.asarray(WEIGHTS["real"])
        found = jax.jit(jax.jacrev(gradient))(weights)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_integers_and_extreme_weights_are_taken_as_they_are():
    whole = (1e17 * SCORES).astype(np.int64)
    ones = np.ones(N)
    expected = functional.hand_till(Y, SCORES, n_classes=K)
    with jax.enable_x64(False):
        found = functional.hand_till(Y, whole, n_classes=K)
        np.testing.assert_allclose(found, expected, rtol=1e-7)
        short = functional.dmf_auc(Y, jnp.asarray(SCORES, jnp.bfloat16), n_classes=K)
    np.testing.assert_allclose(short, functional.dmf_auc(Y, SCORES, n_classes=K), atol=0.02)
    for size in (1e-250, 1e250):
        for function in (functional.hand_till, functional.dmf_auc):
            found = jax.value_and_grad(lambda w, f=function: f(Y, SCORES, w, n_classes=K))
            (value, slope), (at_one, slope_at_one) = found(size * ones), found(ones)
            np.testing.assert_allclose(value, at_one, rtol=1e-12)
            np.testing.assert_allclose(size * slope, slope_at_one, rtol=1e-9, atol=1e-15)


def test_rates_that_cannot_be_checked_give_nan():
    rates = np.array([[[0.4, 0.8], [0.1, 0.3]]] * 3)
    area = jax.jit(lambda *arguments: functional.center(*arguments).auc)
    assert np.isfinite(area(rates, 1.0, 1.0))
    for wrong in ((2 * rates, 1.0, 1.0), (rates, -1.0, 1.0), (rates, 1.0, -1.0)):
        assert np.isnan(area(*wrong))


@pytest.mark.parametrize("name", NAMES)
def test_scores_have_a_derivative_or_an_error(name):
    function = jax.grad(lambda s: getattr(functional, name)(Y, s, n_classes=K))
    if name in ("brier_score", "log_loss"):
        weights = np.ones(N) / N
        is_own = np.eye(K)[Y]
        slope = SCORES - is_own if name == "brier_score" else -is_own / SCORES
        np.testing.assert_allclose(function(SCORES), weights[:, None] * slope, atol=1e-15)
    else:
        with pytest.raises(TypeError, match="scores have no derivative"):
            function(SCORES)
        with pytest.raises(TypeError, match="scores have no derivative"):
            jax.jit(function)(SCORES)


@pytest.mark.slow
@pytest.mark.parametrize("pair_weights", ["equal", "prevalence", "costs", "two"])
def test_the_curve_is_that_of_numpy(pair_weights):
    costs = np.array([[np.nan, 1, 2], [3, np.nan, 1], [1, 4, np.nan]])
    options = {"costs": costs, "two": (np.ones((K, K)), np.arange(9.0).reshape(K, K))}
    pair_weights = options.get(pair_weights, pair_weights)
    options = {"pair_weights": pair_weights, "n_thresholds": 9, "shrinkage": 0.3}
    for pool, weights in (("balanced", WEIGHTS["whole"]), ("pooled", WEIGHTS["real"])):
        expected = dmfroc.multiclass_roc(
            Y, TIED, sample_weight=weights, threshold_pool=pool, **options
        )
        found = functional.multiclass_roc(
            Y, TIED, weights, n_classes=K, threshold_pool=pool, **options
        )
        for field in set(found._fields) - {"cell_weights", "converged", "n_iter"}:
            # Logits of rates within 1e-13 of 1 are not determined any better
            both = (np.clip(getattr(x, field), -30, 30) for x in (found, expected))
            np.testing.assert_allclose(*both, rtol=1e-6, atol=1e-10, err_msg=field)
        assert found.converged


DATA = {
    "NumPy": lambda x: x,
    "JAX": jnp.asarray,
    "lists": lambda x: np.asarray(x).tolist(),
}


@pytest.mark.slow
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("traced", ["weights", "pair_weights", "shrinkage", "threshold_weights"])
def test_every_argument_may_be_traced_beside_every_kind_of_data(data, traced):
    y, scores = DATA[data](Y), DATA[data](SCORES)
    of_all = {"weights": DATA[data](WEIGHTS["real"]), "shrinkage": 0.5}
    of_all |= {"pair_weights": DATA[data](np.arange(1.0, 10).reshape(K, K))}
    of_all["threshold_weights"] = of_all["weights"]
    argument = jnp.asarray(of_all[traced])

    def area(x, function):
        found = function(y, scores, n_classes=K, **of_all | {traced: x})
        return getattr(found, "auc", found)

    for function in (functional.dmf_auc, functional.multiclass_roc):
        gradient = jax.grad(area)(argument, function)
        compiled = jax.jit(jax.grad(area), static_argnums=1)(argument, function)
        np.testing.assert_allclose(compiled, gradient, rtol=0, atol=1e-7)
        if traced == "threshold_weights":
            assert not np.any(gradient)
            continue
        direction = jnp.cos(jnp.arange(argument.size)).reshape(argument.shape) * argument
        higher, lower = (area(argument + h * direction, function) for h in (1e-4, -1e-4))
        slope = float((gradient * direction).sum())
        assert slope == pytest.approx(float(higher - lower) / 2e-4, rel=1e-4, abs=1e-7)
        assert abs(slope) > 1e-6


def test_wrong_data_are_told_if_another_argument_is_traced():
    wrong = jnp.asarray(SCORES).at[0, 0].set(np.nan)
    for given in (wrong, np.asarray(wrong)):
        with pytest.raises(ValueError, match="scores must be finite"):
            jax.grad(lambda x, s=given: functional.dmf_auc(Y, s, n_classes=K, shrinkage=x))(0.5)


@pytest.mark.parametrize("preset", ["paper", "unweighted"])
@pytest.mark.parametrize("weights", ["equal", np.arange(1.0, 10).reshape(K, K)])
def test_presets_are_those_of_the_host(preset, weights):
    options = {"preset": preset, "pair_weights": weights}
    expected = dmfroc.dmf_auc_score(Y, SCORES, sample_weight=WEIGHTS["real"], **options)
    found = functional.dmf_auc(Y, SCORES, WEIGHTS["real"], n_classes=K, **options)
    assert found == pytest.approx(expected, abs=1e-6)
    with pytest.raises(ValueError, match="leave one of the two out"):
        functional.dmf_auc(Y, SCORES, n_classes=K, shrinkage=0.7, **options)


@pytest.mark.slow
def test_derivatives_of_the_area_are_differences():
    matrices = np.arange(1.0, 10).reshape(K, K), np.arange(9.0, 0, -1).reshape(K, K)
    weights = WEIGHTS["real"]

    @jax.jit
    def area(w, shrinkage, tpr_weights, fpr_weights):
        return functional.dmf_auc(
            Y,
            SCORES,
            w,
            n_classes=K,
            n_thresholds=9,
            shrinkage=shrinkage,
            pair_weights=(tpr_weights, fpr_weights),
            threshold_weights=weights,
        )

    arguments = [weights, 0.7, *matrices]
    found = jax.jit(jax.grad(area, argnums=(0, 1, 2, 3)))(*arguments)
    for place, x in enumerate(arguments):

        def moved(x, place=place):
            return area(*arguments[:place], x, *arguments[place + 1 :])

        expected = differences(moved, x)
        assert np.abs(expected).max() > 1e-4  # there is something to be wrong about
        np.testing.assert_allclose(found[place], expected, atol=1e-8)


@pytest.mark.slow
def test_derivatives_of_the_center_are_differences():
    generator = np.random.default_rng(1)
    logits = np.sort(generator.normal([[1], [-1]], size=(4, 2, 3)), axis=-1)
    rates = 1 / (1 + np.exp(-logits))
    weights = generator.random((4, 2, 1)) + 0.5

    @jax.jit
    def numbers(rates, weights, shrinkage):
        found = functional.center(rates, weights, shrinkage)
        effects = found.threshold_effect.ravel(), found.pair_effect, found.fpr, found.tpr
        return jnp.concatenate([*effects, found.auc[None], found.deviance[None]])

    for shrinkage in (0.5, 0.0):
        arguments = [rates, weights, shrinkage]
        found = jax.jit(jax.jacrev(numbers, argnums=(0, 1, 2)))(*arguments)
        for place, x in enumerate(arguments):
            if place == 2 and shrinkage == 0:
                continue

            def moved(x, place=place, arguments=arguments):
                return numbers(*arguments[:place], x, *arguments[place + 1 :])

            expected = differences(moved, x, 1e-5)
            assert np.abs(expected).max() > 1e-2
            np.testing.assert_allclose(found[place], expected, atol=2e-6)
    # The derivative at no shrinkage is that of the right-hand side, not 0
    moved = (numbers(rates, weights, 2e-5) - numbers(rates, weights, 1e-5)) / 1e-5
    np.testing.assert_allclose(found[2], moved, rtol=1e-2, atol=1e-3)


@pytest.mark.slow
def test_second_derivatives_of_the_center_are_differences():
    rates = np.linspace(0.1, 0.9, 12).reshape(2, 2, 3)
    gradient = jax.jit(jax.grad(lambda r: functional.center(r, shrinkage=1.0).auc))
    found = jax.jit(jax.jacrev(gradient))(rates)
    # The fit ends at a gradient of 1e-9, which differences of small steps would see
    expected = differences(lambda r: gradient(r).ravel(), rates, 3e-4).reshape(found.shape)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_single_precision_of_the_user_changes_the_type_alone():
    expected = functional.dmf_auc(Y, SCORES, n_classes=K)
    with jax.enable_x64(False):
        function = jax.jit(lambda w: 2 * functional.dmf_auc(Y, SCORES, w, n_classes=K) * w.sum())
        value, gradient = jax.value_and_grad(function)(jnp.ones(N))
        found = functional.dmf_auc(Y, SCORES, n_classes=K)
    assert {x.dtype for x in (found, value, gradient)} == {np.dtype(np.float32)}
    assert np.float32(expected) == np.asarray(found)
    np.testing.assert_allclose(value, 2 * N * expected, rtol=1e-6)


class Tensor:
    """An array that nothing but DLPack can read, as one on a GPU."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tensors_of_other_libraries_are_read_where_they_are(dtype):
    scores = SCORES.astype(dtype)
    found = functional.hand_till(Tensor(Y), Tensor(scores), Tensor(np.ones(N)), n_classes=K)
    assert found == functional.hand_till(Y, scores, n_classes=K)
    scores[3, 1] = np.inf
    with pytest.raises(ValueError, match="scores must be finite, but row 3"):
        functional.hand_till(Tensor(Y), Tensor(scores), n_classes=K)


TYPES = ["float16", ml_dtypes.bfloat16, "float32", "float64", "longdouble"]
TYPES += ["bool", "int8", "uint8", "int64"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_scores_of_any_type_have_the_value_of_estimate(name):
    """Sevenths tie as fractions, whatever digits a type has; half precision is single."""
    sevenths = np.random.default_rng(3).multinomial(7, np.ones(K) / K, N)
    function = partial(getattr(functional, name), n_classes=K)
    for dtype in TYPES:
        is_float = np.dtype(dtype).kind not in "biu"
        given = sevenths / 7 if is_float else sevenths == sevenths.max(axis=1, keepdims=True)
        scores = (given if is_float or dtype == "bool" else sevenths).astype(dtype)
        try:
            expected = dmfroc.estimate(name, Y, scores).value
        except ValueError as error:
            assert "needs probabilities" in str(error)  # noqa: PT017
            with pytest.raises(ValueError, match="needs probabilities"):
                function(Y, scores)
        else:
            weights = np.ones(N).astype(dtype)
            assert function(Y, scores, weights) == pytest.approx(expected, abs=2e-7), dtype


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8"])
def test_one_column_of_small_integers_is_not_wrapped(dtype):
    y, scores = np.array([0, 0, 1, 1]), np.array([0, -128, 1, 0]).astype(dtype)
    found = functional.hand_till(y, scores, n_classes=2)
    assert found == pytest.approx(dmfroc.hand_till_score(y, scores.astype(float)))


def test_a_perfect_classifier_has_the_area_one_and_no_error():
    found = functional.estimate(functional.dmf_auc, Y, np.eye(K)[Y], n_classes=K)
    np.testing.assert_allclose(found, [1, 0], atol=1e-9)


@pytest.mark.slow
def test_all_measures_have_a_form_or_an_error():
    predictions = as_predictions(Y, SCORES)
    n_forms = 0
    for measure in measures.MEASURES.values():
        if not measure.applies_to(predictions):
            continue
        function = partial(functional.value, measure, Y, SCORES, n_classes=K)
        try:
            n_forms += jax.eval_shape(function).shape == ()
        except ValueError as error:
            assert "has no form in JAX" in str(error)  # noqa: PT017
    assert n_forms > 40
    for name in ("brier_skill_score", "cohen_kappa", "gini", "precision_recall_gain_area"):
        measure = measures.MEASURES[name]
        found = functional.value(measure, Y, SCORES, WEIGHTS["real"], n_classes=K)
        weighted = as_predictions(Y, SCORES, sample_weight=WEIGHTS["real"])
        [expected] = bind(measure, weighted).values(WEIGHTS["real"])
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)


def both_parts(influence, y):
    """Return the standard error within classes and of their sizes."""
    sizes, totals = np.bincount(y), np.bincount(y, influence)
    centred = influence - (totals / sizes)[y]
    within = np.bincount(y, centred**2) * sizes / (sizes - 1)
    return np.sqrt(within.sum() + (totals**2 / sizes).sum())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dmf_auc", "hand_till", "accuracy", "one_vs_rest_auc"])
def test_standard_errors_are_those_of_estimate(name):
    function = getattr(functional, name)
    ys = np.stack([Y, np.roll(Y, 1), np.roll(Y, 2)])
    many = functional.estimate_many(function, ys, np.stack([SCORES] * 3), n_classes=K, batch_size=2)
    for row, y in enumerate(ys):
        expected = dmfroc.estimate(name, y, SCORES)
        np.testing.assert_allclose(many.value[row], expected.value, atol=1e-12)
        error = both_parts(dmfroc.extend.influences(name, y, SCORES), y)
        np.testing.assert_allclose(many.standard_error[row], error, atol=1e-10)
        # In one stratum, where observations of all classes cost alike: a difference of order 1 / n
        np.testing.assert_allclose(error, expected.standard_error, rtol=2 / len(y))


def test_weights_and_single_observations_in_estimates():
    weights = WEIGHTS["whole"] / 3
    expected = dmfroc.estimate("accuracy", Y, SCORES, sample_weight=weights)
    found = functional.estimate(functional.accuracy, Y, SCORES, weights, n_classes=K)
    influence, counts = (
        dmfroc.extend.influences("accuracy", Y, SCORES, sample_weight=weights),
        weights > 0,
    )
    np.testing.assert_allclose(
        found, [expected.value, both_parts(influence[counts], Y[counts])], atol=1e-12
    )
    alone = np.where(np.arange(N) == 0, 2, Y % 2)
    few = functional.estimate_many(
        functional.hand_till, np.stack([alone, Y]), np.stack([SCORES] * 2), n_classes=K
    )
    assert np.isnan(few.standard_error).tolist() == [True, False]


def test_the_area_is_a_factor_of_a_model():
    """NumPyro differentiates it: the gradient of the log density is that of differences."""
    fpr = np.linspace(0.1, 0.9, 5)

    def model():
        power = numpyro.sample("power", distributions.Beta(2, 2).expand([3]).to_event(1))
        rates = jnp.stack([fpr ** power[:, None], jnp.broadcast_to(fpr, (3, 5))], axis=1)
        numpyro.factor("area", 20 * functional.center(rates).auc)

    @jax.jit
    def log_density(power):
        return infer.util.log_density(model, (), {}, {"power": power})[0]

    start = np.array([0.2, 0.4, 0.6])
    found = jax.jit(jax.grad(log_density))(start)
    np.testing.assert_allclose(found, differences(log_density, start), atol=1e-5)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"y": Y[:, None]}, r"integers of shape \(n,\)"),
        ({"y": Y + 1.0}, "integers"),
        ({"y": Y + 1}, "row .* holds 3"),
        ({"scores": SCORES[:, :2]}, r"scores must be real numbers of shape \(24, 3\)"),
        ({"scores": np.where(Y[:, None] > 1, np.nan, SCORES)}, "scores must be finite, but row"),
        ({"weights": -np.ones(N)}, "weights must be finite"),
        ({"weights": np.ones(3)}, r"weights must have shape \(24,\)"),
        ({"weights": (Y > 0) * 1.0}, "class 0 has no observation"),
        ({"n_classes": 1}, "n_classes"),
        ({"threshold_weights": np.ones(3)}, r"threshold_weights must have shape \(24,\)"),
        ({"shrinkage": -1.0}, "shrinkage must be finite"),
        ({"n_thresholds": 0}, "n_thresholds"),
        ({"pair_weights": "none"}, "pair_weights"),
        ({"pair_weights": np.ones((2, 2))}, "pair_weights must be"),
        ({"threshold_pool": "none"}, "threshold_pool"),
    ],
)
def test_errors_name_the_argument(change, match):
    arguments = {"y": Y, "scores": SCORES, "weights": None, "n_classes": K} | change
    with pytest.raises((ValueError, TypeError), match=match):
        functional.dmf_auc(**arguments)


def test_errors_of_other_functions():
    with pytest.raises(ValueError, match="rates must have shape"):
        functional.center(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"rates must be in \[0, 1\]"):
        functional.center(np.full((2, 2, 3), 2.0))
    with pytest.raises(ValueError, match="q, T >= 1"):
        functional.center(np.ones((2, 2, 0)))
    with pytest.raises(TypeError, match="n_classes must not be traced"):
        jax.jit(functional.dmf_auc)(Y, SCORES, n_classes=K)
    with pytest.raises(ValueError, match="y_pred must lie between"):
        functional.accuracy(Y, y_pred=Y + 1, n_classes=K)
    with pytest.raises(ValueError, match=r"y_pred must have shape \(\d+,\), not \(1,\)"):
        functional.accuracy(Y, y_pred=Y[:1], n_classes=K)
    with pytest.raises(TypeError, match=r"functional\.value"):
        functional.estimate(measures.gini(), Y > 0, SCORES[:, 1], n_classes=2)
    with pytest.raises(ValueError, match="do not broadcast"):
        functional.center(np.ones((2, 2, 3)), np.ones(4))
    with pytest.raises(ValueError, match="n_thresholds"):
        functional.dmf_auc(Y > 0, SCORES[:, 1], n_classes=2, n_thresholds=0)
    with pytest.raises(ValueError, match="at least 3"):
        functional.multiclass_roc(Y > 0, SCORES[:, 1], n_classes=2)
    with pytest.raises(ValueError, match="needs probabilities"):
        functional.log_loss(Y, SCORES * 2, n_classes=K)
    with pytest.raises(TypeError, match="scores or y_pred"):
        functional.accuracy(Y, n_classes=K)
    with pytest.raises(ValueError, match="no form in JAX"):
        functional.value(measures.vus(), Y, SCORES, n_classes=K)
    with pytest.raises(ValueError, match="leave n_pairs out"):
        functional.value(measures.dmf_auc(n_pairs=2), Y, SCORES, n_classes=K)
    with pytest.raises(TypeError, match="hashable"):
        functional.estimate_many(
            functional.dmf_auc, Y[None], SCORES[None], n_classes=K, pair_weights=np.ones((K, K))
        )
    with pytest.raises(ValueError, match="shapes"):
        functional.estimate_many(functional.dmf_auc, Y, SCORES, n_classes=K)


@pytest.mark.parametrize(
    ("name", "n_sorts", "most"),
    [("hand_till", 1, 2), ("one_vs_rest_auc", 1, 2), ("auc_mu", 2, 2), ("dmf_auc", 1, 9)],
)
def test_programs_sort_once_and_hold_few_numbers_for_each_score(name, n_sorts, most):
    n, n_classes = 6000, 40
    program = jax.jit(partial(getattr(functional, name), n_classes=n_classes))
    shapes = [jax.ShapeDtypeStruct(s, t) for s, t in (((n,), "i4"), ((n, n_classes), "f4"))]
    text = program.lower(*shapes).as_text()
    assert text.count("stablehlo.sort") == n_sorts
    sizes = [
        math.prod(map(int, re.findall(r"(\d+)x", found)))
        for found in re.findall(r"tensor<((?:\d+x)+)", text)
    ]
    assert max(sizes) <= most * n * n_classes


def test_tables_of_many_classes_are_made_by_parts(monkeypatch):
    n = n_classes = 64
    monkeypatch.setattr(counts, "_AT_ONCE", (16 * n, 16 * n))
    shapes = [jax.ShapeDtypeStruct(s, t) for s, t in (((n,), "i4"), ((n, n_classes), "f4"))]
    estimate = partial(functional.estimate, functional.hand_till, n_classes=n_classes)
    text = jax.jit(estimate).lower(*shapes).compile().as_text()
    assert len(re.findall(r" sort\(", text)) == 2  # a loop for the value, and one for the slope
    assert not re.findall(rf"f64\[(?:\d+,)*{n_classes},{n_classes}\]", text)


@pytest.mark.parametrize("name", ["one_vs_rest_auc", "average_precision"])
def test_many_scores_are_counted_in_parts(monkeypatch, name):
    y, scores = Y[1:], TIED[1:]  # a shape without a compiled program
    monkeypatch.setattr(counts, "_AT_ONCE", (2 * N, 2 * N))
    with jax.enable_x64(True):
        found = functional.estimate(getattr(functional, name), y, scores, n_classes=K)
    bound = bind(getattr(measures, name)(), as_predictions(y, scores))
    [value], [slope] = bound.values_and_gradients(np.ones(N - 1))
    np.testing.assert_allclose(found.value, value)
    assert found.standard_error > 0
    with jax.enable_x64(True):
        weighted = partial(getattr(functional, name), y, scores, n_classes=K)
        np.testing.assert_allclose(jax.grad(weighted)(jnp.ones(N - 1)), slope, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("function", [functional.hand_till, functional.dmf_auc])
def test_checkpoints_and_shards_with_32_bits(function):
    def value(weights):
        return function(Y, SCORES, weights, n_classes=K)

    weights = jnp.asarray(np.stack([np.ones(N), GENERATOR.uniform(0.5, 2, N)]), np.float32)
    expected = [float(value(x)) for x in weights]
    np.testing.assert_allclose(jax.vmap(jax.checkpoint(value))(weights), expected, rtol=1e-6)
    gradients = jax.vmap(jax.grad(jax.checkpoint(value)))(weights)
    np.testing.assert_allclose(gradients[1], jax.grad(value)(weights[1]), atol=1e-7)
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("sets",))
    of_sets = jax.sharding.PartitionSpec("sets")
    sharded = jax.shard_map(jax.vmap(value), mesh=mesh, in_specs=of_sets, out_specs=of_sets)
    np.testing.assert_allclose(sharded(weights), expected, rtol=1e-6)


@pytest.mark.parametrize("derivative", [jax.hessian, jax.jacfwd])
def test_derivatives_forward_name_those_backward(derivative):
    def value(weights):
        return functional.hand_till(Y, SCORES, weights, n_classes=K)

    with pytest.raises(TypeError, match=r"take jax.jacrev\(jax.grad\(f\)\)"):
        derivative(value)(jnp.ones(N))
    second = jax.jacrev(jax.grad(value))(jnp.ones(N))
    np.testing.assert_allclose(second, second.T, atol=1e-6)
    # Weights times any number have the same value: the slope falls in proportion
    np.testing.assert_allclose(second.sum(axis=0), -jax.grad(value)(jnp.ones(N)), atol=1e-6)
