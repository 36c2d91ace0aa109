"""Time and memory of a comparison of very many models, all differences at once.

``python -m benchmarks.many_models`` compares 200 models of ten classes on 100,000 observations by
Hand and Till's M. The scores are held by the caller all the while, as doubles.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np

N_CLASSES = 10


def scores_of(n_models: int, n: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Draw classes, and scores of models that have four fifths of their noise in common."""
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLASSES, size=n)
    common = np.sqrt(0.8) * rng.standard_normal((n, N_CLASSES))
    scores = {}
    for number in range(n_models):
        own = rng.standard_normal((n, N_CLASSES))
        own *= np.sqrt(0.2)
        own += common
        own[np.arange(n), y] += 1.5 + 0.0005 * number
        scores[f"m{number}"] = own
    return y, scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_models", nargs="?", type=int, default=200)
    parser.add_argument("rows", nargs="?", type=int, default=100_000)
    arguments = parser.parse_args()
    y, scores = scores_of(arguments.n_models, arguments.rows)
    import dmfroc

    start, cpu = time.perf_counter(), time.process_time()
    found = dmfroc.compare(y, scores, measures="hand_till", simultaneous=True)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    start = time.process_time()
    best = found.best_set()
    result = {
        "models": arguments.n_models,
        "rows": arguments.rows,
        "differences": len(found.differences),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "best_set_cpu_seconds": round(time.process_time() - start, 1),
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "best_set": len(best),
        "winner": [found.winner.name, *found.winner.interval],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
