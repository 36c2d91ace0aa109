"""What is public is what the stored file says, so that each change of it is a decision."""

import pytest
from public_signatures import FILE, lines


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
    assert any(line.startswith("dmfroc.Evaluation <") for line in found)
    assert any(line.startswith("base Result.to_json(") for line in found)
