"""What is public is what the stored file says, so that each change of it is a decision."""

import inspect
import typing

import pytest
from public_signatures import FILE, lines

import dmfroc


@pytest.fixture(scope="module")
def found():
    return lines()


def test_public_signatures_are_as_stored(found):
    stored = FILE.read_text(encoding="utf-8").splitlines()
    gone = [f"- {line}" for line in stored if line not in set(found)]
    new = [f"+ {line}" for line in found if line not in set(stored)]
    assert not gone + new, (
        "\n".join(["What docs/stability.md calls stable has changed:", *gone, *new])
        + "\nIf that is meant: python tests/public_signatures.py > tests/public_signatures.txt"
    )


def test_names_options_commands_and_fields_are_among_them(found):
    """A walk that finds nothing would pass the other test."""
    assert "$ dmfroc gate RULES FILE" in found
    assert "exit code 2: bad input" in found
    assert "exit code 3: gate inconclusive" in found
    assert "json Evaluation.estimates.dmf_auc.interval" in found
    for name in ("evaluate", "estimate", "compare"):
        [signature] = [line for line in found if line.startswith(f"dmfroc.{name}(")]
        assert {"level=0.95", "method=None", "folds=None"} <= set(signature[:-1].split(", "))
    assert any(line.startswith("dmfroc.results.Evaluation <") for line in found)
    assert any(line.startswith("base Result.to_json(") for line in found)


def annotated():
    """Return all public functions, classes and their public methods by name."""
    names = set(dir(dmfroc)) - {"extend"}  # whose names the functions of other rooms use
    rooms = [dmfroc, *map(dmfroc.__getattribute__, names)]
    found = {}
    for room in filter(inspect.ismodule, rooms):
        of_room = {f"{room.__name__}.{x}": getattr(room, x) for x in dir(room)}
        found |= {x: f for x, f in of_room.items() if inspect.isfunction(f) or inspect.isclass(f)}
    for name, kind in [(x, f) for x, f in found.items() if inspect.isclass(f)]:
        own = {f"{name}.{x}": f for x, f in vars(kind).items() if not x.startswith("_")}
        methods = {x: inspect.unwrap(getattr(f, "__func__", f)) for x, f in own.items()}
        found |= {x: f for x, f in methods.items() if inspect.isfunction(f)}
        found |= {x: f.fget for x, f in own.items() if isinstance(f, property)}
    return found


def test_annotations_of_all_that_is_public_can_be_resolved():
    found = annotated()
    assert len(found) > 500
    # Before 3.12.4 they do not know the parameters of a class
    names = {x.__name__: x for x in dmfroc.FollowUp.__type_params__}
    hints = {name: typing.get_type_hints(x, localns=names) for name, x in found.items()}
    assert hints["dmfroc.evaluate"]["return"]
    assert hints["dmfroc.measures.informedness"]["return"] is dmfroc.Measure
    assert {"ax", "return"} <= set(hints["dmfroc.plots.MulticlassROCDisplay.plot"])
