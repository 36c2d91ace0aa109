"""Short paths show the same curves, and colours can be read."""

import base64
import io

import matplotlib.image
import numpy as np
import pytest

from dmfroc.reports.shapes import colors, path, picture, shade, thinned, zoom_of


def curve(n, power):
    x = np.linspace(0, 1, n)
    return x, x**power


def test_short_curves_are_drawn_whole():
    x, y = curve(400, 0.3)
    assert thinned(x, y).tolist() == list(range(400))


def test_long_curves_stay_within_a_line_of_themselves():
    x, y = curve(100_001, 0.2)
    points = thinned(x, y)
    assert len(points) <= 400
    assert points[[0, -1]].tolist() == [0, 100_000]
    assert np.abs(np.interp(x, x[points], y[points]) - y).max() < 1.5 * 2 / 400


def test_enlarged_corners_have_points_of_their_own():
    x, y = curve(100_001, 0.2)
    points = thinned(x, y, side=0.5)
    assert 300 < len(points) <= 400
    inside = (x[points] <= 0.5) & (y[points] >= 0.5)
    assert inside.sum() >= len(points) - 2


@pytest.mark.parametrize(
    ("knee", "side"),
    [((0.5, 0.6), 1.0), ((0.15, 0.9), 0.5), ((0.01, 0.985), 0.05), ((0.0, 1.0), 0.01)],
)
def test_zoom(knee, side):
    x, y = np.array([0.0, knee[0], 1]), np.array([0.0, knee[1], 1])
    assert zoom_of([(x, y)]) == side


def test_paths_point_upwards():
    assert path(np.array([0, 0.5, 1]), np.array([0, 1.0, 1]), 100.0) == "M0,100 50,0 100,0"


def contrast(a, b):
    def luminance(color):
        rgb = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    high, low = sorted([luminance(a), luminance(b)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_text_contrasts_with_every_colour():
    for share in np.linspace(0, 1, 101):
        background, text = shade(float(share))
        text = {"#000": "#000000", "#fff": "#ffffff"}[text]
        assert contrast(background, text) >= 4.5


def test_pictures_hold_the_colours():
    rgb = colors(np.array([[0.0, 0.5], [1.0, np.nan]]))
    data = base64.b64decode(picture(rgb).split(",")[1])
    read = matplotlib.image.imread(io.BytesIO(data), format="png")
    np.testing.assert_allclose(read[..., :3] * 255, rgb, atol=1e-4)
