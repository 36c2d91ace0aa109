"""Use the installed package: its command, and three examples from the docstrings of each room.

The command computes from files made here; its numbers are compared with scikit-learn's.
"""

import doctest
import importlib
import json
import math
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

import dmfroc as package

CLASSES = ["ash", "birch", "cedar"]


def write_scores(path: Path, separation: float) -> float:
    """Write a file of noisy class probabilities, and return Hand and Till's M of it."""
    rng = np.random.default_rng(1)
    labels = rng.integers(len(CLASSES), size=300)
    scores = np.exp(rng.normal(size=(300, 3)) + separation * np.eye(3)[labels])
    scores /= scores.sum(axis=1, keepdims=True)
    frame = pd.DataFrame(scores, columns=CLASSES)
    frame.assign(tree=np.array(CLASSES)[labels]).to_csv(path, index=False)
    return roc_auc_score(labels, scores, multi_class="ovo")


def dmfroc(*arguments: str) -> str:
    """Run the command that is installed beside this interpreter."""
    command = [Path(sys.executable).with_name("dmfroc"), *arguments]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def numbers(tree: object) -> list[float]:
    """Collect all numbers in a JSON value."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, list):
        return [number for branch in tree for number in numbers(branch)]
    return [tree] if isinstance(tree, int | float) else []


def examples_of_rooms(n: int) -> dict[str, list[doctest.DocTest]]:
    """Return the first docstrings with examples of each room."""
    rooms: dict[str, list[doctest.DocTest]] = {}
    for module in pkgutil.walk_packages(package.__path__, "dmfroc."):
        room = rooms.setdefault(module.name.split(".")[1], [])
        if len(room) < n and not module.name.endswith("__main__"):
            found = doctest.DocTestFinder(exclude_empty=True).find(
                importlib.import_module(module.name)
            )
            room += [x for x in found if x.examples][: n - len(room)]
    return rooms


good, poor = Path("good.csv"), Path("poor.csv")
expected = write_scores(good, separation=2.0)
write_scores(poor, separation=1.0)

print(dmfroc("--version"))
evaluation = json.loads(dmfroc("evaluate", str(good), "--label", "tree", "--json"))
found = numbers(evaluation)
assert all(math.isfinite(number) for number in found), evaluation
assert any(math.isclose(number, expected, abs_tol=1e-9) for number in found), (expected, evaluation)
print(dmfroc("compare", str(good), str(poor), "--label", "tree"))
dmfroc("report", str(good), str(poor), "--label", "tree", "--output", "report.html")
assert "good is better than poor" in Path("report.html").read_text(encoding="utf-8")
dmfroc("demo", "--plot", "demo.png")
assert Path("demo.png").stat().st_size > 10_000

runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
for room, examples in examples_of_rooms(3).items():
    failed = sum(runner.run(example).failed for example in examples)
    assert failed == 0, room
    print(f"{room}: {len(examples)} examples")
