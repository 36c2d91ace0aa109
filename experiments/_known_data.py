"""Data sets that follow from their definition or from a published table, written out."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from dmfroc.simulation.datasets import Dataset

_MONK_VALUES = {"a1": 3, "a2": 3, "a3": 2, "a4": 3, "a5": 4, "a6": 2}

_MONK_TRAINING = {1: 124, 2: 169, 3: 122}
_N_NOISE = 6

# Survived and died by class, sex and age: Dawson (1995), Journal of Statistics Education 3(3)
_TITANIC = {
    ("first", "male", "child"): (5, 0),
    ("first", "male", "adult"): (57, 118),
    ("first", "female", "child"): (1, 0),
    ("first", "female", "adult"): (140, 4),
    ("second", "male", "child"): (11, 0),
    ("second", "male", "adult"): (14, 154),
    ("second", "female", "child"): (13, 0),
    ("second", "female", "adult"): (80, 13),
    ("third", "male", "child"): (13, 35),
    ("third", "male", "adult"): (75, 387),
    ("third", "female", "child"): (14, 17),
    ("third", "female", "adult"): (76, 89),
    ("crew", "male", "adult"): (192, 670),
    ("crew", "female", "adult"): (20, 3),
}


def monks(problem: int) -> Dataset:
    """Return one of the MONK's problems (Thrun et al. 1991): all cases, and some once more.

    The latter stand for the authors' training set, a random sample, which was merged with the test
    set of all cases: as many, but drawn anew, and six of the third problem with the wrong class.
    """
    ranges = (range(1, n + 1) for n in _MONK_VALUES.values())
    X = pd.DataFrame(list(itertools.product(*ranges)), columns=list(_MONK_VALUES))
    rules = {
        1: (X["a1"] == X["a2"]) | (X["a5"] == 1),
        2: (X == 1).sum(axis=1) == 2,
        3: ((X["a5"] == 3) & (X["a4"] == 1)) | ((X["a5"] != 4) & (X["a2"] != 3)),
    }
    generator = np.random.default_rng(problem)
    again = generator.choice(len(X), _MONK_TRAINING[problem], replace=False)
    y = rules[problem].to_numpy()
    is_noise = np.arange(len(again)) < (_N_NOISE if problem == 3 else 0)
    y = np.concatenate([y, y[again] ^ is_noise]).astype(int).astype(str)
    X = pd.concat([X, X.iloc[again]], ignore_index=True).astype(str).astype(object)
    return Dataset(f"monks-{problem}", X, y, "its definition")


def titanic() -> Dataset:
    """Return the 2,201 people on board the Titanic."""
    counts = np.array(list(_TITANIC.values()))
    columns = ["status", "sex", "age"]
    X = pd.DataFrame(np.repeat(list(_TITANIC), counts.sum(axis=1), axis=0), columns=columns)
    y = np.repeat(np.tile(["yes", "no"], len(counts)), counts.ravel())
    return Dataset("titanic", X.astype(object), y, "Dawson (1995)")
