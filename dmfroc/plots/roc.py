"""Display of ROC curves, one per class or pair of classes, with their bands."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from dmfroc import curves
from dmfroc.curves.cases import Cases, for_each_class
from dmfroc.curves.curve import Curve
from dmfroc.inputs.predictions import Predictions
from dmfroc.plots._base import CurveDisplay, Look
from dmfroc.plots._style import draw_band

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

    from dmfroc.inference.band import CurveBand


class ROCDisplay(CurveDisplay):
    """ROC curves, with lines of equal informedness, and bands and convex hulls on request.

    For one summarising curve of all classes see `MulticlassROCDisplay`. `from_predictions` and
    `from_estimator` have the options ``plot_band``, whether to compute and draw the bands by the
    method of `MulticlassROCDisplay` (False), and ``level``, their nominal coverage at each point
    (0.95).

    Parameters
    ----------
    curves : Curve or dict
        One curve, or curves by class or pair of classes.
    bands : CurveBand or dict, optional
        Their pointwise confidence bands, by the same names.
    name : str, optional
        Name of the classifier.

    Attributes
    ----------
    bands : dict
        The bands by class or pair of classes.
    bands_ : dict
        The bands as drawn.

    Examples
    --------
    >>> display = ROCDisplay.from_predictions([1, 1, 0, 0, 1], [0.9, 0.6, 0.5, 0.4, 0.4])
    >>> display.line_.get_label()
    'class 1: AUC 0.750'
    """

    bands_: dict[Hashable, PolyCollection]

    look = Look("AUC", "lower right", is_square=True, shares_isometrics=True)
    _options = ("plot_band", "level")
    _draws_hull = True

    def __init__(
        self,
        curves: Curve | Mapping[Hashable, Curve],
        bands: CurveBand | Mapping[Hashable, CurveBand] | None = None,
        *,
        name: str | None = None,
    ) -> None:
        super().__init__(curves, name=name)
        if bands is not None and not isinstance(bands, Mapping):
            bands = dict.fromkeys(self.curves, bands)
        self.bands: dict[Hashable, CurveBand] = dict(bands or {})

    @classmethod
    def _of_predictions(
        cls,
        predictions: Predictions,
        *,
        name: str | None,
        plot_band: bool = False,
        level: float = 0.95,
        **which: Any,
    ) -> ROCDisplay:
        bands = None
        if plot_band:
            bands = for_each_class(lambda cases: _band(cases, level), predictions, **which)
        return cls(curves.roc_curve(predictions, **which), bands, name=name)

    def _draw_curves(self, ax: Axes, *arguments: Any) -> None:
        super()._draw_curves(ax, *arguments)
        self.bands_ = {
            label: draw_band(ax, band, self.lines_[label].get_color())
            for label, band in self.bands.items()
        }


def _band(cases: Cases, level: float) -> CurveBand:
    """Return the band of one curve: with two classes the multiclass curve is the ROC curve."""
    from dmfroc.inference.band import curve_band  # here, because it waits for JAX

    predictions = Predictions.from_arrays(
        cases.is_positive.astype(int), cases.scores, sample_weight=cases.weights
    )
    return curve_band(predictions, level=level)
