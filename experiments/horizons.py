"""Outcomes at a horizon with censoring: influences, coverage, and time."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from _study import arguments, markdown_table, write_page

import dmfroc
from dmfroc import compare, estimate, evaluate
from dmfroc.measures import MEASURES, net_benefit

HORIZON = 0.3
N_SAMPLES, N_POPULATION, N_LEFT_OUT, N_ROWS = 200, 200_000, 300, 100_000
N_SHOWN = 4  # measures in a table
OF_KINDS = ("hand_till", "dmf_auc", "brier_score")
OF_ANY = ("calibration_slope", "observed_expected_ratio", "net_benefit")
RATES = {20: 0.45, 50: 1.9, 70: 4.8}  # of censoring, by the share of censored rows
SMOOTH = ("hand_till", "dmf_auc", "brier_score", "log_loss", "brier_skill_score", "accuracy",
          "macro_f1", "informedness")  # fmt: skip
SMOOTH_OF_ANY = (*OF_ANY, "calibration_intercept", "average_precision")

Followed = dict[str, np.ndarray]


def draw(generator: np.random.Generator, n: int, rate: float, depends: float = 0.0) -> Followed:
    """Draw two kinds of events, the time of the first of all, and risks that are too extreme."""
    x = generator.normal(size=(n, 2))
    hazards = np.exp(np.array([0.9, 0.7]) * x) * np.array([1.0, 0.6])
    events = generator.exponential(1 / hazards)
    stratum = x[:, 0] > 0
    lost = np.full(n, np.inf)
    if rate > 0:
        lost = generator.exponential(1 / (rate * np.exp(depends * (2 * stratum - 1))))
    first = events.min(axis=1)
    total = hazards.sum(axis=1)
    logit = np.log(np.expm1(total * HORIZON))
    risk = np.clip(1 / (1 + np.exp(-1.2 * logit)), 0.001, 0.999)
    return {
        "kind": np.where(lost < first, 0, events.argmin(axis=1) + 1),
        "time": np.minimum(lost, first),
        "risks": hazards / total[:, None] * risk[:, None],
        "stratum": stratum,
    }


def values(rows: Followed, how: str = "horizon") -> dict[str, Any]:
    """Return estimates of all measures, by the package or by what one should not do."""
    risks, any_event = rows["risks"], rows["kind"] > 0
    if how in ("horizon", "strata"):
        by = {"censoring": "strata", "by": rows["stratum"]} if how == "strata" else {}
        given: dict[str, Any] = {
            "follow_up": dmfroc.FollowUp(rows["time"], HORIZON, censored=0, **by)
        }
        of_kinds = evaluate(rows["kind"], risks, measures=OF_KINDS, **given)
        of_any = evaluate(any_event, risks.sum(axis=1), measures=OF_ANY, **given)
        return of_kinds.estimates | of_any.estimates
    known = (rows["time"] > HORIZON) | any_event
    known |= how == "count as event-free"
    kinds = np.where(rows["time"] <= HORIZON, rows["kind"], 0)[known]
    risks = risks[known]
    scores = np.column_stack([1 - risks.sum(axis=1), risks])
    of_any = evaluate(kinds > 0, risks.sum(axis=1), measures=OF_ANY)
    return evaluate(kinds, scores, measures=OF_KINDS).estimates | of_any.estimates


def coverage(
    generator: np.random.Generator, n: int, rate: float, depends: float, how: str
) -> list[str]:
    """Return how often intervals hold the value of a large sample without censoring."""
    truth = TRUTH
    holds: dict[str, list[bool]] = {name: [] for name in truth}
    for _ in range(N_SAMPLES):
        found = values(draw(generator, n, rate, depends), how)
        for name, value in truth.items():
            low, high = found[name].interval
            holds[name].append(low <= value <= high)
    return [f"{100 * np.mean(x):.1f}" for x in holds.values()]


TRUTH: dict[str, float] = {}


def left_out(generator: np.random.Generator) -> list[list[str]]:
    """Compare influences with the changes of the value without each row, G fitted again."""
    from dmfroc.analyses.evidence import evidence_of
    from dmfroc.inference.evidence import facts_of
    from dmfroc.inference.influences import influences_of
    from dmfroc.inference.options import Options
    from dmfroc.measures.measure import bind

    rows, n = draw(generator, N_LEFT_OUT, RATES[50]), N_LEFT_OUT
    table = []
    for name in (*SMOOTH, *SMOOTH_OF_ANY):
        y, scores = rows["kind"], rows["risks"]
        if name in SMOOTH_OF_ANY:
            y, scores = y > 0, scores.sum(axis=1)
        options = Options(follow_up=dmfroc.FollowUp(rows["time"], HORIZON, censored=0))
        sample = evidence_of(y, scores, options, {}, needs="scores").sample
        measure, predictions, weights = MEASURES[name], sample.predictions, sample.units.weights
        bound = bind(measure, predictions)
        [facts] = facts_of([measure], sample)
        [plain] = influences_of([measure], bound, predictions)
        through = facts.influences.influences.copy()
        through[weights.known] -= plain.influences
        changes, fixed = np.zeros(n), np.zeros(n)
        for place, row in enumerate(np.flatnonzero(weights.known)):
            rest = predictions.rows(np.arange(predictions.n_observations) != place)
            fixed[row] = facts.value - estimate(measure, rest).value
        for row in range(n):
            rest = np.arange(n) != row
            without = estimate(
                measure,
                y[rest],
                scores[rest],
                follow_up=dmfroc.FollowUp(rows["time"][rest], HORIZON, censored=0),
            )
            changes[row] = facts.value - without.value
        error = np.sqrt((n - 1) / n * ((changes - changes.mean()) ** 2).sum())
        table.append(
            [measure.title, f"{np.corrcoef(facts.influences.influences, changes)[0, 1]:.5f}",
             f"{np.corrcoef(through, changes - fixed)[0, 1]:.5f}",
             f"{facts.moments.standard_error:.5f}", f"{error:.5f}"]
        )  # fmt: skip
    return table


def timings(generator: np.random.Generator) -> list[list[str]]:
    """Return the time of three models at five horizons, with censoring and without."""
    table = []
    for name in ("hand_till", "brier_score"):
        seconds = []
        for rate in (0.0, RATES[50]):
            rows = draw(generator, N_ROWS, rate)
            scores = {x: rows["risks"] ** power for x, power in (("a", 1), ("b", 1.2), ("c", 1.5))}
            start = time.perf_counter()
            compare(
                rows["kind"],
                scores,
                measures=name,
                follow_up=dmfroc.FollowUp(rows["time"], [0.1, 0.2, 0.3, 0.4, 0.5], censored=0),
            )
            seconds.append(time.perf_counter() - start)
        ratio = f"{seconds[1] / seconds[0]:.2f}"
        table.append([MEASURES[name].title, *(f"{x:.1f}" for x in seconds), ratio])
    return table


def page() -> str:
    generator = np.random.default_rng(1)
    TRUTH.update({k: e.value for k, e in values(draw(generator, N_POPULATION, 0.0)).items()})
    titles = [MEASURES[x].title if x in MEASURES else net_benefit().title for x in TRUTH]
    cells = [[str(n), f"{share} %", *coverage(generator, n, rate, 0.0, "horizon")]
             for n in (150, 300, 1000) for share, rate in RATES.items()]  # fmt: skip
    others = [[how, "no", *coverage(generator, 300, RATES[50], 0.0, how)]
              for how in ("horizon", "drop the censored", "count as event-free")]  # fmt: skip
    others += [[how, "yes", *coverage(generator, 1000, RATES[50], 0.8, how)]
               for how in ("horizon", "strata")]  # fmt: skip
    of_left_out = ["measure", "correlation", "of the part through G", "standard error",
                   "leaving one out"]  # fmt: skip
    return f"""# Outcomes at a horizon

Made by `experiments/horizons.py`. Nominal coverage is 95 %; {N_SAMPLES} samples each, so that a
coverage of 95 % is uncertain by {100 * np.sqrt(0.0475 / N_SAMPLES):.1f} points.

Two kinds of events with hazards that depend on two features, exponential censoring, and risks of an
event before {HORIZON} whose logit is 1.2 times the true one. M, the DMF-AUC and the Brier score are
of three classes, the others of any event.

{markdown_table(["rows", "censored", *titles], cells)}

Beside what one should not do, with 300 rows; and with 1,000 rows whose censoring depends on the
sign of the first feature. 50 % are censored.

{markdown_table(["how", "censoring depends", *titles], others)}

Influences against the changes of the value without each row, with the chance to stay uncensored
estimated again. {N_LEFT_OUT} rows, 50 % censored. The part through G is what remains if the change
with fixed weights is taken away. These are the {N_SHOWN} of 13 measures that agree least.

{markdown_table(of_left_out, sorted(left_out(generator), key=lambda row: row[2])[:N_SHOWN])}

`compare` of three models at five horizons, {N_ROWS:,} rows, in seconds, on two shared cores.

{markdown_table(["measure", "nobody censored", "50 % censored", "ratio"], timings(generator))}
"""


def main() -> None:
    global N_SAMPLES, N_POPULATION, N_LEFT_OUT, N_ROWS
    options = arguments(__doc__)
    if options.quick:
        N_SAMPLES, N_POPULATION, N_LEFT_OUT, N_ROWS = 2, 5_000, 40, 2_000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = page()
    if options.quick:
        print(text)
    else:
        write_page("horizons", text)


if __name__ == "__main__":
    main()
