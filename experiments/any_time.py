"""How often limits at all times fail in streams that are looked at all the time, and widths."""

from __future__ import annotations

import warnings

import numpy as np
from _study import arguments, markdown_table, write_page
from scipy.special import ndtri

from dmfroc import estimate
from dmfroc.applications.streams import (
    compare_streams,
    current_of_facts,
    error_at_one_time,
    limits_of_share,
)
from dmfroc.counted import Accumulator
from dmfroc.inference.evidence import facts_of
from dmfroc.inference.units import sample_of
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures import MEASURES
from dmfroc.measures.measure import Measure

N_ROWS, BASELINE, LEVEL = 1_200, 0.88, 0.95
N_STREAMS, N_PAIRS = 500, 200
N_STREAMS_OF_AREAS = {"hand_till": 500, "dmf_auc": 300}
FIRST_LOOK = 8
FARTHEST = 3.0  # standard deviations that no sum is expected to move between two looks
SHIFT, N_POPULATION = 1.5, 300_000


def shares(generator: np.random.Generator, rate_after: float) -> tuple[np.ndarray, ...]:
    """Return the first row with an alarm in each stream, N_ROWS + 1 if none, by two rules."""
    rates = np.where(np.arange(N_ROWS) < N_ROWS // 2, BASELINE, rate_after)
    sums = np.cumsum(generator.random((N_STREAMS, N_ROWS)) < rates, axis=1)
    sums = np.concatenate([np.zeros((N_STREAMS, 1)), sums], axis=1)
    sequence, fixed = np.full((2, N_STREAMS), N_ROWS + 1)
    for n in range(1, N_ROWS + 1):
        low_counts = [k for k in range(n + 1) if limits_of_share(k, n, 0.05)[1] < BASELINE] if (
            n % 50 == 0
        ) else []  # fmt: skip
        is_below = sums[:, n] <= max(low_counts, default=-1)
        sequence[is_below & (sequence > n)] = n
        share = sums[:, n] / n
        half = -ndtri(0.025) * np.sqrt(share * (1 - share) / n)
        fixed[(share + half < BASELINE) & (n >= 30) & (fixed > n)] = n
    return sequence, fixed


def draw(generator: np.random.Generator, n: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw classes and scores."""
    y = generator.integers(3, size=n)
    return y, generator.normal(size=(n, 3)) + shift * np.eye(3)[y]


def fails(measure: Measure, y: np.ndarray, scores: np.ndarray, truth: float) -> bool:
    """Tell whether limits of a stream ever fail, as an accumulator's do with so few rows.

    The standardized sum moves by one in a row. It follows from the last limits: where they reach
    the truth, it is at their boundary. Rows before which it cannot get there are passed over.
    """
    n = FIRST_LOOK
    while n <= N_ROWS:
        if len(np.unique(y[:n])) < scores.shape[1]:
            n += 1
            continue
        predictions = Predictions.from_arrays(y[:n], scores[:n])
        [facts] = facts_of([measure], sample_of(predictions))
        found = current_of_facts(facts, n)
        low, high = found.interval_at(1 - LEVEL)[:2]
        if not low <= truth <= high:
            return True
        boundary = -ndtri(error_at_one_time(n, 1 - LEVEL) / 2) * np.sqrt(n)
        reach = found.value - low if found.value > truth else high - found.value
        distance = boundary * (1 - abs(found.value - truth) / reach) if reach > 0 else 0.0
        n += max(int((distance / FARTHEST) ** 2), 1)
    return False


def areas(generator: np.random.Generator) -> list[list[object]]:
    """Return how often limits at all times fail at any, of M and the DMF-AUC."""
    rows: list[list[object]] = []
    streams = [draw(generator, N_ROWS, SHIFT) for _ in range(max(N_STREAMS_OF_AREAS.values()))]
    truths = draw(generator, N_POPULATION, SHIFT)
    for name, n_streams in N_STREAMS_OF_AREAS.items():
        measure, truth = MEASURES[name], estimate(name, *truths).value
        failures = np.mean([fails(measure, *stream, truth) for stream in streams[:n_streams]])
        rows.append([f"`{name}`", f"{n_streams:,}", f"{100 * failures:.1f}"])
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
            if compare_streams(both, measure="accuracy").differences[0].p_value < 0.05:
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
    rules = ["limits at all times below the baseline", "95 % interval after each row"]
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
    of_areas = ["measure", "streams", "limits that ever fail, %"]
    return f"""# Streams that are looked at all the time

Made by `experiments/any_time.py`. Accuracy: {N_STREAMS:,} streams of {N_ROWS:,} rows with
an accuracy of {BASELINE:g}, the baseline, looked at after each row (the limits
every 50 rows); and as many whose accuracy falls to .79 halfway.

{markdown_table(header, rows)}

M and the DMF-AUC of three classes: streams of {N_ROWS:,} rows, looked at after each row. Rows are
passed over while the next failure of the limits is more than {FARTHEST:g} standard deviations of
the stream away.

{markdown_table(of_areas, areas(generator))}

Two streams of the same accuracy, compared every 50 rows by `compare_streams`: in
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
