"""Upper hulls: every point is below, every vertex is needed, of one or of many curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dmfroc.measures.hull import upper_hull, upper_hulls

STEPS = hnp.arrays(np.int64, (3, 2, 12), elements=st.integers(0, 3))


def below(x, y, vertices):
    """Return how far the points lie below the chain of the vertices, from left to right."""
    heights = np.interp(x, x[vertices], y[vertices])
    # On a vertical edge every height up to its end is on the hull.
    of_x = [y[vertices][x[vertices] == a] for a in x]
    tops = [np.max(ends, initial=height) for ends, height in zip(of_x, heights, strict=True)]
    return np.array(tops) - y


@given(STEPS)
def test_hulls_of_many_curves(steps):
    x, y = (
        np.concatenate([np.zeros((3, 1), int), s.cumsum(axis=1)], axis=1)
        for s in (steps[:, 0], steps[:, 1])
    )
    found = upper_hulls(x, y)
    for a, b, vertices in zip(x, y, found, strict=True):
        assert vertices[0] == 0 or (a[vertices[0]], b[vertices[0]]) == (a[0], b[0])
        assert (a[vertices[-1]], b[vertices[-1]]) == (a[-1], b[-1])
        assert (below(a, b, vertices) >= -1e-9).all()
        distinct = vertices[np.append(True, np.diff(vertices) > 0)]
        run, rise = np.diff(a[distinct]), np.diff(b[distinct])
        # Slopes fall strictly: no vertex lies on the line between its neighbours.
        assert (rise[:-1] * run[1:] - rise[1:] * run[:-1] > 0).all()
        # The last is repeated where there are fewer than on another curve.
        assert (vertices[len(distinct) :] == distinct[-1]).all()


def test_hulls_keep_the_shape_of_the_curves():
    x = np.tile(np.arange(4.0), (2, 3, 1))
    y = np.sqrt(x)
    assert upper_hulls(x, y).tolist() == np.tile([0, 1, 2, 3], (2, 3, 1)).tolist()
    assert upper_hulls(x[0, 0], np.array([0, 0, 0, 3.0])).tolist() == [0, 3]


@pytest.mark.parametrize("n", [2, 3, 50, 5000])
@pytest.mark.parametrize("shape", ["line", "concave", "convex", "random"])
def test_one_hull(n, shape):
    x = np.arange(n)
    y = {
        "line": 3 * x,
        "concave": x * (2 * n - x),
        "convex": x**2,
        "random": np.random.default_rng(n).integers(1, 5, size=n).cumsum(),
    }[shape]
    vertices = upper_hull(x, y)
    assert vertices[0] == 0
    assert vertices[-1] == n - 1
    assert (np.diff(vertices) > 0).all()
    assert (below(x, y, vertices) >= -1e-9).all()
    if shape in ("line", "convex"):
        assert len(vertices) == 2
    if shape == "concave":
        assert len(vertices) == n
