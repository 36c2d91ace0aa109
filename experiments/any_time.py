"""False alarms of streams that are looked at all the time, how soon drift is found, and widths."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from _study import arguments, markdown_table, write_page
from scipy.optimize import brentq
from scipy.special import ndtri

from dmfroc import Accumulator, compare, estimate
from dmfroc.analyses.sequences import DriftMonitor, current_of_facts
from dmfroc.inference.anytime import (
    error_at_one_time,
    limits_of_share,
    log_e_value_of_change,
    log_e_value_of_shares,
    log_e_value_of_sums,
    next_possible_change,
)
from dmfroc.inference.evidence import facts_of
from dmfroc.inference.units import sample_of
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures import MEASURES
from dmfroc.measures.measure import Measure

N_ROWS, BASELINE, LEVEL = 1_200, 0.88, 0.95
N_STREAMS, N_PAIRS = 1_000, 200
N_STREAMS_OF_AREAS, N_WORSE = {"hand_till": 1_000, "dmf_auc": 1_000}, 20
FIRST_LOOK = 8
FARTHEST = 3.0  # standard deviations that no sum is expected to move between two looks
SHIFT, N_POPULATION = 1.5, 300_000


class Watched(NamedTuple):
    """The first row with an alarm, N_ROWS + 1 if none, and whether limits ever failed."""

    alarm_at: int
    has_failed: bool


def starts() -> list[int]:
    """Return after how many rows a change may begin."""
    found = [0]
    while (n := next_possible_change(found[-1])) < N_ROWS:
        found.append(n)
    return found


def shares(generator: np.random.Generator, rate_after: float) -> tuple[np.ndarray, ...]:
    """Return the first row with an alarm in each stream, N_ROWS + 1 if none, by three rules."""
    rates = np.where(np.arange(N_ROWS) < N_ROWS // 2, BASELINE, rate_after)
    sums = np.cumsum(generator.random((N_STREAMS, N_ROWS)) < rates, axis=1)
    sums = np.concatenate([np.zeros((N_STREAMS, 1)), sums], axis=1)
    possible = np.array(starts())
    drift, sequence, fixed = np.full((3, N_STREAMS), N_ROWS + 1)
    for n in range(1, N_ROWS + 1):
        begun = possible[possible < n]
        since = sums[:, [n]] - sums[:, begun]
        logs = log_e_value_of_shares(since, np.broadcast_to(n - begun, since.shape) * 1.0, BASELINE)
        place = np.arange(1, len(begun) + 1)
        evidence = np.logaddexp.reduce(logs - np.log(place * (place + 1)), axis=1)
        drift[(evidence >= np.log(20)) & (drift > n)] = n
        low_counts = [k for k in range(n + 1) if limits_of_share(k, n, 0.05)[1] < BASELINE] if (
            n % 50 == 0
        ) else []  # fmt: skip
        is_below = sums[:, n] <= max(low_counts, default=-1)
        sequence[is_below & (sequence > n)] = n
        share = sums[:, n] / n
        half = -ndtri(0.025) * np.sqrt(share * (1 - share) / n)
        fixed[(share + half < BASELINE) & (n >= 30) & (fixed > n)] = n
    return drift, sequence, fixed


def draw(generator: np.random.Generator, n: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw classes and scores."""
    y = generator.integers(3, size=n)
    return y, generator.normal(size=(n, 3)) + shift * np.eye(3)[y]


def rows_without_news(monitor: DriftMonitor, has_failed: bool) -> int:
    """Return after how many rows the first alarm, or the first limits that fail, may come.

    The standardized sum moves by one in a row. It follows from the last limits: where they reach
    the baseline, it is at their boundary. Each row where a change may begin is looked at.
    """
    n, value, (low, high), _ = monitor.looks[-1]
    boundary = -ndtri(error_at_one_time(n, 1 - LEVEL) / 2) * np.sqrt(n)
    is_above = value > monitor.baseline
    reach = value - low if is_above else high - value
    total = boundary * (value - monitor.baseline) / reach if reach > 0 else 0.0
    n_since = n - np.array(monitor.starts, float)

    def missing_evidence(drop: float) -> float:
        logs = log_e_value_of_sums(total - drop - np.array(monitor.sums), n_since)
        return log_e_value_of_change(logs[n_since > 0])[0] + np.log(1 - LEVEL)

    nearest = np.inf if has_failed else max(boundary - abs(total), 0.0)
    if monitor.alarm_at is None:
        is_near = missing_evidence(0) >= 0
        nearest = min(nearest, 0.0 if is_near else brentq(missing_evidence, 0, 10 * boundary))
    return int(np.clip((nearest / FARTHEST) ** 2, 1, monitor.next_start - n))


def watched(measure: Measure, y: np.ndarray, scores: np.ndarray, baseline: float) -> Watched:
    """Watch a stream as an accumulator does, whose values are the same with so few rows.

    Rows after which nothing can be decided are passed over.
    """
    monitor = DriftMonitor(baseline, 1)
    n, has_failed = FIRST_LOOK, False
    while n <= N_ROWS and not (has_failed and monitor.alarm_at):
        if len(np.unique(y[:n])) < scores.shape[1]:
            n += 1
            continue
        predictions = Predictions.from_arrays(y[:n], scores[:n])
        [facts] = facts_of([measure], sample_of(predictions))
        monitor.add_facts(current_of_facts(facts, n), LEVEL)
        low, high = monitor.looks[-1].interval
        has_failed |= not low <= baseline <= high
        n += rows_without_news(monitor, has_failed)
    return Watched(monitor.alarm_at or N_ROWS + 1, has_failed)


def areas(generator: np.random.Generator) -> list[list[object]]:
    """Return false alarms, and how often limits at all times fail at any, of M and the DMF-AUC."""
    rows: list[list[object]] = []
    healthy = [draw(generator, N_ROWS, SHIFT) for _ in range(max(N_STREAMS_OF_AREAS.values()))]
    half = N_ROWS // 2
    worse = [
        tuple(
            map(np.concatenate, zip((y[:half], s[:half]), draw(generator, half, 1.0), strict=True))
        )
        for y, s in healthy[:N_WORSE]
    ]
    truths = draw(generator, N_POPULATION, SHIFT)
    for name, n_streams in N_STREAMS_OF_AREAS.items():
        measure, truth = MEASURES[name], estimate(name, *truths).value
        found = [watched(measure, *stream, truth) for stream in healthy[:n_streams]]
        delays = [watched(measure, *stream, truth).alarm_at for stream in worse]
        alarms = np.mean([x.alarm_at <= N_ROWS for x in found])
        failures = np.mean([x.has_failed for x in found])
        delay = np.median(np.minimum(delays, N_ROWS)) - half
        rows.append([f"`{name}`", f"{n_streams:,}", f"{100 * alarms:.1f}",
                     f"{100 * failures:.1f}", f"{delay:.0f}"])  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def stopped_comparisons(generator: np.random.Generator, n_streams: int) -> str:
    """Return how often equal streams ever differ by the p-value at all times, in %."""
    wrong = 0
    for _ in range(n_streams):
        both = {name: Accumulator([0, 1]) for name in "ab"}
        for _ in range(N_ROWS // 50):
            for accumulator in both.values():
                right = (generator.random(50) < BASELINE).astype(int)
                accumulator.update(np.ones(50, int), right, y_pred=right)
            if compare(both, measure="accuracy").differences[0].p_value < 0.05:
                wrong += 1
                break
    return f"{100 * wrong / n_streams:.1f}"


def widths() -> list[list[object]]:
    """Return the widths relative to an interval for one time."""
    rows: list[list[object]] = []
    for n in (100, 1_000, 10_000):
        k = round(n * BASELINE)
        low, high = limits_of_share(k, n, 0.05)
        plain = -2 * ndtri(0.025) * np.sqrt(BASELINE * (1 - BASELINE) / n)
        of_areas = ndtri(error_at_one_time(n, 0.05) / 2) / ndtri(0.025)
        rows.append([f"{n:,}", f"{(high - low) / plain:.2f}", f"{of_areas:.2f}"])
    return rows


def page(generator: np.random.Generator, n_pairs: int) -> str:
    healthy, dropped = shares(generator, BASELINE), shares(generator, 0.79)
    rules = ["`drift`", "limits at all times below the baseline", "95 % interval after each row"]
    rows = [
        [
            rule,
            f"{100 * (a <= N_ROWS).mean():.1f}",
            f"{100 * ((b > N_ROWS // 2) & (b <= N_ROWS)).mean():.1f}",
            f"{np.median(b) - N_ROWS // 2:.0f}" if np.median(b) <= N_ROWS else "none yet",
        ]
        for rule, a, b in zip(rules, healthy, dropped, strict=True)
    ]
    header = ["rule", "false alarms, %", "found after the change, %", "median delay, rows"]
    of_areas = [
        "measure",
        "streams",
        "false alarms, %",
        "limits that ever fail, %",
        "median delay, rows",
    ]
    return f"""# Streams that are looked at all the time

Made by `experiments/any_time.py`. Accuracy: {N_STREAMS:,} streams of {N_ROWS:,} rows with
an accuracy of {BASELINE:g}, the baseline, looked at after each row (the limits
every 50 rows); and as many whose accuracy falls to .79 halfway.

{markdown_table(header, rows)}

M and the DMF-AUC of three classes: healthy streams of {N_ROWS:,} rows, with the true value as the
baseline, looked at after each row. Rows are passed over while the next alarm or failure of the
limits is more than {FARTHEST:g} standard deviations of the stream away. The delay is that of
{N_WORSE} streams whose classes move together halfway.

{markdown_table(of_areas, areas(generator))}

Two streams of the same accuracy, compared every 50 rows by `compare`: in
{stopped_comparisons(generator, n_pairs)} % of {n_pairs:,} pairs the p-value is ever below .05.

How much wider limits at all times are than a 95 % interval at one time:

{markdown_table(["rows", f"exact, accuracy {BASELINE:g}", "asymptotic"], widths())}
"""


def main() -> None:
    global N_STREAMS, N_STREAMS_OF_AREAS, N_ROWS, N_POPULATION
    options = arguments(__doc__)
    n_pairs = N_PAIRS
    if options.quick:
        N_STREAMS, N_ROWS, N_POPULATION, n_pairs = 10, 100, 2_000, 2
        N_STREAMS_OF_AREAS = dict.fromkeys(N_STREAMS_OF_AREAS, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = page(np.random.default_rng(1), n_pairs)
    if options.quick:
        print(text)
    else:
        write_page("any_time", text)


if __name__ == "__main__":
    main()
