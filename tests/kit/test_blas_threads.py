"""What the numerical modules share: the threads of BLAS."""

import os
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
import threadpoolctl
from simulations import normal_scores

import dmfroc
from dmfroc import Predictions
from dmfroc._kit.arrays import value_and_pull_back
from dmfroc._kit.threads import one_blas_thread
from dmfroc.multiclass.curve import area
from dmfroc.multiclass.rates import CurveOptions


def blas_threads():
    libraries = threadpoolctl.ThreadpoolController().select(user_api="blas").info()
    return [library["num_threads"] for library in libraries]


def test_blas_has_one_thread_while_it_is_asked_for():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert 2 in before
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


@pytest.mark.parametrize("first_to_leave", ["owner", "guest"])
def test_blas_threads_are_restored_after_use_by_several_threads(first_to_leave):
    """The first to come may be the first to leave: no one takes its setting for the original."""
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        is_inside, may_leave, has_left = Event(), Event(), Event()

        def use():
            with one_blas_thread():
                is_inside.set()
                may_leave.wait(10)
            has_left.set()

        guest = Thread(target=use)
        with one_blas_thread():
            guest.start()
            assert is_inside.wait(10)
            if first_to_leave == "guest":
                may_leave.set()
                assert has_left.wait(10)
                assert set(blas_threads()) == {1}
        assert blas_threads() == before
        may_leave.set()
        guest.join()
        assert blas_threads() == before


def test_blas_threads_are_restored_after_an_error():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        try:
            with one_blas_thread(), one_blas_thread():
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass
        assert blas_threads() == before


def test_the_systems_of_the_center_are_solved_by_one_thread(monkeypatch):
    seen = []

    def solve(matrix, right_side):
        seen.append(blas_threads())
        return np.linalg.inv(matrix) @ right_side

    classes, scores = normal_scores(1, 60, 3)
    predictions = Predictions.from_arrays(classes, scores)
    table = CurveOptions()(predictions).count(predictions.sample_weight, np)
    _, pull_back = value_and_pull_back(area, table)
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        monkeypatch.setattr(np.linalg, "solve", solve)
        pull_back(np.float64(1))
    assert [set(threads) for threads in seen] == [{1}]


def test_the_blas_of_scipy_is_limited_though_it_is_loaded_later():
    code = """
import numpy
import threadpoolctl
from dmfroc._kit.threads import one_blas_thread

for _ in range(2):
    with one_blas_thread():
        found = threadpoolctl.ThreadpoolController().select(user_api="blas").info()
        print(len(found), {library["num_threads"] for library in found})
    import scipy.linalg
"""
    environment = os.environ | {
        "PYTHONPATH": str(Path(dmfroc.__file__).parents[1]),
        "OPENBLAS_NUM_THREADS": "2",
    }
    run = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines() == ["1 {1}", "2 {1}"]
