"""A decision tree as Orange grew it: many-way splits by gain ratio, pruned by the m-estimate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import xlogy
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted


@dataclass
class Node:
    """A node: its class counts, and for a split its column, cut and children by value."""

    counts: np.ndarray
    column: int = -1
    cut: float = np.nan
    children: dict = field(default_factory=dict)

    def branch(self, row: np.ndarray) -> Node | None:
        value = row[self.column]
        return self.children.get(value if np.isnan(self.cut) else value <= self.cut)


def information(counts: np.ndarray) -> np.ndarray:
    """Return the entropy of counts along the last axis, times their sum."""
    return xlogy(counts.sum(axis=-1), counts.sum(axis=-1)) - xlogy(counts, counts).sum(axis=-1)


def gain_ratio(tables: np.ndarray) -> np.ndarray:
    """Return the gain ratio of splits; counts by split, branch and class."""
    gain = information(tables.sum(axis=-2)) - information(tables).sum(axis=-1)
    return gain / information(tables.sum(axis=-1))


class PrunedTree(ClassifierMixin, BaseEstimator):
    """Grow a tree by gain ratio and prune it by the m-estimate of its error.

    Parameters
    ----------
    is_numeric : sequence of bool
        Which columns are split in two by a cut; the others have a branch for each value.
    m : float
        Weight of the class shares of the whole sample in the estimated error of a node
        (Cestnik and Bratko 1991): ``1 - max((n_c + m p_c) / (n + m))``.
    """

    def __init__(self, is_numeric=(), m=2.0):
        self.is_numeric = is_numeric
        self.m = m

    def fit(self, X, y):
        X = np.asarray(X, dtype=float)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self.one_hot_ = np.eye(len(self.classes_))[labels]
        self.prior_ = self.one_hot_.mean(axis=0)
        self.root_ = self._grow(X, self.one_hot_, frozenset(range(X.shape[1])))
        self._prune(self.root_)
        return self

    def predict_proba(self, X):
        check_is_fitted(self)
        return np.array([self._shares(row) for row in np.asarray(X, dtype=float)])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _shares(self, row: np.ndarray) -> np.ndarray:
        node = self.root_
        while node.children and (child := node.branch(row)) is not None:
            node = child
        return node.counts / node.counts.sum()

    def _grow(self, X: np.ndarray, one_hot: np.ndarray, columns: frozenset[int]) -> Node:
        node = Node(one_hot.sum(axis=0))
        if np.count_nonzero(node.counts) < 2 or not columns:
            return node
        splits = [(*self._split(X[:, column], one_hot, column), column) for column in columns]
        ratio, cut, column = max(splits, key=lambda split: split[0])
        if ratio <= 1e-12:
            return node
        node.column, node.cut = column, cut
        values = X[:, column] if np.isnan(cut) else X[:, column] <= cut
        left = columns - {column} if np.isnan(cut) else columns
        for value in np.unique(values):
            node.children[value] = self._grow(X[values == value], one_hot[values == value], left)
        return node

    def _split(self, x: np.ndarray, one_hot: np.ndarray, column: int) -> tuple[float, float]:
        """Return the gain ratio of a column's best split, and its cut: NaN for categories."""
        values, place = np.unique(x, return_inverse=True)
        if len(values) < 2:
            return 0.0, np.nan
        tables = np.zeros((len(values), one_hot.shape[1]))
        np.add.at(tables, place, one_hot)
        if not self.is_numeric[column]:
            return float(gain_ratio(tables)), np.nan
        below = tables.cumsum(axis=0)[:-1]
        ratios = gain_ratio(np.stack([below, tables.sum(axis=0) - below], axis=1))
        best = int(np.argmax(ratios))
        return float(ratios[best]), float(values[best : best + 2].mean())

    def _prune(self, node: Node) -> float:
        """Cut the branches that do not lower the estimated error, and return that error."""
        n = node.counts.sum()
        own = 1 - float(((node.counts + self.m * self.prior_) / (n + self.m)).max())
        if not node.children:
            return own
        below = sum(child.counts.sum() / n * self._prune(child) for child in node.children.values())
        if below < own:
            return float(below)
        node.children = {}
        return own
