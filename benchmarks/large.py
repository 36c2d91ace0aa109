"""Time and memory of scans of Parquet files that do not fit into memory, and their growth.

``python -m benchmarks.large 1000000 10000000 100000000 --directory FOLDER`` makes files of so many
rows of ten scores, unless they are there, and evaluates each in a process of its own. It prints one
line for each, the slopes of log time against log n, and draws them into ``FOLDER/scaling.png``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

N_CLASSES = 10
_ROWS_AT_ONCE = 1 << 20
_ROWS_OF_FILE = 10_000_000
_MEASURES = ("hand_till", "dmf_auc", "informedness")


def make(folder: Path, n: int) -> None:
    """Write n rows in files of at most ten million, the same for the same n."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(n)
    names = [f"p_{k}" for k in range(N_CLASSES)]
    schema = pa.schema([("y", pa.int8()), *((name, pa.float32()) for name in names)])
    for number, first in enumerate(range(0, n, _ROWS_OF_FILE)):
        rest = min(_ROWS_OF_FILE, n - first)
        path = folder / f"{number:03}.parquet"
        partial = path.with_suffix(".partial")
        with parquet.ParquetWriter(partial, schema, compression="none", use_dictionary=False) as to:
            while rest:
                size = min(rest, _ROWS_AT_ONCE)
                y = rng.integers(N_CLASSES, size=size, dtype=np.int8)
                scores = rng.standard_normal((N_CLASSES, size), np.float32)
                scores[y, np.arange(size)] += 1.5
                np.exp(scores, out=scores)
                scores /= scores.sum(axis=0)
                to.write_table(pa.table([y, *scores], schema=schema), row_group_size=size)
                rest -= size
        partial.rename(path)


def measure(folder: Path, *, scheduler: str | None) -> dict[str, object]:
    """Evaluate the files of a folder, and say what it took."""
    import dmfroc

    start, cpu = time.perf_counter(), time.process_time()
    scan = dmfroc.scan(folder, label="y", scheduler=scheduler)
    evaluation = dmfroc.evaluate(scan, measures=_MEASURES)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "rows": evaluation.predictions.n_observations,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "peak_gib": round(peak, 2),
        "estimates": {
            name: [e.value, e.standard_error, *e.interval, e.error_bound]
            for name, e in evaluation.estimates.items()
        },
    }


def slopes(n: list[float], seconds: list[float]) -> list[float]:
    """Return the exponents of growth from each n to the next."""
    return [float(x) for x in np.diff(np.log(seconds)) / np.diff(np.log(n))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="+", type=int)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--scheduler")
    parser.add_argument("--only", action="store_true", help="measure in this process, and no more")
    arguments = parser.parse_args()
    if arguments.only:
        [n] = arguments.rows
        folder = arguments.directory / str(n)
        found = measure(folder, scheduler=arguments.scheduler)
        print(json.dumps(found))
        return
    results = []
    for n in arguments.rows:
        folder = arguments.directory / str(n)
        if not folder.exists():
            partial = folder.with_name(f".{n}")
            make(partial, n)
            partial.rename(folder)
        options = ["--scheduler", arguments.scheduler] if arguments.scheduler else []
        command = [sys.executable, "-m", "benchmarks.large", str(n), "--only", *options]
        command += ["--directory", str(arguments.directory)]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(text.strip(), flush=True)
        results.append(json.loads(text))
    if len(results) > 1:
        rows, seconds = ([float(r[key]) for r in results] for key in ("rows", "cpu_seconds"))
        print("exponents of the time of all cores:", [round(x, 3) for x in slopes(rows, seconds)])
        draw(results, arguments.directory / "scaling.png")


def draw(results: list[dict[str, float]], path: Path) -> None:
    """Draw time and memory against n, both axes logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    n = [r["rows"] for r in results]
    shown = {"cpu_seconds": "seconds (all cores)", "peak_gib": "GiB"}
    for axes, (key, title) in zip(figure.subplots(1, 2), shown.items(), strict=True):
        y = [r[key] for r in results]
        slope = np.polyfit(np.log(n), np.log(y), 1)[0]
        axes.loglog(n, y, "o-", label=f"slope {slope:.2f}")
        axes.set(xlabel="rows", ylabel=title)
        axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
