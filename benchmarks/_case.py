"""Time one task at one size in this process, and print a line of JSON.

Called by `python -m benchmarks`, one process per task, so that peak memory is the task's own.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

N_REPLICATES = 1000
N_REPLICATES_OF_SLOW_PEERS = 20  # whose time is proportional to the number


def scores_of(n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and softmax scores of a classifier with some skill."""
    generator = np.random.default_rng(42)
    y = generator.integers(n_classes, size=n)
    scores = generator.normal(size=(n, n_classes))
    scores[np.arange(n), y] += 1.5
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return y, scores


def task(name: str, y: np.ndarray, scores: np.ndarray) -> Callable[[], float]:
    """Return the function to time; what it needs is imported here, outside of the timing."""
    if name == "sort":
        executor = ThreadPoolExecutor(os.cpu_count())

        def sort() -> float:
            columns = np.array_split(np.arange(scores.shape[1]), os.cpu_count())
            ends = [(c[0], c[-1] + 1) for c in columns]
            parts = executor.map(lambda e: np.sort(scores[:, e[0] : e[1]], axis=0), ends)
            return float(sum(part[0, 0] for part in parts))

        return sort
    if name == "scikit-learn":
        value_of = scikit_learn_m()
        return lambda: value_of(y, scores if scores.shape[1] > 2 else scores[:, 1])
    if name == "scors":
        import scors

        is_positive, score = y.astype(np.uint8), np.ascontiguousarray(scores[:, 1])
        return lambda: float(scors.roc_auc(is_positive, score))
    if name == "polars_ds":
        import polars
        import polars_ds

        frame = polars.DataFrame({"y": y.astype(np.uint32), "score": scores[:, 1]})
        return lambda: float(frame.select(polars_ds.query_roc_auc("y", "score")).item())
    if name == "pauc":
        from pauc import MultiClassROC

        return lambda: float(MultiClassROC(y, scores).auc)
    if name == "torchmetrics":
        import torch
        from torchmetrics.functional.classification import multiclass_auroc

        targets, inputs = torch.tensor(y), torch.tensor(scores)
        return lambda: float(multiclass_auroc(inputs, targets, scores.shape[1]))
    if name == "bootstrap scikit-learn":
        value_of = scikit_learn_m()
        return lambda: value_of(*resampled(y, scores))
    if name == "bootstrap confidenceinterval":
        from confidenceinterval.bootstrap import bootstrap_ci

        value_of = scikit_learn_m()
        options = {"n_resamples": N_REPLICATES_OF_SLOW_PEERS, "method": "bootstrap_percentile"}
        return lambda: bootstrap_ci(y, scores, value_of, **options)[0]
    if name == "bootstrap torchmetrics":
        import torch
        from torchmetrics.classification import MulticlassAUROC
        from torchmetrics.wrappers import BootStrapper

        targets, inputs = torch.tensor(y), torch.tensor(scores)

        def resample() -> float:
            metric = BootStrapper(MulticlassAUROC(scores.shape[1]), num_bootstraps=N_REPLICATES)
            metric.update(inputs, targets)
            return float(metric.compute()["std"])

        return resample
    from dmfroc import Bootstrap, estimate

    if name.startswith("bootstrap "):
        measure = name.removeprefix("bootstrap ")
        options = {"method": Bootstrap(N_REPLICATES)}
        return lambda: estimate(measure, y, scores, **options).standard_error
    if name == "all":
        from dmfroc import evaluate

        return lambda: evaluate(y, scores, measures="all").estimates["hand_till"].value
    if name == "dmf_auc of 2,000 pairs":
        from dmfroc.measures import dmf_auc

        return lambda: estimate(dmf_auc(n_pairs=2000), y, scores).value
    return lambda: estimate(name, y, scores).value


def scikit_learn_m() -> Callable[[np.ndarray, np.ndarray], float]:
    """Return scikit-learn's M."""
    from sklearn.metrics import roc_auc_score

    return partial(roc_auc_score, multi_class="ovo")


def resampled(y: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a stratified resample."""
    generator = np.random.default_rng()
    of_class = [np.flatnonzero(y == k) for k in range(scores.shape[1])]
    rows = np.concatenate([generator.choice(r, len(r)) for r in of_class])
    return y[rows], scores[rows]


def main() -> None:
    """Time the task named on the command line."""
    name, n, n_classes, repeats = sys.argv[1], *map(int, sys.argv[2:5])
    run = task(name, *scores_of(n, n_classes))
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        value = run()
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"value": value, "first": times[0], "times": times[1:], "peak_gib": peak}))


if __name__ == "__main__":
    main()
