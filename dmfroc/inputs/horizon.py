"""Outcomes that take time: kinds of events as classes, and which rows are known at a horizon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from dmfroc._kit.arrays import BoolPerRow
from dmfroc._kit.options import choice, found, numbers
from dmfroc._kit.remarks import warn
from dmfroc.inputs.arrays import Rows, is_missing
from dmfroc.inputs.checks import real_weights
from dmfroc.inputs.judge import labels_of
from dmfroc.inputs.labels import ABSENT, factorize
from dmfroc.inputs.messages import IN_MEMORY, Source, listing
from dmfroc.inputs.of_rows import OfRows
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.score_doubts import are_complements
from dmfroc.inputs.scores import class_scores

Ties = Literal["event", "event_free", "left_out"]
_WAYS = ("kaplan-meier", "strata", "cox")
_NO_EVENT = (0, "False", "no event")
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class FollowUp[H: (float, Sequence[float])](OfRows):
    """How long rows were followed, and when outcomes are looked at.

    Then ``y_true`` is the kind of event that ended the time of each row. The classes are the kinds
    of events up to the horizon, and, first, none. A score is the risk at the horizon: one column
    for each kind of event, or for each class, or a single marker for the one that ``pos_label``
    names. Rows that were censored before have no class; the others are weighted by one over the
    chance to stay uncensored.

    Attributes
    ----------
    time : array-like of shape (n,)
        How long each row was followed.
    horizon : float or sequence of float
        When outcomes are looked at. With several horizons scores may be a dict by horizon.
    censored : optional
        The value of ``y_true`` in rows whose time ends without event, beside missing ones: by
        default 0, False or "no event", or the first of ``labels``. 0 if every row has an event.
    censoring : {"kaplan-meier", "strata", "cox"} or array-like of shape (n,)
        How the chance to stay uncensored is estimated: from all rows, within the strata of ``by``,
        or by a Cox regression on its covariates (by statsmodels). Or these chances, by a model of
        yours, just before the time of each row or the horizon, whichever is earlier. Chances by a
        model are taken as known.
    by : array-like of shape (n,) or (n, p), optional
        Strata within which rows are censored alike, or covariates.
    ties : {"event", "event_free", "left_out"}
        What a row with an event exactly at the horizon is. ``"left_out"`` leaves out all rows whose
        time is the horizon.

    Examples
    --------
    >>> FollowUp([2.5, 7.0, 4.1], horizon=5)
    FollowUp(time=(3,), horizon=5.0, censoring='kaplan-meier', ties='event')
    """

    per_row: ClassVar[tuple[str, ...]] = ("time", "censoring", "by")

    time: Any
    horizon: H
    censored: Any = None
    censoring: Any = _WAYS[0]
    by: Any = None
    ties: Ties = "event"

    def __post_init__(self) -> None:
        horizons = numbers("horizon", self.horizon)
        if horizons.size == 0 or not ((horizons > 0) & (horizons < np.inf)).all():
            raise ValueError(f"horizon must be above 0 and finite, but it is {self.horizon!r}")
        if horizons.ndim and (
            horizons.ndim > 1 or len(horizons) < 2 or (np.diff(horizons) <= 0).any()
        ):
            raise ValueError("horizon must be one number, or several in rising order")
        if not horizons.ndim:
            vars(self)["horizon"] = horizons.item()
        choice("ties", self.ties, get_args(Ties))
        is_given = np.ndim(self.censoring) > 0
        if not is_given:
            choice("censoring", self.censoring, _WAYS)
        if (self.by is None) != (is_given or self.censoring == _WAYS[0]):
            raise ValueError(
                "by has the strata of censoring='strata', or the covariates of 'cox': give both, "
                "or neither"
            )

    @classmethod
    def of(cls, given: Any) -> Any:
        """Return an object as it is, and refuse anything else."""
        such = "of type FollowUp, such as dmfroc.FollowUp(times, horizon=5)"
        if given is not None and not isinstance(given, cls):
            raise TypeError(f"follow_up must be {such}, but it is {found(given)}")
        return given

    def classes_of_events(
        self, y_true: Any, y_score: Any, given: Any, paired: bool = True
    ) -> tuple[Any, Any, Any]:
        """Return kinds of events as classes, the first without event, and scores of all of them.

        The third is which times end with an event, or None: those of all classes but the first.
        ``y_score`` may be a dict by name of the classifier. Sets the labels in ``given``. A single
        score of several kinds of events is about the given ``pos_label``.
        """
        if not paired:
            raise ValueError("follow_up is that of one sample: leave paired=True")
        y_score = self._scores_at_horizon(y_score)
        if isinstance(y_true, Predictions | Mapping):
            samples = y_true.values() if isinstance(y_true, Mapping) else [y_true]
            for known in [x.as_given.labels for x in samples if isinstance(x, Predictions)]:
                _check_first(known, labels_of_events(known, self.censored)[0])
            return y_true, y_score, None
        events = labels_of(y_true, "y_true")
        labels, is_censored = labels_of_events(events, self.censored, given.get("labels"))
        given |= {"labels": labels, "of_events": True}
        none = labels[0]
        scores = y_score.values() if isinstance(y_score, Mapping) else [y_score]
        if len(labels) == 2:
            for one in scores:
                _check_risks(one)
        if is_censored.all():
            raise ValueError("y_true has no event: all rows are censored")
        if len(labels) > 2 and any(x and x[1:] in ((), (1,)) for x in map(np.shape, scores)):
            kind = given.get("pos_label")
            if kind not in labels[1:]:
                raise ValueError(
                    "y_score is a single score, a marker for one kind of event: name it by "
                    f"pos_label=, one of {listing(labels[1:])}, or give the risk of each kind"
                )
            given["labels"], events = [none, kind], np.where(events == kind, events, none)
        y_score = _with_no_event(y_score, given["labels"])
        if not is_censored.any():  # else there might be one class only
            time = real_weights(self.time, len(events), Source(weight="time"), Rows(y_true))
            events[time > self.horizon] = none
        classes = np.array(np.where(is_censored, none, events).tolist())
        return Rows(y_true).indexed(classes), y_score, ~is_censored

    def _scores_at_horizon(self, y_score: Any) -> Any:
        """Return the scores of this horizon, of each classifier, if there are several."""
        if not isinstance(y_score, Mapping):
            return y_score
        if self.horizon in y_score:
            return y_score[self.horizon]
        if any(isinstance(x, Real) for x in y_score):
            raise ValueError(
                f"y_score has scores at the horizons {listing([*y_score])}, but none at "
                f"{self.horizon:g}: give them for each horizon"
            )
        return {name: self._scores_at_horizon(one) for name, one in y_score.items()}


def labels_of_events(
    events: Any, censored: Any, labels: Any = None
) -> tuple[list[Any], BoolPerRow]:
    """Return the labels, no event first, and which rows are without event.

    Raises
    ------
    ValueError
        If it is not clear which value is that of rows without event.
    """
    order = [] if labels is None else list(labels)
    meant = [x for x in (censored, *order[:1]) if x is not None] or _NO_EVENT
    values = set(events)
    lacking = {x for x in values if is_missing(x) or x == ""}
    named = {x for x in values - lacking if any(x == y or str(x) == str(y) for y in meant)}
    is_none = np.array([x in lacking or x in named for x in events])
    if order:
        _check_first(order, [x for x in order if str(x) == str(censored)] + order)
    if order or is_none.all():
        return order or [0], is_none
    present = np.array(events, object)
    present[is_none] = present[int(is_none.argmin())]
    kinds = factorize(present, "y_true", IN_MEMORY).distinct
    likely = next((x for x in kinds if ABSENT.fullmatch(str(x))), None)
    is_told = lacking and likely is None if censored is None else str(censored) == "0"
    if len(kinds) > 1 and not (named or is_told):
        raise ValueError(
            f"y_true has {listing(kinds)}: name the value of rows whose time ends without event, "
            f"such as censored={likely or kinds[0]!r}, or pass censored=0 if every row has one"
        )
    default = {bool: False, str: "no event"}.get(type(kinds[0]), 0)
    alike = (x for x in (*sorted(named, key=str), censored, *lacking) if type(x) is type(default))
    return [next(alike, default), *kinds], is_none


def _check_first(labels: Sequence[Any], wanted: Sequence[Any]) -> None:
    """Refuse labels whose first is not the value of rows without event."""
    if labels[0] != wanted[0]:
        order = list(dict.fromkeys(wanted))
        raise ValueError(
            f"the first class, {labels[0]!r}, is taken for no event, but that is {wanted[0]!r}: "
            f"order the classes, labels={order}"
        )


def _check_risks(y_score: Any) -> None:
    """Refuse columns of one kind of event that are not its risk and the rest, as of horizons."""
    shape = np.shape(y_score)
    if len(shape) != 2 or shape[1] == 1:
        return
    columns: Any = np.asarray(y_score) if shape[1] == 2 else None
    if columns is not None and not (columns.dtype.kind in "fiu" and np.isfinite(columns).all()):
        return  # others say what is wrong with them
    if columns is None or not are_complements(columns.astype(float)):
        raise ValueError(
            f"y_score has shape {shape}, but there is one kind of event: give its risk, of shape "
            "(n,), or at several horizons a dict by horizon, {1.0: risk_at_1, 2.0: risk_at_2}"
        )


def _with_no_event(y_score: Any, labels: Sequence[Any]) -> Any:
    """Return scores with a column of no event, which is what the risks leave of one."""
    if isinstance(y_score, Mapping):
        return {name: _with_no_event(one, labels) for name, one in y_score.items()}
    if len(labels) == 2 or np.shape(y_score)[1:] != (len(labels) - 1,):
        return y_score
    kinds = list(labels[1:])
    found = class_scores(y_score, len(y_score), kinds, kinds, IN_MEMORY)
    warn(found.remarks)
    risks = found.scores
    rest = 1 - risks.sum(axis=1, dtype=float)
    if (wrong := (risks < 0).any(axis=1) | (rest < -_ROUNDING)).any():
        row = int(wrong.argmax())
        raise ValueError(
            f"y_score has {risks[row].tolist()} at {IN_MEMORY.row(row)}: the risk of each kind of "
            f"event, and at most 1 in all, or give a column for {labels[0]!r}, too"
        )
    return Rows(y_score).indexed(np.column_stack([np.maximum(rest, 0), risks]))
