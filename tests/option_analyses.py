"""The public functions with their inputs and options, whose pairs `option_pairs.py` compares.

``python tests/option_analyses.py > docs/option_pairs.csv`` finds the table that a page of the
documentation shows. With words as arguments only the rows of such functions, inputs or options are
printed.
"""

import csv
import re
import sys
import warnings

import numpy as np
from option_pairs import (
    BY_HAND,
    FOLDS,
    IS_B,
    IS_VERIFIED,
    MEASURE,
    PREDICTED,
    SCORES,
    TRUE,
    VALUES,
    Analysis,
    N,
    P,
    Q,
    Wrong,
    doubled,
    numbers,
    objects,
    per_class_by_hand,
    take,
    without,
)

import dmfroc
from dmfroc import measures

COLUMNS = ("function", "input", "first", "second", "verdict", "message")
OF_COMPARISONS = ("paired", "test", "test of a margin", "test of equivalence", "simultaneous")
OF_ALL = [x for x in VALUES if x not in OF_COMPARISONS]
OF_GATE = [x for x in OF_ALL if x != "pos_label of all"]
ARRAYS, TWO = ({"y_true": TRUE, "y_score": s} for s in (SCORES["one"], SCORES))


def chosen(*names):
    return {name: VALUES[name] for name in VALUES if name in names}


def rest(c):
    return without(c, "y_true", "y_score")


# One classifier, and several ones


def estimate(c):
    return dmfroc.estimate(MEASURE, **objects(c))


def compare(c):
    return dmfroc.compare(measures=MEASURE, **objects(c))


def all_labels(c):
    """Return the labels, those of the judge where nobody verified."""
    is_missing = np.array([label is None for label in c["y_true"]])
    return np.where(is_missing, c.get("judge", c["y_true"]), c["y_true"])


def as_predictions(c, scores):
    return dmfroc.Predictions.from_arrays(all_labels(c), scores)


def accumulated(c, scores):
    found = dmfroc.counted.Accumulator(["a", "b"], n_bins=512)
    found.update(all_labels(c), scores)
    return found


def in_folds(c):
    return {"y_true": as_predictions(c, c["y_score"]).in_folds(FOLDS)} | rest(c)


def hard_labels(c):
    names = np.array(c.get("labels", ["a", "b"]), object)
    given = {"y_pred": names[c["y_score"].argmax(axis=1)]} | c
    return dmfroc.estimate(MEASURE, **objects(without(given, "y_score")))


def each_as(function, c):
    return {"y_true": {x: function(c, s) for x, s in c["y_score"].items()}} | rest(c)


def against_all(c, scores=None):
    """Compare with the baseline that decides for the positive class, by name or by its scores."""
    both = {"one": c["y_score"]["one"], "treat all": scores}
    hard = {"y_pred": {"one": c["y_pred"]["one"]}} if "y_pred" in c else {}
    return dmfroc.compare(measures="net_benefit", **objects(c | {"y_score": both} | hard))


def place_of_positive(c):
    order = c.get("labels", ["a", "b"])
    label = c.get("pos_label", order[1])
    return order.index(label) if label in order else 1  # of a list of classes either is refused


def one_score(c):
    score = c["y_score"][:, place_of_positive(c)]
    return dmfroc.estimate("average_precision", **objects(c | {"y_score": score}))


def scores_of_all(c):
    return against_all(c, np.tile(np.eye(2)[place_of_positive(c)], (len(c["y_true"]), 1)))


def gate(c, **rule):
    [judged] = dmfroc.applications.gate([{"measure": MEASURE} | rule], **objects(c)).rules
    return {"value": judged.value, "interval": judged.interval}


def choose_threshold(c):
    population = {"population": c["target_prevalence"]} if "target_prevalence" in c else {}
    return dmfroc.applications.choose_threshold(**without(c, "target_prevalence") | population)


def gated(found):
    """Return what a gate holds against a rule."""
    return {"value": found.value, "interval": found.interval}


def of_numbers(function):
    return lambda c: numbers(function(c))


def numbers_of_all(c):
    """Return the numbers of the baseline by its scores, which are others for each class."""
    function = of_numbers(scores_of_all)
    return (
        per_class_by_hand(function, c, {}) if isinstance(c.get("pos_label"), list) else function(c)
    )


# One call that has to give the numbers of another: function, input, call, base, options, the other
SAME = [
    (
        "estimate",
        "Predictions",
        lambda c: estimate({"y_true": as_predictions(c, c["y_score"])} | rest(c)),
        ARRAYS,
        OF_ALL,
        of_numbers(estimate),
    ),
    (
        "estimate",
        "Predictions in folds",
        lambda c: estimate(in_folds(c)),
        ARRAYS,
        [x for x in OF_ALL if x != "groups"],
        of_numbers(lambda c: estimate(c | {"folds": FOLDS})),
    ),
    (
        "estimate",
        "scan",
        lambda c: estimate({"y_true": dmfroc.scan([(c["y_true"], c["y_score"])])} | rest(c)),
        ARRAYS,
        OF_ALL,
        of_numbers(estimate),
    ),
    (
        "estimate",
        "one score",
        one_score,
        ARRAYS,
        OF_ALL,
        of_numbers(lambda c: dmfroc.estimate("average_precision", **objects(c))),
    ),
    ("estimate", "hard labels", hard_labels, ARRAYS, OF_ALL, of_numbers(estimate)),
    (
        "evaluate",
        "arrays",
        lambda c: dmfroc.evaluate(measures=[MEASURE], **objects(c)),
        ARRAYS,
        OF_ALL,
        lambda c: {
            x.replace("/it/", f"/{MEASURE}/"): v
            for x, v in numbers(estimate(c)).items()
            if "estimates/" in x
        },
    ),
    (
        "evaluate",
        "Predictions",
        lambda c: dmfroc.evaluate(
            as_predictions(c, c["y_score"]), measures=[MEASURE], **objects(rest(c))
        ),
        ARRAYS,
        OF_ALL,
        of_numbers(lambda c: dmfroc.evaluate(measures=[MEASURE], **objects(c))),
    ),
    (
        "gate",
        "arrays",
        lambda c: gate(c, at_least=0.5),
        ARRAYS,
        OF_GATE,
        of_numbers(lambda c: gated(estimate(c))),
    ),
    (
        "gate",
        "a baseline",
        lambda c: gate(c, better_than="two"),
        TWO,
        [*OF_GATE, "paired"],
        of_numbers(lambda c: gated(compare(c).differences[0])),
    ),
    (
        "Accumulator.compute",
        "accumulator",
        lambda c: accumulated(c, c["y_score"]).compute([MEASURE], **rest(c)),
        ARRAYS,
        ["stratify", "level"],
        of_numbers(lambda c: dmfroc.evaluate(measures=[MEASURE], **objects(c))),
    ),
    (
        "compare",
        "Predictions",
        lambda c: compare(each_as(as_predictions, c)),
        TWO,
        VALUES,
        of_numbers(compare),
    ),
    (
        "compare",
        "scan",
        lambda c: compare({"y_true": dmfroc.scan([(c["y_true"], c["y_score"])])} | rest(c)),
        TWO,
        VALUES,
        of_numbers(compare),
    ),
    (
        "compare",
        "hard labels",
        lambda c: compare(without(c, "y_score") | {"y_pred": PREDICTED} | c.get("groups", {})),
        TWO,
        [x for x in VALUES if x not in ("labels", "groups")],
        of_numbers(lambda c: compare(c | {"y_pred": PREDICTED})),
    ),
    ("compare", "a baseline", against_all, TWO, VALUES, numbers_of_all),
]


# Other functions, whose options are applied by hand as above but where they have a meaning of their
# own


def subgroups_by_hand(run, call, found):
    """Estimate in each subgroup."""
    expected = {}
    for name in np.unique(call["by"]):
        own = without(take(call, call["by"] == name), "by", "min_class_size")
        of_one = numbers(dmfroc.estimate(MEASURE, **objects(own)))
        for x in ("value", "standard_error", "interval/0", "interval/1"):
            expected[f"groups/{name}/{x}"] = of_one[f"estimates/it/{x}"]
    return expected


def runs_by_hand(run, call, found):
    """Compute the value of each run."""
    plain = {x: call[x] for x in ("labels", "sample_weight") if x in call}
    return {
        f"runs/{name}/values/{place}": measures.precision()(call["y_true"], scores, **plain)
        for name, runs in call["y_score"].items()
        for place, scores in enumerate(runs)
    }


def one_sided_runs_by_hand(run, call, found):
    """Halve the p-values, and take the limits of intervals of twice the error."""
    rest = without(call, "alternative")
    plain, wider = run(rest), run(rest | {"level": 2 * call.get("level", 0.95) - 1})
    expected = {}
    for path in (f"differences/{place}" for place in range(3)):
        half = plain[f"{path}/p_value"] / 2
        expected[f"{path}/p_value"] = half if plain[f"{path}/value"] > 0 else 1 - half
        expected[f"{path}/interval/0"] = wider[f"{path}/interval/0"]
    return expected


def of_labels(call, function):
    """Return a value for each label and classifier."""
    return {
        name: [function(call["y_true"][:, k], s[:, k]) for k in range(3)]
        for name, s in call["y_score"].items()
    }


def f1(y, hard):
    return 2 * (y * hard).sum() / (y.sum() + hard.sum())


def multilabel_by_hand(run, call, found):
    """Compute each label by itself and take the mean, or pool them."""
    function = {"average_precision": dmfroc.average_precision_score, "f1": f1}.get(
        call.get("measure"), dmfroc.hand_till_score
    )
    scores = call["y_pred"] if call.get("measure") == "f1" else call["y_score"]
    expected = {}
    for name, s in scores.items():
        if call.get("average") == "micro":
            value = function(call["y_true"].ravel(), s.ravel())
        else:
            value = np.mean([function(call["y_true"][:, k], s[:, k]) for k in range(3)])
        expected[f"estimates/{name}/value"] = value
    return expected


def unnamed(run, call, found):
    """Leave names out."""
    return run(without(call, "labels"))


def judged_items(c):
    scores = {x: np.where(IS_VERIFIED, s, np.nan) for x, s in RIGHT.items()}
    return {"scores": scores, "judge": {x: np.roll(s, 3) for x, s in RIGHT.items()}}


def items_by_hand(run, call, found):
    """Compute the means, those of verified items with what the judge says of all."""
    expected = {}
    for name, s in call["scores"].items():
        value = s.mean()
        if "judge" in call:
            is_verified, said = ~np.isnan(s), call["judge"][name]
            weights = 1 / call.get("label_probability", np.ones(len(s)))[is_verified]
            of_verified, of_judge = (np.average(x[is_verified], weights=weights) for x in (s, said))
            weight = found[f"judge/{name}/lambda"] / (1 - is_verified.mean())
            value = of_verified + weight * (said.mean() - of_judge)
        expected[f"estimates/{name}/value"] = value
    return expected


def items_by(run, call, found):
    """Take the items of each subgroup."""
    expected = run(without(call, "by"))
    place = 0
    for group in np.unique(call["by"]):
        part = run(take(without(call, "by", "simultaneous", "alternative", "margin", "rope"),
                        call["by"] == group))  # fmt: skip
        for name in call["scores"]:
            for x in ("value", "standard_error", "interval/0", "interval/1"):
                expected[f"subgroups/{place}/{x}"] = part[f"estimates/{name}/{x}"]
            place += 1
    return expected


def items_bounds(run, call, found):
    """Bring the scores into the range from 0 to 1."""
    low, high = call["bounds"]
    scale = {
        x: {name: (s - low) / (high - low) for name, s in call[x].items()}
        for x in ("scores", "judge")
        if x in call
    }
    widths = {x: call[x] / (high - low) for x in ("margin", "rope") if x in call}
    plain = run(without(call, "bounds") | scale | widths)
    return {
        path: low + (high - low) * x
        for path, x in plain.items()
        if path.startswith("estimates") and path.endswith(("value", "interval/0", "interval/1"))
    }


RIGHT = {"one": 1.0 * (PREDICTED["one"] == TRUE), "two": 1.0 * (PREDICTED["two"] == TRUE)}
LABELLED = np.stack([IS_B, np.roll(IS_B, 1), np.roll(~IS_B, 5)], axis=1) * 1
OF_LABELS = {
    name: LABELLED * 0.3 + 0.5 * np.stack([np.roll(p, k) for k in range(3)], axis=1)
    for name, p in (("one", P), ("two", Q))
}


def curve_by_hand(run, call, found):
    """Estimate the net benefit, or the expected utility, at each threshold."""
    expected = {}
    plain = without(call, "thresholds", "prevalence", "costs")
    for place, t in enumerate(call["thresholds"]):
        measure = measures.net_benefit(t, prevalence=call.get("prevalence"))
        if "costs" in call:
            measure = measures.expected_utility(call["costs"](t))
        one = dmfroc.estimate(measure, **objects(plain))
        expected[f"thresholds/{place}/value"] = one.value
        error = found[f"thresholds/{place}/standard_error"]
        if not 0.9 < error / one.standard_error < 1.1:
            raise Wrong(f"the error is {error}, of the measure by itself {one.standard_error}")
    return expected


def tests_by_hand(run, call, found):
    """Leave the option out: statistics stay."""
    plain = run(without(call, "n_draws", "random_state"))
    return {path: x for path, x in plain.items() if path.endswith("statistic")}


def thresholds_by_hand(run, call, found):
    """Try all thresholds."""
    order = call.get("labels", ["a", "b"])
    label = call.get("pos_label", order[1])
    s, is_positive = call["y_score"][:, order.index(label)], call["y_true"] == label
    w = call.get("sample_weight", np.ones(len(s)))
    share = np.average(is_positive, weights=w)
    if "target_prevalence" in call:
        share = call["target_prevalence"][label]
    best = -np.inf, -np.inf
    for t in np.unique(s):
        tpr, fpr = (
            np.average((s >= t)[side], weights=w[side]) for side in (is_positive, ~is_positive)
        )
        tp, fp, fn = share * tpr, (1 - share) * fpr, share * (1 - tpr)
        by, least = call.get("by", "youden"), call.get("at_least", 0.9)
        value = {
            "youden": tpr - fpr,
            "f1": 2 * tp / (2 * tp + fp + fn),
            "cost": -call.get("cost_fp", 1) * fp - call.get("cost_fn", 1) * fn,
            "specificity": tpr if 1 - fpr >= least - 1e-12 else -np.inf,
        }[by]
        best = max(best, (round(value, 10), t))
    others = ("threshold", "sensitivity", "specificity")
    names = {x.split("/")[1] for x in found if re.match("choice/.*/value", x)}
    [name] = names - {*others}
    path = f"choice/{name}/value"
    return {"choice/threshold/value": best[1], path: best[0]}


SITE = np.where(np.arange(N) % 7 < 4, "x", "y")
FOLDS_IN_SITES = np.zeros(N, int)  # of each class in each site every second row
for name in np.unique(np.char.add(SITE, TRUE)):
    rows = np.char.add(SITE, TRUE) == name
    FOLDS_IN_SITES[rows] = np.arange(rows.sum()) % 2
RUNS = {"one": [SCORES["one"], SCORES["one"] ** 2], "two": [SCORES["two"], SCORES["two"] ** 3]}
SHARED = (
    "test",
    "test of a margin",
    "test of equivalence",
    "simultaneous",
    "level",
    "random_state",
    "groups",
)
OTHERS = [
    # function, input, call, base, options, other values and other ways by hand
    (
        "compare_subgroups",
        "subgroups",
        lambda c: dmfroc.compare_subgroups(measures=MEASURE, **objects(c)),
        ARRAYS | {"by": SITE, "min_class_size": 2},
        (
            "labels",
            "sample_weight",
            "frequency_weight",
            "y_pred",
            "stratify",
            "method",
            "method with interval",
            "method with draws",
            "level",
            "random_state",
            "groups",
        ),
        {"by": lambda c: {}, "folds": lambda c: {"folds": FOLDS_IN_SITES}},
        {"by": subgroups_by_hand},
    ),
    (
        "compare_runs",
        "runs",
        lambda c: dmfroc.compare_runs(measures=MEASURE, **objects(c)),
        ARRAYS | {"y_score": RUNS},
        ("labels", "sample_weight", "level", "groups"),
        {
            "crossed": lambda c: {"crossed": False},
            "covariances": lambda c: {"covariances": "leave_one_out"},
            "test": lambda c: {"alternative": "greater"},
        },
        {"crossed": runs_by_hand, "covariances": runs_by_hand, "test": one_sided_runs_by_hand},
    ),
    (
        "multilabel",
        "multilabel",
        lambda c: dmfroc.applications.multilabel(**objects(c)),
        {"y_true": LABELLED, "y_score": OF_LABELS},
        SHARED,
        {
            "measure": lambda c: {"measure": "average_precision"},
            "y_pred": lambda c: {
                "measure": "f1",
                "y_pred": {x: 1 * (s > 0.5) for x, s in OF_LABELS.items()},
            },
            "average": lambda c: {"average": "micro"},
            "labels (names)": lambda c: {"labels": ["u", "v", "w"]},
            "test of a margin": lambda c: {"alternative": "greater", "margin": 0.01},
        },
        dict.fromkeys(("measure", "y_pred", "average"), multilabel_by_hand)
        | {"labels (names)": unnamed},
    ),
    (
        "items",
        "items",
        lambda c: dmfroc.applications.items(**objects(c)),
        {"scores": RIGHT},
        SHARED,
        {
            "judge": judged_items,
            "judge with probability": lambda c: (
                judged_items(c) | {"label_probability": 0.5 + 0.3 * IS_B}
            ),
            "by": lambda c: {"by": SITE},
            "bounds": lambda c: {"bounds": (-1, 3)},
        },
        {
            "judge": items_by_hand,
            "judge with probability": items_by_hand,
            "by": items_by,
            "bounds": items_bounds,
        },
    ),
    (
        "applications.decision_curve",
        "arrays",
        lambda c: dmfroc.applications.decision_curve(**c),
        ARRAYS | {"thresholds": [0.35, 0.5]},
        ("labels", "sample_weight", "frequency_weight", "pos_label", "stratify", "groups"),
        {
            "prevalence": lambda c: {"prevalence": 0.2},
            "costs": lambda c: {"costs": lambda t: [[0, t], [1 - t, 0]]},
            "level": lambda c: {"level": 0.8},
        },
        dict.fromkeys(("prevalence", "costs", "level"), curve_by_hand),
    ),
    (
        "calibration_tests",
        "arrays",
        lambda c: dmfroc.applications.calibration_tests(**{"n_draws": 99} | c),
        ARRAYS,
        ("labels", "random_state"),
        {"n_draws": lambda c: {"n_draws": 120}},
        dict.fromkeys(("n_draws", "random_state"), tests_by_hand),
    ),
    (
        "applications.choose_threshold",
        "arrays",
        lambda c: choose_threshold({"n_draws": 100} | c),
        ARRAYS,
        ("labels", "sample_weight", "pos_label", "population", "level", "random_state"),
        {
            "by": lambda c: {"by": "f1"},
            "at_least": lambda c: {"by": "specificity", "at_least": 0.7},
            "cost_fp": lambda c: {"by": "cost", "cost_fp": 3.0},
            "cost_fn": lambda c: {"by": "cost", "cost_fn": 3.0},
            "n_draws": lambda c: {"n_draws": 120},
        },
        dict.fromkeys(
            (
                "by",
                "at_least",
                "cost_fp",
                "cost_fn",
                "n_draws",
                "population",
                "sample_weight",
                "pos_label",
                "level",
                "random_state",
            ),
            thresholds_by_hand,
        ),
    ),
]


def analyses():
    """Return all functions with their inputs and options."""
    found = [
        Analysis("estimate", "arrays", estimate, ARRAYS, chosen(*OF_ALL)),
        Analysis("compare", "arrays", compare, TWO, dict(VALUES)),
    ]
    for function, kind, call, base, options, reference in SAME:
        found.append(Analysis(function, kind, call, base, chosen(*options), reference=reference))
    for function, kind, call, base, options, given, by_hand in OTHERS:
        given = {x: v for x, v in VALUES.items() if x in options and x != "groups"} | given
        given |= {"groups": doubled} if "groups" in options else {}
        found.append(Analysis(function, kind, call, base, given, BY_HAND | by_hand))
    return found


def all_pairs(one_in=1):
    """Return analyses with two of their options: each with itself, and every n-th other pair."""
    every = ((analysis, *pair) for analysis in analyses() for pair in analysis.pairs())
    return [x for place, x in enumerate(every) if x[1] == x[2] or place % one_in == 0]


def is_meant(words, analysis, first, second):
    """Whether words name the function or its input, and one of the options if they name options."""
    of_options = words & {*analysis.values}
    named = words & {analysis.function, analysis.kind}
    return not words or (named and (not of_options or of_options & {first, second}))


def main(words):
    warnings.simplefilter("ignore")
    rows = [x[0].row(*x[1:]) for x in all_pairs() if is_meant(words, *x)]
    csv.writer(sys.stdout, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main({*sys.argv[1:]})
