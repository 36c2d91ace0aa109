"""One figure with the charts of a classifier, each class in the same colour on all of them."""

from __future__ import annotations

from collections.abc import Hashable
from math import ceil
from typing import Any

import numpy as np

from dmfroc._kit.later import Figure
from dmfroc._kit.options import instance
from dmfroc._kit.text import class_name
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.ranking import one_vs_rest_auc_per_class
from dmfroc.plots import curves
from dmfroc.plots._base import CurveDisplay

_PANELS: tuple[tuple[type[CurveDisplay], str, dict[str, Any]], ...] = (
    (curves.ROCDisplay, "ROC", {}),
    (curves.BOCDisplay, "Informedness by false alarms (BOC)", {}),
    (curves.LiftDisplay, "Lift, fallout (thin)", {"scale": "recall", "plot_fallout": True}),
    (curves.PrecisionRecallDisplay, "Precision-recall", {"plot_baselines": False}),
    (curves.ReciprocalPrecisionRecallDisplay, "Precision-recall, reciprocal", {}),
    (curves.LogPrecisionRecallDisplay, "Precision-recall, logarithmic", {}),
    (curves.BIFTDisplay, "Informedness by share predicted (BIFT)", {}),
    (curves.BPRDDisplay, "Informedness by relative drift (BPRD)", {}),
    (curves.BIRDDisplay, "Information by drift, in bits (BIRD)", {}),
)
_SHOWN_OF_MANY = 3  # classes at each end


def overview(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    figure: Figure | None = None,
) -> Figure:
    """Draw the nine charts of Powers' figures 1 and 2 in one figure.

    ROC, BOC and lift chart with fallout; precision-recall, plain, reciprocal and logarithmic;
    BIFT, BPRD and BIRD. They are of each class against the rest; of more than six classes, of the
    three that are hardest and the three that are easiest to tell from the rest.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores.
    labels, sample_weight
        As for `dmfroc.curves.operating_points`.
    figure : matplotlib.figure.Figure, optional
        Where to draw, with a constrained layout at best; by default a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        With one legend for all charts.

    Raises
    ------
    TypeError, ValueError
        As for `dmfroc.curves.operating_points`.

    References
    ----------
    Powers, Visualization of tradeoff in evaluation, figures 1 and 2.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(3, size=60)
    >>> figure = overview(y, rng.normal(size=(60, 3)) + 2 * np.eye(3)[y])
    >>> [ax.get_title() for ax in figure.axes][:3]
    ['ROC', 'Informedness by false alarms (BOC)', 'Lift, fallout (thin)']
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    from matplotlib import pyplot
    from matplotlib.figure import FigureBase

    if figure is None:
        figure = pyplot.figure(figsize=(12, 12.8), layout="constrained")
    instance("figure", figure, FigureBase)
    shown = _shown(predictions)
    for ax, (kind, title, options) in zip(figure.subplots(3, 3).flat, _PANELS, strict=True):
        if shown:
            options = dict(options)
            own = kind.look.taken_from(options)
            display = kind._compute(predictions, pos_label=None, multi_class="ovr", **own)
            display.curves = {label: display.curves[label] for label in shown}
            display.plot(ax, plot_legend=False, **options)
        else:
            kind.from_predictions(predictions, ax=ax, plot_legend=False, **options)
        ax.set_title(title)
    _draw_key(figure, predictions, len(shown))
    return figure


def _shown(predictions: Predictions) -> list[Hashable]:
    """Return the hardest and the easiest of many classes, in their own order; of few, nothing."""
    areas = one_vs_rest_auc_per_class(predictions)
    order = np.argsort(areas)[: len(predictions.present)]  # NaN comes last
    if len(order) <= 2 * _SHOWN_OF_MANY:
        return []
    chosen = sorted([*order[:_SHOWN_OF_MANY], *order[-_SHOWN_OF_MANY:]])
    return [predictions.labels[position] for position in chosen]


def _draw_key(figure: Figure, predictions: Predictions, n_shown: int) -> None:
    """Draw the legend of all panels: classes with their numbers of observations."""
    of_precision_recall = figure.axes[3]  # its chance line differs between classes
    handles, texts = of_precision_recall.get_legend_handles_labels()
    counts = {
        str(label).removeprefix("class "): int(count)
        for label, count in zip(predictions.labels, predictions.class_counts, strict=True)
    }
    keys = {}
    for handle, text in zip(handles, texts, strict=True):
        if text.startswith("equal "):  # each chart has isometrics of its own
            continue
        name = text.split(": ")[0].removeprefix("class ")
        keys[f"{class_name(name)} (n = {counts[name]})" if name in counts else text] = handle
    order = sorted(keys, key=lambda text: text in ("chance", "break-even"))
    # In inches at the usual font size: a letter of the longest text takes about 0.085, what is
    # beside the text 0.7
    widest = 0.085 * max(map(len, order)) + 0.7
    n_rows = ceil(len(order) / max(int(figure.get_figwidth() / widest), 1))
    title = (
        f"{n_shown} of {len(predictions.present)} classes: the {_SHOWN_OF_MANY} hardest and the "
        f"{_SHOWN_OF_MANY} easiest to tell from the rest"
    )
    figure.legend(
        [keys[text] for text in order],
        order,
        loc="outside lower center",
        ncols=ceil(len(order) / n_rows),
        frameon=False,
        title=title if n_shown else None,
    )
