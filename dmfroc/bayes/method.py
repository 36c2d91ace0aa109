"""The posterior distributions as a method of `estimate` and `compare`: ``method="bayes"``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from threading import Lock
from typing import ClassVar

import arviz
import numpy as np
import xarray
from jaxtyping import Float

from dmfroc._kit.autodiff import value_and_derivatives
from dmfroc._kit.options import is_one_of
from dmfroc.bayes.pairs import drawn_areas
from dmfroc.bayes.posterior import Posterior, summarize
from dmfroc.bayes.roc import bayesian_roc
from dmfroc.bayes.tables import ALTERNATIVES, bayesian_table
from dmfroc.inference.draws import compare_draws
from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.influences import NO_VARIATION, influences_of
from dmfroc.inference.interval_method import USE_BOOTSTRAP, IntervalMethod, JointEstimates, Sample
from dmfroc.inference.options import Options
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.curve_areas import is_straight_between_points
from dmfroc.measures.measure import BoundMeasures, Measure, SummariesOfCounts, bind
from dmfroc.measures.statistics.curves import CurvePoints, curve_counts
from dmfroc.measures.statistics.pairs import pair_counts
from dmfroc.measures.statistics.shared import once_per_predictions
from dmfroc.multiclass.costs import PairWeights
from dmfroc.multiclass.measure import curve_options_of
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.results.estimate import Estimate

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Bayes(IntervalMethod):
    """Posteriors of measures of the multiclass curve, of its pairs, of curves and hard labels."""

    name: ClassVar[str] = "bayes"
    remedies: ClassVar[Mapping[str, str]] = {
        "groups": f"its observations are independent; {USE_BOOTSTRAP}",
        "stratify": (
            "it takes the class sizes as fixed; call bayesian_table with given='nothing', or leave "
            "it out"
        ),
        "interval_type": f"its intervals are quantiles; {USE_BOOTSTRAP}",
        "n_draws": "call bayesian_roc or bayesian_table, which have it, or leave it out",
    }
    warns_itself: ClassVar[bool] = True

    @classmethod
    def from_options(cls, options: Options) -> Bayes:
        """Return the method with the level and the seed."""
        return cls(options.level, options.seed)

    def estimates(
        self, measures: Sequence[Measure], bind: Callable[[], BoundMeasures], sample: Sample
    ) -> list[Estimate]:
        """Return each measure's posterior mean, standard deviation and quantiles."""
        return [self._estimate(measure, sample) for measure in measures]

    def _estimate(self, measure: Measure, sample: Sample) -> Estimate:
        found = self._posterior(measure, sample.predictions).to_estimate()
        return replace(found, measure=measure.name, title=measure.title)

    def _posterior(self, measure: Measure, predictions: Predictions) -> Posterior:
        options = curve_options_of(measure)
        if options is not None:
            if len(predictions.present) > 2 and not _knows(options):
                raise ValueError(
                    f"of the options of {measure.name} the posterior knows pair_weights alone: "
                    "call bayesian_roc, which has its own, or use method='bayesian_bootstrap'"
                )
            return self._curve(predictions, options.pair_weights)
        if measure.statistic is pair_counts:
            weights = weights_of_pairs(measure, predictions)
            return of_pairs(measure, self._curve(predictions, weights), predictions)
        if measure.statistic is curve_counts and is_straight_between_points(measure):
            return self._of_classes(measure, predictions)
        return bayesian_table(measure, predictions, level=self.level, random_state=self.seed)

    def _curve(self, predictions: Predictions, pair_weights: PairWeights = "equal") -> Posterior:
        if is_one_of(pair_weights, ("equal",)):
            return _drawn(predictions).curve(None, predictions, self.level, self.seed)
        return bayesian_roc(
            predictions, pair_weights=pair_weights, level=self.level, random_state=self.seed
        )

    def _of_classes(self, measure: Measure, predictions: Predictions) -> Posterior:
        if predictions.n_classes == 2:
            curves = [self._curve(predictions)]
        else:
            drawn = _drawn(predictions)
            curves = [
                drawn.curve(place, against_the_rest(predictions, place), self.level, self.seed)
                for place in predictions.present.tolist()
            ]
        return of_curves(measure, curves, predictions)

    def joint_estimates(
        self,
        measure: Measure,
        samples: Mapping[str, Sample],
        *,
        paired: bool,
        hypothesis: Hypothesis,
    ) -> JointEstimates:
        """Compare by the differences of draws.

        Posteriors of independent samples are independent. Those of the same observations have
        ranks that go together as the influences do, by a normal copula (Iman and Conover 1982);
        each by itself stays what it is.
        """
        estimates = {
            name: replace(self, seed=self.seed + (0 if paired else place))._estimate(
                measure, sample
            )
            for place, (name, sample) in enumerate(samples.items())
        }
        draws = {name: e.draws for name, e in estimates.items() if e.draws is not None}
        shortest = min(map(len, draws.values()))

        def interval_of(
            first: str, second: str | None, draws: Float[np.ndarray, " draws"], level: float
        ) -> tuple[float, float]:
            low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
            return float(low), float(high)

        kept = {name: of_classifier[:shortest] for name, of_classifier in draws.items()}
        if paired:
            kept = couple(kept, _correlation(measure, samples), self.seed)
        return compare_draws(measure, estimates, kept, interval_of, hypothesis, self.level)


class _Drawn:
    """Posteriors of curves of the same predictions, each drawn once for all measures of it."""

    def __init__(self) -> None:
        self._lock = Lock()  # `evaluate` estimates its measures in several threads
        self._curves: dict[tuple[int | None, float, int], Posterior] = {}

    def curve(
        self, place: int | None, predictions: Predictions, level: float, seed: int
    ) -> Posterior:
        """Return the posterior of all classes' curve, or of that of a class against the rest."""
        key = place, level, seed
        with self._lock:
            if key not in self._curves:
                self._curves[key] = bayesian_roc(predictions, level=level, random_state=seed)
            return self._curves[key]


@once_per_predictions
def _drawn(predictions: Predictions) -> _Drawn:
    return _Drawn()


def against_the_rest(predictions: Predictions, place: int) -> Predictions:
    """Return the predictions of a class, by its place among all, against all others."""
    return Predictions.from_arrays(
        predictions.true == place,
        predictions.scores[:, place],
        sample_weight=predictions.sample_weight,
    )


def couple(
    draws: Mapping[str, Float[np.ndarray, " draws"]],
    correlation: Float[np.ndarray, "m m"],
    seed: int,
) -> dict[str, Float[np.ndarray, " draws"]]:
    """Return the draws of each in the order of ranks that are correlated as given."""
    n_draws = len(next(iter(draws.values())))
    normal = np.random.default_rng(seed).multivariate_normal(
        np.zeros(len(correlation)), correlation, n_draws, method="eigh"
    )
    # Rounded, so that those of identical classifiers are the same in spite of rounding errors.
    ranks = normal.round(9).argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return {
        name: np.sort(of_one)[of_ranks]
        for (name, of_one), of_ranks in zip(draws.items(), ranks.T, strict=True)
    }


def _correlation(measure: Measure, samples: Mapping[str, Sample]) -> Float[np.ndarray, "m m"]:
    found = [
        influences_of([measure], bind(measure, sample.predictions), sample.predictions)
        for sample in samples.values()
    ]
    return correlation_of(np.stack([of_measure.influences for [of_measure] in found]))


def correlation_of(influences: Float[np.ndarray, "m n"]) -> Float[np.ndarray, "m m"]:
    """Return the correlation of what has these influences; none where one has no variation."""
    scale = np.sqrt((influences**2).sum(axis=1))
    varies = scale > NO_VARIATION
    unit = influences * (varies / np.where(varies, scale, 1.0))[:, None]
    correlation: Float[np.ndarray, "m m"] = unit @ unit.T
    np.fill_diagonal(correlation, 1.0)
    return correlation


def weights_of_pairs(measure: Measure, predictions: Predictions) -> PairWeights:
    """Return what the area of each pair weighs in a measure that is a weighted mean of them.

    With these weights the curve's posterior is as sure of the measure as the observations are.
    """
    assert measure.summary is not None
    table = pair_counts(predictions).count(predictions.sample_weight, np)
    _, derivatives = value_and_derivatives(measure.summary, table)
    of_areas = derivatives.won * np.outer(table.totals, table.totals)
    if np.ptp(of_areas[~np.eye(len(of_areas), dtype=bool)]) <= _ROUNDING:
        return "equal"
    matrix = np.ones((predictions.n_classes, predictions.n_classes))
    matrix[np.ix_(predictions.present, predictions.present)] = of_areas
    return matrix, matrix


def of_pairs(measure: Measure, curve: Posterior, predictions: Predictions) -> Posterior:
    """Return the posterior of a measure of the areas of the pairs, such as M, of that of a curve.

    Raises
    ------
    ValueError
        If the measure needs more than these areas and the class sizes, or the two columns of two
        classes rank differently.
    """
    assert measure.summary is not None
    table = pair_counts(predictions).count(predictions.sample_weight, np)
    n_classes = len(table.totals)
    is_pair = ~np.eye(n_classes, dtype=bool)
    products = np.outer(table.totals, table.totals)[is_pair]
    areas = drawn_areas(curve.posterior)
    if areas.shape[2] < len(products):  # two classes, of which one column has the model
        [one, other] = table.won[is_pair] / products
        if not np.isclose(one, other, rtol=0, atol=_ROUNDING):
            raise ValueError(
                f"the columns of the two classes rank differently, and the posterior of "
                f"{measure.name} knows that of the second alone: use method='bayesian_bootstrap'"
            )
    won = np.zeros((*areas.shape[:2], n_classes, n_classes))
    won[..., is_pair] = areas * products
    # The model says nothing of what is predicted, on which no value may depend.
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
    remarks = list(curve.warnings)
    return summarize(
        measure.name, measure.title, measure.name, tree, curve.level, curve.seed, remarks
    )


def of_curves(measure: Measure, curves: Sequence[Posterior], predictions: Predictions) -> Posterior:
    """Return the posterior of a measure of the curves of each class against the rest.

    Those of the classes are drawn separately. Their mean has them coupled like the posteriors of
    several classifiers: by the correlation of the influences on the value of each class.
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
        [found] = influences_of([measure], SummariesOfCounts(one, (measure.summary,)), predictions)
        influences.append(found.influences)
    labels = [predictions.labels[i] for i in predictions.present][-len(curves) :]
    named = {str(place): x for place, x in enumerate(values)}
    coupled = couple(named, correlation_of(np.stack(influences)), curves[0].seed)
    of_classes = np.stack(list(coupled.values()), axis=-1)
    shape = curves[0].posterior["posterior"]["auc"].shape
    tree = arviz.from_dict(
        {
            "posterior": {
                measure.name: of_classes.sum(axis=-1).reshape(shape),
                "of_class": of_classes.reshape(*shape, -1) / statistic.share,
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
    return summarize(
        measure.name, measure.title, measure.name, tree, curves[0].level, curves[0].seed, remarks
    )


def _knows(options: CurveOptions) -> bool:
    """Whether all options but the weights of the pairs are the default ones."""
    default = CurveOptions()
    names = {field.name for field in fields(CurveOptions)} - {"pair_weights"}
    return all(getattr(options, name) == getattr(default, name) for name in names)
