"""Printed numbers of others beside ours, on the same designs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from _runner import Study, grid
from _study import RESULTS, arguments, markdown_table, run_studies, write_page
from scipy import integrate, optimize, stats
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, lasso_path
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import dmfroc
from dmfroc import Predictions, compare, compare_runs, estimate, measures
from dmfroc.applications import PublishedFigures, judged_shares, nested_cross_validation, plan
from dmfroc.applications.shares_by_judge import inverted_shares
from dmfroc.inference.units import sample_of
from dmfroc.multiclass.band import band_around
from dmfroc.multiclass.curve import curve_of
from dmfroc.multiclass.rates import CurveOptions

ROC = Callable[[np.ndarray], np.ndarray]
DENSE = np.unique(np.concatenate([np.linspace(0, 1, 1001), np.geomspace(1e-4, 0.1, 100)]))
N_LARGE = 100_000
N_ALPHAS, N_CANDIDATES, N_FEATURES, N_ACTIVE = 100, 10, 1000, 10
JUDGE = np.array([[0.7, 0.3], [0.1, 0.9]])
N_OF_JUDGE = 4000
N_SAMPLES = 60


class Population(NamedTuple):
    """Scores of the negatives and of the positives, as distributions of scipy."""

    negatives: stats.rv_continuous
    positives: stats.rv_continuous

    def roc(self, fpr: np.ndarray) -> np.ndarray:
        """Return the true positive rates."""
        return self.positives.sf(self.negatives.isf(fpr))


class Mixture:
    """Two normal distributions of unit variance, with what is needed of a distribution."""

    def __init__(self, gap: float, weight: float) -> None:
        self.gap, self.weight = gap, weight
        x = np.linspace(-8, gap + 8, 4001)
        self._grid = x, self.sf(x)

    def sf(self, x: np.ndarray) -> np.ndarray:
        """Return the shares above."""
        return (1 - self.weight) * stats.norm.sf(x) + self.weight * stats.norm.sf(x - self.gap)

    def isf(self, p: np.ndarray) -> np.ndarray:
        """Return above what these shares lie."""
        x, of_x = self._grid
        return np.interp(-np.asarray(p), -of_x, x)

    def rvs(self, size: int, random_state: np.random.Generator) -> np.ndarray:
        """Draw scores."""
        is_second = random_state.random(size) < self.weight
        return random_state.normal(size=size) + self.gap * is_second


def population(generator: np.random.Generator, family: str) -> Population:
    """Draw a population: its AUC, uniform from .55 to .99, and a shape."""
    auc = generator.uniform(0.55, 0.99)
    if family == "Student t":
        df = generator.uniform(1.1, 30)
        return shifted(stats.t(df), lambda loc: stats.t(df, loc=loc), auc)
    if family == "Gaussian, unequal variances":
        sd = generator.uniform(0.2, 5)
        loc = stats.norm.ppf(auc) * np.sqrt(1 + sd**2)
        return Population(stats.norm(), stats.norm(loc, sd))
    if family == "logit-normal":
        # Ranks are those of normal scores, whatever the standard deviation
        return Population(stats.norm(), stats.norm(np.sqrt(2) * stats.norm.ppf(auc)))
    if family == "Weibull":
        shape = generator.uniform(0.5, 5)
        return Population(
            stats.weibull_min(shape),
            stats.weibull_min(shape, scale=(auc / (1 - auc)) ** (1 / shape)),
        )
    if family == "gamma":
        shape = generator.uniform(0.5, 5)
        return shifted(stats.gamma(shape), lambda x: stats.gamma(shape, scale=np.exp(x)), auc)
    if family == "beta":
        a = generator.uniform(0.5, 10)

        def mirrored(b: float) -> Population:
            return Population(stats.beta(a, a * np.exp(b)), stats.beta(a * np.exp(b), a))

        b = optimize.brentq(lambda b: auc_of(mirrored(b).roc) - auc, 0, 5)
        return mirrored(b)
    negatives = Mixture(generator.uniform(0.1, 4), generator.uniform(0.1, 0.9))
    return shifted(negatives, lambda loc: stats.norm(loc), auc)


FAMILIES = ("Student t", "Gaussian, unequal variances", "gamma", "Weibull", "logit-normal")
FAMILIES += ("bimodal", "beta")


def auc_of(roc: ROC) -> float:
    """Return the area under a curve."""
    fpr = stats.norm.cdf(np.linspace(-6, 6, 801))
    return float(integrate.trapezoid(roc(fpr), fpr)) + (1 - fpr[-1])


def shifted(negatives: object, positives_at: Callable, auc: float) -> Population:
    """Move the positives until the area is as wanted."""
    place = optimize.brentq(
        lambda x: auc_of(Population(negatives, positives_at(x)).roc) - auc, -10, 200, xtol=1e-6
    )
    return Population(negatives, positives_at(place))


def band(generator: np.random.Generator, family: str, n: int, prevalence: float) -> dict:
    """Say whether the simultaneous band of a sample holds the curve, and its area."""
    chosen = population(generator, family)
    n_positive = round(prevalence * n)
    scores = np.append(
        chosen.negatives.rvs(size=n - n_positive, random_state=generator),
        chosen.positives.rvs(size=n_positive, random_state=generator),
    )
    sample = Predictions.from_arrays(np.repeat([0, 1], [n - n_positive, n_positive]), scores)
    options = CurveOptions()
    curve = curve_of(sample, options)
    found = band_around(curve, sample_of(sample), 0.95, options, "simultaneous")
    row = {"area": float(np.trapezoid(found.high - found.low, found.fpr))}
    for name, fpr in (("printed", np.linspace(0, 1, n - n_positive + 1)), ("dense", DENSE)):
        inside = fpr[(fpr > 0) & (fpr < 1)]
        low, high = (np.interp(inside, found.fpr, ends) for ends in (found.low, found.high))
        tpr = chosen.roc(inside)
        row[name] = bool(((low <= tpr + 1e-9) & (tpr <= high + 1e-9)).all())
    return row


def winner(generator: np.random.Generator, measure: str, n: int) -> dict:
    """Select the best of the ten candidates of 100 lassos, and bound its performance."""
    x = generator.normal(size=(n, N_FEATURES))
    strength = x[:, :N_ACTIVE].sum(axis=1)
    y = (generator.random(n) < expit(strength)).astype(int)
    train, valid, test = np.split(np.arange(n), [n // 2, 3 * n // 4])
    alphas, paths, _ = lasso_path(x[train], y[train] - y[train].mean(), alphas=N_ALPHAS, eps=0.05)
    validated = x[valid] @ paths + y[train].mean() - 0.5
    quality = [
        ((s > 0) == y[valid]).mean() if measure == "accuracy" else roc_auc_score(y[valid], s)
        for s in validated.T
    ]
    chosen = np.argsort(quality, kind="stable")[-N_CANDIDATES:]
    rest, mean = np.append(train, valid), y[: 3 * n // 4].mean()
    _, paths, _ = lasso_path(x[rest], y[rest] - mean, alphas=alphas)
    scores = x @ paths + mean - 0.5
    candidates = {f"{c}": scores[test, c] for c in chosen}
    labels = {name: (s > 0).astype(int) for name, s in candidates.items()}
    given = {"y_pred": labels} if measure == "accuracy" else {"y_score": candidates}
    found = compare(y[test], measures=measure, simultaneous=True, **given).winner
    path = paths[:, int(found.name)]
    rows = generator.normal(size=(N_LARGE, 2))
    size, common = np.linalg.norm(path), path[:N_ACTIVE].sum() / np.sqrt(N_ACTIVE)
    signal = np.sqrt(N_ACTIVE) * rows[:, 0]
    of_model = common * rows[:, 0] + np.sqrt(max(size**2 - common**2, 0)) * rows[:, 1] + mean - 0.5
    positive = expit(signal)
    if measure == "accuracy":
        truth = np.where(of_model > 0, positive, 1 - positive).mean()
    else:
        order = np.argsort(of_model)
        below = np.cumsum(1 - positive[order]) - (1 - positive[order]) / 2
        truth = (positive[order] @ below) / (positive.sum() * (1 - positive).sum())
    return {"limit": found.limit, "truth": float(truth), "holds": bool(found.limit <= truth)}


def calibration(generator: np.random.Generator, design: str, degree: float) -> dict:
    """Estimate the squared calibration error of 1,000 vectors of the largest probabilities.

    The logit of two classes is multiplied by the degree; of ten, the probability of the first
    class is smaller by it, and that of the second larger.
    """
    if design == "two classes":
        p = generator.random(1000)
        y = (generator.random(1000) < expit(degree * logit(p))).astype(int)
        grid_of_p = (np.arange(100_000) + 0.5) / 100_000
        truth = ((grid_of_p - expit(degree * logit(grid_of_p))) ** 2).mean()
        measure = measures.squared_calibration_error(n_bins=50)
    else:
        p = generator.dirichlet(np.ones(10), size=1000)
        true = p.copy()
        for place, sign in ((-1, -1), (-2, 1)):
            true[np.arange(1000), np.argsort(p)[:, place]] += sign * degree
        y = (true.cumsum(axis=1)[:, :-1] < generator.random((1000, 1))).sum(axis=1)
        truth, measure = 2 * degree**2, measures.squared_calibration_error(n_bins=20, k=2)
    found = Predictions.from_arrays(y, p, labels=list(range(2 if p.ndim == 1 else 10)))
    low, high = estimate(measure, found, level=0.9).interval
    return {"width": high - low, "holds": bool(low <= truth <= high)}


LEARNER = LogisticRegression(C=100)  # hardly a penalty


def features(generator: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = generator.normal(size=(n, 20))
    return x, (generator.random(n) < expit(x[:, :5].sum(axis=1))).astype(int)


def accuracy_of(coefficients: np.ndarray, intercept: float) -> float:
    """Return the accuracy of a linear rule in the population of `features`, by quadrature."""
    size = np.linalg.norm(coefficients)
    rho = coefficients[:5].sum() / np.sqrt(5) / size
    x = np.linspace(-8, 8, 2001)
    says_one = stats.norm.cdf((rho * x + intercept / size) / np.sqrt(max(1 - rho**2, 1e-12)))
    one = expit(np.sqrt(5) * x)
    correct = one * says_one + (1 - one) * (1 - says_one)
    return float(integrate.trapezoid(correct * stats.norm.pdf(x), x))


def truth_of_learner(n: int) -> float:
    """Return the mean accuracy over training sets."""
    generator = np.random.default_rng(n)
    fits = (LEARNER.fit(*features(generator, n)) for _ in range(400))
    return float(np.mean([accuracy_of(fit.coef_[0], fit.intercept_[0]) for fit in fits]))


TRUTH: dict[int, float] = {}


def generalization(generator: np.random.Generator, n: int) -> list[dict]:
    """Estimate the accuracy of logistic regression on 20 features by several methods."""
    x, y = features(generator, n)
    seed = int(generator.integers(2**31))
    truth = TRUTH.setdefault(n, truth_of_learner(n))
    fold, said = np.empty(n, int), np.empty(n, int)
    for number, (train, test) in enumerate(
        StratifiedKFold(10, shuffle=True, random_state=seed).split(x, y)
    ):
        said[test], fold[test] = clone(LEARNER).fit(x[train], y[train]).predict(x[test]), number
    learner = dmfroc.Folds(fold, target="learner")
    of_fits = estimate("accuracy", y, y_pred=said, folds=fold)
    intervals = {
        "corrected t (10 folds)": estimate("accuracy", y, y_pred=said, folds=learner).interval,
        "10 folds": of_fits.interval,
    }
    plain = of_fits.value
    settings = {"conservative Z (10 x 15)": (10, 10, "conservative_z")}
    for n_repeats in (20, 200) if seed % 8 == 0 else (20,):
        settings[f"nested cross-validation, {n_repeats} repeats"] = (5, n_repeats, "nested")
    for name, (cv, n_repeats, variance) in settings.items():
        found = nested_cross_validation(
            LEARNER, x, y, measure="accuracy", cv=cv, n_repeats=n_repeats, variance=variance,
            random_state=seed,
        )  # fmt: skip
        intervals[name] = found.estimate.interval
    return [
        {"method": name, "width": high - low, "holds": bool(low <= truth <= high), "plain": plain}
        for name, (low, high) in intervals.items()
    ]


def studies() -> dict[str, Study]:
    common = {"seed": 1, "directory": RESULTS}
    bands = grid(family=["Student t"], n=[30, 100, 300, 1000], prevalence=[0.5])
    bands += grid(family=["Student t"], n=[1000], prevalence=[0.1])
    others = grid(family=list(FAMILIES[1:]), n=[100], prevalence=[0.5])
    best = [{"measure": "hand_till", "n": 400}, {"measure": "accuracy", "n": 200}]
    errors = grid(design=["two classes"], degree=[1.0, 0.5, 0.0])
    errors += grid(design=["ten classes"], degree=[0.0, 0.05, 0.1])
    functions: dict[str, tuple[Callable, list[dict]]] = {
        "winner": (winner, best),
        "learner": (generalization, [{"n": 100}]),
        "bands": (band, bands),
        "calibration": (calibration, errors),
        "other_bands": (band, others),
    }
    return {
        name: Study(f"published_{name}", function, settings, replications=N_SAMPLES, **common)
        for name, (function, settings) in functions.items()
    }


def share(values: pd.Series) -> str:
    """Return a share in percent with its Monte Carlo error."""
    p, n = values.mean(), len(values)
    return f"{100 * p:.1f} ± {100 * np.sqrt(max(p * (1 - p), 1 / n) / n):.1f}"


PRINTED_BANDS = {
    ("Student t", 30, 0.5): ("98.5 (.714)", "99.6 to 100 (.78)", "91.1"),
    ("Student t", 100, 0.5): ("95.7 (.458)", "99.6 to 100 (.55)", "80.3 (.223)"),
    ("Student t", 300, 0.5): ("91.5 (.260)", "99.6 to 100 (.37)", ""),
    ("Student t", 1000, 0.5): ("89.4 (.136)", "99.6 to 100 (.22)", "34.2 (.072)"),
    ("Student t", 1000, 0.1): ("97.9 to 99.1 (.26), all populations", "", ""),
    ("Gaussian, unequal variances", 100, 0.5): ("98.3 (.434)", "(.55)", "95.9 (.216)"),
    ("gamma", 100, 0.5): ("99.2 (.476)", "(.55)", "46.9 (.241)"),
}


def bands_table(*tables: pd.DataFrame) -> str:
    keys = ["family", "n", "prevalence"]
    rows = [
        [
            *key,
            f"{share(part['printed'])} ({part['area'].mean():.3f})",
            share(part["dense"]),
            *PRINTED_BANDS[key],
        ]
        for key, part in pd.concat(tables).groupby(keys, sort=False)
        if key in PRINTED_BANDS
    ]
    header = ["population", "n", "prevalence", "ours, their grid (area)"]
    header += ["ours, dense grid", "envelope with Wilson floor", "Kolmogorov-Smirnov"]
    return markdown_table([*header, "Working-Hotelling"], rows)


def winner_table(table: pd.DataFrame) -> str:
    printed = {
        "hand_till": "MABT 96.5 (.8049 of .8764); Sidak 96.7 (.7948); naive 91.7 (.8170 of .8742)",
        "accuracy": "MABT 95.2 (.5596 of .6721); Wilson 95.3 (.5505); Wald 93.4 (.5566 of .6668)",
    }
    rows = [
        [
            {"hand_till": "AUC", "accuracy": "accuracy"}[measure],
            n,
            len(part),
            f"{share(part['holds'])} ({part['limit'].mean():.4f} of {part['truth'].mean():.4f})",
            printed[measure],
        ]
        for (measure, n), part in table.groupby(["measure", "n"], sort=False)
    ]
    header = ["measure", "n", "samples", "ours: covers, % (mean bound of truth)", "printed"]
    return markdown_table(header, rows)


def calibration_table(table: pd.DataFrame) -> str:
    printed = {
        ("two classes", 1.0): "90 (.003), bootstrap 18.5 (.007)",
        ("two classes", 0.5): "98, between the ends",
        ("two classes", 0.0): "91 (.032), bootstrap 84 (.0325)",
        ("ten classes", 0.0): "97, bootstrap 0",
        ("ten classes", 0.05): "",
        ("ten classes", 0.1): "90, bootstrap 14",
    }
    rows = [
        [design, f"{degree:g}", len(part), f"{share(part['holds'])} ({part['width'].mean():.4f})",
         printed[design, degree]]
        for (design, degree), part in table.groupby(["design", "degree"], sort=False)
    ]  # fmt: skip
    header = ["design", "degree", "samples", "ours: covers, % (length)"]
    return markdown_table([*header, "theirs (readings)"], rows)


def learner_table(table: pd.DataFrame) -> str:
    printed = {
        "corrected t (10 folds)": ".87",
        "10 folds": ".81",
        "conservative Z (10 x 15)": ".93 (.175 to .23, of all data sets)",
        "nested cross-validation, 20 repeats": "",
        "nested cross-validation, 200 repeats": ".945 (.175, of all data sets)",
    }
    rows = [
        [name, len(part), share(part["holds"]), f"{part['width'].mean():.3f}", printed[name]]
        for name, part in table.groupby("method", sort=False)
    ]
    return markdown_table(["method", "samples", "covers, %", "mean width", "printed"], rows)


def readers_table() -> str:
    folder = os.environ.get("DMFROC_EXTERNAL_DATA")
    if folder is None:
        return NO_DATA
    y, scores = readings(Path(folder) / "van_dyke.csv")
    left = compare_runs(y, scores, measures="hand_till", covariances="leave_one_out")
    own = compare_runs(y, scores, measures="hand_till")
    delong = compare_runs(y, scores, measures="hand_till", covariances="delong")
    unbiased = compare_runs(y, scores, measures="hand_till", covariances="unbiased")
    squares, n = left.mean_squares, len(y)
    rest = squares["classifiers:runs"]
    of_all = (1 - 1 / (2 * n)) / (1 - 1 / n)  # if one of the cases of both tests is left out
    nested = rest + 5 * left.covariances.same_classifier * of_all
    rows = []
    for name, test, printed in (
        ("jackknife", left.random_runs, "F 4.456319, df 15.25967, p .05166569"),
        ("DeLong", delong.random_runs, "F 4.484854, df 15.06611, p .05123303"),
        ("influences, the default", own.random_runs, "(DeLong's, as above)"),
        ("unbiased", unbiased.random_runs, "F 4.489614, df 15.03418, p .0511618"),
        ("fixed readers, jackknife", left.fixed_runs, "X² 5.475953, p .01927984"),
        ("fixed cases", delong.fixed_cases, "F 8.704, df 4, p .04195875"),
    ):
        df = test.degrees_of_freedom[1]
        ours = f"F {test.statistic:.6f}, df {df:.5f}, p {test.p_value:.8f}"
        rows.append([name, ours.replace("df inf, ", ""), printed])
    rows.append(
        ["cases nested in tests, from the components of the jackknife",
         f"F {squares['classifiers'] / nested:.6f}, df {4 * (nested / rest) ** 2:.5f}",
         "F 2.104491, df 68.42325"]
    )  # fmt: skip
    return markdown_table(["analysis", "ours", "printed"], rows)


def readings(path: Path) -> tuple[np.ndarray, dict[str, list[np.ndarray]]]:
    """Return the truth of the cases, and the ratings by treatment and reader."""
    table = pd.read_csv(path).sort_values("case")
    by = {key: part.set_index("case") for key, part in table.groupby(["treatment", "reader"])}
    cases = next(iter(by.values())).index
    treatments, readers = (sorted({key[i] for key in by}) for i in (0, 1))
    scores = {f"{t}": [by[t, r].loc[cases, "rating"].to_numpy(float) for r in readers]
              for t in treatments}  # fmt: skip
    return next(iter(by.values())).loc[cases, "truth"].to_numpy(int), scores


def pairs_table() -> str:
    cells = {(1, 1, 1): 319, (1, 1, 0): 78, (1, 0, 1): 22, (1, 0, 0): 32} | {
        **{(0, 1, 1): 31, (0, 1, 0): 53, (0, 0, 1): 22, (0, 0, 0): 155}
    }
    y, first, second = np.repeat([*cells], [*cells.values()], axis=0).T
    rows = []
    for title, measure, turned, printed in (
        ("relative sensitivity", "recall", True, ".8589421 (.8143843 to .9059378)"),
        ("relative predictive value", "precision", True, "1.04860694, SE of the log .01991247"),
        ("ratio of positive likelihood ratios", "positive_likelihood_ratio", False,
         ".735 (.566 to .953)"),
        ("ratio of negative likelihood ratios", "negative_likelihood_ratio", False,
         ".577 (.441 to .755)"),
    ):  # fmt: skip
        tests = {"2": second, "1": first} if turned else {"1": first, "2": second}
        [found] = compare(y, y_pred=tests, measures=measure, scale="ratio").differences
        low, high = found.interval
        ours = f"{found.value:.7f} ({low:.7f} to {high:.7f}), SE {found.standard_error:.7f}"
        rows.append([title, ours, printed])
    return markdown_table(["of two tests of the same patients", "ours", "printed"], rows)


def sizes_table() -> str:
    normal = PublishedFigures(prevalence=0.018, auc=0.8, risks=("normal", -5, 2.5))
    beta = PublishedFigures(risks=("beta", 0.5, 0.5))
    rows = [
        [f"{name}, {title}", f"n = {plan(figures, measure=name, half_width=x).n:,}", printed]
        for name, title, figures, x, printed in (
            ("calibration_slope", "normal logits", normal, 0.1,
             "n = 4,501 by simulation, 4,554 by quadrature"),
            ("calibration_slope", "risks of Beta(.5, .5)", beta, 0.1,
             "n = 1,641 by simulation, 1,644 by quadrature"),
            ("hand_till", "AUC .8", normal, 0.05, "n = 4,252"),
            ("observed_expected_ratio", "prevalence .018", normal, 0.5, "n = 905"),
        )
    ]  # fmt: skip
    of_auc = plan(PublishedFigures(prevalence=0.5, auc=0.85), measure="hand_till", half_width=0.05)
    for n, printed in ((80, "SE .0437"), (120, "SE .0356")):
        error = of_auc.curve([n])["standard_error"].iloc[0]
        rows.append([f"hand_till, AUC .85, prevalence .5, n = {n}", f"SE {error:.4f}", printed])
    return markdown_table(["measure", "ours", "printed"], rows)


PRINTED_JUDGE = {0.0: (97.3, 0.098), 0.3: (95.6, 0.174), 0.5: (95.2, 0.154), 1.0: (97.5, 0.064)}


def judge_cell(judge: np.ndarray, shares: np.ndarray, n_of_class: int) -> tuple[list[str], str]:
    generator, covers, widths = np.random.default_rng(5), [], []
    for _ in range(N_OF_JUDGE):
        verified = np.array([generator.multinomial(n_of_class, x) for x in judge])
        others = generator.multinomial(1000, shares @ judge)
        low, high = inverted_shares(verified, others, 0.95)[2].T
        covers.append((low <= shares + 1e-12) & (shares - 1e-12 <= high))
        widths.append(high - low)
    return [share(pd.Series(x)) for x in np.transpose(covers)], f"{np.mean(widths):.3f}"


def judge_table() -> str:
    rows = []
    for theta, (covers, width) in PRINTED_JUDGE.items():
        [_, ours], own = judge_cell(JUDGE, np.array([1 - theta, theta]), 250)
        rows.append([f"{theta:g}", f"{ours} ({own})", f"{covers} ({width})"])
    return markdown_table(["share", "ours (width)", "theirs (width)"], rows)


def example() -> str:
    """Return the printed example of a judge."""
    y = [0] * 200 + [1] * 200 + [None] * 1000
    judge = np.repeat([0, 1, 0, 1, 0, 1], [140, 60, 20, 180, 600, 400])
    found = judged_shares(y, judge)[1]
    low, high = found.interval
    return f"{found.value:.5f} ({low:.5f} to {high:.5f})"


def page(tables: dict[str, pd.DataFrame]) -> str:
    return f"""# Beside the tables of others

Made by `experiments/published_tables.py`. What follows ± is the Monte Carlo error of one standard
deviation. Readings of figures are good to about .01.

## Simultaneous bands of ROC curves

Each sample is of another population: its AUC is uniform between .55 and .99, and its shape is
random. Nominal coverage is 95 %; the area between the ends is in parentheses. Their grid has one
false positive rate for each negative case, the dense grid 1,100. Source: `studroc_paper` by
Delaney-Busch, results of 24 February 2026, 1,000 samples a cell; ours has
{tables["bands"].replication.nunique()}. Four more populations are in
`experiments/results/published_other_bands.parquet`.

{bands_table(tables["bands"], tables["other_bands"])}

## The best of many models

Half of n rows trains 100 lassos, a quarter selects ten, which are fitted again to both parts, and
another quarter selects the best of these ten. The one-sided 95 % bound is
`compare(..., simultaneous=True).winner.limit`. 1,000 normal features, ten of them with a
coefficient of 1 on the logit. Our lassos are linear, theirs logistic. Source: the stored runs of
`mabt-experiments` by Rink, the first 1,500, Monte Carlo error .6.

{winner_table(tables["winner"])}

## Calibration error

The squared error of the vector of the largest probabilities of 1,000 rows, in bins of equal width.
Two classes: one probability, 50 bins; probabilities are uniform, and the degree multiplies their
logits. Ten classes: two probabilities, 20 bins each; vectors are uniform, the most probable class
occurs less often by the degree and the second more often. Nominal coverage is 90 %. Ours is
`squared_calibration_error`. Source: Sun and others, arXiv 2408.08998, readings of figures, and
their code.

{calibration_table(tables["calibration"])}

## Performance of a learner

Logistic regression with hardly a penalty, 100 rows, 20 normal features, five of them with a
coefficient of 1; accuracy. The truth is the mean over training sets of 100. Source: arXiv
2409.18836, readings of figures; their coverage is that of all data sets, and their widths are
medians of these, where ours are of this one design.

{learner_table(tables["learner"])}
## Readers

Ratings of 114 cases by five readers with two treatments (van Dyke). Source: the vignette of
MRMCaov.

{readers_table()}

## Two tests of the same patients

Paired1 of DTComPair, 712 patients. Their errors divide by n and use normal quantiles; ours divide
by n - 1 and use t quantiles.

{pairs_table()}

## Sample sizes

Prevalence .018, AUC .8, logits normal with mean -5 and standard deviation 2.5; the width of the
interval is .2 for the slope, .1 for the AUC and 1 for the ratio of observed to expected events.
Sources: the tests of pmvalsampsize, and for standard errors presize.

{sizes_table()}

## A judge calibrated by class

A judge is right on 70 % of the zeros and 90 % of the ones, known from 250 of each. It labels 1,000
others, and the share of ones is asked about. Source: arXiv 2511.21140, the design of figure 4, run
again with their code. Both have {N_OF_JUDGE:,} samples.

{judge_table()}

The example of their code: printed .16667 (.05635 to .26273), ours {example()}.
{VERDICT}"""


NO_DATA = "Set DMFROC_EXTERNAL_DATA to a directory that holds van_dyke.csv."
VERDICT = """
## Ahead, equal, behind

* **Ahead**: bands of ROC curves, which cover 95 % or more with 3 to 13 % less area than the
  envelope.
* **Equal**: readers and paired tests, to all digits but for n - 1. Sample sizes. The judge of two
  classes. The bound of the best of many models by the AUC.
* **Behind**: the bound of the best by accuracy. Calibration error, whose intervals cover 95 to
  100 % where 90 are asked for, and are longer than theirs of two classes. Intervals for a learner,
  which are half as wide again as an exact one or wider.
"""


def main() -> None:
    global N_LARGE, N_OF_JUDGE, N_FEATURES, N_ALPHAS
    options = arguments(__doc__, is_study=True)
    if options.quick:
        N_LARGE, N_OF_JUDGE, N_FEATURES, N_ALPHAS = 2000, 20, 100, 30
    text = page(run_studies(studies(), options))
    if options.quick:
        print(text)
    elif NO_DATA in text:
        raise OSError(NO_DATA)
    else:
        write_page("published_tables", text)


if __name__ == "__main__":
    main()
