"""Local regression: by hand, by exact arithmetic, and for scores with any number of ties."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dmfroc import curves


def test_loess_reproduces_polynomials_of_its_degree():
    x = np.random.default_rng(0).random(60)
    at = np.array([0.0, 0.3, 1.2])
    assert curves.loess(x, 2 - 3 * x, at).fitted == pytest.approx(2 - 3 * at)
    parabola = curves.loess(x, x**2 - x, at, degree=2, span=0.4).fitted
    assert parabola == pytest.approx(at**2 - at)


def test_loess_by_least_squares():
    rng = np.random.default_rng(3)
    x, y, w = rng.integers(0, 30, 80) / 30, rng.random(80), rng.integers(0, 3, 80) / 2
    at = np.array([0.0, 0.21, 0.5, 0.9])
    for degree in (1, 2):
        fit = curves.loess(x, y, at, span=0.5, degree=degree, sample_weight=w)
        used = w > 0
        k = int(0.5 * used.sum())
        assert fit.n_neighbors == k
        for point, value in zip(at, fit.fitted, strict=True):
            distance = np.abs(x[used] - point)
            width = np.sort(distance)[k - 1]
            local = np.where(distance < width, (1 - (distance / width) ** 3) ** 3, 0) * w[used]
            coefficients = np.polynomial.polynomial.polyfit(
                x[used] - point, y[used], degree, w=np.sqrt(local)
            )
            assert value == pytest.approx(coefficients[0])


def test_loess_where_neighbours_are_tied():
    x, y = [0.5] * 6 + [0.9], [0, 1, 0, 0, 1, 0, 1]
    assert curves.loess(x, y, [0.5], span=0.6).fitted == pytest.approx([1 / 3])
    # The neighbours with a weight are tied, but the farthest is not
    assert curves.loess(x, y, [0.6], span=1.0).fitted == pytest.approx([1 / 3])
    # All neighbours are equally far, and so have no weight
    assert curves.loess([0, 0, 1, 1, 5], [0, 1, 1, 1, 9], [0.5], span=0.9).fitted == 0.75
    # Degree 2 needs three distinct values with a weight: through two there is a line
    two = curves.loess([0, 0, 1, 4], [0, 1, 1, 9], [0.1], span=1.0, degree=2).fitted
    assert two == pytest.approx([0.55])
    assert curves.loess([0.2], [1.0], [0.7]).fitted == pytest.approx([1.0])


def test_a_neighbour_at_the_edge_has_no_weight():
    """Rounding puts the farthest a little within the neighbourhood."""
    curve = curves.loess_calibration_curve([0, 1, 1, 0], [0.7, 0.7, 0.9, 0.7], at=[0.3], span=1.0)
    assert curve.y == pytest.approx([1 / 3])
    # 0.4 is as far from 0.3 as from 0.5, though their differences are not the same number
    assert curves.loess([0.3, 0.5], [0, 1], [0.4], span=1.0).fitted == pytest.approx([0.5])


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("axes", ["standard", "vuk_curk"])
def test_a_calibration_curve_is_a_probability(degree, axes):
    """Between few distinct probabilities a line through two close ones goes far astray."""
    y = [0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1]
    p = [0.29, 0.29, 0.31, 0.93, 0.31, 0.93, 0.31, 0.93, 0.31, 0.93, 0.93, 0.31, 0.93]
    curve = curves.loess_calibration_curve(y, p, degree=degree, axes=axes)
    for values in (curve.x, curve.y):
        assert values.min() >= 0
        assert values.max() <= 1
    raw = curves.loess(p, np.array(y, float), curve.thresholds, degree=degree).fitted
    assert raw.max() > 2
    assert 0 < np.mean((raw >= 0) & (raw <= 1)) < 1


def solve(matrix, right_side):
    """Return the first unknown, by elimination in fractions."""
    rows = [[*row, right] for row, right in zip(matrix, right_side, strict=True)]
    for i in range(len(rows)):
        pivot = next(r for r in range(i, len(rows)) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(len(rows)):
            factor = rows[r][i] / rows[i][i] if r != i else 0
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    return rows[0][-1] / rows[0][0]


def exact_loess(x, y, w, point, n_neighbors, degree):
    """Return the fit of the definition, and how many distinct x it rests on, by fractions."""
    x, y, w, point = map(Fraction, x), map(Fraction, y), map(Fraction, w), Fraction(point)
    cases = [(abs(a - point), a - point, b, c) for a, b, c in zip(x, y, w, strict=True)]
    width = sorted(cases)[n_neighbors - 1][0]
    local = [(a, b, c * (1 - (d / width) ** 3) ** 3) for d, a, b, c in cases if d < width]
    n_distinct = len({a for a, _, _ in local})
    if not local:
        local = [(Fraction(0), b, c) for d, _, b, c in cases if d == width]
    powers = range(max(min(degree, n_distinct - 1), 0) + 1)
    fit = solve(
        [[sum(c * a ** (i + j) for a, _, c in local) for j in powers] for i in powers],
        [sum(c * b * a**i for a, b, c in local) for i in powers],
    )
    return float(fit), n_distinct


@st.composite
def tied(draw):
    """Return x of few values, y, positive weights, and where to fit: fractions of powers of two."""
    n, n_values = draw(st.integers(1, 15)), draw(st.sampled_from([1, 2, 4, 16]))
    x = draw(st.lists(st.integers(0, n_values), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    w = draw(st.lists(st.sampled_from([1, 2, 0.5, 2**-30]), min_size=n, max_size=n))
    point = draw(st.integers(-32, 96)) / 64
    return np.array(x) / n_values, np.array(y, float), np.array(w, float), point


spans, degrees = st.sampled_from([0.3, 0.75, 1.0]), st.sampled_from([1, 2])


@given(tied(), spans, degrees)
def test_any_number_of_ties(sample, span, degree):
    """The fit is that of exact arithmetic; at one distinct x, the mean there, it is in [0, 1]."""
    x, y, w, point = sample
    fit = curves.loess(x, y, [point], span=span, degree=degree, sample_weight=w)
    expected, n_distinct = exact_loess(x, y, w, point, fit.n_neighbors, degree)
    assert fit.fitted == pytest.approx([expected], rel=1e-9, abs=1e-9)
    if n_distinct < 2:
        assert -1e-12 < fit.fitted[0] < 1 + 1e-12
    else:
        line = curves.loess(x, 2 - 3 * x, [point], span=span, degree=degree, sample_weight=w)
        assert line.fitted == pytest.approx([2 - 3 * point], abs=1e-9)


@given(tied(), spans, degrees, st.integers(0, 1000))
@example(  # the slope is that of an observation of hardly any weight
    (
        np.array([0, 0, 0, 0, 2, 1, 2]) / 16,
        np.eye(7)[6],
        np.array([1, 1, 1, 1, 1, 2**-30, 1]),
        5 / 32,
    ),
    0.75,
    1,
    1,
)
def test_x_that_differ_by_rounding_are_tied(sample, span, degree, seed):
    x, y, w, point = sample
    noise = np.random.default_rng(seed).integers(-4, 5, len(x)) * np.finfo(float).eps
    plain, noisy = (
        curves.loess(values, y, [point], span=span, degree=degree, sample_weight=w).fitted
        for values in (x, x * (1 + noise))
    )
    assert noisy == pytest.approx(plain, rel=1e-6, abs=1e-6)


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=12),
    st.floats(-1, 2),
    spans,
    degrees,
    st.integers(-12, 0),
)
def test_a_constant_is_fitted_by_itself(x, point, span, degree, exponent):
    """Also for the closest x, the smallest weights, and outside of the data."""
    weights = 10.0 ** (exponent * (np.arange(len(x)) % 3))
    fit = curves.loess(
        x, np.full(len(x), 0.3), [point], span=span, degree=degree, sample_weight=weights
    )
    assert fit.fitted == pytest.approx([0.3], abs=1e-6)
