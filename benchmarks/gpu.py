"""Time `dmfroc.functional` and bootstraps on a device: ``python -m benchmarks.gpu``.

It prints three tables: times, with one sort of all columns and torchmetrics's one-vs-rest beside
ours if torch is installed; what the compiled programs do; and the largest differences of values,
influences and bootstraps between NumPy, JAX on a CPU and JAX on the device. Scores lie on the
device, where a model leaves them. The first call compiles; the other times are medians of the calls
after it. ``--sizes 1000x5`` times other sizes, ``--quick`` one task at a small size.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import dmfroc
from benchmarks._case import N_REPLICATES, scores_of
from dmfroc import functional
from dmfroc.analyses.catalogue import get_measure
from dmfroc.measures.measure import bind

SIZES = ("1000x5", "100000x10", "1000000x10", "50000x100", "20000x1000")
_REPEATS = 5
_MOST_RESAMPLED = 1_000_000  # scores
_MOST_FITTED = 200  # classes
_AREAS = ("one_vs_rest_auc", "hand_till", "auc_mu", "average_precision", "dmf_auc")
_OTHERS = (
    *("one_vs_one_auc", "accuracy", "informedness", "gorodkin_correlation"),
    *("brier_score", "log_loss"),
)
_DRAWS = 200  # whose largest difference is reported


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
    arrays, n_classes = (jax.device_put(y), jax.device_put(scores)), scores.shape[1]
    sort = jax.jit(lambda x: jax.lax.sort(x.T, dimension=1))
    found: dict[str, Callable[[], Any]] = {"sort of all columns": partial(sort, arrays[1])}
    if (bare := _of_torchmetrics(y, scores)) is not None:
        found["torchmetrics one-vs-rest, bare"] = bare
    for name in _AREAS:
        if name == "dmf_auc" and n_classes > _MOST_FITTED:
            continue
        measure = getattr(functional, name)
        found[name] = partial(measure, *arrays, n_classes=n_classes)
        if name in ("hand_till", "dmf_auc"):
            found[f"{name} with SE"] = partial(
                functional.estimate, measure, *arrays, n_classes=n_classes
            )
            found[f"dmfroc.estimate({name})"] = partial(dmfroc.estimate, name, y, arrays[1])
            if scores.size <= _MOST_RESAMPLED:
                found[f"{name}, {N_REPLICATES:,} bootstraps"] = partial(
                    _of_draws, name, y, arrays[1], N_REPLICATES
                )
    return found


def _of_draws(name: str, y: Any, scores: Any, n_draws: int) -> Any:
    return dmfroc.estimate(name, y, scores, method=dmfroc.Bootstrap(n_draws))


def _of_torchmetrics(y: np.ndarray, scores: np.ndarray) -> Callable[[], Any] | None:
    try:
        import torch
        from torchmetrics.functional.classification import multiclass_auroc
    except ImportError:
        return None
    device = "cuda" if torch.cuda.is_available() else "cpu"
    target, preds = torch.tensor(y, device=device), torch.tensor(scores, device=device)
    k = scores.shape[1]
    return lambda: float(multiclass_auroc(preds, target, num_classes=k, validate_args=False))


def programs(n: int, n_classes: int) -> None:
    """Print how often compiled programs sort; what they move and hold is in sizes of the scores."""
    y, scores = scores_of(n, n_classes)
    arrays = jnp.asarray(y.astype(np.int32)), jnp.asarray(scores.astype(np.float32))
    print(f"\n| program, {n} x {n_classes} | sorts | loops | fusions | bytes moved | memory |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in _AREAS:
        of_value = partial(getattr(functional, name), n_classes=n_classes)
        with_error = partial(functional.estimate, getattr(functional, name), n_classes=n_classes)
        for title, function in ((name, of_value), (f"{name} with SE", with_error)):
            program = jax.jit(function).lower(*arrays).compile()
            text, size = program.as_text(), arrays[1].nbytes
            n_of = [text.count(f" {kind}(") for kind in ("sort", "while", "fusion")]
            moved = program.cost_analysis()["bytes accessed"] / size
            held = program.memory_analysis().temp_size_in_bytes / size
            print(
                f"| {title} | {' | '.join(map(str, n_of))} | {moved:.0f} | {held:.1f} |", flush=True
            )


def differences(device: Any) -> None:
    """Print how far JAX on a CPU and on the device is from NumPy, at most."""
    y, scores = scores_of(2000, 8)
    scores = np.floor(100 * scores) / 100
    scores[:, -1] = 1 - scores[:, :-1].sum(axis=1)
    print("\n| measure | device | value | influences, in their largest | bootstraps |")
    print("| --- | --- | ---: | ---: | ---: |")
    jax.config.update("jax_enable_x64", True)
    predictions, ones = dmfroc.Predictions.from_arrays(y, scores), jnp.ones(len(y))
    for name in (*_AREAS, *_OTHERS):
        bound = bind(get_measure(name), predictions)
        [value], [slope] = bound.values_and_gradients(np.ones(len(y)))
        for place in dict.fromkeys((jax.devices("cpu")[0], device)):
            with jax.default_device(place):
                function = partial(getattr(functional, name), y, scores, n_classes=8)
                model = functional.bootstrap_model(get_measure(name), y, scores)
                drawn = functional.resample(model, n_draws=_DRAWS, with_weights=True)["posterior"]
                of_draws = bound.values(drawn["weights"].to_numpy()[0])[:, 0]
                off = (
                    abs(float(function()) - value),
                    float(abs(jax.grad(function)(ones) - slope).max() / abs(slope).max()),
                    float(abs(drawn["value"].to_numpy()[0] - of_draws).max()),
                )
            numbers = " | ".join(f"{x:.1e}" for x in off)
            print(f"| {name} | {place.platform} | {numbers} |", flush=True)
    jax.config.update("jax_enable_x64", False)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="ROWSxCLASSES")
    parser.add_argument("--quick", action="store_true", help="one task at a small size")
    options = parser.parse_args()
    device = jax.devices()[0]
    print(f"{device.device_kind}, JAX {jax.__version__}")
    print("| size | task | first call, s | median, ms |")
    print("| --- | --- | ---: | ---: |")
    for size in ["300x3"] if options.quick else options.sizes:
        y, scores = scores_of(*map(int, size.split("x")))
        named = tasks(y.astype(np.int32), scores.astype(np.float32))
        if options.quick:
            named = {"hand_till": named["hand_till"]}
        for name, function in named.items():
            try:
                first, median = times_of(function)
                print(f"| {size} | {name} | {first:.2f} | {1e3 * median:.2f} |", flush=True)
            except Exception as error:  # the table goes on
                print(
                    f"| {size} | {name} | {type(error).__name__}: {str(error)[:200]} | |",
                    flush=True,
                )
    if not options.quick:
        programs(6000, 40)
        differences(device)


if __name__ == "__main__":
    main()
