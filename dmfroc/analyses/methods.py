"""All ways to obtain intervals, and which of them is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from dmfroc._kit.options import choice
from dmfroc.inference.bootstrap import BayesianBootstrap, Bootstrap
from dmfroc.inference.corrected_resampling import CorrectedResampling
from dmfroc.inference.interval_method import IntervalMethod
from dmfroc.inference.jackknife import Jackknife
from dmfroc.inference.options import Method, Options
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import Measure
from dmfroc.papers.paper_bootstrap import PaperBootstrap

METHODS: tuple[str, ...] = get_args(Method)
_CLASSES: dict[str, type[IntervalMethod]] = {
    method.name: method for method in (Jackknife, Bootstrap, BayesianBootstrap, PaperBootstrap)
}
_WITHOUT_FOLDS = ("paper_bootstrap", "bayes")
# Scores beyond which measures with kinks use the derivative, which exists almost everywhere: a
# bootstrap of them would take minutes.
_MANY_SCORES = 100_000


def choose_methods(
    name: str | None,
    measures: Sequence[Measure],
    predictions: Predictions,
    options: Options,
) -> list[IntervalMethod]:
    """Return the method of each measure: the one that was asked for, or the measure's default.

    Raises
    ------
    ValueError
        If there is no such method, an option is out of its range, or an option was given that no
        measure's method uses.
    """
    if name is not None:
        choice("method", name, METHODS)
    if options.target == "learner":
        if predictions.folds is None:
            raise ValueError("target='learner' needs folds=, whose values vary as fits do")
        if name is not None:
            raise ValueError(
                f"method={name!r} is about these fits; target='learner' has a method of its own"
            )
    if predictions.folds is not None and name in _WITHOUT_FOLDS:
        raise ValueError(
            f"method={name!r} knows no folds: use 'jackknife', 'bootstrap' or 'bayesian_bootstrap'"
        )
    chosen: list[type[IntervalMethod]]
    if options.target == "learner":
        chosen = [CorrectedResampling] * len(measures)
    elif name == "bayes":
        from dmfroc.bayes.method import Bayes  # imports NumPyro, which takes seconds

        chosen = [Bayes] * len(measures)
    elif name is not None:
        chosen = [_CLASSES[name]] * len(measures)
    else:
        defaults = [measure.default_method for measure in measures]
        # The derivative alone accounts for the error of estimated weights, also where it has kinks.
        draws = predictions.scores.size <= _MANY_SCORES and options.weights is None
        with_kinks = Bootstrap if draws else Jackknife
        chosen = [with_kinks if x == "bootstrap" else Jackknife for x in defaults]
    for option in options.given:
        # What the method of one measure does not use, that of another may.
        if all(option in method.remedies for method in chosen):
            raise ValueError(
                f"{option} is no option of method={chosen[0].name!r}: {chosen[0].remedies[option]}"
            )
    with_options = {method: method.from_options(options) for method in dict.fromkeys(chosen)}
    return [with_options[method] for method in chosen]
