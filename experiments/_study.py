"""What the studies share: simulated classifiers, and pages for the documentation."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

DOCS = Path(__file__).resolve().parent.parent / "docs"
RESULTS = Path(__file__).resolve().parent / "results"


def arguments(description: str) -> argparse.Namespace:
    """Read the command line: --quick runs a few seconds and writes nothing."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--quick", action="store_true", help="a few seconds, to see that it runs; writes no file"
    )
    return parser.parse_args()


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


def write_text(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def write_page(name: str, text: str) -> None:
    """Write a page of docs/experiments."""
    write_text(DOCS / "experiments" / f"{name}.md", text)
    print(f"wrote docs/experiments/{name}.md")
