"""What all displays look like: colours, line styles and numbers in legends."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.habits import Hinted, unknown_option
from dmfroc._kit.later import Artist, Axes, Line2D, PolyCollection, Self
from dmfroc._kit.options import flag, instance
from dmfroc.inputs.estimators import scores_of

type Limits = tuple[float | int | None, float | int | None]
Style = dict[str, Any]
Styles = dict[Hashable, dict[str, Any]]
LinesByClass = dict[Hashable, Line2D]


@dataclass(frozen=True)
class ChartStyle:
    """How the curves of a chart are computed and drawn.

    Attributes
    ----------
    compute : callable
        The function of `dmfroc.curves` that computes the curves.
    area : str or None
        What the legend calls the area; None where it has none.
    legend : str
        Where curves leave room for the legend.
    xlim, ylim : tuple
        Limits of the axes, None for those of the data.
    is_square : bool
        Whether both axes have the same scale.
    isometric_values : tuple of float
        Values at which to draw isometrics; none for no isometrics.
    shares_isometrics : bool
        Whether the isometrics are the same for classes of any frequency.
    has_hull : bool
        Whether convex hulls can be drawn.
    has_tails : bool
        Whether to draw segments that start or end at infinity, or where there is no point.
    options : tuple of str
        Options of what computes the curves.
    chance, break_even, others : str
        What the legend calls these lines, and the classes that it does not name.
    """

    compute: Callable[..., Any]
    area: str | None = None
    legend: str = "best"
    xlim: Limits = (-0.01, 1.01)
    ylim: Limits = (-0.01, 1.01)
    is_square: bool = False
    isometric_values: tuple[float, ...] = ()
    shares_isometrics: bool = False
    has_hull: bool = False
    has_tails: bool = False
    options: tuple[str, ...] = ()
    chance: str = "chance"
    break_even: str = "break-even"
    others: str = "other classes"

    def taken_from(self, options: dict[str, Any]) -> dict[str, Any]:
        """Take the options of what computes the curves out of all options."""
        return {name: options.pop(name) for name in self.options if name in options}


# Okabe and Ito's colours, told apart with any kind of colour vision; yellow is too faint.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Longer dashes than those of chance and break-even lines. Their number has no divisor in common
# with the number of colours, so that 28 curves are told apart.
LINE_STYLES = ("-", (0, (6, 1.2)), (0, (5, 1.2, 1.2, 1.2)), (0, (2.2, 0.9)))


def on_ground(light: str, dark: str) -> str:
    """Return the first colour, or the second if axes have a dark ground."""
    from matplotlib import colors, rcParams

    is_dark = np.dot(colors.to_rgb(rcParams["axes.facecolor"]), [0.3, 0.59, 0.11]) < 0.5
    return dark if is_dark else light


def style_of(position: int) -> dict[str, Any]:
    """Return colour and dashes of the class at a position among all, on whichever chart."""
    color = COLORS[position % len(COLORS)]
    return {
        "color": on_ground(color, "#FFFFFF") if color == COLORS[-1] else color,
        "linestyle": LINE_STYLES[position % len(LINE_STYLES)],
    }


def next_style(ax: Axes) -> dict[str, Any]:
    """Return the next dashes, and the first colour that no curve on the axes has, if any."""
    from matplotlib.colors import to_hex

    drawn = [line for line in ax.lines if line.get_gid() == CURVE_ID]
    taken = {to_hex(line.get_color()).upper() for line in drawn}
    free = [color for color in COLORS if color not in taken]
    return style_of(len(drawn)) | ({"color": free[0]} if free else {})


class Display(Hinted):
    """A picture of what was computed: it holds the data, and draws them on any axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib.axes.Axes, matplotlib.figure.Figure
        Where it was drawn last.
    """

    ax_: Axes
    figure_: Any

    def _checked(
        self, options: Mapping[str, Any], artist: type[Artist] | None = None, also: Any = ()
    ) -> dict[str, Any]:
        """Return the options of an artist, by default a line, with ``curve_kwargs`` among them.

        ``also`` are other options that the function takes that draws it.
        """
        from matplotlib.axes import Axes
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.lines import Line2D

        artist = artist or Line2D
        others = {k: x for k, x in options.items() if k != "curve_kwargs"}
        of_curve = options.get("curve_kwargs")
        given = ({} if of_curve is None else instance("curve_kwargs", of_curve, dict)) | others
        for name in given:
            if name not in also and not hasattr(artist, f"set_{name}"):
                called = f"{type(self).__name__}.plot"
                if not hasattr(Axes, f"set_{name}"):
                    properties = [x[4:] for x in dir(artist) if x.startswith("set_")]
                    raise TypeError(unknown_option(called, name, self._options() + properties))
                raise TypeError(
                    f"{called}() has no {name!r}: call .ax_.set_{name}() of the display"
                )
        return dict(normalize_kwargs(given, artist))

    def _options(self) -> list[str]:
        """Return the options that the functions which draw the display name."""
        found = {"curve_kwargs": None}
        for kind in type(self).__mro__:
            for name in ("from_predictions", "plot"):
                if hasattr(kind, name):
                    found |= dict.fromkeys(signature(getattr(kind, name)).parameters)
        return [x for x in found if x not in ("self", "options", "line_kwargs", "image_kwargs")]

    @classmethod
    def _from_result(cls, result: Any, **options: Any) -> Any:
        """Draw a result that the display takes."""
        return cls(result).plot(**options)  # type: ignore[call-arg, attr-defined]

    def _draws_on(
        self, ax: Axes | None, width: float = 6.4, height: float = 6.4, **flags: Any
    ) -> Axes:
        """Return the axes, by default those of a new figure of a size in inches; check options."""
        from matplotlib.axes import Axes

        for option, value in flags.items():
            flag(option, value)
        if ax is None:
            from matplotlib import pyplot

            figure, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
            figure.set_gid(OWN_FIGURE_ID)
        self.ax_ = instance("ax", ax, Axes)
        self.figure_ = self.ax_.figure
        if self.figure_.get_gid() == OWN_FIGURE_ID:
            size = np.maximum(self.figure_.get_size_inches(), (width, height))
            self.figure_.set_size_inches(size)
        return self.ax_


class ClassifierDisplay(Display):
    """A picture of a classifier's scores."""

    if TYPE_CHECKING:

        @classmethod
        def from_predictions(cls, y_true: Any, y_score: Any = None, **options: Any) -> Self:
            """Compute what the scores say, and draw it."""

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Let a fitted classifier score observations, and draw what its scores say.

        Parameters
        ----------
        estimator : scikit-learn classifier
            Fitted, with ``predict_proba`` or else ``decision_function``.
        X : array-like of shape (n, p)
            Features.
        y : array-like of shape (n,)
            Observed classes.
        **options
            As for `from_predictions`, except ``labels``: the classes are those of the estimator.
            The ``name`` in the legend is by default that of its Python class.

        Returns
        -------
        Display
            Already drawn.

        Raises
        ------
        TypeError
            If the estimator is not a fitted classifier or gives no score to each class.
        ValueError
            As for `from_predictions`.
        """
        scores = scores_of(estimator, X, y)
        if "name" in signature(cls.from_predictions).parameters:
            options = {"name": type(estimator).__name__} | options
        return cls.from_predictions(y, scores, labels=estimator.classes_, **options)

    def _styles_of(self, labels: Sequence[Hashable], quality: Callable[[Any], float]) -> Styles:
        """Return the styles of curves; one alone takes the next colour of the axes."""
        if len(labels) == 1:
            return {labels[0]: next_style(self.ax_) | {"linewidth": 1.8}}
        return styles_of(labels, quality)

    def _once(self, text: str) -> str:
        """Return the text of a band or baseline in the legend, which classifiers share."""
        return "_" if text in self.ax_.get_legend_handles_labels()[1] else text


def curves_by_label[T](curves: Any, kind: type[T], key: str = "label") -> dict[Hashable, T]:
    """Return one curve by its label, or the curves of a dict."""
    if isinstance(curves, kind):
        return {getattr(curves, key, "classifier"): curves}
    if not isinstance(curves, Mapping):
        raise TypeError(
            f"curves must be a {kind.__name__} or a dict of them, but it is a "
            f"{type(curves).__name__}: of scores call from_predictions(y_true, y_score)"
        )
    return dict(curves)


def checked_name(name: Any) -> str | None:
    """Return the name of a classifier, if it has one."""
    return None if name is None else instance("name", name, str)


def draw_band(ax: Axes, x: Any, low: Any, high: Any, color: Any, **style: Any) -> PolyCollection:
    """Draw a band beneath its curve."""
    style = {"alpha": 0.18, "linewidth": 0, "zorder": 1.5} | style
    return ax.fill_between(x, low, high, color=color, **style)


def rate_texts(rates: Sequence[float], digits: int) -> list[str]:
    """Return rates as text in which only 0 and 1 (up to rounding) read as 0 and 1."""
    step = 10.0**-digits
    texts = []
    for rate in rates:
        if 1e-6 < rate < step / 2:
            texts.append(f"<{step:.{digits}f}")
        elif 1 - step / 2 < rate < 1 - 1e-6:
            texts.append(f">{1 - step:.{digits}f}")
        else:
            texts.append(f"{rate:.{digits}f}")
    return texts


CORNERS = ("lower right", "upper left", "upper right", "lower left")
CURVE_ID, GUIDE_ID, BASELINE_ID = "dmfroc-curve", "dmfroc-guide", "dmfroc-baseline"
OWN_FIGURE_ID = "dmfroc-figure"  # one that no user has made
OTHERS_ZORDER = 1.9  # of the classes that a legend does not name
_MARGIN = 0.02  # of the axes, between a legend and what it must not cover
_MOST_NAMED = 20  # classes in a legend
_NAMED_OF_MANY = 10
_MOST_INSIDE = 9  # legend entries within the axes
_MOST_BESIDE = 0.45  # of the width of a user's axes, for the legend beside them
BETWEEN_NAMES = re.compile(r" (?=[>\N{MINUS SIGN}/] )")  # where what names several may break
_WIDEST = len("(99.9 % jackknife interval 0.9999 to 0.9999)")


def styles_of(
    labels: Sequence[Hashable], quality: Callable[[Any], float], n_named: int | None = None
) -> Styles:
    """Return the line style of each class; of many, only those of the least quality stand out."""
    if n_named is None and len(labels) <= _MOST_NAMED:
        width = 1.8 if len(labels) <= len(COLORS) else 1.3
        return {label: style_of(k) | {"linewidth": width} for k, label in enumerate(labels)}
    named = sorted(labels, key=quality)[: n_named or _NAMED_OF_MANY]
    return {
        label: style_of(named.index(label)) | {"linewidth": 1.5}
        if label in named
        else {"color": on_ground("0.75", "0.3"), "linewidth": 0.6, "zorder": OTHERS_ZORDER}
        for label in labels
    }


def legend_entries(
    texts: Mapping[Hashable, str],
    styles: Mapping[Hashable, Mapping[str, Any]],
    called: str = "other classes",
) -> dict[Hashable, str]:
    """Return the text of each class in the legend, where those that do not stand out share one."""
    others = [label for label, style in styles.items() if "zorder" in style]
    shared = dict.fromkeys(others, "_") | dict.fromkeys(others[:1], f"{len(others)} {called}")
    return {**texts, **shared}


def draw_legend(ax: Axes, location: str) -> None:
    """Draw the legend anew, in a corner that is free of curves, else beside or below the axes.

    Curves come first, then the grey rest, then chance and break-even. Long entries are wrapped,
    and below the axes of a small figure shortened.
    """
    from matplotlib import artist
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.transforms import ScaledTranslation

    entries = list(zip(*ax.get_legend_handles_labels(), strict=True))
    if not entries:
        return
    if engine := isinstance(ax.figure, Figure) and ax.figure.get_layout_engine():
        engine.execute(ax.figure)  # so that axes have the size that leaves room for their labels

    def rank(entry: tuple[Any, str]) -> int:
        handle, _ = entry
        if not isinstance(handle, artist.Artist):  # such as the bars of a user's chart
            return 0
        is_guide = handle.get_gid() in (GUIDE_ID, BASELINE_ID)
        return 2 if is_guide else int(handle.get_zorder() == OTHERS_ZORDER)

    handles, texts = zip(*sorted(entries, key=rank), strict=True)
    # In the size of the letters: one is 0.53 wide on average, a line of them 1.5 high, the symbol
    # with its paddings 8 wide. At most so large that an interval fits on one line.
    side = min(ax.bbox.width, ax.bbox.height) / ax.figure.dpi * 72
    letters = min(FontProperties(size="small").get_size_in_points(), side / (0.53 * _WIDEST + 8))
    width = int((side / letters - 8) / 0.53)
    legend: Style = {
        "handles": handles,
        "labels": [_wrapped(text, width) for text in texts],
        "fontsize": letters,
        "framealpha": 0.85,
        "edgecolor": "none",
        "handlelength": 3.0,  # letters: within the default's two, dashes of two kinds look alike
    }
    drawn = [x.get_xydata() for x in ax.lines if x.get_gid() not in (GUIDE_ID, BASELINE_ID)]
    intervals: list[Any] = [x for x in ax.collections if x.get_gid() == CURVE_ID]
    lines = [_places(ax, xy) for xy in (*drawn, *(e for x in intervals for e in x.get_segments()))]
    is_inside = len(handles) <= _MOST_INSIDE
    for corner in dict.fromkeys([location, *CORNERS]) if is_inside else ():
        extent = ax.legend(**(legend | {"loc": corner})).get_window_extent()
        box = extent.transformed(ax.transAxes.inverted())
        if corner not in CORNERS or not any(_meets(line, box) for line in lines):
            return
    beside = ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, **legend)
    figure: Any = ax.figure
    taken = beside.get_window_extent().width
    if figure.get_gid() == OWN_FIGURE_ID:  # the legend must not squeeze the chart
        width, height = figure.get_size_inches()
        chart = width if ax.get_aspect() == "auto" else height + 1.0
        figure.set_size_inches(max(width, chart + taken / figure.dpi), height)
        ax.set_anchor("W")
    elif taken > _MOST_BESIDE * ax.bbox.width:
        for axis in (ax.xaxis, ax.yaxis):
            axis.label.set_fontsize(letters)
        labels: Any = ax.xaxis.get_tightbbox()
        move = ScaledTranslation(0, -labels.height / figure.dpi - 0.08, figure.dpi_scale_trans)
        legend["labels"] = [shortened(text, width) for text in texts]
        legend |= {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 0.0}
        ax.legend(bbox_transform=ax.transAxes + move, **legend)
        ax.set_anchor("N")


def on_lines(text: str, width: int) -> str:
    """Break what names several classifiers, if it is too long, before each but the first."""
    return text if len(text) <= width else BETWEEN_NAMES.sub("\n", text)


def fitting(ax: Axes, names: Sequence[str]) -> list[str]:
    """Return names beside a chart, on two lines where a user's figure would leave it no room.

    What names two has its second line for the second one.
    """
    if ax.figure.get_gid() == OWN_FIGURE_ID:
        return list(names)
    width = max(int(_MOST_BESIDE * ax.bbox.width / ax.figure.dpi * 72 / 5.3), 8)
    found = []
    for name in names:
        parts = on_lines(name, width).splitlines() or [name]
        first, *rest = parts if len(parts) > 1 else textwrap.wrap(name, width) or [name]
        found.append("\n".join(shortened(x, width) for x in (first, " ".join(rest)) if x))
    return found


def shortened(text: str, width: int) -> str:
    """Return a text with at most so many letters, without some of the middle of its name."""
    is_value = re.search(r"(: | \(n=)[^:(]*$", text)
    name, value = (text[: is_value.start()], is_value[0]) if is_value else (text, "")
    if len(value) > width / 2:  # several numbers
        value = ""
    left = width - len(value) - 1
    if len(name) <= left + 1:
        return name + value
    return f"{name[: left - left // 3]}\N{HORIZONTAL ELLIPSIS}{name[-(left // 3) :]}{value}"


def _wrapped(text: str, width: int) -> str:
    """Wrap a legend entry that is too long, first of all before its interval."""
    if len(text) <= width:
        return text
    text = re.sub(r"(?<=: )(\S+) (?=[<>]?\d)", "\\1\N{NO-BREAK SPACE}", text)
    parts = re.sub(r" \((?=[^(]*$)", "\n(", text).split("\n")
    return "\n".join(textwrap.fill(part, width) for part in parts)


def _places(ax: Axes, xy: Any) -> Float[np.ndarray, "points 2"]:
    """Return points along a line, closer together than a legend is high, as parts of the axes."""
    xy = (ax.transData - ax.transAxes).transform(xy)
    steps = np.linspace(0, 1, 50, endpoint=False)[:, None]
    between = xy[:-1, None] + steps * np.diff(xy, axis=0)[:, None]
    return np.concatenate([between.reshape(-1, 2), xy[-1:]])


def _meets(xy: Float[np.ndarray, "points 2"], box: Any) -> bool:
    is_inside = (xy > box.min - _MARGIN) & (xy < box.max + _MARGIN)
    return bool((is_inside & (xy >= 0) & (xy <= 1)).all(axis=1).any())
