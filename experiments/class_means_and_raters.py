"""How often intervals of means over chosen classes, of raters and of one class hold.

Rare classes of about 10 cases, and classifiers and raters that hardly ever err. Prints the share of
samples whose 95 % interval holds the value of the population, and the mean width.

    python experiments/class_means_and_raters.py
"""

import warnings

import numpy as np

import dmfroc

N_SAMPLES = 200
SHARES = {"even": (1 / 3, 1 / 3, 1 / 3), "rare": (0.05, 0.35, 0.6)}  # of 200 rows
ERRORS = {"ordinary": 0.25, "near-perfect": 0.02}
N = 200
MEANS = (
    "precision_macro(classes=[0, 1])", "recall_macro(classes=[0, 1])", "f_beta_macro(beta=0.5)",
    "jaccard_weighted", "specificity_macro", "f1_micro(classes=[0, 1])", "gmean", "gwet_ac1",
    "krippendorff_alpha", "false_discovery_rate(average='macro')",
)  # fmt: skip


def labels(rng, n, shares, error):
    """Draw classes, and hard labels that are wrong with a probability."""
    true = rng.choice(len(shares), size=n, p=shares)
    wrong = (true + rng.integers(1, len(shares), size=n)) % len(shares)
    return true, np.where(rng.random(n) < error, wrong, true)


def scores(rng, n, shares, error):
    """Draw classes and scores."""
    true = rng.choice(len(shares), size=n, p=shares)
    shift = 4.0 if error < 0.1 else 1.3
    return true, rng.normal(size=(n, len(shares))) + shift * np.eye(len(shares))[true]


def ratings(rng, n, shares, error):
    """Draw ratings by four raters; a fifth is missing."""
    true = rng.choice(len(shares), size=n, p=shares)
    each = [
        np.where(rng.random(n) < error, rng.choice(3, size=n, p=shares), true) for _ in range(4)
    ]
    table = np.column_stack(each).astype(object)
    table[rng.random(table.shape) < 0.2] = None
    return table


def held(found, truth):
    """Return the share of intervals that hold the truth, and their mean width."""
    ends = np.array(found)
    inside = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    return f"{100 * inside.mean():5.1f} {np.mean(ends[:, 1] - ends[:, 0]):.3f}"


def main():
    """Print all cells."""
    warnings.simplefilter("ignore")
    big = np.random.default_rng(0)
    for (kind, shares), (how, error) in [(a, b) for a in SHARES.items() for b in ERRORS.items()]:
        samples = [
            labels(np.random.default_rng(seed), N, shares, error) for seed in range(N_SAMPLES)
        ]
        y, hard = labels(big, 1_000_000, shares, error)
        for name in MEANS:
            measure = dmfroc.measures.get_measure(name)
            truth = measure(y, y_pred=hard)
            found = [
                dmfroc.estimate(measure, a, y_pred=b, labels=range(3)).interval for a, b in samples
            ]
            print(f"{kind:5} {how:12} {name:40} {held(found, truth)}", flush=True)
        tables = [
            ratings(np.random.default_rng(seed), N // 4, shares, error) for seed in range(N_SAMPLES)
        ]
        truths = dmfroc.applications.rater_agreement(
            ratings(big, 50_000, shares, error), labels=[0, 1, 2]
        )
        found = [dmfroc.applications.rater_agreement(x, labels=[0, 1, 2]) for x in tables]
        for name, truth in truths.items():
            cell = held([x[name].interval for x in found], truth.value)
            print(f"{kind:5} {how:12} {'four raters, ' + name:40} {cell}", flush=True)
        samples = [
            scores(np.random.default_rng(seed), N, shares, error) for seed in range(N_SAMPLES)
        ]
        y, s = scores(big, 200_000, shares, error)
        for name in ("auc", "average_precision", "recall", "equal_error_rate"):
            truth = [e.value for e in each_class(name, y, s)]
            found = [each_class(name, *x) for x in samples]
            inside = [
                all(e.interval[0] <= t <= e.interval[1] for e, t in zip(es, truth, strict=True))
                for es in found
            ]
            cell = f"{'all classes at once, ' + name:40} {100 * np.mean(inside):5.1f}"
            print(f"{kind:5} {how:12} {cell}", flush=True)
    p_values = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        y, s = np.arange(100) < 10, rng.normal(size=100)
        compared = dmfroc.compare(y, {"model": s, "chance": None}, measures="auc")
        p_values.append(compared.differences[0].p_value)
    rejected = 100 * np.mean(np.array(p_values) < 0.05)
    print(f"against chance, 10 of 100 positive, rejected {rejected:.1f}")


def each_class(name, y, s):
    """Return the estimates of all classes."""
    return list(dmfroc.estimate(name, y, s, per_class=True).values())


if __name__ == "__main__":
    main()
