"""Scores of rows whose classes are not known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dmfroc.inputs.messages import IN_MEMORY, Source
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.scores import class_scores


def unlabelled(
    y_score: Any, labels: Sequence[Any], source: Source = IN_MEMORY, *, is_turned: bool = False
) -> Predictions:
    """Return predictions of the classes ``labels`` with scores, and one class everywhere.

    If the classes are turned, see `Predictions`, columns without names are in the order before.
    """
    order, n = list(labels[::-1] if is_turned else labels), len(y_score)
    _, scores, *_, single = class_scores(y_score, n, order, order, source)
    rows = np.zeros(n, np.int32), scores, np.ones(n)
    found = Predictions(tuple(order), *rows, None, single=single)
    return found.with_positive_class(labels[1]) if is_turned else found
