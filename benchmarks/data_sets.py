"""Time values and standard errors of many small data sets, by vmap and in a loop, in one run.

``python -m benchmarks.data_sets`` evaluates 10,000 data sets of 300 observations of three classes.
The loop calls `dmfroc.estimate` for some of them.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

N, N_CLASSES = 300, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_sets", nargs="?", type=int, default=10_000)
    parser.add_argument("n_looped", nargs="?", type=int, default=300)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLASSES, size=(arguments.n_sets, N))
    scores = rng.normal(size=(*y.shape, N_CLASSES)) + np.eye(N_CLASSES)[y]
    from dmfroc import estimate, functional

    for name in ("hand_till", "dmf_auc"):
        seconds = []
        for _ in range(2):  # the first call compiles
            start = time.perf_counter()
            many = functional.estimate_many(getattr(functional, name), y, scores, n_classes=3)
            seconds.append(time.perf_counter() - start)
        start = time.perf_counter()
        some = [estimate(name, y[i], scores[i]) for i in range(arguments.n_looped)]
        looped = (time.perf_counter() - start) / arguments.n_looped
        expected = np.array([(x.value, x.standard_error) for x in some]).T
        found = np.stack(many)[:, : arguments.n_looped]
        result = {
            "measure": name,
            "data_sets": arguments.n_sets,
            "first_seconds": round(seconds[0], 2),
            "seconds": round(seconds[1], 2),
            "ms_each": round(1e3 * seconds[1] / arguments.n_sets, 3),
            "ms_each_in_loop": round(1e3 * looped, 3),
            "times_faster": round(looped * arguments.n_sets / seconds[1], 1),
            "largest_difference": float(np.abs(found - expected).max()),
        }
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
