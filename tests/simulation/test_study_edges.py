"""Studies at their edges: odd functions, damaged files, several at once, and kills."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import study_functions
from pandas.testing import assert_frame_equal
from study_samples import SCRIPT, SETTINGS, study_of

from dmfroc.simulation._study_files import DamagedError
from dmfroc.simulation._study_workers import Chunk, workers
from dmfroc.simulation.study import Study, read_provenance

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (study_functions.renames, "'replication', which is the name of the number of the repl"),
        (study_functions.not_tidy, "'n', which is the name of a setting: rename it"),
        (study_functions.not_named, "a column with the name 1: names must be strings"),
        (study_functions.changes_kind, r"'x' .* holds text for .*50.*, but numbers for .*5"),
    ],
)
def test_columns_are_checked_at_the_first_part(tmp_path, function, message):
    study = study_of(tmp_path, function, replications=3)
    with pytest.raises(ValueError, match=message):
        study.run(n_workers=1, chunk_size=1)
    parts = list(tmp_path.rglob("*.parquet"))
    assert len(parts) == (3 if function is study_functions.changes_kind else 0)
    if parts:  # also where the finished parts are those of an earlier run
        with pytest.raises(ValueError, match=message):
            study.run(n_workers=1, chunk_size=1)


BIG = 2**53 + 1  # no float


@pytest.mark.parametrize(
    "values",
    [
        *([1, "b"], [True, 1], [BIG, 0.5], [BIG, None], [None, BIG, "absent"], [2**63 + 1, 1]),
        *([2**64, 2**64 + 1], ["\ud800", "a"], [{}, {"b": 1}], [[1], ["b"]], [[1, "b"], [2]]),
        *([[BIG, None], [1]], [[1], 1], [[{}], []]),
    ],
)
def test_settings_that_a_file_cannot_hold_are_refused(values):
    settings = [{} if value == "absent" else {"a": value} for value in values]
    with pytest.raises(ValueError, match="settings cannot be written, in the column 'a': "):
        study_of(".", settings=settings)


def test_settings_that_a_file_can_hold(tmp_path):
    settings = [{"seed": BIG, "a": 1, "b": None}, {"seed": 1, "a": 0.5, "b": True}, {"seed": -BIG}]
    table = study_of(tmp_path, lambda _, **__: {"x": 0.5}, settings, replications=1).run(
        n_workers=1
    )
    assert table["seed"].tolist() == [BIG, 1, -BIG]
    assert table["a"].tolist()[:2] == [1, 0.5]
    assert table["b"].tolist()[:2] == [None, True]


@pytest.mark.parametrize(
    "values",
    [
        *([1, "b"], [True, 1], [BIG, 0.5], [BIG, None], [BIG, BIG], [2**64, 1]),
        *(["\ud800", "a"], [{}, {}], [[1, "b"], [1]], [1j, 2j], [np.longdouble(1) / 3] * 2),
    ],
)
def test_results_that_a_file_cannot_hold_are_refused_at_the_first_part(tmp_path, values):
    function, calls = (lambda _, n: {"n_times_2": 2 * n, "x": values[len(calls) % 2]}), []

    def counted(generator, n):
        result = function(generator, n)
        calls.append(n)
        return result

    message = r"returned what cannot be written, for the setting {'n': 5}, in the column 'x': "
    with pytest.raises(ValueError, match=message):
        study_of(tmp_path, counted, replications=50).run(n_workers=1, chunk_size=2)
    assert calls == [5, 5]
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\0b", "a" * 300, "é" * 124])
def test_names_that_no_file_can_have(name):
    with pytest.raises(ValueError, match="name must be that of a file, without a folder"):
        Study(name, study_functions.moments, SETTINGS, replications=1)


@pytest.mark.parametrize("name", ["a" * 247, os.fsdecode(b"s\xff"), "..."])
def test_odd_names(tmp_path, name):
    """A result under a name that is not UTF-8 could not be read, and was computed for ever."""
    directory = tmp_path / os.fsdecode(b"d\xff")
    study = Study(name, study_functions.moments, SETTINGS, replications=2, directory=directory)
    table = study.run(n_workers=1)
    assert_frame_equal(study.run(n_workers=1), table, check_exact=True)
    assert read_provenance(study.path)["study"] == name


def test_a_part_that_can_never_be_read_ends_the_study(tmp_path, monkeypatch):
    def read(path):
        raise DamagedError(path, "as ever")

    monkeypatch.setattr("dmfroc.simulation.study.read", read)
    study = study_of(tmp_path)
    with (
        pytest.warns(UserWarning, match="it is computed again"),
        pytest.raises(ValueError, match=r"parquet is damaged: as ever"),
    ):
        study.run(n_workers=1)


@pytest.mark.parametrize("has_parts", [True, False])
def test_a_finished_study_opens_where_nothing_can_be_written(tmp_path, monkeypatch, has_parts):
    table = study_of(tmp_path).run(n_workers=1)
    if not has_parts:
        shutil.rmtree(tmp_path / "s.parts")

    def refuse(*_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("dmfroc.simulation._study_files.written_whole", refuse)
    monkeypatch.setattr("os.access", lambda *_: False)
    assert_frame_equal(study_of(tmp_path).run(n_workers=1), table, check_exact=True)
    for options in ({"replications": 21}, {"seed": 1}, {"settings": SETTINGS[:1]}):
        with pytest.raises(OSError, match="Read-only file system"):
            study_of(tmp_path, **options).run(n_workers=1)


def test_reserved_names_of_settings_are_refused():
    with pytest.raises(ValueError, match="has the name 'replication'"):
        study_of(".", settings=[{"replication": 1}])


def test_a_function_that_exits_does_not_end_the_study_in_silence(tmp_path):
    for n_workers in (1, 2):
        study = study_of(tmp_path, study_functions.exits, replications=1)
        with pytest.raises(RuntimeError, match=r"called sys\.exit\('enough'\) in replication 0"):
            study.run(n_workers=n_workers)


@pytest.mark.slow
def test_a_function_that_hangs_is_given_up(tmp_path):
    study = study_of(tmp_path, study_functions.hangs, replications=2)
    handler = signal.getsignal(signal.SIGALRM)
    for n_workers in (1, 2):
        with pytest.raises(TimeoutError, match=r"more than 0.2 seconds in replication 0 .*50"):
            study.run(n_workers=n_workers, chunk_size=2, time_limit=0.2)
    assert signal.getsignal(signal.SIGALRM) is handler
    assert len(list(tmp_path.rglob("*.parquet"))) == 1  # what was finished is kept
    with pytest.raises(ValueError, match="time_limit must be positive and finite"):
        study.run(time_limit=0)
    with pytest.raises(ValueError, match="time_limit is for processes of this machine"):
        study.run(time_limit=1.0, scheduler="tcp://127.0.0.1:1")


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["truncated", "empty", "overwritten"])
@pytest.mark.parametrize("which", ["part", "results", "both"])
def test_what_is_damaged_is_computed_again(tmp_path, damage, which):
    study = study_of(tmp_path)
    expected = study.run(n_workers=1, chunk_size=5)
    part = sorted(tmp_path.glob("*.parts/*/5-10.parquet"))[0]
    files = {"part": [part], "results": [study.path], "both": [part, study.path]}[which]
    for file in files:
        content = file.read_bytes()
        middle = len(content) // 2
        file.write_bytes(
            {
                "truncated": content[:middle],
                "empty": b"",
                "overwritten": content[:4] + bytes(middle) + content[4 + middle :],
            }[damage]
        )
    with pytest.warns(UserWarning, match="is damaged") as caught:
        found = study.run(n_workers=1)
    assert {str(file) for file in files} >= {str(w.message).split(" is damaged")[0] for w in caught}
    assert_frame_equal(found, expected, check_exact=True)
    assert_frame_equal(study.run(n_workers=1), expected, check_exact=True)  # without a warning


@pytest.mark.slow
def test_results_that_lack_rows_are_computed_again(tmp_path):
    """Which rows belong to which setting is known by their numbers."""
    study = study_of(tmp_path)
    expected = study.run(n_workers=1)
    shutil.rmtree(study.path.with_suffix(".parts"))
    table = pq.read_table(study.path)
    pq.write_table(table.slice(1), study.path)
    with pytest.warns(UserWarning, match=r"s\.parquet is damaged: it has other rows than"):
        found = study.run(n_workers=1)
    assert_frame_equal(found, expected, check_exact=True)


def test_a_file_of_another_kind_is_not_overwritten(tmp_path):
    study = study_of(tmp_path)
    study.path.write_text("my notes")
    with pytest.raises(ValueError, match=r"s\.parquet was not written by a study"):
        study.run(n_workers=1)
    assert study.path.read_text() == "my notes"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["notes.parquet", "9-0.parquet", "1-2-3.parquet", "0-1.txt"])
def test_foreign_files_are_left_alone(tmp_path, name):
    study = study_of(tmp_path)
    expected = study.run(n_workers=1)
    part = next(tmp_path.glob("*.parts/*/*.parquet"))
    part.with_name(name).write_text("text")
    part.with_name("a" + name).mkdir()
    os.mkfifo(part.with_name("0-7.parquet"))
    part.with_name("0-8.parquet").mkdir()
    part.with_name("0-9.parquet").symlink_to("nowhere")
    before = set(os.listdir(part.parent))
    study.path.unlink()
    assert_frame_equal(study.run(n_workers=1), expected, check_exact=True)
    assert set(os.listdir(part.parent)) == before


@pytest.mark.slow
def test_threads_run_one_study_side_by_side(tmp_path):
    expected = study_of(tmp_path / "alone").run(n_workers=1)
    environment = dict(os.environ)
    found, errors = [], []

    def run(n_workers):
        try:
            found.append(study_of(tmp_path / "all").run(n_workers=n_workers, chunk_size=3))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=[1 + (k == 0)]) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    for table in found:
        assert_frame_equal(table, expected, check_exact=True)
    assert dict(os.environ) == environment
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.slow
def test_few_results_wait_to_be_stored(tmp_path):
    """What a slow disk has not stored stays small."""
    log = tmp_path / "log"
    setting = {"n": 5, "log": str(log), "pause": 0.0}
    stop = get_context("spawn").Event()
    chunks = [Chunk(study_functions.logged, 0, setting, range(k, k + 1)) for k in range(60)]
    with workers(2, None, stop) as (_, compute):
        for n_stored, (_, finished) in enumerate(compute(iter(chunks)), start=1):
            time.sleep(0.01)
            assert len(finished.rows) == 1
            assert len(log.read_text().splitlines()) <= n_stored + 4
    assert n_stored == 60


@pytest.mark.slow
def test_kills_leave_nothing_behind(tmp_path):
    """A few of the 200 kills of `tests/fuzz/kill_studies.py`."""
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), str(tmp_path / "log"), "0.01", "1", "2"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path[1:]])}
    for _ in range(2):
        process = subprocess.Popen(command, env=environment)
        deadline = time.monotonic() + 60
        n_parts = len(list(tmp_path.rglob("*.parquet")))
        while len(list(tmp_path.rglob("*.parquet"))) < n_parts + 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
        process.wait()
    [directory, *_] = tmp_path.glob("logged.parts/*")
    host = next(iter(_partial_names(directory)))
    (directory / host).write_bytes(b"PAR1")  # as of a process that is gone
    subprocess.run(command, env=environment, check=True)
    assert not list(tmp_path.rglob("*.partial"))


def _partial_names(directory):
    from dmfroc._kit.files import written_whole

    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    with written_whole(directory / "x"):
        [name] = [path.name for path in directory.glob(".dmfroc-*.partial")]
    (directory / "x").unlink()
    return [name.replace(f"-{os.getpid()}-", f"-{process.pid}-")]


def test_settings_are_those_of_the_other_tests():
    assert SETTINGS == [{"n": 5}, {"n": 50}]
