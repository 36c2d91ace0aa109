"""Run what validates the package, and write the page that reports it, `docs/validation.md`.

There are the tests that `docs/guarantees.md` names, golden values and oracles, and a short study of
coverage whose figures are stored. Without options nothing in the repository changes: the page is
written to `build/validation.md`, and the program ends with 1 if anything differs. ``--write``
renews the page and the stored figures. It takes about half an hour.
"""

import argparse
import csv
import datetime
import importlib.metadata
import importlib.util
import os
import platform
import re
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dmfroc

ROOT = Path(__file__).parents[1]
GUARANTEES, PAGE = ROOT / "docs" / "guarantees.md", ROOT / "docs" / "validation.md"
FIGURES = ROOT / "tests" / "reference" / "short_coverage.csv"
GOLDEN = [  # stored numbers, formulas of others, and published values
    "tests/test_reference.py",
    "tests/curves/test_reference_values.py",
    "tests/measures/test_curve_areas.py",
    "tests/measures/test_contingency_table.py",
    "tests/measures/test_ranking.py",
    "tests/applications/test_significance.py",
    "tests/measures/test_table.py",
    "tests/test_papers.py",
    "tests/test_statsmodels.py",
]
MEASURES = ["hand_till", "dmf_auc", "informedness", "accuracy", "brier_score"]
DESIGNS = {"two classes": (100, [0.5, 0.5]), "three": (150, [0.4, 0.4, 0.2])}
DESIGNS |= {"five": (400, [0.4, 0.3, 0.1, 0.1, 0.1]), "near perfection": (200, [0.5, 0.3, 0.2])}
SAMPLES, POPULATION, TOLERANCE = 400, 100_000, 1.0  # the last one in per cent


class Promise(NamedTuple):
    """A promise, with the tests or studies that hold it."""

    section: str
    number: int
    text: str
    evidence: list[str]

    @property
    def subject(self) -> str:
        """What is promised, without details."""
        return re.split(r"[.:;] | \(", self.text)[0].rstrip(".") + "."


class Counts(NamedTuple):
    """How many tests there are, and how many of them passed or were skipped."""

    tests: int = 0
    passed: int = 0
    skipped: int = 0


def promises() -> list[Promise]:
    """Read the promises and their tests from the page of guarantees."""
    found = []
    for section in GUARANTEES.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, rest = section.partition("\n")
        texts, _, evidence = rest.partition(":::{dropdown}")
        for number, text in re.findall(r"^(\d+)\. (.*)$", texts, re.M):
            [line] = re.findall(rf"^{number}\. (.*)$", evidence, re.M)
            found.append(Promise(title, int(number), text, re.findall(r"`([\w/.]+)`", line)))
    return found


def table(page: str, begin: str) -> list[dict[str, str]]:
    """Return the rows of the first table of a page of experiments whose head begins so."""
    text = (ROOT / "docs" / "experiments" / f"{page}.md").read_text(encoding="utf-8")
    head, _, *lines = text[text.index(f"| {begin}") :].split("\n\n")[0].splitlines()
    names = [name.strip() for name in head.strip("|").split("|")]
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return [dict(zip(names, row, strict=False)) for row in rows]


def ends(rows: Iterable[dict[str, str]], column: str) -> str:
    """Return the least and the largest number that begins the cells of a column."""
    numbers = [float(row[column].split()[0]) for row in rows]
    return f"{min(numbers)} to {max(numbers)}"


def sentence(page: str, pattern: str) -> str:
    """Return what a page says, by a pattern of it."""
    text = (ROOT / "docs" / "experiments" / f"{page}.md").read_text(encoding="utf-8")
    found = re.search(pattern, text)
    assert found, (page, pattern)
    return " ".join(found[0].split())


def of_trust() -> str:
    """Sum the cells of the study of all measures."""
    rows = table("trust", "designs | of each")
    cells, hold, warned = (
        sum(int(row[name]) for row in rows) for name in ("cells", "hold", "fail, with a warning")
    )
    wide = sum(int(row["too wide"]) for row in rows)
    return (
        f"{hold} of {cells} cells hold; {warned} fail with a warning, "
        f"{wide} are too wide, {cells - hold - warned - wide} too short"
    )


def of_measure(page: str, begin: str, name: str, column: str) -> str:
    """Return the ends of a column in the rows of one measure."""
    return ends([row for row in table(page, begin) if row["measure"] == name], column)


def of_designs() -> str:
    """Return the coverage in the designs, and in all of them together."""
    rows = table("designs", "learner | n")
    together = [row for row in rows if row["learner"] == "**all**"]
    single = [row for row in rows if row not in together]
    return (
        f"coverage {ends(single, 'coverage, %')} % in one design, "
        f"{ends(together, 'coverage, %')} % in all together"
    )


RESULTS: dict[str, Callable[[], str]] = {
    "trust": of_trust,
    "uses": lambda: sentence("uses", r"\d+ cells were studied\. \d+ of them hold less[^.]*"),
    "paired_tests": lambda: (
        "size of the test of M: "
        + of_measure("paired_tests", "measure | design", "`hand_till`", "size")
        + " %"
    ),
    "near_perfect": lambda: (
        "least coverage of M: "
        + table("near_perfect", "measure | coverage, least")[0]["coverage, least / median"].split()[
            0
        ]
        + " %"
    ),
    "designs": of_designs,
    "gates": lambda: sentence("gates", r"largest share of\s+passes and fails[^%]*%"),
    "items": lambda: "least coverage " + ends(table("items", "n | least"), "least, %") + " %",
    "any_time": lambda: (
        ends(table("any_time", "measure | streams"), "limits that ever fail, %") + " % ever fail"
    ),
    "sbc": lambda: "p-values of uniform ranks: " + ends(table("sbc", "model | quantity"), "p"),
}


def git(*arguments: str) -> str:
    """Return what git prints."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def run_tests(paths: Iterable[str], report: Path) -> None:
    """Run tests, and write a report of them."""
    report.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not seen", f"--junitxml={report}"]
    if importlib.util.find_spec("xdist"):
        command += ["-n", os.environ.get("VALIDATE_PROCESSES", "auto"), "--dist", "loadfile"]
    subprocess.run([*command, *sorted(set(paths))], cwd=ROOT, check=False)


def counts_of(report: Path) -> dict[str, Counts]:
    """Count the tests of a report by file."""
    counts: dict[str, Counts] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        path = re.match(r"tests(?:\.\w+)*?\.test_\w+", case.get("classname", ""))
        assert path, case.attrib
        kinds = {child.tag for child in case}
        before = counts.get(path[0], Counts())
        counts[path[0]] = Counts(
            before.tests + 1,
            before.passed + (not kinds & {"failure", "error", "skipped"}),
            before.skipped + ("skipped" in kinds),
        )
    return {name.replace(".", "/") + ".py": x for name, x in counts.items()}


def test_files(paths: Iterable[str]) -> list[str]:
    """Return what pytest runs for the paths that a promise names."""
    found = []
    for path in paths:
        if (ROOT / path).is_dir() or Path(path).name.startswith("test_"):
            found.append(path)
        elif path.startswith("tests/fuzz/"):  # a program, which a test there runs briefly
            found.append("tests/fuzz")
    return found


def shown(paths: Iterable[str], counts: dict[str, Counts]) -> str:
    """Return the tests with the numbers of those that passed, for a cell of a table."""
    cells = []
    for path in paths:
        of_path = [x for name, x in counts.items() if name.startswith(path)]
        if of_path:
            tests, passed, skipped = (sum(x) for x in zip(*of_path, strict=True))
            more = f", {skipped} skipped" if skipped else ""
            cells.append(f"`{path}`: {passed} of {tests - skipped}{more}")
        else:
            cells.append(f"`{path}`")
    return "; ".join(cells)


def draw(rng: np.random.Generator, n: int, shares: list[float], near: bool) -> tuple:
    """Draw classes in fixed numbers, and probabilities with normal logits."""
    sizes = np.round(n * np.array(shares)).astype(int)
    classes = np.repeat(np.arange(len(shares)), sizes)
    logits = rng.normal(size=(len(classes), len(shares)))
    logits += (3.0 if near else 1.2) * np.eye(len(shares))[classes]
    scores = np.exp(logits)
    return classes, scores / scores.sum(axis=1, keepdims=True)


def short_coverage() -> dict[tuple[str, str], float]:
    """Return the coverage of the default interval, in per cent, by design and measure."""
    found = {}
    for number, (design, (n, shares)) in enumerate(DESIGNS.items()):
        rng = np.random.default_rng([57, number])
        near = design == "near perfection"
        options = {"measures": MEASURES, "stratify": True}
        truth = dmfroc.evaluate(*draw(rng, POPULATION, shares, near), **options).estimates
        held = dict.fromkeys(MEASURES, 0)
        for _ in range(SAMPLES):
            estimates = dmfroc.evaluate(*draw(rng, n, shares, near), **options).estimates
            for name, x in estimates.items():
                held[name] += x.interval[0] <= truth[name].value <= x.interval[1]
        found |= {(design, name): 100 * held[name] / SAMPLES for name in MEASURES}
    return found


def stored_coverage() -> dict[tuple[str, str], float]:
    """Read the figures that are expected."""
    with FIGURES.open(newline="") as file:
        return {(x["design"], x["measure"]): float(x["coverage"]) for x in csv.DictReader(file)}


def page(counts: dict[str, Counts], coverage: dict[tuple[str, str], float]) -> str:
    """Return the page."""
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}"
        for name in ("numpy", "scipy", "jax", "numpyro", "scikit-learn")
    )
    code = git("log", "-1", "--format=%h", "--", "dmfroc")
    run = f"{datetime.date.today()}, code of commit {code}"
    lines = [PREFACE.format(run=run, python=platform.python_version(), versions=versions)]
    for promise in promises():
        if promise.number == 1:
            studied = promise.evidence[0].startswith("experiments")
            lines += [f"\n### {promise.section}\n"]
            lines += ["| promise | study | result | computed, commit |"] if studied else []
            lines += ["| promise | tests that passed |"] if not studied else []
            lines += ["| --- " * (4 if studied else 2) + "|"]
        cells = [f"{promise.number}. {promise.subject}"]
        if promise.evidence[0].startswith("experiments"):
            [name] = [Path(path).stem for path in promise.evidence]
            dated = git("log", "-1", "--format=%as, %h", "--", f"docs/experiments/{name}.md")
            cells += [f"[{name}](experiments/{name}.md)", RESULTS[name](), dated]
        else:
            cells += [shown(promise.evidence, counts)]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "## Golden values and oracles", "", GOLDEN_TEXT, ""]
    lines += ["| tests | passed |", "| --- | --- |"]
    lines += [f"| `{x}` | {counts[x].passed} of {counts[x].tests} |" for x in GOLDEN]
    lines += ["", "## Short study of coverage", "", COVERAGE_TEXT, ""]
    lines += ["| design | " + " | ".join(f"`{x}`" for x in MEASURES) + " |"]
    lines += ["| --- " * (len(MEASURES) + 1) + "|"]
    for design, (n, shares) in DESIGNS.items():
        values = " | ".join(f"{coverage[design, name]:.1f}" for name in MEASURES)
        lines.append(f"| {design}: K = {len(shares)}, n = {n} | {values} |")
    return "\n".join(lines) + "\n"


PREFACE = """\
# Validation

Made by `make validate`: every promise of [Guarantees](guarantees.md), what holds it, and with which
result. Use it as the record of validation of an installation; [Reporting checklists](checklists.md)
has the items of TRIPOD+AI and STARD.

Run on {run}, with Python {python}, {versions}.

## Run it yourself

From a clone, on a computer with Python 3.12 or newer, in less than an hour:

```console
$ make validate
```

It runs the tests below, compares golden values, and repeats a short study of coverage. Its copy of
this page is `build/validation.md`, and `build/validation.xml` names every test with its
time. If a test fails, or a coverage differs by more than {tolerance} point, the last line names it
and the status is 1. Tests without their browser or data are skipped, and counted as such.

To repeat a study in full, delete its file in `experiments/results` and run it, for example `python
experiments/trust.py`. Some take hours.

## Promises

Programs in `tests/fuzz` without a number are run briefly by `tests/fuzz/test_fuzz.py`, and at
length by `make fuzz`; `interrupt_calls.py` by `make fuzz` alone.
""".replace("{tolerance}", f"{TOLERANCE:g}")
GOLDEN_TEXT = """\
Stored numbers with their recipes, computed in exact arithmetic or by other programs, and printed
values of the papers."""
COVERAGE_TEXT = f"""\
Coverage of the default 95 % interval in {SAMPLES} samples of each design, in per cent, with fixed
seeds. The truth is the value in a population of {POPULATION:,}. The Monte Carlo error is 1.1
points. A new run must give these figures within {TOLERANCE:g} point, a tolerance for rounding."""


def main() -> int:
    """Run everything; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew the page and the figures")
    is_written = parser.parse_args().write
    named = [path for promise in promises() for path in test_files(promise.evidence)]
    report = ROOT / "build" / "validation.xml"
    run_tests([*named, *GOLDEN], report)
    counts = counts_of(report)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        coverage = short_coverage()
    if is_written:
        rows = [["design", "measure", "coverage"], *([*key, x] for key, x in coverage.items())]
        with FIGURES.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    target = PAGE if is_written else ROOT / "build" / "validation.md"
    target.write_text(page(counts, coverage), encoding="utf-8")
    wrong = [name for name, x in counts.items() if x.passed + x.skipped < x.tests]
    expected = stored_coverage()
    wrong += [
        f"coverage of {measure} in {design}: {found:.1f}, expected {expected[design, measure]:.1f}"
        for (design, measure), found in coverage.items()
        if abs(found - expected[design, measure]) > TOLERANCE
    ]
    print(f"Wrote {target.relative_to(ROOT)}.", *wrong, sep="\n")
    print(f"Validation failed: {len(wrong)} differ." if wrong else "Validation passed.")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
