"""What a meta-analysis is to the user: point, curve, regions, heterogeneity, influence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import arviz
import numpy as np
import xarray
from jaxtyping import Float
from scipy.special import expit
from scipy.stats import chi2

import dmfroc
from dmfroc._tables import decimals, format_table
from dmfroc.meta_analysis.curve import area_under_line, line_at, region_around
from dmfroc.meta_analysis.data import Studies
from dmfroc.meta_analysis.fit import Settings, careful_kernel, draw
from dmfroc.multiclass.band import CurveBand
from dmfroc.uncertainty.estimate import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from dmfroc.plots.meta_analysis import ForestDisplay, SummaryROCDisplay

_GRID = np.concatenate([[0.0005, 0.002], np.linspace(0.005, 0.995, 199), [0.998, 0.9995]])


@dataclass(frozen=True, eq=False, repr=False)
class SummaryROC:
    """Summary of the accuracy of a test over studies; see `dmfroc.summary_roc`.

    Attributes
    ----------
    studies : Studies
        The counts.
    settings : Settings
        The model, its priors, and the chains.
    posterior : xarray.DataTree
        All draws with named dimensions (chain, draw, study, effect, rate), the
        sampler's statistics, the observed and the replicated counts.
    level : float
        Probability of intervals and regions.
    warnings : tuple of str
        What a careful reader has to know; chains that diverge or disagree among it.
    """

    studies: Studies
    settings: Settings
    posterior: xarray.DataTree
    level: float
    warnings: tuple[str, ...]

    @property
    def sensitivity(self) -> Estimate:
        """Sensitivity of the mean study."""
        return self._estimate("sensitivity", expit(self._draws("location")[:, 0]))

    @property
    def specificity(self) -> Estimate:
        """Specificity of the mean study."""
        return self._estimate("specificity", expit(-self._draws("location")[:, 1]))

    @cached_property
    def auc(self) -> Estimate:
        """Area under the summary curve, from one end to the other, beyond all studies as well."""
        return self._estimate("auc", self._draws("auc"))

    @cached_property
    def curve(self) -> CurveBand:
        """The summary curve with its pointwise band, medians and quantiles over the draws."""
        tails = [(1 - self.level) / 2, 0.5, (1 + self.level) / 2]
        lines = line_at(_GRID, self._draws("curve_intercept"), self._draws("curve_slope"))
        low, middle, high = np.quantile(lines, tails, axis=0)
        return CurveBand(_GRID, middle, low, high, self.level, "bayes")

    @property
    def observed_range(self) -> tuple[float, float]:
        """Smallest and largest false positive rate of the studies; beyond, the curve guesses."""
        positives, sizes = (field[:, 1] for field in self.studies.counts)
        rates = positives[sizes > 0] / sizes[sizes > 0]
        return float(rates.min()), float(rates.max())

    def region(self, kind: str = "credible") -> Float[np.ndarray, "corners 2"]:
        """Return the region of the summary point, or of the rates of a new study.

        Parameters
        ----------
        kind : {"credible", "prediction"}
            Where the mean study is, or where a further study of any size would be.

        Returns
        -------
        numpy.ndarray of shape (corners, 2)
            Corners of a closed line, false positive rate and sensitivity: the ellipse of logits
            that holds a share `level` of the draws.
        """
        if kind not in ("credible", "prediction"):
            raise ValueError(f"kind must be 'credible' or 'prediction', but it is {kind!r}")
        logits = self._draws("location" if kind == "credible" else "new_study")
        return region_around(logits[:, ::-1], self.level)

    @property
    def heterogeneity(self) -> pd.DataFrame:
        """How studies differ: standard deviations and correlations of their effects.

        Posterior means and intervals; of the rates of a further study, the interval in which it
        is expected.
        """
        import pandas as pd

        effects = [str(x) for x in self.posterior["posterior"]["effect"].to_numpy()]
        sd, correlation = self._draws("sd"), self._draws("correlation")
        found = {f"sd of {name}": sd[:, i] for i, name in enumerate(effects)}
        for i, first in enumerate(effects):
            for j, second in enumerate(effects[:i]):
                found[f"correlation of {second} and {first}"] = correlation[:, i, j]
        new = self._draws("new_study")
        found["sensitivity of a new study"] = expit(new[:, 0])
        found["specificity of a new study"] = expit(-new[:, 1])
        rows = {name: self._summary(x) for name, x in found.items()}
        return pd.DataFrame(rows).T

    def to_datatree(self) -> xarray.DataTree:
        """Return all draws with named dimensions, as ArviZ takes them."""
        tree = self.posterior.copy()
        tree.attrs |= {
            "model": self.settings.model,
            "level": self.level,
            "seed": self.settings.seed,
            "dmfroc_version": dmfroc.__version__,
        }
        return tree

    def leave_one_out(self) -> pd.DataFrame:
        """Fit the model without each study in turn.

        Returns
        -------
        pandas.DataFrame
            By study left out: sensitivity, specificity and area without it. ``shift`` is how far
            the mean effects move, in posterior standard deviations (Mahalanobis); ``surprise`` the
            probability of a new study, drawn by the others, to be nearer to their mean than this
            study is estimated to be: near one for studies that the others do not expect.
            Divergences and R-hat are those of the chains.
        """
        import pandas as pd

        location = self._draws("location")
        spread = np.cov(location.T)
        rows = {}
        for study, name in enumerate(self.studies.names):
            draws = draw(self.studies.without(study), self.settings, careful_kernel)
            sites = {key: x.reshape(-1, *x.shape[2:]) for key, x in draws.sites.items()}
            without, factor = sites["location"], sites["factor"]
            center = without.mean(axis=0)
            moved = center - location.mean(axis=0)
            effect = self._draws("study_effect")[:, study].mean(axis=0)
            total = np.cov(without.T) + (factor @ np.swapaxes(factor, 1, 2)).mean(axis=0)
            rows[name] = {
                "sensitivity": float(expit(without[:, 0]).mean()),
                "specificity": float(expit(-without[:, 1]).mean()),
                "auc": float(
                    area_under_line(sites["curve_intercept"], sites["curve_slope"]).mean()
                ),
                "shift": float(np.sqrt(moved @ np.linalg.solve(spread, moved))),
                "surprise": _probability_within(effect - center, total),
                "divergences": int(draws.sample_stats["diverging"].sum()),
                "r_hat": float(
                    np.max(arviz.rhat(draws.sites["location"], chain_axis=0, draw_axis=1))
                ),
            }
        return pd.DataFrame(rows).T.rename_axis("study")

    def plot(self, **options: Any) -> SummaryROCDisplay:
        """Draw studies, summary point, regions and curve; takes what `SummaryROCDisplay.plot` does.

        Returns
        -------
        SummaryROCDisplay
            With the artists in ``ax_``, ``figure_`` and ``line_``.
        """
        from dmfroc.plots.meta_analysis import SummaryROCDisplay

        return SummaryROCDisplay(self).plot(**options)

    def plot_forest(self, **options: Any) -> ForestDisplay:
        """Draw sensitivity and specificity of every study with intervals, and the summary.

        Returns
        -------
        ForestDisplay
            With the artists in ``axes_`` and ``figure_``.
        """
        from dmfroc.plots.meta_analysis import ForestDisplay

        return ForestDisplay(self).plot(**options)

    def __repr__(self) -> str:
        """Show the table at a prompt, not all arrays behind it."""
        return str(self)

    def __str__(self) -> str:
        n_people = self.studies.counts.sizes.sum()
        table = format_table(
            ["summary", "value", f"{100 * self.level:g} % interval"],
            [
                [
                    e.title,
                    f"{e.value:.{digits}f}",
                    f"{e.interval[0]:.{digits}f} to {e.interval[1]:.{digits}f}",
                ]
                for e in (self.sensitivity, self.specificity, self.auc)
                for digits in [decimals(e.standard_error)]
            ],
        )
        head = f"{len(self.studies.names)} studies, {n_people:.0f} people, {self.settings.model}"
        return "\n".join([head, "", table, *(f"note: {remark}" for remark in self.warnings)])

    def _draws(self, name: str) -> Float[np.ndarray, "draws ..."]:
        values = self.posterior["posterior"][name].to_numpy()
        return values.reshape(-1, *values.shape[2:])

    def _estimate(self, name: str, draws: Float[np.ndarray, " draws"]) -> Estimate:
        low, high = np.quantile(draws, [(1 - self.level) / 2, (1 + self.level) / 2])
        return Estimate(
            measure=name,
            title="AUC" if name == "auc" else name.capitalize(),
            value=float(draws.mean()),
            standard_error=float(draws.std(ddof=1)),
            interval=(float(low), float(high)),
            level=self.level,
            method="bayes",
            n_draws=len(draws),
            seed=self.settings.seed,
            warnings=self.warnings,
            draws=draws,
        )

    def _summary(self, draws: Float[np.ndarray, " draws"]) -> dict[str, float]:
        low, high = np.quantile(draws, [(1 - self.level) / 2, (1 + self.level) / 2])
        return {"value": float(draws.mean()), "low": float(low), "high": float(high)}


def _probability_within(
    deviation: Float[np.ndarray, " p"], covariance: Float[np.ndarray, "p p"]
) -> float:
    """Return the probability of a normal vector to be nearer to its mean than this."""
    squared = deviation @ np.linalg.solve(covariance, deviation)
    return float(chi2.cdf(squared, len(deviation)))
