"""Agreement of two or more raters, of whom not all have rated every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dmfroc import evaluate
from dmfroc.extend import (
    DEFAULT_LEVEL,
    IN_MEMORY,
    IntervalMethod,
    Method,
    NamedEstimates,
    RandomState,
    Table,
    encode,
    estimates_table,
    factorize,
    get_measure,
    is_missing,
    listed,
    of_measures,
    of_raters,
    sorted_labels,
)
from dmfroc.results import Estimate

COEFFICIENTS = ("gwet_ac1", "krippendorff_alpha", "fleiss_kappa")


@dataclass(frozen=True, eq=False, repr=False)
class RaterAgreement(NamedEstimates):
    """Agreement of raters beyond chance, by several coefficients.

    Attributes
    ----------
    estimates : dict of str to Estimate
        By name of the coefficient.
    n_rows, n_raters, n_ratings : int
        Number of rows, of raters, and of ratings that are not missing.
    """

    main_table = "estimates"
    json_names = ("n_rows", "n_raters", "n_ratings")

    estimates: dict[str, Estimate]
    n_rows: int
    n_raters: int
    n_ratings: int

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a careful reader has to know."""
        return of_measures((e.measure, e.warnings) for e in self.estimates.values())

    def tables(self) -> list[Table]:
        """Return all coefficients with their intervals."""
        return [estimates_table(self.estimates.values())]

    def head(self) -> list[str]:
        """Return the ratings in a line."""
        return [f"{self.n_ratings} ratings of {self.n_rows} rows by {self.n_raters} raters"]


def rater_agreement(
    ratings: Any,
    *,
    measures: Sequence[str] = COEFFICIENTS,
    labels: Any = None,
    groups: Any = None,
    method: Method | IntervalMethod | None = None,
    level: float = DEFAULT_LEVEL,
    random_state: RandomState = 0,
) -> RaterAgreement:
    """Estimate how far raters agree beyond chance, with intervals by rows.

    Parameters
    ----------
    ratings : array-like or table of shape (n, m)
        The class that each of m raters chose for each row, missing (None, NaN) where a rater chose
        none. A row with one rating says only how often that class is chosen.
    measures : sequence of str
        Of ``"gwet_ac1"``, ``"gwet_ac2"``, ``"krippendorff_alpha"`` and ``"fleiss_kappa"``, with
        their options in parentheses, as in ``"krippendorff_alpha(scale='ordinal')"``.
    labels : array-like of shape (K,), optional
        All classes in order; by default those that occur, sorted. Gwet's coefficients depend on
        their number.
    groups, method, level, random_state
        As for `estimate`. Class sizes are random.

    Returns
    -------
    RaterAgreement
        An estimate by name of the coefficient: of all raters together, where the rows, not the
        raters, are drawn from a population.

    Raises
    ------
    TypeError, ValueError
        If ratings are not a table with two columns or more, no row has two ratings, or a label or a
        coefficient is none.

    References
    ----------
    Fleiss (1971), Measuring nominal scale agreement among many raters; Krippendorff (2011),
    Computing Krippendorff's alpha-reliability; Gwet (2014), Handbook of inter-rater reliability.

    Examples
    --------
    >>> ratings = [["a", "a", None], ["b", "b", "c"], ["c", "c", "c"], ["c", "c", "c"]] * 5
    >>> found = rater_agreement(ratings, measures=["gwet_ac1", "krippendorff_alpha"])
    >>> {name: round(e.value, 4) for name, e in found.items()}
    {'gwet_ac1': 0.767, 'krippendorff_alpha': 0.6625}
    """
    table = np.asarray(ratings, object)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(f"ratings must have two columns or more, but their shape is {table.shape}")
    is_rated = np.array([not is_missing(x) for x in table.ravel()]).reshape(table.shape)
    if is_rated.sum(axis=1).max(initial=0) < 2:
        raise ValueError("ratings has no row with two ratings: agreement needs one")
    given = factorize(table[is_rated], "ratings", IN_MEMORY)
    classes = sorted_labels(given.distinct) if labels is None else listed("labels", labels)
    if len(classes) < 2:
        raise ValueError(f"ratings are all {classes[0]!r}: name all classes, in labels=")
    codes = encode(given, classes, "ratings", IN_MEMORY, has_scores=False)
    counts = np.zeros((len(table), len(classes)))
    np.add.at(counts, (np.nonzero(is_rated)[0], codes), 1)
    # The last of equally frequent ones, which is not the class of the largest score
    most: Any = np.array(classes)[len(classes) - 1 - counts[:, ::-1].argmax(axis=1)]
    if hasattr(ratings, "iloc"):  # groups are matched by the names of the rows
        most = type(ratings.iloc[:, 0])(most, index=ratings.index)
    own = [of_raters(get_measure(x)) for x in listed("measures", measures)]
    found = evaluate(
        most,
        counts,
        y_pred=most,
        labels=classes,
        measures=own,
        groups=groups,
        stratify=False,
        method=method,
        level=level,
        random_state=random_state,
    )
    (n, m), n_ratings = table.shape, int(is_rated.sum())
    return RaterAgreement(dict(found.estimates), n, m, n_ratings)
