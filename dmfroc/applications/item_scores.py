"""Items with scores instead of classes: mean scores of models, their differences, the best."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dmfroc import Judge
from dmfroc.applications.item_means import (
    MEASURE,
    TITLE,
    ScoredItems,
    check_scored,
    mean_of,
    scored_items,
    with_errors,
)
from dmfroc.extend import (
    DEFAULT_LEVEL,
    Column,
    Difference,
    Hypothesis,
    JointEstimates,
    RandomState,
    Rows,
    Table,
    Test,
    agreement_table,
    check_level,
    comparison_fields,
    contrasts_of_intervals,
    crossed,
    differences_by,
    holm_adjusted,
    joint_normal_estimates,
    positive,
    seed_of,
    warn,
)
from dmfroc.results import Comparison, Estimate

EstimatesOfParts = dict[str, dict[str, Estimate]]
DifferencesOfParts = dict[str, tuple[Difference, ...]]
"""By subgroup and model, or by model of the subgroups."""

_MOST_GRADES = 10  # distinct scores in a readable table of agreement


@dataclass(frozen=True, eq=False, repr=False)
class ItemScores(Comparison):
    """Mean scores of one or several models on the same items, and their differences.

    Beside what is said of every `Comparison`:

    Attributes
    ----------
    scored : ScoredItems
        The scores.
    subgroups : dict of str to dict of str to Estimate
        With ``by``: the mean score in each subgroup, by its name and that of the model.
    subgroup_sizes : dict of str to int
        Number of items in each subgroup.
    subgroup_differences : dict of str to tuple of Difference
        By name of the model: the differences of every two subgroups, with p-values adjusted by
        Holm's method for all of them.
    """

    main_table = "estimates"
    json_names = ("n_items", "n_repeats", *Comparison.json_names)

    scored: ScoredItems = field(kw_only=True, repr=False)
    subgroups: EstimatesOfParts = field(kw_only=True)
    subgroup_sizes: dict[str, int] = field(kw_only=True)
    subgroup_differences: DifferencesOfParts = field(kw_only=True)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.scored.n_items

    @property
    def n_repeats(self) -> int:
        """Largest number of scores that a model has of an item."""
        return self.scored.n_repeats

    def head(self) -> list[str]:
        """Return the number of items, units and repeats in a line."""
        n_units = int(self.scored.unit.max()) + 1
        words = [f"{self.n_items:,} items"]
        if n_units < self.n_items:
            words.append(f"{n_units:,} groups")
        if self.n_repeats > 1:
            words.append(f"{self.n_repeats} repeats")
        return [f"Scores of {len(self.estimates)} models: {', '.join(words)}"]

    def plan(self, half_width: float) -> dict[str, int]:
        """Return how many items give each model's mean an interval of this half-width.

        Groups count as they are here: so many groups of such items. With a judge these are the
        items to verify, out of proportionally many.

        Parameters
        ----------
        half_width : float
            Half the width that the interval shall have.
        """
        positive("half_width", half_width)
        means = {name: mean_of(self.scored, name) for name in self.estimates}
        return {name: x.units_for(half_width, 1 - self.level) for name, x in means.items()}

    def pass_at(self, k: int) -> ItemScores:
        """Return the scores of the best of k attempts: of zeros and ones, if one of them is right.

        Parameters
        ----------
        k : int
            At most as many as there are attempts at each item.

        Returns
        -------
        ItemScores
            Without subgroups. The mean over all choices of k attempts, which is unbiased.

        References
        ----------
        Chen et al. (2021), Evaluating large language models trained on code, equation 1.

        Examples
        --------
        >>> found = items({"a": [[0, 1, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0]]})
        >>> found["a"].value, found.pass_at(2)["a"].value, found.pass_all(2)["a"].value
        (0.5, 0.6666666666666666, 0.3333333333333333)
        """
        return self._rate_of_attempts(k, f"pass_at({k})", f"Best of {k} (pass@{k})", worst=False)

    def pass_all(self, k: int) -> ItemScores:
        """Return the scores of the worst of k attempts: of zeros and ones, if all are right.

        As `pass_at`; also called pass^k, after Yao et al. (2024), tau-bench.
        """
        return self._rate_of_attempts(k, f"pass_all({k})", f"Worst of {k} (pass^{k})", worst=True)

    def _rate_of_attempts(self, k: int, measure: str, title: str, *, worst: bool) -> ItemScores:
        given = self.scored.of_best(k, worst=worst)
        joint = _joint(given, self.level, self.seed)
        named = {x: replace(e, measure=measure, title=title) for x, e in joint.estimates.items()}
        fields = comparison_fields(
            joint._replace(estimates=named),
            self.hypothesis,
            simultaneous=self.simultaneous,
            level=self.level,
            seed=self.seed,
        )
        of_parts: Any = {"subgroups": {}, "subgroup_sizes": {}, "subgroup_differences": {}}
        return ItemScores(measure=measure, title=title, scored=given, **of_parts, **fields)

    def spread(self) -> dict[str, tuple[float, float]]:
        """Return the standard deviations of each model's scores within items, and between items.

        The first is that of attempts at the same item, the second that of the true means of items.
        """
        spreads = {}
        for name, x in self.scored.attempts.items():
            if x.shape[1] < 2:
                raise ValueError(f"{name!r} has one attempt at each item: two show a spread")
            within = float(x.var(axis=1, ddof=1).mean())
            between = float(x.mean(axis=1).var(ddof=1)) - within / x.shape[1]
            spreads[name] = within**0.5, max(between, 0.0) ** 0.5
        return spreads

    def tables(self) -> list[Table]:
        """Return the models, their differences, the subgroups, and what a judge adds."""
        estimates, differences, orders, *judged = super().tables()
        estimates = replace(
            estimates,
            columns=[replace(c, title="model") if c.key == "classifier" else c
                     for c in estimates.columns],
        )  # fmt: skip
        tables = [estimates, *([differences, orders] if self.differences else [])]
        if self.subgroups:
            cells = [
                (group, model, self.subgroup_sizes[group], estimate)
                for group, of_models in self.subgroups.items()
                for model, estimate in of_models.items()
            ]
            groups, models, sizes, values = zip(*cells, strict=True)
            interval = f"{100 * self.level:g} % interval"
            columns = [
                Column("subgroup", "subgroup", groups, "name"),
                Column("model", "model", models, "name"),
                Column("n", "items", sizes, "count"),
                Column("value", self.title, values, "estimate", interval),
            ]
            tables.append(Table("subgroups", f"{self.title} by subgroup", columns))
            tables += differences_by(
                "model",
                "subgroup_differences",
                self.subgroup_differences,
                "Differences between subgroups, A minus B",
                self.kind_of_interval,
                with_probabilities=False,
            )
        judge, pairs = self.scored.judge or {}, {}
        for name, of_judge in judge.items():
            is_verified = ~np.isnan(self.scored.scores[name])
            pair = self.scored.scores[name][is_verified], of_judge[is_verified]
            if max(len(np.unique(x)) for x in pair) <= _MOST_GRADES:
                pairs[name] = pair
        return [*tables, *judged, *([agreement_table(pairs)] if pairs else [])]


def items(
    scores: Any,
    *,
    judge: Any = None,
    groups: Any = None,
    by: Any = None,
    id: Any = None,
    bounds: tuple[float | int, float | int] | None = None,
    test: Test = "two-sided",
    simultaneous: bool = False,
    level: float | int = DEFAULT_LEVEL,
    random_state: RandomState = 0,
) -> ItemScores:
    """Compare models by their scores on the same items: right or wrong, or graded.

    Parameters
    ----------
    scores : dict of str to array-like, or table with a column for each model
        Each model's score of every item, shape (n,) or (n, repeats). Repeats belong to their item:
        their mean counts. The value is the mean over the items.
    judge : dict of str to array-like, array-like, or Judge, optional
        Scores of all items by a judge, such as another model, of the same shapes. Then ``scores``
        may be missing (NaN or None) where nobody verified; see the page on few labels. One array
        is for a single model. ``Judge(scores, probability=...)`` has the probability with which
        each item was drawn to be verified; by default the same for all.
    groups : array-like of shape (n,), optional
        Items that belong together, such as questions about one text.
    by : array-like of shape (n,), dict or table of such, optional
        Subgroups of the items, whose means and differences are added.
    id : dict of str to array-like of shape (n,), optional
        Names of the items by name of the model, which match models with other orders of the
        items. All else is in the order of the first model.
    bounds : tuple of float, optional
        Smallest and largest possible score; by default (0, 1) if all scores are in between.
        Infinite bounds are allowed: the intervals are then those of a t test.
    test, simultaneous, level
        As for `compare`.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed of the draws behind the probabilities of the orders.

    Returns
    -------
    ItemScores
        A `Comparison` with the mean of each model in ``estimates``, paired ``differences``,
        ``best_set()`` and ``subgroups``.

    Raises
    ------
    TypeError, ValueError
        If scores are missing without a judge, or models have different items. Also if they are
        columns of different tables that do not name the items, if scores are outside the bounds,
        or if there are fewer than two items.

    Notes
    -----
    Limits count one item that the sample does not show, three quarters of it at the end of the
    range on the side of the limit, one quarter at the other. Of zeros and ones they are between
    those of Jeffreys and of Clopper and Pearson. Scores without bounds have the limits of a t test.

    References
    ----------
    Clopper and Pearson (1934); Owen (2001), Empirical likelihood; Miller (2024), Adding error
    bars to evals; Bowyer, Aitchison and Ivanova (2025), Don't use the CLT in LLM evals with fewer
    than a few hundred datapoints.

    Examples
    --------
    >>> right = {"small": [0, 1, 0, 1, 0, 0, 1, 0, 1, 0], "large": [1, 1, 1, 1, 0, 1, 1, 1, 1, 1]}
    >>> found = items(right)
    >>> [round(end, 3) for end in found.estimates["large"].interval]
    [0.585, 0.994]
    >>> found.differences[0].value
    -0.5
    """
    check_level(level)
    hypothesis = Hypothesis.of(test)
    seed = seed_of(random_state)
    given = scored_items(scores, Judge.of(judge), groups, bounds, id)
    hypothesis.check(level, given.bounds[1] - given.bounds[0])
    joint = _joint(given, level, seed)
    subgroups, sizes, differences = _in_subgroups(given, by, level)
    scores_of_items = ItemScores(
        measure=MEASURE,
        title=TITLE,
        scored=given,
        subgroups=subgroups,
        subgroup_sizes=sizes,
        subgroup_differences=differences,
        **comparison_fields(joint, hypothesis, simultaneous=simultaneous, level=level, seed=seed),
    )
    warn(scores_of_items.warnings)
    return scores_of_items


def _joint(given: ScoredItems, level: float, seed: int) -> JointEstimates:
    means = {name: mean_of(given, name) for name in given.scores}
    pairs = {pair: mean_of(given, *pair) for pair in itertools.combinations(means, 2)}
    influences = np.stack([mean.influences for mean in means.values()])
    # Correlations are those of the influences; errors are what the intervals show, never 0
    errors = np.array([mean.error for mean in means.values()])
    return joint_normal_estimates(
        {name: mean.estimate(level) for name, mean in means.items()},
        {pair: mean.contrast for pair, mean in pairs.items()},
        with_errors(influences @ influences.T, errors),
        {name: mean.limits.interval_at for name, mean in means.items()},
        Hypothesis(),
        seed,
    )


def _in_subgroups(
    given: ScoredItems, by: Any, level: float
) -> tuple[EstimatesOfParts, dict[str, int], DifferencesOfParts]:
    if by is None:
        return {}, {}, {}
    names, group_of_row = crossed(by, given.n_items, Rows(given))
    parts = {name: given.rows(group_of_row == place) for place, name in enumerate(names)}
    for name, part in parts.items():
        check_scored(part, f"the subgroup {name!r} of by")
    n_units = [len(np.unique(part.unit)) for part in parts.values()]
    if sum(n_units) > len(np.unique(given.unit)):
        raise ValueError(
            "groups has items in several subgroups of by, which are then not independent: leave "
            "by out, or groups"
        )
    estimates: EstimatesOfParts = {name: {} for name in names}
    unadjusted = {}
    for model in given.scores:
        means = {name: mean_of(part, model) for name, part in parts.items()}
        for name, mean in means.items():
            estimates[name][model] = mean.estimate(level)
        values = {name: (m.limits.value, m.limits.interval_at) for name, m in means.items()}
        errors = {name: mean.standard_error for name, mean in means.items()}
        found = contrasts_of_intervals(values, errors)
        unadjusted[model] = list(Hypothesis().differences(found, level))
    adjusted = iter(holm_adjusted(itertools.chain(*unadjusted.values())))
    differences = {
        model: tuple(itertools.islice(adjusted, len(ds))) for model, ds in unadjusted.items()
    }
    return estimates, {name: part.n_items for name, part in parts.items()}, differences
