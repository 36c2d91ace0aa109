"""Read generated files of predictions: the numbers are right, or the file is refused.

Separator, decimal sign, encoding, names of columns with text around the classes, order of columns
and rows, columns without use, row numbers and kinds of labels vary.
``python tests/fuzz/files.py --cases 300 --seed 1`` prints the defects as JSON; each has the number
by which ``--only`` repeats it.
"""

import argparse
import json
import re
import sys
import tempfile
import traceback
import unicodedata
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import oracles
import pandas as pd

import dmfroc

WORDS = [
    *("setosa", "versi", "versicolor", "a", "ab", "b", "Iris-setosa", "Iris setosa", "x_1", "x_10"),
    *("NA", "no", "yes", "No!", "<=50K", ">50K", "Müller", "日本", "1st", "class 2", "p", "score"),
]
AROUND = [
    *(("", ""), ("p_", ""), ("prob_", ""), ("score.", ""), (".pred_", ""), ("", "_prob")),
    *(("P (y=", ")"), ("confidence(", ")"), ('Scored Probabilities for Class "', '"')),
    *(("proba ", " (test)"), ("model1_", ""), ("pred_proba_class_", ""), ("probability", "")),
]
REFUSALS = (TypeError, ValueError)


class Defect(AssertionError):
    """What was read is wrong."""


def to_decomposed(text):
    """Write letters and their accents one by one, as file names of macOS are."""
    return unicodedata.normalize("NFD", text)


def to_identifier(text):
    """Put dots for what R does not allow in names."""
    return re.sub(r"\W", ".", text)


def labels_of(rng):
    """Classes as they are written in the label column and in names of columns, and as they are."""
    k = int(rng.integers(2, 13))
    kind = rng.integers(8)
    start = int(rng.integers(-1, 3))
    numbers = list(range(start, start + k))
    if kind == 0:
        return [str(x) for x in numbers], [str(x) for x in numbers], numbers
    if kind == 1:
        return [f"{x}.0" for x in numbers], [str(x) for x in numbers], numbers
    if kind == 2:
        return [str(x) for x in numbers], [f"{x}.0" for x in numbers], numbers
    if kind == 3 and start >= 0:
        return [str(x) for x in numbers], [f"{x:02d}" for x in numbers], numbers
    if kind == 4:
        return ["False", "True"], [["false", "true"], ["0", "1"]][rng.integers(2)], [False, True]
    if kind == 5:
        found = [f"c{x}" for x in range(k)]
        return found, found, found
    found = [str(x) for x in rng.choice(WORDS, min(k, 12), replace=False)]
    return found, found, found


def columns_without_use(rng, codes, shares, written):
    """Columns that other tools write beside the scores."""
    n = len(codes)
    predicted = shares.argmax(axis=1)
    made = {
        "id": rng.permutation(n) + 1000,
        "": np.arange(n),
        "Unnamed: 0": np.arange(n),
        "fold": rng.integers(1, 6, n),
        "entropy": -(shares * np.log(shares + 1e-12)).sum(axis=1),
        "confidence": shares.max(axis=1),
        "loss": -np.log(shares[np.arange(n), codes] + 1e-12),
        "pred": [written[code] for code in predicted],
        "split": ["test"] * n,
        "note": [f"row {row}" for row in range(n)],
        "date": ["2024-05-01"] * n,
        "age": rng.integers(18, 90, n),
        "99": rng.normal(size=n),
    }
    chosen = rng.choice(list(made), int(rng.integers(0, 5)), replace=False)
    return {str(name): made[str(name)] for name in chosen}


def generated(rng, folder):
    """Write a file; return it, the arguments that read it, and what is in it."""
    written, in_names, labels = labels_of(rng)
    k = len(labels)
    n = int(rng.integers(3 * k, 3 * k + 60))
    codes = rng.permutation(np.arange(n) % k)
    scores = rng.normal(size=(n, k)) + 1.5 * np.eye(k)[codes]
    if are_shares := rng.random() < 0.7:
        scores = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        if rng.random() < 0.3:
            scores = scores.round(3)
    shares = scores if are_shares else np.full((n, k), 1 / k)
    before, after = AROUND[rng.integers(len(AROUND))]
    respelled = [str.upper, to_decomposed, to_identifier, str][rng.choice(4, p=[0.05] * 3 + [0.85])]
    names = [before + name + after for name in map(respelled, in_names)]
    if len(set(names)) < k:
        names = [before + name + after for name in in_names]
    others = columns_without_use(rng, codes, shares, written)
    if rng.random() < 0.05:
        others |= {f"other {name}": rng.permutation(scores[:, 0]) for name in in_names}
    is_single = k == 2 and rng.random() < 0.3
    data = {name: scores[:, code] for code, name in enumerate(names) if code or not is_single}
    if are_percent := are_shares and rng.random() < 0.05:
        data = {name: [f"{100 * x}%" for x in values] for name, values in data.items()}
    data |= {name: values for name, values in others.items() if name not in data}
    order = rng.permutation(len(data))
    frame = pd.DataFrame({list(data)[place]: list(data.values())[place] for place in order})
    frame.insert(int(rng.integers(len(frame.columns) + 1)), "target", [written[c] for c in codes])
    separator, decimal = [(",", "."), (";", ","), (";", "."), ("\t", "."), ("\t", ","), ("|", ".")][
        rng.choice(6, p=[0.5, 0.15, 0.1, 0.1, 0.1, 0.05])
    ]
    encodings = ["utf-8", "utf-8-sig", "utf-16", "latin-1"]
    encoding = encodings[rng.choice(4, p=[0.7, 0.1, 0.1, 0.1])]
    if encoding == "latin-1":
        text = "".join([*map(str, frame.columns), *written])
        encoding = encoding if text.isascii() or max(text) < "\u0100" else "utf-8"
    suffix = [".csv", ".tsv" if separator == "\t" else ".csv", ".csv.gz"][rng.integers(3)]
    path = folder / f"predictions{suffix}"
    frame.to_csv(
        path,
        index=False,
        sep=separator,
        decimal=decimal,
        encoding=encoding,
        lineterminator=["\n", "\r\n"][rng.integers(2)],
    )
    arguments = {"label": "target"}
    if rng.random() < 0.2 and not is_single:
        arguments["scores"] = names
    elif rng.random() < 0.2:
        arguments["other_columns"] = [name for name in others if name in frame and name]
    if "pred" in others and are_shares and rng.random() < 0.3:
        arguments["y_pred"] = "pred"
        arguments["other_columns"] = [
            name for name in arguments.get("other_columns", ()) if name != "pred"
        ]
    if rng.random() < 0.1:
        arguments["labels"] = labels
    return path, arguments, (labels, codes, scores, is_single, are_percent)


def check(rng, folder):
    """Compare what is read with what was written; return whether it was refused."""
    path, arguments, (labels, codes, scores, is_single, are_percent) = generated(rng, folder)
    try:
        predictions = dmfroc.Predictions.from_file(path, **arguments)
    except REFUSALS as error:
        if not str(error).startswith(f"{path}: "):
            raise Defect(f"the message does not begin with the file: {error}") from error
        return True
    n, k = scores.shape
    found_labels = list(predictions.labels)
    if sorted(map(str, found_labels)) != sorted(map(str, labels)):
        raise Defect(f"classes {found_labels}, not {labels}")
    place = [list(map(str, found_labels)).index(str(label)) for label in labels]
    if (predictions.true != np.array(place)[codes]).any():
        raise Defect("other observed classes")
    if is_single:
        scores = np.stack([-scores[:, 1], scores[:, 1]], axis=1)
    elif k == 2 and np.ptp(scores.sum(axis=1)) > 0.01:  # no complements: each less the other
        scores = scores - scores[:, ::-1]
    if not is_single and abs(predictions.scores[:, place] - scores).max() > (
        1e-12 if are_percent else 0
    ):
        raise Defect("other scores")
    expected = oracles.hand_till(codes, scores, np.ones(n), k)
    found = dmfroc.hand_till_score(predictions)
    # Rounding to percentages may break or make ties
    if abs(found - expected) > (0.01 if are_percent else 1e-9):
        raise Defect(f"M {found}, by brute force {expected}")
    return False


def run_case(seed, number):
    """Return None, or what is wrong; and whether the file was refused."""
    rng = np.random.default_rng([seed, number])
    with tempfile.TemporaryDirectory() as folder:
        try:
            return None, check(rng, Path(folder))
        except Exception as error:
            where = traceback.format_exc().splitlines()[-3:]
            return {"only": number, "error": repr(error), "where": where}, False


def main():
    """Run the cases and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    numbers = range(options.cases) if options.only is None else [options.only]
    warnings.simplefilter("ignore", UserWarning)
    found = [run_case(options.seed, number) for number in numbers]
    defects = [defect for defect, _ in found if defect is not None]
    refused = Counter(was_refused for _, was_refused in found)[True]
    print(json.dumps({"cases": len(found), "refused": refused, "defects": defects}, indent=1))
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
