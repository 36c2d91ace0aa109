"""Gates: false verdicts, power, and coverage of ranks and of repeated answers."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd
from _runner import Study, grid
from _study import RESULTS, arguments, markdown_table, run_studies, simulate, write_page
from scipy.stats import t

import dmfroc
from dmfroc import estimate
from dmfroc.analyses.ranks import ranks_of
from dmfroc.applications import gate, gates, items
from dmfroc.applications.item_means import mean_of, scored_items
from dmfroc.inference import method
from dmfroc.results.estimate import Estimate

# What verdicts do not need: plans, perfect samples, and draws behind the probabilities of orders
PERFECT = gates._Rows.perfect
gates._Rows.plan = lambda *_: ""
gates._Rows.perfect = lambda *_: None
method.N_DRAWS = 100

LEVEL = 0.95
STRENGTHS = {2: (1.2, 4.5), 3: (1.6, 5.0), 10: (2.5, 6.0)}  # about .8 and .999 in M
N_OF_TRUTH = 400_000
KEYS = {"false": ["kind", "n_classes", "n", "is_near"], "items": ["kind", "n", "rate"]}
N_BOOT = 999
FEWEST_ITEMS = 5
N_WORST, N_WORST_OF_ITEMS = 5, 4  # cells in a table


def means(n_classes: int, strength: float) -> np.ndarray:
    return strength * np.eye(n_classes)


@cache
def truth(measure: str, n_classes: int, strength: float) -> float:
    """Return the value in the population."""
    generator = np.random.default_rng(1)
    y, scores = simulate(generator, N_OF_TRUTH // n_classes, means(n_classes, strength))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimate(measure, y, scores).value


def verdicts_of(rules: list[dict], *data: object, **options: object) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [rule.verdict for rule in gate(rules, *data, **options).rules]


def verdict_of(rule: dict, *data: object, **options: object) -> str:
    return verdicts_of([rule], *data, **options)[0]


def false_verdicts(
    generator: np.random.Generator, n_classes: int, n: int, is_near: int
) -> list[dict]:
    """Judge a model whose truth is at the limit of each rule, so that each verdict is too bold."""
    strength = STRENGTHS[n_classes][is_near]
    y, new = simulate(generator, n, means(n_classes, strength))
    old, better = (
        simulate(generator, n, means(n_classes, x))[1] for x in (strength, strength + 0.5)
    )
    value = truth("hand_till", n_classes, strength)
    margin = truth("hand_till", n_classes, strength + 0.5) - value
    accuracy = truth("accuracy", n_classes, strength)
    patient = np.arange(n) // n_classes % 4
    shifted = new * np.exp((generator.normal(size=(4, n_classes)) / 4)[patient])
    shifted /= shifted.sum(axis=1, keepdims=True)
    hand_till = {"measure": "hand_till"}
    of_one = [hand_till | {"at_least": value}, {"measure": "accuracy", "at_least": accuracy}]
    of_sites = [hand_till | {"at_least": value, "worst_of": "site"}]
    of_groups = [hand_till | {"at_least": truth_of_groups("hand_till", n_classes, strength)}]
    calls = [
        (("at_least", "at_least, accuracy"), of_one, new, {}),
        (("better_than",), [hand_till | {"better_than": "old"}], {"new": new, "old": old}, {}),
        (
            ("no_worse_than",),
            [hand_till | {"no_worse_than": "old", "margin": margin}],
            {"new": new, "old": better},
            {},
        ),
        (("worst_of",), of_sites, new, {"by": {"site": np.arange(n) // n_classes % 3}}),
        (("few groups",), of_groups, shifted, {"groups": patient}),
    ]
    is_full, rows = generator.random() < 0.05, []
    for kinds, rules, data, options in calls:
        if "groups" in options and n < 8 * n_classes:
            continue
        verdicts = verdicts_of(rules, y, data, **options)
        if is_full:  # again, with a perfect sample beside it
            gates._Rows.perfect = PERFECT
            full = verdicts_of(rules, y, data, **options)
            gates._Rows.perfect = lambda *_: None
        for place, (kind, verdict) in enumerate(zip(kinds, verdicts, strict=True)):
            row = {"kind": kind, "verdict": verdict, "again": full[place] if is_full else None}
            rows.append(row)
    return rows


@cache
def truth_of_groups(measure: str, n_classes: int, strength: float) -> float:
    """Return the mean value of samples of four patients with shifted scores."""
    generator, values = np.random.default_rng(2), []
    for _ in range(200):
        y, scores = simulate(generator, 400 * n_classes, means(n_classes, strength))
        patient = np.arange(len(y)) // n_classes % 4
        scores = scores * np.exp(generator.normal(size=(4, n_classes))[patient] / 4)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values.append(estimate(measure, y, scores / scores.sum(axis=1, keepdims=True)).value)
    return float(np.mean(values))


def false_verdicts_of_items(generator: np.random.Generator, n: int, rate: float) -> list[dict]:
    """Judge models of items whose truth is at the limit of each rule."""
    p = generator.beta(2 * rate, 2 * (1 - rate), n)
    new, old = ((generator.random((n, 3)) < p[:, None]) * 1.0 for _ in range(2))
    # E (1 - (1 - p)^2) for a beta distribution with a + b = 2
    of_two = 1 - (1 - rate) * (2 * (1 - rate) + 1) / 3
    rules = {
        "mean_score": {"measure": "mean_score", "at_least": rate},
        "pass_at": {"measure": "pass_at(2)", "at_least": of_two},
        "items better_than": {"measure": "mean_score", "better_than": "old"},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = items({"new": new, "old": old})
    verdicts, twice = (verdicts_of(list(rules.values()), found) for _ in range(2))
    return [
        {"kind": kind, "verdict": verdict, "again": other}
        for kind, verdict, other in zip(rules, verdicts, twice, strict=True)
    ]


def passes(
    generator: np.random.Generator, measure: str, n: int, is_near: int, errors_better: float
) -> dict:
    """Judge a model that is better than the limit by some standard errors, in three ways."""
    strength = STRENGTHS[2][is_near]
    value = truth(measure, 2, strength)
    limit = value - errors_better * error_of(measure, n, strength)
    y, scores = simulate(generator, n, means(2, strength))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = estimate(measure, y, scores, method=dmfroc.Bootstrap(N_BOOT))
        low, high = np.quantile(found.draws, (0.025, 0.975))  # no wider, as intervals of draws are
    verdict = verdict_of({"measure": measure, "at_least": limit}, y, scores)
    return {
        "gate": verdict == "pass",
        "gate fails": verdict == "fail",
        "plain": found.value >= limit,
        "bootstrap": low >= limit,
        "bootstrap fails": high < limit,
    }


@cache
def error_of(measure: str, n: int, strength: float) -> float:
    generator = np.random.default_rng(3)
    samples = [simulate(generator, n, means(2, strength)) for _ in range(1000)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(np.std([estimate(measure, *sample).value for sample in samples]))


def ranks(generator: np.random.Generator, models: int, kind: str) -> dict:
    """Return whether all ranks are in their intervals, and how wide these are."""
    true, n = np.zeros(models), 400
    true[: {"equal": 0, "one better": 1, "two tiers": models // 2}[kind]] = 0.2
    x = true + (generator.normal(size=(n, 1)) + generator.normal(size=(n, models))) / 2**0.5
    value, covariance = x.mean(axis=0), np.cov(x.T) / n
    squares = np.add.outer(np.diag(covariance), np.diag(covariance)) - 2 * covariance
    np.fill_diagonal(squares, 1)
    p = 2 * t.sf(np.abs(np.subtract.outer(value, value)) / squares**0.5, n - 1)
    named = {
        str(place): Estimate("m", "M", float(v), 0.1, (0, 1), LEVEL, "t")
        for place, v in enumerate(value)
    }
    given = {"title": "M", "level": LEVEL, "warnings": (), "seed": int(generator.integers(1e9))}
    joint, alone = (
        ranks_of(named, value, covariance, p, has_joint_errors=x, **given).intervals
        for x in (True, False)
    )
    best = 1 + (true > true[:, None]).sum(axis=1)
    worst = models - (true < true[:, None]).sum(axis=1)
    covers = [joint[str(i)][0] <= best[i] and worst[i] <= joint[str(i)][1] for i in range(models)]
    widths = [np.mean([high - low for low, high in x.values()]) for x in (joint, alone)]
    return {"covers": all(covers), "width": widths[0], "Bonferroni": widths[1]}


def attempts(
    generator: np.random.Generator, n: int, m: int, rate: float, concentration: float
) -> list[dict]:
    """Return whether limits of pass_at and pass_all, and of differences, hold the truth."""
    a, b = concentration * rate, concentration * (1 - rate)
    p = generator.beta(a, b, n) if np.isfinite(concentration) else np.full(n, rate)
    drawn = [(generator.random((n, m)) < p[:, None]) * 1.0 for _ in range(2)]
    scores, rows = dict(zip("ab", drawn, strict=True)), []
    given = scored_items(scores, None, None, (0, 1), None)
    for k in sorted({1, 2, m}):
        for kind, worst in (("at", False), ("all", True)):
            of_k = given.of_best(k, worst=worst)
            chance = moment(rate if worst else 1 - rate, concentration, k)
            value = chance if worst else 1 - chance
            for of, minus, true in (("value", None, value), ("difference", "b", 0.0)):
                low, high = mean_of(of_k, "a", minus).limits.interval_at(0.05)[:2]
                # Limits of a mean that is 0 or 1 but for rounding
                missed = true < low - 1e-12, true > high + 1e-12
                row = {"kind": kind, "k": k, "of": of, "width": high - low}
                rows.append(row | {"is_low": missed[0], "is_high": missed[1]})
    return rows


def moment(rate: float, concentration: float, k: int) -> float:
    """Return the mean of the k-th power of the rates of items."""
    if not np.isfinite(concentration):
        return rate**k
    steps = np.arange(k)
    return float(np.prod((concentration * rate + steps) / (concentration + steps)))


def studies() -> dict[str, Study]:
    common = {"directory": RESULTS, "seed": 53}
    sizes = {2: (2, 6, 30, 200), 3: (3, 30), 10: (10, 30)}
    rows = [
        {"n_classes": k, "n": n, "is_near": near}
        for k, of_k in sizes.items()
        for n in of_k
        for near in (0, 1)
    ]
    # Elsewhere hardly any verdict is possible
    open_rows = [row for row in rows if row["n"] > 3 and not row["is_near"]]
    shut_rows = [row for row in rows if row not in open_rows]
    of_items = grid(n=[2, 5, 50], rate=[0.5, 0.98])
    power = grid(measure=["accuracy", "hand_till"], n=[100], is_near=[0, 1],
                 errors_better=[0.0, 1.0, 2.0, 3.0])  # fmt: skip
    kinds = ["equal", "one better", "two tiers"]
    rates, many = [0.02, 0.1, 0.5, 0.9, 0.98], grid(models=[100], kind=kinds)
    of_attempts = grid(n=[20, 100, 500], m=[2, 5, 10], rate=rates, concentration=[1.0, np.inf])
    return {
        "false": Study("gates_false", false_verdicts, open_rows, replications=200, **common),
        "shut": Study("gates_false_shut", false_verdicts, shut_rows, replications=200, **common),
        "items": Study(
            "gates_items", false_verdicts_of_items, of_items, replications=200, **common
        ),
        "power": Study("gates_power", passes, power, replications=100, **common),
        "ranks": Study(
            "gates_ranks", ranks, grid(models=[5, 20], kind=kinds), replications=200, **common
        ),
        "many": Study("gates_ranks_of_many", ranks, many, replications=20, **common),
        "attempts": Study("gates_attempts", attempts, of_attempts, replications=200, **common),
    }


def percent(x: pd.Series | float) -> str:
    return f"{100 * float(np.mean(x)):.1f}"


def false_table(table: pd.DataFrame, names: list[str], n: int = N_WORST) -> str:
    """Return the cells with the most verdicts, all of which are false."""
    found = []
    for key, rows in table.groupby(names, sort=False):
        shares = [percent(rows.verdict == x) for x in ("pass", "fail")]
        undecided = percent(rows.verdict.isin(["inconclusive", "unattainable"]))
        cannot = percent(rows.again.dropna() == "unattainable")
        found.append([*key, *shares, undecided, cannot, len(rows)])
    found.sort(key=lambda row: -sum(map(float, row[len(names) :][:2])))
    head = [*names, "pass, %", "fail, %", "undecided, %", "unattainable, %", "samples"]
    return markdown_table(head, found[:n])


def power_table(table: pd.DataFrame) -> str:
    ways = ["gate", "bootstrap", "plain"]
    names, table = ["measure", "errors_better"], table[table.is_near == 0]
    rows = [[*key, *(percent(part[x]) for x in ways)] for key, part in table.groupby(names)]
    return markdown_table([*names, *(f"{x}, %" for x in ways)], rows)


def ranks_table(*tables: pd.DataFrame) -> str:
    rows = [
        [
            *key,
            percent(part.covers),
            *(f"{part[x].mean():.2f}" for x in ("width", "Bonferroni")),
            len(part),
        ]
        for table in tables
        for key, part in table.groupby(["models", "kind"], sort=False)
    ]
    return markdown_table(
        ["models", "design", "covers, %", "width", "Bonferroni's", "samples"], rows
    )


def attempts_table(table: pd.DataFrame) -> str:
    """Return the least coverage of all cells of a size."""
    table = table.assign(covers=100 * ~(table.is_low | table.is_high))
    rows = []
    for key, part in table.groupby(["n", "m"]):
        row = [*key]
        for of in ("value", "difference"):
            for kind in ("at", "all"):
                cells = part[(part.of == of) & (part.kind == kind)]
                cells = cells.groupby(["rate", "concentration", "k"])
                coverage = cells.covers.mean()
                row.append(f"{coverage.min():.1f}")
        rows.append(row)
    heads = [f"{kind}{of}, %" for of in ("", ", difference") for kind in ("pass_at", "pass_all")]
    return markdown_table(["items", "attempts", *heads], rows)


def page(found: dict[str, pd.DataFrame]) -> str:
    false = pd.concat([found["false"], found["shut"]])
    twice = pd.concat([false, found["items"]]).dropna(subset="again")
    same = twice.verdict.eq(twice.again) | ~twice.again.isin(["pass", "fail"])
    n_sites = np.where(false.kind == "worst_of", 3, 1)
    is_single = false.n <= false.n_classes * n_sites
    items = found["items"]
    is_few = items.n < FEWEST_ITEMS
    worst, of_single, of_few = (
        100 * max(rows.verdict.isin(["pass", "fail"]).mean() for _, rows in x)
        for x in (
            [*false[~is_single].groupby(KEYS["false"]), *items[~is_few].groupby(KEYS["items"])],
            false[is_single].groupby(KEYS["false"]),
            items[is_few].groupby(KEYS["items"]),
        )
    )
    coverage = 100 * (
        found["attempts"].groupby(["of", "n", "m", "rate", "concentration", "kind", "k"])
        [["is_low", "is_high"]].mean().sum(axis=1).rsub(1)
    )  # fmt: skip
    n_samples = found["attempts"].replication.nunique()
    n_cells = false.groupby(KEYS["false"]).ngroups
    n_items = found["items"].groupby(KEYS["items"]).ngroups
    return f"""# Gates, ranks and repeated answers

Made by `experiments/gates.py`. Nominal coverage is 95 % throughout.

## False verdicts

The truth of each model is exactly at the limit of its rule: at the value that is asked for, without
any difference from a second model of the same kind (`better_than`), or worse by exactly the
margin. The
largest share of passes and fails together, of all cells of both kinds, is {worst:.1f} %. That is
without those in which no class has more than a single observation, so that nothing shows how a
value varies, which a gate says (up to {of_single:.1f} %), and without items that are fewer than
{FEWEST_ITEMS} (up to {of_few:.1f} %).
Of the gates that were judged twice (5 %, with a perfect sample beside them), {percent(same)} % gave
the same verdict.

`is_near` is 1 near perfection (M about .999). All rules but one are about M. "worst_of" has three
sites, and "few groups" has four patients. These are the {N_WORST} of
{n_cells} cells with the most verdicts.

{false_table(false, KEYS["false"])}

Items with three attempts, whose rates have a beta distribution ({N_WORST_OF_ITEMS} of {n_items}
cells):

{false_table(found["items"], KEYS["items"], N_WORST_OF_ITEMS)}

## How often a better model passes

Two classes, 100 cases; the model is better than the limit by 0 to 3 standard errors. At 0 a pass is
false (just below the limit), and should have at most 5 %. "plain" compares the value with the
limit; "bootstrap" holds the percentiles of {N_BOOT} draws against it. Near perfection (M about
.999) neither passes in any of the samples.

{power_table(found["power"])}

## Ranks

Do all intervals hold all ranks at once? Equal models share all ranks from 1 to their number.
"width" is the mean of worst less best rank.

{ranks_table(found["ranks"], found["many"])}

## Repeated answers

Coverage of `pass_at(k)` and `pass_all(k)` for k of 1, 2 and all attempts, and of the
difference of two models with the same rates: the least of all cells of a size. The mean rate is
.02, .1, .5, .9 or .98. Rates have a beta distribution with concentration (a + b) 1, or are all the
same.

In {len(coverage):,} cells with {n_samples:,} samples each, the least coverage is
{coverage.min():.1f} % and the median {coverage.median():.1f} %.

{attempts_table(found["attempts"])}
"""


def main() -> None:
    options = arguments(__doc__, is_study=True)
    text = page(run_studies(studies(), options))
    print(text) if options.quick else write_page("gates", text)


if __name__ == "__main__":
    main()
