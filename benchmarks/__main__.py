"""Time dmfroc's values with standard errors against the bare values of its peers."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
# Some peers may live in an environment of their own, or be left out.
PEERS_PYTHON = os.environ.get("DMFROC_PEERS_PYTHON", sys.executable)
# Peers that would take minutes at a size are left out there.
CASES = {
    (1_000_000, 2): ("hand_till", "scikit-learn", "scors", "polars_ds", "sort"),
    (100_000, 10): ("hand_till", "dmf_auc", "scikit-learn", "pauc", "torchmetrics", "sort"),
    (50_000, 100): ("hand_till", "dmf_auc", "scikit-learn", "pauc", "torchmetrics", "sort"),
    (50_000, 300): ("hand_till", "scikit-learn", "torchmetrics", "sort"),
    (50_000, 1000): ("hand_till", "dmf_auc", "torchmetrics", "sort"),
    (50_000, 5000): ("hand_till", "dmf_auc of 2,000 pairs"),
}
OURS = ("hand_till", "dmf_auc")
TITLES = {
    "hand_till": "dmfroc Hand-Till M with SE",
    "dmf_auc": "dmfroc DMF-AUC with SE",
    "dmf_auc of 2,000 pairs": "dmfroc DMF-AUC of 2,000 pairs with SE",
    "scikit-learn": "scikit-learn ovo, value only",
    "pauc": "pauc, value only",
    "scors": "scors (Rust), value only",
    "polars_ds": "polars-ds (Rust), value only",
    "torchmetrics": "torchmetrics one-vs-rest, value only",
    "sort": "numpy.sort of the scores, all cores",
}


def timed(name: str, size: tuple[int, int], repeats: int, python: str = sys.executable) -> dict:
    """Run one task in a process of its own."""
    command = [python, "-m", "benchmarks._case", name, *map(str, size), str(repeats)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    result: dict = json.loads(done.stdout.splitlines()[-1])
    result["median"] = statistics.median(result["times"])
    return result


def version_of(package: str) -> str:
    """Return the name and version of a package of this environment."""
    return f"{package} {importlib.metadata.version(package)}"


def version_in_peers(package: str) -> str:
    """Return the name and version of a package of the environment of the peers."""
    code = f"import importlib.metadata as m; print({package!r}, m.version({package!r}))"
    command = [PEERS_PYTHON, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def size_table(size: tuple[int, int], names: tuple[str, ...]) -> tuple[list[str], str]:
    """Return the lines of one size's table, and what M and DMF-AUC take in sorts."""
    results = {}
    for name in names:
        is_apart = name in ("scors", "polars_ds", "torchmetrics")
        if is_apart and not is_installed(name):
            continue
        python = PEERS_PYTHON if is_apart else sys.executable
        slow = size[1] >= (300 if name == "scikit-learn" else 1000)
        results[name] = timed(name, size, repeats=1 if slow else 5, python=python)
        print(f"{size} {TITLES[name]}: {results[name]['median']:.3f} s", flush=True)
    ours = results["hand_till"]["median"]
    lines = [
        f"## n = {size[0]:,}, K = {size[1]:,}",
        "",
        "| task | value | first call, s | median, s | ratio to our M | peak memory, GiB |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, r in results.items():
        value = "" if name == "sort" else f"{r['value']:.6f}"
        lines.append(
            f"| {TITLES[name]} | {value} | {r['first']:.3f} | {r['median']:.3f} "
            f"| {r['median'] / ours:.1f} | {r['peak_gib']:.2f} |"
        )
    return [*lines, ""], " : ".join(
        f"{results[name]['median'] / results['sort']['median']:.1f}"
        for name in OURS
        if name in results and "sort" in results
    )


def history(ratios: dict[str, str]) -> list[str]:
    """Return the lines of the table of the ratios of this run and of those before it."""
    lines = [
        "## History",
        "",
        "Medians of M : DMF-AUC as multiples of `numpy.sort` on all cores, in each run by itself.",
        "",
        f"| version | date | {' | '.join(ratios)} |",
        f"| --- | --- |{' ---: |' * len(ratios)}",
    ]
    old = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    rows = old[old.index(lines[4]) + 2 :] if lines[4] in old else []
    version, day = importlib.metadata.version("dmfroc"), f"{datetime.now(tz=UTC):%Y-%m-%d}"
    return [*lines, *rows, f"| {version} | {day} | {' | '.join(ratios.values())} |", ""]


def wall_time(command: list[str]) -> float:
    """Return the median wall time of five runs of a command, after one to warm the disk."""
    times = []
    for _ in range(6):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def is_installed(peer: str) -> bool:
    """Say whether the peers' interpreter has a package."""
    command = [PEERS_PYTHON, "-c", f"import {peer}"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def bootstrap_table() -> list[str]:
    """Return the lines of the table of 1,000 bootstrap replicates at (10,000, 10)."""
    from benchmarks._case import N_REPLICATES, N_REPLICATES_OF_SLOW_PEERS

    size = 10_000, 10
    ours = {name: timed(f"bootstrap {name}", size, 3) for name in ("hand_till", "dmf_auc")}
    one = timed("bootstrap scikit-learn", size, N_REPLICATES_OF_SLOW_PEERS)
    some = f"M ({N_REPLICATES_OF_SLOW_PEERS} replicates run)"
    rows = [
        (TITLES[name].replace("with SE", "bootstrap"), r["median"], r["peak_gib"])
        for name, r in ours.items()
    ]
    rows.append((f"scikit-learn in a loop, {some}", one["median"] * N_REPLICATES, one["peak_gib"]))
    for peer, title, factor in (
        (
            "confidenceinterval",
            f"with scikit-learn's {some}",
            N_REPLICATES / N_REPLICATES_OF_SLOW_PEERS,
        ),
        ("torchmetrics", "one-vs-rest AUC", 1),
    ):
        if is_installed(peer):
            r = timed(f"bootstrap {peer}", size, 1, PEERS_PYTHON)
            rows.append((f"{peer}, {title}", r["median"] * factor, r["peak_gib"]))
    return [
        f"## Bootstrap: {N_REPLICATES:,} replicates, n = {size[0]:,}, K = {size[1]}",
        "",
        "| task | median, s | ratio to our M | peak memory, GiB |",
        "| --- | ---: | ---: | ---: |",
        *(
            f"| {title} | {seconds:.2f} | {seconds / rows[0][1]:.1f} | {peak:.2f} |"
            for title, seconds, peak in rows
        ),
        "",
    ]


def all_measures_table() -> list[str]:
    """Return the lines of the table of all measures with intervals."""
    lines = []
    for size in ((100_000, 10), (10_000, 100)):
        r = timed("all", size, 2)
        lines.append(
            f"| n = {size[0]:,}, K = {size[1]} | {r['first']:.1f} | {r['median']:.1f} "
            f"| {r['peak_gib']:.2f} |"
        )
    return [
        '## All measures with intervals: `evaluate(..., measures="all")`',
        "",
        "| size | first call, s | median of later ones, s | peak memory, GiB |",
        "| --- | ---: | ---: | ---: |",
        *lines,
        "",
    ]


def latency_table() -> list[str]:
    """Return the lines of the table of start-up times."""
    from benchmarks._case import scores_of

    python = [sys.executable, "-c"]
    dmfroc = [sys.executable, "-m", "dmfroc"]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "scores.csv"
        y, scores = scores_of(1000, 5)
        rows = np.column_stack([y, scores])
        header = "label," + ",".join(f"score_{k}" for k in range(5))
        np.savetxt(file, rows, delimiter=",", header=header, comments="", fmt=["%d"] + ["%.8g"] * 5)
        start = wall_time([*python, "pass"])
        commands = {
            "`import dmfroc`, beyond Python's start": wall_time([*python, "import dmfroc"]) - start,
            "`dmfroc --help`": wall_time([*dmfroc, "--help"]),
            "`dmfroc evaluate`, 1,000 x 5": wall_time(
                [*dmfroc, "evaluate", str(file), "--label", "label"]
            ),
        }
    return [
        "## Start-up",
        "",
        "| command | median of 5, s |",
        "| --- | ---: |",
        *(f"| {name} | {seconds:.2f} |" for name, seconds in commands.items()),
        "",
    ]


def main() -> None:
    """Run everything and write RESULTS.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one small size; writes no file")
    if parser.parse_args().quick:
        names = ("hand_till", "dmf_auc", "scikit-learn", "sort")
        print("\n".join(size_table((1000, 5), names)[0]))
        return
    packages = ("dmfroc", "jax", "numpy", "scikit-learn", "pauc")
    peers = ("scors", "polars-ds", "torch", "torchmetrics", "confidenceinterval")
    versions = ", ".join([*map(version_of, packages), *map(version_in_peers, peers)])
    lines = [
        "# Benchmarks",
        "",
        "Made by `make bench` (`python -m benchmarks`): every task in a process of its own, the",
        "median of 5 calls after the first (1 call where it takes long). Ours include checking the",
        "input and the standard error; the peers' do not. Only ratios travel to other machines.",
        "",
        f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores.",
        "",
    ]
    ratios = {}
    for size, names in CASES.items():
        table, ratio = size_table(size, names)
        lines += table
        if "sort" in names:
            ratios[f"{size[0]:,} x {size[1]:,}"] = ratio
    lines += [*bootstrap_table(), *all_measures_table(), *latency_table(), *history(ratios)]
    RESULTS.write_text("\n".join(lines))
    print(f"wrote {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
