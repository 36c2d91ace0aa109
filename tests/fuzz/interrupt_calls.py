"""Interrupt calls at random moments, from their first to their last: each ends within a second."""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BEGIN = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
import warnings
warnings.simplefilter("ignore")
import numpy as np, pandas as pd, dmfroc
from dmfroc.study import Study, grid
generator = np.random.default_rng(0)
y = np.repeat(np.arange(4), 5_000)
s, t = (generator.normal(size=(20_000, 4)) + np.eye(4)[y] for _ in range(2))

def wait(generator, n):
    import time
    time.sleep(60)

print("ready", flush=True)
"""
LONG = "method='bootstrap', n_draws=200_000"
CALLS = {
    "all measures": "while True: dmfroc.evaluate(y, s, measures='all')",
    "bootstrap": f"dmfroc.evaluate(y, s, measures=['hand_till', 'accuracy', 'auc_mu'], {LONG})",
    "bootstrap of the curve": f"dmfroc.estimate('dmf_auc', y, s, {LONG})",
    "studentized": f"dmfroc.estimate('hand_till', y, s, interval_type='studentized', {LONG})",
    "comparison": f"dmfroc.compare(y, {{'a': s, 'b': t}}, {LONG})",
    "band": "while True: dmfroc.evaluate(y, s).curve; "
    "dmfroc.MulticlassROCDisplay.from_predictions(y, s)",
    "posterior": "dmfroc.estimate('dmf_auc', y[::100], s[::100], method='bayes', n_draws=10_000)",
    "scan": "dmfroc.estimate('hand_till', dmfroc.scan([(y, s)] * 5_000, labels=range(4)))",
    "study": "Study('waits', wait, grid(n=[1, 2]), replications=5, "
    "directory=directory).run(n_workers=2)",
    "report": "while True: dmfroc.compare(y, {'a': s, 'b': t}).to_html(directory + '/page.html')",
}


def seconds_to_end(call: str, directory: str, delay: float) -> float:
    """Start a call, interrupt it after a delay, and return how long it goes on."""
    code = f"directory = {directory!r}\n{BEGIN}{call}"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    time.sleep(delay)
    assert process.poll() is None, process.communicate()[1]
    process.send_signal(signal.SIGINT)
    before = time.monotonic()
    _, told = process.communicate(timeout=300)
    assert told.rstrip().endswith("KeyboardInterrupt"), told[-2000:]
    return time.monotonic() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--calls", nargs="*", default=list(CALLS), choices=CALLS)
    options = parser.parse_args()
    randomness = random.Random(0)
    late = 0
    for name in options.calls:
        found = []
        for _ in range(options.trials // len(options.calls)):
            with tempfile.TemporaryDirectory() as directory:
                found.append(seconds_to_end(CALLS[name], directory, randomness.uniform(0, 6)))
                late += found[-1] > 1 or any(Path(directory).rglob("*.partial"))
        print(f"{name}: {', '.join(f'{x:.2f}' for x in sorted(found))} s", flush=True)
    print(f"{late} ended after more than a second or left a file half-written")
    sys.exit(bool(late))


if __name__ == "__main__":
    main()
