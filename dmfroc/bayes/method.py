"""The posterior distributions as a method of `estimate` and `compare`: ``method="bayes"``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from threading import Lock
from typing import ClassVar

import arviz_base
import numpy as np
import xarray
from jaxtyping import Float

from dmfroc._kit.arrays import Covariance, PerDraw, value_and_derivatives
from dmfroc._kit.options import is_one_of
from dmfroc.bayes.models import Likelihood
from dmfroc.bayes.pairs import drawn_areas
from dmfroc.bayes.posterior import Posterior, interval_of_draws, summarize
from dmfroc.bayes.roc import bayesian_roc
from dmfroc.bayes.tables import ALTERNATIVES, table_posterior
from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.influences import NO_VARIATION, influences_of, influences_on
from dmfroc.inference.limits import Interval
from dmfroc.inference.method import (
    USE_BOOTSTRAP,
    IntervalMethod,
    JointEstimates,
    compare_draws,
)
from dmfroc.inference.units import Sample, are_paired
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import BoundMeasures, SummariesOfCounts
from dmfroc.measures.curve_areas import is_straight_between_points
from dmfroc.measures.measure import Measure
from dmfroc.measures.statistics.curves import CurvePoints, curve_counts
from dmfroc.measures.statistics.pairs import pair_counts
from dmfroc.measures.statistics.statistic import once_per_predictions
from dmfroc.multiclass.costs import PairWeights
from dmfroc.multiclass.measure import curve_options_of
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.results.estimate import Estimate

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Bayes(IntervalMethod):
    """Posteriors of measures of the multiclass curve, of its pairs, of curves and hard labels."""

    name = "bayes"
    remedies: ClassVar[Mapping[str, str]] = {
        "groups": f"its observations are independent; {USE_BOOTSTRAP}",
        "stratify": (
            "it takes the class sizes as random for tables, and as fixed for curves; leave it out, "
            "or in Python call bayesian_table with given='class_sizes'"
        ),
    }
    warns_itself = True

    def estimates(
        self, measures: Sequence[Measure], bind: Callable[[], BoundMeasures], sample: Sample
    ) -> list[Estimate]:
        """Return each measure's posterior mean, standard deviation and quantiles."""
        return [self._estimate(measure, sample) for measure in measures]

    def _estimate(self, measure: Measure, sample: Sample) -> Estimate:
        estimate = self._posterior(measure, sample.predictions).to_estimate()
        return replace(estimate, measure=measure.name, title=measure.title)

    def _posterior(self, measure: Measure, predictions: Predictions) -> Posterior:
        options = curve_options_of(measure)
        if options is not None:
            if len(predictions.present) > 2 and not _knows(options):
                raise ValueError(
                    f"of the options of {measure.name} the posterior knows pair_weights alone: "
                    "use method='bayesian_bootstrap', or in Python bayesian_roc, which has its own"
                )
            return self._curve(predictions, pair_weights=options.pair_weights)
        if measure.statistic is pair_counts:
            curve = self._curve(predictions, "ordinal", weights_of_pairs(measure, predictions))
            return posterior_of_pairs(measure, curve, predictions)
        if measure.statistic is curve_counts and is_straight_between_points(measure):
            places = [None] if predictions.n_classes == 2 else predictions.present.tolist()
            curves = [self._curve(predictions, place=place) for place in places]
            return posterior_of_curves(measure, curves, predictions)
        return table_posterior(measure, predictions, level=self.level, seed=self.seed)

    def _curve(
        self,
        predictions: Predictions,
        likelihood: Likelihood | None = None,
        pair_weights: PairWeights = "equal",
        place: int | None = None,
    ) -> Posterior:
        """Return the posterior of all classes' curve, or of that of a class against the rest.

        It is drawn once for all measures, unless pairs have weights of their own.
        """
        lock, curves = _cached_curves(predictions)
        likelihood = None if len(predictions.present) == 2 else likelihood  # ordinal anyway
        key = place, likelihood, self.level, self.seed
        if place is not None:
            predictions = against_the_rest(predictions, place)
        draw = partial(
            bayesian_roc,
            predictions,
            pair_weights=pair_weights,
            likelihood=likelihood,
            level=self.level,
            random_state=self.seed,
        )
        if not is_one_of(pair_weights, ("equal",)):
            return draw()
        with lock:
            if key not in curves:
                curves[key] = draw()
            return curves[key]

    def joint_estimates(
        self, measure: Measure, samples: Mapping[str, Sample], hypothesis: Hypothesis
    ) -> JointEstimates:
        """Compare by the differences of draws.

        Posteriors of independent samples are independent. Those of the same observations have
        ranks that go together as the influences do, by a normal copula (Iman and Conover 1982);
        each by itself stays what it is.
        """
        paired, estimates = are_paired(samples), {}
        for place, (name, sample) in enumerate(samples.items()):
            method = self if paired else self.at(self.level, self.seed + place)
            estimates[name] = method._estimate(measure, sample)
        draws = {name: e.draws for name, e in estimates.items() if e.draws is not None}
        shortest = min(map(len, draws.values()))
        draws = {name: x[:shortest] for name, x in draws.items()}
        if paired:
            influences = [influences_on(measure, s.predictions)[1] for s in samples.values()]
            draws = couple(draws, correlation_of(np.stack(influences)), self.seed)
        return compare_draws(
            measure,
            estimates,
            draws,
            lambda _, drawn, error: Interval(*interval_of_draws(drawn, 1 - error).tolist()),
            hypothesis,
            self.level,
        )


@once_per_predictions
def _cached_curves(
    predictions: Predictions,
) -> tuple[Lock, dict[tuple[int | None, Likelihood | None, float, int], Posterior]]:
    """Return the posteriors of curves that are drawn already, by class, likelihood, level, seed.

    They serve all measures of the same predictions, which `evaluate` estimates in several threads.
    """
    return Lock(), {}


def against_the_rest(predictions: Predictions, place: int) -> Predictions:
    """Return the predictions of a class, by its place among all, against all others."""
    return Predictions.from_arrays(
        predictions.true == place,
        predictions.scores[:, place],
        sample_weight=predictions.sample_weight,
    )


def couple(draws: Mapping[str, PerDraw], correlation: Covariance, seed: int) -> dict[str, PerDraw]:
    """Return the draws of each in the order of ranks that are correlated as given."""
    n_draws = len(next(iter(draws.values())))
    normal = np.random.default_rng(seed).multivariate_normal(
        np.zeros(len(correlation)), correlation, n_draws, method="eigh"
    )
    # Rounded, so that those of identical classifiers are the same in spite of rounding errors.
    ranks = normal.round(9).argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return {
        name: np.sort(x)[order] for (name, x), order in zip(draws.items(), ranks.T, strict=True)
    }


def correlation_of(influences: Float[np.ndarray, "m n"]) -> Covariance:
    """Return the correlation of values with these influences; zero if one has no variation."""
    scale = np.sqrt((influences**2).sum(axis=1))
    varies = scale > NO_VARIATION
    unit = influences * (varies / np.where(varies, scale, 1.0))[:, None]
    correlation: Covariance = unit @ unit.T
    np.fill_diagonal(correlation, 1.0)
    return correlation


def weights_of_pairs(measure: Measure, predictions: Predictions) -> PairWeights:
    """Return the weight of the area of each pair in a measure that is a weighted mean of them.

    With these weights the curve's posterior is as certain of the measure as the observations are.
    """
    assert measure.summary is not None
    table = pair_counts(predictions).count(predictions.sample_weight, np)
    _, derivatives = value_and_derivatives(measure.summary, table)
    weights = derivatives.won * np.outer(table.totals, table.totals)
    if np.ptp(weights[~np.eye(len(weights), dtype=bool)]) <= _ROUNDING:
        return "equal"
    matrix = np.ones((predictions.n_classes, predictions.n_classes))
    matrix[np.ix_(predictions.present, predictions.present)] = weights
    return matrix, matrix


def posterior_of_pairs(measure: Measure, curve: Posterior, predictions: Predictions) -> Posterior:
    """Return the posterior of a measure of the areas of the pairs, such as M, given the curve's.

    Raises
    ------
    ValueError
        If the measure needs more than these areas and the class sizes.
    """
    assert measure.summary is not None
    table = pair_counts(predictions).count(predictions.sample_weight, np)
    n_classes = len(table.totals)
    is_pair = ~np.eye(n_classes, dtype=bool)
    products = np.outer(table.totals, table.totals)[is_pair]
    areas = drawn_areas(curve.posterior)
    won = np.zeros((*areas.shape[:2], n_classes, n_classes))
    won[..., is_pair] = areas * products
    # The model has no predicted classes, on which no value may depend.
    table = table._replace(predicted=np.full(n_classes, np.nan))
    values = np.reshape(
        [measure.summary(table._replace(won=x), np) for x in won.reshape(-1, *won.shape[2:])],
        won.shape[:2],
    )
    if np.isnan(values).any():
        raise ValueError(
            f"{measure.name} is no function of the areas of the pairs and of the class sizes "
            f"alone, and has no posterior: {ALTERNATIVES}"
        )
    tree = curve.posterior.copy()
    drawn = xarray.DataArray(values, dims=("chain", "draw"))
    tree["posterior"] = tree["posterior"].to_dataset().assign({measure.name: drawn})
    return summarize(measure.name, measure.title, tree, curve.level, curve.seed, curve.warnings)


def posterior_of_curves(
    measure: Measure, curves: Sequence[Posterior], predictions: Predictions
) -> Posterior:
    """Return the posterior of a measure of the curves of each class against the rest.

    The classes are drawn separately. For their mean they are coupled like the posteriors of several
    classifiers, by the correlation of the influences on the value of each class.
    """
    assert measure.summary is not None
    statistic = curve_counts(predictions)
    weights = predictions.sample_weight
    whole, values, influences = statistic.count(weights, np), [], []
    for place, curve in enumerate(curves):
        rates = (curve.posterior["posterior"][name].to_numpy() for name in ("tpr", "fpr"))
        tp, fp = (
            x.reshape(-1, 1, x.shape[2]) * total[place, -1]
            for x, total in zip(rates, whole[:2], strict=True)
        )
        one = statistic.some(slice(place, place + 1))
        values.append(measure.summary(CurvePoints(tp, fp, statistic.share, one.n_positives), np))
        bound = SummariesOfCounts(one, (measure.summary,))
        influences.append(influences_of([measure], bound, predictions)[0].influences)
    labels = [predictions.labels[i] for i in predictions.present][-len(curves) :]
    named = {str(place): x for place, x in enumerate(values)}
    coupled = couple(named, correlation_of(np.stack(influences)), curves[0].seed)
    classes = np.stack(list(coupled.values()), axis=-1)
    shape = curves[0].posterior["posterior"]["auc"].shape
    tree = arviz_base.from_dict(
        {
            "posterior": {
                measure.name: classes.sum(axis=-1).reshape(shape),
                "of_class": classes.reshape(*shape, -1) / statistic.share,
            }
        },
        dims={"of_class": ["class"]},
        coords={"class": labels},
    )
    remarks = [
        remark if len(curves) == 1 else f"class {label!r} against the rest: {remark}"
        for label, curve in zip(labels, curves, strict=True)
        for remark in curve.warnings
    ]
    first = curves[0]
    return summarize(measure.name, measure.title, tree, first.level, first.seed, remarks)


def _knows(options: CurveOptions) -> bool:
    """Whether all options but the weights of the pairs are the default ones."""
    default = CurveOptions()
    names = {field.name for field in fields(CurveOptions)} - {"pair_weights"}
    return all(getattr(options, name) == getattr(default, name) for name in names)
