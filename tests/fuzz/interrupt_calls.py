"""Interrupt calls at random moments: each ends within a second, and so does its process.

What Python takes to end by itself, which grows with the libraries and the load of the machine, is
measured first and added to the second of the process. Python drops an interrupt that comes while
another library collects garbage; a second one, as from anybody who sees that nothing happens, is
counted.
"""

import argparse
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from subprocess import PIPE
from typing import NamedTuple

BEGIN = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
import warnings
warnings.simplefilter("ignore")
import numpy as np, dmfroc
import jax, jinja2, matplotlib.figure, numpyro, pandas  # how these take an interrupt is theirs
import arviz, pyarrow.parquet, sklearn.linear_model, xarray
generator = np.random.default_rng(0)
y = np.repeat(np.arange(4), 5_000)
s, t = (generator.normal(size=(20_000, 4)) + np.eye(4)[y] for _ in range(2))
three = y < 3
y3, s3 = y[three], s[three][:, :3]
classifier = sklearn.linear_model.LogisticRegression(C=1e6, tol=1e-9, max_iter=1000)
right = generator.random((20_000, 2)) < 0.8
rates = generator.integers(1, 200, size=(4, 20))
counts = dict(zip(("tp", "fn", "fp", "tn"), rates, strict=True))

print("ready", flush=True)
"""
END = """
import time
try:
    {}
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
    raise
"""
NOTHING = "time.sleep(100)"
LONG = "method=dmfroc.Bootstrap(200_000)"
CALLS = {
    "all measures": "while True: dmfroc.evaluate(y, s, measures='all')",
    "bootstrap": f"dmfroc.evaluate(y, s, measures=['hand_till', 'accuracy', 'auc_mu'], {LONG})",
    "bootstrap of the curve": f"dmfroc.estimate('dmf_auc', y, s, {LONG})",
    "comparison": f"dmfroc.compare(y, {{'a': s, 'b': t}}, {LONG})",
    "band": "while True: dmfroc.plots.MulticlassROCDisplay.from_predictions(y, s)",
    "posterior": "dmfroc.bayes.bayesian_roc(y[::100], s[::100], n_draws=10_000)",
    "scan": "dmfroc.estimate('hand_till', dmfroc.scan([(y, s)] * 5_000, labels=range(4)))",
    "volume": f"dmfroc.estimate('vus', y3[::20], s3[::20], {LONG})",
    "volume of many": f"dmfroc.estimate('vus', y3, s3, {LONG})",
    "influences on a volume": "while True: dmfroc.estimate('vus', y3, s3)",
    "volume of ordered classes": f"dmfroc.estimate('ordinal_vus', y3, s3, {LONG})",
    "Bayesian bootstrap": "dmfroc.estimate('hand_till', y, s, "
    "method=dmfroc.BayesianBootstrap(200_000))",
    "bootstrap of groups": f"dmfroc.evaluate(y, s, groups=np.arange(20_000) // 2, {LONG})",
    "comparison of curves": f"dmfroc.compare(y, {{'a': s, 'b': t}}, measures='dmf_auc', {LONG})",
    "comparison of volumes": "dmfroc.compare(y3, {'a': s3, 'b': s3[::-1]}, measures='vus', "
    f"{LONG})",
    "subgroups": f"dmfroc.compare_subgroups(y, s, np.arange(20_000) % 3, {LONG})",
    "training runs": "while True: dmfroc.compare_runs(y, {'a': [s] * 30, 'b': [t] * 30})",
    "long posterior": "dmfroc.bayes.bayesian_roc(y[::100], s[::100], n_draws=100_000)",
    "posterior of a table": "dmfroc.bayes.bayesian_table('informedness', y, "
    "y_pred=s.argmax(axis=1), n_draws=2_000_000)",
    "meta-analysis": "dmfroc.applications.summary_roc(counts, study=None, n_draws=200_000)",
    "cross-validation": "while True: dmfroc.cross_validate(classifier, s, y, n_repeats=50)",
    "nested cross-validation": "dmfroc.applications.nested_cross_validation(classifier, s, y, "
    "n_repeats=500)",
    "plan": "while True: "
    "dmfroc.applications.plan(dmfroc.Predictions.from_arrays(y, s), half_width=0.01)",
    "class weights": "dmfroc.applications.select_class_weights(y, np.exp(s), n_starts=5000)",
    "curve of many classes": "while True: dmfroc.multiclass_roc(np.arange(3000) % 300, "
    "generator.normal(size=(3000, 300)))",
    "scan of one part": "while True: dmfroc.evaluate(dmfroc.scan([(np.tile(y, 100), "
    "np.tile(s, (100, 1)))]))",
    "scan of a function": "dmfroc.estimate('hand_till', dmfroc.scan(lambda: ((y, s) for _ in "
    "range(100_000)), labels=range(4)))",
    "accumulator": "a = dmfroc.counted.Accumulator(range(4))\n    while True: a.update(y, s)",
    "items": "while True: dmfroc.applications.items({'a': right[:, 0], 'b': right[:, 1]}, by=y)",
    "items with a judge": "while True: "
    "dmfroc.applications.items({'a': np.where(y < 1, right[:, 0], np.nan)}, "
    "judge={'a': right[:, 1]})",
    "multilabel": "while True: dmfroc.applications.multilabel(right, s[:, :2])",
    "calibration tests": "dmfroc.applications.calibration_tests(y, "
    "np.exp(s) / np.exp(s).sum(axis=1, keepdims=True), n_draws=1_000_000)",
    "decision curve": "while True: "
    "dmfroc.applications.decision_curve(y > 0, 1 / (1 + np.exp(-s[:, 1])))",
    "chosen threshold": "dmfroc.applications.choose_threshold(y > 0, s[:, 1], n_draws=1_000_000)",
    "other class shares": "while True: dmfroc.evaluate(y, s, population=[.1, .2, .3, .4])",
    "confidence sequence": "a = dmfroc.counted.Accumulator(range(4))\n    while True:\n"
    "        a.update(y, s)\n        dmfroc.applications.confidence_sequence(a, 'hand_till')",
    "report": "while True: dmfroc.compare(y, {'a': s, 'b': t}).to_html(directory + '/page.html')",
}


class Interrupted(NamedTuple):
    """How a call took its interrupt."""

    seconds: float  # until the call had ended
    seconds_of_process: float
    n_interrupts: int
    left_files: bool


def interrupt(call: str, delay: float) -> Interrupted:
    """Start a call and interrupt it after a delay."""
    with tempfile.TemporaryDirectory() as directory:
        code = f"directory = {directory!r}\n{BEGIN}{END.format(call)}"
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=PIPE, stderr=PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
        time.sleep(delay)
        assert process.poll() is None, process.communicate()[1]
        is_ended, n_interrupts = False, 0
        while not is_ended:
            process.send_signal(signal.SIGINT)
            before = time.monotonic()
            n_interrupts += 1
            assert n_interrupts < 5
            is_ended = bool(select.select([process.stdout], [], [], 3)[0])
        ended = process.stdout.readline()
        _, told = process.communicate(timeout=300)
        of_process = time.monotonic() - before
        assert ended, told
        assert process.returncode == -signal.SIGINT, told
        left_files = any(Path(directory).rglob("*.partial"))
    return Interrupted(float(ended) - before, of_process, n_interrupts, left_files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--calls", nargs="*", default=list(CALLS), choices=CALLS)
    options = parser.parse_args()
    randomness = random.Random(0)
    limit = 1 + max(interrupt(NOTHING, 0).seconds_of_process for _ in range(3))
    n_bad = 0
    for name in options.calls:
        n = options.trials // len(options.calls)
        found = [interrupt(CALLS[name], randomness.uniform(0, 6)) for _ in range(n)]
        n_bad += sum(x.seconds > 1 or x.seconds_of_process > limit or x.left_files for x in found)
        calls, processes = (max(x[i] for x in found) for i in range(2))
        again = sum(x.n_interrupts > 1 for x in found)
        print(
            f"{name}: ended within {calls:.2f} s, processes {processes:.2f} s; "
            f"{again} of {n} needed a second interrupt",
            flush=True,
        )
    print(
        f"{n_bad} took more than a second, their processes more than {limit:.2f} s, or left a file "
        "half-written"
    )
    sys.exit(bool(n_bad))


if __name__ == "__main__":
    main()
