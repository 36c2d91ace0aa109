"""Summary ROC curves: meta-analysis of the accuracy of a test from published counts."""

from __future__ import annotations

from typing import Any, cast, get_args

from dmfroc.applications.meta_analysis.data import ThresholdScale, read_studies
from dmfroc.applications.meta_analysis.fit import Settings, fit
from dmfroc.applications.meta_analysis.models import ModelName, SummaryPriors
from dmfroc.applications.meta_analysis.result import SummaryROC
from dmfroc.extend import RandomState, check_level, check_priors, check_size, choice, seed_of, warn

DEFAULT_SUMMARY_PRIORS = SummaryPriors()


def summary_roc(
    table: Any,
    *,
    study: str | None = "study",
    tp: str = "tp",
    fn: str = "fn",
    fp: str = "fp",
    tn: str = "tn",
    threshold: str | None = None,
    threshold_scale: ThresholdScale = "identity",
    pair: str | None = None,
    model: ModelName | None = None,
    priors: SummaryPriors = DEFAULT_SUMMARY_PRIORS,
    n_chains: int = 4,
    n_draws: int = 1000,
    n_warmup: int = 500,
    level: float = 0.95,
    random_state: RandomState = 0,
) -> SummaryROC:
    """Return the summary ROC curve of several studies from their published counts.

    Studies differ by more than chance: logits of sensitivity and false positive rate, or location
    and spread of the test's results, are drawn for each from a joint normal distribution. Counts
    given those are binomial (multinomial between several thresholds), with no correction of zeros.

    Parameters
    ----------
    table : data frame, or mapping of str to sequences
        One row per study, or per study and threshold, or per study and pair of classes.
    study : str or None
        Column with the name of the study; None takes each row for a study of its own. So does the
        default if there is no such column, and neither thresholds nor pairs.
    tp, fn, fp, tn : str
        Columns with the numbers of true positives, false negatives, false positives and true
        negatives. The defaults are found whatever their case, as TP, and so is that of the study.
    threshold : str, optional
        Column with the threshold at or above which a test result is positive. Studies may have
        one or several, and different ones.
    threshold_scale : {"identity", "log"}
        Scale of the thresholds on which test results are logistic.
    pair : str, optional
        Column with the pair of classes, (true, reference) or ``"true from reference"``: the cases
        are those of the first class, the non-cases those of the second.
    model : {"bivariate", "hsroc", "ordinal", "multiclass"}, optional
        ``"bivariate"``, the default without thresholds and pairs: normal logits of both rates
        (Reitsma).
        ``"hsroc"``: normal threshold and accuracy, and an asymmetry of the curve (Rutter and
        Gatsonis); the same distribution of the counts, with a prior on other parameters.
        ``"ordinal"``, the only one with thresholds: logistic test results with locations and
        log scales, of cases and of non-cases, that are jointly normal over the studies.
        ``"multiclass"``, the only one with pairs: normal logits of both rates, the sums of those
        of the average pair, of an effect of the pair, one of the study, and one of both.
    priors : SummaryPriors
        Scales of the prior.
    n_chains, n_draws, n_warmup : int
        Number of chains, of draws kept per chain, and of those before. Where chains diverge or
        disagree they are run again, twice as long and with smaller steps.
    level : float
        Probability of intervals and regions, in (0, 1).
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed of the draws.

    Returns
    -------
    SummaryROC
        Summary point, curve, regions, heterogeneity and all draws. The area is in (0, 1), and 1/2
        for a test that says nothing.

    Warns
    -----
    UserWarning
        If after the second run chains still diverge or disagree. If there are fewer than five
        studies (or such with cases, or with non-cases), or only two pairs of classes: then the
        prior decides how much these differ. If there are fewer than three studies with several
        thresholds. If people of a study lack at some thresholds, or a class has not as many people
        in each of its pairs.

    Raises
    ------
    TypeError, ValueError
        If the table lacks a column, or holds values that are no counts. If it has fewer than three
        studies with cases or with non-cases, or a single pair of classes, or one and its mirror
        image. If thresholds of a study cannot be of the same people, or an option is out of its
        range.

    References
    ----------
    Reitsma et al. (2005), Bivariate analysis of sensitivity and specificity produces informative
    summary measures in diagnostic reviews; Rutter and Gatsonis (2001), A hierarchical regression
    approach to meta-analysis of diagnostic test accuracy evaluations; Harbord et al. (2007), A
    unification of models for meta-analysis of diagnostic accuracy studies; Jones et al. (2019),
    Quantifying how diagnostic test accuracy depends on threshold in a meta-analysis.

    Examples
    --------
    >>> counts = {
    ...     "tp": [47, 126, 19, 36, 130, 84, 68, 752, 59, 142],
    ...     "fn": [9, 51, 10, 3, 19, 2, 0, 0, 5, 50],
    ...     "fp": [101, 272, 12, 78, 211, 68, 112, 3226, 55, 571],
    ...     "tn": [738, 1543, 192, 276, 959, 89, 423, 2977, 136, 2788],
    ... }
    >>> summary = summary_roc(counts, study=None)
    >>> print(f"{summary.sensitivity.value:.1f} {summary.specificity.value:.1f}")
    0.9 0.8
    """
    chosen = chosen_model(model, threshold, pair)
    check_level(level)
    check_size(n_chains=n_chains, n_draws=n_draws, n_warmup=n_warmup)
    check_priors(priors, SummaryPriors)
    roles = {"study": study, "threshold": threshold, "pair": pair}
    counted = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    studies = read_studies(table, roles | counted, threshold_scale)
    settings = Settings(chosen, priors, n_chains, n_draws, n_warmup, seed_of(random_state))
    posterior, remarks = fit(studies, settings)
    remarks = [*studies.remarks, *remarks]
    warn(remarks)
    return SummaryROC(studies, settings, posterior, level, tuple(remarks))


def chosen_model(model: str | None, threshold: str | None, pair: str | None) -> ModelName:
    """Return the model that was asked for, or that of the table."""
    if model is not None:
        choice("model", model, get_args(ModelName))
    if threshold is not None and pair is not None:
        raise ValueError(
            "threshold= and pair= are of different models: keep one threshold of each study and "
            "pair, or the rows of one pair"
        )
    column = {"ordinal": "threshold=", "multiclass": "pair="}
    default = "ordinal" if threshold is not None else "bivariate" if pair is None else "multiclass"
    if model is None or model == default:
        return cast(ModelName, default)
    if default in column:
        raise ValueError(
            f"model={model!r} does not know {column[default]}: leave it out, with one row per "
            f"study, or use model={default!r}"
        )
    if model in column:
        raise ValueError(
            f"model={model!r} needs a column, {column[model]}: name it, or use model='bivariate'"
        )
    return cast(ModelName, model)
