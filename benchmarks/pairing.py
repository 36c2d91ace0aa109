"""Compare this tree with another one: first call, later calls, and memory, in turns.

    git worktree add /tmp/other 01e8ed1
    python -m benchmarks.pairing /tmp/other

Each task runs in processes of its own, of one tree and of the other by turns; the table has
medians, and what this tree takes as a multiple of the other.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
TASKS: dict[str, tuple[tuple[int, int], ...]] = {
    "import": ((300, 3),),
    "estimate": ((300, 3), (100_000, 10), (50_000, 100)),
    "dmf_auc": ((300, 3), (100_000, 10), (50_000, 100)),
    "accuracy": ((300, 3), (100_000, 10), (50_000, 100)),
    "evaluate": ((300, 3), (100_000, 10), (50_000, 100)),
    "compare": ((300, 3), (100_000, 10), (50_000, 100)),
    "scan": ((10_000_000, 2),),
}
_LATER = {300: 200, 50_000: 4, 100_000: 4, 10_000_000: 1}  # calls, by rows


def call_of(name: str, n: int, n_classes: int, folder: Path) -> Callable[[], Any]:
    """Return what is timed."""
    import dmfroc

    if name == "import":
        return lambda: None
    if name == "scan":
        path = str(folder / "scores.parquet")
        scan = {"label": "y", "scores": "score"}
        return lambda: dmfroc.estimate("hand_till", dmfroc.scan(path, **scan))
    from _case import scores_of  # its folder is the first where Python looks in such a process

    y, first = scores_of(n, n_classes)
    if name == "compare":
        second = first + np.random.default_rng(1).normal(size=first.shape)
        return lambda: dmfroc.compare(y, {"first": first, "second": second})
    if name == "evaluate":
        return lambda: dmfroc.evaluate(y, first)
    measure = {"estimate": "hand_till"}.get(name, name)
    return lambda: dmfroc.estimate(measure, y, first)


def write_rows(path: Path, n: int) -> None:
    """Write what is scanned."""
    import pandas as pd

    generator = np.random.default_rng(1)
    y = generator.integers(0, 2, n)
    pd.DataFrame({"y": y, "score": generator.normal(y)}).to_parquet(path, index=False)


def measured(name: str, n: int, n_classes: int, folder: Path) -> dict[str, float]:
    """Time one task in this process."""
    run = call_of(name, n, n_classes, folder)
    seconds = []
    for _ in range(1 + _LATER[n]):
        started, used = time.perf_counter(), time.process_time()
        run()
        seconds.append((time.perf_counter() - started, time.process_time() - used))
    if name == "import":
        seconds = [(time.perf_counter() - _STARTED, time.process_time())] * 2
    later = np.median(seconds[1:], axis=0)
    return {
        "first": seconds[0][0],
        "first CPU": seconds[0][1],
        "later": later[0],
        "later CPU": later[1],
        "MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("other", type=Path, help="root of the other tree")
    parser.add_argument("--only", default="", help="tasks whose name contains this")
    parser.add_argument("--processes", type=int, default=3, help="of each task and tree")
    options = parser.parse_args()
    import pandas as pd  # not at the top, where it would be part of no import that is timed

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder, "scores.parquet"), 10_000_000)
        for name, sizes in TASKS.items():
            for n, n_classes in sizes if options.only in name else ():
                found: dict[Path, list[dict[str, float]]] = {ROOT: [], options.other: []}
                for _ in range(options.processes):
                    for tree, some in found.items():
                        arguments = [__file__, name, str(n), str(n_classes), folder]
                        environment = {**os.environ, "PYTHONPATH": str(tree)}
                        done = subprocess.run(
                            [sys.executable, *arguments],
                            env=environment,
                            cwd=tree,
                            check=True,
                            stdout=subprocess.PIPE,
                        )
                        some.append(json.loads(done.stdout))
                here, other = (
                    {field: statistics.median(x[field] for x in some) for field in some[0]}
                    for some in found.values()
                )
                ratios = {field: round(here[field] / other[field], 2) for field in here}
                later = f"{other['later']:.4f} -> {here['later']:.4f}"
                rows.append({"task": name, "n": n, "K": n_classes, "seconds": later, **ratios})
                print(pd.DataFrame(rows[-1:]).to_string(index=False, header=len(rows) == 1))


_STARTED = time.perf_counter()
if __name__ == "__main__":
    if len(sys.argv) == 5:
        name, n, n_classes, folder = sys.argv[1:]
        print(json.dumps(measured(name, int(n), int(n_classes), Path(folder))))
    else:
        main()
