"""A comparison of classifiers as a picture: differences with intervals, and probable orders."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from dmfroc._kit.later import Axes, BarContainer, Line2D, LineCollection
from dmfroc._kit.text import legend_text
from dmfroc.analyses.comparison_result import MANY, Comparison
from dmfroc.plots._style import COLORS, Display, Style, fitting, on_lines
from dmfroc.plots.forest import drawn_ends
from dmfroc.results.difference import Difference
from dmfroc.results.table import rounded
from dmfroc.results.text import format_probability

_MOST_ORDERS = 8
_MOST_IN_ORDERS = 4  # classifiers, whose names fit beside a chart
_WIDEST = 60  # characters beside a chart


class ComparisonDisplay(Display):
    """Differences of classifiers with their intervals (a forest plot), and the probable orders.

    An interval that holds zero leaves open which of the two classifiers is better. Each is for
    itself, without regard to how many there are. Of a one-sided test, the dashed line is at the
    margin, and a limit beyond it shows what was tested.

    Parameters
    ----------
    comparison : Comparison
        What `dmfroc.compare` returns.

    Attributes
    ----------
    differences_ : matplotlib.lines.Line2D
        The differences.
    intervals_ : matplotlib.collections.LineCollection
        Their intervals.
    orders_ : matplotlib.container.BarContainer or None
        The probabilities of the orders; None if they were not drawn.
    ax_, figure_ : matplotlib.axes.Axes, matplotlib.figure.Figure
        Where the differences were drawn last.
    ax_orders_ : matplotlib.axes.Axes or None
        Where the orders were drawn last.

    Examples
    --------
    >>> import dmfroc, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> y = rng.integers(3, size=300)
    >>> scores = {name: rng.normal(size=(300, 3)) + effect * np.eye(3)[y]
    ...           for name, effect in {"strong": 2, "fair": 1.5, "weak": 1}.items()}
    >>> display = dmfroc.compare(y, scores).plot()
    >>> [text.get_text().split()[0] for text in display.ax_.get_yticklabels()]
    ['strong', 'strong', 'fair']
    """

    differences_: Line2D
    intervals_: LineCollection
    orders_: BarContainer | None
    ax_orders_: Axes | None

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def plot(self, ax: Axes | None = None, **line_kwargs: Any) -> ComparisonDisplay:
        """Draw the differences, in a new figure with the orders.

        Of six classifiers or more those of the best one from the others.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw the differences; by default a new figure with both parts, of more than
            four classifiers without their orders.
        **line_kwargs
            For the `matplotlib.lines.Line2D` of the differences.

        Returns
        -------
        ComparisonDisplay
            This display.
        """
        chosen = self._checked(line_kwargs)
        is_own = ax is None
        ax, ax_orders = self._new_axes() if ax is None else (ax, None)
        self._draws_on(ax)
        self.ax_orders_ = ax_orders
        self.differences_ = self._draw_differences(ax, chosen)
        if not is_own:  # a user's axes do not grow with the names
            names = [on_lines(x.get_text(), 0) for x in ax.get_yticklabels()]
            # In points: a row has two lines
            size = ax.bbox.height / ax.figure.dpi * 72 / len(names)
            ax.set_yticks(ax.get_yticks(), fitting(ax, names), fontsize=min(0.35 * size, 10))
        ax.locator_params("x", nbins=4)  # small differences have long labels
        self.orders_ = None if ax_orders is None else self._draw_orders(ax_orders)
        return self

    def _new_axes(self) -> tuple[Axes, Axes | None]:
        from matplotlib import pyplot

        texts = [d.name for d in self._shown]
        rows = [len(texts) + 1]
        if len(self.comparison.estimates) <= _MOST_IN_ORDERS:
            orders = self._orders()
            texts += orders
            rows.append(len(orders) * (2 if "\n" in orders[0] else 1) + 1)
        longest = max(len(line) for text in texts for line in on_lines(text, _WIDEST).splitlines())
        # In inches: names take what they need beside a chart of four
        options: Style = {"figsize": (4 + 0.075 * longest, 1.4 + 0.36 * sum(rows))}
        options |= {"height_ratios": rows, "layout": "constrained", "squeeze": False}
        axes = pyplot.subplots(len(rows), 1, **options)[1][:, 0]
        return axes[0], axes[1] if len(axes) > 1 else None

    @cached_property
    def _shown(self) -> Sequence[Difference]:
        """All differences, or of many classifiers those of the best from the others."""
        n, found = len(self.comparison.estimates), self.comparison.best_first()
        if self.comparison.hypothesis.is_two_sided:
            return found.differences[: n - 1 if n >= MANY else None]
        if n < MANY:
            return self.comparison.differences
        best = next(iter(found.estimates))  # what is tested has a direction, which stays
        return [d for d in self.comparison.differences if best in (d.first, d.second)]

    def _orders(self) -> list[str]:
        """Return the most probable orders as text."""
        orders = itertools.islice(self.comparison.order_probabilities, _MOST_ORDERS)
        return [on_lines(legend_text(" > ".join(order)), _WIDEST) for order in orders]

    def _draw_differences(self, ax: Axes, chosen: dict[str, Any]) -> Line2D:
        differences = self._shown
        values = [d.value for d in differences]
        places = list(range(len(differences)))
        defaults = {"marker": "o", "linestyle": "none", "color": COLORS[0]}
        (drawn,) = ax.plot(values, places, **(defaults | chosen))
        low, high = zip(*drawn_ends(differences), strict=True)
        self.intervals_ = ax.hlines(places, low, high, colors=drawn.get_color(), linewidths=1.6)
        style: Style = {"color": "0.55", "linestyle": (0, (4, 3)), "linewidth": 1}
        ax.axvline(self.comparison.tested_value, zorder=1, **style)
        if (rope := self.comparison.rope) > 0:
            ax.axvspan(-rope, rope, color="0.5", alpha=0.15, linewidth=0, zorder=0.5)
        ax.set_yticks(places, [on_lines(legend_text(d.name), _WIDEST) for d in differences])
        above: Style = {"xytext": (0, 5), "textcoords": "offset points", "ha": "center"}
        for place, d in zip(places, differences, strict=True):
            text = rounded(d.value, d.standard_error)
            ax.annotate(text, (d.value, place), fontsize="small", **above)
        ax.set(
            xlabel=f"{self.comparison.scale.capitalize()} in {self.comparison.title}\n"
            f"({self.comparison.kind_of_interval}s, "
            f"{self.comparison.method})",
            ylim=(len(differences) - 0.5, -0.7),
        )
        ax.spines[["top", "right"]].set_visible(False)
        return drawn

    def _draw_orders(self, ax: Axes) -> BarContainer:
        orders = self._orders()
        places = list(range(len(orders)))
        chances = list(self.comparison.order_probabilities.values())[:_MOST_ORDERS]
        bars = ax.barh(places, chances, color=COLORS[5], height=0.6)
        ax.set_yticks(places, orders)
        ax.bar_label(bars, [*map(format_probability, chances)], padding=3, fontsize="small")
        ax.set(
            xlabel="Probability of the order, best first",
            xlim=(0, 1.12),
            ylim=(len(orders) - 0.5, -0.5),
        )
        ax.spines[["top", "right"]].set_visible(False)
        return bars
