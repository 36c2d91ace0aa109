"""The first arguments of a public function as predictions, with what it needs of them."""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal

from dmfroc.inputs.checks import Inputs, check_hard_labels, check_scores, one_class_message
from dmfroc.inputs.columns import Direction, Positive
from dmfroc.inputs.labels import place_of_class
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.score_doubts import labels_message

_BESIDE_TRUE = ("y_score", "labels", "sample_weight", "y_pred", "frequency_weight")
Needs = Literal["scores", "labels", "probabilities"]
"""What is judged: any real scores, hard labels, or scores that are probabilities."""


def as_predictions(
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    y_pred: Any = None,
    frequency_weight: Any = None,
    pos_label: Any = None,
    direction: Direction | None = None,
    needs: Needs = "scores",
    copy: bool = True,
    by_fold: bool = False,
    against_rest: bool = False,
    of_events: bool = False,
) -> Predictions:
    """Return `y_true` itself if it is a `Predictions`, else build one from arrays.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Finished predictions, or the observed classes.
    y_score, labels, sample_weight, y_pred, frequency_weight, direction : optional
        As in `Predictions.from_arrays`. None if `y_true` is a `Predictions`, which holds them.
    pos_label : hashable, optional
        The positive one of two classes, or one of more against the rest. The score of a
        `Predictions` keeps its meaning, see `Predictions.with_positive_class`.
    needs : {"scores", "labels", "probabilities"}
        What is to be judged. With ``"labels"`` a `Predictions` may have one observed class only.
    copy : bool
        If False, the predictions may share the memory of the scores, which must not change.
    by_fold : bool
        Whether the caller treats each fold by itself, and says in its result what is doubtful.
        Otherwise predictions in folds are refused, and doubts about scores are warnings.
    against_rest : bool
        Whether `pos_label` may be one of more than two classes.
    of_events : bool
        Whether classes are events that may lie beyond a horizon: scores need not be larger there.

    Returns
    -------
    Predictions
        Checked predictions.

    Raises
    ------
    TypeError, ValueError
        As in `Predictions.from_arrays`, or if a `Predictions` comes with further arguments.

    Examples
    --------
    >>> predictions = as_predictions([False, True], [0.2, 0.9])
    >>> as_predictions(predictions) is predictions
    True
    """
    inputs = Inputs(y_true, y_score, labels, sample_weight, y_pred, frequency_weight, copy=copy)
    inputs = inputs._replace(positive=Positive(pos_label, direction, of_events))
    if not isinstance(y_true, Predictions):
        if y_score is None and y_pred is None:
            ways = {"predictions": "such as y_true.predictions()", "update": "or y_true.compute()"}
            what = ["y_score is missing: pass y_true with y_score or y_pred, or one Predictions"]
            if isinstance(y_true, str | PathLike):
                what = [f"of a file pass Predictions.from_file({str(y_true)!r}, label=...)"]
            raise TypeError(
                ", ".join(what + [x for name, x in ways.items() if hasattr(y_true, name)])
            )
        check = check_hard_labels if y_score is None else check_scores
        predictions = Predictions._checked(check, inputs)
    else:
        given = [name for name in _BESIDE_TRUE if getattr(inputs, name) is not None]
        if given := given + ["direction"] * (direction is not None):
            raise TypeError(
                f"{', '.join(given)} cannot be given together with a Predictions, which has its "
                "own; build a new one with Predictions.from_arrays"
            )
        predictions = y_true
        if predictions.single is not None and pos_label is not None:
            place = place_of_class(pos_label, predictions.labels)
            chosen, other = (predictions.labels[x] for x in (place, 1 - place))
            if place != predictions.single:
                predictions = predictions.warned(
                    "pass pos_label= to Predictions.from_arrays as well if the score is that of "
                    f"class {chosen!r}, which it names: it is taken for that of class {other!r}, "
                    f"so that small values speak for class {chosen!r}"
                )
    if predictions.folds is not None and not by_fold:
        raise ValueError(
            "the predictions have folds, whose scores come from different fits and are not "
            "compared: estimate, evaluate and compare take means over folds. To pool the folds, "
            "pass Predictions without in_folds"
        )
    if needs == "scores" and not by_fold:
        predictions = predictions.warned(labels_message(predictions))
    if needs == "scores" and len(predictions.present) < 2:
        [only] = predictions.present
        raise ValueError(
            one_class_message("y_true", predictions.labels[only]) + ", except for measures of hard "
            "labels and means of losses"
        )
    if against_rest and predictions.n_classes > 2 and pos_label is not None:
        place_of_class(pos_label, predictions.labels)
        return predictions
    return predictions._with_positive(pos_label)
