"""Display of ROC curves, one per class or pair of classes, with their bands."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from dmfroc import curves
from dmfroc.curves.cases import Cases, for_each_class
from dmfroc.curves.curve import Curve
from dmfroc.plots._base import CurveDisplay, Look
from dmfroc.predictions import Predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

    from dmfroc.uncertainty.band import CurveBand


class ROCDisplay(CurveDisplay):
    """ROC curves, with lines of equal informedness, and bands and convex hulls on request.

    For one summarising curve of all classes see `MulticlassROCDisplay`.

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
    _compute = staticmethod(curves.roc_curve)
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
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        multi_class: Literal["ovr", "ovo"] = "ovr",
        name: str | None = None,
        ax: Axes | None = None,
        plot_band: bool = False,
        level: float = 0.95,
        **options: Any,
    ) -> ROCDisplay:
        """Compute the curves of a classifier's scores, and draw them.

        Parameters
        ----------
        y_true : Predictions or array-like of shape (n,)
            Observed classes.
        y_score : array-like or table of shape (n, K), or (n,) for K = 2
            Scores.
        labels, sample_weight, pos_label, multi_class
            As for `dmfroc.operating_points`.
        name : str, optional
            Name of the classifier in the legend.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        plot_band : bool
            Whether to compute and draw the bands, by the method of `MulticlassROCDisplay`.
        level : float
            Nominal coverage of the bands at each point, in (0, 1).
        **options
            As for `plot`.

        Returns
        -------
        ROCDisplay
            Already drawn. Pass its ``ax_`` as ``ax`` to overlay another classifier.

        Raises
        ------
        TypeError, ValueError
            As for `dmfroc.roc_curve`.
        """
        bands = None
        if plot_band:
            which = labels, sample_weight, pos_label, multi_class
            bands = for_each_class(lambda cases: _band(cases, level), y_true, y_score, *which)
        found = curves.roc_curve(
            y_true,
            y_score,
            labels=labels,
            sample_weight=sample_weight,
            pos_label=pos_label,
            multi_class=multi_class,
        )
        display = cls(found, bands, name=name)
        display.plot(ax, **options)
        return display

    def _draw_curves(self, ax: Axes, *arguments: Any) -> None:
        super()._draw_curves(ax, *arguments)
        self.bands_ = {
            label: ax.fill_between(
                band.fpr,
                band.low,
                band.high,
                color=self.lines_[label].get_color(),
                alpha=0.18,
                linewidth=0,
                zorder=1.5,
            )
            for label, band in self.bands.items()
        }


def _band(cases: Cases, level: float) -> CurveBand:
    """Return the band of one curve: with two classes the multiclass curve is the ROC curve."""
    from dmfroc.uncertainty.band import curve_band  # here, because it waits for JAX

    predictions = Predictions.from_arrays(
        cases.is_positive.astype(int), cases.scores, sample_weight=cases.weights
    )
    return curve_band(predictions, level=level)
