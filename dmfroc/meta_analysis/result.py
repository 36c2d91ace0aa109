"""What a meta-analysis is to the user: point, curve, regions, heterogeneity, influence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

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


class Rates(NamedTuple):
    """Draws of the logits of sensitivity and false positive rate."""

    summary: Float[np.ndarray, "draws 2"]
    new_study: Float[np.ndarray, "draws 2"]


@dataclass(frozen=True, eq=False)
class SummaryROC:
    """Summary of the accuracy of a test over studies; see `dmfroc.summary_roc`.

    Attributes
    ----------
    studies : Studies
        The counts.
    settings : Settings
        The model, its priors, and the chains.
    posterior : xarray.DataTree
        All draws with named dimensions (chain, draw, study, effect, unit, rate, point, pair), the
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
        """Sensitivity of the mean study; of several thresholds see `at`."""
        return self._estimate("sensitivity", expit(self._rates_at(None).summary[:, 0]))

    @property
    def specificity(self) -> Estimate:
        """Specificity of the mean study; of several thresholds see `at`."""
        return self._estimate("specificity", expit(-self._rates_at(None).summary[:, 1]))

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
        sizes = self.studies.sizes[:, 1:]
        rates = self.studies.false_positives[sizes[:, 0] > 0] / sizes[sizes[:, 0] > 0]
        return float(np.nanmin(rates)), float(np.nanmax(rates))

    def region(
        self, kind: str = "credible", threshold: float | None = None
    ) -> Float[np.ndarray, "corners 2"]:
        """Return the region of the summary point, or of the rates of a new study.

        Parameters
        ----------
        kind : {"credible", "prediction"}
            Where the mean study is, or where a further study of any size would be.
        threshold : float, optional
            At which threshold, if there are several.

        Returns
        -------
        numpy.ndarray of shape (corners, 2)
            Corners of a closed line, false positive rate and sensitivity: the ellipse of logits
            that holds a share `level` of the draws.
        """
        if kind not in ("credible", "prediction"):
            raise ValueError(f"kind must be 'credible' or 'prediction', but it is {kind!r}")
        rates = self._rates_at(threshold)
        logits = rates.summary if kind == "credible" else rates.new_study
        return region_around(logits[:, ::-1], self.level)

    def at(self, thresholds: Any) -> pd.DataFrame:
        """Return sensitivity and specificity at thresholds, with intervals and predictions.

        Parameters
        ----------
        thresholds : float or sequence of float
            On the scale of the table; need be those of no study.

        Returns
        -------
        pandas.DataFrame
            By threshold: posterior mean, interval, and interval of a new study, of either rate.
        """
        import pandas as pd

        rows = []
        for threshold in np.atleast_1d(np.asarray(thresholds, dtype=float)):
            logits, new = self._rates_at(float(threshold))
            row = {"threshold": float(threshold)}
            for name, column, sign in (("sensitivity", 0, 1), ("specificity", 1, -1)):
                rates, predicted = expit(sign * logits[:, column]), expit(sign * new[:, column])
                row |= self._summary(name, rates, predicted)
            rows.append(row)
        return pd.DataFrame(rows).set_index("threshold")

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
        if self.settings.model != "ordinal":
            new = self._draws("new_study")
            found["sensitivity of a new study"] = expit(new[:, 0])
            found["specificity of a new study"] = expit(-new[:, 1])
        rows = {name: self._summary("value", x) for name, x in found.items()}
        names = {"value_low": "low", "value_high": "high"}
        return pd.DataFrame(rows).T.rename(columns=names)

    @property
    def pairs(self) -> pd.DataFrame:
        """Sensitivity and specificity of each pair of classes, drawn towards their mean.

        Raises
        ------
        ValueError
            If there are no pairs, or several thresholds.
        """
        import pandas as pd

        if not self.studies.has_pairs or self.settings.model == "ordinal":
            raise ValueError(
                "pairs are those of a column pair= without thresholds: leave threshold= out"
            )
        tree = self.posterior["posterior"]
        location = self._draws("pair_location")
        rows = {
            str(name): self._summary("sensitivity", expit(location[:, i, 0]))
            | self._summary("specificity", expit(-location[:, i, 1]))
            for i, name in enumerate(tree["pair"].to_numpy())
        }
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
            By study left out: the area without it; without thresholds, also sensitivity and
            specificity. ``shift`` is how far the mean effects move, in posterior standard
            deviations (Mahalanobis); ``surprise`` the probability of a new study, drawn by the
            others, to be nearer to their mean than this study is estimated to be: near one for
            studies that the others do not expect. Divergences and R-hat are those of the chains.
        """
        import pandas as pd

        location = self._draws("location")
        spread = np.cov(location.T)
        rows = {}
        for study, name in enumerate(self.studies.names):
            draws = draw(self.studies, self.studies.without(study), self.settings, careful_kernel)
            sites = {key: x.reshape(-1, *x.shape[2:]) for key, x in draws.sites.items()}
            without, factor = sites["location"], sites["factor"]
            center = without.mean(axis=0)
            moved = center - location.mean(axis=0)
            effect = self._draws("study_effect")[:, study].mean(axis=0)
            total = np.cov(without.T) + (factor @ np.swapaxes(factor, 1, 2)).mean(axis=0)
            row = {
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
            if self.settings.model != "ordinal":
                rates = {"sensitivity": expit(without[:, 0]), "specificity": expit(-without[:, 1])}
                row = {key: float(x.mean()) for key, x in rates.items()} | row
            rows[name] = row
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

    def __str__(self) -> str:
        n_people = self.studies.sizes.sum()
        found = [self.auc]
        if self.settings.model != "ordinal":
            found = [self.sensitivity, self.specificity, *found]
        table = format_table(
            ["summary", "value", f"{100 * self.level:g} % interval"],
            [
                [
                    e.title,
                    f"{e.value:.{digits}f}",
                    f"{e.interval[0]:.{digits}f} to {e.interval[1]:.{digits}f}",
                ]
                for e in found
                for digits in [decimals(e.standard_error)]
            ],
        )
        head = f"{len(self.studies.names)} studies, {n_people:.0f} people, {self.settings.model}"
        return "\n".join([head, "", table, *(f"note: {remark}" for remark in self.warnings)])

    def _rates_at(self, threshold: float | None) -> Rates:
        location, new = self._draws("location"), self._draws("new_study")
        if self.settings.model != "ordinal":
            if threshold is not None:
                raise ValueError(
                    "the rates are those of one threshold per study, whichever it was: name the "
                    "column of thresholds, summary_roc(..., threshold=)"
                )
            return Rates(location, new)
        if threshold is None:
            raise ValueError(
                "sensitivity and specificity are those of a threshold: at(threshold), or "
                "threshold= here"
            )
        cutoff = self.studies.standardized(np.array(threshold))
        return Rates(*((x[:, :2] - cutoff) * np.exp(-x[:, 2:]) for x in (location, new)))

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

    def _summary(
        self,
        name: str,
        draws: Float[np.ndarray, " draws"],
        predicted: Float[np.ndarray, " draws"] | None = None,
    ) -> dict[str, float]:
        tails = [(1 - self.level) / 2, (1 + self.level) / 2]
        low, high = np.quantile(draws, tails)
        found = {name: draws.mean(), f"{name}_low": low, f"{name}_high": high}
        if predicted is not None:
            low, high = np.quantile(predicted, tails)
            found |= {f"{name}_predicted_low": low, f"{name}_predicted_high": high}
        return {key: float(x) for key, x in found.items()}


def _probability_within(
    deviation: Float[np.ndarray, " p"], covariance: Float[np.ndarray, "p p"]
) -> float:
    """Return the probability of a normal vector to be nearer to its mean than this."""
    squared = deviation @ np.linalg.solve(covariance, deviation)
    return float(chi2.cdf(squared, len(deviation)))
