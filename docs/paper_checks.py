"""What the papers' formulas give for the data of `docs/papers.csv`, computed without dmfroc.

The column `check` of the table is evaluated with these names. Loops and integrals are plain, so
that they share nothing with the package's own ways.
"""

import re
from pathlib import Path

import numpy as np
from scipy import integrate, optimize, special, stats
from sklearn.isotonic import IsotonicRegression

TP, FP, FN, TN = 30, 12, 30, 28  # Powers's table 2, upper
UPPER, LOWER = (TP, FP, FN, TN), (56, 20, 12, 12)
C = np.array([[50, 10, 5], [3, 20, 2], [2, 5, 3]]) / 100  # E2, rows are predicted
PRED, REAL = C.sum(axis=1), C.sum(axis=0)
E3 = np.array([1, 1, 0, 0, 1, 0]), np.array([0.9, 0.6, 0.5, 0.4, 0.4, 0.2])
TABLE2 = np.array([1, 1, 0, 1, 0]), np.array([0.9, 0.6, 0.4, 0.4, 0.2])
_SCORES = np.array(
    [90, 80, 70, 60, 55, 54, 53, 52, 51, 50.5, 40, 39, 38, 37, 36, 35, 34, 33, 30, 10]
)
E4 = np.array([1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0]), _SCORES / 100
TABLE1 = np.where(np.arange(20) == 13, 1, E4[0]), E4[1]
E5 = (
    np.array([0, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0]),
    np.array([0.25, 0.25, 0.5, 0.5, 0.5, 0.75, 1, 0, 0.1, 0.6, 0.9, 0.26]),
)
_THREE = [[7, 2, 1], [4, 4, 2], [5, 3, 2], [2, 6, 2], [3, 3, 4], [1, 3, 6], [3, 2, 5]]
E6 = np.array([0, 0, 1, 1, 2, 2, 1]), np.array(_THREE) / 10
_GENERATOR = np.random.default_rng(0)
_LABELS = _GENERATOR.integers(3, size=90)
E7 = _LABELS, _GENERATOR.normal(size=(90, 3)) + np.eye(3)[_LABELS]


def numbers(text):
    """Return the numbers of a text, or of several."""
    joined = text if isinstance(text, str) else " ; ".join(text)
    found = re.findall(r"(?<![\w.])[-+]?\d[\d,]*\.?\d*(?:e-?\d+)?", joined)
    return np.array([float(number.replace(",", "").rstrip(".")) for number in found])


def points(y, s):
    """Return thresholds, from infinity down, with true and false positives."""
    t = np.append(np.inf, np.unique(s)[::-1])
    called = s >= t[:, None]
    return t, (called & (y == 1)).sum(axis=1), (called & (y == 0)).sum(axis=1)


def rates(y, s):
    """Return false and true positive rates."""
    _, tp, fp = points(y, s)
    return fp / fp[-1], tp / tp[-1]


def share_of_pairs(y, s, ties=0.5):
    """Return how often a positive's score is above a negative's, equal ones counted by `ties`."""
    difference = s[y == 1][:, None] - s[y == 0]
    return np.mean((difference > 0) + ties * (difference == 0))


def pair_auc(i, j, y, s):
    """Return A(i given j): class i against class j by column i."""
    kept = (y == i) | (y == j)
    return share_of_pairs((y[kept] == i).astype(int), s[kept, i])


def hull_of(x, y):
    """Return the vertices of the upper hull: from each, the steepest way to the right."""
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    kept = [np.flatnonzero(x == x[0])[0], np.flatnonzero(x == x[0])[-1]]
    if y[kept[0]] == y[kept[1]]:
        kept.pop()
    while x[at := kept[-1]] < x[-1]:
        right = np.flatnonzero(x > x[at])
        slopes = (y[right] - y[at]) / (x[right] - x[at])
        kept.append(right[np.isclose(slopes, slopes.max())][-1])
    return x[kept], y[kept]


def best_thresholds(y, s, gain):
    """Return the thresholds with the largest gain, a function of true and false positives."""
    t, tp, fp = points(y, s)
    found = gain(tp, fp)
    return t[np.isclose(found, found.max())]


def calibrated(y, s, at):
    """Return isotonic probabilities."""
    return IsotonicRegression().fit(s, y).predict(at)


def lift_points(y, s):
    """Return the share predicted positive and the true positives."""
    _, tp, fp = points(y, s)
    return (tp + fp) / len(y), tp


def gains(tp, fp, fn, tn):
    """Return recall gain and precision gain from precision, recall and prevalence."""
    pi, prec, rec = (tp + fn) / (tp + fp + fn + tn), tp / (tp + fp), tp / (tp + fn)
    return (rec - pi) / ((1 - pi) * rec), (prec - pi) / ((1 - pi) * prec)


def f_gain_of(tp, fp, fn, tn):
    """Return the gain of F1."""
    pi, f = (tp + fn) / (tp + fp + fn + tn), 2 * tp / (2 * tp + fp + fn)
    return (f - pi) / ((1 - pi) * f)


def gain_curve(y, s):
    """Return recall gain and precision gain along a ROC curve, finely interpolated in counts."""
    fpr, tpr = (
        np.interp(np.linspace(0, 1, 400_001), np.linspace(0, 1, len(r)), r) for r in rates(y, s)
    )
    p, n = y.sum(), (1 - y).sum()
    tp, fp = tpr[tpr >= y.mean()] * p, fpr[tpr >= y.mean()] * n
    return gains(tp, fp, p - tp, n - fp)


def mean_over_alpha(y, s, of):
    """Integrate a function of both gains over theorem 3's uniform operating condition."""
    recall, precision = gain_curve(y, s)
    alpha = recall / y.mean() - precision / (1 - y.mean())
    return np.trapezoid(of(recall, precision), alpha) / (alpha[-1] - alpha[0])


def precision_recall_area(y, s):
    """Integrate precision over recall, with counts straight between the points."""
    _, tp, fp = points(y, s)
    u = np.linspace(1e-9, 1, 20_001)[:, None]
    tp, fp = (x[:-1] + u * np.diff(x) for x in (tp, fp))
    return np.trapezoid(tp / (tp + fp), tp / y.sum(), axis=0).sum()


def least_losses(y, s, c):
    """Return the least loss at costs c of a missed positive and 1 - c of a false alarm."""
    _, tp, fp = points(y, s)
    return np.min(np.outer(c, tp[-1] - tp) + np.outer(1 - c, fp), axis=1) / len(y)


COSTS = (np.arange(200_000) + 0.5) / 200_000


def best_of_costs(y, first, second):
    """Return how often the first loses less, less how often the second: Adams and Hand."""
    difference = least_losses(y, second, COSTS) - least_losses(y, first, COSTS)
    belief = np.minimum(COSTS, 1 - COSTS)
    return np.sign(np.round(difference, 12)) @ belief / belief.sum()


def h_measure_of(y, s):
    """Return one minus the mean least loss over that of a classifier without information."""
    belief = COSTS * (1 - COSTS)
    trivial = np.minimum(COSTS * y.mean(), (1 - COSTS) * (1 - y.mean()))
    return 1 - (least_losses(y, s, COSTS) @ belief) / (trivial @ belief)


def kappa_along(y, s, expected):
    """Integrate kappa over the false positive rate, with its chance agreement as given."""
    fpr, tpr = rates(y, s)
    x = np.linspace(0, 1, 200_001)
    places = np.linspace(0, 1, len(fpr))
    fpr, tpr = np.interp(x, places, fpr), np.interp(x, places, tpr)
    pi = y.mean()
    bias, right = pi * tpr + (1 - pi) * fpr, pi * tpr + (1 - pi) * (1 - fpr)
    chance = expected(pi, bias)
    return np.trapezoid((right - chance) / (1 - chance), fpr)


def volume(y, s, correct):
    """Return the share of triples, one observation of each class, that are sorted correctly."""
    of = [s[y == k] for k in range(3)]
    return np.mean([correct(np.array([a, b, c])) for a in of[0] for b in of[1] for c in of[2]])


def best_sum(triple):
    """Return whether the right assignment of a triple has the largest sum; ties share."""
    orders = np.array([[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    sums = triple[np.arange(3), orders].sum(axis=1)
    best = np.isclose(sums, sums.max())
    return best[0] / best.sum()


def best_order(triple):
    """Return whether the expected class rises along a triple; ties share."""
    values = triple @ np.arange(3)
    above = np.round(np.diff(values), 12)
    if (above < 0).any():
        return 0.0
    return 1 / [1, 2, 6][np.sum(above == 0)]


def auc_mu_of(y, s):
    """Return Kleiman and Page's AUC: pairs of classes by the difference of their columns."""
    found = []
    for i in range(3):
        for j in range(i):
            kept = (y == i) | (y == j)
            found.append(
                share_of_pairs((y[kept] == i).astype(int), np.round(s[kept, i] - s[kept, j], 12))
            )
    return np.mean(found)


PAIRS = np.array([(i, j) for i in range(3) for j in range(3) if i != j])
SIZES = np.bincount(E7[0])[PAIRS]  # of both classes of each pair
MAJORITY = np.bincount(E7[0]).argmax()
FACTORS = np.where(PAIRS == MAJORITY, 4.0, np.where(PAIRS[:, ::-1] == MAJORITY, 0.25, 1.0))
"""Section 5.3: TPR weights are raised if the majority is predicted, FPR if it is the reference."""


def pair_rates(y, s, pool="column", n=99):
    """Return true and false positive rates (pairs, 2, thresholds) at common quantiles."""
    levels, found = np.arange(1, n + 1) / (n + 1), []
    for i, j in PAIRS:
        scores = s[(y == i) | (y == j)][:, [i, j] if pool == "pooled" else [i]].ravel()
        t = np.append(np.inf, np.unique(scores)[::-1])
        tpr, fpr = (np.mean(s[y == k, i] >= t[:, None], axis=1) for k in (i, j))
        above = np.mean(scores >= t[:, None], axis=1) if pool == "pooled" else (tpr + fpr) / 2
        found.append([np.interp(levels, above, rate) for rate in (tpr, fpr)])
    return np.array(found)


LINKS = {
    "logit": (special.logit, special.expit),
    "probit": (special.ndtri, special.ndtr),
    "cloglog": (lambda p: np.log(-np.log1p(-p)), lambda eta: -special.expm1(-np.exp(eta))),
}


def centre(matrix, *, rank=1, link="logit", weights=1.0, shrinkage=0.0):
    """Fit equation 11 by Fisher scoring in turn; return rates of the mean pair, and of all.

    Steps change no predictor by more than one, and predictors stay finite.
    """
    q, _, n = matrix.shape
    m = matrix.reshape(q, 2 * n)
    weight = np.broadcast_to(weights, (q, 2))
    weight = np.repeat(weight / weight.mean(), n, axis=1) / n
    transform, inverse = LINKS[link]
    left, lengths, right = np.linalg.svd(transform(np.clip(m, 0.002, 0.998)), full_matrices=False)
    v, rows = left[:, :rank], (lengths[:rank, None] * right[:rank]).T
    v, rows = v * np.sign(v[:, :1].sum()), rows * np.sign(v[:, :1].sum())
    v, rows = v / v[:, :1].mean(), rows * v[:, :1].mean()

    def scoring(of, others, m, weight, prior):
        eta = np.clip(of @ others.T, -30, 3 if link == "cloglog" else 30)
        p = np.clip(inverse(eta), 1e-13, 1 - 1e-13)
        slope = (inverse(eta + 1e-6) - inverse(eta - 1e-6)) / 2e-6
        gradient = (weight * slope * (p - m) / (p * (1 - p))) @ others + prior * (1 - 1 / of)
        curvature = np.einsum(
            "ij,ja,jb->iab", weight * slope**2 / (p * (1 - p)), others, others
        ) + np.einsum("ia,ab->iab", prior / of**2, np.eye(rank))
        curvature += 1e-14 * np.eye(rank)
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        return step / np.maximum(1, np.abs(step @ others.T).max(axis=1, keepdims=True))

    for _ in range(500):
        rows = rows - scoring(rows, v, m.T, weight.T, 0.0)
        step = scoring(v, rows, m, weight, shrinkage)
        v = v - step
        if np.abs(step).max() < 1e-9:
            break
    return inverse(v.mean(axis=0) @ rows.T).reshape(2, n), inverse(v @ rows.T).reshape(q, 2, n)


def area_of_centre(matrix, **options):
    """Return equation 22: the area below the centre, with both corners."""
    tpr, fpr = centre(matrix, **options)[0]
    return np.trapezoid(np.concatenate([[0], tpr, [1]]), np.concatenate([[0], fpr, [1]]))


def deviance(m, p):
    """Return twice the binomial loss beyond that of the rates themselves."""
    return 2 * np.sum(special.xlogy(m, m / p) + special.xlogy(1 - m, (1 - m) / (1 - p)))


def least_deviance(m, link):
    """Return the deviance of the best rank-one fit, by a general optimizer."""
    m = np.array(m)

    def loss(x):
        return deviance(m, LINKS[link][1](np.outer(x[: len(m)], x[len(m) :])))

    start = np.ones(sum(m.shape))
    return optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-9}).fun


def jackknife_error(y, s):
    """Return the standard error of the DMF-AUC by leaving out one observation at a time."""
    kept = np.arange(len(y))
    values = np.array([area_of_centre(pair_rates(y[kept != i], s[kept != i])) for i in kept])
    of_classes = [values[y == k] for k in range(3)]
    return np.sqrt(sum((len(v) - 1) * v.var() for v in of_classes))


def binomial_error(y, s, draws=30):
    """Return the deviation of areas of rates drawn as independent binomials: section 3.6."""
    fitted, generator, sizes = (
        centre(pair_rates(y, s))[1],
        np.random.default_rng(0),
        SIZES[..., None],
    )
    drawn = [generator.binomial(sizes, fitted) / sizes for _ in range(draws)]
    return np.std([area_of_centre(m) for m in drawn])


def algorithm_as_printed(matrix, sweeps=200):
    """Run algorithm 1 as it is printed, and return its effects: equations 23 to 26."""
    m = matrix.reshape(len(matrix), -1)
    v, rows = np.ones(len(m)), np.zeros(m.shape[1])
    with np.errstate(all="ignore"):
        for _ in range(sweeps):
            for of_rows in (True, False):
                eta = np.outer(v, rows)
                mu = special.expit(eta)
                weight = mu * (1 - mu)
                response = eta + (m - mu) / weight
                if of_rows:
                    rows = v @ (weight * response) / (v**2 @ weight)
                else:
                    v = (weight * response) @ rows / (weight @ rows**2)
    return np.concatenate([v, rows])


def moses_area(*tables):
    """Return the area of the straight line of logits through two tables: equation 15."""
    cells = np.array(tables) + 0.5
    hits, alarms = np.log(cells[:, 0] / cells[:, 2]), np.log(cells[:, 1] / cells[:, 3])
    slope, intercept = np.polyfit(hits + alarms, hits - alarms, 1)
    return integrate.quad(
        lambda x: special.expit((intercept + (1 + slope) * special.logit(x)) / (1 - slope)), 0, 1
    )[0]


def area_below(tail_of_positives, tail_of_negatives, low, high):
    """Integrate a parametric ROC curve over a fine grid of thresholds: section 2.1."""
    t = np.linspace(high, low, 400_001)
    return np.trapezoid(tail_of_positives(t), tail_of_negatives(t))


def evenness(p):
    """Return the harmonic mean of p (1 - p): section 5."""
    return len(p) / np.sum(1 / (p * (1 - p)))


def rejections(effect, k=3, n=150, draws=4000):
    """Return how often KB and Pearson's statistic reject with (K - 1)^2 and K - 1 degrees."""
    cells = (1 - effect) / k**2 + effect * np.eye(k) / k
    tables = np.random.default_rng(5).multinomial(n, cells.ravel(), draws).reshape(-1, k, k) / n
    pred, real = tables.sum(axis=2), tables.sum(axis=1)
    expected = pred[:, :, None] * real[:, None]
    right = np.einsum("akk->ak", tables - expected)
    bets = np.sum(pred * right / (real * (1 - real)), axis=1)
    kb = k * n * bets**2 * k / np.sum(1 / (real * (1 - real)), axis=1)
    pearson = n * np.sum((tables - expected) ** 2 / expected, axis=(1, 2))
    degrees = ((k - 1) ** 2, k - 1)
    return np.array([np.mean(x > stats.chi2.ppf(0.95, d)) for x in (kb, pearson) for d in degrees])


def rejections_of_two(prevalence, bias, n, draws=40_000):
    """Return how often Pearson's statistic, +P and KB reject if nothing depends on anything."""
    cells = np.outer([bias, 1 - bias], [prevalence, 1 - prevalence]).ravel()
    tp, fp, fn, tn = np.random.default_rng(5).multinomial(n, cells, draws).T / n
    bets = n * (tp * tn - fp * fn) ** 2 / ((tp + fn) * (fp + tn))
    found = bets / ((tp + fp) * (fn + tn)), bets / (tp + fp), 2 * bets
    return np.array([np.mean(x > stats.chi2.ppf(0.95, 1)) for x in found])


def polygon(*corners):
    """Return the area of a polygon."""
    x, y = np.array(corners).T
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def both_below(a, b, correlation):
    """Return the probability that two normal variables are below cuts with these shares."""
    covariance = np.eye(2) + np.clip(correlation, -0.99, 0.99) * (1 - np.eye(2))
    return stats.multivariate_normal.cdf(stats.norm.ppf([a, b]), cov=covariance)


def undominated(x, y, t):
    """Return the thresholds of the points that no other one beats in both."""
    better = (x[:, None] >= x) & (y[:, None] >= y) & ((x[:, None] > x) | (y[:, None] > y))
    return t[~better.any(axis=0)]


def bins(y, s, n):
    """Return mean scores and shares of positives of right-closed bins."""
    of = np.clip(np.ceil(s * n - 1e-12), 1, n)
    return np.array([(s[of == k].mean(), y[of == k].mean()) for k in np.unique(of)]).T


def loess_at(x, y, at, span):
    """Return a local straight line with tricube weights."""
    distance = np.abs(x - at)
    k = max(2, int(span * len(x)))
    weight = np.clip(1 - (distance / np.sort(distance)[k - 1]) ** 3, 0, None) ** 3
    return np.polyval(np.polyfit(x - at, y, 1, w=np.sqrt(weight)), 0)


def median_ratio(concentration, k=5):
    """Return the median of the largest over the smallest share of Dirichlet draws."""
    shares = np.random.default_rng(0).dirichlet(np.full(k, concentration), 20_000)
    return np.median(shares.max(axis=1) / shares.min(axis=1))


def logistic_slope(y, eta):
    """Return the slope of a logistic regression: Platt's map of a score on the logit scale."""

    def loss(x):
        return np.sum(np.logaddexp(0, x[0] + x[1] * eta) - y * (x[0] + x[1] * eta))

    return optimize.minimize(loss, [0.0, 1.0], method="BFGS", options={"gtol": 1e-10}).x[1]


PRINTED = np.genfromtxt(
    Path(__file__).parents[1] / "experiments" / "vuk_curk_table4.csv",
    delimiter=",",
    names=True,
    dtype=None,
    encoding=None,
)
"""Table 4 of Vuk and Curk."""
