"""What is tested of a difference: that there is none, or that it lies on one side of a margin."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.optimize import brentq

from dmfroc._kit.options import is_one_of, number
from dmfroc.results.difference import Difference

Alternative = Literal["two-sided", "greater", "less"]

EndsAt = Callable[[float], tuple[float, float]]
"""Takes the error probability, 0.05 for 95 %, and returns both ends of a two-sided interval."""

_SMALLEST, _LARGEST = -690.0, -1e-9  # logarithms of error probabilities


@dataclass(frozen=True)
class Hypothesis:
    """What is tested of every difference, and what counts as practically equal.

    Attributes
    ----------
    alternative : {"two-sided", "greater", "less"}
        Whether the difference is not 0, above ``-margin``, or below ``margin``.
    margin : float
        How much worse than the other the first may be, where it is not to be inferior.
    rope : float
        Half-width of the region of practical equivalence.
    """

    alternative: Alternative = "two-sided"
    margin: float = 0.0
    rope: float = 0.0

    def __post_init__(self) -> None:
        choices = get_args(Alternative)
        if not is_one_of(self.alternative, choices):
            raise ValueError(
                f"alternative must be one of {choices}, but it is {self.alternative!r}"
            )
        for name in ("margin", "rope"):
            value = number(name, getattr(self, name))
            object.__setattr__(self, name, value)
            if not value >= 0:
                raise ValueError(f"{name} must be >= 0, but it is {value!r}")
        if self.margin > 0 and self.is_two_sided:
            raise ValueError(
                "margin needs a one-sided test, but alternative is 'two-sided': give "
                "alternative='greater' or 'less', or rope= for practical equivalence"
            )

    def check(self, level: float, width: float) -> None:
        """Refuse what no limit at that level or no difference of that size can show."""
        if not self.is_two_sided and level <= 0.5:
            raise ValueError(f"a one-sided limit needs level > 0.5, but it is {level!r}")
        if self.margin >= width:
            raise ValueError(
                f"margin must be less than {width:g}, the largest difference that the measure can "
                f"have, but it is {self.margin!r}"
            )

    @property
    def is_two_sided(self) -> bool:
        """Whether differences of either sign count."""
        return self.alternative == "two-sided"

    @property
    def sign(self) -> int:
        """1 if large differences count, -1 if small ones do, 0 if both do."""
        return {"two-sided": 0, "greater": 1, "less": -1}[self.alternative]

    @property
    def threshold(self) -> float:
        """The difference against which is tested."""
        return -self.sign * self.margin + 0.0

    @property
    def statement(self) -> str:
        """The alternative, of classifiers A and B."""
        relation = {0: "\N{NOT EQUAL TO}", 1: ">", -1: "<"}[self.sign]
        return f"A - B {relation} {self.threshold:g}"

    def claim(self, first: str, second: str, *, greater_is_better: bool) -> str:
        """Say in words what a one-sided test is to show."""
        is_better = (self.sign > 0) == greater_is_better
        if self.margin == 0:
            return f"{first} is {'better' if is_better else 'worse'} than {second}"
        opposite = "worse" if is_better else "better"
        return f"{first} is not {opposite} than {second} by {self.margin:g} or more"

    def error(self, level: float) -> float:
        """Return the error probability of the two-sided interval that has the ends asked for."""
        return (1 - level) * (1 if self.is_two_sided else 2)

    def opened(self, ends: tuple[float, float]) -> tuple[float, float]:
        """Return the ends; a one-sided test leaves one of them open."""
        low, high = ends
        return (-math.inf if self.sign < 0 else low, math.inf if self.sign > 0 else high)

    def p_value(self, value: float, ends_at: EndsAt, least: float = 0.0) -> float:
        """Return the error probability at which the interval or limit reaches the threshold."""
        if self.is_two_sided:
            return error_reaching(0.0, ends_at, least, upper=value <= 0)
        error = error_reaching(self.threshold, ends_at, least, upper=self.sign < 0)
        if error < 1:
            return error / 2
        return 1 - error_reaching(self.threshold, ends_at, least, upper=self.sign > 0) / 2

    def difference(
        self,
        names: tuple[str, str],
        value: float,
        standard_error: float,
        ends_at: EndsAt,
        level: float,
        *,
        greater_is_better: bool = True,
        tested_at: EndsAt | None = None,
    ) -> Difference:
        """Return a difference whose intervals of all levels are known.

        The interval and the p-value of the hypothesis follow from ``tested_at``, if it is given.
        """
        tested_at = tested_at or ends_at

        def probability_above(threshold: float) -> float:
            tail = error_reaching(threshold, ends_at, upper=value <= threshold) / 2
            return 1 - tail if value > threshold else tail

        positive, p_value = probability_above(0.0), self.p_value(value, tested_at)
        above, not_below = (probability_above(x) for x in (self.rope, -self.rope))
        return Difference(
            *names,
            value=value,
            standard_error=standard_error,
            interval=self.opened(tested_at(self.error(level))),
            p_value=p_value,
            two_sided_p_value=error_reaching(0.0, ends_at, upper=value <= 0),
            adjusted_p_value=p_value,
            probability_better=positive if greater_is_better else 1 - positive,
            probability_equivalent=max(not_below - above, 0.0),
        )


def error_reaching(threshold: float, ends_at: EndsAt, least: float = 0.0, *, upper: bool) -> float:
    """Return the error probability whose interval reaches a threshold with one of its ends.

    It is 1 if the threshold is inside of all intervals, or on their other side, and never below
    the ``least`` error probability that has an interval.
    """
    smallest = max(_SMALLEST, float(np.log(least))) if least > 0 else _SMALLEST

    def distance(log_error: float) -> float:
        ends = ends_at(float(np.exp(log_error)))
        beyond = threshold - ends[1] if upper else ends[0] - threshold
        return -1.0 if math.isnan(beyond) else beyond  # quantiles at such errors overflow

    if distance(smallest) > 0:
        return least
    if distance(_LARGEST) <= 0:
        return 1.0
    return float(np.exp(brentq(distance, smallest, _LARGEST, xtol=1e-10)))
