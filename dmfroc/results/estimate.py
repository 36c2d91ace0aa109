"""Estimates: a measure's value with its standard error and interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float

from dmfroc._kit.text import printable
from dmfroc.results.text import decimals

if TYPE_CHECKING:
    import xarray


ClassSizes = Literal["fixed", "random"]


@dataclass(frozen=True)
class Estimate:
    """A measure's value and how sure we are of it.

    Attributes
    ----------
    measure, title : str
        Name of the measure, and its name in tables and legends.
    value : float
        Value in the sample.
    standard_error : float
        Standard error of the value; 0 if the observations show no variation, see `warnings`.
    interval : tuple of float
        Lower and upper end, inside the range of the measure.
    level : float
        Nominal coverage of the interval.
    method : str
        How standard error and interval were obtained.
    class_sizes : {"fixed", "random"} or None
        Whether the error includes that the class sizes are a matter of chance, as it does by
        default where the value depends on them; None where the method does not say.
    bias_corrected : float or None
        For measures that choose thresholds on the observations that they judge, such as maximal
        informedness: the value where others choose them, about which the interval is.
    n_draws, seed : int or None
        Number of draws and seed of methods that draw; None for the jackknife.
    warnings : tuple of str
        What a careful reader has to know about this estimate.
    draws : numpy.ndarray of shape (n_draws,) or None
        The measure's value in every draw, for methods that draw.
    error_bound : float
        By how much the value differs at most from that of all scores, where `dmfroc.scan` or an
        `dmfroc.Accumulator` has counted them in bins; else 0.
    """

    measure: str
    title: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    level: float
    method: str
    class_sizes: ClassSizes | None = None
    bias_corrected: float | None = None
    n_draws: int | None = None
    seed: int | None = None
    warnings: tuple[str, ...] = ()
    draws: Float[np.ndarray, " draws"] | None = field(default=None, repr=False, compare=False)
    error_bound: float = 0.0

    def to_datatree(self) -> xarray.DataTree:
        """Return the draws as an ArviZ tree with the dimensions chain and draw.

        Raises
        ------
        ValueError
            If the method has no draws.
        ImportError
            If ArviZ is not installed; it comes with ``dmfroc[bayes]``.
        """
        if self.draws is None:
            raise ValueError(
                f"an estimate by method={self.method!r} has no draws: use a bootstrap, or "
                "bayesian_roc, whose posterior is a tree"
            )
        import arviz

        import dmfroc

        tree = arviz.from_dict({"posterior": {self.measure: self.draws[None]}})
        tree["posterior"].attrs.update(
            method=self.method, level=self.level, seed=self.seed, dmfroc_version=dmfroc.__version__
        )
        return tree

    def _repr_html_(self) -> str:
        from dmfroc.reports.notebook import estimate_as_html

        return estimate_as_html(self)

    def __str__(self) -> str:
        digits = decimals(self.standard_error)
        low, high = self.interval
        return (
            f"{printable(self.measure)} {self.value:.{digits}f} "
            f"({100 * self.level:g} % {self.method} interval {low:.{digits}f} to {high:.{digits}f}"
            + (f"; binning error at most {self.error_bound:.1e})" if self.error_bound else ")")
        )
