"""Wrong values for every option of every public function, from the signatures.

Each must be an error that names the option. Runs by itself, without the checks of annotations that
tests have: ``python tests/fuzz/abuse.py`` prints what is wrong.
"""

import argparse
import functools
import inspect
import sys
import tempfile
import warnings
from pathlib import Path

import generators
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

import dmfroc
from dmfroc.results.result import renderer

sys.path.append(str(Path(__file__).parents[1]))
from option_names import option_names

mpl.use("agg")
mpl.rcParams["figure.max_open_warning"] = 0
RNG = np.random.default_rng(0)
Y = np.arange(60) % 3
S = RNG.dirichlet(np.ones(3), 60) + 0.3 * np.eye(3)[Y]
S /= S.sum(axis=1, keepdims=True)
B, P = (Y > 0).astype(int), S[:, 1] / 2
TABLE = dmfroc.measures.ContingencyTable.from_labels(B, (P > 0.3).astype(int))
CURVE, POINTS = dmfroc.curves.roc_curve(B, P), dmfroc.curves.operating_points(B, P)
PREDICTIONS = dmfroc.Predictions.from_arrays(Y, S)
ACCUMULATOR = dmfroc.counted.Accumulator(range(3), n_bins=8)
ACCUMULATOR.update(Y, S)
ACCUMULATOR.cuts  # learned from these  # noqa: B018
FILES = Path(tempfile.mkdtemp())
pd.DataFrame({"y": Y} | {f"p_{k}": S[:, k] for k in range(3)}).to_parquet(FILES / "scores.parquet")
ACCUMULATOR.save(FILES / "accumulator.npz")
STUDIES = pd.DataFrame(
    {"tp": [9, 8, 7, 6], "fn": [1, 2, 3, 4], "fp": [2, 3, 2, 1], "tn": [8, 7, 8, 9]}
)

# What a call needs beside the option that is wrong; by function, else by parameter
GIVEN = {
    "y_true": Y,
    "y_score": S,
    "y_pred": Y,
    "measure": "hand_till",
    "table": TABLE,
    "estimator": GaussianNB(),
    "X": S[:, :2],
    "y": Y,
    "curve": CURVE,
    "slope": 1.0,
    "points": POINTS,
    "beta": 1.0,
}
CELLS = {"tp": 9, "fn": 1, "fp": 2, "tn": 8}
OF_FUNCTION = {
    "compare": {"y_score": {"a": S, "b": S[::-1]}},
    "compare_runs": {"y_score": {"a": [S, S[::-1]], "b": [S**2, S[::-1] ** 3]}},
    "compare_streams": {"streams": {"a": ACCUMULATOR, "b": ACCUMULATOR}},
    "compare_subgroups": {"by": np.arange(60) // 30},
    "confidence_sequence": {"accumulator": ACCUMULATOR},
    "gate": {"rules": [{"measure": "accuracy", "at_least": 0.5}]},
    "items": {"scores": {"a": RNG.uniform(size=60), "b": RNG.uniform(size=60)}},
    "judged_shares": {"y_true": [0, 0, 1, 1] + [None] * 56, "judge": B},
    "leaderboard": {"tasks": dict.fromkeys("st", dmfroc.compare(Y, {"a": S, "b": S[::-1]}))},
    "lc_index": {"y_true": B, "first_score": P, "second_score": P[::-1]},
    "multilabel": {"y_true": np.stack([B, 1 - B], axis=1), "y_score": np.stack([P, 1 - P], axis=1)},
    "plan": {"pilot": Y, "half_width": 0.05},
    "pool": {
        "sites": [
            dmfroc.evaluate(B[20 * k :][:20], P[20 * k :][:20], measures=["hand_till"])
            for k in range(3)
        ]
    },
    "rehearse": {"analysis": dmfroc.evaluate, "n_samples": 2},
    "rater_agreement": {"ratings": np.stack([Y, np.roll(Y, 1), Y], axis=1)},
    "write_receipt": {
        "result": dmfroc.evaluate(B, P, measures=["hand_till"]),
        "path": FILES / "receipt.json",
    },
    "majority_costs": {"factor": 2.0},
    "operating_point": {"y_true": B, "y_score": P, "threshold": 0.3},
    "optimal_operating_points": {"y_true": B, "y_score": P},
    "randomized_threshold": {"y_true": B, "y_score": P, "fpr": 0.2},
    "nested_cross_validation": {"cv": 3, "n_repeats": 1},
    "sellke_bayarri_berger": {"p_value": 0.01},
    "skew_sensitive_accuracy": {"tpr": 0.5, "fpr": 0.2, "c": 0.3, "prevalence": 0.4},
    "roc_from_calibration": {
        "true_probability": [0.2, 0.7],
        "density": [0.5, 0.5],
    },
    "decision_curve": {"thresholds": [0.2, 0.5]},
    "plots.DecisionDisplay": {"thresholds": [0.2, 0.5]},
    "dmf": {"rates": RNG.uniform(0.1, 0.9, (4, 5))},
    "functional.center": {"rates": RNG.uniform(0.1, 0.9, (4, 2, 5))},
    "functional.dmf": {"rates": RNG.uniform(0.1, 0.9, (4, 5))},
    "isometrics": {"measure": "accuracy", "values": [0.5]},
    "summary_roc": {"table": STUDIES, "study": None, "n_draws": 10, "n_warmup": 10, "n_chains": 1},
    "bayesian_roc": {"n_draws": 10, "n_warmup": 10, "n_chains": 1},
    "bayesian_table": {"measure": "accuracy", "y_score": S, "n_draws": 10, "n_chains": 1},
    "informedness_score": {},
    "cross_validate": {"cv": 2, "measures": ["hand_till"]},
    "evaluate": {"measures": ["hand_till"]},
    "scan": {
        "source": str(FILES / "scores.parquet"),
        "label": "y",
        "scores": ["p_0", "p_1", "p_2"],
    },
    "expected_profits": {"benefits": [[0, 0], [-1, 4]]},
    **dict.fromkeys(("f_gain", "precision_gain", "recall_gain"), CELLS),
    "moses_littenberg_roc": {name: [cell, cell + 1] for name, cell in CELLS.items()},
    "f_from_gain": {"gain": 0.5, "prevalence": 0.4},
    "interpolate_gains": {"first": (9, 2, 1, 8), "second": (8, 4, 2, 6), "share": 0.5},
    "least_precision": {"recall": [0.5], "prevalence": 0.4},
    "loess": {"x": P, "y": B, "at": P},
    "repair_concavities": {"y_score": P},
    "same_f_beta": {"precision1": 0.5, "recall1": 0.6, "precision2": 0.6, "recall2": 0.5},
    "Accumulator": {"labels": [0, 1, 2]},
    "Accumulator.update": {"sample_weight": None},
    "ContingencyTable.with_prevalence": {"prevalence": 0.4},
    "Accumulator.merge": {"other": dmfroc.counted.Accumulator(range(3))},
    "Accumulator.save": {"path": FILES / "saved.npz"},
    "Accumulator.load": {"path": FILES / "accumulator.npz"},
    "ContingencyTable.from_matrix": {"matrix": [[5, 2], [3, 9]], "rows": "true"},
    "ContingencyTable.from_cells": CELLS,
    "ContingencyTable.from_rates": {"tpr": 0.8, "fpr": 0.3, "skew": 1.0},
    "Predictions.from_file": {"path": FILES / "scores.parquet", "label": "y", "y_pred": None},
    "Predictions.in_folds": {"folds": Y},
    "Curve.integral": {},
    "Hull.calibrate": {"y_score": P},
}
RESULTS = (
    *("estimate", "evaluate", "compare", "compare_runs", "compare_subgroups", "items"),
    *("multilabel", "plan", "calibration_tests"),
)
SLOW_RESULTS = ("summary_roc", "bayesian_roc")
TWO_CLASSES = ("pos_label", "multi_class")  # functions of one class against another have these

# No option takes any of these
NEVER = {
    "an object": object(),
    "a function": lambda: 0,
    "a complex number": 1j,
    "bytes": b"x",
    "an unknown word": "no such word",
    "a dictionary": {"no such": object()},
    "a set of objects": {object()},
    "a huge number": 10**400,
    "a masked number": np.ma.masked,
    "a masked array": np.ma.masked_array([0.1, 0.2, 0.3], mask=[0, 1, 0]),
}
# An option may take these; if it does not the error must name it, too
PERHAPS = {
    "NaN": float("nan"),
    "minus one": -1,
    "an empty list": [],
    "a number as text": "2",
    "an array of objects": np.array([object(), None]),
    "no text": "",
    "two numbers": np.array([0.1, 0.2]),
    "a series": pd.Series([0.5, 0.7]),
    "an iterator": iter(()),
}
# What is passed on or may be anything: names of classifiers, a scheduler's own object, ...
FREE = {
    ("scan", "source"),
    ("majority_costs", "y_true"),
    ("scan", "checkpoint"),  # any text names a directory
    ("Accumulator.save", "path"),
    ("write_receipt", "path"),
    ("Predictions.from_file", "path"),  # its messages begin with it
    ("Predictions.from_file", "drop_label"),  # any object may be a label
}


LEGITIMATE = {
    ("random_state", "a huge number"),  # NumPy takes it
    ("name", "an unknown word"),
    ("color", "a masked number"),  # is for matplotlib to judge
    ("k", "a huge number"),  # refused when it meets the classes
    ("kernel", "a function"),  # any that makes a kernel
    # cells may be the numbers of any two tables, through which no ROC curve need go
    *((cell, what) for cell in CELLS for what in ("two numbers", "a series")),
}


# Of objects that calls do not change, and what makes others
METHODS = {
    "Accumulator": dmfroc.counted.Accumulator,
    "Accumulator.update": lambda **options: dmfroc.counted.Accumulator(range(3)).update(**options),
    "Accumulator.merge": ACCUMULATOR.merge,
    "Accumulator.compute": ACCUMULATOR.compute,
    "Accumulator.save": ACCUMULATOR.save,
    "Accumulator.load": dmfroc.counted.Accumulator.load,
    "ContingencyTable.from_matrix": dmfroc.measures.ContingencyTable.from_matrix,
    "ContingencyTable.from_cells": dmfroc.measures.ContingencyTable.from_cells,
    "ContingencyTable.from_rates": dmfroc.measures.ContingencyTable.from_rates,
    "ContingencyTable.from_labels": dmfroc.measures.ContingencyTable.from_labels,
    "ContingencyTable.with_prevalence": TABLE.with_prevalence,
    "ContingencyTable.f_score": TABLE.f_score,
    "Predictions.from_arrays": dmfroc.Predictions.from_arrays,
    "Predictions.from_labels": dmfroc.Predictions.from_labels,
    "Predictions.from_file": dmfroc.Predictions.from_file,
    "Predictions.in_folds": PREDICTIONS.in_folds,
    "Priors": dmfroc.bayes.Priors,
    "SummaryPriors": dmfroc.applications.SummaryPriors,
    "Curve.integral": CURVE.integral,
    "Hull.calibrate": dmfroc.curves.convex_hull(CURVE).calibrate,
    "functional.center": dmfroc.functional.center,
    "functional.dmf": dmfroc.functional.dmf,
}
OF_METHOD = {
    "Accumulator.update": dmfroc.counted.Accumulator(range(3)).update
}  # whose signature it has


def parameters_of(name, function):
    """Return the names of its options, with those that it passes on."""
    function = OF_METHOD.get(name, function)
    several = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    parameters = inspect.signature(function).parameters
    passed_on = {name for name, x in parameters.items() if x.kind in several}
    named = [option for option in option_names(function) if option not in passed_on]
    return list(dict.fromkeys([*named, *generators.OPTIONS.get(name, ())]))


def scanned(**options):
    """Evaluate a scan: some options are looked at when the data are read."""
    return dmfroc.evaluate(dmfroc.scan(**options), measures=["hand_till"])


OF_METHOD["scan"] = dmfroc.scan


def functions(*, slowly=False):
    """Return all public functions by name, those that make measures included."""
    found = {
        name: value
        for room in (*(dmfroc, dmfroc.bayes, dmfroc.curves, dmfroc.applications, dmfroc.papers),)
        for name in room.__all__
        if inspect.isfunction(value := getattr(room, name)) and name != "model"  # of NumPyro
    }
    for name in dir(dmfroc.measures):
        value = getattr(dmfroc.measures, name)
        is_public = inspect.isfunction(value) and not name.startswith("_")
        if is_public and inspect.signature(value).parameters:
            found[f"measures.{name}"] = value
    found["scan"] = scanned
    found |= METHODS | drawn()
    return found | drawing(found, slowly=slowly)


def drawn():
    """Return what draws predictions, by the name of a display; many share one function."""
    found = {}
    for name in dmfroc.plots.__all__:
        kind = getattr(dmfroc.plots, name)
        maker = getattr(kind, "from_predictions", kind)
        if not inspect.isclass(maker):
            found.setdefault(getattr(maker, "__func__", maker), (f"plots.{name}", maker))
    return {name: closed(maker) for name, maker in found.values()}


def drawing(found, *, slowly):
    """Return the methods that draw, of displays and of results, by name and each once."""
    displays = [getattr(dmfroc.plots, name) for name in dmfroc.plots.__all__]
    makers = [x.from_predictions for x in displays if hasattr(x, "from_predictions")]
    shown = [make(**base(f"plots.{make.__self__.__name__}", make)) for make in makers]
    names = [*RESULTS, *SLOW_RESULTS] if slowly else RESULTS
    results = [found[name](**base(name, found[name])) for name in names]
    results += [dmfroc.applications.choose_threshold(B, P, n_draws=100)]
    results += [dmfroc.applications.decision_curve(B, P, thresholds=[0.2, 0.5])]
    results += [dmfroc.applications.confidence_sequence(ACCUMULATOR, "hand_till")]
    shown += [*results, *(result.plot() for result in results)]
    plt.close("all")
    methods = {}
    for thing in shown:
        for method in dir(thing):
            if method.startswith("plot"):
                label = f"{type(thing).__name__}.{method}"
                is_result = hasattr(thing, "to_html")
                function = renderer(thing, method) if is_result else getattr(type(thing), method)
                OF_METHOD[label] = function if is_result else getattr(thing, method)
                methods.setdefault(function, (label, closed(getattr(thing, method))))
    return dict(methods.values())


def closed(function):
    """Return a function that closes the figures of another."""

    @functools.wraps(function)
    def call(**arguments):
        try:
            return function(**arguments)
        finally:
            plt.close("all")

    return call


def base(name, function):
    """Return arguments of an ordinary call."""
    parameters = parameters_of(name, function)
    given = {x: GIVEN[x] for x in parameters if x in GIVEN}
    if "y_score" in given or "y_score" in parameters:
        given.pop("y_pred", None)
    if all(x in parameters for x in TWO_CLASSES):
        given |= {"y_true": B, "y_score": P}
    return given | OF_FUNCTION.get(name, {})


def fault(function, arguments, option, *, may_pass):
    """Say what is wrong with how a call fails, or that it does not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(**arguments)
        except FileNotFoundError:
            return None  # it names the file
        except (ValueError, TypeError, MemoryError) as error:
            message = str(error)
            named = {option, option.rstrip("s"), f"{option}s"}
            if not any(word in message for word in named):
                return f"{type(error).__name__}: {message[:120]}"
            return None
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:120]}"
    return None if may_pass else "accepted"


def cases(*, slowly):
    """Yield a name, a function, arguments, the option that is wrong, and whether it may pass."""
    for name, function in functions(slowly=slowly).items():
        given = base(name, function)
        for option in parameters_of(name, function):
            # A class that a measure names is refused when it meets the classes of data
            is_class = name.startswith("measures.") and option in ("pos_label", "classes")
            if is_class or (name, option) in FREE:
                continue
            for values, may_pass in ((NEVER, False), (PERHAPS, True)):
                if may_pass and name.startswith(("bayesian_", "summary_")):
                    continue  # which could be right, and take long
                for what, value in values.items():
                    if (option, what) in LEGITIMATE:
                        continue
                    label = f"{name}({option}={what})"
                    yield label, function, given | {option: value}, option, may_pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--one-in", type=int, default=1, help="take every n-th call only")
    parser.add_argument("--only", default="", help="take calls that contain this text only")
    options = parser.parse_args()
    n, n_faults = 0, 0
    for place, (label, function, arguments, option, may_pass) in enumerate(
        cases(slowly=options.one_in == 1)
    ):
        if options.only not in label or place % options.one_in:
            continue
        n += 1
        found = fault(function, arguments, option, may_pass=may_pass)
        if found is not None:
            n_faults += 1
            print(f"{label}: {found}", flush=True)
    print(f"{n} calls, {n_faults} faults")
    return n_faults > 0


if __name__ == "__main__":
    sys.exit(main())
