"""Studies: the same numbers whoever computes them, and nothing computed twice."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import study_functions
from pandas.testing import assert_frame_equal
from study_functions import failing, interval, logged, logged_anew, two_rows
from study_samples import SCRIPT, SETTINGS, study_of

from dmfroc.simulation.study import Study, grid, read_provenance

TESTS = Path(__file__).parents[1]


def test_numbers_come_from_the_generator_of_each_replication(tmp_path):
    study = study_of(tmp_path, seed=3)
    table = study.run(n_workers=1)
    assert list(table.columns) == ["n", "replication", "mean", "is_positive"]
    assert table["n"].tolist() == [5] * 20 + [50] * 20
    assert table["replication"].tolist() == 2 * list(range(20))
    generators = [study.generator({"n": n}, r) for n in (5, 50) for r in range(20)]
    expected = [
        generator.normal(size=n).mean() for generator, n in zip(generators, table["n"], strict=True)
    ]
    np.testing.assert_array_equal(table["mean"], expected)
    assert table["mean"].nunique() == 40


@pytest.mark.slow
def test_numbers_depend_on_seed_and_setting_alone(tmp_path):
    table = study_of(tmp_path / "a").run(n_workers=1, chunk_size=3)
    parallel = study_of(tmp_path / "b").run(n_workers=2, chunk_size=7)
    assert_frame_equal(table, parallel, check_exact=True)
    extended = study_of(tmp_path / "c", settings=[{"n": 9}, *SETTINGS[::-1]], replications=30)
    rows = extended.run(n_workers=1)
    of_50 = rows[(rows["n"] == 50) & (rows["replication"] < 20)].reset_index(drop=True)
    assert_frame_equal(of_50, table[table["n"] == 50].reset_index(drop=True), check_exact=True)
    other_seed = study_of(tmp_path / "d", seed=1).run(n_workers=1)
    assert not np.isin(other_seed["mean"], table["mean"]).any()


def test_several_rows_and_lists_in_settings(tmp_path):
    settings = [{"n": np.int64(30), "scales": (1, 10)}]
    table = study_of(tmp_path, two_rows, settings, replications=2).run(n_workers=1)
    assert table["scale"].tolist() == [1, 10, 1, 10]
    assert (table["sd"][table["scale"] == 10] > 4).all()
    assert [list(x) for x in table["scales"]] == [[1, 10]] * 4


def test_file_holds_the_table_and_its_provenance(tmp_path):
    study = study_of(tmp_path, seed=5)
    table = study.run(n_workers=1)
    assert_frame_equal(pd.read_parquet(study.path), table, check_exact=True)
    provenance = read_provenance(study.path)
    assert provenance["seed"] == 5
    assert provenance["replications"] == 20
    assert provenance["settings"] == SETTINGS
    assert provenance["function"] == "study_functions.moments"
    assert provenance["versions"][0]["numpy"] == np.__version__
    packages = {"python", "dmfroc", "jax", "numpy", "scipy", "scikit-learn"}
    assert set(provenance["versions"][0]) == packages
    assert not list(tmp_path.rglob("*.partial"))
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(ValueError, match="was not written by a study"):
        read_provenance(tmp_path / "other.parquet")


def test_finished_work_is_kept_and_extended(tmp_path):
    log = tmp_path / "log"
    settings = grid(n=[5, 50], log=[str(log)], pause=[0])

    def run(replications, chunk_size):
        study = study_of(tmp_path, logged, settings, replications=replications)
        return study.run(n_workers=1, chunk_size=chunk_size)

    first = run(10, 4)
    assert len(log.read_text().splitlines()) == 20
    longer = run(25, 6)
    assert len(log.read_text().splitlines()) == 50
    assert longer["mean"].nunique() == 50
    shorter = run(10, 3)
    assert len(log.read_text().splitlines()) == 50
    assert_frame_equal(shorter, first, check_exact=True)


def test_results_stand_in_for_lost_parts(tmp_path):
    log = tmp_path / "log"
    settings = [{"n": 5, "log": str(log), "pause": 0}, {"log": str(log), "pause": 0.0, "n": 50}]

    def run(**options):
        study = study_of(tmp_path, **({"function": logged, "settings": settings} | options))
        table = study.run(n_workers=1, chunk_size=7)
        shutil.rmtree(tmp_path / "s.parts")
        return table, len(log.read_text().splitlines())

    first, _ = run()
    assert_frame_equal(run()[0], first, check_exact=True)
    assert run()[1] == 40
    longer, n_evaluated = run(replications=25, settings=[*settings[::-1], settings[0] | {"n": 9}])
    assert n_evaluated == 40 + 2 * 5 + 25
    kept = longer[(longer["n"] == 50) & (longer["replication"] < 20)].reset_index(drop=True)
    expected = first[first["n"] == 50].reset_index(drop=True)
    assert_frame_equal(kept, expected, check_exact=True, check_like=True)
    assert run(settings=settings, seed=9)[1] == n_evaluated + 40
    assert run(settings=settings, seed=9, function=logged_anew)[1] == n_evaluated + 80


def test_results_of_several_rows_and_other_settings_are_restored(tmp_path):
    settings = [{"n": 30, "scales": [1, 10]}, {"n": 7, "scales": [2]}]
    study = study_of(tmp_path, two_rows, settings, replications=3)
    table = study.run(n_workers=1)
    assert read_provenance(study.path)["rows"] == [6, 3]
    shutil.rmtree(tmp_path / "s.parts")
    again = study.run(n_workers=1)
    assert again.drop(columns="scales").equals(table.drop(columns="scales"))
    assert [list(x) for x in again["scales"]] == [list(x) for x in table["scales"]]


def test_file_of_something_else_is_not_overwritten(tmp_path):
    mine = pd.DataFrame({"a": [1]})
    mine.to_parquet(tmp_path / "s.parquet")
    with pytest.raises(ValueError, match=r"s\.parquet was not written by a study"):
        study_of(tmp_path).run(n_workers=1)
    assert_frame_equal(pd.read_parquet(tmp_path / "s.parquet"), mine)


def test_lost_and_overlapping_parts(tmp_path):
    study = study_of(tmp_path)
    whole = study.run(n_workers=1, chunk_size=8)
    study.path.unlink()
    for part in tmp_path.rglob("8-16.parquet"):
        part.unlink()
        (part.parent / ".8-16.parquet.99.tmp").write_bytes(b"cut o")
    assert_frame_equal(study.run(n_workers=1, chunk_size=50), whole, check_exact=True)
    study_of(tmp_path / "meanwhile").run(n_workers=1, chunk_size=12)
    for part in (tmp_path / "meanwhile").rglob("0-12.parquet"):
        (tmp_path / "s.parts" / part.parent.name / part.name).write_bytes(part.read_bytes())
    assert_frame_equal(study.run(n_workers=1), whole, check_exact=True)


@pytest.mark.slow
def test_new_code_is_computed_anew_and_new_comments_are_not(tmp_path):
    def run(code):
        (tmp_path / "mine.py").write_text(code)
        script = (
            "import mine\nfrom dmfroc.simulation.study import Study\n"
            "study = Study('mine', mine.f, [{}], replications=1)\n"
            "print(study.run(n_workers=1)['x'].item())\n"
        )
        return subprocess.run(
            [sys.executable, "-B", "-c", script],
            cwd=tmp_path,
            text=True,
            capture_output=True,
            check=True,
            env=os.environ | {"PYTHONPATH": str(TESTS.parent)},
        ).stdout

    assert run("def f(generator):\n    print('once')\n    return {'x': 1}\n") == "once\n1\n"
    assert run("def f(generator):  # hm\n    print('once')\n\n    return {'x': 1}\n") == "1\n"
    assert run("def f(generator):\n    print('once')\n    return {'x': 2}\n") == "once\n2\n"


@pytest.mark.slow
def test_file_may_be_edited_while_its_study_runs(tmp_path):
    log = tmp_path / "log"
    script = tmp_path / "edited.py"
    code = (
        "import edited\nfrom pathlib import Path\nfrom dmfroc.simulation.study import Study\n"
        "def f(generator):\n"
        "    path = Path(edited.__file__)\n"
        "    path.write_text('# a line more\\n' + path.read_text())\n"
        f"    with open({str(log)!r}, 'a') as log:\n        print('once', file=log)\n"
        "    return {'x': 1}\n"
        "if __name__ == '__main__':\n"
        "    table = Study('s', edited.f, [{}], replications=4).run(n_workers=1, chunk_size=1)\n"
        "    assert len(table) == 4\n"
    )
    script.write_text(code)
    for _ in range(2):
        environment = os.environ | {"PYTHONPATH": str(TESTS.parent)}
        subprocess.run([sys.executable, "-B", script], cwd=tmp_path, check=True, env=environment)
        assert log.read_text() == 4 * "once\n"


def test_versions_that_differ_are_told(tmp_path, monkeypatch):
    study_of(tmp_path, replications=2).run(n_workers=1)
    monkeypatch.setattr("dmfroc.simulation._study_workers.versions", lambda: {"dmfroc": "9"})
    study = study_of(tmp_path, replications=4)
    with pytest.warns(UserWarning, match="computed with different versions"):
        study.run(n_workers=1)
    assert [v["dmfroc"] for v in read_provenance(study.path)["versions"]][1:] == ["9"]


def test_failure_names_the_replication_and_keeps_the_rest(tmp_path):
    study = study_of(tmp_path, failing, grid(n=[1, 7]), replications=4)
    with pytest.raises(ArithmeticError, match="no number") as caught:
        study.run(n_workers=1, chunk_size=1)
    assert caught.value.__notes__ == ["in replication 0 of the setting {'n': 7}"]
    assert len(list(tmp_path.rglob("*.parquet"))) == 4


@pytest.mark.slow
def test_workers_have_one_thread_and_two_processes_work(tmp_path):
    before = dict(os.environ)
    table = study_of(tmp_path, study_functions.threads).run(n_workers=2, chunk_size=1)
    assert set(table["omp"]) == {"1"}
    assert os.getpid() not in set(table["pid"])
    assert dict(os.environ) == before


@pytest.mark.slow
def test_death_of_a_local_worker_is_reported(tmp_path):
    with pytest.raises(RuntimeError, match="a worker process was killed"):
        study_of(tmp_path, study_functions.dies).run(n_workers=2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: study_of(".", settings=[]), ValueError, "settings is empty"),
        (lambda: study_of(".", settings=[{"n": 1}] * 2), ValueError, "{'n': 1} occurs twice"),
        (lambda: study_of(".", settings=[{"n": {1}}]), TypeError, "the value {1} in the setting"),
        (lambda: study_of(".", replications=0), ValueError, "replications must be an integer >= 1"),
        (lambda: study_of(".", seed=-1), ValueError, "seed must be an integer >= 0"),
        (lambda: study_of(".").run(n_workers=0), ValueError, "n_workers must be an integer >= 1"),
        (lambda: study_of(".").run(chunk_size=0), ValueError, "chunk_size must be an integer >= 1"),
        (
            lambda: study_of(".").run(n_workers=2, scheduler="tcp://127.0.0.1:1"),
            ValueError,
            "either n_workers or scheduler",
        ),
    ],
)
def test_bad_options_are_named(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()


def test_bad_results_are_named(tmp_path):
    with pytest.raises(ValueError, match="'n', which is the name of a setting"):
        study_of(tmp_path, study_functions.not_tidy).run(n_workers=1)
    with pytest.raises(ValueError, match="the function returned no row"):
        study_of(tmp_path, study_functions.no_row).run(n_workers=1)


# Studies that are killed


def start(directory, log, *, pause=0.02, n_workers=2, chunk_size=5, **options):
    script = directory / "script.py"
    script.write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, script, directory, log, str(pause), str(n_workers), str(chunk_size)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])},
        **options,
    )


def wait_for(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"timed out waiting for {what}"
        time.sleep(0.01)


def evaluations(log):
    return [line.split()[1] for line in log.read_text().splitlines()] if log.exists() else []


def workers_of(log):
    return {int(line.split()[0]) for line in log.read_text().splitlines()}


def has_ended(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def stored(directory):
    parts = (directory / "logged.parts").rglob("*.parquet")
    return {repr(mean) for part in parts for mean in pd.read_parquet(part)["mean"].tolist()}


@pytest.fixture
def uninterrupted(tmp_path):
    """The means of the study as they are without any trouble; the log is part of its settings."""
    log = tmp_path / "log"
    settings = grid(n=[5, 50], log=[str(log)], pause=[0.02])
    study = Study("logged", logged, settings, replications=60, directory=tmp_path)
    return [
        float(study.generator(setting, r).normal(size=setting["n"]).mean())
        for setting in settings
        for r in range(60)
    ]


@pytest.mark.slow
def test_killed_study_resumes_with_the_same_numbers(tmp_path, uninterrupted):
    log = tmp_path / "log"
    process = start(tmp_path, log)
    wait_for(lambda: len(stored(tmp_path)) >= 20, "finished work")
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_for(lambda: all(map(has_ended, workers_of(log))), "orphaned workers to end")
    finished, n_before = stored(tmp_path), len(evaluations(log))
    assert 20 <= len(finished) < 120
    assert not (tmp_path / "logged.parquet").exists()

    assert start(tmp_path, log).wait() == 0
    assert not finished & set(evaluations(log)[n_before:])
    assert len(evaluations(log)) - n_before == 120 - len(finished)
    table = pd.read_parquet(tmp_path / "logged.parquet")
    assert table["mean"].tolist() == uninterrupted


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2])
def test_interrupted_study_loses_nothing(tmp_path, uninterrupted, n_workers):
    log = tmp_path / "log"
    process = start(
        tmp_path,
        log,
        n_workers=n_workers,
        chunk_size=60,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    wait_for(lambda: len(evaluations(log)) >= 13, "evaluations")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    _, told = process.communicate()
    assert process.returncode != 0
    assert told.strip().endswith(b"KeyboardInterrupt")
    assert stored(tmp_path) == set(evaluations(log))
    assert len(evaluations(log)) < 60 * n_workers  # in the middle of a chunk

    assert start(tmp_path, log, n_workers=n_workers).wait() == 0
    assert len(evaluations(log)) == 120
    assert pd.read_parquet(tmp_path / "logged.parquet")["mean"].tolist() == uninterrupted


@pytest.mark.slow
def test_second_interrupt_ends_at_once(tmp_path):
    log = tmp_path / "log"
    process = start(tmp_path, log, pause=600.0, stderr=subprocess.PIPE)
    wait_for(lambda: (tmp_path / "log.started").exists(), "an evaluation")
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert b"KeyboardInterrupt" in told


@pytest.mark.slow
def test_progress_is_shown_on_terminals_only(tmp_path):
    quiet = start(tmp_path, tmp_path / "log", pause=0.0, n_workers=1, stderr=subprocess.PIPE)
    assert quiet.communicate()[1] == b""
    ours, theirs = pty.openpty()
    shown = start(tmp_path, tmp_path / "log2", pause=0.0, n_workers=1, stderr=theirs)
    os.close(theirs)
    text = b""
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        try:
            while chunk := terminal.read(4096):
                text += chunk
        except OSError:  # the other end is closed
            pass
    assert shown.wait() == 0
    assert b"120/120" in text


# Dask


@pytest.mark.slow
def test_dask_gives_the_same_numbers(tmp_path, cluster):
    settings = grid(n_classes=[3], n=[60])
    options = {"function": interval, "settings": settings, "replications": 8}
    here = study_of(tmp_path / "here", **options).run(n_workers=1)
    there = study_of(tmp_path / "there", **options).run(
        scheduler=cluster.scheduler_address, chunk_size=2
    )
    assert_frame_equal(here, there, check_exact=True)
    assert (here["low"] < here["high"]).all()


@pytest.mark.slow
def test_killed_dask_worker_changes_nothing(tmp_path, cluster, uninterrupted):
    log = tmp_path / "log"
    settings = grid(n=[5, 50], log=[str(log)], pause=[0.02])
    study = Study("logged", logged, settings, replications=60, directory=tmp_path)
    tables = []
    address = cluster.scheduler_address
    runner = threading.Thread(
        target=lambda: tables.append(study.run(scheduler=address, chunk_size=10))
    )
    runner.start()
    wait_for(lambda: len(evaluations(log)) >= 15, "evaluations")
    victim = min(workers_of(log))
    os.kill(victim, signal.SIGKILL)
    runner.join()
    assert has_ended(victim)
    assert tables[0]["mean"].tolist() == uninterrupted
    assert len(evaluations(log)) > 120  # what the victim had in hand was repeated


@pytest.mark.slow
def test_provenance_is_json(tmp_path):
    study = study_of(tmp_path, replications=1)
    study.run(n_workers=1)
    assert json.loads(json.dumps(read_provenance(study.path))) == read_provenance(study.path)
