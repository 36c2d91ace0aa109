"""How well each pair of classes is told apart, as a heat map."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from inspect import signature
from math import ceil
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.later import Axes, AxesImage, Text
from dmfroc._kit.text import legend_text
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.ranking import pairwise_auc_matrix
from dmfroc.plots._style import OWN_FIGURE_ID, ClassifierDisplay, Style, shortened

_MOST_VALUES, _MOST_TICKS = 12, 25  # classes
_LEAST_LETTERS = 4.5  # points, of a value in its cell
_SHORT = 3  # letters of names that fit beneath the map


def areas_of_pairs(predictions: Predictions) -> Float[np.ndarray, "k k"]:
    """Return A(i|j) of the pairs of classes that occur, and NaN elsewhere."""
    areas = pairwise_auc_matrix(predictions)
    is_absent = predictions.class_counts == 0
    areas[is_absent] = areas[:, is_absent] = np.nan
    np.fill_diagonal(areas, np.nan)
    return areas


class PairwiseAUCDisplay(ClassifierDisplay):
    """A heat map of A(i|j), how well score column i tells class i from class j.

    Build it with `from_predictions` or `from_estimator`; draw it again, or elsewhere, with `plot`.
    Dark cells are pairs that are mixed up; a dark row is a class whose own scores are weak, a dark
    column one that is taken for others.

    Parameters
    ----------
    areas : numpy.ndarray of shape (K, K)
        What `pairwise_auc_matrix` returns, NaN where there is no area.
    labels : sequence of length K
        The classes.

    Attributes
    ----------
    image_ : matplotlib.image.AxesImage
        The cells.
    texts_ : list of matplotlib.text.Text
        The values, if they were drawn.
    ax_, figure_ : matplotlib.axes.Axes, matplotlib.figure.Figure
        Where the map was drawn last.

    References
    ----------
    Hand and Till (2001), equation 3.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(3, size=300)
    >>> scores = rng.normal(size=(300, 3)) + 1.5 * np.eye(3)[y]
    >>> display = PairwiseAUCDisplay.from_predictions(y, scores)
    >>> [text.get_text() for text in display.texts_][:2]
    ['.843', '.854']
    """

    image_: AxesImage
    texts_: list[Text]

    def __init__(self, areas: Float[np.ndarray, "k k"], labels: Sequence[Hashable]) -> None:
        self.areas = areas
        self.labels = tuple(labels)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        ax: Axes | None = None,
        **image_kwargs: Any,
    ) -> PairwiseAUCDisplay:
        """Compute A(i|j) of all ordered pairs of classes, and draw them.

        Parameters
        ----------
        y_true, y_score, labels, sample_weight
            As for `pairwise_auc_matrix`.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        **image_kwargs
            As for `plot`.

        Returns
        -------
        PairwiseAUCDisplay
            Already drawn.

        Raises
        ------
        TypeError, ValueError
            As for `pairwise_auc_matrix`.
        """
        predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
        return cls(areas_of_pairs(predictions), predictions.labels).plot(ax, **image_kwargs)

    def plot(self, ax: Axes | None = None, **image_kwargs: Any) -> PairwiseAUCDisplay:
        """Draw the map; with the values in the cells of up to twelve classes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        **image_kwargs
            For `matplotlib.axes.Axes.imshow`; by default colours from 1/2, that of chance, to 1.

        Returns
        -------
        PairwiseAUCDisplay
            This display.
        """
        from matplotlib.axes import Axes
        from matplotlib.image import AxesImage

        chosen = self._checked(image_kwargs, AxesImage, signature(Axes.imshow).parameters)
        n_classes = len(self.labels)
        longest = max(len(legend_text(label)) for label in self.labels)
        is_long = longest > _SHORT and n_classes * longest > 40
        ax = self._draws_on(ax, 7.0 + 0.075 * longest * is_long, 6.0)
        defaults: Style = {"cmap": "cividis", "vmin": 0.5, "vmax": 1.0}
        self.image_ = ax.imshow(self.areas, **(defaults | chosen))
        side = min(ax.bbox.width, ax.bbox.height) / ax.figure.dpi * 72  # in points
        is_own = ax.figure.get_gid() == OWN_FIGURE_ID
        if is_own:
            self.figure_.set_layout_engine("compressed", w_pad=0.1)  # keeps labels of images inside
        else:  # it does not grow with the names, which leave this much to the map
            side *= 0.55
        size = min(8.0, 0.3 * side / n_classes)
        is_roomy = n_classes <= _MOST_VALUES and size >= _LEAST_LETTERS
        self.texts_ = self._draw_values(ax, size) if is_roomy else []
        most = min(_MOST_TICKS, int(side / 9))
        step = ceil(n_classes / most)
        step += -step % 5 if step > 1 and not is_long else 0  # 0, 5, 10 of numbered classes
        places = np.arange(0, n_classes, step)
        names = [legend_text(self.labels[place]) for place in places]
        numbers = [str(place + 1) for place in places]
        if is_long:
            names = [f"{name}  {number}" for name, number in zip(names, numbers, strict=True)]
        # A line of its own for each name, and beneath the map the width of a short one
        share = 0.75 if is_long else min(0.75, 1.6 / longest)
        letters = float(np.clip(share * side / len(places), 4, 10))
        if not is_own:
            names = [shortened(name, int(1.1 * side / letters)) for name in names]
        ax.set_xticks(places, numbers if is_long else names, fontsize=letters)
        ax.set_yticks(places, names, fontsize=letters)
        xlabel = "Reference class j" + "\n(numbered as on the left)" * is_long
        ax.set(xlabel=xlabel, ylabel="Class i, whose scores are used")
        ax.figure.colorbar(self.image_, ax=ax, label="A(i|j)", shrink=0.8)
        return self

    def _draw_values(self, ax: Axes, size: float) -> list[Text]:
        texts = []
        for (i, j), area in np.ndenumerate(self.areas):
            if np.isfinite(area):
                red, green, blue, _ = self.image_.cmap(self.image_.norm(area))
                is_light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
                text = f"{area:.3f}".removeprefix("0") if area < 1 else "1"
                text = ">.999" if text == "1.000" else text
                color = "black" if is_light else "white"
                texts.append(
                    ax.text(j, i, text, ha="center", va="center", color=color, fontsize=size)
                )
        return texts
