"""Posterior distributions for users: numbers, warnings, and draws in the form of ArviZ."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import arviz_stats
import numpy as np
import xarray
from jaxtyping import Float

import dmfroc
from dmfroc._kit.arrays import PerDraw
from dmfroc._kit.later import DataFrame
from dmfroc._kit.options import check_level, integer
from dmfroc._kit.text import in_percent
from dmfroc.bayes.pairs import drawn_areas, rates_of_pairs
from dmfroc.multiclass.band import GRID, CurveBand
from dmfroc.results.estimate import Estimate
from dmfroc.results.result import AttributeTables, renderer
from dmfroc.results.text import decimals

MOST_LIKELIHOODS = 1 << 27  # a gigabyte of them, one for each draw and observation
_MOST = 10**8  # draws or chains, more than any memory holds
_LARGEST_R_HAT = 1.01
_LEAST_SAMPLE_SIZE = 400
_SMALLER_STEPS = (
    "raise target_accept_prob, kernel=lambda model: NUTS(model, target_accept_prob=0.95)"
)


def check_size(**sizes: int) -> None:
    """Refuse numbers of chains or draws that are not positive integers."""
    for name, size in sizes.items():
        integer(name, size, 1, _MOST)


def check_priors(priors: Any, kind: type) -> None:
    """Refuse priors of another kind."""
    if not isinstance(priors, kind):
        raise TypeError(
            f"priors must be {kind.__name__}, but they are of type {type(priors).__name__}: leave "
            "them out for the default ones"
        )


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorCurve(AttributeTables):
    """The posterior mean of the multiclass ROC curve.

    Attributes
    ----------
    fpr, tpr : numpy.ndarray of shape (m,)
        The mean of the true positive rates of all draws at each false positive rate, from (0, 0)
        to (1, 1); both coordinates non-decreasing.
    auc : float
        Posterior mean of the area, in [0, 1]; 1/2 for guessing.
    pairs : tuple of (label, label), length q
        The ordered pairs (classification class, reference class).
    pairwise_fpr, pairwise_tpr : numpy.ndarray of shape (q, T)
        Posterior means of the rates of each pair at the thresholds.
    """

    fpr: Float[np.ndarray, " m"]
    tpr: Float[np.ndarray, " m"]
    auc: float
    pairs: tuple[tuple[Hashable, Hashable], ...]
    pairwise_fpr: Float[np.ndarray, "q t"]
    pairwise_tpr: Float[np.ndarray, "q t"]


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Estimate):
    """A measure's posterior distribution: an `Estimate` with all draws behind it.

    Attributes
    ----------
    measure, title : str
        Name of the measure, and its name in tables and legends.
    value : float
        Posterior mean.
    standard_error : float
        Posterior standard deviation.
    interval : tuple of float
        Quantiles that leave equal probabilities outside.
    level : float
        Posterior probability of the interval.
    method : str
        How the interval was obtained: ``"bayes"``.
    n_draws : int
        Number of draws over all chains.
    seed : int
        Seed of the draws.
    warnings : tuple of str
        What a careful reader has to know, divergences and chains that disagree among it.
    posterior : xarray.DataTree
        All draws with named dimensions (chain, draw, threshold, pair, class); the functions of
        ArviZ work on it unchanged.
    draws : numpy.ndarray of shape (n_draws,)
        The draws of the measure itself, chain after chain.
    """

    seed: int = 0
    posterior: xarray.DataTree = field(kw_only=True)

    def to_datatree(self) -> xarray.DataTree:
        """Return all draws with named dimensions, as ArviZ takes them."""
        return self.posterior

    def pairs(self) -> DataFrame:
        """Return the area A(i|j) of every pair of classes, drawn towards that of the average pair.

        Returns
        -------
        pandas.DataFrame
            By pair, ``"i from j"``: the area in the sample (``observed``), posterior mean, standard
            deviation and interval, and the probability to be below the mean of all pairs
            (``probability_worse``), 1/2 for a pair like the others.

        Raises
        ------
        ValueError
            If the posterior is not that of a curve.
        """
        import pandas as pd

        tree = self._tree_of_curve()
        drawn = np.concatenate(drawn_areas(tree))
        low, high = interval_of_draws(drawn, self.level)
        lead = drawn - drawn.mean(axis=1, keepdims=True)
        return pd.DataFrame(
            {
                "observed": tree["observed_data"]["pairwise_auc"].to_numpy(),
                "value": drawn.mean(axis=0),
                "standard_error": drawn.std(axis=0, ddof=1),
                "low": low,
                "high": high,
                "probability_worse": (lead < 0).mean(axis=0) + (lead == 0).mean(axis=0) / 2,
            },
            index=pd.Index(tree["posterior"]["pair"].to_numpy(), name="pair"),
        )

    @cached_property
    def curve(self) -> PosteriorCurve:
        """The posterior mean of the multiclass ROC curve, with the pairs of classes.

        Raises
        ------
        ValueError
            If the posterior is not that of a curve.
        """
        tree = self._tree_of_curve()
        drawn = _drawn_curves(tree)
        sums = [rates.sum(axis=(0, 1)) for rates in rates_of_pairs(tree["posterior"])]
        tpr_of_pairs, fpr_of_pairs = np.moveaxis(np.sum(sums, axis=0) / len(drawn), 1, 0)
        classes = (
            tree["constant_data"][name].to_numpy().tolist()
            for name in ("classification_class", "reference_class")
        )
        return PosteriorCurve(
            GRID,
            drawn.mean(axis=0),
            float(tree["posterior"]["auc"].mean()),
            tuple(zip(*classes, strict=True)),
            fpr_of_pairs,
            tpr_of_pairs,
        )

    def band(self, *, level: float | None = None) -> CurveBand:
        """Return the pointwise credible band of the multiclass ROC curve.

        Parameters
        ----------
        level : float, optional
            Posterior probability of each interval, in (0, 1); by default that of the posterior.

        Returns
        -------
        CurveBand
            Quantiles of the true positive rates of all draws at each false positive rate.

        Raises
        ------
        ValueError
            If the posterior is not that of a curve, or the level is not in (0, 1).
        """
        level = self.level if level is None else check_level(level)
        drawn = _drawn_curves(self._tree_of_curve())
        low, high = interval_of_draws(drawn, level)
        return CurveBand(GRID, drawn.mean(axis=0), low, high, level, "bayes")

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the mean curve with its credible band.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        **options
            As for `MulticlassROCDisplay.from_posterior`; with ``plot_pairs=True`` the mean curves
            of the pairs of classes, too.

        Returns
        -------
        MulticlassROCDisplay
            With the artists in ``ax_``, ``figure_``, ``line_`` and ``band_``.

        Raises
        ------
        ValueError
            If the posterior is not that of a curve.
        """
        return renderer(self, "plot")(self, ax=ax, **options)

    def plot_pairs(self, ax: Any = None, **options: Any) -> Any:
        """Draw a forest plot of the pairs' areas A(i|j) with intervals, the worst pair on top.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        **options
            ``color`` of the rows.

        Returns
        -------
        IntervalDisplay
            With a filled row for each pair, a hollow mark at its area in the sample, and a dotted
            line at the mean of all pairs.

        Raises
        ------
        ValueError
            If the posterior is not that of a curve.
        """
        return renderer(self, "plot_pairs")(self, ax=ax, **options)

    def to_estimate(self) -> Estimate:
        """Return the numbers, and the draws of the measure."""
        return Estimate(**{item.name: getattr(self, item.name) for item in fields(Estimate)})

    def _tree_of_curve(self) -> xarray.DataTree:
        if "pair_effect" not in self.posterior["posterior"]:
            raise ValueError(
                f"the posterior of {self.measure} has no curve and no pairs: bayesian_roc has both"
            )
        return self.posterior

    def __repr__(self) -> str:
        digits = decimals(self.standard_error)
        low, high = self.interval
        return (
            f"Posterior({self.measure}: {self.value:.{digits}f}, {in_percent(self.level)} interval "
            f"{low:.{digits}f} to {high:.{digits}f}, {self.n_draws} draws)"
        )

    __str__ = __repr__


def _drawn_curves(tree: xarray.DataTree) -> Float[np.ndarray, "draws m"]:
    """Return the true positive rates of every draw at the false ones of the grid."""
    rates = (tree["posterior"][name].to_numpy() for name in ("fpr", "tpr"))
    curves = zip(*(x.reshape(-1, x.shape[2]) for x in rates), strict=True)
    return np.stack([np.interp(GRID, x, y) for x, y in curves])


def interval_of_draws(
    draws: Float[np.ndarray, "draws ..."], level: float
) -> Float[np.ndarray, "2 ..."]:
    """Return the quantiles that leave equal probabilities outside."""
    return np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)


def estimate_from_draws(
    measure: str, title: str, draws: PerDraw, level: float, seed: int, warnings: Iterable[str]
) -> Estimate:
    """Return posterior mean, standard deviation and interval of a measure."""
    low, high = interval_of_draws(draws, level).tolist()
    return Estimate(
        measure,
        title,
        value=float(draws.mean()),
        standard_error=float(draws.std(ddof=1)),
        interval=(low, high),
        level=level,
        method="bayes",
        n_draws=len(draws),
        seed=seed,
        warnings=tuple(warnings),
        draws=draws,
    )


def summarize(
    measure: str,
    title: str,
    posterior: xarray.DataTree,
    level: float,
    seed: int,
    warnings: Iterable[str],
    variable: str | None = None,
) -> Posterior:
    """Reduce the draws of a variable, by default the measure's, and label the tree with it."""
    draws = posterior["posterior"][variable or measure].to_numpy().ravel()
    estimate = estimate_from_draws(measure, title, draws, level, seed, warnings)
    names = ("measure", "method", "level", "seed")
    posterior.attrs |= {name: getattr(estimate, name) for name in names}
    posterior.attrs["dmfroc_version"] = dmfroc.__version__
    return Posterior(**vars(estimate), posterior=posterior)


def sampling_problems(
    posterior: xarray.DataTree, variables: list[str], against_divergence: str = _SMALLER_STEPS
) -> list[str]:
    """Return what is wrong with Markov chains: divergences, disagreement, too few draws."""
    remarks = []
    if "sample_stats" in posterior.children and "diverging" in posterior["sample_stats"]:
        diverging = posterior["sample_stats"]["diverging"]
        if n_diverging := int(diverging.sum()):
            remarks.append(
                f"{n_diverging} of {diverging.size} draws diverged: parts of the posterior may be "
                f"missing; {against_divergence}"
            )
    draws = posterior["posterior"].dataset[variables]
    r_hats = {str(name): float(x.max()) for name, x in r_hat(draws).data_vars.items()}
    worst = max(r_hats, key=r_hats.__getitem__)
    if r_hats[worst] > _LARGEST_R_HAT:
        remarks.append(
            f"the chains disagree about {worst}: R-hat is {r_hats[worst]:.3f}, more than "
            f"{_LARGEST_R_HAT}; draw more, n_draws= and n_warmup="
        )
    sizes = {str(name): float(x.min()) for name, x in arviz_stats.ess(draws).data_vars.items()}
    least = min(sizes, key=sizes.__getitem__)
    if sizes[least] < _LEAST_SAMPLE_SIZE:
        remarks.append(
            f"the draws of {least} are worth only {sizes[least]:.0f} independent ones, less than "
            f"{_LEAST_SAMPLE_SIZE}; draw more, n_draws="
        )
    return remarks


def r_hat(draws: xarray.Dataset) -> xarray.Dataset:
    """Return whether chains agree, near one if they do; the two halves of one that is alone."""
    half = draws.sizes["draw"] // 2
    if draws.sizes["chain"] == 1 and half > 0:
        halves = [draws.isel(draw=slice(half)), draws.isel(draw=slice(-half, None))]
        bare = [x.drop_vars(["chain", "draw"], errors="ignore") for x in halves]
        draws = xarray.concat(bare, dim="chain")
    with np.errstate(invalid="ignore"):  # of two classes the pair effect is 1 in all draws
        return arviz_stats.rhat(draws)
