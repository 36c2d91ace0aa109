"""Results of a meta-analysis: point, curve, regions, heterogeneity, influence of studies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray
from jaxtyping import Float
from scipy.special import expit
from scipy.stats import chi2

from dmfroc import __version__
from dmfroc.applications.meta_analysis.data import Studies, check_threshold, name_of
from dmfroc.applications.meta_analysis.fit import Settings, careful_kernel, draw
from dmfroc.applications.meta_analysis.models import (
    area_under_line,
    covariance_of_pairs,
    line_at,
    logits_at,
    region_around,
)
from dmfroc.extend import (
    Column,
    CurveBand,
    Name,
    PerDraw,
    Result,
    Table,
    estimate_from_draws,
    interval_of_draws,
    r_hat,
    renderer,
)
from dmfroc.results import Estimate

_SAME_THRESHOLD = 1e-7  # relative; that of a single-precision column differs by less
_GRID = np.concatenate([[0.0005, 0.002], np.linspace(0.005, 0.995, 199), [0.998, 0.9995]])

PairName = str | tuple[Any, Any]
"""A pair of classes as a table gives it, as ``"true from reference"`` or as a tuple."""

BothRates = Float[np.ndarray, "draws 2"]
"""The logits of sensitivity and false positive rate of each draw."""


@dataclass(frozen=True, eq=False, repr=False)
class SummaryROC(Result):
    """Summary of the accuracy of a test over studies; see `dmfroc.applications.summary_roc`.

    Attributes
    ----------
    studies : Studies
        The counts.
    settings : Settings
        The model, its priors, and the chains.
    posterior : xarray.DataTree
        All draws with named dimensions (chain, draw, study, effect, rate, point, pair), the
        sampler's statistics, the observed and the replicated counts.
    level : float
        Probability of intervals and regions.
    warnings : tuple of str
        What a careful reader has to know; chains that diverge or disagree among it.
    """

    drawn_by = "dmfroc.applications.meta_analysis.displays"
    main_table = "summary"
    json_names = ("level",)

    studies: Studies
    settings: Settings
    posterior: xarray.DataTree
    level: float
    warnings: tuple[str, ...]

    @property
    def sensitivity(self) -> Estimate:
        """Sensitivity of the mean study and average pair; of several thresholds see `at`."""
        return self._estimate("sensitivity")

    @property
    def specificity(self) -> Estimate:
        """Specificity of the mean study and average pair; of several thresholds see `at`."""
        return self._estimate("specificity")

    @cached_property
    def auc(self) -> Estimate:
        """Area under the summary curve, from one end to the other, beyond all studies as well."""
        return self._estimate("auc")

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
        sizes = self.studies.sizes[:, 1::2]
        rates = self.studies.positives[:, 1::2][sizes > 0] / sizes[sizes > 0, None]
        return float(np.nanmin(rates)), float(np.nanmax(rates))

    def region(
        self, kind: str = "credible", threshold: float | None = None, pair: PairName | None = None
    ) -> Float[np.ndarray, "corners 2"]:
        """Return the region of the summary point, or of the rates of a new study.

        Parameters
        ----------
        kind : {"credible", "prediction"}
            Where the mean study is, or where a further study of any size would be.
        threshold : float, optional
            At which threshold, if there are several.
        pair : str or tuple of (true, reference), optional
            The pair of classes, if there are several; by default the average pair.

        Returns
        -------
        numpy.ndarray of shape (corners, 2)
            Corners of a closed line, false positive rate and sensitivity: the ellipse of logits
            that holds a share `level` of the draws.
        """
        if kind not in ("credible", "prediction"):
            raise ValueError(f"kind must be 'credible' or 'prediction', but it is {kind!r}")
        mean, new = self._logits(threshold, pair)
        return region_around((mean if kind == "credible" else new)[:, ::-1], self.level)

    def point(self, threshold: float | None = None, pair: PairName | None = None) -> pd.Series:
        """Return the rates of the mean study, with intervals and predictions.

        Parameters
        ----------
        threshold : float, optional
            At which threshold, if there are several; it need be that of no study.
        pair : str or tuple of (true, reference), optional
            The pair of classes, if there are several; by default the average pair.

        Returns
        -------
        pandas.Series
            Posterior mean, interval, and interval of a new study, of sensitivity and specificity.

        Raises
        ------
        ValueError
            If a threshold is lacking, or does not belong here; see `at`. If there is no such pair.
        """
        return pd.Series(self._rates(*self._logits(threshold, pair)))

    def by_study(
        self, threshold: float | None = None, pair: PairName | None = None
    ) -> pd.DataFrame:
        """Return the counts of each study, and what the model makes of its rates.

        Parameters
        ----------
        threshold : float, optional
            At which threshold, if there are several. Studies that did not use it lack counts, all
            of them where none did.
        pair : str or tuple of (true, reference), optional
            The pair of classes, if there are several. Studies that lack it have no counts.

        Returns
        -------
        pandas.DataFrame
            By study: ``tp``, ``fn``, ``fp``, ``tn``; posterior mean and interval of both rates,
            which are drawn towards those of the other studies.

        Raises
        ------
        ValueError
            As those of `point`; if there are pairs and none is named.
        """
        studies, effects = self.studies, self._draws("study_effect")
        if pair is None and studies.pairs:
            raise ValueError(f"there are several pairs: name one, pair={studies.pairs[0]!r}")
        first = 0 if pair is None else 2 * self._index_of(pair)
        if studies.pairs:
            effects = effects[..., first : first + 2]
        logits = self._rate_logits(effects, threshold)
        wanted = 0.0 if threshold is None else float(threshold)
        is_point = np.isclose(studies.thresholds, wanted, rtol=_SAME_THRESHOLD, atol=0.0)
        positives = studies.positives[np.arange(len(logits[0])), :, is_point.argmax(axis=1)]
        positives = np.where(is_point.any(axis=1, keepdims=True), positives, np.nan)
        tp, fp = positives[:, first : first + 2].T
        n_cases, n_others = studies.sizes[:, first : first + 2].T
        counts = pd.DataFrame(
            {"tp": tp, "fn": n_cases - tp, "fp": fp, "tn": n_others - fp}, index=studies.names
        )
        rates = [self._rates(logits[:, study]) for study in range(len(studies.names))]
        return counts.join(pd.DataFrame(rates, index=studies.names)).rename_axis("study")

    def at(self, thresholds: float | Sequence[float] | np.ndarray) -> pd.DataFrame:
        """Return sensitivity and specificity at thresholds, with intervals and predictions.

        Parameters
        ----------
        thresholds : float, or sequence or array of float
            On the scale of the table; they need be those of no study.

        Returns
        -------
        pandas.DataFrame
            By threshold: posterior mean, interval, and interval of a new study, of either rate.

        Raises
        ------
        ValueError
            If the table had no thresholds, there is none here, or one is not finite (with
            ``threshold_scale="log"``, not positive).
        """
        wanted = np.ravel(np.asarray(thresholds)).tolist()
        if not wanted:
            raise ValueError("thresholds must hold one threshold at least, but it is empty")
        rows = [self.point(threshold) for threshold in wanted]
        return pd.DataFrame(rows, index=pd.Index(wanted, name="threshold", dtype=float))

    @property
    def heterogeneity(self) -> pd.DataFrame:
        """How studies differ: standard deviations and correlations of their effects.

        Posterior means and intervals; of the rates of a further study, the interval in which it
        is expected (of several thresholds see `at`). With pairs of classes, how the average pair
        differs between studies, and then how pairs differ.
        """
        effects = [str(x) for x in self.posterior["posterior"]["effect"].to_numpy()]
        sd, correlation = self._draws("sd"), self._draws("correlation")
        draws = {f"sd of {name}": sd[:, i] for i, name in enumerate(effects)}
        for j, second in enumerate(effects):
            for i, first in enumerate(effects[:j]):
                draws[f"correlation of {first} and {second}"] = correlation[:, j, i]
        if not self._has_thresholds:
            rates = _rates_of(self._draws("new_study"))
            draws |= {f"{name} of a new study": x for name, x in rates.items()}
        if self.studies.pairs:
            sd = self._draws("pair_sd")
            draws |= {f"sd of {name} between pairs": sd[:, i] for i, name in enumerate(effects)}
            draws["sd of a pair in a study"] = self._draws("within_sd")
        return pd.DataFrame({name: self._summary(x) for name, x in draws.items()}).T

    @property
    def pairs(self) -> pd.DataFrame:
        """Both rates of each pair of classes in the mean study, drawn towards the average pair.

        Columns are those of `point`.

        Raises
        ------
        ValueError
            If the table had no pairs.
        """
        self._check_pairs()
        rows = {pair: self.point(pair=pair) for pair in self.studies.pairs}
        return pd.DataFrame(rows).T.rename_axis("pair")

    def to_datatree(self) -> xarray.DataTree:
        """Return all draws with named dimensions, as ArviZ takes them."""
        tree = self.posterior.copy()
        tree.attrs |= {
            "model": self.settings.model,
            "level": self.level,
            "seed": self.settings.seed,
            "dmfroc_version": __version__,
        }
        return tree

    def leave_one_out(self) -> pd.DataFrame:
        """Fit the model without each study in turn.

        Returns
        -------
        pandas.DataFrame
            By study left out: the area without it, and unless there are several thresholds
            sensitivity and specificity, of the average pair of classes. ``shift`` is how far the
            mean effects move, in posterior standard deviations (Mahalanobis). ``surprise`` is the
            probability that a new study drawn from the others is nearer to their mean than this
            study, in the pairs that it has. It is near one for studies that the others do not
            expect. Divergences and R-hat are those of the chains.
        """
        location = self._draws("location")
        spread = np.cov(location.T)
        rows = {}
        for study, name in enumerate(self.studies.names):
            draws = draw(self.studies.without(study), self.settings, careful_kernel)
            sites = {key: x.reshape(-1, *x.shape[2:]) for key, x in draws.sites.items()}
            without = sites["location"]
            moved = without.mean(axis=0) - location.mean(axis=0)
            areas = area_under_line(sites["curve_intercept"], sites["curve_slope"])
            means = {} if self._has_thresholds else _rates_of(without)
            chains = xarray.Dataset(
                {"location": (("chain", "draw", "effect"), draws.sites["location"])}
            )
            rows[name] = {k: float(x.mean()) for k, x in (means | {"auc": areas}).items()} | {
                "shift": float(np.sqrt(moved @ np.linalg.solve(spread, moved))),
                "surprise": self._surprise(study, sites),
                "divergences": int(draws.sample_stats["diverging"].sum()),
                "r_hat": float(r_hat(chains)["location"].max()),
            }
        return pd.DataFrame(rows).T.rename_axis("study")

    def _surprise(self, study: int, sites: Mapping[str, np.ndarray]) -> float:
        """Return the probability that a new study is nearer to the mean of the others' draws."""
        location, factor = sites["location"], sites["factor"]
        covariance = (factor @ np.swapaxes(factor, 1, 2)).mean(axis=0)
        is_observed = np.full(location.shape[1], True)
        if self.studies.pairs:
            location = sites["pair_location"].reshape(len(location), -1)
            within = (sites["within_sd"] ** 2).mean()
            shared = covariance - within * np.eye(2)
            covariance = covariance_of_pairs(shared, within, len(self.studies.pairs), np)
            is_observed = self.studies.sizes[study] > 0
        effect = self._draws("study_effect")[:, study].mean(axis=0)
        deviation = (effect - location.mean(axis=0))[is_observed]
        total = (np.cov(location.T) + covariance)[np.ix_(is_observed, is_observed)]
        return float(chi2.cdf(deviation @ np.linalg.solve(total, deviation), len(deviation)))

    def plot_forest(self, **options: Any) -> Any:
        """Draw sensitivity and specificity of every study with intervals, and the summary.

        Takes what `ForestDisplay.plot` does; of several thresholds or pairs of classes name one.

        Returns
        -------
        ForestDisplay
            With the artists in ``axes_`` and ``figure_``.
        """
        return renderer(self, "plot_forest")(self, **options)

    def head(self) -> list[str]:
        """Return the number of studies, their size, and the model."""
        n_pairs, n_people = len(self.studies.pairs), self.studies.sizes.sum()
        size = f"{n_pairs} pairs of classes" if n_pairs else f"{n_people:.0f} people"
        return [f"{len(self.studies.names)} studies, {size}, {self.settings.model}"]

    def tables(self) -> list[Table]:
        """Return the summary, how studies differ, and, of one threshold and pair, the studies."""
        percent = f"{100 * self.level:g} % interval"
        rates = [] if self._has_thresholds else [self.sensitivity, self.specificity]
        values, differ = [*rates, self.auc], self.heterogeneity
        summary = [
            Column("summary", "summary", [Name(e.measure, e.title) for e in values], "name"),
            Column("value", "value", values, "estimate", percent),
        ]
        heterogeneity = [
            Column("effect", "effect", differ.index, "name"),
            Column("value", "mean", differ["value"]),
            Column("interval", percent, self._intervals(differ, ""), "interval"),
        ]
        tables = [
            Table("summary", "Mean study", summary, is_by_name=True),
            Table("heterogeneity", "How studies differ", heterogeneity, is_by_name=True),
        ]
        if rates and not self.studies.pairs:
            frame = self.by_study()
            studies = [Column("study", "study", frame.index, "name")]
            studies += [
                Column(x, x.upper(), frame[x].astype(int), "count")
                for x in ("tp", "fn", "fp", "tn")
            ]
            for e in rates:
                ends = self._intervals(frame, f"{e.measure}_")
                studies += [
                    Column(e.measure, e.title, frame[e.measure]),
                    Column(f"{e.measure}_interval", percent, ends, "interval"),
                ]
            tables.append(Table("studies", "Studies", studies, is_by_name=True))
        return tables

    def _intervals(self, frame: pd.DataFrame, prefix: str) -> list[tuple[float, float, float]]:
        columns = (frame[f"{prefix}{end}"] for end in ("low", "high"))
        return [(low, high, math.nan) for low, high in zip(*columns, strict=True)]

    @property
    def _has_thresholds(self) -> bool:
        return self.settings.model == "ordinal"

    def _logits(
        self, threshold: float | None = None, pair: PairName | None = None
    ) -> tuple[BothRates, BothRates]:
        """Return draws of the logits of both rates, of the mean study and of a new one."""
        mean, new = self._draws("location"), self._draws("new_study")
        if pair is not None:
            index = self._index_of(pair)
            pair_mean = self._draws("pair_location")[:, index]
            mean, new = pair_mean, new - mean + pair_mean
        return self._rate_logits(mean, threshold), self._rate_logits(new, threshold)

    def _rate_logits(
        self, effects: Float[np.ndarray, "*draw p"], threshold: float | None
    ) -> Float[np.ndarray, "*draw 2"]:
        """Return the logits of both rates for effects, at a threshold if there are several."""
        if not self._has_thresholds:
            if threshold is not None:
                raise ValueError(
                    "the rates are those of one threshold per study, whichever it was: name the "
                    "column of thresholds, summary_roc(..., threshold=)"
                )
            return effects
        if threshold is None:
            raise ValueError(
                "sensitivity and specificity are those of a threshold: see at(threshold), or name "
                "one, threshold="
            )
        check_threshold(threshold, self.studies.standardized.scale)
        cutoff = self.studies.standardized(np.array([[float(threshold)]]))
        rows = effects.reshape(-1, effects.shape[-1])
        logits = logits_at(self.settings.model, rows, cutoff, np)
        return logits.reshape(*effects.shape[:-1], 2)

    def _index_of(self, pair: PairName) -> int:
        self._check_pairs()
        name = name_of(pair) if isinstance(pair, tuple) else pair
        if name not in self.studies.pairs:
            raise ValueError(f"pair must be one of {self.studies.pairs}, but it is {pair!r}")
        return self.studies.pairs.index(name)

    def _check_pairs(self) -> None:
        if not self.studies.pairs:
            raise ValueError(
                "there are no pairs of classes: name their column, summary_roc(..., pair=)"
            )

    def _draws(self, name: str) -> Float[np.ndarray, "draws ..."]:
        values = self.posterior["posterior"][name].to_numpy()
        return values.reshape(-1, *values.shape[2:])

    def _estimate(self, name: str) -> Estimate:
        draws = self._draws("auc") if name == "auc" else _rates_of(self._logits()[0])[name]
        title = "AUC" if name == "auc" else name.capitalize()
        seed = self.settings.seed
        return estimate_from_draws(name, title, draws, self.level, seed, self.warnings)

    def _rates(self, mean: BothRates, new: BothRates | None = None) -> dict[str, float]:
        """Summarize logits of both rates, and the intervals of those of a new study."""
        row: dict[str, float] = {}
        for name, draws in _rates_of(mean).items():
            value, low, high = self._summary(draws).values()
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
            if new is not None:
                _, low, high = self._summary(_rates_of(new)[name]).values()
                row |= {f"{name}_predicted_low": low, f"{name}_predicted_high": high}
        return row

    def _summary(self, draws: PerDraw) -> dict[str, float]:
        low, high = interval_of_draws(draws, self.level).tolist()
        return {"value": float(draws.mean()), "low": low, "high": high}


def _rates_of(logits: BothRates) -> dict[str, PerDraw]:
    return {"sensitivity": expit(logits[:, 0]), "specificity": expit(-logits[:, 1])}
