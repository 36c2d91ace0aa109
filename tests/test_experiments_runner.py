"""Studies of the experiments: nothing is computed twice, whoever computes it."""

import sys
from pathlib import Path

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"
sys.path.append(str(EXPERIMENTS))
from _runner import Study, grid, provenance_of  # noqa: E402

CALLS = []


def mean(generator, n):
    CALLS.append(n)
    return {"mean": generator.normal(size=n).mean(), "is_large": np.bool_(n > 5)}


def two_rows(generator, n):
    return [{"side": side, "x": generator.normal() if n else np.nan} for side in "ab"]


def fails(generator, n):
    raise ArithmeticError("no number")


def study(directory, function=mean, sizes=(5, 50), replications=4):
    return Study("s", function, grid(n=sizes), replications, directory, seed=1)


def test_a_study_adds_settings_and_replications_to_what_is_stored(tmp_path):
    CALLS.clear()
    study(tmp_path, sizes=[5], replications=2).run(1)
    table = study(tmp_path).run(1)
    assert len(CALLS) == 2 + 6
    assert_frame_equal(study(tmp_path).run(1), table)
    assert_frame_equal(study(tmp_path / "other").run(1), table)
    few = study(tmp_path, sizes=[50], replications=1).run(1)
    assert len(CALLS) == 8 + 8
    assert_frame_equal(few, table[4:5].reset_index(drop=True))
    assert table["mean"][5] == study(tmp_path).generator({"n": 50}, 1).normal(size=50).mean()
    assert provenance_of(study(tmp_path).path)["rows"] == [4, 4]


def test_a_study_goes_on_where_it_was_killed(tmp_path):
    table = study(tmp_path / "whole").run(1)
    study(tmp_path)._computed([({"n": 5}, 0), ({"n": 5}, 1)], 1)
    lines = tmp_path / "s.lines"
    lines.write_text(lines.read_text()[:-9])
    CALLS.clear()
    assert_frame_equal(study(tmp_path).run(1), table)
    assert len(CALLS) == 7
    assert not lines.exists()


def test_a_study_goes_on_after_several_kills_between_cells(tmp_path):
    for replication in range(3):
        study(tmp_path)._computed([({"n": 5}, replication)], 1)
    CALLS.clear()
    study(tmp_path, sizes=[5]).run(1)
    assert len(CALLS) == 1


def test_an_error_names_the_replication(tmp_path):
    with pytest.raises(ArithmeticError, match="no number") as caught:
        study(tmp_path, fails).run(1)
    assert caught.value.__notes__ == ["in replication 0 of the setting {'n': 5}"]


@pytest.mark.slow
def test_worker_processes_give_the_same_rows(tmp_path):
    found = [study(tmp_path / str(n), two_rows, [0, 5]).run(n) for n in (1, 2)]
    assert_frame_equal(*found)
    assert found[0]["side"].tolist() == 8 * ["a", "b"]


def test_stored_cells_are_computed_again(tmp_path):
    """A study whose code gives other numbers than before is found out; so is one row too few."""
    assert study(tmp_path).changed_cells(3) == (0, [])
    study(tmp_path).run(1)
    assert study(tmp_path).changed_cells(100) == (8, [])
    stored = study(tmp_path).stored()
    for table in stored.values():
        table.loc[table["replication"] == 2, "mean"] += 1e-3
    study(tmp_path).path.with_suffix(".lines").touch()
    study(tmp_path)._store(stored)
    n, changed = study(tmp_path).changed_cells(100)
    assert n == 8
    assert sorted((setting["n"], r) for setting, r in changed) == [(5, 2), (50, 2)]

    of_names = study(tmp_path / "names", two_rows, sizes=(0, 1), replications=1)
    of_names.run(1)
    assert of_names.changed_cells(9) == (2, [])
    of_names.path.with_suffix(".lines").touch()
    of_names._store({text: table[:1] for text, table in of_names.stored().items()})
    assert len(of_names.changed_cells(9)[1]) == 2
