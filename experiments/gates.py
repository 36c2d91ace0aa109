"""Gates: false verdicts, power, and coverage of ranks and of repeated answers."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd
from _study import RESULTS, arguments, markdown_table, run_studies, simulate, write_page
from scipy.stats import t

from dmfroc import estimate, gate, items
from dmfroc.analyses import gate as gates
from dmfroc.analyses.ranks import ranks_of
from dmfroc.inference import interval_method
from dmfroc.results.estimate import Estimate
from dmfroc.simulation.study import Study, grid

# What verdicts do not need: plans, and the draws behind the probabilities of orders
gates._Rows.plan = lambda *_: ""
interval_method.N_DRAWS = 100

LEVEL = 0.95
STRENGTHS = {2: (1.2, 4.5), 3: (1.6, 5.0), 10: (2.5, 6.0)}  # about .8 and .999 in M
N_OF_TRUTH = 400_000
KINDS = ("at_least", "better_than", "no_worse_than", "worst_of", "few groups")
N_BOOT = 999


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


def verdict_of(rule: dict, *data: object, **options: object) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gate([rule], *data, **options).rules[0].verdict


def false_verdict(
    generator: np.random.Generator, kind: str, measure: str, n_classes: int, n: int, is_near: int
) -> dict:
    """Judge a model whose truth is at the limit of the rule, so that each verdict is too bold."""
    strength = STRENGTHS[n_classes][is_near]
    y, new = simulate(generator, n, means(n_classes, strength))
    value, options, data = truth(measure, n_classes, strength), {}, new
    rule = {"measure": measure, "at_least": value}
    if kind == "better_than":
        data = {"new": new, "old": simulate(generator, n, means(n_classes, strength))[1]}
        rule = {"measure": measure, "better_than": "old"}
    elif kind == "no_worse_than":
        better = strength + 0.5
        margin = truth(measure, n_classes, better) - value
        data = {"new": new, "old": simulate(generator, n, means(n_classes, better))[1]}
        rule = {"measure": measure, "no_worse_than": "old", "margin": margin}
    elif kind == "worst_of":
        rule["worst_of"] = "site"
        options["by"] = {"site": np.arange(n) // n_classes % 3}
    elif kind == "few groups":
        patient = np.arange(n) // n_classes % 4
        shift = generator.normal(size=(4, n_classes)) / 4  # of each patient
        data = new * np.exp(shift[patient])
        data /= data.sum(axis=1, keepdims=True)
        options["groups"] = patient
        rule["at_least"] = truth_of_groups(measure, n_classes, strength)
    found = verdict_of(rule, y, data, **options)
    again = verdict_of(rule, y, data, **options) if generator.random() < 0.05 else found
    return {"verdict": found, "is_same": again == found}


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


def false_verdict_of_items(generator: np.random.Generator, kind: str, n: int, rate: float) -> dict:
    """Judge models of items whose truth is at the limit of the rule."""
    p = generator.beta(2 * rate, 2 * (1 - rate), n)
    new, old = ((generator.random((n, 3)) < p[:, None]) * 1.0 for _ in range(2))
    k = 2 if kind == "pass_at" else 1
    # E (1 - (1 - p)^2) for a beta distribution with a + b = 2
    limit = rate if k == 1 else 1 - (1 - rate) * (2 * (1 - rate) + 1) / 3
    rule = {"measure": "pass_at(2)" if k == 2 else "mean_score", "at_least": limit}
    if kind == "items better_than":
        rule = {"measure": "mean_score", "better_than": "old"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = items({"new": new, "old": old})
    verdict = verdict_of(rule, found)
    return {"verdict": verdict, "is_same": verdict_of(rule, found) == verdict}


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
        options = {"method": "bootstrap", "interval_type": "percentile", "n_draws": N_BOOT}
        found = estimate(measure, y, scores, **options)
    verdict = verdict_of({"measure": measure, "at_least": limit}, y, scores)
    return {
        "gate": verdict == "pass",
        "gate fails": verdict == "fail",
        "plain": found.value >= limit,
        "bootstrap": found.interval[0] >= limit,
        "bootstrap fails": found.interval[1] < limit,
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
) -> dict:
    """Return whether the limits of pass_at(2) and pass_all(2) hold the truth."""
    a, b = concentration * rate, concentration * (1 - rate)
    p = generator.beta(a, b, n) if np.isfinite(concentration) else np.full(n, rate)
    found = items({"a": (generator.random((n, m)) < p[:, None]) * 1.0})
    both = rate * (a + 1) / (a + b + 1) if np.isfinite(concentration) else rate**2
    row = {}
    for name, of_k, value in (
        ("at", found.pass_at(2), 2 * rate - both),
        ("all", found.pass_all(2), both),
    ):
        low, high = of_k["a"].interval
        row |= {
            f"{name}_low": value < low,
            f"{name}_high": value > high,
            f"{name}_width": high - low,
        }
    return row


def studies() -> dict[str, Study]:
    common = {"directory": RESULTS, "seed": 53}
    rows = [
        {"kind": kind, "measure": measure, "n_classes": k, "n": n, "is_near": near}
        for kind in KINDS
        for measure in (("hand_till", "accuracy") if kind == "at_least" else ("hand_till",))
        for k, sizes in {2: (2, 6, 30, 200), 3: (30,), 10: (30,)}.items()
        for n in sizes
        for near in (0, 1)
        if not (kind == "few groups" and n < 4 * 2 * k)
    ]
    of_items = grid(
        kind=["mean_score", "pass_at", "items better_than"],
        n=[2, 5, 50],
        rate=[0.5, 0.98],
    )
    power = grid(measure=["accuracy", "hand_till"], n=[100], is_near=[0, 1],
                 errors_better=[0.0, 1.0, 2.0, 3.0])  # fmt: skip
    kinds = ["equal", "one better", "two tiers"]
    rates, many = [0.02, 0.5, 0.98], grid(models=[100], kind=kinds)
    of_attempts = grid(n=[20, 100, 500], m=[2, 10], rate=rates, concentration=[1.0, np.inf])
    return {
        "false": Study("gates_false", false_verdict, rows, replications=2000, **common),
        "items": Study(
            "gates_items", false_verdict_of_items, of_items, replications=2000, **common
        ),
        "power": Study("gates_power", passes, power, replications=1000, **common),
        "ranks": Study(
            "gates_ranks", ranks, grid(models=[5, 20], kind=kinds), replications=1000, **common
        ),
        "many": Study("gates_ranks_of_many", ranks, many, replications=200, **common),
        "attempts": Study("gates_attempts", attempts, of_attempts, replications=2000, **common),
    }


def percent(x: pd.Series | float) -> str:
    return f"{100 * float(np.mean(x)):.1f}"


def false_table(table: pd.DataFrame, names: list[str]) -> str:
    found = []
    for key, rows in table.groupby(names, sort=False):
        shares = [percent(rows.verdict == x) for x in ("pass", "fail")]
        undecided = percent(rows.verdict.isin(["inconclusive", "unattainable"]))
        found.append([*key, *shares, undecided, percent(rows.verdict == "unattainable"), len(rows)])
    head = [*names, "pass, %", "fail, %", "undecided, %", "of them unattainable, %", "samples"]
    return markdown_table(head, found)


def power_table(table: pd.DataFrame) -> str:
    ways = ["gate", "bootstrap", "plain", "gate fails", "bootstrap fails"]
    names = ["measure", "n", "is_near", "errors_better"]
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
    rows = []
    for key, part in table.groupby(["n", "m", "rate", "concentration"]):
        row = [*key]
        for name in ("at", "all"):
            missed = part[f"{name}_low"] | part[f"{name}_high"]
            row += [percent(~missed), f"{part[f'{name}_width'].mean():.3f}"]
        rows.append(row)
    head = [
        "items",
        "attempts",
        "rate",
        "concentration",
        "pass_at(2), %",
        "width",
        "pass_all(2), %",
        "width",
    ]
    return markdown_table(head, rows)


def page(found: dict[str, pd.DataFrame]) -> str:
    same = pd.concat([found["false"], found["items"]]).is_same
    worst = 100 * max(
        (rows.verdict.isin(["pass", "fail"])).mean()
        for name in ("false", "items")
        for _, rows in found[name].groupby([x for x in rows_of(found[name]) if x != "replication"])
    )
    return f"""# Gates, ranks and repeated answers

Made by `experiments/gates.py`. Nominal coverage is 95 % throughout.

## False verdicts

The truth of each model is exactly at the limit of its rule: at the value that is asked for, without
any difference from a second model of the same kind (`better_than`), or worse by exactly the margin.
A little to one side every pass is false, and a little to the other every fail. The largest share of
passes and fails together, of all rows of both tables, is {worst:.1f} %.
Of the gates that were judged twice, {percent(same)} % gave the same verdict.

`is_near` is 1 near perfection (M about .999). "worst_of" has three sites, and "few groups" has four
patients.

{false_table(found["false"], ["kind", "measure", "n_classes", "n", "is_near"])}

Items with three attempts, whose rates have a beta distribution:

{false_table(found["items"], ["kind", "n", "rate"])}

## How often a better model passes

Two classes; the model is better than the limit by 0 to 3 standard errors. At 0 a pass is false
(just below the limit), and should have at most 5 %. "plain" compares the value with the limit;
"bootstrap" holds a percentile interval against it.

{power_table(found["power"])}

## Ranks

Do all intervals hold all ranks at once? Equal models share all ranks from 1 to their number.
"width" is the mean of worst less best rank.

{ranks_table(found["ranks"], found["many"])}

## Repeated answers

Coverage of `pass_at(2)` and `pass_all(2)`. The rates of items have a beta distribution with this
concentration (a + b), or are all the same (inf).

{attempts_table(found["attempts"])}
"""


def rows_of(table: pd.DataFrame) -> list[str]:
    return [
        x for x in table.columns if x in ("kind", "measure", "n_classes", "n", "is_near", "rate")
    ]


def main() -> None:
    options = arguments(__doc__, is_study=True)
    text = page(run_studies(studies(), options))
    print(text) if options.quick else write_page("gates", text)


if __name__ == "__main__":
    main()
