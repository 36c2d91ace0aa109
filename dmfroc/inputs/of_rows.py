"""What is given of each row together with how it is meant: one object, taken row by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from dmfroc._kit.options import choice, proportion

Target = Literal["fits", "learner"]


@dataclass(frozen=True, eq=False, repr=False)
class OfRows:
    """An option with an entry for each row.

    Attributes
    ----------
    per_row : tuple of str
        The fields that have an entry for each row, if they are arrays.
    """

    per_row: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def of(cls, given: Any) -> Any:
        """Return an object as it is, and anything else as the first field of one."""
        make: Any = cls
        return given if given is None or isinstance(given, cls) else make(given)

    def __getitem__[K: OfRows](self: K, rows: Any) -> K:
        """Return the same of some of the rows."""
        given = {name: getattr(self, name) for name in self.per_row}
        return replace(self, **{x: np.asarray(v)[rows] for x, v in given.items() if np.ndim(v)})

    def __repr__(self) -> str:
        """Return the call that makes it, with the shapes of arrays."""
        given = [(x, v) for x, v in vars(self).items() if v is not None]
        return (
            f"{type(self).__name__}({', '.join(f'{x}={np.shape(v) or repr(v)}' for x, v in given)})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Folds(OfRows):
    """Folds of cross-validated scores, and what their values are to tell.

    Attributes
    ----------
    fold : array-like of shape (n,), or several columns, optional
        The fold in which each row was held out. With repeated cross-validation, which has a row
        for each observation and repeat, two columns name repeat and fold, and ``groups=`` the
        observation. By default the folds of the predictions.
    target : {"fits", "learner"}
        ``"learner"`` is about the performance of the learner at this training size, other training
        sets included. Its variance is the corrected resampled one of Nadeau and Bengio (2003).
        `nested_cross_validation` has better intervals, and needs the estimator.
    train_fraction : float, optional
        For the learner: share of the observations in each training set; by default what the folds
        leave.

    Examples
    --------
    >>> Folds([1, 1, 2, 2], target="learner")
    Folds(fold=(4,), target='learner')
    """

    per_row: ClassVar[tuple[str, ...]] = ("fold",)

    fold: Any = None
    target: Target = "fits"
    train_fraction: float | None = None

    def __post_init__(self) -> None:
        choice("target", self.target, get_args(Target))
        if self.train_fraction is None:
            return
        if self.target != "learner":
            raise ValueError("train_fraction is an option of target='learner' only")
        proportion("train_fraction", self.train_fraction, "(0, 1)")
