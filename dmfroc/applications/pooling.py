"""Values of several sites, pooled by random effects: the mean, and what a new site would show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float
from scipy.special import betaincinv, chdtrc, expit, fdtrc, logit, ndtr, ndtri, stdtr, stdtrit

from dmfroc import Measure
from dmfroc.applications.sites import Site, check_alike, sites_of
from dmfroc.extend import (
    DEFAULT_LEVEL,
    Column,
    NamedEstimates,
    OmnibusTest,
    OnLine,
    RandomEffects,
    Scale,
    Table,
    cases_without_error,
    check_level,
    choice,
    digits,
    interval_text,
    positive,
    renderer,
    rounded,
    scale_of,
    warn,
)
from dmfroc.results import Comparison, Estimate, Evaluation, SubgroupComparison

PoolingMethod = Literal["reml", "bayes"]
_FEW_SITES = 5
_HALVINGS = 60
_LINEARISATIONS, _CLOSE = 100, 1e-6  # of sites at an end
_N_NODES = 2000  # values of tau in the posterior

PerNode = Float[np.ndarray, " j"]
"""One number for each value of tau."""

PerEnd = Float[np.ndarray, " 2"]
Source = Evaluation | Comparison | tuple[float, float] | str | PathLike[str]


@dataclass(frozen=True, eq=False, repr=False)
class PooledSites(NamedEstimates):
    """Values of several sites, their mean, and what is expected of a new site.

    Attributes
    ----------
    measure, title : str
        Name of what is pooled, and its name in tables.
    estimates : dict of str to Estimate
        By site.
    sizes : dict of str to int or None
        Number of observations of each site, if it is known.
    mean : Estimate
        Of the random effects: the value of the median site, since the true values are normal on
        the scale on which the range has no ends. Its standard error is on the measure's scale.
    fixed : Estimate
        The mean if all sites had the same true value.
    prediction : tuple of float
        Interval in which the true value of a new site is expected.
    tau, tau_interval : float, tuple of float
        Standard deviation between sites, on the scale where the range has no ends.
    i_squared : float
        Share of the variance of a typical site's value that is not by chance.
    heterogeneity : OmnibusTest
        Cochran's test that all sites have the same true value.
    weights : dict of str to float
        Share of each site in the mean.
    without : dict of str to Estimate
        The mean without each site in turn; empty if there are two.
    groups : dict of str to Estimate
        The mean of each group of sites, with one tau, if there are groups.
    between : OmnibusTest or None
        Test that these means are equal.
    points : dict of str to OnLine
        Value and standard error of each site, on the scale where the range has no ends.
    scale : str
        Name of that scale.
    left_out : dict of str to str
        Sites without a value or an error, and why.
    level, method : float, str
        Nominal coverage, and how the mean was found.
    warnings : tuple of str
        What a careful reader has to know.
    """

    drawn_by = "dmfroc.applications.pictures"
    main_table = "pooled"
    json_names = (
        *("measure", "method", "level", "tau", "tau_interval", "i_squared", "heterogeneity"),
        *("between", "scale", "left_out"),
    )

    measure: str
    title: str
    estimates: dict[str, Estimate]
    sizes: dict[str, int | None]
    mean: Estimate
    fixed: Estimate
    prediction: tuple[float, float]
    tau: float
    tau_interval: tuple[float, float]
    i_squared: float
    heterogeneity: OmnibusTest
    weights: dict[str, float]
    without: dict[str, Estimate]
    groups: dict[str, Estimate]
    between: OmnibusTest | None
    points: dict[str, OnLine]
    scale: str
    left_out: dict[str, str]
    level: float
    method: str
    warnings: tuple[str, ...]

    def tables(self) -> list[Table]:
        """Return the pooled values, the sites, and the groups of sites."""
        interval = f"{100 * self.level:g} % interval"
        own = f"{100 * next(iter(self.estimates.values())).level:g} % interval"
        new = replace(self.mean, standard_error=np.nan, interval=self.prediction)
        rows = {"mean": self.mean, "fixed effect": self.fixed, "a new site": new}
        columns = [
            Column("what", "of", rows, "name"),
            Column("value", self.title, rows.values(), "estimate", interval),
        ]
        sites = [
            Column("site", "site", self.estimates, "name"),
            Column("n", "n" if any(self.sizes.values()) else "", self.sizes.values(), "count"),
            Column("value", self.title, self.estimates.values(), "estimate", own),
            Column("weight", "weight", self.weights.values(), "percent"),
        ]
        if self.without:
            others = self.without.values()
            sites.append(Column("without", "mean without it", others, "estimate", interval))
        tables = [
            Table("pooled", f"{self.title} of {len(self.estimates)} sites", columns, True),
            Table("sites", f"{self.title} at each site", sites, is_by_name=True),
        ]
        if self.groups:
            groups = [
                Column("group", "sites", self.groups, "name"),
                Column("value", self.title, self.groups.values(), "estimate", interval),
            ]
            tables.append(Table("groups", "Means of groups of sites", groups, is_by_name=True))
        return tables

    def question_text(self) -> str:
        """Return the heading of a report without a title."""
        return f"{self.title} on average over {len(self.estimates)} sites, and at a new one"

    def verdict_text(self) -> list[str]:
        """Return the mean, what to expect of a new site, and how sites differ."""
        percent = f"{100 * self.level:g} %"
        low, high = map(digits, self.prediction)
        mean = f"{self.title} is {digits(self.mean.value)} on average over the sites"
        return [
            f"{mean} ({percent} interval {interval_text(self.mean)}).",
            f"At a new site it is expected between {low} and {high} ({percent}).",
            *self.foot(),
        ]

    def foot(self) -> list[str]:
        """Return how sites differ, the tests, and what was left out."""
        low, high = map(rounded, self.tau_interval)
        lines = [
            f"standard deviation between sites ({self.scale}): {rounded(self.tau)} "
            f"({100 * self.level:g} % interval {low} to {high}); I^2 {100 * self.i_squared:.0f} %",
            f"all sites equal: {self.heterogeneity}",
        ]
        lines += [] if self.between is None else [f"all groups equal: {self.between}"]
        return [*lines, *(f"left out: {name}, {why}" for name, why in self.left_out.items())]

    def plot_funnel(self, ax: Any = None) -> Any:
        """Draw the standard error of each site against its value."""
        return renderer(self, "plot_funnel")(self, ax=ax)


def pool(
    sites: Mapping[str, Source] | Sequence[Source] | SubgroupComparison | Any,
    *,
    measure: str | Measure | None = None,
    classifier: str | tuple[str, str] | None = None,
    by: Mapping[str, str] | None = None,
    method: PoolingMethod = "reml",
    tau_scale: float = 0.5,
    level: float = DEFAULT_LEVEL,
) -> PooledSites:
    """Pool the values of several sites, which may differ by more than chance.

    The true values of the sites are normal on the scale where the range of the measure has no
    ends: logit, logarithm, or the measure itself, as for differences. No rows are needed: sites
    hand in receipts, see `write_receipt`.

    Parameters
    ----------
    sites : sequence or dict of str to Evaluation, Comparison or path, or SubgroupComparison
        What each site found, or the file with its receipt, whose name is the name of the site. Or
        what `compare_subgroups` found of rows in one place, with ``by=`` their site; the result is
        the same. Or published values: a dict of (value, standard error) by site, or a table, or a
        file of one, with a column of names, of values, and of errors such as ``"se"``.
    measure : str or Measure, optional
        Which measure, if the sites have several, or what published values are. By default their
        column names it.
    classifier : str or tuple of two str, optional
        Of comparisons: the classifier whose value is pooled, or the two whose difference is. By
        default the difference of the two that there are.
    by : dict of str to str, optional
        The group of each site. Then the means of the groups are given too, and compared.
    method : {"reml", "bayes"}
        ``"reml"``: restricted maximum likelihood, the interval of Hartung, Knapp, Sidik and
        Jonkman, and predictions over the confidence distribution of tau. ``"bayes"``: the
        posterior with a half-normal prior on tau and a flat one on the mean, by quadrature.
    tau_scale : float
        Scale of that prior.
    level : float
        Nominal coverage, in (0, 1).

    Returns
    -------
    PooledSites
        Prints as tables, draws a forest with ``plot()`` and a funnel with ``plot_funnel()``.

    Warns
    -----
    UserWarning
        If a site is left out, sites have other classes or another version of dmfroc than others,
        or the same counts, or there are fewer than five.

    Raises
    ------
    TypeError, ValueError
        If fewer than two sites have a value with an error, a receipt was changed, or a site lacks
        the measure. Also if sites differ in the measure or the level, if one is there twice, or if
        an option is out of its range.

    References
    ----------
    Hartung and Knapp (2001), Sidik and Jonkman (2002) for the mean; Röver, Knapp and Friede (2015)
    for never less than the plain error; Viechtbauer (2007) for the interval of tau; Nagashima, Noma
    and Furukawa (2019) for predictions over the confidence distribution of tau.

    Examples
    --------
    >>> import numpy as np
    >>> from dmfroc import evaluate
    >>> rng = np.random.default_rng(0)
    >>> found = {}
    >>> shifts = {"north": 1.0, "south": 1.2, "east": 0.8, "west": 1.5, "sea": 1.1}
    >>> for site, shift in shifts.items():
    ...     y = rng.integers(2, size=300)
    ...     found[site] = evaluate(y, rng.normal(size=300) + shift * y, measures=["hand_till"])
    >>> pooled = pool(found)
    >>> 0.7 < pooled.mean.value < 0.85, pooled.prediction[1] > pooled.mean.interval[1]
    (True, True)
    >>> published = {"A": (0.81, 0.02), "B": (0.78, 0.04), "C": (0.68, 0.04)}
    >>> print(f"{pool(published, measure='hand_till').mean:.2f}")
    0.76
    """
    choice("method", method, get_args(PoolingMethod))
    both = classifier if isinstance(classifier, tuple) else (classifier,)
    for name, value, is_right, right in (
        ("measure", measure, isinstance(measure, str | Measure | None), "a name"),
        ("classifier", classifier, all(isinstance(x, str | None) for x in both), "a name or two"),
        ("by", by, isinstance(by, Mapping | None), "a dict of groups by site"),
    ):
        if not is_right:
            raise TypeError(f"{name} must be {right}, but it is a {type(value).__name__}")
    tau_scale, level = positive("tau_scale", tau_scale), check_level(level)
    named = sites_of(sites, measure, classifier, level)
    remarks = check_alike(named)
    left_out = {
        name: "whose value has no standard error"
        for name, x in named.items()
        if not (np.isfinite(x.point).all() and x.point.error > 0)
    }
    remarks += [f"left out: {name}, {why}" for name, why in left_out.items()]
    kept = {name: x for name, x in named.items() if name not in left_out}
    if len(kept) < 2:
        raise ValueError(
            f"at least two sites with a value and a standard error are needed, but there are "
            f"{len(kept)} of {len(named)}"
        )
    warn(remarks)
    if len(kept) < _FEW_SITES:
        remarks.append(
            f"{len(kept)} sites hardly show how much sites differ: the interval of a new site is "
            "wide, and may cover less than it states"
        )
    first = next(iter(kept.values())).estimate
    bounds = next(iter(kept.values())).bounds
    on = _Line(first, scale_of(bounds), level, method, tau_scale)
    model, [cost] = _model(kept)
    mean, tau, tau_interval = on.mean(model, cost)
    without = {}
    for name in kept if len(kept) > 2 else ():
        of_rest, [its_cost] = _model({k: x for k, x in kept.items() if k != name})
        without[name], *_ = on.mean(of_rest, its_cost)
    groups, between = on.groups(kept, by) if by is not None else ({}, None)
    statistic, freedom = float(model.statistic(0.0)[0]), float(len(kept) - 1)
    q = OmnibusTest(statistic / freedom, (freedom, np.inf), float(chdtrc(freedom, statistic)))
    (fixed,), ((variance,),) = model.fit(0.0)
    precisions = 1 / model.covariance.diagonal()
    typical = freedom * precisions.sum() / (precisions.sum() ** 2 - (precisions**2).sum())
    return PooledSites(
        measure=first.measure,
        title=first.title,
        estimates={name: x.estimate for name, x in kept.items()},
        sizes={name: x.n for name, x in kept.items()},
        mean=mean,
        fixed=on.beside_unseen(fixed, variance**0.5, float(ndtri((1 + level) / 2)), cost),
        prediction=on.back(on.mixture(model, of_new=True).quantiles(on.tails)),
        tau=tau,
        tau_interval=tau_interval,
        i_squared=tau**2 / (tau**2 + typical),
        heterogeneity=q,
        weights=dict(zip(kept, model.weights().tolist(), strict=True)),
        without=without,
        groups=groups,
        between=between,
        points={name: x.point for name, x in kept.items()},
        scale=("value", "logarithm", "logit")[int(np.isfinite(bounds).sum())],
        left_out=left_out,
        level=level,
        method=method,
        warnings=tuple(remarks),
    )


def _model(
    sites: Mapping[str, Site], design: Float[np.ndarray, "k p"] | None = None
) -> tuple[RandomEffects, Float[np.ndarray, " p"]]:
    """Return the model of the sites, and what an error that nobody saw costs in each mean.

    The design has one column of ones and zeros for each mean.

    A value without an error has no logit, and others have a larger logit and variance by chance. So
    if a site is at an end of the range, values between 0 and 1 are linearised at what is expected
    of them. Their variance is that of a case that all share, as in a generalized linear mixed model
    (Breslow and Clayton 1993). All sites of a mean together have one more case that nobody saw,
    half of it an error.
    """
    design = np.ones((len(sites), 1)) if design is None else design
    low, high = next(iter(sites.values())).bounds
    found = np.array([(x.estimate.value, x.estimate.standard_error) for x in sites.values()])
    if all(low < value < high for value, _ in found):
        values, errors = np.array([x.point for x in sites.values()]).T
        return RandomEffects(values, np.diag(errors**2), design), np.zeros(design.shape[1])
    n_cases = np.array([cases_without_error(x.estimate, (low, high)) for x in sites.values()])
    share = np.array([x.n for x in sites.values()], float)
    share /= share.sum()  # of each site in all cases
    values, errors = (found[:, 0] - low) / (high - low), found[:, 1] / (high - low)
    is_at_end = (values == 0) | (values == 1)
    of_mean = (design.T @ share)[design.argmax(axis=1)]
    cost = float((share / n_cases)[is_at_end].mean())
    costs = cost / (design.T @ share)
    shifted = values + cost / of_mean * np.where(values[is_at_end].mean() > 0.5, -1, 1) / 2
    mean = float(share @ shifted)
    variance = float(share**2 @ errors**2) + cost**2 / 2
    n = share * mean * (1 - mean) / variance
    furthest = -float(logit(cost / 2))  # where all would be at an end
    line = logit(np.clip(shifted, cost / 2, 1 - cost / 2))
    for _ in range(_LINEARISATIONS):
        expected = expit(line)
        slopes = expected * (1 - expected)
        on_logit = line + (shifted - expected) / slopes
        model = RandomEffects(on_logit, np.diag(1 / (n * slopes)), design)
        means = design @ model.fit(model.tau2)[0]
        kept = model.tau2 / (model.tau2 + 1 / (n * slopes))
        step = np.clip(means + kept * (on_logit - means), -furthest, furthest) - line
        if np.abs(step).max() < _CLOSE:
            break
        line = line + step / 2  # beside an end a whole step may lead farther away
    return model, costs


class _Mixture(NamedTuple):
    """Normal or t distributions, each with a weight."""

    means: PerNode
    errors: PerNode
    weights: PerNode
    freedom: float | int

    def quantiles(self, probabilities: PerEnd) -> PerEnd:
        """Return the values below which these probabilities lie, by bisection."""
        reach = 40 * self.errors
        low, high = (self.means - reach).min(), (self.means + reach).max()
        for _ in range(_HALVINGS):
            middle = (low + high) / 2 * np.ones(2)
            z = (middle[:, None] - self.means) / self.errors
            is_above = stdtr(self.freedom, z) @ self.weights < probabilities
            low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
        return (low + high) / 2


class _Line(NamedTuple):
    """The scale on which sites are pooled, and what estimates of it are called."""

    like: Estimate
    scale: Scale
    level: float
    method: str
    tau_scale: float

    def beside_unseen(self, value: float, error: float, quantile: float, cost: float) -> Estimate:
        """Return an estimate whose limits are those of one sample, with the error it lacks."""
        side = np.array([-1, 1])
        if cost == 0:
            return self.with_ends(value, error, value + side * quantile * error)
        mean = float(expit(value))
        n, quarter = 1 / (error**2 * mean * (1 - mean)), min(cost / 4, mean / 2, (1 - mean) / 2)
        moved = mean + side * quarter
        ends = betaincinv(n * moved, n * (1 - moved), ndtr(side * quantile))
        return self.with_ends(value, error, logit(ends))

    def with_ends(self, value: float, error: float, ends: PerEnd) -> Estimate:
        """Return an estimate from value, standard error and interval on the line."""
        back = float(self.scale.from_line(value))
        return replace(
            self.like,
            value=back,
            standard_error=error / float(self.scale.slope(back)),
            interval=self.back(ends),
            level=self.level,
            method=self.method,
            warnings=(),
            bias_corrected=None,
        )

    def back(self, ends: PerEnd) -> tuple[float, float]:
        """Return an interval on the measure's scale."""
        low, high = np.asarray(self.scale.from_line(ends)).tolist()
        return low, high

    def mean(
        self, model: RandomEffects, cost: float
    ) -> tuple[Estimate, float, tuple[float, float]]:
        """Return the mean, and the standard deviation between sites with its interval."""
        tails = self.tails
        if self.method == "reml":
            (mean,), ((variance,),) = model.corrected()
            low, high = np.sqrt(model.tau2_at(tails)).tolist()
            quantile = float(stdtrit(model.freedom, tails[1]))
            found = self.beside_unseen(mean, variance**0.5, quantile, cost)
            return found, model.tau2**0.5, (low, high)
        mixture = self.mixture(model, of_new=False)
        value = float(mixture.weights @ mixture.means)
        squares = mixture.errors**2 + (mixture.means - value) ** 2
        probable = (tails[0], 0.5, tails[1])
        low, middle, high = np.interp(probable, mixture.weights.cumsum(), self._taus()).tolist()
        error = float(np.sqrt(mixture.weights @ squares))
        if cost:
            found = self.beside_unseen(value, error, float(ndtri(tails[1])), cost)
        else:
            found = self.with_ends(value, error, mixture.quantiles(tails))
        return found, middle, (low, high)

    @property
    def tails(self) -> PerEnd:
        """The probabilities below the ends of an interval."""
        return np.array([(1 - self.level) / 2, (1 + self.level) / 2])

    def mixture(self, model: RandomEffects, *, of_new: bool) -> _Mixture:
        """Return the distribution over tau: the confidence distribution, or the posterior."""
        freedom: float = np.inf
        if self.method == "reml":
            tau2, freedom = model.nodes, model.freedom
            weights = np.full(len(tau2), 1 / len(tau2))
        else:
            logs = model.log_likelihood(tau2 := self._taus() ** 2)
            weights = np.exp(logs - logs.max())
            weights /= weights.sum()
        means, covariances = model.fits(tau2)
        errors = np.sqrt(covariances[:, 0, 0] + tau2 * of_new)
        return _Mixture(means[:, 0], errors, weights, freedom)

    def _taus(self) -> PerNode:
        """Return equally probable standard deviations of the half-normal prior."""
        below = (np.arange(_N_NODES) + 0.5) / _N_NODES
        return np.asarray(self.tau_scale * ndtri((1 + below) / 2))

    def groups(
        self, sites: Mapping[str, Site], by: Mapping[str, str]
    ) -> tuple[dict[str, Estimate], OmnibusTest]:
        """Return the means of groups of sites with one tau, and the test that they are equal."""
        if unknown := [name for name in sites if name not in by]:
            raise ValueError(f"by lacks the group of site {unknown[0]!r}: name one for each")
        names, place = np.unique([by[name] for name in sites], return_inverse=True)
        if not 1 < len(names) < len(sites):
            raise ValueError(
                f"by must have two groups or more, and fewer than the {len(sites)} sites, but it "
                f"has {len(names)}"
            )
        model, costs = _model(sites, np.eye(len(names))[place])
        means, covariance = model.corrected()
        quantile = float(stdtrit(model.freedom, (1 + self.level) / 2))
        errors = np.sqrt(covariance.diagonal()).tolist()
        estimates = [
            self.beside_unseen(mean, error, quantile, cost)
            for mean, error, cost in zip(means.tolist(), errors, costs, strict=True)
        ]
        contrasts = np.eye(len(names))[1:] - np.eye(len(names))[:1]
        gaps, freedom = contrasts @ means, (len(contrasts), model.freedom)
        square = float(gaps @ np.linalg.solve(contrasts @ covariance @ contrasts.T, gaps))
        f = square / len(contrasts)
        return dict(zip(names.tolist(), estimates, strict=True)), OmnibusTest(
            f, freedom, float(fdtrc(*freedom, f))
        )
