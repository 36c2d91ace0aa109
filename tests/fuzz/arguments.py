"""Calls with random arguments together, against brute force that shares nothing with the package.

Each kind draws a sample, some of the options, and containers for all rows: named or not, with an
index in an order of its own or without one. The oracle applies the options to plain arrays.
"""

import numpy as np
import oracles
import pandas as pd
from oracles import Defect, close
from scipy import stats

import dmfroc

made = dmfroc.measures
LABELS = {
    2: [["no", "yes"], [0, 1], [False, True], ["x", "a"], [-1, 1], [3, 2]],
    3: [["a", "b", "c"], [2, 0, 1], ["low", "high", "mid"]],
}
BINARY = ("precision", "recall", "f1", "net_benefit", "average_precision")
ANY = ("accuracy", "cohen_kappa", "hand_till", "weighted_kappa", "expected_utility")
OF_LABELS = ("accuracy", "cohen_kappa", "weighted_kappa", "precision", "recall", "f1")


class Rows:
    """A sample as plain arrays, and how it is handed in.

    ``labels`` is the order in which classes are given, and ``codes``, ``p`` have that order, too;
    ``positive`` is the place of the positive one of two.
    """

    def __init__(self, rng, n_classes=None, n=None, spread=24):
        self.rng, k = rng, n_classes or int(rng.choice([2, 2, 3]))
        self.n = n or int(rng.integers(12 * k, spread * k))
        self.codes = rng.permutation(np.arange(self.n) % k)
        self.p = self.probabilities()
        self.has_index = bool(rng.random() < 0.4)
        self.index = np.array([f"row {place}" for place in range(self.n)])
        names = LABELS[k][rng.integers(len(LABELS[k]))]
        self.labels = [names[place] for place in rng.permutation(k)]
        self.options, self.positive = {"labels": self.labels}, k - 1
        if self.labels == sorted(self.labels) and rng.random() < 0.7:
            self.options = {}
        if k == 2 and rng.random() < 0.5:
            self.positive = int(rng.integers(2))
            self.options["pos_label"] = self.labels[self.positive]

    def probabilities(self):
        """Return probabilities of another classifier."""
        k, rng = int(self.codes.max()) + 1, self.rng
        s = rng.normal(size=(self.n, k)) + rng.uniform(0.3, 2) * np.eye(k)[self.codes]
        p = np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)
        if k == 2 and rng.random() < 0.4:  # ties between rows, but none within a row
            first = np.round(p[:, 0], 1) + 0.01
            p = np.stack([first, 1 - first], axis=1)
            p = np.clip(p, 0.001, 0.999)
            p[:, 1] = 1 - p[:, 0]
        return p

    @property
    def k(self):
        return len(self.labels)

    def names(self, codes):
        """Return the labels of codes."""
        found = np.empty(len(codes), object)
        found[:] = [self.labels[code] for code in codes]
        return found

    def given(self, values):
        """Return one value for each row, with an index in an order of its own if there is one."""
        values = np.asarray(values)
        if not self.has_index:
            makers = (list, np.asarray, tuple, lambda x: np.repeat(x, 2)[::2])
            return makers[self.rng.integers(len(makers))](values)
        order = self.rng.permutation(self.n)
        return pd.Series(values[order], self.index[order])

    def frame(self, values, names):
        """Return a table with named columns in a random order."""
        frame = pd.DataFrame(values, columns=names, index=self.index if self.has_index else None)
        frame = frame[[names[place] for place in self.rng.permutation(len(names))]]
        return frame.iloc[self.rng.permutation(self.n)] if self.has_index else frame

    @property
    def y(self):
        """The observed classes, as they are handed in."""
        return self.given(self.names(self.codes))

    def scores(self, p=None):
        """Return scores as they are handed in, with named or unnamed columns."""
        p = self.p if p is None else p
        if self.has_index or self.rng.random() < 0.3:
            prefix = "p_" if self.rng.random() < 0.5 else ""
            return self.frame(p, [f"{prefix}{label}" for label in self.labels])
        return p.tolist() if self.rng.random() < 0.3 else np.asfortranarray(p)

    def hard(self, p):
        """Return hard labels that are now and then not those of the largest score."""
        other = self.rng.integers(self.k, size=self.n)
        return np.where(self.rng.random(self.n) < 0.3, other, p.argmax(axis=1))

    def shares(self):
        """Return class shares, and one of the ways to give them."""
        shares = self.rng.dirichlet(5 * np.ones(self.k)).round(3)
        shares[-1] = 1 - shares[:-1].sum()
        ways = [dict(zip(self.labels, shares.tolist(), strict=True)), shares.tolist()]
        ways += [float(shares[self.positive])] if self.k == 2 else []
        return shares, ways[self.rng.integers(len(ways))]


def measure_of(rows):
    """Return the name of a measure, the measure, and its value from plain arrays."""
    rng, k = rows.rng, rows.k
    name = str(rng.choice(ANY + (BINARY if k == 2 else ())))
    costs = rng.uniform(0.2, 3, (k, k)).round(2)
    np.fill_diagonal(costs, 0)
    t = round(float(rng.uniform(0.1, 0.6)), 2)
    with_options = {
        "weighted_kappa": lambda: made.weighted_kappa(costs),
        "expected_utility": lambda: made.expected_utility(costs),
        "net_benefit": lambda: made.net_benefit(t),
    }
    measure = with_options[name]() if name in with_options else name

    def value(codes, p, hard, w):
        return oracles.value(name, codes, p, hard, w, rows.positive, costs, t)

    return name, measure, value


class Weighted:
    """Options of rows that change their weights, and the weights that they come to."""

    def __init__(self, rows, *, folds=True, frequency=True):
        rng, n = rows.rng, rows.n
        self.options, self.counts, self.folds = {}, np.ones(n, int), np.zeros(n, int)
        self.weights = np.ones(n)
        if rng.random() < 0.3:
            self.weights = rng.integers(1, 4, n) / 2
            self.weights[rng.random(n) < 0.05] = 0
            self.options["sample_weight"] = rows.given(self.weights)
        if frequency and rng.random() < 0.2:
            self.counts = rng.integers(1, 4, n)
            self.options["frequency_weight"] = rows.given(self.counts)
        if folds and rng.random() < 0.3:
            for k in range(rows.k):
                of_class = np.flatnonzero(rows.codes == k)
                self.folds[of_class] = np.arange(len(of_class)) % 2
            self.options["folds"] = rows.given(np.array(["u", "v"])[self.folds])
        kind = rng.random()
        if kind < 0.3:
            importance = rng.uniform(0.3, 2, n)
            self.options["population"] = dmfroc.Importance(rows.given(importance))
            self.weights = self.weights * importance
        elif kind < 0.6:
            shares, self.options["population"] = rows.shares()
            cell = rows.k * self.folds + rows.codes
            total = np.bincount(cell, self.weights * self.counts)[cell]
            self.weights = self.weights / total * shares[rows.codes]

    def value(self, value, rows, p, hard, weights=None):
        """Return the mean of a value over the folds."""
        w = (self.weights if weights is None else weights) * self.counts
        parts = [self.folds == fold for fold in np.unique(self.folds)]
        return np.mean([value(rows.codes[m], p[m], hard[m], w[m]) for m in parts])


def estimated(rng):
    """Estimate with any options together."""
    rows = Rows(rng)
    name, measure, value = measure_of(rows)
    weighted, hard = Weighted(rows), rows.p.argmax(axis=1)
    options = rows.options | weighted.options
    if name in OF_LABELS and rng.random() < 0.3:
        hard = rows.hard(rows.p)
        options["y_pred"] = rows.given(rows.names(hard))
    fixed = not isinstance(options.get("population"), dmfroc.Importance | None)
    if rng.random() < 0.3 and not fixed:
        options["stratify"] = bool(rng.random() < 0.5)
    expected = weighted.value(value, rows, rows.p, hard)
    if not np.isfinite(expected):
        return
    found = dmfroc.estimate(measure, rows.y, rows.scores(), **options)
    what = f"{name} with {sorted(options)}"
    close(found.value, expected, what)
    low, high = found.interval
    if not low - 1e-12 <= found.value <= high + 1e-12:
        raise Defect(f"{what}: {found.value} is outside of {found.interval}")
    if "stratify" in options and not {"folds", "frequency_weight"} & set(options):

        def at(w):
            return value(rows.codes, rows.p, hard, w)

        error = oracles.standard_error(at, weighted.weights, rows.codes, options["stratify"])
        if not np.isclose(found.standard_error, error, rtol=1e-4, atol=1e-7):
            raise Defect(f"{what}: error {found.standard_error}, by brute force {error}")


def compared(rng):
    """Compare two classifiers and a baseline with any options together."""
    rows = Rows(rng)
    name, measure, value = measure_of(rows)
    weighted = Weighted(rows)
    ps = {"one": rows.p, "two": rows.probabilities()}
    hards = {x: p.argmax(axis=1) for x, p in ps.items()}
    scores, options = {x: rows.scores(p) for x, p in ps.items()}, rows.options | weighted.options
    if name in ("accuracy", "recall", "net_benefit", "expected_utility") and rng.random() < 0.5:
        place = int(rng.integers(rows.k))
        scores["base"] = f"always {rows.labels[place]}"
        if rows.k == 2 and rng.random() < 0.6:
            scores["base"] = "treat all" if place == rows.positive else "treat none"
        ps["base"] = np.tile(np.eye(rows.k)[place], (rows.n, 1))
        hards["base"] = np.full(rows.n, place)
    elif name in OF_LABELS and rng.random() < 0.3:
        hards = {x: rows.hard(p) for x, p in ps.items()}
        options["y_pred"] = {x: rows.given(rows.names(hard)) for x, hard in hards.items()}
    expected = {x: weighted.value(value, rows, p, hards[x]) for x, p in ps.items()}
    if not np.isfinite(list(expected.values())).all():
        return
    found = dmfroc.compare(rows.y, scores, measures=measure, **options)
    what = f"{name} with {sorted(options)}"
    for x, v in expected.items():
        close(found.estimates[x].value, v, f"{what}, {x}")
    for d in found.differences:
        close(d.value, expected[d.first] - expected[d.second], f"{what}, {d.first} - {d.second}")


def judged(rng):
    """Estimate from few verified labels with a judge, whose weight alone is believed."""
    rows = Rows(rng, n=int(rng.integers(50, 90)))
    name, measure, value = measure_of(rows)
    said = np.where(rng.random(rows.n) < 0.8, rows.codes, rng.integers(rows.k, size=rows.n))
    is_verified = rng.random(rows.n) < 0.6
    options, drawn, weights = dict(rows.options), np.ones(rows.n), np.ones(rows.n)
    of_draw = {}
    kind = rng.integers(3)
    if kind == 0:
        drawn = rng.uniform(0.4, 1, rows.n)
        of_draw = {"probability": rows.given(drawn)}
    elif kind == 1:
        strata = rng.integers(2, size=rows.n)
        drawn = np.array([is_verified[strata == s].mean() for s in (0, 1)])[strata]
        of_draw = {"strata": rows.given(np.array(["s", "t"])[strata])}
    if rng.random() < 0.3:
        weights = rng.integers(1, 4, rows.n) / 2
        options["sample_weight"] = rows.given(weights)
    shown = rows.names(rows.codes)
    shown[~is_verified] = None
    p, m = rows.p, is_verified
    hard = p.argmax(axis=1)
    if len(np.unique(rows.codes[m])) < rows.k or len(np.unique(said[m])) < rows.k:
        return
    verified = value(rows.codes[m], p[m], hard[m], (weights / drawn)[m])
    on_verified = value(said[m], p[m], hard[m], (weights / drawn)[m])
    on_all = value(said, p, hard, weights)
    if not np.isfinite([verified, on_verified, on_all]).all():
        return
    y = rows.given(shown)
    found = dmfroc.estimate(
        measure,
        y,
        rows.scores(),
        judge=dmfroc.Judge(rows.given(rows.names(said)), **of_draw),
        **options,
    )
    what = f"{name} with a judge and {sorted(options)}"
    close(found.judge.verified_value, verified, what)
    close(found.judge.judge_value, on_all, f"{what}: the judge")
    weight = found.judge.lambda_ / (1 - m.mean())
    low, high = found.interval
    if not low - 1e-9 <= found.value <= high + 1e-9:
        raise Defect(f"{what}: {found.value} is outside of {found.interval}")
    together = verified + weight * (on_all - on_verified)
    if name not in ("net_benefit", "expected_utility"):  # whose range has ends that are not drawn
        low = -np.inf if "kappa" in name else 0
        together = np.clip(together, low, 1)
    elif abs(found.value - np.clip(found.value, *sorted([verified, together]))) > 1e-9:
        raise Defect(f"{what}: {found.value} is not between {verified} and {together}")
    if "kappa" not in name or together >= -0.5:
        close(found.value, together, f"{what}: together")


def scored_items(rng):
    """Compare mean scores of items."""
    rows, low, high = Rows(rng, 2), 0.0, 1.0
    bounds = {}
    if rng.random() < 0.3:
        low, high = -1.0, 3.0
        bounds = {"bounds": (low, high)}
    are_right = rng.random() < 0.5
    scores = {}
    for name in ("one", "two"):
        x = rng.random(rows.n)
        scores[name] = low + (high - low) * (x < rng.uniform(0.2, 0.8) if are_right else x)
    options, groups = dict(bounds), None
    if rng.random() < 0.3:
        groups = rng.integers(rows.n // 3, size=rows.n)
        options["groups"] = rows.given(groups)
    site = np.arange(rows.n) % 2
    if groups is None and rng.random() < 0.3:
        options["by"] = rows.given(np.array(["p", "q"])[site])
    given = {name: rows.given(x) for name, x in scores.items()}
    if rng.random() < 0.4:
        is_verified = rng.random(rows.n) < 0.6
        said = {name: np.clip(x + rng.normal(0, 0.2, rows.n), low, high)
                for name, x in scores.items()}  # fmt: skip
        drawn, of_draw = np.ones(rows.n), {}
        if rng.random() < 0.5:
            drawn = rng.uniform(0.4, 1, rows.n)
            of_draw = {"probability": rows.given(drawn)}
        given = {name: rows.given(np.where(is_verified, x, np.nan)) for name, x in scores.items()}
        judge = {name: rows.given(x) for name, x in said.items()}
        found = dmfroc.applications.items(given, judge=dmfroc.Judge(judge, **of_draw), **options)
        for name, x in scores.items():
            w = 1 / drawn[is_verified]
            labels = found.estimates[name].judge
            close(labels.verified_value, np.average(x[is_verified], weights=w), "verified items")
            close(labels.judge_value, said[name].mean(), "the judge's items")
        return
    found = dmfroc.applications.items(given, **options)
    for name, x in scores.items():
        one = found.estimates[name]
        close(one.value, x.mean(), "mean of items")
        if are_right and groups is None:
            k = round((x.mean() - low) / (high - low) * rows.n)
            # One observation more, three quarters of it on the side of the limit
            more = np.array([0.25, 0.75])
            limits = stats.beta.ppf([0.025, 0.975], k + more, rows.n - k + 1 - more)
            limits = low + (high - low) * limits
            if not np.allclose(one.interval, limits, atol=0.002 * (high - low)):
                raise Defect(f"interval {one.interval} of items, by the beta distribution {limits}")
        for place, group in enumerate("pq") if "by" in options else ():
            close(found.subgroups[group][name].value, x[site == place].mean(), "subgroup of items")
    close(found.differences[0].value, scores["one"].mean() - scores["two"].mean(), "difference")


def several_labels(rng):
    """Evaluate and compare classifiers that give rows several labels."""
    rows, names = Rows(rng, 2), ["u", "v", "w"]
    y = (rng.random((rows.n, 3)) < 0.5).astype(float)
    y[rng.random(y.shape) < rng.choice([0, 0.1])] = np.nan
    s = {x: np.nan_to_num(y) + rng.normal(0, 1, y.shape).round(1) for x in ("one", "two")}
    hard = {x: (v > 0.5).astype(int) for x, v in s.items()}
    measure = str(rng.choice(["hand_till", "average_precision", "f1", "accuracy"]))
    average = str(rng.choice(["macro", "micro"]))
    is_named = rows.has_index or rng.random() < 0.5

    def table(x):
        return rows.frame(x, names) if is_named else x

    options = {"measure": measure, "average": average}
    if rng.random() < 0.3:
        options["groups"] = rows.given(rng.integers(rows.n // 2, size=rows.n))
    of_labels = measure in ("f1", "accuracy")
    if of_labels:
        options["y_pred"] = {x: table(v) for x, v in hard.items()}

    def value(y, s, hard):
        known = ~np.isnan(y)
        codes, w = y[known].astype(int), np.ones(known.sum())
        p = np.stack([-s[known], s[known]], axis=1)
        return oracles.value(measure, codes, p, hard[known], w, 1, None, None)

    found = dmfroc.applications.multilabel(table(y), {x: table(v) for x, v in s.items()}, **options)
    for x in s:
        each = [value(y[:, k], s[x][:, k], hard[x][:, k]) for k in range(3)]
        pooled = value(y.ravel(), s[x].ravel(), hard[x].ravel())
        close(found.estimates[x].value, np.mean(each) if average == "macro" else pooled, average)
        if is_named:
            for name, v in zip(names, each, strict=True):
                close(found.by_label[name][x].value, v, f"label {name}")


def streamed(rng):
    """Accumulate batches, merge, and look at any time."""
    rows = Rows(rng, n=int(rng.integers(60, 150)))
    ends = np.sort(rng.integers(1, rows.n, size=3))
    parts = [part for part in np.split(np.arange(rows.n), ends) if len(part)]
    w = rng.integers(1, 4, rows.n) / 2 if rng.random() < 0.3 else np.ones(rows.n)
    weights = {} if (w == 1).all() else {"sample_weight": w}
    first, second = (dmfroc.counted.Accumulator(rows.labels, cuts=np.linspace(-0.1, 1.1, 4001))
                     for _ in range(2))  # fmt: skip
    for place, part in enumerate(parts):
        own = {x: v[part] for x, v in weights.items()}
        accumulator = first if place % 2 == 0 else second
        accumulator.update(rows.names(rows.codes[part]), rows.p[part], **own)
    if len(parts) > 1:
        first.merge(second)
    rows.positive = 1
    names = ["accuracy", "hand_till", *(["precision", "recall"] if rows.k == 2 else [])]
    name = str(rng.choice(names))
    hard = rows.p.argmax(axis=1)
    # Columns are counted in bins so fine that ties alone share one
    expected = oracles.value(name, rows.codes, rows.p, hard, w, 1, None, None)
    found = dmfroc.applications.confidence_sequence(first, name)
    tolerance = 2e-3 if name == "hand_till" else 1e-9
    if abs(found.value - expected) > tolerance:
        raise Defect(f"{name} of a stream is {found.value}, by brute force {expected}")
    low, high = found.interval
    wide = dmfroc.applications.confidence_sequence(first, name, level=0.99).interval
    if not wide[0] - 1e-12 <= low <= expected + tolerance or not expected - tolerance <= high:
        raise Defect(f"{name} of a stream: {found.interval}, at level .99 {wide}")
    if first.n_observations != rows.n:
        raise Defect(f"{first.n_observations} observations of {rows.n}")


def decided(rng):
    """Decision curves and chosen thresholds of two classes."""
    rows = Rows(rng, 2)
    w, options = np.ones(rows.n), dict(rows.options)
    if rng.random() < 0.4:
        w = rng.integers(1, 4, rows.n) / 2
        options["sample_weight"] = rows.given(w)
    is_positive, s = rows.codes == rows.positive, rows.p[:, rows.positive]
    base, thresholds = np.average(is_positive, weights=w), np.array([0.15, 0.3, 0.55])
    share, prevalence = base, {}
    if rng.random() < 0.3:
        share = round(float(rng.uniform(0.1, 0.8)), 2)
        prevalence = {"prevalence": share}
    at = {"thresholds": thresholds, **prevalence}
    found = dmfroc.applications.decision_curve(rows.y, rows.scores(), **options, **at)
    for place, t in enumerate(thresholds):
        tpr, fpr = oracles.rates(s >= t, is_positive, w)
        expected = share * tpr - (1 - share) * fpr * t / (1 - t)
        close(found.benefit.value[place], expected, f"net benefit at {t} with {sorted(options)}")
        of_all = share - (1 - share) * t / (1 - t)
        close(found.baselines["treat all"][place], of_all, "treat all")
        close(found.difference.value[place], expected - max(of_all, 0), "lead")
    by = str(rng.choice(["youden", "f1", "accuracy", "cost", "specificity", "sensitivity"]))
    costs = {"cost_fp": 2.0, "cost_fn": 5.0} if by == "cost" else {}
    least = {"at_least": 0.6} if by in ("specificity", "sensitivity") else {}
    target, share = {}, base
    if rng.random() < 0.4:
        shares, target["population"] = rows.shares()
        share = shares[rows.positive]
    options |= {**costs, **least, **target, "by": by, "n_draws": 100}
    chosen = dmfroc.applications.choose_threshold(rows.y, rows.scores(), **options)
    at = {t: oracles.criterion(by, *oracles.rates(s >= t, is_positive, w), share)
          for t in np.unique(s)}  # fmt: skip
    best = max(at.values())
    close(chosen.value.value, best, f"{by} with {sorted(options | target)}")
    nearest = min(at, key=lambda t: abs(t - chosen.threshold.value))
    close(at[nearest], best, f"{by} at the threshold")


def subgrouped(rng):
    """Compare a classifier in subgroups."""
    rows = Rows(rng, spread=40, n=int(rng.integers(80, 120)))
    rows.options.pop("pos_label", None)
    rows.positive = rows.k - 1
    name, measure, value = measure_of(rows)
    weighted = Weighted(rows, folds=False)
    if "population" in weighted.options:
        return
    site, shift = np.arange(rows.n) // rows.k % 2, np.arange(rows.n) % 2
    columns = {"site": np.array(["n", "s"])[site]}
    if rng.random() < 0.3:
        columns["shift"] = np.array([1, 2])[shift]
    by = {x: rows.given(v) for x, v in columns.items()} if len(columns) > 1 else rows.given(
        columns["site"])  # fmt: skip
    hard = rows.p.argmax(axis=1)
    found = dmfroc.compare_subgroups(rows.y, rows.scores(), by, measures=measure, min_class_size=2,
                                     **rows.options, **weighted.options)  # fmt: skip
    cells = {}
    for row in range(rows.n):
        cells.setdefault(tuple(v[row] for v in columns.values()), []).append(row)
    expected = sorted(
        value(rows.codes[m], rows.p[m], hard[m], (weighted.weights * weighted.counts)[m])
        for m in map(np.array, cells.values())
    )
    if len(found.estimates) == len(expected):
        close(sorted(e.value for e in found.estimates.values()), expected, f"{name} in subgroups")


KINDS = (estimated, compared, judged, scored_items, several_labels, streamed, decided, subgrouped)
