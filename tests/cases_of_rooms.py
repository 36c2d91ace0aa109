"""Calls of each room with options of all kinds, beside those of the analyses in `every_number`."""

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

import dmfroc
from dmfroc import applications, curves, plots
from dmfroc.applications.meta_analysis.data import read_studies
from dmfroc.applications.meta_analysis.fit import Settings, tree_of
from dmfroc.applications.meta_analysis.models import hsroc_of_bivariate
from dmfroc.applications.meta_analysis.result import SummaryROC
from dmfroc.bayes.sampling import Draws

RNG = np.random.default_rng(12)
N = 80
CLASS = RNG.permutation(np.repeat([0, 1, 2], [36, 26, 18]))
LOGITS = RNG.normal(size=(N, 3)) + 1.3 * np.eye(3)[CLASS]
SCORES = np.round(np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True), 3)
SCORES[:, 2] = 1 - SCORES[:, :2].sum(axis=1)
NAMED = np.array(["ash", "fir", "oak"])[CLASS]
Y, P = (CLASS == 1).astype(int), SCORES[:, 1]
WEIGHTS = np.array([1.0, 0.5, 2.0, 0.0, 1.5])[np.arange(N) % 5]
GROUPS, FOLDS = np.arange(N) // 2, np.arange(N) // 4 % 3
MODEL = GaussianNB().fit(LOGITS[::2], NAMED[::2])
OF_CLASSES = [
    *("Accuracy", "BIFT", "BIRD", "BOC", "BPRD", "Calibration", "Cost", "CumulativeGains", "DET"),
    *("DeltaPN", "Lift", "LogPrecisionRecall", "PN", "PRG", "PrecisionRecall", "ROC"),
    "ReciprocalPrecisionRecall",
]


def drawn(display, *arguments, builder="from_predictions", **options):
    room = applications if display == "RiskCoverage" else plots
    return getattr(getattr(room, f"{display}Display"), builder)(*arguments, **options)


# Displays

DISPLAYS = {
    **{
        f"display/{name}/{kind}": (
            lambda name=name, arguments=arguments, options=options: drawn(
                name, *arguments, **options
            )
        )
        for name in OF_CLASSES
        for kind, (arguments, options) in {
            "two": ((Y, P), {"name": "a_b", "sample_weight": WEIGHTS}),
            "classes": ((NAMED, SCORES), {"multi_class": "ovr"}),
            "pairs": ((NAMED, SCORES), {"multi_class": "ovo"}),
            "one": ((NAMED == "oak", SCORES[:, [2, 1]]), {"pos_label": False}),
        }.items()
    },
    **{
        f"display/{name}/estimator": lambda name=name: drawn(
            name, MODEL, LOGITS[1::2], NAMED[1::2], builder="from_estimator"
        )
        for name in ("ROC", "MulticlassROC", "PairwiseAUC", "Lift")
    },
    **{
        f"display/{name}/{'-'.join(options)}": lambda name=name, options=options: drawn(
            name, Y, P, **options
        )
        for name, options in (
            ("ROC", {"plot_hull": True}),
            ("ROC", {"plot_chance_level": False, "plot_band": True, "level": 0.8}),
            ("ROC", {"plot_grid": True}),
            ("PRG", {"plot_hull": True, "plot_grid": True}),
            ("Lift", {"plot_fallout": True, "scale": "counts"}),
            ("Calibration", {"n_bins": 4}),
            ("Calibration", {"plot_loess": True, "span": 0.6}),
            ("BIRD", {"s": 0.1}),
            ("PrecisionRecall", {"beta": 2.0}),
        )
    },
    **{
        f"display/multiclass_roc/{kind}": lambda options=options: drawn(
            "MulticlassROC", NAMED, SCORES, **options
        )
        for kind, options in {
            "plain": {},
            "pairs": {"plot_pairs": True, "name": "<b>"},
            "weights": {"sample_weight": WEIGHTS, "groups": GROUPS, "level": 0.8},
            "folds": {"folds": FOLDS},
            "costs": {"pair_weights": "prevalence", "shrinkage": 3.0},
            "no-band": {"plot_band": False, "n_thresholds": 9},
            "paper": {"method": "paper_bootstrap"},
            "fixed": {"stratify": True},
            "simultaneous": {"band": "simultaneous"},
        }.items()
    },
    "display/pairs": lambda: drawn("PairwiseAUC", NAMED, SCORES, sample_weight=WEIGHTS),
    "display/decision/two": lambda: drawn("Decision", Y, P, thresholds=[0.1, 0.2, 0.4, 0.7]),
    "display/decision/both": lambda: drawn(
        "Decision", Y, P, thresholds=[0.1, 0.4], difference=True, level=0.8, prevalence=0.2
    ),
    "display/decision/no-band": lambda: drawn("Decision", NAMED, SCORES, band=None, name="x"),
    "display/reliability": lambda: drawn("Reliability", NAMED, SCORES),
    "display/reliability/plain": lambda: drawn(
        "Reliability", Y, P, plot_bands=False, plot_histogram=False, sample_weight=WEIGHTS
    ),
    "display/risk-coverage": lambda: drawn("RiskCoverage", NAMED, SCORES, sample_weight=WEIGHTS),
    "display/risk-coverage/two": lambda: drawn("RiskCoverage", Y, {"a": P, "b": P[::-1]}),
    "display/overview": lambda: plots.overview(Y, P, sample_weight=WEIGHTS),
    "display/overview/classes": lambda: plots.overview(NAMED, SCORES),
}


def with_decisions(name):
    """Draw curves with the points of hard labels of other, fewer rows."""
    display = drawn(name, NAMED, SCORES)
    table = dmfroc.measures.ContingencyTable.from_labels(
        NAMED[::2], NAMES[SCORES[::2].argmax(axis=1)]
    )
    return display.plot_decisions(table).figure_


NAMES = np.array(["ash", "fir", "oak"])
DISPLAYS |= {
    f"display/decisions/{name}": lambda name=name: with_decisions(name)
    for name in ("ROC", "PN", "PrecisionRecall", "PRG")
}

# Decisions

COSTS = np.array([[0.0, 1, 4], [2, 0, 1], [5, 1, 0]])
DECISIONS = {
    **{
        f"choose_threshold/{kind}": lambda options=options: applications.choose_threshold(
            Y, P, n_draws=100, **options
        )
        for kind, options in {
            "plain": {},
            "f1": {"by": "f1", "level": 0.8},
            "weights": {"sample_weight": WEIGHTS},
            "sensitivity": {"by": "sensitivity", "at_least": 0.8},
            "specificity": {"by": "specificity", "at_least": 0.7, "random_state": 3},
            "costs": {"population": 0.1, "by": "cost", "cost_fp": 2.0, "cost_fn": 5.0},
            "accuracy": {"by": "accuracy"},
        }.items()
    },
    "choose_threshold/classes": lambda: applications.choose_threshold(NAMED, SCORES, n_draws=100),
    "operating_point": lambda: [
        applications.operating_point(Y, P, t, sample_weight=WEIGHTS) for t in (0.1, 0.45, 2.0)
    ],
    "optimal_operating_points": lambda: [
        found
        for options in (
            {},
            {"cost_fn": 4.0},
            {"cost_fp": 3.0, "prevalence": 0.2, "sample_weight": WEIGHTS},
        )
        for points in [applications.optimal_operating_points(Y, P, **options)]
        for found in (
            points,
            points.thresholds,
            points.expected_cost,
            *(
                points.threshold(tie, placement)
                for tie in ("highest", "lowest")
                for placement in ("score", "midpoint")
            ),
        )
    ],
    "randomized_threshold": lambda: [
        [found, found.predict(P, random_state=2)]
        for rates in ({"fpr": 0.2}, {"tpr": 0.75}, {"fpr": 0.5, "sample_weight": WEIGHTS})
        for found in [applications.randomized_threshold(Y, P, **rates)]
    ],
    "skew_sensitive_accuracy": lambda: [
        applications.skew_sensitive_accuracy([0.8, 0.5], [0.3, 0.1], c=c, prevalence=p)
        for c in (0.2, 0.5)
        for p in (0.1, 0.5)
    ],
    "majority_costs": lambda: [
        applications.majority_costs(NAMED, x, labels=labels)
        for x in (0.25, 0.5)
        for labels in (None, ["oak", "ash", "fir"])
    ],
    "select_class_weights": lambda: [
        [found, found.predict(SCORES)]
        for options in (
            {},
            {"cost_matrix": COSTS},
            {"sample_weight": WEIGHTS, "n_starts": 3, "random_state": 4},
        )
        for found in [applications.select_class_weights(NAMED, SCORES, **options)]
    ],
}  # fmt: skip

# Curves, and what is read from them

OF_TWO = [name for name in curves.__all__ if name.endswith("_curve")]
CURVES = {
    **{
        f"curve/{name}": lambda name=name: [
            getattr(curves, name)(Y, P, sample_weight=weight) for weight in (None, WEIGHTS)
        ]
        for name in OF_TWO
    },
    "curve/decision_curve": lambda: [
        applications.decision_curve(
            Y, P, thresholds=[0.1, 0.3], sample_weight=WEIGHTS, groups=GROUPS
        ),
        applications.decision_curve(NAMED, SCORES, thresholds=[0.2, 0.4], stratify=True, level=0.8),
    ],
    "curve/operating_points": lambda: [
        curves.operating_points(Y, P, sample_weight=weight) for weight in (None, WEIGHTS)
    ],
    "curve/hull": lambda: (
        [
            function(curves.roc_curve(Y, P, sample_weight=WEIGHTS))
            for function in (curves.convex_hull, applications.pareto_points)
        ]
        + [applications.repair_concavities(curves.roc_curve(Y, P), P)]
    ),
    "curve/isometrics": lambda: [
        curves.isometrics(curve(Y, P), values=[0.2, 0.5, 0.8])
        for curve in (curves.roc_curve, curves.precision_recall_curve, curves.pn_curve)
    ],
    "curve/gains": lambda: [
        applications.precision_gain(**CELLS),
        applications.recall_gain(**CELLS),
        applications.f_gain(**CELLS, beta=2.0),
        *(
            function(POINTS)
            for function in (
                *(curves.f_gains, curves.gain_area, curves.best_f_gain, curves.expected_f_gain),
                *(curves.certainty_consistency, curves.crossing_gain, curves.expected_inverse_f),
                *(applications.operating_conditions, curves.area_under_kappa),
            )
        ),
        curves.f_gains(POINTS, beta=2.0),
        curves.gain_area(POINTS, clip=True),
        curves.certainty_consistency(POINTS, hull=True),
        curves.area_under_kappa(POINTS, method="trapezoid"),
        applications.expected_profits(POINTS, [[3, -1], [-2, 1]], prevalence=0.2),
        applications.interpolate_gains((20, 9, 6, 45), (24, 30, 2, 24), 0.25),
        applications.same_f_beta(0.5, 0.8, 0.7, 0.6),
        curves.least_precision([0.2, 0.7], 0.3),
        curves.f_from_gain(0.4, 0.3),
    ],
    "curve/loess": lambda: [
        curves.loess(P, Y, [0.1, 0.5], span=0.6, degree=degree, sample_weight=WEIGHTS)
        for degree in (1, 2)
    ],
    "curve/calibration": lambda: [
        curves.calibration_curve(Y, P, n_bins=n, sample_weight=WEIGHTS) for n in (4, 7)
    ],
    "curve/from-calibration": lambda: applications.roc_from_calibration(
        [0.1, 0.5, 0.9], [0.3, 0.4, 0.3]
    ),
}
CELLS = {"tp": 20, "fp": 9, "fn": 6, "tn": 45}
POINTS = curves.operating_points(Y, P)

# Papers

PAPERS = {
    "papers/moses": lambda: applications.moses_littenberg_roc(
        [9, 8, 7, 9], [2, 3, 1, 4], [1, 2, 3, 1], [8, 7, 9, 6]
    ),
    "papers/lc": lambda: applications.lc_index(
        Y, P, P[::-1], most_likely_cost=0.3, lowest_cost=0.1, highest_cost=0.8
    ),
    "papers/tests": lambda: [
        function(dmfroc.measures.ContingencyTable.from_cells(tp=30, fp=11, fn=8, tn=51))
        for function in (
            applications.chi_squared_test,
            applications.likelihood_ratio_test,
            applications.powers_statistics,
            applications.fisher_exact_test,
        )
    ],
    "papers/sellke": lambda: [applications.sellke_bayarri_berger(p) for p in (1e-4, 0.03, 0.3)],
}

# Meta-analysis: results from draws that no chain makes, and the densities of the models

NAMES_OF_STUDIES = [f"study {i}" for i in range(5)]


def counts_of_studies(n_rows):
    generator = np.random.default_rng(n_rows)
    tp, fp = generator.integers(20, 40, n_rows), generator.integers(3, 15, n_rows)
    return {"tp": tp, "fn": 45 - tp, "fp": fp, "tn": 50 - fp}


def tables_of_studies():
    """Return a table for each model, with the columns that it needs."""
    one = pd.DataFrame(counts_of_studies(5)).assign(study=NAMES_OF_STUDIES)
    rows = [(name, cut) for name in NAMES_OF_STUDIES for cut in (0.5, 2.0, 3.5)]
    cuts = pd.DataFrame(rows, columns=["study", "cut"])
    cuts["tp"] = [40, 30, 17, 39, 33, 12, 41, 28, 20, 37, 31, 15, 40, 25, 18]
    cuts["fp"] = [20, 8, 2, 17, 9, 1, 22, 11, 4, 19, 7, 3, 15, 9, 2]
    cuts["fn"], cuts["tn"] = 45 - cuts["tp"], 50 - cuts["fp"]
    pairs = (
        pd.DataFrame(
            [
                (name, pair)
                for name in NAMES_OF_STUDIES
                for pair in ("a from b", "b from c", "c from a")
            ]
        )
        .set_axis(["study", "pair"], axis=1)
        .assign(**counts_of_studies(15))
    )
    return {
        "bivariate": (one, {}),
        "hsroc": (one, {}),
        "ordinal": (cuts, {"threshold": "cut"}),
        "multiclass": (pairs.drop(index=[4]), {"pair": "pair"}),
    }  # fmt: skip


def studies_of(model):
    table, columns = tables_of_studies()[model]
    roles = {x: x for x in ("study", "tp", "fn", "fp", "tn")}
    return read_studies(table, roles | columns, "log" if model == "ordinal" else "identity")


def summary_of(model):
    """Return a result whose draws are random numbers, which no sampler changes."""
    studies, generator = studies_of(model), np.random.default_rng(7)
    settings = Settings(model, dmfroc.applications.SummaryPriors(), 2, 40, 10, 3)
    n_effects = 4 if model == "ordinal" else 2
    shape = (2, 40)
    root = 0.3 * generator.normal(size=(*shape, n_effects, n_effects)) + 0.6 * np.eye(n_effects)
    middle = np.array([1.0, -1.2, 0.1, -0.1])[:n_effects]
    n_rates = max(len(studies.pairs), 1) * 2
    n_points = studies.thresholds.shape[1]
    n_of_study = n_rates if studies.pairs else n_effects
    sites = {
        "study_location": np.resize(middle, n_of_study) + np.zeros((*shape, n_of_study)),
        "study_factor": 0.6 * np.eye(n_of_study) + np.zeros((*shape, n_of_study, n_of_study)),
        "log_prior": np.zeros(shape),
        "factor": np.tril(root),
        "location": middle + 0.2 * generator.normal(size=(*shape, n_effects)),
        "study_effect": np.resize(middle, n_of_study)
        + 0.4 * generator.normal(size=(*shape, 8, n_of_study)),
        "logits": generator.normal(size=(*shape, 8, n_rates, n_points)),
        "curve_intercept": 1.5 + 0.2 * generator.normal(size=shape),
        "curve_slope": 0.8 + 0.1 * generator.normal(size=shape),
        "pair_location": middle[:2] + 0.3 * generator.normal(size=(*shape, len(studies.pairs), 2)),
        "pair_sd": 0.2 + generator.random((*shape, 2)),
        "within_sd": 0.1 + generator.random(shape),
    }
    stats = {"diverging": np.zeros(shape, bool), "energy": generator.normal(size=shape)}
    tree = tree_of(Draws(sites, stats), studies, settings)
    return SummaryROC(studies, settings, tree, 0.9, ("a warning",))


def looks_of(model):
    """Return what a meta-analysis shows, at a threshold or of a pair where it needs one."""
    summary = summary_of(model)
    which = {"ordinal": {"threshold": 2.0}, "multiclass": {"pair": "b from c"}}.get(model, {})
    at = {"threshold": 2.0} if model == "ordinal" else {}
    return {
        "posterior": summary.to_datatree(),
        "curve": summary.curve,
        "auc": summary.auc,
        "range": summary.observed_range,
        "point": [summary.point(**which), summary.point(**at)],
        "regions": [summary.region(kind, **which) for kind in ("credible", "prediction")],
        "by_study": summary.by_study(**which),
        "heterogeneity": summary.heterogeneity,
        "pairs": summary.pairs if model == "multiclass" else None,
        "at": summary.at([0.7, 2.0, 9.0]) if model == "ordinal" else None,
        "text": str(summary),
        "plot": summary.plot(plot_band=True, **at),
        "plain": summary.plot(plot_regions=False, **at),
        "forest": summary.plot_forest(**which),
        "remarks": summary.studies.remarks,
        "standardized": summary.studies.standardized(np.array([0.5, 2.0])),
        "without": summary.studies.without(1),
    } | (
        {} if model == "ordinal"
        else {"surprise": [summary._surprise(study, surprised(summary)) for study in (0, 3)]}
    )  # fmt: skip


def surprised(summary):
    draws = {
        name: summary._draws(name)
        for name in ("location", "pair_location", "within_sd")
        if name in summary.posterior["posterior"]
    }
    sd = summary._draws("sd")
    return draws | {"factor": sd[:, :, None] * np.eye(2)}  # fmt: skip


def hsroc_and_back():
    """Return parameters of either model from those of the other."""
    generator = np.random.default_rng(1)
    location, root = generator.normal(size=(6, 2)), generator.normal(size=(6, 2, 2))
    covariance = root @ np.swapaxes(root, 1, 2) + np.eye(2)
    return hsroc_of_bivariate(location, covariance)


def density(model):
    """Return density, gradient and sites of a model where a seed puts its parameters."""
    from dmfroc._kit.compiled import in_double_precision
    from dmfroc.applications.meta_analysis.fit import data_of
    from dmfroc.applications.meta_analysis.models import model_of
    from dmfroc.bayes.sampling import Sampler

    priors = dmfroc.applications.SummaryPriors(spread_scale=0.8)
    with in_double_precision():
        data = data_of(studies_of(model).counts, model, priors)
        return seen_of(Sampler(model_of(model, priors), data), data)


def seen_of(sampler, data):
    flat = 0.3 * np.random.default_rng(2).normal(size=sampler.size)
    return {
        "value": [np.asarray(x) for x in sampler.value_and_gradient(flat, data)],
        "sites": {name: np.asarray(x) for name, x in sampler.sites(flat[None], data).items()},
    }


def posterior_density(structure, likelihood):
    """Return the same of a model of the curve of all pairs."""
    from dmfroc._kit.compiled import in_double_precision
    from dmfroc.bayes.models import Priors, model_of
    from dmfroc.bayes.roc import pairwise_counts
    from dmfroc.bayes.sampling import Sampler
    from dmfroc.multiclass.rates import CurveOptions

    predictions = dmfroc.Predictions.from_arrays(NAMED, SCORES, sample_weight=WEIGHTS)
    with in_double_precision():
        counts = pairwise_counts(CurveOptions(n_thresholds=6)(predictions), predictions)
        return seen_of(Sampler(model_of(structure, likelihood, Priors()), counts), counts)


MODELS = ("bivariate", "hsroc", "ordinal", "multiclass")
META_ANALYSIS = {
    **{f"meta/{model}": lambda model=model: looks_of(model) for model in MODELS},
    **{f"meta/density/{model}": lambda model=model: density(model) for model in MODELS},
    "meta/hsroc-and-back": hsroc_and_back,
}

DENSITIES = {
    f"bayes/density/{structure}-{likelihood}": lambda structure=structure, likelihood=likelihood: (
        posterior_density(structure, likelihood)
    )
    for structure in ("rank_one", "hierarchical")
    for likelihood in ("ordinal", "binomial")
}

# Analyses of items, of several labels, of calibration, and of streams

RIGHT = {
    name: (RNG.random(N) < share).astype(float) for name, share in {"a": 0.7, "b": 0.5}.items()
}
GRADES = {name: np.round(x + RNG.normal(size=N), 1) for name, x in RIGHT.items()}
VERIFIED = {name: np.where(np.arange(N) % 2, np.nan, x) for name, x in RIGHT.items()}
SITE = np.array(["north", "south"])[np.arange(N) % 2]
LABEL_TABLE = pd.DataFrame(np.c_[CLASS > 0, CLASS == 1, Y | (np.arange(N) % 4 == 0)].astype(float),
                           columns=["big", "fir", "odd"])  # fmt: skip
LABEL_SCORES = {"a": SCORES, "b": np.roll(SCORES, 1, axis=1)}


def streamed(measure, data=(NAMED, SCORES), **options):
    """Return what an accumulator says after each of several batches."""
    found = dmfroc.counted.Accumulator(np.unique(data[0]), n_bins=8)
    for some in np.split(np.arange(N), 4):
        found.update(*(x[some] for x in data))
        last = dmfroc.applications.confidence_sequence(found, measure, **options)
    return last


CALIBRATED = SCORES / SCORES.sum(axis=1, keepdims=True)
NEARLY = 0.95 * np.eye(3)[CLASS] + 0.05 * CALIBRATED
NEARLY[3] = CALIBRATED[3] if CALIBRATED[3].argmax() != CLASS[3] else NEARLY[3, [1, 2, 0]]
SAMPLES = {
    "nearly-perfect": (NAMED, NEARLY),
    "perfect": (NAMED, np.eye(3)[CLASS]),
    "noise": (NAMED, CALIBRATED[::-1]),
    "few": (NAMED[:14], CALIBRATED[:14]),
    "two-nearly-perfect": (Y, np.clip(0.9 * Y + 0.1 * P, 0, 1)),
    "many-classes": (np.arange(N) % 20, np.eye(20)[(np.arange(N) * 7 // 6) % 20] * 0.5 + 0.025),
}
ANALYSES = {
    **{
        f"evaluate-all/{kind}": lambda sample=sample: (
            dmfroc.evaluate(*sample, measures="all").estimates
        )
        for kind, sample in SAMPLES.items()
    },
    **{
        f"estimate/{measure}/{kind}/bootstrap": lambda measure=measure, sample=sample: (
            dmfroc.estimate(measure, *sample, method=dmfroc.Bootstrap(100))
        )
        for measure in ("accuracy", "hand_till")
        for kind, sample in SAMPLES.items()
    },
    **{
        f"items/{kind}": lambda scores=scores, options=options: dmfroc.applications.items(
            scores, **options
        )
        for kind, (scores, options) in {
            "right": (RIGHT, {}),
            "one": ({"a": RIGHT["a"]}, {"level": 0.8}),
            "graded": (GRADES, {"bounds": (-5, 6), "groups": GROUPS}),
            "unbounded": (GRADES, {"bounds": (-np.inf, np.inf), "test": dmfroc.Equivalence(0.1)}),
            "by": (RIGHT, {"by": {"site": SITE, "third": np.arange(N) % 3}}),
            "judge": (VERIFIED, {"judge": {n: np.round(x * 0.8) for n, x in RIGHT.items()}}),
            "greater": (RIGHT, {"test": dmfroc.NonInferiority(0.05), "simultaneous": True}),
        }.items()
    },
    **{
        f"multilabel/{kind}": lambda options=options: dmfroc.applications.multilabel(
            LABEL_TABLE, **options
        )
        for kind, options in {
            "macro": {"y_score": LABEL_SCORES},
            "micro": {"y_score": LABEL_SCORES, "average": "micro", "measure": "average_precision"},
            "labels": {"y_pred": {n: x > 0.4 for n, x in LABEL_SCORES.items()}, "groups": GROUPS},
            "one": {"y_score": SCORES, "level": 0.8, "labels": ["x", "y", "z"]},
        }.items()
    },
    "calibration_tests": lambda: dmfroc.applications.calibration_tests(NAMED, SCORES, n_draws=99),
    "calibration_tests/two": lambda: dmfroc.applications.calibration_tests(
        Y, P, n_draws=99, random_state=5
    ),
    **{
        f"confidence_sequence/{measure}": lambda measure=measure: streamed(measure, level=0.9)
        for measure in ("accuracy", "hand_till", "dmf_auc")
    },
    **{
        f"confidence_sequence/two/{measure}": lambda measure=measure: streamed(
            measure, (Y, np.c_[1 - P, P])
        )
        for measure in ("brier_score", "recall", "hand_till")
    },
    **{
        f"meta/whole/{model}": lambda model=model: summary_of(model)
        for model in ("bivariate", "multiclass")
    },
}

ROOMS = ANALYSES | DENSITIES | DISPLAYS | DECISIONS | CURVES | PAPERS | META_ANALYSIS
