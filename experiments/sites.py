"""Sites that differ: mean, prediction and common weightings; and many crossed groups, shrunken."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from _study import arguments, markdown_table, write_page
from scipy.special import expit, logit, ndtri
from scipy.stats import norm

from dmfroc import estimate, evaluate
from dmfroc.analyses.subgroups import shrunken
from dmfroc.applications import pool
from dmfroc.inference.options import Options
from dmfroc.inference.simultaneous import largest_statistic, pairwise_differences
from dmfroc.measures import get_measure

CENTER, SMALLEST, LARGEST, LEVELS = logit(0.8), 40, 2000, (5, 4, 3)
N_SAMPLES = {5: 200, 12: 150, 40: 40}
TAUS, N_GROUPED, Z = (0.0, 0.1, 0.3), 60, 1.96


def of_area(generator: np.random.Generator, n: int, share: float, line: float) -> Any:
    """Draw classes and scores of two classes, with the AUC that is this logit."""
    y = (np.arange(n) < max(round(share * n), 5)).astype(int)
    return y, generator.normal(size=n) + np.sqrt(2) * ndtri(expit(line)) * y


def weightings(found: Any, cases: np.ndarray, n: np.ndarray) -> dict[str, tuple[bool, float]]:
    """Return whether the usual interval covers the mean, and the value, by each weighting."""
    values, errors = np.array([(e.value, e.standard_error) for e in found.estimates.values()]).T
    weights = {
        "equal": np.ones(len(n)),
        "rows": n,
        "cases": cases,
        "pairs": cases * (n - cases),
        "inverse variance": 1 / errors**2,
    }
    rows = {}
    for name, w in weights.items():
        value, error = w @ values / w.sum(), np.sqrt(w**2 @ errors**2) / w.sum()
        rows[name] = (bool(abs(value - expit(CENTER)) < Z * error), float(value))
    return rows


def of_sites(n_sites: int, tau: float, n_samples: int) -> dict[str, Any]:
    """Return how often intervals cover, over simulated sets of sites."""
    generator, rows = np.random.default_rng([n_sites, round(100 * tau)]), []
    usual: dict[str, list[tuple[bool, float]]] = {}
    for _ in range(n_samples):
        sizes = np.exp(generator.uniform(np.log(SMALLEST), np.log(LARGEST), n_sites)).astype(int)
        shares = generator.uniform(0.15, 0.6, n_sites)
        lines = generator.normal(CENTER, tau, n_sites)
        drawn = [of_area(generator, *x) for x in zip(sizes, shares, lines, strict=True)]
        sites = {str(i): evaluate(*x, measures=["hand_till"]) for i, x in enumerate(drawn)}
        found, bayes = pool(sites), pool(sites, method="bayes")
        low, high = logit(found.prediction)
        of_new = np.diff(norm.cdf([low, high], CENTER, max(tau, 1e-9)))[0]
        of_bayes = np.diff(norm.cdf(logit(bayes.prediction), CENTER, max(tau, 1e-9)))[0]
        covers = [
            x.interval[0] < expit(CENTER) < x.interval[1]
            for x in (found.mean, found.fixed, bayes.mean)
        ]
        of_tau = found.tau_interval[0] <= tau <= found.tau_interval[1]
        rows.append([*covers, of_tau, of_new, of_bayes])
        cases = np.array([y.sum() for y, _ in drawn])
        for name, x in weightings(found, cases, sizes).items():
            usual.setdefault(name, []).append(x)
    names = ("mean", "fixed", "mean, bayes", "tau", "new site", "new site, bayes")
    shares = dict(zip(names, 100 * np.mean(rows, axis=0), strict=True))
    of_each = {name: 100 * np.mean([x for x, _ in each]) for name, each in usual.items()}
    return shares | {f"by {name}": x for name, x in of_each.items()}


def of_groups(n_samples: int) -> list[tuple[str, float, float]]:
    """Return errors and coverage of 60 crossed groups, alone and shrunken."""
    generator, rows = np.random.default_rng(0), []
    names = np.array([(a, b, c) for a in range(5) for b in range(4) for c in range(3)])
    for _ in range(n_samples):
        margins = [generator.normal(0, 0.25, k) for k in LEVELS]
        lines = CENTER + sum(m[names[:, i]] for i, m in enumerate(margins))
        lines = lines + generator.normal(0, 0.2, len(names))
        sizes = np.exp(generator.uniform(np.log(10), np.log(500), len(names))).astype(int)
        drawn = [of_area(generator, n, 0.5, x) for n, x in zip(sizes, lines, strict=True)]
        alone = {str(i): estimate("hand_till", *x) for i, x in enumerate(drawn)}
        values, errors = np.array([(e.value, e.standard_error) for e in alone.values()]).T
        # Not compare_subgroups, whose 1,830 differences take ten seconds
        found = shrunken(get_measure("hand_till"), alone, np.diag(errors**2), names, Options())
        truths = expit(lines)
        for kind, several in (("alone", alone), ("shrunken", found.estimates)):
            center = np.array([e.value for e in several.values()])
            low, high = np.array([e.interval for e in several.values()]).T
            covers = np.mean((low <= truths) & (truths <= high))
            square = np.mean((center - truths) ** 2)
            rows.append((kind, "every group", square, covers, np.mean(high - low)))
        raw, gap, least = np.ptp(values), np.ptp(truths), truths.min()
        i, j = values.argmax(), values.argmin()
        half = Z * np.hypot(errors[i], errors[j])
        pairs = pairwise_differences(len(values))
        largest = largest_statistic(np.diag(errors**2), pairs, 0)
        halves = -ndtri((1 - largest.level_of_each(0.95)) / 2) * np.sqrt(pairs**2 @ errors**2)
        differences = pairs @ values
        ends = (np.abs(differences) - halves).max(), (np.abs(differences) + halves).max()
        low, high = alone[str(j)].interval
        for kind, what, value, (start, end), truth in (
            ("alone", "largest gap, naive", raw, (raw - half, raw + half), gap),
            ("alone", "largest gap, max-T", raw, ends, gap),
            ("shrunken", "largest gap", found.largest_gap.value, found.largest_gap.interval, gap),
            ("alone", "smallest value, naive", values[j], (low, high), least),
            ("shrunken", "smallest value", found.smallest.value, found.smallest.interval, least),
        ):
            rows.append((kind, what, (value - truth) ** 2, start <= truth <= end, end - start))
    keys = dict.fromkeys((kind, what) for kind, what, *_ in rows)
    return [
        (*key, *np.mean([r[2:] for r in rows if r[:2] == key], axis=0).tolist()) for key in keys
    ]


def main() -> None:
    """Run the study and write its page."""
    options = arguments(__doc__ or "")
    warnings.simplefilter("ignore", UserWarning)
    if options.quick:
        of_sites(5, 0.1, 2)
        of_groups(1)
        return
    found = {(k, tau): of_sites(k, tau, n) for k, n in N_SAMPLES.items() for tau in TAUS}
    columns = list(next(iter(found.values())))
    own, usual = (
        [x for x in columns if x.startswith("by ") == is_usual] for is_usual in (False, True)
    )
    tables = [
        markdown_table(
            ["sites", "tau", *names],
            [(k, tau, *(f"{row[x]:.1f}" for x in names)) for (k, tau), row in found.items()],
        )
        for names in (own, usual)
    ]
    groups = [
        (kind, what, f"{error**0.5:.4f}", f"{100 * share:.1f}", f"{width:.3f}")
        for kind, what, error, share, width in of_groups(N_GROUPED)
    ]
    header = ["values", "of", "root mean squared error", "coverage", "width"]
    write_page(
        "sites",
        f"""# Sites that differ, and many groups

Made by `experiments/sites.py`. Nominal coverage is 95 %.

## Sites

The logits of the true AUCs are normal around that of 0.8 with the standard deviation tau. Sites
have {SMALLEST} to {LARGEST:,} rows (uniform logarithms), 15 to 60 % of them cases. There are
{N_SAMPLES[5]} sets of 5 sites, {N_SAMPLES[12]} of 12 and {N_SAMPLES[40]} of 40. The mean is that of
the random effects. "New site" is the share of new true values in the prediction interval.

{tables[0]}

Five usual weightings of the AUCs, with the interval that takes all sites for equal:

{tables[1]}

## Crossed groups

{np.prod(LEVELS)} groups of three crossed columns with 10 to 500 rows. Their logits are the sums of
effects of the columns (standard deviation 0.25) and of the group (0.2); {N_GROUPED} samples. Max-T
takes the simultaneous intervals of all differences. The naive intervals are those of the two
groups, or of the one group, that was looked for.

{markdown_table(header, groups)}
""",
    )


if __name__ == "__main__":
    main()
