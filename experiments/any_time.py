"""False alarms of streams that are looked at all the time, how soon drift is found, and widths."""

from __future__ import annotations

import warnings

import numpy as np
from _study import arguments, markdown_table, write_page
from scipy.special import ndtri

from dmfroc import Accumulator, compare, estimate
from dmfroc.inference.anytime import (
    error_at_one_time,
    evidence_of_shares,
    limits_of_share,
    next_possible_change,
)

N_ROWS, BASELINE, LEVEL = 1_200, 0.88, 0.95
N_STREAMS, N_STREAMS_OF_AREAS = 1_000, 200
ROWS_PER_LOOK = 50
SHIFT, N_POPULATION = 1.5, 300_000
AREAS = ("hand_till", "dmf_auc")


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
        logs = evidence_of_shares(since, np.broadcast_to(n - begun, since.shape) * 1.0, BASELINE)
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


def areas(generator: np.random.Generator, n_streams: int) -> list[list[object]]:
    """Return false alarms, and how often limits at all times fail at any, of M and the DMF-AUC."""
    truth = {m: estimate(m, *draw(generator, N_POPULATION, SHIFT)).value for m in AREAS}
    alarms, failures = (dict.fromkeys(AREAS, 0) for _ in range(2))
    delays: dict[str, list[int]] = {m: [] for m in AREAS}
    for stream in range(n_streams):
        healthy, worse = (Accumulator([0, 1, 2]) for _ in range(2))
        has_failed = dict.fromkeys(AREAS, False)
        for first in range(0, N_ROWS, ROWS_PER_LOOK):
            healthy.update(*draw(generator, ROWS_PER_LOOK, SHIFT))
            for m in AREAS:
                drift = healthy.drift(m, baseline=truth[m], level=LEVEL)
                low, high = healthy.confidence_sequence(m, LEVEL).interval
                has_failed[m] |= not low <= truth[m] <= high
            if stream < n_streams // 10:
                shift = SHIFT if first < N_ROWS // 2 else 1.0
                worse.update(*draw(generator, ROWS_PER_LOOK, shift))
                for m in AREAS:
                    worse.drift(m, baseline=truth[m])
        for m in AREAS:
            drift = healthy.drift(m, baseline=truth[m], level=LEVEL)
            alarms[m] += drift.alarm
            failures[m] += has_failed[m]
            if stream < n_streams // 10:
                found = worse.drift(m, baseline=truth[m]).alarm_at
                delays[m].append(N_ROWS if found is None else found)
    return [
        [
            f"`{m}`",
            f"{100 * alarms[m] / n_streams:.1f}",
            f"{100 * failures[m] / n_streams:.1f}",
            f"{np.median(delays[m]) - N_ROWS // 2:.0f}",
        ]
        for m in AREAS
    ]


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


def page(generator: np.random.Generator, n_streams: int) -> str:
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
    of_areas = ["measure", "false alarms, %", "limits that ever fail, %", "median delay, rows"]
    return f"""# Streams that are looked at all the time

Made by `experiments/any_time.py`. Accuracy: {N_STREAMS:,} streams of {N_ROWS:,} rows with
an accuracy of {BASELINE:g}, the baseline, looked at after each row (the limits
every 50 rows); and as many whose accuracy falls to .79 halfway.

{markdown_table(header, rows)}

M and the DMF-AUC of three classes: {n_streams:,} healthy streams of {N_ROWS:,} rows, looked at
every {ROWS_PER_LOOK} rows, with the true value as the baseline. The delay is that of
{n_streams // 10} streams whose classes move together halfway.

{markdown_table(of_areas, areas(generator, n_streams))}

Two streams of the same accuracy, compared every 50 rows by `compare`: in
{stopped_comparisons(generator, n_streams)} % of {n_streams:,} pairs the p-value is ever below .05.

How much wider limits at all times are than a 95 % interval at one time:

{markdown_table(["rows", f"exact, accuracy {BASELINE:g}", "asymptotic"], widths())}
"""


def main() -> None:
    global N_STREAMS, N_ROWS, N_POPULATION
    options = arguments(__doc__)
    n_streams = N_STREAMS_OF_AREAS
    if options.quick:
        N_STREAMS, N_ROWS, N_POPULATION, n_streams = 10, 100, 2_000, 10
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = page(np.random.default_rng(1), n_streams)
    if options.quick:
        print(text)
    else:
        write_page("any_time", text)


if __name__ == "__main__":
    main()
