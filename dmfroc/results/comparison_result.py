"""What a comparison of classifiers found: differences, orders, the possible best."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.text import printable
from dmfroc.inference.level import check_level
from dmfroc.inference.selection import Winner, may_be_best
from dmfroc.inference.units import Sample, Units, sample_of
from dmfroc.inputs.predictions import Predictions
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.results.estimate import Estimate
from dmfroc.results.text import decimals, format_probability, format_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from dmfroc.plots import ComparisonDisplay

_MOST_ROWS = 50  # of differences in print


@dataclass(frozen=True)
class Difference:
    """How much better the first classifier is than the second.

    Attributes
    ----------
    first, second : str
        Names of the classifiers.
    value, standard_error : float
        Value of the first minus that of the second, and its standard error.
    interval : tuple of float
        Lower and upper end.
    p_value : float
        Two-sided, of no difference; 1 for identical classifiers.
    adjusted_p_value : float
        The same, adjusted for all differences of the comparison: by Holm's method, or with
        ``simultaneous=True`` by the distribution of the largest of all statistics.
    probability_better : float
        Probability that the first is truly better (where the measure is an error, smaller); 1/2
        if nothing speaks for either.
    probability_equivalent : float
        Probability that the two differ by no more than the region of practical equivalence.
    """

    first: str
    second: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    p_value: float
    adjusted_p_value: float
    probability_better: float
    probability_equivalent: float


@dataclass(frozen=True, repr=False)
class Comparison:
    """Several classifiers on the same observations.

    Attributes
    ----------
    measure, title : str
        Name of the measure, and its name in tables.
    estimates : dict of str to Estimate
        Each classifier's own value and interval.
    differences : tuple of Difference
        One for every two classifiers, in the order in which they were given.
    order_probabilities : dict of tuple of str to float
        Probability of each order of the classifiers, best first; the most probable first. Orders
        with a probability below about 1e-5 are left out, and all but the 1,000 most probable.
    level : float
        Nominal coverage of all intervals, each taken alone; with ``simultaneous=True`` those of the
        differences hold all at once.
    rope : float
        Half-width of the region of practical equivalence.
    method : str
        How the uncertainty was obtained.
    n_draws, seed : int
        Draws from the joint distribution behind `order_probabilities`, and their seed.
    greater_is_better : bool
        Whether greater values of the measure are better.
    covariance : numpy.ndarray of shape (m, m)
        Of the values, in the order of `estimates`.
    simultaneous : bool
        Whether intervals and adjusted p-values of the differences hold all at once.
    value_intervals : dict of str to tuple of float, or None
        With ``simultaneous=True``: an interval of each classifier's value, all at once.
    winner : Winner or None
        With ``simultaneous=True``: the classifier with the best value, and an interval that allows
        for its having been selected.
    predictions : dict of str to Predictions
        What was compared.
    units : Units or None
        Which of the observations are independent; None of samples that are so of each other.
    curve_options : CurveOptions or None
        The options of the curves if the measure is the area under them; None if it is another one.
    """

    measure: str
    title: str
    estimates: dict[str, Estimate]
    differences: tuple[Difference, ...]
    order_probabilities: dict[tuple[str, ...], float]
    level: float
    rope: float
    method: str
    n_draws: int
    seed: int
    greater_is_better: bool
    covariance: Float[np.ndarray, "m m"] = field(repr=False, compare=False)
    simultaneous: bool = False
    value_intervals: dict[str, tuple[float, float]] | None = None
    winner: Winner | None = None
    predictions: Mapping[str, Predictions] = field(default_factory=dict, repr=False, compare=False)
    units: Units | None = field(default=None, repr=False, compare=False)
    curve_options: CurveOptions | None = field(default=None, repr=False, compare=False)

    def best_set(self, level: float | None = None) -> tuple[str, ...]:
        """Return the classifiers that are not excluded as the best, best first.

        Parameters
        ----------
        level : float, optional
            Probability with which the truly best is among them, by default that of the
            comparison. It holds whether or not the intervals are simultaneous.

        References
        ----------
        Hsu (1981), Simultaneous confidence intervals for all distances from the "best"; Hansen,
        Lunde and Nason (2011), The model confidence set, for the aim.

        Examples
        --------
        >>> import numpy as np
        >>> from dmfroc import compare
        >>> rng = np.random.default_rng(1)
        >>> y = rng.integers(3, size=300)
        >>> shifts = {"poor": 0.5, "good": 2.0, "better": 2.0}
        >>> scores = {k: rng.normal(size=(300, 3)) + s * np.eye(3)[y] for k, s in shifts.items()}
        >>> compare(y, scores, "hand_till").best_set()
        ('better', 'good')
        """
        level = self.level if level is None else level
        check_level(level)
        names = list(self.estimates)
        first, second = np.triu_indices(len(names), 1)
        p_values = np.ones((len(names), len(names)))
        p_values[first, second] = [d.p_value for d in self.differences]
        p_values[second, first] = p_values[first, second]
        sign = 1 if self.greater_is_better else -1
        qualities = sign * np.array([e.value for e in self.estimates.values()])
        stays = may_be_best(qualities, self.covariance, p_values, level, self.seed)
        return tuple(
            names[place] for place in np.argsort(-qualities, kind="stable") if stays[place]
        )

    def plot_best_set(self, ax: Axes | None = None) -> Axes:
        """Draw the classifiers in the order of their values, with intervals.

        The intervals are those of `value_intervals`, where there are, else those of each taken
        alone. Classifiers that are not excluded as the best, see `best_set`, are filled.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw, by default on a new figure.
        """
        from dmfroc.plots.forest import draw_forest, value_rows

        kind = "simultaneous" if self.value_intervals else "separate"
        return draw_forest(
            value_rows(self),
            ax,
            xlabel=f"{self.title} (filled: may be the best; {100 * self.level:g} %, {kind})",
        )

    @property
    def samples(self) -> dict[str, Sample]:
        """The observations of each classifier that count, with their independent units."""
        return {
            name: sample_of(p) if self.units is None else Sample(p.counted, self.units)
            for name, p in self.predictions.items()
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a careful reader has to know, each remark with the classifiers that it concerns."""
        return attributed({name: e.warnings for name, e in self.estimates.items()})

    @property
    def probability_better(self) -> dict[tuple[str, str], float]:
        """Probability that the first of two classifiers is better, for every ordered pair."""
        forward = {(d.first, d.second): d.probability_better for d in self.differences}
        backward = {(b, a): 1 - probability for (a, b), probability in forward.items()}
        return forward | backward

    def to_pandas(self) -> pd.DataFrame:
        """Return the differences as a table, one row for every two classifiers."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "first": d.first,
                    "second": d.second,
                    "difference": d.value,
                    "standard_error": d.standard_error,
                    "low": d.interval[0],
                    "high": d.interval[1],
                    "p_value": d.p_value,
                    "adjusted_p_value": d.adjusted_p_value,
                    "probability_better": d.probability_better,
                    "probability_equivalent": d.probability_equivalent,
                }
                for d in self.differences
            ]
        )

    def plot(self, **kwargs: Any) -> ComparisonDisplay:
        """Draw the differences with their intervals, and the probabilities of the orders.

        Takes what `ComparisonDisplay.plot` takes.

        Returns
        -------
        ComparisonDisplay
            With the artists in ``ax_``, ``ax_orders_`` and ``figure_``.
        """
        from dmfroc.plots import ComparisonDisplay

        return ComparisonDisplay(self).plot(**kwargs)

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write a report for the browser: one file that needs nothing else.

        It says in a sentence who is better and what could not be decided, and shows the
        differences, the multiclass ROC curves with their bands, how well each pair of classes is
        told apart, each class against the rest, confusion, calibration, and all warnings. The
        numbers are in the file, to be downloaded from it.

        Parameters
        ----------
        path : str or path-like
            A file named ``.html``. It appears whole, or not at all.

        Raises
        ------
        ValueError
            If the file cannot be written.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> from dmfroc import compare
        >>> rng = np.random.default_rng(1)
        >>> y = rng.integers(3, size=60)
        >>> a, b = (rng.normal(size=(60, 3)) + effect * np.eye(3)[y] for effect in (2, 1))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "report.html")
        ...     compare(y, {"a": a, "b": b}).to_html(path)
        ...     path.stat().st_size < 200_000
        True
        """
        from dmfroc.reports.page import comparison_page
        from dmfroc.reports.rendering import opened

        with opened(path) as stream:
            stream.write(comparison_page(self).encode("utf-8"))

    def _repr_html_(self) -> str:
        from dmfroc.reports.notebook import comparison_as_html

        return comparison_as_html(self)

    def __repr__(self) -> str:
        """Show the table at a prompt, not all arrays behind it."""
        return str(self)

    def __str__(self) -> str:
        percent = f"{100 * self.level:g} %"
        estimates = format_table(
            ["classifier", self.title, f"{percent} interval"],
            [
                [
                    name,
                    f"{e.value:.{digits}f}",
                    f"{e.interval[0]:.{digits}f} to {e.interval[1]:.{digits}f}",
                ]
                for name, e in self.estimates.items()
                for digits in [decimals(e.standard_error)]
            ],
        )
        several, has_rope = len(self.differences) > 1, self.rope > 0
        kind = f"simultaneous {percent} interval" if self.simultaneous else f"{percent} interval"
        header = ["A", "B", "A - B", kind, "p-value"]
        header += (
            ["adjusted"] * several + ["P(A > B)"] + [f"P(|A - B| <= {self.rope:g})"] * has_rope
        )
        differences = format_table(
            header,
            [
                [
                    d.first,
                    d.second,
                    f"{d.value:+.{digits}f}",
                    f"{d.interval[0]:+.{digits}f} to {d.interval[1]:+.{digits}f}",
                    f"{d.p_value:.2g}",
                    *[f"{d.adjusted_p_value:.2g}"] * several,
                    format_probability(d.probability_better),
                    *[format_probability(d.probability_equivalent)] * has_rope,
                ]
                for d in self.differences[:_MOST_ROWS]
                for digits in [decimals(d.standard_error)]
            ],
        )
        if (more := len(self.differences) - _MOST_ROWS) > 0:
            differences += f"\nand {more} more differences: see to_pandas()"
        orders = format_table(
            ["order, best first", "probability"],
            [
                [" > ".join(order), format_probability(probability)]
                for order, probability in itertools.islice(self.order_probabilities.items(), 10)
            ],
        )
        parts = [estimates, differences, orders]
        if self.winner is not None:
            low, high = self.winner.interval
            digits = decimals(self.estimates[self.winner.name].standard_error)
            parts.append(
                f"best in this sample: {self.winner.name}, {percent} interval that allows for its "
                f"selection {low:.{digits}f} to {high:.{digits}f}\n"
                f"not excluded as best at {percent}: {', '.join(map(str, self.best_set()))}"
            )
        worst = max(e.error_bound for e in self.estimates.values())
        if worst:
            parts.append(f"binning error of each value at most {worst:.1e}")
        return "\n\n".join(parts)


def attributed(remarks: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return each remark once, with the classifiers that it concerns unless that is all."""
    concerned: dict[str, list[str]] = {}
    for name, of_classifier in remarks.items():
        for remark in of_classifier:
            concerned.setdefault(remark, []).append(printable(name))
    return tuple(
        remark if len(names) == len(remarks) else f"{', '.join(names)}: {remark}"
        for remark, names in concerned.items()
    )
