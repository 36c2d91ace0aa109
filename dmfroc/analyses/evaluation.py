"""Everything about one classifier at a glance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from dmfroc._kit.arrays import Covariance
from dmfroc._kit.later import Nothing
from dmfroc._kit.options import RandomState, is_one_of, listed
from dmfroc._kit.remarks import warn
from dmfroc._kit.text import split_calls
from dmfroc.analyses.catalogue import MEASURES, Measures, get_measure
from dmfroc.analyses.each_class import for_each_class
from dmfroc.analyses.evidence import Evidence, evidence_of, remarked_estimates
from dmfroc.analyses.horizons import HorizonCurves, by_horizon, over_horizons
from dmfroc.inference.evidence import FactsInMemory, facts_in
from dmfroc.inference.method import IntervalMethod, Method
from dmfroc.inference.options import DEFAULT_LEVEL, Options
from dmfroc.inference.units import Sample
from dmfroc.inputs.arguments import Needs
from dmfroc.inputs.horizon import FollowUp
from dmfroc.inputs.messages import shortened
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import Measure
from dmfroc.multiclass.band import BandKind, CurveBand, check_kind
from dmfroc.multiclass.costs import PairWeights
from dmfroc.multiclass.curve import MulticlassROC
from dmfroc.multiclass.measure import curve_options_of, dmf_auc
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.results.estimate import (
    Estimate,
    NamedEstimates,
    agreement_table,
    are_same,
    estimates_table,
    judge_table,
    names_shown,
    of_measures,
    title_for,
)
from dmfroc.results.result import ResultsByName, sample_attributes
from dmfroc.results.table import Table

DEFAULT_MEASURES = ("dmf_auc", "hand_till", "informedness")
DEFAULT_MEASURES_OF_LABELS = ("informedness", "markedness", "gorodkin_correlation", "accuracy")
_MANY_MEASURES = 10
_OF_PAIRS = ("multiclass ROC", "ranking")  # families
_QUESTIONS = {  # families of measures; all others are of decisions
    "Do the scores put cases in order?": (*_OF_PAIRS, "precision-recall"),
    "What do thresholds give?": ("operating points", "selective prediction"),
    "Are the probabilities right?": ("probabilities", "calibration"),
    "What do decisions gain?": ("decisions", "costs"),
    "Are the decisions right?": (),
}


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(NamedEstimates):
    """Measures of one classifier with their intervals, and its ROC curve.

    Attributes
    ----------
    predictions : Predictions
        What was evaluated; of a scan or an accumulator the classes, how often they occur and are
        predicted, without the scores.
    estimates : dict of str to Estimate
        By name of the measure.
    curve_options : CurveOptions
        The options of the curve: those of the first of its areas that was asked for.
    area : str or None
        The name of that area among the estimates.
    sample : Sample
        The observations that count, and which of them are independent; where scores are counted,
        how many units each stratum has.
    evidence : Evidence
        What gives the curve and its band.
    measures : tuple of Measure
        What was estimated.
    notes : tuple of str
        Which measures ``"all"`` leaves out.
    curve : MulticlassROC
        The multiclass ROC curve, with the options of its area, computed when it is first asked
        for.
    """

    main_table: ClassVar[str] = "estimates"

    predictions: Predictions
    estimates: dict[str, Estimate]
    curve_options: CurveOptions
    area: str | None
    sample: Sample
    evidence: Evidence
    measures: tuple[Measure, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)

    @cached_property
    def curve(self) -> MulticlassROC:
        """The multiclass ROC curve."""
        return self.evidence.curve(self.curve_options)

    @property
    def has_all_scores(self) -> bool:
        """Whether all scores are in memory."""
        return self.predictions.has_all_scores

    @property
    def design(self) -> Mapping[str, Any]:
        """What of the design changes the meaning of the values, by name."""
        weights = self.curve_options.pair_weights
        kind = weights if isinstance(weights, str) else "costs"
        return {**super().design, **({} if kind == "equal" else {"pair_weights": kind})}

    @property
    def level(self) -> float:
        """Nominal coverage of the intervals."""
        return next(e.level for e in self.estimates.values())

    @property
    def area_estimate(self) -> Estimate | None:
        """The area under the curve with its interval: the jackknife's if none was asked for.

        Of counted scores it is None if it was not asked for.
        """
        if self.area is not None:
            return self.estimates[self.area]
        found = self.evidence.area(self.curve_options, self.level)
        return found and replace(found, title=title_for(found.title, self.predictions))

    def band(self, kind: BandKind = "pointwise") -> CurveBand | None:
        """Return the jackknife's band of the curve, of the same units and level.

        Parameters
        ----------
        kind : {"pointwise", "simultaneous"}
            Whether it holds at each point, or around the whole curve.

        Returns
        -------
        CurveBand or None
            None for folds, whose mean curve has no band.

        Raises
        ------
        ValueError
            If ``kind`` is neither, or scores are counted in bins and rows belong together in
            groups.
        """
        check_kind("band", kind)
        if self.predictions.folds is not None:
            return None
        return self.evidence.band(self.curve, self.curve_options, self.level, kind)

    @property
    def covariance(self) -> Covariance:
        """Of the values, in the order of the estimates; NaN where it is not known."""
        return self.evidence.covariance(self.measures)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a careful reader has to know, each warning once for all measures that it names."""
        return (*of_measures((e.warned_as, e.warnings) for e in self.shown), *self.notes)

    @property
    def shown(self) -> list[Estimate]:
        """The estimates in tables: the DMF-AUC and M once if both are the AUC of two classes."""
        titles = {name: e.title for name, e in self.estimates.items()}
        return [self.estimates[name] for name in names_shown(titles)]

    def attributes(self) -> dict[str, Any]:
        """Return the observations by class, the method and the level."""
        first = next(iter(self.estimates.values()))
        return sample_attributes(self.predictions) | {"method": first.method, "level": first.level}

    def tables(self) -> list[Table]:
        """Return all measures with their intervals."""
        tables = [estimates_table(self.shown)]
        if (labels := self.evidence.agreement) is not None:
            judged = judge_table((e.title, e.judge) for e in self.shown)
            tables += [judged, agreement_table({"": labels})]
        return tables

    def printed_tables(self) -> list[Table]:
        """Return the tables, that of many measures by the questions that they answer."""
        measures, *others = self.tables()
        places = {x[0].key: i for i, x in enumerate(measures.rows)}
        if len(places) <= _MANY_MEASURES:
            return [measures, *others]
        left = [x for x in places if x not in _other_names_of_the_auc(self)]
        family = {name: MEASURES[name].family for name in left if name in MEASURES}
        parts = []
        for question, families in _QUESTIONS.items():
            own = [x for x in left if not families or family.get(x) in families]
            left = [x for x in left if x not in own]
            columns = [
                replace(c, cells=[tuple(c.cells)[places[x]] for x in own]) for c in measures.columns
            ]
            key = f"estimates-{(families or ('labels',))[0].split()[0]}"
            part = replace(measures, key=key, title=question, columns=columns, is_part=True)
            parts += [part] * bool(own)
        return [*parts, *others]

    def head(self) -> list[str]:
        """Return the sample in a line."""
        return [repr(self.predictions)]


def _other_names_of_the_auc(evaluation: Evaluation) -> set[str]:
    """Return the areas that are the AUC of two classes, too."""
    area = evaluation.estimates.get("hand_till")
    if area is None or evaluation.predictions.n_classes > 2:
        return set()
    return {
        name
        for name, e in evaluation.estimates.items()
        if name in MEASURES and MEASURES[name].family in _OF_PAIRS
        if e is not area and are_same(e, area)
    }


@by_horizon
def evaluate(
    y_true: Any,
    y_score: Any = None,
    *surplus: Nothing,
    measures: Measures = None,
    pair_weights: PairWeights = "equal",
    labels: Any = None,
    pos_label: Any = None,
    y_pred: Any = None,
    sample_weight: Any = None,
    frequency_weight: Any = None,
    groups: Any = None,
    stratify: bool | None = None,
    folds: Any = None,
    judge: Any = None,
    follow_up: FollowUp[Any] | None = None,
    population: Any = None,
    method: Method | IntervalMethod | None = None,
    level: float = DEFAULT_LEVEL,
    random_state: RandomState = 0,
    **others: Nothing,
) -> Evaluation | HorizonCurves | ResultsByName[Evaluation]:
    """Evaluate a classifier: measures with intervals, and the multiclass ROC curve.

    Parameters
    ----------
    y_true : Predictions, Scan, or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores; any real numbers, rows need not sum to one. Without them, with ``y_pred`` alone,
        hard labels are judged.
    measures : sequence of str or Measure, or one of them, or "all", optional
        Names of measures, or measures, no two of the same name; or one text with commas between
        names. By default ``"dmf_auc"``,
        ``"hand_till"`` and ``"informedness"``, the last only if there are hard labels (a
        one-dimensional score has none by itself). Without scores by default ``"informedness"``,
        ``"markedness"``, ``"gorodkin_correlation"`` and ``"accuracy"``, and ``"all"`` are those
        of hard labels.
    pair_weights
        Weights or costs of the pairs for the curve and its area ``"dmf_auc"``, see
        `multiclass_roc`; a `Measure` such as ``dmf_auc(shrinkage=50)`` keeps its own, and the
        curve is that of the first such measure.
    labels, y_pred, sample_weight, frequency_weight
        As for `Predictions.from_arrays`.
    pos_label, groups, stratify, folds, judge, follow_up, population, method, level, random_state
        As for `estimate`.

    Returns
    -------
    Evaluation
        Prints as a table, converts with ``to_pandas()``, draws with ``plot()``. With several
        horizons `HorizonCurves`, without the ROC curve.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, an option is out of its
        range or used by no measure's method, or two measures have the same name.

    References
    ----------
    Wang and Carvalho (2024), Multiclass ROC.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(3, size=200)
    >>> scores = rng.normal(size=(200, 3)) + 1.5 * np.eye(3)[y]
    >>> evaluation = evaluate(y, scores)
    >>> round(evaluation.estimates["hand_till"].value, 3)
    0.869
    >>> list(evaluation.to_pandas().index)
    ['dmf_auc', 'hand_till', 'informedness']
    >>> list(evaluate(y, y_pred=scores.argmax(axis=1)).estimates)
    ['informedness', 'markedness', 'gorodkin_correlation', 'accuracy']
    """
    call = locals()
    remedy = "evaluate(df['y'], df['p']), or evaluate(y, model.predict_proba(X))"
    options, given = Options.taken(evaluate, call, remedy)
    measures = listed_measures(measures)  # what may be read once is read now
    call |= {"measures": measures, "random_state": options.seed}
    if (each := for_each_class(evaluate, call)) is not None:
        return each
    is_scored = given["y_pred"] is None and getattr(y_true, "has_scores", True)
    has_scores = y_score is not None or is_scored
    needs: Needs = "scores" if has_scores else "labels"
    if isinstance(measures, list):
        of_each = {get_measure(measure).needs for measure in measures}
        ordered: tuple[Needs, ...] = ("scores", "probabilities")
        needs = next((x for x in ordered if x in of_each), "labels")

    def facts_at(one: Options) -> dict[str, FactsInMemory]:
        at = evidence_of(y_true, y_score, one, given, needs=needs)
        chosen = _choose(measures, at.predictions, pair_weights, has_scores)
        return {m.name: facts_in(at.sample, m) for m in chosen}

    if options.at_horizons:
        return over_horizons(facts_at, options)
    evidence = evidence_of(y_true, y_score, options, given, needs=needs)
    return evaluation_of(evidence, measures, pair_weights, has_scores=has_scores)


def listed_measures(measures: Measures) -> list[str | Measure] | str | None:
    """Return measures as a list, unless they are "all" or those by default."""
    if measures is None or (isinstance(measures, str) and measures == "all"):
        return measures
    several = split_calls(measures) if isinstance(measures, str) else measures
    return [several] if isinstance(several, Measure) else listed("measures", several)


def evaluation_of(
    evidence: Evidence, measures: Measures, pair_weights: PairWeights, *, has_scores: bool = True
) -> Evaluation:
    """Evaluate the classifier that the evidence describes."""
    measures = listed_measures(measures)
    chosen = _choose(measures, evidence.predictions, pair_weights, has_scores)
    if not isinstance(measures, list):
        chosen = evidence.possible(chosen)
    notes = _left_out(chosen, evidence.predictions, has_scores) if measures == "all" else ()
    estimates = {e.measure: e for e in remarked_estimates(evidence, chosen)}
    curves = ((m.name, options) for m in chosen if (options := curve_options_of(m)) is not None)
    area, curve_options = next(curves, None) or (None, CurveOptions(pair_weights))
    shown = evidence.predictions
    if evidence.options.follow_up is not None:
        shown = evidence.sample.predictions  # the rows whose class is known
    found = Evaluation(
        shown, estimates, curve_options, area, evidence.sample, evidence, tuple(chosen), notes
    )
    warn(of_measures((e.warned_as, e.caveats) for e in found.shown))
    return found


def _choose(
    measures: Measures, predictions: Predictions, pair_weights: PairWeights, has_scores: bool
) -> list[Measure]:
    """Return the measures asked for; the area that is asked for by name has the pair weights."""
    by_name = MEASURES
    if not is_one_of(pair_weights, ("equal",)):
        by_name = by_name | {"dmf_auc": replace(dmf_auc(pair_weights), name="dmf_auc")}
    if isinstance(measures, list):
        given = [(x, get_measure(x)) for x in measures]
        chosen = [by_name.get(m.name, m) if isinstance(x, str) else m for x, m in given]
        [(name, count)] = Counter(measure.name for measure in chosen).most_common(1)
        if count > 1:
            raise ValueError(
                f"measures has {count} of the name {name!r}, by which results are told apart: "
                "leave one out, or in Python rename it, dataclasses.replace(measure, name=...)"
            )
        return chosen
    defaults = DEFAULT_MEASURES if has_scores else DEFAULT_MEASURES_OF_LABELS
    return [
        by_name[name]
        for name in (by_name if measures == "all" else defaults)
        if (has_scores or by_name[name].needs == "labels") and by_name[name].applies_to(predictions)
    ]


def _left_out(chosen: list[Measure], predictions: Predictions, has_scores: bool) -> tuple[str, ...]:
    """Say which of all measures are not among the chosen ones, and why."""
    reasons: dict[str, list[str]] = {}
    for name in [x for x in MEASURES if x not in {measure.name for measure in chosen}]:
        is_possible = has_scores or MEASURES[name].needs == "labels"
        reason = MEASURES[name].obstacle(predictions) if is_possible else "needs scores"
        reasons.setdefault(reason or "is not counted in bins", []).append(name)
    if not reasons:
        return ()
    reason = max(reasons, key=lambda x: len(reasons[x]))
    first = shortened(sorted(reasons.pop(reason), key=len))
    others = shortened([name for names in reasons.values() for name in names])
    others = f"; others do not apply: {others}" if others else ""
    return (f"measures='all' leaves out {first}: each {reason}{others}",)
