"""The one way to use all cores: order, errors, no pools within pools, and Ctrl-C."""

import contextvars
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import pytest

from dmfroc._kit.threads import (
    Stopped,
    become_worker,
    check_stopped,
    in_order,
    interruptible,
    parallel,
    parallel_map,
    result_of,
)


def test_results_are_in_the_order_of_the_items():
    def late(item):
        time.sleep(0.01 * (4 - item))
        return item**2

    assert parallel_map(late, range(5)) == [0, 1, 4, 9, 16]
    assert parallel_map(late, []) == []


def test_items_are_worked_on_side_by_side(monkeypatch):
    monkeypatch.setattr("dmfroc._kit.threads.cpu_count", lambda: 3)
    barrier = threading.Barrier(3, timeout=10)
    assert sorted(parallel_map(lambda item: barrier.wait(), range(3))) == [0, 1, 2]


@pytest.mark.slow
def test_work_is_done_on_the_device_of_the_caller():
    code = """if True:
        import jax, numpy as np
        from dmfroc._kit.threads import interruptible, parallel_map
        work = lambda _: jax.jit(lambda x: x + 1)(np.ones(1)).devices().pop().id
        with jax.default_device(jax.devices()[1]):
            print(parallel_map(work, range(3)), interruptible(work)(0))
        print(parallel_map(work, range(3)), interruptible(work)(0))
    """
    two = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | two
    )
    assert out.stdout == "[1, 1, 1] 1\n[0, 0, 0] 0\n", out.stderr


def test_few_results_are_computed_ahead(monkeypatch):
    monkeypatch.setattr("dmfroc._kit.threads.cpu_count", lambda: 3)
    started = []

    def work(item):
        started.append(item)
        return item

    with in_order(work, range(50), 4) as results:
        for n_taken, item in enumerate(results, start=1):
            assert item == n_taken - 1
            time.sleep(0.002)
            assert len(started) <= n_taken + 4
    assert len(started) == 50


def test_one_item_is_worked_on_by_the_caller():
    assert parallel_map(lambda item: threading.current_thread(), [0]) == [
        threading.current_thread()
    ]


def test_pools_do_not_nest(monkeypatch):
    monkeypatch.setattr("dmfroc._kit.threads.cpu_count", lambda: 3)

    def inner(item):
        parallel(lambda item: threads.append(threading.current_thread()), range(4), 10**9)
        return [threading.current_thread(), *parallel_map(current, range(4))]

    def current(item):
        time.sleep(0.001)
        return threading.current_thread()

    threads = []
    for found in parallel_map(inner, range(6)):
        assert len(set(found)) == 1
        assert found[0] is not threading.main_thread()
        threads += found
    assert len(set(threads)) <= 3
    # The caller itself is no worker afterwards.
    assert len(set(parallel_map(current, range(6)))) > 1


def test_a_failure_stops_the_others(monkeypatch):
    monkeypatch.setattr("dmfroc._kit.threads.cpu_count", lambda: 2)
    started = []

    def work(item):
        started.append(item)
        if item == 1:
            raise ValueError("item 1 is bad")
        time.sleep(0.01)

    with pytest.raises(ValueError, match="item 1 is bad"):
        parallel_map(work, range(100))
    assert len(started) < 100


@pytest.mark.parametrize("nested", [False, True])
def test_ctrl_c_ends_it_within_a_second(monkeypatch, nested):
    # A shell's background jobs start with Ctrl-C ignored.
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr("dmfroc._kit.threads.cpu_count", lambda: 2)
    started, goes_on = [], threading.Event()

    def work(item):
        started.append(item)
        if item == 1:
            threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
        time.sleep(0.05)

    def long_work(item):
        if item == 0:
            goes_on.wait(5)
        elif nested:
            parallel_map(work, range(1, 200))
        else:
            work(item)

    before = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            parallel_map(long_work, range(2 if nested else 200))
    finally:
        signal.signal(signal.SIGINT, previous)
    assert time.monotonic() - before < 1
    n_started = len(started)
    goes_on.set()
    time.sleep(0.3)
    assert len(started) <= n_started + 1
    assert len(started) < 100


def test_interruptible_call_does_not_wait_for_its_work():
    """The work ends when it asks next whether anybody waits for it."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    ended, begun = threading.Event(), threading.Event()

    @interruptible
    def work():
        begun.set()
        try:
            while True:
                time.sleep(0.01)
                check_stopped()
        finally:
            ended.set()

    def interrupt():
        begun.wait()
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt).start()
    before = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        signal.signal(signal.SIGINT, previous)
    assert time.monotonic() - before < 1
    assert ended.wait(1)


def test_a_worker_that_waits_for_another_ends_when_it_is_stopped():
    stop, ended = threading.Event(), threading.Event()

    def wait_for_ever():
        become_worker(stop, is_alone=True)
        try:
            result_of(Future())
        except Stopped:
            ended.set()

    threading.Thread(target=wait_for_ever, daemon=True).start()
    assert not ended.wait(0.2)
    stop.set()
    assert ended.wait(2)


def test_interruptible_call_returns_and_raises_as_usual():
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(1)
    assert interruptible(variable.get)() == 1
    assert interruptible(lambda a, b: parallel_map(lambda x: x * b, a))([1, 2], b=3) == [3, 6]
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)()


UNSTOPPABLE = """
import signal, threading
from dmfroc._kit.threads import in_background, interruptible, parallel_map, result_of
signal.signal(signal.SIGINT, signal.default_int_handler)
goes_on, begun = threading.Event(), threading.Event()

def work(*_):  # as a compiler does, it asks for nothing
    begun.set()
    goes_on.wait({seconds})

def interrupt():
    begun.wait()
    signal.raise_signal(signal.SIGINT)

threading.Thread(target=interrupt).start()
"""
WAYS = (
    "interruptible(work)()",
    "parallel_map(work, range(4))",
    "in_background(work); result_of(in_background(work))",
)


def end_of(code, seconds):
    before = time.monotonic()
    command = [sys.executable, "-c", UNSTOPPABLE.format(seconds=seconds) + code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    return done, time.monotonic() - before


@pytest.mark.parametrize("way", WAYS)
def test_a_process_that_an_interrupt_ends_does_not_wait_for_its_threads(way):
    done, seconds = end_of(way, 30)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\n")
    assert seconds < 20


def test_a_process_that_goes_on_waits_for_its_threads_at_its_end():
    handled = f"try:\n    {WAYS[0]}\nexcept KeyboardInterrupt:\n    print('goes on')\n"
    done, _ = end_of(handled + "raise SystemExit(3)", 0.5)
    assert (done.returncode, done.stdout, done.stderr) == (3, "goes on\n", "")
    # A second interrupt, while it waits, ends it
    again = "again = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])"
    done, seconds = end_of(f"{handled}{again}\nagain.daemon = True\nagain.start()", 30)
    assert done.returncode == -signal.SIGINT
    assert seconds < 20
