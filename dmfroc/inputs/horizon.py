"""Outcomes that take time: kinds of events as classes, and which rows are known at a horizon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, TypedDict, get_args

import numpy as np

from dmfroc._kit.arrays import BoolPerRow
from dmfroc._kit.options import choice, number
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.arrays import Rows, as_numpy, is_missing, row_names
from dmfroc.inputs.censoring import CensoringWeights, cox_chances, in_stratum
from dmfroc.inputs.checks import real_weights
from dmfroc.inputs.judge import labels_of, probabilities
from dmfroc.inputs.labels import factorize
from dmfroc.inputs.messages import IN_MEMORY, Source, listing
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.scores import class_scores

AtHorizon = Literal["event", "event_free", "left_out"]
_WAYS = ("kaplan-meier", "strata", "cox")
_BY = "censoring_by"
_NO_EVENT = (0, "False", "no event")
_ALIVE = ("alive", "living", "censored", "survived", "event-free", "none", "no")
_ROUNDING = 1e-6


class FollowUpOptions(TypedDict, total=False):
    """How long rows were followed, beside their kind of event, see `dmfroc.estimate`."""

    time: Any
    horizon: float | None
    censored: Any
    censoring: Any
    censoring_by: Any
    at_horizon: AtHorizon | None


@dataclass(frozen=True, eq=False)
class FollowUp:
    """The follow-up of all rows, as the user gave it, see `dmfroc.estimate`.

    Attributes
    ----------
    time, horizon, censored, censoring, censoring_by, at_horizon
        What was given. With given chances to stay uncensored, ``censoring`` is ``"given"``.
    ended : numpy.ndarray of bool, shape (n,), optional
        Whether the time of each row ends with an event, by default that of all classes but the
        first.
    """

    time: Any
    horizon: float
    censored: Any
    censoring: str
    censoring_by: Any
    at_horizon: str
    ended: Any = None

    def classes_of_events(
        self, y_true: Any, y_score: Any, given: Any, paired: bool = True
    ) -> tuple[Any, Any, FollowUp]:
        """Return kinds of events as classes, the first without event, and scores of all of them.

        ``y_score`` may be a dict by name of the classifier. Sets the labels in ``given``. A single
        score of several kinds of events is about the given ``pos_label``.
        """
        if not paired:
            raise ValueError("time is that of one sample: leave paired=True")
        y_score = self._scores_at_horizon(y_score)
        if isinstance(y_true, Predictions | Mapping):
            samples = y_true.values() if isinstance(y_true, Mapping) else [y_true]
            for known in [x.as_given.labels for x in samples if isinstance(x, Predictions)]:
                _check_first(known, labels_of_events(known, self.censored)[0])
            return y_true, y_score, self
        events = labels_of(y_true, "y_true")
        labels, is_censored = labels_of_events(events, self.censored, given.get("labels"))
        given["labels"], none = labels, labels[0]
        if is_censored.all():
            raise ValueError("y_true has no event: all rows are censored")
        scores = y_score.values() if isinstance(y_score, Mapping) else [y_score]
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
            of_time = len(events), Source(weight="time"), Rows(y_true)
            events[real_weights(self.time, *of_time) > self.horizon] = none
        classes = np.array(np.where(is_censored, none, events).tolist())
        return Rows(y_true).indexed(classes), y_score, replace(self, ended=~is_censored)

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

    def at(self, events: Predictions) -> tuple[Predictions, CensoringWeights | None]:
        """Return the classes at the horizon; unknown rows have no weight, others 1 / G.

        These weights are not estimated if nobody is censored before.
        """
        n, rows, t, weight = events.n_given, events.given_rows, self.horizon, events.sample_weight
        time = real_weights(self.time, n, Source(weight="time"), rows)
        none, counted = int(events.is_turned), weight > 0
        ended = events.true != none
        if self.ended is not None:
            ended = rows.arranged(self.ended, None, "y_true")
        happened = ended & ((time <= t) if self.at_horizon == "event" else (time < t))
        is_free = ((time > t) if self.at_horizon == "left_out" else (time >= t)) & ~happened
        known, is_gone = happened | is_free, ~ended & ~is_free & counted
        true = np.where(happened, events.true, none).astype(np.int32)
        if len(np.unique(true[known & counted])) < 2:
            raise ValueError(
                f"horizon={t:g}: the rows that are known there are not of two classes or more: "
                "take another horizon"
            )
        chance, stratum = np.ones(len(weight)), np.zeros(len(weight), int)
        if self.censoring == "given":
            chance = probabilities(self.censoring_by, n, rows, "censoring")
        elif self.censoring == "strata":
            names = row_names(self.censoring_by, "censoring_by", n, rows, "a stratum")
            stratum = np.unique(names, return_inverse=True)[1]
        own, t_own, is_gone = stratum[counted], time[counted], is_gone[counted]
        strata = [in_stratum(own == s, t_own, is_gone) for s in np.unique(own)]
        if self.censoring == "cox":
            x = rows.arranged(as_numpy(self.censoring_by, _BY), self.censoring_by, _BY)[counted]
            chance[counted] = cox_chances(strata[0], x.reshape(len(x), -1), t_own, ~ended[counted])
        if self.censoring in ("given", "cox"):
            strata = []
        weights = CensoringWeights(counted, weight[counted], known[counted], tuple(strata))
        for one in strata:
            if not one.staying(weights.given[one.rows]).all():
                raise ValueError(
                    f"horizon={t:g} is beyond the follow-up, which ends with censored rows at "
                    f"{t_own[one.rows].max():g}: take an earlier horizon, or fewer strata"
                )
        chance[counted] *= weights.chances(weights.given)
        at = replace(events, true=true, index=rows.index)
        facts = {"at": t, "time": getattr(self.time, "name", None), "rows": len(t_own)}
        facts |= {"known": int(known[counted].sum()), "censored": int(is_gone.sum())}
        facts |= {} if self.at_horizon == "event" else {"ties": self.at_horizon}
        of_horizon = {"horizon": facts | {"censoring": self.censoring}}
        at = at.reweighted(np.where(known, weight / chance, 0.0), **of_horizon)
        return at, None if strata and known[counted].all() else weights


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
    likely = next((x for x in kinds if str(x).casefold() in _ALIVE), None)
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


def predictions_at(
    y_true: Any, y_score: Any, given: dict[str, Any]
) -> tuple[Predictions, CensoringWeights | None]:
    """Return predictions, at a horizon if one is given, and how its weights are estimated."""
    if (follow_up := take_follow_up(given)) is None:
        return as_predictions(y_true, y_score, **given), None
    y_true, y_score, follow_up = follow_up.classes_of_events(y_true, y_score, given)
    return follow_up.at(as_predictions(y_true, y_score, **given))


def take_follow_up(given: dict[str, Any]) -> FollowUp | None:
    """Take the follow-up, if there is one, out of what the user gave, at one horizon."""
    options = {x: given.pop(x, None) for x in FollowUpOptions.__annotations__}
    if not (names := [name for name, value in options.items() if value is not None]):
        return None
    if options["time"] is None or options["horizon"] is None:
        raise TypeError(f"{', '.join(names)}: time=, the follow-up, and horizon= go together")
    if not 0 < (horizon := number("horizon", options["horizon"])) < np.inf:
        raise ValueError(f"horizon must be above 0 and finite, but it is {horizon:g}")
    at = choice("at_horizon", options["at_horizon"] or "event", get_args(AtHorizon))
    censoring, by = options["censoring"], options["censoring_by"]
    if censoring is not None and not isinstance(censoring, str) and by is None:
        censoring, by = "given", censoring
    else:
        censoring = choice("censoring", censoring or _WAYS[0], _WAYS)
    if (by is None) != (censoring == _WAYS[0]):
        raise ValueError(
            "censoring_by has the strata of censoring='strata', or the covariates of 'cox': give "
            "both, or neither"
        )
    return FollowUp(options["time"], horizon, options["censored"], censoring, by, at)


def _with_no_event(y_score: Any, labels: Sequence[Any]) -> Any:
    """Return scores with a column of no event, which is what the risks leave of one."""
    if isinstance(y_score, Mapping):
        return {name: _with_no_event(one, labels) for name, one in y_score.items()}
    if len(labels) == 2 or np.shape(y_score)[1:] != (len(labels) - 1,):
        return y_score
    kinds = list(labels[1:])
    risks = class_scores(y_score, len(y_score), kinds, kinds, IN_MEMORY)[1]
    rest = 1 - risks.sum(axis=1, dtype=float)
    if (wrong := (risks < 0).any(axis=1) | (rest < -_ROUNDING)).any():
        row = int(wrong.argmax())
        raise ValueError(
            f"y_score has {risks[row].tolist()} at {IN_MEMORY.row(row)}: the risk of each kind of "
            f"event, and at most 1 in all, or give a column for {labels[0]!r}, too"
        )
    return Rows(y_score).indexed(np.column_stack([np.maximum(rest, 0), risks]))
