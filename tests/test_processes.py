"""In somebody else's process: pools, settings of JAX, random streams, threads, interrupts."""

import copy
import inspect
import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from every_number import example, public
from matplotlib.figure import Figure
from public_signatures import ANALYSES
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score

import dmfroc
from dmfroc import measures
from dmfroc.results.result import Result

BEGIN = """
import json, random, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
streams = np.random.get_state(), random.getstate()
import dmfroc
rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 20)
s = rng.normal(size=(60, 3)) + 1.5 * np.eye(3)[y]
predictions = dmfroc.Predictions.from_arrays(y, s)
options = {"method": dmfroc.Bootstrap(100)}
"""
FORK = """
from multiprocessing import get_context
def many(_):
    return dmfroc.evaluate(y, s).estimates["hand_till"].value
def by_jax(_):
    try:
        return dmfroc.estimate("dmf_auc", y, s, method="bayes").value
    except RuntimeError as error:
        return str(error)
if __name__ == "__main__":
    by_jax(0)
    pool = get_context("fork").Pool(1)
    by_numpy = pool.map_async(many, [0]).get(timeout=60)
    print(json.dumps(by_numpy + pool.map_async(by_jax, [0]).get(timeout=60)))
    pool.terminate()
"""
SETTINGS = """
import jax
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_transfer_guard", "disallow")
jax.config.update("jax_debug_nans", True)
for measure in ("dmf_auc", "hand_till"):
    dmfroc.estimate(measure, y, s, method=dmfroc.Bootstrap(100))
dmfroc.dmf(np.full((4, 3), 0.3))
print(json.dumps([jax.config.jax_numpy_rank_promotion, jax.config.jax_numpy_dtype_promotion,
                  jax.config.jax_transfer_guard, jax.config.jax_enable_x64]))
"""
DAEMON = """
sys.stderr = None
print(json.dumps([
    dmfroc.estimate("dmf_auc", y, s, method=dmfroc.Bootstrap(600)).seed,
    str(streams) == str((np.random.get_state(), random.getstate())),
]))
"""
IMPORTS = """
import importlib, threading
assert "pandas" not in sys.modules
class Column:  # what might be one of any library
    def __array__(self, dtype=None, copy=None):
        return y
importing = threading.Thread(target=importlib.import_module, args=["pandas"])
importing.start()
while "pandas" not in sys.modules:
    pass
print(json.dumps(len(dmfroc.Predictions.from_arrays(Column(), s).true)))
importing.join()
"""
INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
big = np.repeat(np.arange(4), 20_000)
scores = rng.normal(size=(80_000, 4)) + np.eye(4)[big]
print("ready", flush=True)
dmfroc.evaluate(big, scores, measures=["hand_till", "informedness", "accuracy", "auc_mu"],
                method=dmfroc.Bootstrap(20_000))
"""


def run_python(code):
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + code], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_forked_child_computes_or_says_why_not():
    by_numpy, by_jax = run_python(FORK)
    assert 0.5 < by_numpy < 1
    assert by_jax.startswith("this process was forked from one that had used JAX")


@pytest.mark.slow
def test_settings_of_jax_neither_break_calls_nor_change():
    assert run_python(SETTINGS) == ["raise", "strict", "disallow", False]


def test_another_thread_may_be_importing_a_library_of_tables():
    assert run_python(IMPORTS) == 60


@pytest.mark.slow
def test_a_daemon_has_no_stderr_and_keeps_its_random_streams():
    assert run_python(DAEMON) == [0, True]


@pytest.mark.slow
def test_an_interrupt_ends_nested_pools_within_a_second():
    process = subprocess.Popen(
        [sys.executable, "-c", BEGIN + INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    before = time.monotonic()
    _, told = process.communicate(timeout=60)
    assert time.monotonic() - before < 2  # it takes one where the machine is not busy
    assert told.splitlines()[-1] == "KeyboardInterrupt"


ROOMS = [dmfroc, *(x for x in map(dmfroc.__getattribute__, dir(dmfroc)) if inspect.ismodule(x))]
PUBLIC = {f"{room.__name__}.{name}": getattr(room, name) for room in ROOMS for name in dir(room)}
CALLABLES = [
    x
    for x in PUBLIC.values()
    if inspect.isfunction(x) or (inspect.isclass(x) and x.__module__ != "jaxtyping")
]


@pytest.mark.slow
def test_all_that_is_public_is_found_again_in_a_spawned_process_too(spawned):
    assert len(CALLABLES) > 250
    assert {*measures.FACTORIES.values()} <= {*CALLABLES}
    for again in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        assert all(again(x) is x for x in CALLABLES)
    of_options = [measures.partial_auc(max_fpr=0.2), measures.informedness("macro")]
    sent = [*CALLABLES, *measures.MEASURES.values(), *of_options]
    assert spawned.submit(len, sent).result() == len(sent)


def test_public_functions_compute_the_same_in_a_spawned_process(spawned):
    y, p = np.arange(60) % 2, np.sin(np.arange(60))
    of_scores = [dmfroc.hand_till_score, dmfroc.dmf_auc_score, dmfroc.average_precision_score]
    of_scores += [dmfroc.curves.roc_curve, dmfroc.curves.lift_curve, dmfroc.curves.operating_points]
    of_scores += [measures.hand_till(), measures.average_precision()]
    of_labels = [dmfroc.informedness_score, dmfroc.cohen_kappa_score]
    calls = [
        *((function, y, p) for function in of_scores),
        *((function, y, p > 0) for function in of_labels),
        *((make(), y, np.column_stack([-p, p])) for make in (measures.recall, measures.accuracy)),
        (dmfroc.estimate, measures.partial_auc(max_fpr=0.5), y, p),
        (dmfroc.evaluate, y, p),
        (dmfroc.dmf, np.full((4, 3), 0.3)),
    ]
    found = [spawned.submit(*call) for call in calls]
    for (function, *arguments), result in zip(calls, found, strict=True):
        assert str(result.result()) == str(function(*arguments))


@pytest.mark.slow
@pytest.mark.parametrize("name", ANALYSES)
def test_results_of_analyses_are_the_same_in_a_spawned_process(name, spawned):
    results = [x for x in example(public(name)) if isinstance(x, Result)]
    assert results
    for result in results:
        assert spawned.submit(str, result).result() == str(result)
        for again in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
            assert again == result


@pytest.mark.slow
def test_scikit_learn_computes_public_scores_in_two_processes(cases_directory):
    handed = (cases_directory / "third" / "expected_handout.json").read_text(encoding="utf-8")
    [case] = [x for x in json.loads(handed) if x["name"] == "unpickle"]
    X, y = load_wine(return_X_y=True)
    scorer = make_scorer(dmfroc.hand_till_score, response_method="predict_proba")
    found = cross_val_score(LogisticRegression(), X[:, :2], y, scoring=scorer, cv=3, n_jobs=2)
    right = [float(x) for x in re.findall(r"\.\d+", case["right"]["right"])]
    np.testing.assert_allclose(found, right, atol=1e-7)


def test_measures_and_predictions_can_be_pickled():
    predictions = dmfroc.Predictions.from_arrays([0, 1, 1], [0.1, 0.3, 0.9])
    for measure in measures.MEASURES.values():
        again = pickle.loads(pickle.dumps(measure))
        assert again.name == measure.name
        assert again.title == measure.title
        if measure.name in ("dmf_auc", "hand_till"):
            assert again(predictions) == measure(predictions)
    for again in (pickle.loads(pickle.dumps(predictions)), copy.deepcopy(predictions)):
        assert again.labels == predictions.labels
        for name in ("true", "scores", "sample_weight", "predicted"):
            array = getattr(again, name)
            assert array is None or not array.flags.writeable


@pytest.mark.slow
def test_threads_give_serial_results_and_leave_no_state():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    scores = [rng.normal(size=(60, 3)) + np.eye(3)[y] for _ in range(4)]

    def compute(s):
        found = dmfroc.evaluate(y, s)
        drawn = dmfroc.plots.MulticlassROCDisplay(found.curve).plot(
            Figure(figsize=(3, 3)).subplots()
        )
        drawn.figure_.savefig(picture := io.BytesIO(), format="raw", dpi=20)
        area = dmfroc.curves.roc_curve(y == 1, s[:, 1]).area
        return str(found), found.curve.auc, area, picture.getvalue()

    expected = [compute(s) for s in scores]
    state = list(warnings.filters), np.geterr(), dict(os.environ), threading.active_count()
    found = {}

    def work(k):
        found[k] = [compute(s) for s in scores]

    threads = [threading.Thread(target=work, args=[k]) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[k] for k in range(8)] == [expected] * 8
    assert (
        list(warnings.filters),
        np.geterr(),
        dict(os.environ),
        threading.active_count(),
    ) == state


def test_too_many_classes_for_the_memory_are_named(monkeypatch):
    monkeypatch.setattr("dmfroc._kit.memory.available_memory", lambda: 10**6)
    monkeypatch.setattr("dmfroc._kit.memory._LITTLE", 0)
    y = np.arange(60) % 30
    scores = np.eye(30)[y] + np.arange(30) / 100
    with pytest.raises(
        MemoryError,
        match=r"curve of 30 classes, with 99 thresholds for each of 870 pairs of them, takes about "
        r"0\.0 GB, but 0\.0 GB are free: ask for fewer thresholds",
    ):
        dmfroc.evaluate(y, scores)
    assert dmfroc.evaluate(y, scores, measures=["hand_till"]).estimates["hand_till"].value == 1
