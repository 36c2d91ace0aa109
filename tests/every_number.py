"""Call every public function that computes, and print what it returns, to the last bit.

Without options the digest of each function's results is printed as JSON: `test_compiled.py` runs
this once with JAX's double precision globally off, and once on.

``--write FILE`` writes everything that a user can see of every analysis, and ``--compare FILE``
says what of it has changed since: before a change of the code that should change no result, write;
after it, compare. There are all fields and properties of the results, what their methods return,
text, frames, reports with their numbers and downloads, drawings, warnings, errors, and the output
of each command: of plain rows, folds, groups with zero weights, scans, accumulators, and others.
A line of the file is a name, a digest and a value, separated by tabs. Floats differ between
machines and versions of libraries, so that files are not for sharing.
"""

import argparse
import contextlib
import dataclasses
import difflib
import doctest
import hashlib
import inspect
import io
import json
import math
import os
import re
import runpy
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping, Set
from enum import Enum
from functools import cached_property, partial
from pathlib import Path

import matplotlib.axes
import matplotlib.figure
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray
from cases_of_rooms import ROOMS
from option_names import option_names
from pages import page_parts
from sklearn.naive_bayes import GaussianNB

import dmfroc
from dmfroc import measures
from dmfroc.analyses import evidence
from dmfroc.results.result import Result

generator = np.random.default_rng(0)
Y = generator.permutation(np.arange(45) % 3)
SITES = np.argsort(Y, kind="stable").reshape(3, 5, 3).swapaxes(0, 1).reshape(5, 9)
SCORES = generator.normal(size=(45, 3)) + 1.3 * np.eye(3)[Y]
SCORES = np.exp(SCORES) / np.exp(SCORES).sum(axis=1, keepdims=True)
LABELS = SCORES.argmax(axis=1)
TWO, P = (Y > 0).astype(int), SCORES[:, 1:].sum(axis=1)
TABLE = dmfroc.measures.ContingencyTable.from_labels(Y, LABELS)
BOOTSTRAP = {"method": dmfroc.Bootstrap(100)}
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


def watched(confidence_sequence):
    """Looks at an accumulator: limits at all times."""
    accumulator = dmfroc.counted.Accumulator(np.unique(Y), n_bins=8)
    accumulator.update(Y, SCORES)
    looks = confidence_sequence(accumulator, "hand_till").looks
    accumulator = dmfroc.counted.Accumulator([0, 1])
    accumulator.update(TWO, P)
    return looks + confidence_sequence(accumulator, "brier_score").looks


def public(name):
    """Return what is public under a name, at the top or in a package of its own."""
    rooms = ("applications", "bayes", "counted", "curves", "extend", "papers", "results")
    homes = [dmfroc, *(getattr(dmfroc, room, None) for room in rooms)]
    return next(
        (getattr(home, name) for home in homes if hasattr(home, name)),
        getattr(measures, name, None),
    )


CALLS = {
    "Accumulator": accumulated,
    "confidence_sequence": watched,
    **{name: (lambda f: f(Y, SCORES)) for name in WITH_SCORES},
    **{name: (lambda f: f(TWO, P)) for name in OF_TWO_CLASSES},
    **{name: (lambda f: f(Y, LABELS)) for name in OF_LABELS},
    **{name: (lambda f: f(TABLE)) for name in OF_TABLES},
    "bayesian_roc": lambda f: f(Y, SCORES, n_thresholds=9, algorithm="laplace", n_draws=50),
    "bayesian_table": lambda f: f("informedness", Y, SCORES, n_draws=50),
    "calibration_tests": lambda f: f(Y, SCORES, n_draws=99),
    "choose_threshold": lambda f: [
        f(TWO, P, n_draws=100),
        f(Y, SCORES, by="f1", n_draws=100),
        f(TWO, P, by="f1", population=0.1, n_draws=100),
    ],
    "compare": lambda f: [
        f(Y, OTHER, measures="dmf_auc"),
        f(Y, OTHER, measures="dmf_auc", **BOOTSTRAP),
        f(Y, OTHER, measures="informedness", method=dmfroc.BayesianBootstrap(100)),
        f(Y, OTHER, measures="hand_till", simultaneous=True),
    ],
    "compare_subgroups": lambda f: f(Y, SCORES, np.arange(45) % 2, measures="dmf_auc"),
    "pool": lambda f: f([dmfroc.evaluate(Y[s], SCORES[s], measures=["hand_till"]) for s in SITES]),
    "compare_runs": lambda f: f(
        Y, {"a": [SCORES, SCORES[:, [1, 0, 2]]], "b": [SCORES] * 2}, measures="dmf_auc"
    ),
    **dict.fromkeys(("f_gain", "precision_gain", "recall_gain"), lambda f: f(30, 12, 30, 28)),
    "operating_conditions": lambda f: f(dmfroc.curves.operating_points(TWO, P)),
    "interpolate_gains": lambda f: f((30, 12, 30, 28), (56, 30, 4, 10), 0.25),
    "same_f_beta": lambda f: f(0.8, 0.4, 0.5, 0.9),
    "convex_hull": lambda f: f(dmfroc.curves.roc_curve(TWO, P)),
    "cross_validate": lambda f: f(GaussianNB(), SCORES, Y, cv=3, n_repeats=2),
    "decision_curve": lambda f: [f(TWO, P, thresholds=[0.2, 0.5]), f(Y, SCORES, thresholds=[0.4])],
    "dmf": lambda f: [f(TABLE.counts / 45, rank=rank) for rank in (1, 2)],
    "estimate": lambda f: [
        *(f("dmf_auc", Y, SCORES, **options) for options in ({}, BOOTSTRAP)),
        f("h_measure", Y, SCORES, **BOOTSTRAP),
        f("dmf_auc", Y, SCORES, method=dmfroc.papers.PaperBootstrap(100)),
        *(f(dmfroc.Measure(name="own", bind=arrays), Y, SCORES, **o) for o in ({}, BOOTSTRAP)),
    ],
    "evaluate": lambda f: [
        f(Y, SCORES, measures="all"),
        f(Y, SCORES).curve,
    ],
    "fisher_exact_test": lambda f: f(
        dmfroc.measures.ContingencyTable.from_cells(tp=3, fp=1, fn=2, tn=5)
    ),
    "functional": lambda module: [
        *(
            tuple(module.estimate_many(getattr(module, name), Y[None], SCORES[None], n_classes=3))
            for name in ("dmf_auc", "hand_till", "log_loss")
        ),
        np.float32(module.dmf(SCORES, rank=2).fitted).astype(float),  # in the user's float type
    ],
    "gate": lambda f: [
        (x.value, x.interval)
        for x in f(
            [{"measure": "dmf_auc", "at_least": 0.7}, {"measure": "dmf_auc", "better_than": "b"}],
            Y,
            OTHER,
        ).rules
    ],
    "influences": lambda f: f("dmf_auc", Y, SCORES),
    "items": lambda f: [
        f({"a": TWO, "b": LABELS > 0, "c": P}, groups=np.arange(45) // 3).differences,
        f({"a": TWO, "b": LABELS > 0}, by=np.arange(45) % 2).subgroups,
        f({"a": np.where(np.arange(45) % 3, np.nan, TWO)}, judge=LABELS > 0).estimates,
    ],
    "judged_shares": lambda f: f(np.where(np.arange(45) % 3, np.nan, TWO), LABELS > 0).estimates,
    "leaderboard": lambda f: (
        f({x: dmfroc.compare(Y, OTHER, measures=x) for x in ("dmf_auc", "accuracy")}).differences
    ),
    "isometrics": lambda f: f(dmfroc.curves.roc_curve(TWO, P), values=[0.25]),
    "lc_index": lambda f: f([0, 0, 1, 0, 1, 1], [1, 3, 2, 4, 5, 6], [2, 1, 4, 3, 6, 5]),
    "moses_littenberg_roc": lambda f: f(*(STUDIES[x] for x in ("tp", "fp", "fn", "tn"))),
    "majority_costs": lambda f: f(Y, 1 / 3),
    "measures": lambda module: [
        measures.MEASURES[name](Y, SCORES)
        for name in measures.MEASURES
        if measures.MEASURES[name].applies_to(dmfroc.Predictions.from_arrays(Y, SCORES))
    ],
    "multilabel": lambda f: [
        f(np.eye(3)[Y], OTHER, average="macro").differences,
        f(np.eye(3)[Y], SCORES, measure="average_precision", average="micro").estimates,
        f(np.eye(3)[Y], y_pred=SCORES > 0.4, groups=np.arange(45) // 3).by_label,
    ],
    "nested_cross_validation": lambda f: f(GaussianNB(), SCORES, Y, cv=3, n_repeats=1),
    "operating_point": lambda f: f(TWO, P, 0.4),
    "plan": lambda f: [
        f(dmfroc.Predictions.from_arrays(Y, SCORES), measure="dmf_auc", half_width=0.05),
    ],
    "randomized_threshold": lambda f: f(TWO, P, fpr=0.21),
    "risk_coverage_curve": lambda f: f(Y, SCORES),
    "roc_from_calibration": lambda f: f([0.1, 0.5, 0.9], [0.3, 0.4, 0.3]),
    "scan": lambda f: [
        dmfroc.evaluate(f([(Y, SCORES)], n_bins=8)).estimates,
        dmfroc.estimate("dmf_auc", f([(Y, SCORES)], n_bins=8)),
        dmfroc.compare(f([(Y, OTHER)]), measures="hand_till"),
        dmfroc.estimate("vus", f([(Y, SCORES)]).predictions(60)),
    ],
    "select_class_weights": lambda f: f(Y, SCORES, n_starts=2),
    "sellke_bayarri_berger": lambda f: f(0.03),
    # As many draws as are not thought too few, whereupon longer chains would be compiled
    "summary_roc": lambda f: f(STUDIES, study=None, n_chains=1).posterior,
    "skew_sensitive_accuracy": lambda f: f(0.8, 0.3, c=0.5, prevalence=0.4),
}


NO_NUMBERS = {
    # Modules, whose functions of numbers are public by themselves or in `measures`
    *("applications", "bayes", "counted", "curves", "extend", "papers", "plots", "results"),
    "scorers",  # whose functions call measures
    # What the functions return, or take
    *(x for x in dmfroc.applications.__all__ if x[0].isupper()),
    *("Look", "Measure", "MosesLittenbergROC", "Posterior", "Predictions", "Priors", "Scan"),
    "model",  # of NumPyro
}
PUBLIC = {
    "contingency_measures",
    "functional",
    "influences",
    *(x for room in (dmfroc, dmfroc.applications, dmfroc.bayes) for x in room.__all__),
    *(x for room in (dmfroc.counted, dmfroc.papers) for x in room.__all__),
} - NO_NUMBERS
"""The functions that compute: those without a call above compute their examples."""


def example(function):
    """Return what the examples in a docstring compute."""
    [test] = doctest.DocTestFinder(recurse=False).find(inspect.unwrap(function))
    names = dict(test.globs)
    for line in test.examples:
        exec(line.source, names)
    kinds = Result | np.ndarray | float
    return [x for name, x in names.items() if name not in test.globs and isinstance(x, kinds)]


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
    if isinstance(x, Mapping) and not dataclasses.is_dataclass(x):
        return {str(key): digest(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return [digest(value) for value in x]
    if dataclasses.is_dataclass(x):
        return {f.name: digest(getattr(x, f.name)) for f in dataclasses.fields(x)}
    if callable(x):
        function = getattr(x, "func", x)
        return getattr(function, "__qualname__", type(function).__qualname__)
    assert isinstance(x, str | int | float | None | np.generic | Enum), type(x)
    return repr(x)


# Everything that a user can see, by case


ROWS = 96
RNG = np.random.default_rng(1)
CLASS = RNG.permutation(np.repeat([0, 1, 2], [44, 30, 22]))
TRUE = np.array(["ash", "oak", "fir"])[CLASS]
NAMES = ["ash", "fir", "oak"]
SIGNAL = 1.4 * (TRUE[:, None] == NAMES)
SHARED = RNG.normal(size=(ROWS, 3))


def probabilities(separation, share):
    """Probabilities of a classifier, which has a part of the noise in common with others."""
    noise = np.sqrt(share) * SHARED + np.sqrt(1 - share) * RNG.normal(size=(ROWS, 3))
    scores = np.exp(noise + separation * SIGNAL)
    return scores / scores.sum(axis=1, keepdims=True)


GOOD, FAIR, POOR = probabilities(1.0, 0.0), probabilities(0.8, 0.5), probabilities(0.3, 0.5)
THREE = {"good": GOOD, "fair": FAIR, "poor": POOR}
FOLDS = np.empty(ROWS, int)
for place in range(3):
    FOLDS[place == CLASS] = np.arange((place == CLASS).sum()) % 3
GROUPS = np.arange(ROWS) // 3
# One group, of two classes, has no weight at all; in others some rows have none.
WEIGHTS = np.where(GROUPS == 5, 0.0, np.array([1.0, 0.5, 2.0, 0.0, 1.5])[np.arange(ROWS) % 5])
SITE = np.array(["north", "south", "east"])[np.arange(ROWS) % 3]
SEX = np.array(["f", "m"])[np.arange(ROWS) // 3 % 2]
HALF = np.where(np.arange(ROWS) < 48, "early", "late")
SITE_OF_FEW = np.where(np.arange(ROWS) < 5, "west", SITE)
HARD = np.array(NAMES)[GOOD.argmax(axis=1)]
IS_OAK, SCORE_OF_OAK = TRUE == "oak", GOOD[:, 2]
UNEVEN = {"sample_weight": WEIGHTS, "groups": GROUPS}
KINDS = {
    "rows": ((TRUE, GOOD), {}),
    "folds": ((TRUE, GOOD), {"folds": FOLDS}),
    "learner": ((TRUE, GOOD), {"folds": dmfroc.Folds(FOLDS, target="learner")}),
    "weights": ((TRUE, GOOD), {"sample_weight": WEIGHTS}),
    "groups": ((TRUE, GOOD), UNEVEN),
    "groups-folds": ((TRUE, GOOD), {"sample_weight": WEIGHTS, "groups": CLASS, "folds": FOLDS}),
    "random-sizes": ((TRUE, GOOD), {"stratify": False}),
    "labels": ((TRUE,), {"y_pred": HARD}),
    "two-classes": ((IS_OAK, SCORE_OF_OAK), {}),
    "absent-class": ((TRUE, np.c_[GOOD, GOOD[:, 0] / 2]), {"labels": [*NAMES, "yew"]}),
    "many-classes": (
        (np.arange(ROWS) % 12, np.round(RNG.normal(size=(ROWS, 12)), 1)),
        {"measures": ["hand_till"]},
    ),
    "costs": (
        (TRUE, GOOD),
        {"pair_weights": np.array([[0.0, 1, 2], [3, 0, 1], [1, 4, 0]]), "level": 0.8},
    ),
    "scan": ((None,), {}),
    "scan-groups": ((None,), {}),
}


def of_kind(function, kind, **options):
    """Call an analysis with rows of one kind."""
    arguments, given = KINDS[kind]
    if kind.startswith("scan"):
        arguments = (scanned(kind),)
    known = option_names(function)
    given = {name: value for name, value in given.items() if name in known}
    return function(*arguments, **given | options)


def scanned(kind, scores=None):
    """Scan a file, perhaps with weights and groups."""
    options = {"n_bins": 16}
    if kind == "scan-groups":
        options |= {"sample_weight": "weight", "groups": "group"}
    scores = [f"good_{name}" for name in NAMES] if scores is None else scores
    return dmfroc.scan("all.parquet", label="tree", scores=scores, labels=NAMES, **options)


def merged(**options):
    """Return what two accumulators have counted, merged, one of them saved and loaded before."""
    first = dmfroc.counted.Accumulator(NAMES, n_bins=16, learn_from=30)
    first.update(TRUE[:50], GOOD[:50], sample_weight=WEIGHTS[:50])
    second = dmfroc.counted.Accumulator(NAMES, cuts=first)
    second.update(TRUE[50:], GOOD[50:], sample_weight=WEIGHTS[50:])
    path = Path("accumulated.npz")
    second.save(path)
    first.merge(dmfroc.counted.Accumulator.load(path))
    return first.compute(**options)


def predictions(y_true, scores, **options):
    return dmfroc.Predictions.from_arrays(y_true, scores, **options)


def independent():
    """Return predictions of two classifiers for other rows each."""
    return {
        "first": predictions(TRUE[:48], GOOD[:48]),
        "second": predictions(TRUE[48:], FAIR[48:]),
    }


def runs(*places):
    """Return several training runs of each learner."""
    return {
        name: [np.roll(GOOD, place, axis=1) * 0.1 * (place + 1) + scores for place in range(3)]
        for name, scores in (list(THREE.items())[place] for place in places)
    }


TWO_RUNS = {name: scores[:2] for name, scores in runs(0, 2).items()}
DRAWS = {"method": dmfroc.Bootstrap(100)}
IN_BAYES = {"n_draws": 30, "algorithm": "laplace", "n_thresholds": 9}
METHODS = {
    name: name if name == "jackknife" else method(100) for name, method in evidence.METHODS.items()
}
TYPES = ("percentile", "bca")


def two_fours():
    """Return tables of four studies, each with two thresholds."""
    return pd.DataFrame(STUDIES | {"study": list("abcd")})


CASES = {
    **{f"evaluate/{kind}": (lambda kind=kind: of_kind(dmfroc.evaluate, kind)) for kind in KINDS},
    **{
        f"evaluate-all/{kind}": (
            lambda kind=kind: of_kind(dmfroc.evaluate, kind, measures="all").estimates
        )
        for kind in ("rows", "folds", "groups", "labels", "two-classes", "absent-class")
    },
    "evaluate-all/scan": lambda: of_kind(dmfroc.evaluate, "scan", measures="all").estimates,
    "evaluate/bootstrap": lambda: of_kind(dmfroc.evaluate, "groups", **DRAWS),
    "evaluate/options": lambda: dmfroc.evaluate(
        TRUE, GOOD, measures=["hand_till", dmfroc.measures.dmf_auc(shrinkage=5)], level=0.9
    ),
    "evaluate/judge": lambda: dmfroc.evaluate(
        np.where(np.arange(ROWS) % 2, None, TRUE), GOOD, judge=HARD
    ),
    "evaluate/judge-strata": lambda: dmfroc.evaluate(
        np.where(np.arange(ROWS) % 2, None, TRUE),
        GOOD,
        judge=dmfroc.Judge(HARD, strata=np.arange(ROWS) % 3),
    ),
    "evaluate/prevalence": lambda: dmfroc.evaluate(
        TRUE, GOOD, measures=["accuracy"], population=[0.2, 0.3, 0.5]
    ),
    "evaluate/target": lambda: dmfroc.evaluate(
        TRUE, GOOD, measures=["accuracy"], population=GOOD[::2]
    ),
    "evaluate/importance": lambda: dmfroc.evaluate(
        TRUE, GOOD, measures=["accuracy"], population=dmfroc.Importance(GOOD[:, :1], GOOD[::3, :1])
    ),
    "evaluate/accumulator": merged,
    "evaluate/accumulator-options": lambda: merged(
        measures=["dmf_auc", "accuracy"], pair_weights="prevalence", level=0.8, stratify=False
    ),
    **{
        f"estimate/{name}/{kind}": (
            lambda kind=kind, method=method: of_kind(
                partial(dmfroc.estimate, "dmf_auc"), kind, method=method
            )
        )
        for name, method in METHODS.items()
        for kind in ("rows", "folds", "weights", "groups", "random-sizes", "two-classes", "scan")
    },
    **{
        f"estimate/{kind}": (
            lambda kind=kind: dmfroc.estimate(
                "hand_till", TRUE, GOOD, method=dmfroc.Bootstrap(100, kind), level=0.9
            )
        )
        for kind in TYPES
    },
    "estimate/bayes": lambda: dmfroc.estimate("informedness", TRUE, GOOD, method="bayes"),
    "influences/rows": lambda: dmfroc.extend.influences("dmf_auc", TRUE, GOOD),
    "influences/weights": lambda: dmfroc.extend.influences(
        "average_precision", TRUE, GOOD, sample_weight=WEIGHTS
    ),
    "multiclass_roc/weights": lambda: dmfroc.multiclass_roc(
        TRUE, GOOD, sample_weight=WEIGHTS, pair_weights="prevalence", shrinkage=3.0
    ),
    **{
        f"compare/{kind}": (
            lambda options=options: dmfroc.compare(TRUE, THREE, measures="hand_till", **options)
        )
        for kind, options in {
            "rows": {},
            "folds": {"folds": FOLDS},
            "learner": {"folds": dmfroc.Folds(FOLDS, target="learner")},
            "groups": UNEVEN,
            "groups-bootstrap": UNEVEN | DRAWS | {"test": dmfroc.Equivalence(0.03)},
            "simultaneous": {"simultaneous": True, "level": 0.9, "random_state": 3},
            "simultaneous-folds": {"simultaneous": True, "folds": FOLDS},
            "bayesian_bootstrap": {"method": dmfroc.BayesianBootstrap(100)},
            "random-sizes": {"stratify": False},
        }.items()
    },
    "compare/default": lambda: dmfroc.compare(
        TRUE, {"a <b>": GOOD, 'c "&" d': FAIR}, test=dmfroc.Equivalence(0.05)
    ),
    "compare/dmf_auc": lambda: dmfroc.compare(
        TRUE, THREE, measures=dmfroc.measures.dmf_auc("prevalence", shrinkage=4.0), level=0.8
    ),
    "compare/labels": lambda: dmfroc.compare(
        TRUE, y_pred={"good": HARD, "worse": np.roll(HARD, 1)}, measures="accuracy"
    ),
    "compare/costs": lambda: dmfroc.compare(TRUE, THREE, measures="brier_score"),
    "compare/independent": lambda: dmfroc.compare(
        independent(), measures="hand_till", paired=False, **DRAWS
    ),
    "compare/independent-simultaneous": lambda: dmfroc.compare(
        independent(), paired=False, simultaneous=True
    ),
    "compare/two-classes": lambda: dmfroc.compare(
        IS_OAK,
        {"one": SCORE_OF_OAK, "other": FAIR[:, 2], "same": SCORE_OF_OAK},
        measures="average_precision",
    ),
    **{
        f"compare/{kind}": (
            lambda kind=kind: dmfroc.compare(
                scanned(kind, {name: [f"{name}_{x}" for x in NAMES] for name in THREE}),
                measures="hand_till",
                simultaneous=True,
            )
        )
        for kind in ("scan", "scan-groups")
    },
    **{
        f"compare_subgroups/{kind}": (
            lambda options=options: dmfroc.compare_subgroups(TRUE, GOOD, **options)
        )
        for kind, options in {
            "rows": {"by": SITE},
            "groups": {"by": SITE, "sample_weight": WEIGHTS, "groups": np.arange(ROWS) // 2},
            "groups-bootstrap": {"by": SEX, "measures": "hand_till", **UNEVEN, **DRAWS},
            "two-columns": {
                "by": pd.DataFrame({"half": HALF, "sex": SEX}),
                "measures": "accuracy",
                "min_class_size": 2,
            },
            "few": {"by": SITE_OF_FEW, "measures": "hand_till", "min_class_size": 4, "level": 0.8},
            "errors": {"by": SITE, "measures": "brier_score"},
        }.items()
    },
    **{
        f"compare_runs/{kind}": (
            lambda chosen=chosen, options=options: dmfroc.compare_runs(TRUE, chosen, **options)
        )
        for kind, (chosen, options) in {
            "rows": (runs(0, 1), {}),
            "three": (runs(0, 1, 2), {"measures": "hand_till", "level": 0.9}),
            "not-crossed": (runs(0, 2), {"measures": "hand_till", "crossed": False}),
            "groups": (runs(0, 1, 2), {"measures": "hand_till", **UNEVEN}),
            "leave-one-out": (TWO_RUNS, {"measures": "accuracy", "covariances": "leave_one_out"}),
            "errors": ({"a": [GOOD, FAIR], "b": [POOR, FAIR]}, {"measures": "brier_score"}),
        }.items()
    },
    **{
        f"plan/{kind}": (
            lambda pilot=pilot, options=options: dmfroc.applications.plan(pilot(), **options)
        )
        for kind, (pilot, options) in {
            "half-width": (lambda: predictions(TRUE, GOOD), {"half_width": 0.03}),
            "weights": (
                lambda: predictions(TRUE, GOOD, sample_weight=WEIGHTS),
                {"measure": "hand_till", "half_width": 0.05, "level": 0.9},
            ),
            "difference": (
                lambda: {"a": predictions(TRUE, GOOD), "b": predictions(TRUE, FAIR)},
                {"difference": 0.05, "power": 0.9},
            ),
            "margin": (
                lambda: {"a": predictions(TRUE, GOOD), "b": predictions(TRUE, GOOD[::-1])},
                {"margin": 0.05, "difference": 0.0, "measure": "hand_till"},
            ),
            "prevalence": (
                lambda: predictions(TRUE, GOOD),
                {"difference": 0.05, "measure": "accuracy", "prevalence": [0.2, 0.3, 0.5]},
            ),
        }.items()
    },
    "cross_validate/fits": lambda: dmfroc.cross_validate(GaussianNB(), GOOD, TRUE, cv=3),
    "cross_validate/learner": lambda: dmfroc.cross_validate(
        GaussianNB(), GOOD, TRUE, cv=3, n_repeats=2, target="learner", groups=GROUPS
    ),
    "nested_cross_validation": lambda: dmfroc.applications.nested_cross_validation(
        GaussianNB(), GOOD, TRUE, measure="accuracy", cv=3, n_repeats=2
    ),
    "bayesian_roc": lambda: dmfroc.bayes.bayesian_roc(TRUE, GOOD, **IN_BAYES),
    "bayesian_table": lambda: dmfroc.bayes.bayesian_table("accuracy", TRUE, GOOD, n_draws=30),
    "summary_roc": lambda: dmfroc.applications.summary_roc(
        two_fours(), n_chains=2, n_draws=20, n_warmup=20, level=0.9
    ),
    "contingency": lambda: dmfroc.measures.ContingencyTable.from_labels(TRUE, HARD),
    "measures": lambda: dmfroc.measures.measure_table(),
}

FILES = {"good": GOOD, "fair": FAIR, "poor": POOR}
COLUMNS = ["--label", "tree", "--scores", ",".join(f"p_{name}" for name in NAMES)]
OF_ALL = [*COLUMNS, "--labels", ",".join(NAMES)]
SCANNED = ["--label", "tree", "--scores", ",".join(f"good_{name}" for name in NAMES)]
ALL_FILES = [f"{name}.csv" for name in FILES]
COMMANDS = {
    "": [],
    **{f"{name} help": [*name.split(), "--help"] for name in [
        *("", "evaluate", "compare", "report", "subgroups", "plan", "plot", "measures", "demo"),
        "cite", "gate", "leaderboard",
    ]},
    "measures": ["measures"],
    "cite": ["cite"],
    "measures json": ["measures", "--json"],
    "evaluate": ["evaluate", "good.csv", *OF_ALL, "--plot", "curve.svg"],
    "evaluate json": ["evaluate", "good.csv", *OF_ALL, "--json", "--sample-weight", "weight"],
    "evaluate all": ["evaluate", "good.csv", *OF_ALL, "--measures", "hand_till,accuracy",
                     "--level", "0.8", "--method", "bootstrap", "--n-draws", "100",
                     "--random-state", "4"],
    "evaluate folds": ["evaluate", "good.csv", *OF_ALL, "--fold", "fold", "--json",
                       "--plot", "folds.svg"],
    "evaluate labels": ["evaluate", "all.parquet", *SCANNED, "--y-pred", "hard", "--json"],
    "evaluate scan": ["evaluate", "all.parquet", *SCANNED, "--scan", "--json",
                      "--plot", "scan.svg"],
    "evaluate weights": ["evaluate", "good.csv", *OF_ALL, "--pair-weights", "prevalence",
                         "--plot", "weights.svg", "--level", "0.5"],
    "compare": ["compare", *ALL_FILES, *OF_ALL, "--plot", "compared.svg", "--rope", "0.02"],
    "compare json": ["compare", *ALL_FILES, *OF_ALL, "--json", "--simultaneous",
                     "--measure", "hand_till", "--level", "0.9"],
    "compare folds": ["compare", *ALL_FILES, *OF_ALL, "--json", "--fold", "fold",
                      "--pair-weights", "prevalence", "--plot", "both.svg"],
    "report": ["report", "good.csv", *OF_ALL, "--output", "one.html", "--level", "0.9"],
    "report two": ["report", "good.csv", "fair.csv", *OF_ALL, "--output", "two.html",
                   "--sample-weight", "weight", "--measure", "hand_till", "--rope", "0.1"],
    "subgroups": ["subgroups", "good.csv", *OF_ALL, "--by", "site", "--output", "groups.html"],
    "subgroups json": ["subgroups", "good.csv", *OF_ALL, "--by", "sex", "--by", "half", "--json",
                       "--measure", "accuracy"],
    "plan": ["plan", "good.csv", *OF_ALL, "--half-width", "0.04", "--output", "plan.html"],
    "plan json": ["plan", "good.csv", "fair.csv", *OF_ALL, "--difference", "0.1", "--json",
                  "--measure", "hand_till", "--power", "0.9"],
    **{
        f"plot {kind}": ["plot", kind, "good.csv", *OF_ALL, "--output", f"{kind}.svg"]
        for kind in ("roc", "multiclass-roc", "calibration", "prg", "gains")
    },
    **{
        f"plot {kind} two": ["plot", kind, "two.csv", "--label", "oak", "--scores", "score",
                             "--output", f"{kind}-two.svg"]
        for kind in ("roc", "prg", "overview", "cost")
    },
    "compare unpaired": ["compare", *ALL_FILES, *OF_ALL, "--unpaired", "--json"],
    "compare margin": ["compare", "good.csv", "poor.csv", *OF_ALL, "--measure", "accuracy",
                       "--margin", "0.05"],
    "compare bootstrap": ["compare", "good.csv", "poor.csv", *OF_ALL, "--method", "bootstrap",
                          "--n-draws", "100", "--random-state", "3", "--json"],
    "evaluate groups": ["evaluate", "good.csv", *OF_ALL, "--groups", "half", "--title", "<b>",
                        "--output", "groups.html", "--ignore", "sex"],
    "evaluate target": ["evaluate", "good.csv", *OF_ALL, "--target-prevalence", "0.2,0.3,0.5",
                        "--json"],
    "evaluate count": ["evaluate", "good.csv", *OF_ALL, "--count", "fold", "--json"],
    "evaluate positive": ["evaluate", "two.csv", "--label", "oak", "--scores", "score",
                          "--pos-label", "False", "--measures", "recall,hand_till", "--json"],
    "subgroups bootstrap": ["subgroups", "good.csv", *OF_ALL, "--by", "site", "--measure",
                            "hand_till", "--groups", "half", "--level", "0.8"],
    "plan margin": ["plan", "good.csv", "poor.csv", *OF_ALL, "--margin", "0.05", "--json"],
    "demo": ["demo", "--plot", "demo.svg"],
    "no file": ["evaluate", "none.csv", *COLUMNS],
    "no column": ["evaluate", "good.csv", "--label", "trees"],
    "no measure": ["compare", "good.csv", "fair.csv", *OF_ALL, "--measure", "hand_tilt"],
    "no kind": ["plot", "rocs", "good.csv", *OF_ALL],
    "no option": ["evaluate", "good.csv", "--lable", "tree"],
    "no fold": ["evaluate", "good.csv", *OF_ALL, "--scan", "--fold", "fold"],
    "no weights": ["compare", *ALL_FILES, *OF_ALL, "--measure", "accuracy",
                   "--pair-weights", "prevalence"],
}  # fmt: skip


def write_files():
    """Write the files that the commands read into the present folder."""
    for name, scores in FILES.items():
        table = pd.DataFrame(scores, columns=[f"p_{label}" for label in NAMES])
        table = table.assign(tree=TRUE, weight=WEIGHTS, fold=FOLDS, site=SITE, sex=SEX)
        table["half"] = HALF
        table.to_csv(f"{name}.csv", index=False)
    pd.DataFrame({"oak": IS_OAK, "score": SCORE_OF_OAK}).to_csv("two.csv", index=False)
    table = {f"{file}_{name}": x[:, i] for file, x in FILES.items() for i, name in enumerate(NAMES)}
    table |= {"tree": TRUE, "weight": WEIGHTS, "group": GROUPS, "hard": HARD}
    pd.DataFrame(table).to_parquet("all.parquet", row_group_size=40)


def run(arguments):
    """Run the command in this process; return its status, output, and the files that it wrote."""
    before = {path.name for path in Path().iterdir()}
    out, err = io.StringIO(), io.StringIO()
    kept = sys.argv
    sys.argv = ["dmfroc", *arguments]
    status = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_module("dmfroc", run_name="__main__")
    except SystemExit as end:
        status = end.code
    finally:
        sys.argv = kept
    written = sorted({path.name for path in Path().iterdir()} - before)
    text = out.getvalue()
    is_json = "--json" in arguments and not status
    return {
        "status": status,
        "out": text,
        **({"json": json.loads(text)} if is_json else {}),
        "err": err.getvalue(),
        "files": {
            name: page_parts(Path(name).read_text()) if name.endswith("html")
            else Path(name).read_text() if name.endswith("svg")
            else None
            for name in written
        },
    }  # fmt: skip


# What is in it


STYLES = (
    *("linewidth", "linestyle", "marker", "markersize", "markerfacecolor", "markeredgecolor"),
    *("drawstyle", "alpha", "zorder", "color", "facecolor", "edgecolor", "visible", "clip_on"),
    *("fontsize", "rotation", "ha", "va", "sizes", "hatch", "loc"),
)


def style_of(artist):
    """Return how an artist looks, in plain numbers and texts."""
    found = {}
    for name in STYLES:
        getter = getattr(artist, f"get_{name}", None)
        if getter is not None:
            x = getter()
            found[name] = x.tolist() if isinstance(x, np.ndarray) else str(x)
    return found


def axes_parts(axes):
    """Return the numbers and the texts that are drawn on axes, and how they look."""
    shown = [*axes.lines, *axes.collections, *axes.patches, *axes.texts, *axes.spines.values()]
    return {
        "styles": [style_of(artist) for artist in shown],
        "scales": [axes.get_xscale(), axes.get_yscale(), str(axes.get_aspect())],
        "tick_styles": [
            [axis.get_tick_params(which="major"), axis.get_ticks_position()]
            for axis in (axes.xaxis, axes.yaxis)
        ],
        "place": str(getattr(axes.get_legend(), "_loc", None)),
        "title": axes.get_title(),
        "x": [axes.get_xlabel(), *axes.get_xlim()],
        "y": [axes.get_ylabel(), *axes.get_ylim()],
        "lines": [
            [line.get_label(), str(line.get_color()), line.get_xydata().tolist()]
            for line in axes.lines
        ],
        "filled": [
            [[path.vertices.tolist() for path in collection.get_paths()],
             np.asarray(collection.get_offsets()).tolist()]
            for collection in axes.collections
        ],
        "patches": [patch.get_path().vertices.tolist() for patch in axes.patches],
        "images": [np.asarray(image.get_array(), float).tolist() for image in axes.images],
        "texts": [[text.get_text(), *map(float, text.get_position())] for text in axes.texts],
        "ticks": [[text.get_text() for text in axis.get_ticklabels()]
                  for axis in (axes.xaxis, axes.yaxis)],
        "legend": [] if axes.get_legend() is None
        else [text.get_text() for text in axes.get_legend().get_texts()],
    }  # fmt: skip


RESULTS = (
    Result,
    dmfroc.results.Estimate,
    dmfroc.results.MulticlassROC,
    dmfroc.measures.ContingencyTable,
)
NOT_CALLED = {"leave_one_out", "printed_tables"}  # fits a model per study; the print has them


def is_ours(x):
    return type(x).__module__.split(".")[0] == "dmfroc"


def parts(x, is_whole):
    """Return the parts of a result by name, or None if it is a value."""
    if isinstance(x, xarray.DataTree):
        return {
            f"{group.path}/{name}": values.to_numpy()
            for group in x.subtree
            for name, values in group.data_vars.items()
        } | {
            f"{group.path} {key}": value
            for group in x.subtree
            for key, value in group.attrs.items()
            if key != "created_at"
        }
    if isinstance(x, Mapping) and not dataclasses.is_dataclass(x):
        return {str(key): value for key, value in x.items()}
    if isinstance(x, pd.DataFrame):
        return {"columns": [*map(str, x.columns)], "index": [*map(str, x.index)]} | {
            f"column {name}": x[name].to_list() for name in x.columns
        }
    if isinstance(x, matplotlib.axes.Axes):
        return axes_parts(x)
    if isinstance(x, matplotlib.figure.Figure):
        size = {"size": x.get_size_inches().tolist()}
        return size | {f"axes {place}": axes for place, axes in enumerate(x.axes)}
    if is_ours(x) and hasattr(x, "figure_"):
        return {"figure": x.figure_}
    if hasattr(x, "_asdict"):
        return x._asdict()
    if isinstance(x, list | tuple) and not is_flat(x):
        return {str(place): item for place, item in enumerate(x)}
    if is_ours(x) and dataclasses.is_dataclass(x):
        found = {f.name: getattr(x, f.name) for f in dataclasses.fields(x) if f.name[0] != "_"}
        return (found | views(x)) if is_whole and isinstance(x, RESULTS) else found
    return None


def is_flat(x):
    """Whether a list has only numbers and strings, or lists of them."""
    if isinstance(x, list | tuple):
        return all(map(is_flat, x))
    return isinstance(x, str | int | float | np.generic | None)


def views(x):
    """Return properties of a result, and what those of its methods return that need nothing."""
    found = {"str()": str(x), "repr()": repr(x)}
    for name in dir(type(x)):
        member = inspect.getattr_static(type(x), name)
        if isinstance(member, property | cached_property) and name[0] != "_":
            found[name] = attempt(lambda name=name: getattr(x, name))
        if not inspect.isfunction(member) or (name[0] == "_" and name != "_repr_html_"):
            continue
        if name == "to_html":
            found["to_html()"] = attempt(lambda: report(x))
        elif name not in NOT_CALLED and not needs_arguments(member):
            found[f"{name}()"] = attempt(getattr(x, name))
    return found


def needs_arguments(function):
    parameters = list(inspect.signature(function).parameters.values())[1:]
    optional = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return any(p.default is p.empty and p.kind not in optional for p in parameters)


def report(result):
    path = Path("report.html")
    result.to_html(path)
    page = path.read_text("utf-8")
    path.unlink()
    return page_parts(page)


def attempt(call):
    """Return what a call returns with what it warns of, or with what error it fails."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except (AttributeError, KeyError, TypeError, ValueError, ImportError) as error:
            result = f"{type(error).__name__}: {error}"
    remarks = [f"{w.category.__name__}: {w.message}" for w in caught]
    return {"warned": remarks, "result": result} if remarks else result


def lines(name, x, seen=()):
    """Yield names and values, as JSON has them."""
    if any(x is other for other in seen):
        return
    is_within_its_kind = any(type(x) is type(other) for other in seen)  # as the hull of a hull
    is_whole = not is_within_its_kind and (not isinstance(x, dmfroc.results.Estimate) or not seen)
    found = parts(x, is_whole=is_whole)
    if found is not None:
        for key, part in found.items():
            yield from lines(f"{name}.{key}", part, (*seen, x))
        return
    if isinstance(x, np.ndarray | pd.Series | pd.Index):
        x = np.asarray(x).tolist()
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, Set):
        x = sorted(x)
    if not is_flat(x):
        # A function, module or internal object: where it is in memory or stored is of no interest.
        x = re.sub(r" at 0x[0-9a-f]+|dmfroc\.[\w.]+| from '[^']+'", "", repr(x))
    yield name, x


def all_cases():
    """Return the calls by name whose results are seen."""
    commands = {f"command {name}": (lambda a=a: run(a)) for name, a in COMMANDS.items()}
    calls = {
        f"function {name}": partial(call, public(name))
        for name, call in CALLS.items()
        if name not in CASES
    }
    return CASES | ROOMS | calls | commands


def every_line(pattern):
    """Yield name and value of all that is seen in the cases whose names match."""
    for name, call in all_cases().items():
        if re.search(pattern, name):
            started = time.perf_counter()
            yield from lines(name, attempt(call))
            plt.close("all")
            if time.perf_counter() - started > 1.5:
                print(f"{name}: {time.perf_counter() - started:.1f} s", file=sys.stderr)


def digest_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def compare(before, now, tolerance):
    """Print what differs, and return how much does."""
    n = 0
    for name in dict.fromkeys([*before, *now]):
        old, new = before.get(name), now.get(name)
        if old == new:
            continue
        if old is None or new is None:
            n += 1
            print(f"{'new' if old is None else 'gone'}  {name}  {shown(new or old)}")
            continue
        old, new = json.loads(old), json.loads(new)
        size = distance(old, new)
        if size <= tolerance:
            continue
        n += 1
        print(f"differs  {name}" + (f"  by {size:.1e}" if math.isfinite(size) else ""))
        if isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > 90:
            changes = difflib.unified_diff(
                re.split(r"(?<=>)|\n", old), re.split(r"(?<=>)|\n", new), "was", "is", n=0
            )
            for change in list(changes)[2:22]:
                print(f"    {change.rstrip()[:160]}")
        else:
            print(f"    was {shown(json.dumps(old))}\n    is  {shown(json.dumps(new))}")
    return n


def shown(text):
    return text if len(text) <= 120 else f"{text[:80]} ... {text[-36:]}"


def distance(a, b):
    """Return the largest relative difference of numbers; infinity where something else differs."""
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return max(map(distance, a, b), default=0.0)
    if isinstance(a, float) and isinstance(b, float):
        if a == b or (math.isnan(a) and math.isnan(b)):
            return 0.0
        return abs(a - b) / max(abs(a), abs(b)) if math.isfinite(a - b) else math.inf
    return 0.0 if a == b else math.inf


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="write all that is seen")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="say what has changed since")
    parser.add_argument("--only", default="", metavar="PATTERN", help="cases whose names match")
    parser.add_argument("--tolerance", type=float, default=0.0, help="relative, of floats")
    options = parser.parse_args()
    if options.write or options.compare:
        sys.exit(write_or_compare(options))
    warnings.simplefilter("ignore")
    found = {}
    for name in sorted(PUBLIC | set(CALLS)):
        of_call = digest(CALLS.get(name, example)(public(name)))
        found[name] = hashlib.sha256(json.dumps(of_call).encode()).hexdigest()
    json.dump(found, sys.stdout)


def write_or_compare(options):
    # Bits of XLA's results depend on how many threads it uses; sets have no order.
    fixed = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "COLUMNS": "100", "MPLBACKEND": "Agg"}
    fixed |= {
        "SOURCE_DATE_EPOCH": "0",
        "JAX_COMPILATION_CACHE_DIR": str(Path(tempfile.gettempdir(), "dmfroc-every-number")),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    if any(os.environ.get(name) != value for name, value in fixed.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | fixed)
    target = options.write and options.write.absolute()
    known = options.compare and options.compare.read_text().splitlines()
    plt.rcParams["svg.hashsalt"] = "every number"
    plt.rcParams["figure.max_open_warning"] = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_files()
        now = {name: json.dumps(x) for name, x in every_line(options.only)}
    if target:
        rows = (f"{name}\t{digest_of(x)}\t{x}\n" for name, x in now.items())
        target.write_text("".join(rows))
        print(f"{len(now)} values written to {target}")
        return 0
    before = {name: x for name, _, x in (line.split("\t", 2) for line in known)}
    before = {name: x for name, x in before.items() if re.search(options.only, name.split(".")[0])}
    n = compare(before, now, options.tolerance)
    print(f"{n} of {len(now)} values differ")
    return int(n > 0)


if __name__ == "__main__":
    main()
