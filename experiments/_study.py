"""What the studies share: simulated classifiers, and pages for the documentation."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from _code import now, ran, record, stamp, stamps
from _runner import Study, provenance_of
from matplotlib.axes import Axes
from matplotlib.figure import Figure

PAPER = {"shrinkage": 0, "threshold_pool": "pooled"}
"""The options of the paper's estimator without weights; with class sizes it is preset="paper"."""

DOCS = Path(__file__).resolve().parent.parent / "docs"
RESULTS = Path(__file__).resolve().parent / "results"


def arguments(description: str, *, is_study: bool = False, **more: str) -> argparse.Namespace:
    """Read the command line: --quick runs a few seconds and writes nothing.

    A study also takes the number of worker processes, and fewer replications of each setting; a
    later run adds the others. ``more`` has the help of options of its own.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--quick", action="store_true", help="a few seconds, to see that it runs; writes no file"
    )
    if is_study:
        parser.add_argument("--workers", type=int, help="worker processes; default: one per core")
        parser.add_argument("--replications", type=int, help="at most so many of each setting")
        parser.add_argument(
            "--check",
            type=int,
            metavar="N",
            help="compute N stored cells anew, drawn at random; if they have the same numbers, all "
            "count as of the present code",
        )
    for name, text in more.items():
        parser.add_argument(f"--{name}", help=text)
    record()
    return parser.parse_args()


_before: list[bool] = []  # of each study that was run, whether some of it had been stored before
_computed: list[bool] = []  # and whether any of it was computed now
_checked: list[int] = []  # how many of its stored cells were computed anew, and are the same


def note_check(n_cells: int) -> None:
    """Note that so many of a page's stored cells were computed anew, and are the same."""
    _before.append(True)
    _checked.append(n_cells)


def run_study(study: Study, options: argparse.Namespace) -> pd.DataFrame:
    """Run a study as the command line asks for; a quick one here, twice, leaving no file."""
    if options.replications is not None:
        study = replace(study, replications=min(options.replications, study.replications))
    if options.check and not options.quick:
        tables = study.stored().values()
        if not tables:
            raise SystemExit(f"{study.name} has no cells of this function: leave --check out")
        fewest = min(table["replication"].nunique() for table in tables)
        study = replace(study, replications=min(study.replications, fewest))
        n, changed = study.changed_cells(options.check)
        if changed:
            print(f"{study.name}: {len(changed)} of {n} cells have changed: {changed}")
        else:
            _checked.append(n)
    if not options.quick:
        before, is_begun = provenance_of(study.path), bool(study.stored())
        table = study.run(options.workers)
        _before.append(is_begun)
        _computed.append(before != provenance_of(study.path))
        if _computed[-1] and options.workers != 1:  # functions of other processes are not recorded
            for setting in study.settings:
                study.function(study.generator(setting, 0), **setting)
        return table
    with tempfile.TemporaryDirectory() as folder:
        return replace(study, replications=2, directory=folder).run(n_workers=1)


def run_studies(studies: dict[str, Study], options: argparse.Namespace) -> dict[str, pd.DataFrame]:
    """Run several studies as the command line asks for; of quick ones the first setting only."""
    if options.quick:
        studies = {name: replace(s, settings=s.settings[:1]) for name, s in studies.items()}
    return {name: run_study(study, options) for name, study in studies.items()}


def simulate(
    generator: np.random.Generator,
    n: int,
    means: np.ndarray,
    *,
    prevalence: Sequence[float] | None = None,
    round_to: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw classes and softmax scores of a classifier.

    The logits of class c are normal with unit variance about ``means[c]``; classes are balanced
    unless ``prevalence`` is given. Scores may be rounded to multiples of ``1 / round_to``.
    """
    n_classes = len(means)
    if prevalence is None:
        y = np.arange(n) % n_classes
    else:
        y = generator.choice(n_classes, n, p=prevalence)
    odds = np.exp(generator.normal(size=(n, n_classes)) + means[y])
    scores = odds / odds.sum(axis=1, keepdims=True)
    return y, scores if round_to is None else np.round(scores * round_to) / round_to


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def claims_table(rows: Sequence[tuple[str, str, bool]]) -> str:
    """Return a table of what the paper claims, what was measured, and whether that agrees."""
    return markdown_table(
        ["the paper's claim", "measured here", "does it hold?"],
        [(claim, measured, "yes" if holds else "**no**") for claim, measured, holds in rows],
    )


def roc_axes(ax: Axes, title: str) -> None:
    """Give axes the frame of a ROC curve."""
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle=":", zorder=0)
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", title=title)
    ax.set(xlabel="false positive rate", ylabel="true positive rate")
    ax.set(xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    ax.label_outer()


def write_figure(name: str, figure: Figure) -> None:
    """Write a picture of docs/images."""
    path = DOCS / "images" / f"{name}.png"
    figure.savefig(path, dpi=110)
    print(f"wrote docs/images/{name}.png")


def write_text(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def write_page(name: str, text: str, *, is_partial: bool = False) -> None:
    """Write a page of docs/experiments, with a stamp of the code if that computed its numbers.

    Of a page that is partial others were computed before.
    """
    older, text = stamps().get(name, {}), f"{text.rstrip()}\n"
    if all_are_checked := len(_checked) == len(_before) > 0:
        text += f"""
Some of these numbers were stored before: {sum(_checked)} cells of them, drawn at random, were
computed again by the present code, and are the same.
"""
    write_text(DOCS / "experiments" / f"{name}.md", text)
    if all_are_checked:
        stamp(name, {*ran, *((path, f) for path in older for f in older[path])}, now(), older={})
    elif any(_computed) or not _before or not older:
        stamp(name, ran, now(), older=older if is_partial or any(_before) else {})
    print(f"wrote docs/experiments/{name}.md")
