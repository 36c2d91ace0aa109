"""Wrong values for every option of every public function, from the signatures.

Each must be an error that names the option. Runs by itself, without the checks of annotations that
tests have: ``python tests/fuzz/abuse.py`` prints what is wrong.
"""

import argparse
import inspect
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

import dmfroc

sys.path.append(str(Path(__file__).parents[1]))
from option_names import option_names

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3
S = RNG.dirichlet(np.ones(3), 60) + 0.3 * np.eye(3)[Y]
S /= S.sum(axis=1, keepdims=True)
B, P = (Y > 0).astype(int), S[:, 1] / 2
TABLE = dmfroc.ContingencyTable.from_labels(B, (P > 0.3).astype(int))
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
    "curve": dmfroc.curves.roc_curve(B, P),
}
OF_FUNCTION = {
    "compare": {"y_score": {"a": S, "b": S[::-1]}},
    "compare_runs": {"y_score": {"a": [S, S[::-1]], "b": [S**2, S[::-1] ** 3]}},
    "compare_subgroups": {"by": np.arange(60) // 30},
    "plan": {"pilot": dmfroc.Predictions.from_arrays(Y, S), "half_width": 0.05},
    "majority_costs": {"factor": 2.0},
    "operating_point": {"y_true": B, "y_score": P, "threshold": 0.3},
    "optimal_operating_points": {"y_true": B, "y_score": P},
    "randomized_threshold": {"y_true": B, "y_score": P, "fpr": 0.2},
    "nested_threshold_selection": {"y": B, "cv": 2, "inner_cv": 2},
    "nested_class_weights": {"cv": 2, "inner_cv": 2, "n_starts": 1},
    "nested_cross_validation": {"cv": 3, "n_repeats": 1},
    "sellke_bayarri_berger": {"p_value": 0.01},
    "skew_sensitive_accuracy": {"tpr": 0.5, "fpr": 0.2, "c": 0.3, "prevalence": 0.4},
    "roc_from_calibration": {
        "true_probability": [0.2, 0.7],
        "density": [0.5, 0.5],
    },
    "dmf": {"rates": RNG.uniform(0.1, 0.9, (4, 5))},
    "isometrics": {"measure": "accuracy", "values": [0.5]},
    "summary_roc": {"table": STUDIES, "study": None, "n_draws": 10, "n_warmup": 10, "n_chains": 1},
    "bayesian_roc": {"n_draws": 10, "n_warmup": 10, "n_chains": 1},
    "bayesian_roc_prior": {"n_draws": 10},
    "bayesian_table": {"measure": "accuracy", "y_score": S, "n_draws": 10, "n_chains": 1},
    "informedness_score": {},
    "cross_validate": {"cv": 2, "measures": ["hand_till"]},
    "evaluate": {"measures": ["hand_till"]},
}
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
}


LEGITIMATE = {
    ("random_state", "a huge number"),  # NumPy takes it
    ("k", "a huge number"),  # refused when it meets the classes
    ("kernel", "a function"),  # any that makes a kernel
}


def functions():
    """Return all public functions by name, those that make measures included."""
    found = {
        name: value
        for name in dmfroc.__all__
        if callable(value := getattr(dmfroc, name)) and not inspect.isclass(value)
    }
    found.pop("measures", None)
    del found["scan"]  # reads files: tests of scans
    for name in dir(dmfroc.measures):
        value = getattr(dmfroc.measures, name)
        is_public = inspect.isfunction(value) and not name.startswith("_")
        if is_public and inspect.signature(value).parameters:
            found[f"measures.{name}"] = value
    return found


def base(name, function):
    """Return arguments of an ordinary call."""
    parameters = option_names(function)
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
        except (ValueError, TypeError, MemoryError) as error:
            message = str(error)
            named = {option, option.rstrip("s"), f"{option}s"}
            if not any(word in message for word in named):
                return f"{type(error).__name__}: {message[:120]}"
            return None
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:120]}"
    return None if may_pass else "accepted"


def cases():
    """Yield a name, a function, arguments, the option that is wrong, and whether it may pass."""
    for name, function in functions().items():
        given = base(name, function)
        for option in option_names(function):
            if (name, option) in FREE:
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
    for place, (label, function, arguments, option, may_pass) in enumerate(cases()):
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
