"""Call every public function that computes, and print what it returns, to the last bit.

`test_compiled.py` runs this once with JAX's double precision globally off, and once on.
"""

import dataclasses
import hashlib
import json
import sys
import warnings
from collections.abc import Mapping
from enum import Enum

import numpy as np
import pandas as pd
import xarray
from sklearn.naive_bayes import GaussianNB

import dmfroc
from dmfroc import measures

generator = np.random.default_rng(0)
Y = generator.permutation(np.arange(45) % 3)
SCORES = generator.normal(size=(45, 3)) + 1.3 * np.eye(3)[Y]
SCORES = np.exp(SCORES) / np.exp(SCORES).sum(axis=1, keepdims=True)
LABELS = SCORES.argmax(axis=1)
TWO, P = (Y > 0).astype(int), SCORES[:, 1:].sum(axis=1)
TABLE = dmfroc.ContingencyTable.from_labels(Y, LABELS)
BOOTSTRAP = {"method": "bootstrap", "n_draws": 100}
STUDIES = {"tp": [9, 8, 7, 9], "fn": [1, 2, 3, 1], "fp": [2, 3, 1, 4], "tn": [8, 7, 9, 6]}
OTHER = {"a": SCORES, "b": SCORES[:, [1, 0, 2]]}

WITH_SCORES = [
    *("average_precision_score", "dmf_auc_score", "hand_till_score", "multiclass_roc"),
    *("one_vs_rest_auc_per_class", "pairwise_auc_matrix"),
]
OF_TWO_CLASSES = [
    *("accuracy_curve", "bift_curve", "bird_curve", "boc_curve", "bprd_curve", "calibration_curve"),
    *("cost_curve", "cumulative_gains_curve", "delta_pn_curve", "det_curve"),
    *("isotonic_calibration_curve", "lift_curve", "loess_calibration_curve"),
    *("log_precision_recall_curve", "operating_points", "optimal_operating_points", "pn_curve"),
    *("precision_recall_curve", "prg_curve", "reciprocal_precision_recall_curve", "roc_curve"),
]
OF_LABELS = ["cohen_kappa_score", "contingency_measures", "informedness_score"]
OF_TABLES = ["chi_squared_test", "likelihood_ratio_test", "powers_statistics"]


def arrays(predictions):
    """Measure of a user."""
    return lambda weights: weights @ predictions.scores[:, 0] / weights.sum()


def accumulated(kind):
    """Estimates of an accumulator."""
    accumulator = kind(np.unique(Y), n_bins=8)
    accumulator.update(Y, SCORES)
    return accumulator.compute().estimates


CALLS = {
    "Accumulator": accumulated,
    **{name: (lambda f: f(Y, SCORES)) for name in WITH_SCORES},
    **{name: (lambda f: f(TWO, P)) for name in OF_TWO_CLASSES},
    **{name: (lambda f: f(Y, LABELS)) for name in OF_LABELS},
    **{name: (lambda f: f(TABLE)) for name in OF_TABLES},
    "bayesian_roc": lambda f: f(Y, SCORES, n_thresholds=5, algorithm="laplace", n_draws=50),
    "bayesian_roc_prior": lambda f: f(Y, SCORES, n_thresholds=5, n_draws=20),
    "bayesian_table": lambda f: f("informedness", Y, SCORES, n_draws=50),
    "compare": lambda f: [
        f(Y, OTHER, "dmf_auc"),
        f(Y, OTHER, "dmf_auc", **BOOTSTRAP),
        f(Y, OTHER, "informedness", method="bayesian_bootstrap", n_draws=100),
        f(Y, OTHER, "hand_till", simultaneous=True),
    ],
    "compare_subgroups": lambda f: f(Y, SCORES, np.arange(45) % 2, "dmf_auc"),
    "compare_runs": lambda f: f(
        Y, {"a": [SCORES, SCORES[:, [1, 0, 2]]], "b": [SCORES] * 2}, "dmf_auc"
    ),
    "convex_hull": lambda f: f(dmfroc.roc_curve(TWO, P)),
    "cross_validate": lambda f: f(GaussianNB(), SCORES, Y, cv=3, n_repeats=2),
    "dmf": lambda f: [f(TABLE.counts / 45, rank=rank) for rank in (1, 2)],
    "estimate": lambda f: [
        *(f("dmf_auc", Y, SCORES, **options) for options in ({}, BOOTSTRAP)),
        f("hand_till", Y, SCORES, interval_type="studentized", **BOOTSTRAP),
        f("h_measure", Y, SCORES, **BOOTSTRAP),
        f("dmf_auc", Y, SCORES, method="paper_bootstrap", n_draws=100),
        *(f(dmfroc.Measure(name="own", bind=arrays), Y, SCORES, **o) for o in ({}, BOOTSTRAP)),
    ],
    "evaluate": lambda f: [
        f(Y, SCORES, measures="all", n_draws=100),
        f(Y, SCORES).curve,
    ],
    "fisher_exact_test": lambda f: f(dmfroc.ContingencyTable.from_cells(tp=3, fp=1, fn=2, tn=5)),
    "influences": lambda f: f("dmf_auc", Y, SCORES),
    "isometrics": lambda f: f(dmfroc.roc_curve(TWO, P), values=[0.25]),
    "majority_costs": lambda f: f(Y, 1 / 3),
    "measures": lambda module: [
        measures.MEASURES[name](Y, SCORES)
        for name in measures.MEASURES
        if measures.MEASURES[name].applies_to(dmfroc.Predictions.from_arrays(Y, SCORES))
    ],
    "nested_class_weights": lambda f: f(GaussianNB(), SCORES, Y, cv=3, inner_cv=2, n_starts=2),
    "nested_threshold_selection": lambda f: f(GaussianNB(), SCORES, TWO, cv=3, inner_cv=2),
    "nested_cross_validation": lambda f: f(GaussianNB(), SCORES, Y, cv=3, n_repeats=1),
    "operating_point": lambda f: f(TWO, P, 0.4),
    "plan": lambda f: [
        f(dmfroc.Predictions.from_arrays(Y, SCORES), "dmf_auc", half_width=0.05),
    ],
    "randomized_threshold": lambda f: f(TWO, P, fpr=0.21),
    "roc_from_calibration": lambda f: f([0.1, 0.5, 0.9], [0.3, 0.4, 0.3]),
    "scan": lambda f: [
        dmfroc.evaluate(f([(Y, SCORES)], n_bins=8)).estimates,
        dmfroc.estimate("dmf_auc", f([(Y, SCORES)], n_bins=8, exact=True)),
        dmfroc.compare(f([(Y, OTHER)]), measure="hand_till"),
    ],
    "select_class_weights": lambda f: f(Y, SCORES, n_starts=2),
    "sellke_bayarri_berger": lambda f: f(0.03),
    "summary_roc": lambda f: f(STUDIES, study=None, n_chains=1, n_draws=20, n_warmup=20).posterior,
    "skew_sensitive_accuracy": lambda f: f(0.8, 0.3, c=0.5, prevalence=0.4),
}


def digest(x):
    """Return what tells results apart that differ in one bit."""
    if isinstance(x, np.ndarray):
        if x.dtype.kind == "f":
            assert x.dtype == np.float64, x.dtype
        return [str(x.shape), x.tolist() if x.dtype == object else x.tobytes().hex()]
    if isinstance(x, xarray.DataTree):
        return {
            f"{group.path}/{name}": digest(values.to_numpy())
            for group in x.subtree
            for name, values in group.data_vars.items()
        }
    if isinstance(x, pd.DataFrame | pd.Series):
        return digest(x.to_numpy())
    if isinstance(x, Mapping):
        return {str(key): digest(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return [digest(value) for value in x]
    if dataclasses.is_dataclass(x):
        return {f.name: digest(getattr(x, f.name)) for f in dataclasses.fields(x)}
    if callable(x):
        return getattr(x, "func", x).__qualname__
    assert isinstance(x, str | int | float | None | np.generic | Enum), type(x)
    return repr(x)


def main():
    warnings.simplefilter("ignore")
    found = {}
    for name, call in CALLS.items():
        of_call = digest(call(getattr(dmfroc, name)))
        found[name] = hashlib.sha256(json.dumps(of_call).encode()).hexdigest()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
