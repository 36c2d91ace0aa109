"""What the studies of the tests evaluate; worker processes import it from here."""

import os
import sys
import time
from pathlib import Path

import numpy as np


def moments(generator, n):
    x = generator.normal(size=n)
    return {"mean": x.mean(), "is_positive": x.mean() > 0}


def two_rows(generator, n, scales):
    return [{"scale": scale, "sd": generator.normal(0, scale, n).std()} for scale in scales]


def logged(generator, n, log, pause):
    """Append a line of the process and the first number; slow enough to be interrupted."""
    value = float(generator.normal(size=n).mean())
    Path(f"{log}.started").touch()
    time.sleep(pause)
    with Path(log).open("a") as file:
        file.write(f"{os.getpid()} {value!r}\n")
    return {"mean": value}


def logged_anew(generator, n, log, pause):
    return logged(generator, n, log, pause)


def failing(generator, n):
    value = generator.normal()
    if n == 7:
        raise ArithmeticError("no number")
    return {"mean": value}


def threads(generator, n):
    return {"omp": os.environ["OMP_NUM_THREADS"], "pid": os.getpid()}


def dies(generator, n):
    os._exit(9)


def interval(generator, n_classes, n):
    """What studies of intervals do."""
    from dmfroc import estimate
    from dmfroc.simulation import MultinomialPopulation, simulate_predictions

    population = MultinomialPopulation.random(n_classes)
    predictions = simulate_predictions(population, n, random_state=generator)
    low, high = estimate("hand_till", predictions).interval
    return {"low": low, "high": high}


def not_tidy(generator, n):
    return {"n": np.int64(n)}


def no_row(generator, n):
    return []


def renames(generator, n):
    return [{"replication": step, "x": 1.0} for step in range(3)]


def not_named(generator, n):
    return {1: 1.0}


def changes_kind(generator, n):
    return {"x": "many" if n > 5 else 1.0}


def exits(generator, n):
    sys.exit("enough")


def hangs(generator, n):
    while n == 50:
        pass
    return {"x": 1.0}
