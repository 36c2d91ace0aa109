"""Every statistic adds up over observations, and its pull-back is its derivative."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from simulations import normal_scores

from dmfroc import Predictions
from dmfroc._kit.compiled import in_double_precision
from dmfroc.measures.measure import WithOptions
from dmfroc.measures.statistics.confusion import confusion_counts
from dmfroc.measures.statistics.curves import curve_counts
from dmfroc.measures.statistics.pairs import pair_counts, pair_counts_of
from dmfroc.measures.statistics.projections import projected_pair_counts
from dmfroc.measures.statistics.tuples import nominal_triple_counts, ordered_counts
from dmfroc.multiclass.rates import CurveOptions

STATISTICS = {
    "confusion": confusion_counts,
    "curves": curve_counts,
    "pairs": pair_counts,
    "pairs of one column": lambda predictions: pair_counts_of(predictions, np.array([1])),
    "projections": projected_pair_counts,
    "projections of costs": WithOptions(
        projected_pair_counts, partition=((0.0, 1.0, 5.0), (2.0, 0.0, 1.0), (1.0, 4.0, 0.0))
    ),
    "rates": CurveOptions(n_thresholds=9),
    "ordered combinations": ordered_counts,
    "nominal triples": nominal_triple_counts,
}
# How often a table holds the weights: as sums, as products of two or of three of them.
DEGREES = {
    "won": {"pairs": 2, "pairs of one column": 2, "projections": 2, "projections of costs": 2}
    | {"ordered combinations": 3, "nominal triples": 3}
}
each_statistic = pytest.mark.parametrize("name", STATISTICS)
CONSTANT = {"cell_weights", "shrinkage", "values"}  # numbers of the table that are no counts


def bound(name, rounding=1):
    classes, scores = normal_scores(3, 40, 3, prior=[0.5, 0.3, 0.2])
    predictions = Predictions.from_arrays(classes, np.round(scores, rounding))
    return STATISTICS[name](predictions)


def variables(table):
    """Return the arrays of a table that depend on the weights."""
    return {
        field: x
        for field, x in table._asdict().items()
        if np.asarray(x).dtype.kind == "f" and np.ndim(x) > 0 and field not in CONSTANT
    } | ({"won": table.won} if "won" in table._fields else {})


def random_weights(seed=4):
    return np.random.default_rng(seed).uniform(0.2, 2, size=40)


@each_statistic
def test_scaled_weights_scale_the_table(name):
    statistic, weights = bound(name), random_weights()
    once, thrice = (variables(statistic.count(x, np)) for x in (weights, 3 * weights))
    for field, counts in once.items():
        degree = DEGREES.get(field, {}).get(name, 1)
        np.testing.assert_allclose(thrice[field], 3**degree * counts, rtol=1e-12)


@pytest.mark.parametrize("name", ["confusion", "curves", "rates"])
def test_adding_observations_adds_to_the_table(name):
    statistic, one, other = bound(name), random_weights(5), random_weights(6)
    first, second, both = (variables(statistic.count(x, np)) for x in (one, other, one + other))
    for field, counts in both.items():
        np.testing.assert_allclose(counts, first[field] + second[field], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("rounding", [0, 8])
@each_statistic
def test_pull_back_is_the_derivative(name, rounding):
    statistic, weights = bound(name, rounding), random_weights()
    table = statistic.count(weights, np)
    generator = np.random.default_rng(7)
    directions = {f: generator.normal(size=np.shape(x)) for f, x in variables(table).items()}

    def along(weights, xp):
        counts = statistic.count(weights, xp)
        return sum((getattr(counts, f) * d).sum() for f, d in directions.items())

    derivatives = table._replace(
        **{f: np.zeros_like(getattr(table, f)) for f in CONSTANT & set(table._fields)},
        **{f: np.asarray(d) for f, d in directions.items()},
    )
    found = statistic.pull_back(weights, table, derivatives)
    if statistic.is_compiled:
        with in_double_precision():
            value, gradient = jax.value_and_grad(lambda w: along(w, jnp))(jnp.asarray(weights))
            assert float(value) == pytest.approx(along(weights, np), rel=1e-12)
            expected = np.asarray(gradient)
    else:
        shifts = 1e-4 * np.eye(40)  # of a polynomial of the third degree, but linear in each
        rises = [along(weights + s, np) - along(weights - s, np) for s in shifts]
        expected = np.array(rises) / 2e-4
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * scale)
