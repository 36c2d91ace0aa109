"""Every option with every other one, and with every kind of input: right, or refused in words.

A pair is right if its numbers are those of calls in which the first option, and then the second, is
applied by hand: weights by repeated rows, class shares by weights, the positive class by the order
of the labels, folds one by one, and so on. Both options must change something, unless they cannot.
A pair is refused in words if the error names one of the two options and says what to do.

This is how they are compared; `option_analyses.py` has the functions and their inputs.
"""

import contextlib
import itertools
import json
import math
import operator
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

import dmfroc
from dmfroc.results.result import Result

REMEDY = r"leave|use |pass|give|name |take|build|put |wait"
MEASURE = "precision"  # depends on hard labels, the positive class, and the class shares
TAILS = (0.025, 0.1, 0.9, 0.975)
BOOTSTRAP = {"method": "bootstrap", "n_draws": 100}

RNG = np.random.default_rng(3)
N = 28
TRUE = np.array(["a", "b"], object)[RNG.permutation(np.arange(N) % 2)]
IS_B = TRUE == "b"
P, Q = (np.clip(RNG.normal(0.35 + 0.25 * IS_B, 0.22), 0.02, 0.98).round(3) for _ in range(2))
FOLDS = np.where(RNG.permutation(N) % 5 < 2, "f", "g")
JUDGE = np.where(RNG.random(N) < 0.85, TRUE, np.where(IS_B, "a", "b"))
IS_VERIFIED = RNG.permutation(N) % 4 > 0
FEATURE, OF_TARGET = P[:, None] + RNG.normal(0, 0.5, (N, 1)), RNG.normal(0.7, 0.5, (30, 1))
PREDICTED = {name: np.where(p + 0.3 * np.sin(np.arange(N)) > 0.5, "b", "a")
             for name, p in (("one", P), ("two", Q))}  # fmt: skip
SCORES = {name: np.stack([1 - p, p], axis=1) for name, p in (("one", P), ("two", Q))}
OF_ROWS = ("y_true", "y_score", "y_pred", "sample_weight", "frequency_weight", "folds", "judge",
           "label_probability", "label_strata", "importance", "groups", "by", "scores")  # fmt: skip


class Wrong(AssertionError):
    """A number is not the one that is found by hand."""


def each(x, change):
    """Apply a change to the array, or to each of several ones by name."""
    if isinstance(x, list):
        return [change(one) for one in x]
    return (
        {name: each(one, change) for name, one in x.items()} if isinstance(x, dict) else change(x)
    )


def take(call, places):
    """Return a call with some of the rows, or with rows repeated."""
    of_rows = {x: each(v, lambda one: one[places]) for x, v in call.items()
               if x in OF_ROWS and not isinstance(v, tuple)}  # fmt: skip
    if isinstance(call.get("importance"), tuple):
        source, target = call["importance"]
        of_rows["importance"] = source[places], target
    return call | of_rows


def without(call, *names):
    return {name: value for name, value in call.items() if name not in names}


OBJECTS = {
    "folds": ("folds", "target", "train_fraction"),
    "judge": ("judge", "label_probability", "label_strata"),
    "population": ("target_prevalence", "importance"),
    "method": ("method", "n_draws", "interval_type"),
    "test": ("alternative", "margin", "rope"),
}


def objects(call):
    """Return a call in which what belongs together, and is applied by hand apart, is one object."""
    parts = {x: call[x] for names in OBJECTS.values() for x in names if x in call}
    rest = without(call, *parts)
    if "target" in parts:
        given = parts.get("folds"), parts["target"], parts.get("train_fraction")
        rest["folds"] = dmfroc.Folds(*given)
    elif "folds" in parts:
        rest["folds"] = parts["folds"]
    if "judge" in parts:
        given = (parts.get(x) for x in OBJECTS["judge"])
        rest["judge"] = dmfroc.Judge(*given)
    if isinstance(importance := parts.get("importance"), dict):
        rest["population"] = {x: dmfroc.Importance(w) for x, w in importance.items()}
    elif importance is not None:
        several = importance if isinstance(importance, tuple) else (importance,)
        rest["population"] = dmfroc.Importance(*several)
    if "target_prevalence" in parts:
        rest["population"] = parts["target_prevalence"]
    if "method" in parts:
        rest["method"] = dmfroc.Bootstrap(parts["n_draws"], parts.get("interval_type", "bca"))
    if "margin" in parts:
        rest["test"] = dmfroc.NonInferiority(parts["margin"])
    elif "rope" in parts:
        rest["test"] = dmfroc.Equivalence(parts["rope"])
    elif "alternative" in parts:
        rest["test"] = parts["alternative"]
    return rest


# What is given for each option, together with the options that it needs. The order matters.


def judged(call):
    return {"y_true": np.where(IS_VERIFIED, TRUE, None), "judge": JUDGE}


def same_kind(call, one, several):
    return several if isinstance(call["y_score"], dict) else one


def doubled(call):
    places = np.random.default_rng(0).permutation(np.repeat(np.arange(N), 2))
    return take(call, places) | {"groups": places}


VALUES = {
    "labels": lambda c: {"labels": ["b", "a"], "y_score": each(c["y_score"], lambda s: s[:, ::-1])},
    "sample_weight": lambda c: {"sample_weight": 1.0 + np.arange(N) % 3},
    "frequency_weight": lambda c: {"frequency_weight": 1 + np.arange(N) // 2 % 3},
    "y_pred": lambda c: {"y_pred": same_kind(c, PREDICTED["one"], PREDICTED)},
    "pos_label": lambda c: {"pos_label": "b" if "labels" in c else "a"},
    "pos_label of all": lambda c: {"pos_label": ["a", "b"]},
    "folds": lambda c: {"folds": FOLDS},
    "folds of the learner": lambda c: {"folds": FOLDS, "target": "learner"},
    "folds of a share": lambda c: {"folds": FOLDS, "target": "learner", "train_fraction": 0.8},
    "judge": judged,
    "judge with probability": lambda c: judged(c) | {"label_probability": 0.5 + 0.3 * IS_B},
    "judge with strata": lambda c: judged(c) | {"label_strata": np.arange(N) % 2},
    "population": lambda c: {"target_prevalence": {"a": 0.7, "b": 0.3}},
    "population of importance": lambda c: {"importance": 0.5 + np.arange(N) % 5},
    "population of scores": lambda c: {
        "target_prevalence": SCORES["two"][::2, :: -1 if "labels" in c else 1]
    },
    "population of features": lambda c: {"importance": (FEATURE, OF_TARGET)},
    "stratify": lambda c: {"stratify": True},
    "method": lambda c: BOOTSTRAP,
    "level": lambda c: {"level": 0.8},
    "method with interval": lambda c: BOOTSTRAP | {"interval_type": "percentile"},
    "method with draws": lambda c: {"method": "bootstrap", "n_draws": 150},
    "random_state": lambda c: {"random_state": 7},
    "paired": lambda c: {"paired": False},
    "test": lambda c: {"alternative": "greater"},
    "test of a margin": lambda c: {"alternative": "greater", "margin": 0.2},
    "test of equivalence": lambda c: {"rope": 0.05},
    "simultaneous": lambda c: {"simultaneous": True},
    "groups": doubled,  # last, since it doubles all rows
}
# Other words that name an option in a message
WORDS = {
    "folds of the learner": ("target",),
    "folds of a share": ("target",),
    "method with interval": ("interval",),
    "test of a margin": ("NonInferiority", "margin"),
    "test of equivalence": ("Equivalence",),
}


def key_of(option):
    return option.partition(" ")[0]


def built(base, options, values):
    """Return the call with some options."""
    call = dict(base)
    for name, value in values.items():
        if name in options:
            call |= value(call)
    return call


# What a call returns, as numbers by name


def numbers(found):
    if isinstance(found, dmfroc.results.Estimate):
        one = {"value": found.value, "standard_error": found.standard_error, "level": found.level,
               "interval": found.interval}  # fmt: skip
        judge = found.judge and {"lambda": found.judge.lambda_} | vars(found.judge)
        draws = None if found.draws is None else np.quantile(found.draws, TAILS)
        found = {"estimates": {"it": one}, "n_draws": found.n_draws, "judge": {"it": judge},
                 "quantiles": draws}  # fmt: skip
    elif isinstance(found, dmfroc.results.ResultsByName):
        found = {name: numbers(one) for name, one in found.items()}
    elif isinstance(found, Result):
        found = json.loads(json.dumps(found.as_json(), default=str))
    return dict(_flat("", found))


def _flat(path, x):
    if isinstance(x, bool | int | float | np.number):
        yield path, float(x)
    elif isinstance(x, dict):
        for key, one in x.items():
            # What is done by hand is not said of the design
            if key not in ("warnings", "seed", "agreement", "design"):
                yield from _flat(f"{path}/{key}" if path else str(key), one)
    elif isinstance(x, list | tuple | np.ndarray):
        for place, one in enumerate(x):
            name = one.get("name", place) if isinstance(one, dict) else place
            yield from _flat(f"{path}/{name}", one)


def values(found):
    """Return the values alone, without errors and intervals."""
    return {path: x for path, x in found.items() if re.search(r"(s/[^/]*|\d)/value$", path)}


def but_intervals(found):
    others = "interval|limit|level|n_draws|best|quantiles"
    return {path: x for path, x in found.items() if not re.search(others, path)}


def has_bias(run, call):
    """Whether a bias moves an end of a difference: then a line through two does not meet the value.

    The line is over normal quantiles; the least bias that counts is a quarter of a standard error.
    """
    quantiles, ends = norm.ppf([0.75, 0.8]), []
    for level in (0.5, 0.6):
        found = run(call | {"level": level})
        ends.append([found[f"differences/0/interval/{x}"] for x in (0, 1)])
    (near, far), value = np.abs(np.array(ends) - found["differences/0/value"]), quantiles[0]
    moved = near - (far - near) * value / np.diff(quantiles)
    return bool(moved.max() > 0.1 * found["differences/0/standard_error"])


# The options by hand: from the call and what it returned to the numbers that it has to return


def labels_by_hand(run, call, found):
    """Give the classes names whose alphabetical order is that of the labels."""
    names = {label: f"{place}{label}" for place, label in enumerate(call["labels"])} | {None: None}
    rename = np.vectorize(names.get, otypes=[object])
    renamed = {x: each(call[x], rename) for x in ("y_true", "y_pred", "judge") if x in call}
    if "pos_label" in call:
        renamed["pos_label"] = names[call["pos_label"]]
    if isinstance(call.get("target_prevalence"), dict):
        shares = call["target_prevalence"]
        renamed["target_prevalence"] = {names[label]: share for label, share in shares.items()}
    again = run(without(call, "labels") | renamed)
    return {path: x for path, x in again.items() if "/always " not in path}


def pos_label_by_hand(run, call, found):
    """Put the positive class second among the labels, and turn the columns."""
    turned = each(call["y_score"], lambda s: s[:, ::-1])
    labels = ["b", "a"] if call["pos_label"] == "a" else ["a", "b"]
    other = {"y_score": turned, "labels": labels}
    if isinstance(call.get("target_prevalence"), np.ndarray):
        other["target_prevalence"] = call["target_prevalence"][:, ::-1]
    return run(without(call, "pos_label") | other)


def per_class_by_hand(run, call, found):
    """Take each class in turn, at a level for both at once, and adjust the p-values."""
    level = math.ceil(math.sqrt(call.get("level", 0.95)) * 1e4) / 1e4
    plain = without(call, "pos_label") | {"level": level}
    parts = {label: run(plain | {"pos_label": label}) for label in ("a", "b")}
    path = "differences/0/p_value"
    if all(path in part for part in parts.values()):
        first, last = sorted(parts.values(), key=operator.itemgetter(path))
        least = min(2 * first[path], 1.0)
        first["differences/0/adjusted_p_value"] = least
        last["differences/0/adjusted_p_value"] = max(last[path], least)
    return {f"{label}/{path}": x for label, part in parts.items() for path, x in part.items()}


def sample_weight_by_hand(run, call, found):
    """Repeat rows, which then belong together."""
    if "frequency_weight" in call:  # whose copies are independent
        places = np.repeat(np.arange(len(call["y_true"])), call["frequency_weight"])
        call = take(without(call, "frequency_weight"), places)
    places = np.repeat(np.arange(len(call["y_true"])), call["sample_weight"].astype(int))
    groups = call.get("groups", np.arange(len(call["y_true"])))
    plain = without(call, "sample_weight", "label_strata")
    if "label_strata" in call:  # whose shares are those of the rows as they are
        plain["label_probability"] = probability_in_strata(call)
    if "paired" in call:
        return values(run(take(plain, places)))
    again = run(take(plain, places) | {"groups": groups[places]})
    if "by" in call and has_bias(run, call):  # as halves of rows show it, which are more
        return but_intervals(again)
    return values(again) if "method" in call else again


def frequency_weight_by_hand(run, call, found):
    """Repeat rows."""
    places = np.repeat(np.arange(len(call["y_true"])), call["frequency_weight"])
    return run(take(without(call, "frequency_weight"), places))


def y_pred_by_hand(run, call, found):
    """Pass scores of 0 and 1 instead."""
    labels = np.array(call.get("labels", ["a", "b"]))
    scores = each(call["y_pred"], lambda one: 1.0 * (one[:, None] == labels))
    return run(without(call, "y_pred") | {"y_score": scores})


def in_each_fold(run, call):
    """Return the values in each fold, by name."""
    folds = without(call, *OBJECTS["folds"], *OBJECTS["method"])
    parts = [values(run(take(folds, call["folds"] == fold))) for fold in np.unique(call["folds"])]
    return {path: np.array([part[path] for part in parts]) for path in parts[0]}


def folds_by_hand(run, call, found):
    """Take the mean of the values in each fold."""
    return {path: x.mean() for path, x in in_each_fold(run, call).items()}


def learner_by_hand(run, call, found):
    """Take Nadeau and Bengio's variance of the values in the folds."""
    of_folds = in_each_fold(run, call)
    held_out = 1 - call["train_fraction"] if "train_fraction" in call else 1 / 2
    factor = 1 / 2 + held_out / (1 - held_out)
    errors = {
        path.replace("value", "standard_error"): np.sqrt(factor * x.var(ddof=1))
        for path, x in of_folds.items()
    }
    return {path: x.mean() for path, x in of_folds.items()} | errors


def probability_in_strata(call):
    """Return the share of verified rows in each row's stratum."""
    is_verified = [label is not None for label in call["y_true"]]
    strata, n = call["label_strata"], call.get("frequency_weight", np.ones(len(is_verified)))
    verified, all_rows = (np.bincount(strata, n * x) for x in (is_verified, np.ones(len(n))))
    return (verified / all_rows)[strata]


def judge_by_hand(run, call, found):
    """Add lambda times what the judge's labels say on all rows, and not on verified ones."""
    is_verified = np.array([label is not None for label in call["y_true"]])
    n = np.ones(len(is_verified))
    if "frequency_weight" in call:
        n = call["frequency_weight"]
    probability = call.get("label_probability", np.ones(len(n)))
    if "label_strata" in call:
        probability = probability_in_strata(call)
    plain = without(call, "judge", "label_probability", "label_strata")
    weights = plain.get("sample_weight", np.ones(len(n)))
    drawn = take(plain | {"sample_weight": weights / probability}, is_verified)
    verified = values(run(drawn))
    judge_on_verified = values(run(drawn | {"y_true": call["judge"][is_verified]}))
    judge_on_all = values(run(plain | {"y_true": call["judge"]}))
    others = n[~is_verified].sum() / n.sum()
    expected = {}
    for path in verified:
        if path.startswith("estimates/"):  # differences have weights of their own
            name = path.split("/")[1].replace(MEASURE, "Precision")
            weight = found[f"judge/{name}/lambda"] / others
            gap = judge_on_all[path] - judge_on_verified[path]
            expected[path] = verified[path] + weight * gap
    return expected


def target_prevalence_by_hand(run, call, found):
    """Weight the rows such that each class has its share, in every fold."""
    n = len(call["y_true"])
    weights = call.get("sample_weight", np.ones(n)) * call.get("importance", np.ones(n))
    counts = call.get("frequency_weight", np.ones(n))
    folds = call.get("folds", np.zeros(n))
    weights = weights / weights.mean()
    for fold, (label, share) in itertools.product(
        np.unique(folds), call["target_prevalence"].items()
    ):
        rows = (call["y_true"] == label) & (folds == fold)
        weights[rows] *= share / (weights * counts)[rows].sum()
    plain = without(call, "target_prevalence", "importance")
    return values(run(plain | {"sample_weight": weights}))


def known(call):
    """Return the call with a population as it is estimated by hand.

    Shares are those of which the mean scores of the target are a mixture, weights those of a
    logistic regression of scikit-learn.
    """
    if "y_true" not in call:
        return call
    n = len(call["y_true"])
    weights = call.get("sample_weight", np.ones(n)) * call.get("frequency_weight", np.ones(n))
    other = {}
    if isinstance(call.get("target_prevalence"), np.ndarray):
        labels, scores = call.get("labels", ["a", "b"]), call["y_score"]
        means = np.stack([np.average(scores[rows], axis=0, weights=weights[rows])
                          for rows in (call["y_true"] == label for label in labels)])  # fmt: skip
        shares = np.linalg.solve(means.T, call["target_prevalence"].mean(axis=0))
        other["target_prevalence"] = dict(zip(labels, shares, strict=True))
    if isinstance(call.get("importance"), tuple):
        source, target = call["importance"]
        weights = np.append(weights, np.ones(len(target)))
        fit = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
        fit.fit(np.concatenate([source, target]), np.arange(len(weights)) >= n, weights)
        other["importance"] = np.exp(source @ fit.coef_[0])
    return call | other


def population_by_hand(run, call, found):
    """Give the population as it is estimated by hand."""
    return values(run(known(call)))


def importance_by_hand(run, call, found):
    """Multiply the weights."""
    weights = call.get("sample_weight", 1.0) * call["importance"]
    return run(without(call, "importance") | {"sample_weight": weights})


def groups_by_hand(run, call, found):
    """Keep one of the rows that are the same; its copies count as weights."""
    first = np.unique(call["groups"], return_index=True)[1]
    once = take(without(call, "groups"), first)
    if "frequency_weight" in once:
        once["sample_weight"] = once.pop("frequency_weight") * once.get("sample_weight", 1.0)
    return run(once)


def stratify_by_hand(run, call, found):
    """Find influences by other weights, and add up their variances in the classes."""
    if "target_prevalence" in call:  # which fixes the class sizes by itself
        return run(without(call, "stratify"))
    plain = values(run(without(call, "stratify")))
    others = {"folds", "method", "groups", "frequency_weight", "sample_weight", "thresholds"}
    if others & set(call) or isinstance(call["y_score"], dict):
        return plain
    n, step = len(call["y_true"]), 1e-5
    influences = []
    for row in range(n):
        ends = []
        for end in (1 + step, 1 - step):
            weights = np.ones(n)
            weights[row] = end
            ends.append(values(run(call | {"sample_weight": weights})))
        influences.append({path: (ends[0][path] - ends[1][path]) / (2 * step) for path in plain})
    errors = {}
    for path in plain:
        phi = np.array([of_row[path] for of_row in influences])
        parts = [phi[call["y_true"] == label] for label in ("a", "b")]
        variance = sum(len(part) ** 2 * part.var(ddof=1) / len(part) for part in parts)
        if path.startswith("estimates"):
            errors[path.replace("value", "standard_error")] = np.sqrt(variance)
    return plain | errors


def method_by_hand(run, call, found):
    """Leave the bootstrap out: the value stays, and errors are about the same."""
    plain = run(without(call, "method", "n_draws", "interval_type"))
    for path, x in plain.items():
        if path.endswith("standard_error") and not x / 2 <= found[path] <= 2 * x + 0.02:
            raise Wrong(f"{path} of the bootstrap is {found[path]}, of the jackknife {x}")
    return values(plain)


def level_by_hand(run, call, found):
    """Leave the level out: intervals alone become longer."""
    plain = run(without(call, "level"))
    for path, x in plain.items():
        if re.search("interval.*/0$", path):
            high = path[:-1] + "1"
            if not x - 1e-9 <= found[path] <= found.get(high, 1) <= plain.get(high, 1) + 1e-9:
                raise Wrong(f"{path} at level 0.8 is {found[path]}, at 0.95 {x}")
    return but_intervals(plain)


def interval_type_by_hand(run, call, found):
    """Take quantiles of the draws, but reach as far as without draws."""
    plain = run(call | {"interval_type": "bca"})
    expected = {path: x for path, x in but_intervals(plain).items() if "p_value" not in path}
    if "quantiles/0" in found:
        ends = (1, 2) if "level" in call else (0, 3)
        low, high = (found[f"quantiles/{end}"] for end in ends)
        path, without_draws = (
            "estimates/it/interval",
            run(without(call, *BOOTSTRAP, "interval_type")),
        )
        expected[f"{path}/0"] = min(low, without_draws[f"{path}/0"])
        expected[f"{path}/1"] = max(high, without_draws[f"{path}/1"])
    return expected


def n_draws_by_hand(run, call, found):
    """Leave the number of draws out: the value stays."""
    n_draws = {"n_draws": 150.0} if "n_draws" in found else {}
    return values(run(call | {"n_draws": 2000})) | n_draws


def random_state_by_hand(run, call, found):
    """Repeat the call, and leave the seed out: the value stays."""
    if run(call) != found:
        raise Wrong("the same seed gives other numbers")
    return values(run(without(call, "random_state")))


def paired_by_hand(run, call, found):
    """Estimate each sample by itself, and add up the variances."""
    plain = without(call, "paired", "alternative", "margin", "rope", "simultaneous")
    alone = {}
    for name, scores in call["y_score"].items():
        own = {"y_score": scores}
        own |= {x: call[x][name] for x in ("y_pred", "importance") if isinstance(call.get(x), dict)}
        of_one = numbers(dmfroc.estimate(MEASURE, **objects(plain | own)))
        alone[name] = {x: of_one[f"estimates/it/{x}"] for x in ("value", "standard_error")}
    expected = {f"estimates/{name}/{x}": v for name, one in alone.items() for x, v in one.items()}
    one, two = alone["one"], alone["two"]
    expected["differences/0/value"] = one["value"] - two["value"]
    if "method" in call:  # draws of independent samples have other seeds
        return values(expected)
    error = np.hypot(one["standard_error"], two["standard_error"])
    return expected | {"differences/0/standard_error": error}


def alternative_by_hand(run, call, found):
    """Halve the p-value, and take the limit of an interval of twice the error."""
    plain = run(without(call, "alternative", "margin"))
    expected = {path: x for path, x in plain.items() if path.startswith("estimates")}
    if "margin" in call or "method" in call:
        return values(expected)
    above = plain["differences/0/value"] > 0
    half = plain["differences/0/p_value"] / 2
    wider = run(without(call, "alternative") | {"level": 2 * call.get("level", 0.95) - 1})
    low = wider["differences/0/interval/0"]
    return expected | {"differences/0/p_value": half if above else 1 - half,
                       "differences/0/interval/0": low}  # fmt: skip


def margin_by_hand(run, call, found):
    """Choose the level at which the limit is minus the margin."""
    if "method" not in call:
        p = found["differences/0/p_value"]
        level = min(max(1 - p, 0.5 + 1e-9), 1 - 1e-9)
        limit = run(call | {"level": level})["differences/0/interval/0"]
        if level == 1 - p and abs(limit + call["margin"]) > 1e-6:
            raise Wrong(f"the limit at the p-value {p} is {limit}, not {-call['margin']}")
    return values(run(without(call, "margin")))


def rope_by_hand(run, call, found):
    """Leave out what is beyond either end, by the limits that reach it."""
    rest = without(call, "rope")
    plain = but_intervals(run(rest))
    plain = {path: x for path, x in plain.items() if "probability_equivalent" not in path}
    if {"method", "judge", "paired", "scores"} & set(call):  # which have other distributions
        return plain
    turned = dict(reversed(call["y_score"].items()))
    beyond = [
        run(rest | {"alternative": "greater", "margin": call["rope"], "y_score": scores})
        for scores in (call["y_score"], turned)
    ]
    p_values = [x["differences/0/p_value"] for x in beyond]
    if has_bias(run, rest):  # which moves ends, but not the value that tails are about
        return plain
    return plain | {"differences/0/probability_equivalent": 1 - sum(p_values)}


def simultaneous_by_hand(run, call, found):
    """Leave it out: the one difference has the same interval and p-value."""
    plain = run(without(call, "simultaneous"))
    return {path: x for path, x in plain.items() if path.startswith(("estimates", "differences"))}


BY_HAND = {
    "labels": labels_by_hand,
    "sample_weight": sample_weight_by_hand,
    "frequency_weight": frequency_weight_by_hand,
    "y_pred": y_pred_by_hand,
    "pos_label": pos_label_by_hand,
    "pos_label of all": per_class_by_hand,
    "folds": folds_by_hand,
    "folds of the learner": learner_by_hand,
    "folds of a share": learner_by_hand,
    "judge": judge_by_hand,
    "judge with probability": judge_by_hand,
    "judge with strata": judge_by_hand,
    "population": target_prevalence_by_hand,
    "population of importance": importance_by_hand,
    "population of scores": population_by_hand,
    "population of features": population_by_hand,
    "stratify": stratify_by_hand,
    "method": method_by_hand,
    "method with interval": interval_type_by_hand,
    "method with draws": n_draws_by_hand,
    "level": level_by_hand,
    "random_state": random_state_by_hand,
    "paired": paired_by_hand,
    "test": alternative_by_hand,
    "test of a margin": margin_by_hand,
    "test of equivalence": rope_by_hand,
    "simultaneous": simultaneous_by_hand,
    "groups": groups_by_hand,
}
# Where an option cannot change anything
NO_EFFECT = {
    "random_state": None,  # where nothing is drawn
    "labels (names)": None,  # which are no numbers
    "stratify": ("population", "population of scores", "prevalence"),  # which fix it
    "groups": (
        "folds of the learner",
        "folds of a share",
    ),  # which give the share of the training sets
}
# Options that are applied to other rows or scores, where an estimated population must be known, and
# where the weight of a judge is another
OF_OTHER_ROWS = ("folds", "folds of the learner", "folds of a share", "y_pred", "sample_weight",
                 "groups", "stratify", "population", "population of importance", "pos_label",
                 "frequency_weight")  # fmt: skip


def by_hand(function, option, run, call, found):
    """Return the numbers that the call has to give if one of its options is applied by hand."""
    if option not in OF_OTHER_ROWS:
        return function(run, call, found)
    plain = known(call)
    expected = function(run, plain, found)
    if any(plain[x] is not call[x] for x in ("target_prevalence", "importance") if x in call):
        return values(expected)
    if "judge" in call:
        return {x: v for x, v in expected.items() if re.search("judge/.*(verified|judge)_value", x)}
    return {
        x: v
        for x, v in expected.items()
        if not re.search("^n_(obs|items)|/n$|^classes/|/always ", x)
    }


_FOUND = {}


def _as_lists(x):
    """Return what tells the values of an option apart when it is printed."""
    if isinstance(x, dict | list | tuple):
        return [_as_lists(one) for one in (x.items() if isinstance(x, dict) else x)]
    return x.tolist() if isinstance(x, np.ndarray) else x


class Analysis(NamedTuple):
    """A public function with a kind of input, and its options.

    Attributes
    ----------
    function, kind : str
        What is called, and what it is given.
    call : callable
        Takes the arguments, of which `base` has those without options.
    base : dict
        Arguments without options.
    values, by_hand : dict of str to callable
        What is given for each option, and the numbers without it.
    reference : callable, optional
        Another call that has to return the same numbers. Then options are not combined.
    """

    function: str
    kind: str
    call: Callable[[dict], Any]
    base: dict
    values: dict
    by_hand: dict = BY_HAND
    reference: Callable[[dict], dict] | None = None

    def run(self, call):
        """Return the numbers of a call, found once unless it has a seed."""
        if "random_state" in call:
            return numbers(self.call(call))
        key = self.function, self.kind, repr(sorted((x, _as_lists(v)) for x, v in call.items()))
        if key not in _FOUND:
            _FOUND[key] = numbers(self.call(call))
        return dict(_FOUND[key])

    def verdict(self, first, second):
        """Return whether a pair is right or refused, and the words of the refusal."""
        call = built(self.base, {first, second}, self.values)
        try:
            found = self.run(call)
        except (TypeError, ValueError) as error:
            text = str(error)
            names = {y for x in (first, second) for y in (key_of(x), *WORDS.get(x, ()))}
            named = [x for x in names if re.search(rf"\b{x}\b", text)]
            if not named or not re.search(REMEDY, text):
                raise Wrong(f"refused with {text!r}") from error
            return "refused", text
        if self.reference is not None:
            agree(found, self.reference(call), f"{first} of a call with {self.kind}")
            return "right", ""
        for option in dict.fromkeys((first, second)):
            # Each class in turn is one call, whose other options are compared without this one
            if isinstance(call.get("pos_label"), list) and option != "pos_label of all":
                continue
            expected = by_hand(self.by_hand[option], option, self.run, call, found)
            agree(found, expected, f"{option} by hand")
            unchanged = NO_EFFECT.get(option, ())
            if unchanged is not None and not {first, second} & {*unchanged}:
                with contextlib.suppress(TypeError, ValueError):
                    key = key_of(option)
                    if self.run(without(call, *OBJECTS.get(key, (key,)))) == found:
                        raise Wrong(f"{option} changes nothing")
        return "right", ""

    def pairs(self):
        """Yield the pairs of options that are compared."""
        if self.reference is not None:
            yield from ((x, x) for x in self.values)
            return
        for first, second in itertools.combinations_with_replacement(self.values, 2):
            if key_of(first) != key_of(second) or first == second:
                yield first, second

    def row(self, first, second):
        """Return a row of the table; one that is neither right nor refused is wrong."""
        try:
            verdict, message = self.verdict(first, second)
        except Exception as error:
            verdict, message = "wrong", f"{type(error).__name__}: {error}"
        return [self.function, self.kind, first, second, verdict, message]


def agree(found, expected, what):
    """Compare the numbers that are expected with those that were found."""
    if not expected:
        raise Wrong(f"{what}: nothing is known")
    for path, x in expected.items():
        if path not in found or not np.isclose(
            found[path], x, rtol=1e-5, atol=1e-7, equal_nan=True
        ):
            raise Wrong(f"{path} is {found.get(path)}, with {what} {x}")
