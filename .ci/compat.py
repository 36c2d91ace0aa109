"""Use dmfroc with the lowest and with the newest allowed dependencies, on several Pythons.

Builds an environment for each, under the directory that is named. Pythons that do not exist are
skipped, and said so.
"""

import argparse
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("python3.12", "python3.13")
CHECK = """
import numpy as np
import dmfroc
y = np.repeat([0, 1, 2], 20)
s = np.random.default_rng(0).normal(size=(60, 3)) + np.eye(3)[y]
print(dmfroc.evaluate(y, s))
print(dmfroc.compare(y, {"a": s, "b": s[::-1]}))
dmfroc.estimate("dmf_auc", y, s, method="bootstrap", n_draws=100)
dmfroc.estimate("hand_till", y, s, method="bootstrap", n_draws=100, interval_type="studentized")
dmfroc.plots.MulticlassROCDisplay.from_predictions(y, s)
assert dmfroc.dmf(np.full((3, 3), 0.3)).converged
dmfroc.estimate("dmf_auc", y, s, method="bayes")
"""
TESTS = ("tests/test_text.py", "tests/test_files.py", "tests/test_threshold_selection.py")


def lowest() -> list[str]:
    """Return the lowest allowed version of every dependency of the package and of its tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["test"]]
    found = [re.fullmatch(r"([\w.-]+)(?:\[\w+\])?>=([\w.]+)", item) for item in wanted]
    return [f"{match[1]}=={match[2]}" for match in found if match] + [
        f"jaxlib=={match[2]}" for match in found if match and match[1] == "jax"
    ]


def run(*command: str | Path) -> None:
    """Run a command in the repository, and end if it fails."""
    environment = os.environ | {"MPLBACKEND": "Agg"}
    subprocess.run(list(map(str, command)), check=True, cwd=ROOT, env=environment)


def check(python: str, directory: Path, constraints: list[str]) -> None:
    """Build an environment, and use the package in it."""
    own = directory / "bin" / "python"
    run(python, "-m", "venv", "--clear", directory)
    file = directory / "constraints.txt"
    file.write_text("\n".join(constraints))
    pip = (own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--constraint", file, "--editable", ".[test]")
    run(own, "-W", "ignore::UserWarning", "-c", CHECK)
    run(own, "-m", "dmfroc", "evaluate", "--help")
    run(own, "-m", "pytest", "--quiet", "-W", "default", *TESTS)


def is_there(python: str) -> bool:
    """Whether an interpreter runs: version managers leave launchers that do not."""
    try:
        return subprocess.run([python, "--version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def main() -> None:
    """Check all that exist."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory.resolve()
    for python in PYTHONS:
        works = is_there(python)
        if not works:
            print(f"{python} is not there: skipped", file=sys.stderr)
            continue
        for name, constraints in (("lowest", lowest()), ("newest", [])):
            print(f"--- {python}, {name}", flush=True)
            check(python, directory / f"{python}-{name}", constraints)


if __name__ == "__main__":
    main()
