"""The stamp of a page: what a study runs, and what of it has changed since."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "experiments"))
import _code  # noqa: E402
from _code import Package, note, now, stamp, stamps  # noqa: E402

MODULE = '''"""Say."""

from __future__ import annotations

from dmfroc.inference.b import LEVEL as HALF
from dmfroc.measures.registry import Measure, register

POWER = 2  # squared


class Area:
    """Hold a width."""

    width: int = 3

    def of(self, x: float) -> float:
        """Return the area."""
        assert x > 0, f"x must be positive, but it is {x}"
        return self.width * x**POWER


def f(x: float, a: Area = Area()) -> float:
    """Say."""
    match x:
        case [*_, float(y)]:
            return y
    return [a.of(y) for y in x if y > HALF] or f"{x:.{POWER}f}%"


def not_run() -> int:
    return 1


made = register(Measure("name", f, range=(0, 1)))
'''
PLACE = "dmfroc/measures/a.py"
RUN = [(PLACE, "f"), (PLACE, "Area.of")]


def hashes(module=MODULE, level="LEVEL = 0.5"):
    files = {PLACE: module, "dmfroc/inference/b.py": level}
    return Package(files.get).hashes(RUN)[PLACE]


def test_the_hash_is_the_same_in_all_versions_of_python():
    assert hashes() == {"Area.of": "575f9d", "f": "c51f81"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x: float, a: Area", "x: int, a"),
        ("-> float", "-> int"),
        ("width: int", "width: float"),
        ('"""Say."""', '"""Tell."""'),
        ("x must be positive, but it is {x}", "pass a positive x"),
        ('        """Return the area."""\n', ""),
        ("POWER = 2  # squared", "\n\n\nPOWER = (2)"),
        ("    return [a", "    # so\n    return [a"),
        ("    return 1", "    return 2"),
    ],
)
def test_what_does_nothing_or_is_not_run_is_not_seen(old, new):
    assert old in MODULE
    assert hashes(MODULE.replace(old, new)) == hashes()


@pytest.mark.parametrize(
    ("old", "new", "seen_in"),
    [
        ("POWER = 2", "POWER = 3", {"f", "Area.of"}),
        ("width: int = 3", "width: int = 4", {"f", "Area.of"}),
        ("y > HALF", "y >= HALF", {"f"}),
        ("self.width *", "self.width +", {"Area.of"}),
        ("range=(0, 1)", "range=(-1, 1)", {"f"}),
        ("x: float, a: Area = Area()", "x: float, a: Area = Area", {"f"}),
    ],
)
def test_what_changes_numbers_is_seen_where_it_is_used(old, new, seen_in):
    assert old in MODULE
    before, after = hashes(), hashes(MODULE.replace(old, new))
    assert {name for name in before if before[name] != after[name]} == seen_in


def test_a_constant_of_another_module_is_seen():
    assert hashes(level="LEVEL = 0.25")["f"] != hashes()["f"]
    assert hashes(level="LEVEL: float = 0.5  # half\nOTHER = 1") == hashes()


def test_a_page_whose_code_has_changed_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(_code, "FILE", tmp_path / "code.json")
    before, after = Package({PLACE: MODULE}.get), Package({PLACE: MODULE.replace("2", "3")}.get)
    stamp("page", RUN, before, older={})
    assert note("page", before) is None
    assert "2 of the 2 functions" in note("page", after)
    assert "1 of the 2 functions that the study runs have changed: `Area.of`" in note(
        "page", Package({PLACE: MODULE.replace("self.width *", "self.width +")}.get)
    )
    stamp("page", RUN[:1], after, older=stamps()["page"])
    assert "2 of the 2" in note("page", after)  # some numbers are still of the earlier code
    stamp("page", RUN, after, older={})
    assert note("page", after) is None


def test_the_functions_that_run_are_recorded():
    program = (
        "import _code; from dmfroc.measures import table; import dmfroc; _code.record();"
        "dmfroc.estimate('accuracy', [0, 1, 1], y_pred=[0, 1, 0]); print(_code.ran)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'experiments'}", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    ran = eval(done.stdout)
    assert ("dmfroc/analyses/estimation.py", "estimate") in ran
    assert not any(path == "dmfroc/measures/ranking.py" for path, _ in ran)
    found = now().hashes(ran)
    counted = {(path, name) for path, name in ran if not path.startswith("dmfroc/_kit/")}
    assert {(path, name) for path in found for name in found[path]} == counted


def test_every_page_has_a_stamp():
    pages = {path.stem for path in (ROOT / "docs" / "experiments").glob("*.md")} - {"index"}
    assert set(stamps()) == pages
