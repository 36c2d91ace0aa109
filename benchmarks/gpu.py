"""Time `dmfroc.functional` and bootstraps on all devices of JAX: ``python -m benchmarks.gpu``.

It prints a table, in ten minutes at most. Without a GPU that is the table of the CPU. Scores of
`functional` lie on the device, where a model leaves them. The median is that of the calls after the
first, which compiles. ``--sizes 1000x5`` times other sizes, ``--quick`` one task at a small size.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np

import dmfroc
from benchmarks._case import N_REPLICATES, scores_of
from dmfroc import functional

SIZES = ("100000x10", "1000000x10", "10000x100")
_REPEATS = 3
_MOST_RESAMPLED = 1_000_000  # scores; with more, bootstraps take minutes on a CPU


def times_of(function: Callable[[], Any]) -> tuple[float, float]:
    """Return the time of the first call, and the median of the others."""
    times = []
    for _ in range(_REPEATS + 1):
        start = time.perf_counter()
        jax.block_until_ready(function())
        times.append(time.perf_counter() - start)
    return times[0], statistics.median(times[1:])


def tasks(y: np.ndarray, scores: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return what is timed, by name."""
    found: dict[str, Callable[[], Any]] = {}
    arrays, options = (jax.device_put(y), jax.device_put(scores)), {"n_classes": scores.shape[1]}
    for measure in (functional.hand_till, functional.dmf_auc):
        name = measure.__name__
        found[name] = partial(measure, *arrays, **options)
        found[f"{name} with SE"] = partial(functional.estimate, measure, *arrays, **options)
        if scores.size <= _MOST_RESAMPLED:
            found[f"{name}, {N_REPLICATES:,} bootstraps"] = partial(
                dmfroc.estimate, name, y, scores, method="bootstrap", n_draws=N_REPLICATES
            )
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="ROWSxCLASSES")
    parser.add_argument("--quick", action="store_true", help="one task at a small size")
    options = parser.parse_args()
    sizes = ["300x3"] if options.quick else options.sizes
    print("| device | size | task | first call, s | median, s |")
    print("| --- | --- | --- | ---: | ---: |")
    devices = {device.platform: device for device in (*jax.devices(), *jax.devices("cpu"))}
    for device in devices.values():
        jax.config.update("jax_default_device", device)
        for size in sizes:
            y, scores = scores_of(*map(int, size.split("x")))
            named = tasks(y, scores.astype(np.float32))
            for name, function in list(named.items())[: 1 if options.quick else None]:
                first, median = times_of(function)
                print(f"| {device.device_kind} | {size} | {name} | {first:.3f} | {median:.4f} |")


if __name__ == "__main__":
    main()
