"""Every argument with rows of every public function, with an index in another order, and repeated.

Two arguments at a time have an index, the second in another order. The result must be that of rows
in one order, or an error must say that the orders differ. With ``frequency_weight`` the result with
each further argument must be that of rows repeated by hand. A parameter that is in neither list
below is an error: say there whether it has rows. Runs by itself: ``python tests/fuzz/rows.py``
prints what is wrong.
"""

import argparse
import inspect
import itertools
import json
import sys
import warnings
from collections.abc import Mapping

import abuse
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from abuse import B, P, S, Y
from sklearn.naive_bayes import GaussianNB

import dmfroc
from dmfroc.results.result import Result

RNG = np.random.default_rng(5)
N = len(Y)
IDS = np.array([f"row {place:02}" for place in RNG.permutation(N)])
ORDER = RNG.permutation(N)
COUNTS = RNG.integers(4, size=N)
COUNTS[:3] = 1  # of each class some
SAID = np.where(RNG.random(N) < 0.8, Y, (Y + 1) % 3)
VERIFIED = RNG.random(N) < 0.7
OTHER = S[RNG.permutation(N)]
LABELS = np.stack([B, 1 - B, SAID > 0], axis=1).astype(int)
OF_LABELS = np.stack([P, RNG.uniform(size=N), S[:, 2]], axis=1)
GROUPS = RNG.integers(24, size=N)
USELESS = (  # for these numbers, which must therefore not depend on the order
    ("multilabel", "y_pred"),
)
FURTHER = ("folds", "groups", "by", "importance")
OF_PREDICTIONS = (
    *("estimate", "evaluate", "compare", "compare_subgroups", "decision_curve", "plan"),
    "plots.MulticlassROCDisplay",
)
FITTED = GaussianNB().fit(S[:, :2], Y)
HARD = (OF_LABELS > 0.4).astype(int)
CELLS = ("tp", "fp", "fn", "tn")

# Whatever has one entry for each row, and values of it
ROWS = {
    "y_true": Y,
    "y_score": S,
    "y_pred": SAID,
    "sample_weight": RNG.uniform(0.5, 2, N),
    "frequency_weight": COUNTS,
    "id": RNG.permutation(N),
    "folds": RNG.integers(2, size=N),
    "groups": GROUPS,
    "by": GROUPS % 2,
    "judge": SAID,
    "label_probability": RNG.uniform(0.3, 1, N),
    "label_strata": GROUPS // 8,
    "importance": RNG.uniform(0.5, 2, N),
    "ratings": np.stack([Y, SAID, SAID[ORDER]], axis=1),
    "X": S[:, :2],
    "y": Y,
    "scores": {"a": RNG.uniform(size=N), "b": RNG.uniform(size=N)},
    "first_score": P,
    "second_score": RNG.uniform(size=N),
    **{cell: RNG.uniform(2, 9, N) for cell in CELLS[1:]},
    "tp": RNG.uniform(20, 90, N),
    "x": P,
    "true_probability": RNG.uniform(size=N),
    "density": RNG.dirichlet(np.ones(N)),
    "time": np.where(Y, RNG.uniform(0.5, 1.5, N), RNG.uniform(0.5, 3, N)),
    "censoring_by": GROUPS % 3,
}
WITHOUT = """
    accumulator algorithm alpha alternative analysis at at_horizon at_least average ax axes band
    benefits beta bias bounds c censored censoring checkpoint choice classes classifier
    classifiers clip color comparison correction correlation_concentration cost_fn cost_fp
    cost_matrix costs covariances coverage crossed curve curve_kwargs cuts cv debiased decimal
    degree difference direction discrimination_scale drop_label drop_missing encoding estimate
    estimator evaluation factor figure first fpr gain given half_width highest_cost horizon
    hull intercept_spread interval_type k kappa kernel label label_rule labels learn_from
    least_cell level likelihood link location_scale lowest_cost margin matrix max_fpr max_iter
    measure measures method min_class_size model most_likely_cost multi_class n_bins n_chains
    n_classes n_covariates n_draws n_jobs n_negative n_observations n_pairs n_positive
    n_repeats n_samples n_starts n_thresholds n_warmup name noise_correlation of offset other
    other_columns p_value pair pair_scale pair_spread pair_weights paired partition path
    per_class pilot plan plot_band plot_bands plot_baselines plot_break_even plot_chance_level
    plot_fallout plot_grid plot_histogram plot_hull plot_isometrics plot_legend plot_pairs
    plot_regions points population pos_label posterior power precision1 precision2 predicted
    preset prevalence prevalences priors pseudo_count random_state rank rates recall recall1
    recall2 result rope rows rule rules s scale scheduler second sensitivity separator
    sequence shape_scale share shrink shrinkage simultaneous sites sizes skew slope smoothing
    source span specificity split_scale spread_log_scale spread_scale stratify streams
    strength structure study table target target_prevalence tasks tau_scale tempering test
    tests threshold threshold_pool threshold_scale thresholds ties tpr train_fraction truth
    values variance weighting weights where
"""
ELSEWHERE = {  # the same words for names of columns, for one word or number, and for broadcasting
    "scan": ("scores", "sample_weight", "groups"),
    "Predictions.from_file": ("scores", "y_pred", "sample_weight", "frequency_weight", "id"),
    "choose_threshold": ("by", "importance"),
    "items": ("id", "label_strata"),  # of each model's own table
    "judged_shares": ("label_probability", "label_strata"),
    "plan": ("label_probability", "label_strata"),
    "gate": ("by",),  # is for rules about groups, which take few other arguments
    "calibration_tests": ("time", "censoring_by"),  # refuses rows that are censored before
    "measures.weighted_kappa": ("by",),
    "summary_roc": CELLS,
    **dict.fromkeys(("f_gain", "precision_gain", "recall_gain"), CELLS),
    "ContingencyTable.from_cells": CELLS,
}
SCORED = abuse.OF_FUNCTION["items"]["scores"]
OF_FUNCTION = {
    "compare": {
        "y_score": {"a": S, "b": OTHER},
        "y_pred": {"a": SAID, "b": OTHER.argmax(axis=1)},
        "measures": "accuracy",
    },
    "compare_runs": {"y_score": {"a": [S, OTHER], "b": [S**2, OTHER**3]}},
    "compare_subgroups": {
        "measures": "accuracy",
        "min_class_size": 2,
        "folds": np.random.default_rng(1).integers(2, size=N),  # all classes in all, at a horizon
    },
    "gate": {"rules": [{"measure": "accuracy", "at_least": 0.5}]},
    "multilabel": {"y_true": LABELS, "y_score": OF_LABELS, "y_pred": HARD},
    "multilabel of labels": {"y_true": LABELS, "y_pred": HARD},
    # Near the scores: a judge of no use, or of items that all have scores, counts for nothing
    "items": {
        "scores": {name: np.where(VERIFIED, x, np.nan) for name, x in SCORED.items()},
        "judge": {name: (x + RNG.uniform(size=N)) / 2 for name, x in SCORED.items()},
    },
    "judged_shares": {"y_true": np.where(VERIFIED, Y, None)},
    "estimate": {"measure": "accuracy"},
    "influences": {"measure": "accuracy"},
    "evaluate": {"measures": ["brier_score", "accuracy"]},
    "lc_index": {"y_true": B},
    "choose_threshold": {"n_draws": 100},
    "features": {"importance": (OTHER[:, :2], S[::2, :2])},
    "loess": {"y": B, "at": [0.1, 0.3]},
    "plots.MulticlassROCDisplay": {"plot_band": False},
    "plan": {"measure": "accuracy"},
    "bayesian_roc": {"algorithm": "laplace", "n_thresholds": 9},
    "scorer neg_brier_score": {"estimator": FITTED},
    "scorer accuracy": {"estimator": FITTED},
}
# Objects by what they have of each row
PARTS = {
    "judge": ["judge", "label_probability", "label_strata"],
    "population": ["importance"],
    "follow_up": ["time", "censoring_by"],
}
NEEDS = {"label_probability": "judge", "label_strata": "judge", "censoring_by": "time"}
OF_DRAW = {"judge", "label_probability", "label_strata"}
# Options that exclude each other, in words
EXCLUDED = [
    *({name, other} for name in OF_DRAW for other in ("folds", "importance")),
    *({name, "time"} for name in (*OF_DRAW, "importance")),
    {"label_strata", "label_probability"},
    {"frequency_weight", "id"},
]


def drawn(X, y, sample_weight=None, folds=None, groups=None):
    """Draw the scores of a fitted classifier."""
    given = {"sample_weight": sample_weight, "folds": folds, "groups": groups, "plot_band": False}
    return dmfroc.plots.MulticlassROCDisplay.from_estimator(FITTED, X, y, **given)


def scanned(y_true, y_score, sample_weight=None, y_pred=None, groups=None):
    """Evaluate a scan of one batch in memory."""
    names = ("y_true", "y_score", "sample_weight", "y_pred", "groups")
    values = (y_true, y_score, sample_weight, y_pred, groups)
    batch = {name: x for name, x in zip(names, values, strict=True) if x is not None}
    return dmfroc.evaluate(dmfroc.scan([batch]), measures=["hand_till", "accuracy"])


def accumulated(y_true, y_score, sample_weight=None, y_pred=None):
    """Return the measures of one batch."""
    accumulator = dmfroc.counted.Accumulator(range(3), n_bins=8)
    accumulator.update(y_true, y_score, sample_weight=sample_weight, y_pred=y_pred)
    return accumulator.compute(measures=["hand_till", "accuracy"])


def by_jax(y_true, y_score, sample_weight=None):
    """Return a measure of arrays of JAX."""
    return dmfroc.functional.brier_score(y_true, y_score, sample_weight, n_classes=3)


def of_features(
    y_true, y_score, importance, sample_weight=None, frequency_weight=None, groups=None
):
    """Estimate a measure where rows are as frequent as their features say."""
    given = {"sample_weight": sample_weight, "frequency_weight": frequency_weight}
    return dmfroc.estimate(
        "brier_score",
        y_true,
        y_score,
        population=dmfroc.Importance(*importance),
        groups=groups,
        **given,
    )


def of_hard_labels(y_true, y_pred, groups=None):
    """Return a measure of several labels for each row."""
    return dmfroc.applications.multilabel(y_true, y_pred=y_pred, groups=groups)


def calls():
    """Return what takes rows by name: public functions, methods, and those of this file."""
    scorers = dmfroc.applications.scorers(["brier_score", "accuracy"])
    return (
        abuse.functions()
        | {f"scorer {name}": scorer.score for name, scorer in scorers.items()}
        | {
            "Measure": dmfroc.measures.accuracy(),
            "multilabel of labels": of_hard_labels,
            "from_estimator": drawn,
            "batch": scanned,
        }
        | {"features": of_features, "functional": by_jax, "Accumulator.update": accumulated}
    )


def arguments_of(name, function):
    """Return the arguments with rows, of which some are optional, and the others."""
    known = abuse.parameters_of(name, function)
    parts = [y for x in known for y in PARTS.get(x, [x])]
    names = [x for x in parts if x not in ELSEWHERE.get(name, ())]
    unknown = [x for x in names if x not in ROWS and x not in WITHOUT.split()]
    assert not unknown, f"{name} has {unknown}: say in ROWS or in WITHOUT whether they have rows"
    base, own = abuse.base(name, function), OF_FUNCTION.get(name, {})
    given = {x: base[x] for x in ("y_true", "y_score", "y") if x in base} | own
    rows = {x: given.get(x, ROWS[x]) for x in names if x in ROWS}
    return rows, {x: value for x, value in (base | own).items() if x not in rows}


def mapped(value, change, path):
    """Return arguments whose arrays with rows are changed, by their path within the argument."""
    if isinstance(value, Mapping):
        return {key: mapped(x, change, (*path, key)) for key, x in value.items()}
    if isinstance(value, list):
        return [mapped(x, change, (*path, place)) for place, x in enumerate(value)]
    if isinstance(value, tuple):  # features of the rows, and of others
        return mapped(value[0], change, path), value[1]
    return change(path, value)


def paths_of(rows):
    """Return the paths of all arrays with rows, in order."""
    paths = []
    for name, value in rows.items():
        mapped(value, lambda path, array: paths.append(path), (name,))
    return paths


def changed(rows, change):
    """Return all arguments with rows, changed by path."""
    return {name: mapped(value, change, (name,)) for name, value in rows.items()}


def in_order(array, index):
    """Return a column or a table with an index."""
    return (pd.Series if array.ndim == 1 else pd.DataFrame)(array, index)


def numbers_in(x):
    """Yield all numbers of a result."""
    if isinstance(x, Result):
        x = json.loads(x.to_json())
        x.pop("design", None)  # says how the sample came about: rows repeated, or counted
    if isinstance(x, dmfroc.Predictions):
        x = [x.true, x.scores, x.sample_weight, x.predicted, x.folds, x.ids]
    if isinstance(x, pd.DataFrame | pd.Series):
        x = x.to_numpy()
    if isinstance(x, int | float | np.number):
        yield float(x)
    elif isinstance(x, np.ndarray) or hasattr(x, "__jax_array__") or hasattr(x, "addressable_data"):
        x = np.asarray(x)
        yield from (x.ravel().astype(float) if x.dtype.kind in "fiub" else ())
    elif isinstance(x, Mapping | list | tuple):
        for item in x.values() if isinstance(x, Mapping) else x:
            yield from numbers_in(item)
    elif isinstance(x, plt.Figure):
        yield from numbers_in([line.get_ydata() for ax in x.axes for line in ax.lines])
    elif hasattr(x, "subtree"):
        for group in x.subtree:
            yield from numbers_in([values.to_numpy() for values in group.data_vars.values()])
    elif type(x).__module__.startswith("dmfroc") and hasattr(x, "__dict__"):
        yield from numbers_in(list(vars(x).values()))


def with_objects(function, given):
    """Return arguments in which what belongs together is one object."""
    known = inspect.signature(function).parameters
    if "judge" in given and {"label_probability", "label_strata"} & {*given}:
        drawn = given.pop("label_probability", None), given.pop("label_strata", None)
        given["judge"] = dmfroc.Judge(given["judge"], *drawn)
    if "importance" in given and "importance" not in known:
        given["population"] = dmfroc.Importance(given.pop("importance"))
    if "time" in given:
        given["follow_up"] = dmfroc.FollowUp(
            given.pop("time"),
            given.pop("horizon"),
            censoring=given.pop("censoring", "kaplan-meier"),
            by=given.pop("censoring_by", None),
        )
    return given


def called(function, rows, others):
    """Return the numbers of a result, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.array(list(numbers_in(function(**with_objects(function, rows | others)))))
        except Exception as error:
            return error
        finally:
            plt.close("all")


def agree(found, expected):
    """Whether two results are the same numbers, as far as the order of sums leaves them so."""
    both = isinstance(found, np.ndarray) and isinstance(expected, np.ndarray)
    return (
        both
        and found.shape == expected.shape
        and np.allclose(found, expected, rtol=1e-7, atol=1e-9, equal_nan=True)
    )


class Calls:
    """Calls of one function with some of its arguments with rows."""

    n_pairs = 0

    def __init__(self, name, function, *, few=False):
        self.few = few
        self.name, self.function = name, function
        self.rows, self.others = arguments_of(name, function)
        always = {"y_true", "y_score", "X", "y", "scores", "x", *CELLS, "first_score"}
        always |= {"second_score", "true_probability", "density"}
        always |= {"importance"} if name == "features" else set()
        always |= {"compare_subgroups": {"by"}, "judged_shares": {"judge"}, "items": {"judge"}}.get(
            name, set()
        )
        always |= set() if "y_score" in self.rows else {"y_pred"}
        always |= {"folds"} if name == "Predictions.in_folds" else set()
        self.optional = [x for x in self.rows if x not in always]
        self.plain = {}

    def given(self, names):
        """Return the arguments with rows of a call with some of the optional ones, or None."""
        names = set(names) & set(self.optional)
        names |= {NEEDS[x] for x in names if x in NEEDS}
        rows = {x: v for x, v in self.rows.items() if x in names or x not in self.optional}
        if "judge" in names and "label_strata" in self.rows:
            rows["y_true"] = np.where(VERIFIED, Y, None)
        return rows, any(pair <= names for pair in EXCLUDED)

    def __call__(self, rows):
        of_time = {"horizon": 1.5} if "time" in rows else {}
        of_time |= {"censoring": "strata"} if "censoring_by" in rows else {}
        return called(self.function, rows, self.others | of_time)

    def expected(self, rows):
        """Return the result of arrays."""
        key = frozenset(rows)
        if key not in self.plain:
            self.plain[key] = self(rows)
        return self.plain[key]

    def in_another_order(self):
        """Yield what is wrong where two arguments have an index, the second in another order."""
        paths = paths_of(self.rows)
        for first, second in itertools.combinations(paths, 2):
            place = paths.index(first)  # of few, all against the first, some against the next
            is_sampled = place == 0 or (place % 3 == 1 and second == paths[place + 1])
            if self.few and not is_sampled:
                continue
            Calls.n_pairs += 1
            rows, is_excluded = self.given([first[0], second[0]])
            expected = self.expected(rows)
            label = f"{self.name}: {first} against {second}"
            if is_excluded or isinstance(expected, Exception):
                if not (is_excluded and isinstance(expected, Exception)):
                    yield f"{label}: {expected!r}"
                continue

            def indexed(path, array, first=first, second=second):
                if path == first:
                    return in_order(array, IDS)
                return in_order(array[ORDER], IDS[ORDER]) if path == second else array

            def by_the_second(path, array, first=first, second=second):
                return array[ORDER] if path in (first, second) else array

            def misaligned(path, array, second=second):
                return array[ORDER] if path == second else array

            if (
                agree(self(changed(rows, misaligned)), expected)
                and (self.name, second[0]) not in USELESS
            ):
                yield f"{label}: the result is that of rows in another order"
            found = self(changed(rows, indexed))
            is_refused = isinstance(found, Exception) and "indexes of" in str(found)
            if is_refused or agree(found, expected):
                continue
            if not agree(found, self(changed(rows, by_the_second))):
                yield f"{label}: {found!r:.200}"

    def repeated(self):
        """Yield what is wrong with rows that were observed several times."""
        if "frequency_weight" not in self.optional:
            return
        for name in self.optional:
            rows, is_excluded = self.given([name, "frequency_weight"])
            if is_excluded or name == "frequency_weight":
                continue
            found = self(rows)
            del rows["frequency_weight"]
            expected = self(changed(rows, lambda path, array: array.repeat(COUNTS, axis=0)))
            if not agree(found, expected):
                yield f"{self.name}: frequency_weight with {name}: {found!r:.200}"

    def of_predictions(self):
        """Yield what is wrong with further arguments for the rows of finished predictions."""
        if self.name not in OF_PREDICTIONS:
            return
        key = "pilot" if self.name == "plan" else "y_true"

        def called_with(name, change=lambda array: array, further=None, **given):
            scores = self.rows.get("y_score", S)
            made = {
                key: predictions(self.rows.get("y_true", Y), x, change, **given)
                for key, x in (scores if isinstance(scores, dict) else {"": scores}).items()
            }
            names = [name, "by"] if self.name == "compare_subgroups" else [name]
            rows = {x: (further or change)(self.rows[x]) for x in names}
            others = {x: value for x, value in self.others.items() if x != key}
            return called(self.function, {key: made.get("", made)} | rows, others)

        for name in set(FURTHER) & set(self.rows) if self.name != "plan" else {"judge"}:
            found = called_with(
                name, lambda x: in_order(x, IDS), lambda x: in_order(x[ORDER], IDS[ORDER])
            )
            if not agree(found, called_with(name)):
                yield f"{self.name}: {name} against Predictions: {found!r:.200}"
            found = called_with(name, frequency_weight=COUNTS)
            if not agree(found, called_with(name, lambda x: x.repeat(COUNTS, axis=0))):
                yield f"{self.name}: {name} of Predictions that repeat rows: {found!r:.200}"


def predictions(true, scores, change, **given):
    """Return predictions of changed arrays."""
    return dmfroc.Predictions.from_arrays(change(true), change(scores), **given)


def defects(*, few):
    """Yield all that is wrong."""
    for name, function in calls().items():
        of_function = Calls(name, function, few=few)
        yield from of_function.in_another_order()
        yield from of_function.repeated()
        yield from of_function.of_predictions()


def main():
    """Print what is wrong, or how many pairs of arguments were tried."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--few", action="store_true", help="take few pairs of arguments")
    found = list(defects(few=parser.parse_args().few))
    print("\n".join(found) or f"{Calls.n_pairs} pairs of arguments, all in one order or refused")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
