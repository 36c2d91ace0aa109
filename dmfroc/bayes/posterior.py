"""What a posterior is to the user: numbers, warnings, and draws that ArviZ understands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import arviz
import numpy as np
import xarray
from jaxtyping import Float

import dmfroc
from dmfroc._kit.options import integer
from dmfroc.bayes.curve import PosteriorCurve, credible_band, mean_curve
from dmfroc.bayes.pairs import drawn_areas, drawn_covariances
from dmfroc.inference.band import DEFAULT_N_POINTS, CurveBand
from dmfroc.inference.level import check_level
from dmfroc.results.estimate import Estimate
from dmfroc.results.renderers import renderer
from dmfroc.results.text import decimals

if TYPE_CHECKING:
    import pandas as pd


_LARGEST_R_HAT = 1.01
_LEAST_SAMPLE_SIZE = 400
_SMALLER_STEPS = (
    "raise target_accept_prob, kernel=lambda model: NUTS(model, target_accept_prob=0.95)"
)


@dataclass(frozen=True, eq=False)
class Posterior:
    """A measure's posterior distribution.

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

    measure: str
    title: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    level: float
    n_draws: int
    seed: int
    warnings: tuple[str, ...]
    posterior: xarray.DataTree
    draws: Float[np.ndarray, " draws"]

    @property
    def method(self) -> str:
        """How the interval was obtained: ``"bayes"``."""
        return "bayes"

    def to_datatree(self) -> xarray.DataTree:
        """Return all draws with named dimensions, as ArviZ takes them."""
        return self.posterior

    def pairs(self) -> pd.DataFrame:
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
        drawn = drawn_areas(tree)
        value, low, high = self._summaries(drawn)
        drawn = drawn.reshape(-1, drawn.shape[2])
        lead = drawn - drawn.mean(axis=1, keepdims=True)
        return pd.DataFrame(
            {
                "observed": tree["observed_data"]["pairwise_auc"].to_numpy(),
                "value": value,
                "standard_error": drawn.std(axis=0, ddof=1),
                "low": low,
                "high": high,
                "probability_worse": (lead < 0).mean(axis=0) + (lead == 0).mean(axis=0) / 2,
            },
            index=pd.Index(tree["posterior"]["pair"].to_numpy(), name="pair"),
        )

    def pair_covariance(self) -> xarray.Dataset:
        """Return how the pairs of classes vary about the average pair.

        Returns
        -------
        xarray.Dataset
            Posterior means and ends of the interval (dimension ``summary``: value, low, high) of
            the covariances of the random ``effects`` of a pair, its log factor and, in the
            hierarchical model, the shifts of both rates; and of the ``logits`` of both rates over
            the pairs at hand, at each threshold. With one factor for each pair these are
            proportional, ``lambda_t lambda_t' var(v)``.

        Raises
        ------
        ValueError
            If the posterior is not that of a curve.

        References
        ----------
        Wang and Carvalho (2024), Multiclass ROC, equations 19 to 21.
        """
        tree = self._tree_of_curve()
        dims = {"effects": ["effect", "effect_2"], "logits": ["threshold", "rate", "rate_2"]}
        rates, effects = ["tpr", "fpr"], ["factor", "tpr", "fpr"]
        of_effects, of_logits = (self._summaries(x) for x in drawn_covariances(tree))
        effects = effects[: of_effects.shape[1]]
        return xarray.Dataset(
            {
                name: (["summary", *dims[name]], x)
                for name, x in (("effects", of_effects), ("logits", of_logits))
            },
            coords={
                "summary": ["value", "low", "high"],
                "effect": effects,
                "effect_2": effects,
                "threshold": tree["posterior"]["threshold"].to_numpy(),
                "rate": rates,
                "rate_2": rates,
            },
        )

    def _summaries(self, draws: Float[np.ndarray, "chain draw ..."]) -> Float[np.ndarray, "3 ..."]:
        """Return the mean and the ends of the interval of draws."""
        flat = draws.reshape(-1, *draws.shape[2:])
        tails = [(1 - self.level) / 2, (1 + self.level) / 2]
        return np.concatenate([flat.mean(axis=0)[None], np.quantile(flat, tails, axis=0)])

    @cached_property
    def curve(self) -> PosteriorCurve:
        """The posterior mean of the multiclass ROC curve, with the pairs of classes.

        Raises
        ------
        ValueError
            If the posterior is not that of a curve.
        """
        return mean_curve(self._tree_of_curve())

    def band(self, *, level: float | None = None, n_points: int = DEFAULT_N_POINTS) -> CurveBand:
        """Return the pointwise credible band of the multiclass ROC curve.

        Parameters
        ----------
        level : float, optional
            Posterior probability of each interval, in (0, 1); by default that of the posterior.
        n_points : int
            Number of false positive rates, at least 3.

        Returns
        -------
        CurveBand
            Quantiles of the true positive rates of all draws at each false positive rate.

        Raises
        ------
        ValueError
            If the posterior is not that of a curve, or an option is out of its range.
        """
        level = self.level if level is None else check_level(level)
        return credible_band(self._tree_of_curve(), level, integer("n_points", n_points, 3))

    def plot(self, **options: Any) -> Any:
        """Draw the mean curve with its credible band.

        Parameters
        ----------
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
        return renderer(self, "plot")(self, **options)

    def plot_pairs(self, **options: Any) -> Any:
        """Draw a forest plot of the pairs' areas A(i|j) with intervals, the worst pair on top.

        Parameters
        ----------
        **options
            ``ax``: where to draw, by default on a new figure; ``color``.

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
        return renderer(self, "plot_pairs")(self, **options)

    def to_estimate(self) -> Estimate:
        """Return the numbers, and the draws of the measure."""
        return Estimate(
            measure=self.measure,
            title=self.title,
            value=self.value,
            standard_error=self.standard_error,
            interval=self.interval,
            level=self.level,
            method=self.method,
            n_draws=self.n_draws,
            seed=self.seed,
            warnings=self.warnings,
            draws=self.draws,
        )

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
            f"Posterior({self.measure}: {self.value:.{digits}f}, {100 * self.level:g} % interval "
            f"{low:.{digits}f} to {high:.{digits}f}, {self.n_draws} draws)"
        )


def summarize(
    measure: str,
    title: str,
    variable: str,
    posterior: xarray.DataTree,
    level: float,
    seed: int,
    remarks: list[str],
) -> Posterior:
    """Reduce the draws of one scalar variable to an estimate, and label the tree with it."""
    draws: Float[np.ndarray, "chain draw"] = posterior["posterior"][variable].to_numpy()
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    posterior.attrs |= {
        "measure": measure,
        "method": "bayes",
        "level": level,
        "seed": seed,
        "dmfroc_version": dmfroc.__version__,
    }
    return Posterior(
        measure=measure,
        title=title,
        value=float(draws.mean()),
        standard_error=float(draws.std(ddof=1)),
        interval=(float(low), float(high)),
        level=level,
        n_draws=draws.size,
        seed=seed,
        warnings=tuple(remarks),
        posterior=posterior,
        draws=draws.ravel(),
    )


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
    worst_r_hat, where = _extreme(r_hat(draws), largest=True)
    if worst_r_hat > _LARGEST_R_HAT:
        remarks.append(
            f"the chains disagree about {where}: R-hat is {worst_r_hat:.3f}, more than "
            f"{_LARGEST_R_HAT}; draw more, n_draws= and n_warmup="
        )
    least, where = _extreme(arviz.ess(draws), largest=False)
    if least < _LEAST_SAMPLE_SIZE:
        remarks.append(
            f"the draws of {where} are worth only {least:.0f} independent ones, less than "
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
        return arviz.rhat(draws)


def _extreme(diagnostic: xarray.Dataset, *, largest: bool) -> tuple[float, str]:
    """Return the largest (smallest) value over all variables, and the name of its variable."""
    choose: Any = max if largest else min
    reduced = {
        str(name): float(values.max() if largest else values.min())
        for name, values in diagnostic.data_vars.items()
    }
    name = choose(reduced, key=reduced.__getitem__)
    return reduced[name], name
