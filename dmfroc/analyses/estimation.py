"""Estimate a measure with its standard error and interval."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.later import Nothing
from dmfroc._kit.options import RandomState
from dmfroc._kit.remarks import warn
from dmfroc.analyses.catalogue import get_measure
from dmfroc.analyses.each_class import for_each_class
from dmfroc.analyses.evaluation import evaluate
from dmfroc.analyses.evidence import evidence_of, remarked_estimates
from dmfroc.analyses.horizons import HorizonCurves, by_horizon
from dmfroc.inference.influences import influences_on
from dmfroc.inference.method import IntervalMethod, Method
from dmfroc.inference.options import DEFAULT_LEVEL, Options
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.horizon import FollowUp
from dmfroc.measures.measure import Measure, caveats, undefined_message
from dmfroc.results.estimate import Estimate
from dmfroc.results.result import ResultsByName


@by_horizon
def estimate(
    measure: str | Measure,
    y_true: Any,
    y_score: Any = None,
    *surplus: Nothing,
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
) -> Estimate | HorizonCurves | ResultsByName[Estimate]:
    """Estimate a measure with its standard error and interval.

    Parameters
    ----------
    measure : str or Measure
        A name that `dmfroc.measures.MEASURES` lists, such as ``"dmf_auc"``, ``"hand_till"`` or
        ``"informedness"``, or a measure with options such as
        ``dmf_auc(pair_weights="prevalence")``.
    y_true : Predictions, Scan, or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores.
    labels, y_pred, sample_weight, frequency_weight
        As for `Predictions.from_arrays`. A weight says how much a row counts, not how often it
        was observed.
    pos_label : hashable, or several in a list, optional
        The positive one of two classes, by default the second of the labels: recall, average
        precision and other measures of one class are about it. Of more classes it is this one
        against the rest, by its column and its hard labels. A one-dimensional score is that of
        this class, as in scikit-learn. What is given in the order of the labels, such as costs,
        keeps the order of ``labels=``, by default the sorted one.
        Of several classes each is judged against the rest. Their intervals then hold for all at
        once, and p-values are adjusted for all by Holm's method.
    folds : array-like of shape (n,), several columns, or Folds, optional
        Of cross-validated scores: the fold in which each row was held out. The value is the mean
        over the folds of the measure inside the fold, and its interval is about the mean
        performance of these fitted models on new data; see the page on cross-validation. With
        ``Folds(fold, target="learner")`` it is about the learner.
    judge : array-like of shape (n,), or Judge, optional
        Labels of all rows by a judge, such as another model or a cheap test. Then ``y_true`` may be
        missing (None, NaN) where nobody verified: the value is that of the verified rows, made
        more precise by the judge's labels, see `JudgedLabels`. `Judge` says how rows were drawn.
    follow_up : FollowUp, optional
        How long rows were followed, ``FollowUp(time, horizon)``. Then ``y_true`` is the kind of
        event that ended this time; see the page on horizons.
    population : dict of label to float, float, array-like of shape (m, K), or Importance, optional
        The population that is asked about, if it is not that of the sample: the share of each
        class, or of two classes that of the positive one. Class sizes are taken as fixed; in every
        fold each class has its share. Or scores of rows of that population whose classes are not
        known: the shares are estimated from them, with their error. Or how much more often a row
        like this occurs in it, see `Importance`.
    groups : array-like of shape (n,), optional
        Patient, document, ... of each observation, if several belong together: then groups, not
        rows, are the independent units.
    stratify : bool, optional
        Whether to take the class sizes as fixed. By default they are random, as they are in most
        test sets, which makes the error of measures that depend on them larger, such as accuracy;
        for others, such as M, it makes no difference. If False, moreover, the observations are not
        told apart by class (nor are groups with several classes ever, so that True is refused with
        them). The result says which it is.
    method : str, Bootstrap, BayesianBootstrap or PaperBootstrap, optional
        ``"jackknife"``, the default (but for measures of your own with kinks the bootstrap is, up
        to 100,000 scores): infinitesimal jackknife; the standard error of M is DeLong's. A limit
        is the value at the least favourable weights of the units and of one observation more,
        which the sample does not show. The interval of a biased measure, such as the area under
        the convex hull, reaches further, see `Estimate.bias_corrected`.
        ``"bootstrap"``: units drawn with replacement. ``"bayesian_bootstrap"``: Dirichlet
        weights; its interval is a credible interval. ``"paper_bootstrap"``: that of Wang and
        Carvalho, whose intervals are far too narrow; it is here to reproduce their paper, and for
        the DMF-AUC only. ``"bayes"``: posterior mean, standard deviation and quantiles. Those of
        the DMF-AUC, of averages of pairwise areas and of areas under ROC curves are by
        `bayesian_roc`, those of measures of hard labels by `bayesian_table`, which have options and
        return the draws. The objects have options: ``Bootstrap(5000, interval="percentile")``.
    level : float
        Nominal coverage, in (0, 1).
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed of the replicates; the same seed gives the same numbers.

    Returns
    -------
    Estimate
        If the value is not finite, its error and interval are NaN, with a warning. If no
        observation makes a difference, as for a perfect classifier, the interval rests on one
        observation that the sample does not show, with a warning. With several horizons
        `HorizonCurves`, with limits that hold at each, and at all at once. With several classes in
        ``pos_label`` a dict by class.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or an option is out of its range
        or was given, whatever its value, and is not used by the method (the seed always may be).

    References
    ----------
    Jaeckel (1972), The infinitesimal jackknife; DeLong, DeLong and Clarke-Pearson (1988); Efron
    (1987), Better bootstrap confidence intervals; Rubin (1981), The Bayesian bootstrap.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X[::2, :2], y[::2])
    >>> print(estimate("hand_till", y[1::2], model.predict_proba(X[1::2, :2])))
    hand_till 0.9315 (95 % jackknife interval 0.8703 to 0.9657)
    """
    call = locals()
    remedy = 'put the measure first, estimate("hand_till", y_true, y_score)'
    options, given = Options.taken(estimate, call, remedy)
    measure = get_measure(measure)
    call |= {"measure": measure, "random_state": options.seed}
    if (each := for_each_class(estimate, call)) is not None:
        return each
    if options.at_horizons:
        own = {x: call[x] for x in call if x not in ("measure", "surplus", "others")}
        return evaluate(**own, measures=[measure])
    evidence = evidence_of(y_true, y_score, options, given, needs=measure.needs, copy=False)
    [result] = remarked_estimates(evidence, [measure])
    warn(result.caveats)
    return result


def influences(
    measure: str | Measure,
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    y_pred: Any = None,
) -> Float[np.ndarray, " n"]:
    """Return how much each observation contributes to the error of a measure's value.

    An observation's influence is its weight times the derivative of the value with respect to
    that weight. Standard errors, paired comparisons and whatever else rests on the sampling of
    observations follow from them: ``dmfroc.estimate(..., method="jackknife")`` uses nothing else.

    Parameters
    ----------
    measure, y_true, y_score, labels, sample_weight, y_pred
        As for `estimate`.

    Returns
    -------
    numpy.ndarray of shape (n,)
        In the order of the observations; 0 for those of weight zero. For measures that do not
        depend on the class frequencies they sum to zero within each class, for others over all.
        For Hand and Till's M of two classes they are DeLong's placements: that of a positive case
        is the share of negative cases below it, less the AUC, divided by the number of positive
        cases.

    Raises
    ------
    TypeError, ValueError
        As for `estimate`.

    References
    ----------
    Jaeckel (1972), The infinitesimal jackknife; DeLong, DeLong and Clarke-Pearson (1988).

    Examples
    --------
    >>> influences("hand_till", [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    array([ 0.125, -0.125, -0.125,  0.125])
    """
    chosen = get_measure(measure)
    predictions = as_predictions(
        y_true,
        y_score,
        labels=labels,
        sample_weight=sample_weight,
        y_pred=y_pred,
        needs=chosen.needs,
        copy=False,
        by_fold=True,
    )
    own = influences_on(chosen, predictions.counted)
    undefined = undefined_message({chosen: own.value}, predictions)
    warn([*caveats([chosen], predictions), undefined])
    influences = np.zeros(predictions.n_observations)
    influences[predictions.sample_weight > 0] = own.influences
    return influences
