"""Call everything with generated input: the number is right, or an error names the argument.

Runs by itself, without the checks of annotations that tests have: users do not have them either.
``python tests/fuzz/fuzz.py --cases 20000 --seed 1`` prints the defects as JSON; each has the
number by which ``--only`` repeats it.
"""

import argparse
import json
import re
import sys
import traceback
import warnings

import arguments
import generators
import numpy as np
import oracles
from oracles import Defect, close
from regressions import CASES

import dmfroc

# What a message may call an argument
ALIASES = {"groups": "group", "y_score": "classifier", "cost_fp": "cost", "cost_fn": "cost",
           "measure": "measure", "measures": "measure", "multi_class": "classes",
           "pos_label": "class", "rates": "rate", "weights": "weight"}  # fmt: skip


def ordinary(rng):
    """Numbers agree with brute force, whatever container they come in."""
    given = generators.sample(rng)
    before = [np.array(value, dtype=object) for value in given.arguments.values()]
    predictions = dmfroc.Predictions.from_arrays(**given.arguments)
    k = len(given.labels)
    found = dmfroc.hand_till_score(predictions)
    scores = given.scores
    if k == 2:  # that of a class less that of the other, where they are no complements
        scores = scores - scores[:, ::-1]
    close(found, oracles.hand_till(given.codes, scores, given.weights, k), "hand_till")
    table = oracles.confusion(given.codes, given.scores.argmax(axis=1), given.weights, k)
    close(dmfroc.measures.accuracy()(predictions), oracles.accuracy(table), "accuracy")
    kappa = oracles.cohen_kappa(table)
    if kappa is not None:
        close(dmfroc.measures.cohen_kappa()(predictions), kappa, "kappa")
    if tuple(given.labels) != predictions.labels:
        raise Defect(f"labels {predictions.labels}, not {given.labels}")
    estimate = dmfroc.estimate("hand_till", predictions)
    low, high = estimate.interval
    if not 0 <= low <= estimate.value <= high <= 1:
        raise Defect(f"interval {estimate.interval} of {estimate.value}")
    if k == 2:
        curve = dmfroc.curves.roc_curve(predictions)
        points = oracles.roc_points(scores[:, 1], given.codes == 1, given.weights)
        close(curve.area, np.trapezoid(points[:, 1], points[:, 0]), "area")
        costs = rng.uniform(0.1, 5, size=2)
        best = dmfroc.applications.optimal_operating_points(
            predictions, prevalence=0.3, cost_fp=costs[0], cost_fn=costs[1]
        )
        close(best.expected_cost, oracles.operating_cost(points, 0.3, *costs), "cost")
    if "\x1b" in repr(predictions):
        raise Defect("control characters in repr")
    for old, new in zip(before, given.arguments.values(), strict=True):
        if not (old == np.array(new, dtype=object)).all():
            raise Defect("an input was changed")


def calls(rng):
    """Return one valid call of each function, with its own sample."""
    y = np.arange(12) % 3
    s = rng.normal(size=(12, 3)) + np.eye(3)[y]
    b, p = (y > 0).astype(int), 1 / (1 + np.exp(-s[:, 1]))
    table = dmfroc.measures.ContingencyTable.from_matrix([[5, 2], [3, 9]], rows="true")
    of_two = {"y_true": b, "y_score": p}
    of_three = {"y_true": y, "y_score": s}
    return {
        "estimate": (dmfroc.estimate, {"measure": "hand_till", **of_three}),
        "evaluate": (dmfroc.evaluate, {"measures": ["hand_till"], **of_three}),
        "compare": (dmfroc.compare,
                    {"y_true": y, "y_score": {"a": s, "b": s[::-1]}, "measures": "hand_till"}),
        "multiclass_roc": (dmfroc.multiclass_roc, {"n_thresholds": 9, **of_three}),
        "optimal_operating_points": (dmfroc.applications.optimal_operating_points, of_two),
        "operating_point": (dmfroc.applications.operating_point, {"threshold": 0.5, **of_two}),
        "randomized_threshold": (dmfroc.applications.randomized_threshold, of_two),
        "calibration_curve": (dmfroc.curves.calibration_curve, of_two),
        "loess_calibration_curve": (dmfroc.curves.loess_calibration_curve, of_two),
        "bprd_curve": (dmfroc.curves.bprd_curve, of_two),
        "bird_curve": (dmfroc.curves.bird_curve, of_two),
        "lift_curve": (dmfroc.curves.lift_curve, of_two),
        "roc_curve": (dmfroc.curves.roc_curve, of_two),
        "select_class_weights": (dmfroc.applications.select_class_weights,
                                 {"y_true": y, "y_score": np.exp(s), "n_starts": 2}),
        "dmf": (dmfroc.dmf, {"rates": np.full((3, 2), 0.3)}),
        "from_matrix": (dmfroc.measures.ContingencyTable.from_matrix,
                        {"matrix": [[5, 2], [3, 9]], "rows": "true"}),
        "from_rates": (dmfroc.measures.ContingencyTable.from_rates,
                       {"tpr": 0.8, "fpr": 0.3, "skew": 1.0}),
        "chi_squared_test": (dmfroc.applications.chi_squared_test, {"table": table}),
        "fisher_exact_test": (dmfroc.applications.fisher_exact_test, {"table": table}),
        "sellke_bayarri_berger": (dmfroc.applications.sellke_bayarri_berger, {"p_value": 0.05}),
        "skew_sensitive_accuracy": (dmfroc.applications.skew_sensitive_accuracy,
                                    {"tpr": 0.8, "fpr": 0.3, "c": 0.5, "prevalence": 0.4}),
        "majority_costs": (dmfroc.applications.majority_costs, {"y_true": y, "factor": 2.0}),
    }  # fmt: skip


def odd_option(rng):
    """An odd value of one option is taken, or an error names the option."""
    name = str(rng.choice(list(generators.OPTIONS)))
    option = str(rng.choice(generators.OPTIONS[name]))
    value = generators.ODD[rng.integers(len(generators.ODD))]
    function, arguments = calls(rng)[name]
    try:
        str(function(**{**arguments, option: value}))
    except (TypeError, ValueError, MemoryError) as error:
        if not is_named(error, option):
            raise Defect(f"{name}({option}={value!r}) says {error!r}") from error


def is_named(error, option):
    word = ALIASES.get(option, option.split("_")[-1] if option != "y_true" else option)
    return re.search(rf"{re.escape(option)}|{re.escape(word)}", str(error)) is not None


def spoiled(rng):
    """Input with something wrong is refused by name."""
    given = generators.spoil(rng, generators.sample(rng))
    names = ("hand_till_score", "evaluate", "multiclass_roc", "dmf_auc_score")
    function = getattr(dmfroc, names[rng.integers(len(names))])
    try:
        function(**given)
    except (TypeError, ValueError) as error:
        if not re.search("y_true|y_score|sample_weight", str(error)):
            raise Defect(f"{function.__name__} says {error!r}") from error
    else:
        raise Defect(f"{function.__name__} took {given!r}")


def either_class(rng):
    """Options have the order of the labels, whichever class is positive, in folds too."""
    given, names = generators.either_class(rng)
    order, positive, costs, shares, folds = (given[x] for x in names)
    options = {"labels": order, "pos_label": positive}
    y, scores = given["y_true"], given["y_score"]
    if given["direction"] is not None:  # an option of predictions alone
        direction = {"direction": given["direction"]}
        y, scores = dmfroc.Predictions.from_arrays(y, scores, **options, **direction), None
        options = {}
    codes, p = given["codes"], given["probabilities"]  # in the order of the labels
    place = order.index(positive)

    def estimate(measure, **others):
        return dmfroc.estimate(measure, y, scores, **options, **others).value

    made = dmfroc.measures
    utility = oracles.expected_utility(codes, p, costs)
    close(estimate(made.expected_utility(costs)), utility, "utility")
    close(estimate("brier_score"), ((p[:, 0] - (codes == 0)) ** 2).mean(), "Brier score")
    treated, benefit = p[:, place] >= 0.3, oracles.net_benefit
    expected = benefit(codes == place, treated, 0.3)
    close(estimate(made.net_benefit(0.3)), expected, "net benefit")
    if scores is not None:
        both = {"model": scores, "treat all": None}
        found = dmfroc.compare(y, both, measures=made.net_benefit(0.3), **options)
        expected = benefit(codes == place, treated | True, 0.3)
        close(found.estimates["treat all"].value, expected, "treat all")
    if np.ndim(scores) != 2:
        return
    predicted = p.argmax(axis=1)
    table = oracles.confusion(codes, predicted, np.ones(len(codes)), 2)
    kappa = oracles.weighted_kappa(table, np.where(np.eye(2), 0, costs))
    close(estimate(made.weighted_kappa(np.where(np.eye(2), 0, costs))), kappa, "weighted kappa")
    rates = [[np.mean(predicted[(codes == k) & (folds == x)] == k) for k in (0, 1)] for x in (0, 1)]
    for target in (shares, float(shares[place]), dict(zip(order, shares, strict=True))):
        found = estimate("accuracy", population=target, folds=folds)
        close(found, np.mean(rates @ shares), f"accuracy at {target}")


KINDS = (ordinary, odd_option, either_class, odd_option, spoiled, *arguments.KINDS)


def run_case(seed, number):
    rng = np.random.default_rng([seed, number])
    kind = KINDS[number % len(KINDS)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # of NumPy, from deep inside
            kind(rng)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error}"
        return {"case": number, "kind": kind.__name__, "defect": text[:400],
                "at": f"{last.filename.rpartition('/')[2]}:{last.lineno}"}  # fmt: skip
    return None


def run_regression(name):
    call, expected = CASES[name]
    try:
        found = call()
    except Exception as error:
        is_right = (
            isinstance(expected, tuple)
            and isinstance(error, expected[0])
            and expected[1] in str(error)
        )
        return None if is_right else {"case": name, "defect": repr(error)}
    is_right = found == expected or _agree(found, expected)
    return None if is_right else {"case": name, "defect": repr(found)}


def _agree(found, expected):
    return isinstance(expected, float | list) and np.allclose(found, expected, rtol=1e-12, atol=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    numbers = range(options.cases) if options.only is None else [options.only]
    warnings.simplefilter("ignore", UserWarning)
    found = [run_regression(name) for name in CASES]
    found += [run_case(options.seed, number) for number in numbers]
    defects = [defect for defect in found if defect is not None]
    print(json.dumps({"cases": len(found), "defects": defects}, indent=1))
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
