"""Damage state files, change sources between passes and kill scans: words, or the right number.

``python tests/fuzz/persistent_state.py --states 500 --sources 200 --kills 100`` prints the defects
as JSON: a number that is neither that of the old data nor of the new, an error that is neither a
ValueError nor a TypeError, a file that a killed scan left behind.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import dmfroc
from dmfroc.counted import Accumulator

FILES = ("accumulator", "labels", "sample", "counts")
COLUMNS = {"label": "y", "scores": ["0", "1", "2"]}
CHANGED = "changed|cannot be read any more|another scan|damaged|no Parquet file"


def batch(seed, n=300):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return y, (rng.normal(size=(n, 3)) + 1.5 * np.eye(3)[y]).round(2)


def numbers(source, **options):
    found = dmfroc.estimate("hand_till", dmfroc.scan(source, n_bins=64, **options))
    return found.value, found.standard_error


def told(error):
    """Return nothing for an error in words, else what is wrong with it."""
    if type(error) in (ValueError, TypeError) and len(str(error)) > 30:
        return None
    return f"{type(error).__name__}: {error}"[:300]


# State files


def changed_arrays(path, rng, other):
    """Change a random array, as whoever edits the file does."""
    with np.load(path) as archive:
        arrays = dict(archive)
    name = rng.choice(list(arrays))
    value = arrays[name]
    is_text = value.dtype.kind == "U"
    ways = {
        "drop": lambda: arrays.pop(name),
        "zeros": lambda: arrays.update({name: np.zeros_like(value)}),
        "negative": lambda: arrays.update({name: -value.astype(float)}),
        "not a number": lambda: arrays.update({name: np.full(value.shape, np.nan)}),
        "shape": lambda: arrays.update({name: value[..., None]}),
        "type": lambda: arrays.update({name: value.astype("c16")}),
        "one entry": lambda: value.reshape(-1).__setitem__(rng.randrange(value.size), 7),
        "shorter": lambda: arrays.update({name: value[:-1]}),
        "of another": lambda: arrays.update({name: dict(np.load(other)).get(name, value[:0])}),
        "more": lambda: arrays.update({"more": value}),
    }
    if is_text:
        text = str(value)
        cut = rng.randrange(len(text))
        ways = {
            "cut": lambda: arrays.update({name: np.array(text[:cut])}),
            "digit": lambda: arrays.update({name: np.array(text.replace("1", "2", 1))}),
            "nested": lambda: arrays.update({name: np.array("[" * 10**5)}),
            "null": lambda: arrays.update({name: np.array("null")}),
            "empty": lambda: arrays.update({name: np.array("{}")}),
            "drop": lambda: arrays.pop(name),
            "version": lambda: arrays.update({name: np.array(text.replace("version", "v", 1))}),
        }
    elif not value.size or not value.ndim:
        ways = {way: ways[way] for way in ("drop", "type", "more")}
    way = rng.choice(list(ways))
    ways[way]()
    np.savez(path, **arrays)
    return f"{name}: {way}"


def changed_bytes(path, rng, other):
    """Change some bytes, as a failing disk does."""
    data = bytearray(path.read_bytes())
    way = rng.choice(["bits", "cut", "zeros", "doubled", "garbage", "empty", "other", "inserted"])
    place = rng.randrange(len(data))
    match way:
        case "bits":
            for _ in range(rng.randint(1, 20)):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        case "cut":
            del data[place:]
        case "zeros":
            data[place : place + 500] = bytes(len(data[place : place + 500]))
        case "doubled":
            data = data + data
        case "garbage":
            data = bytearray(rng.randbytes(len(data)))
        case "empty":
            data = bytearray()
        case "other":
            data = bytearray(other.read_bytes())
        case "inserted":
            data[place:place] = rng.randbytes(10)
    path.write_bytes(data)
    return way


def run_state(seed, number, originals):
    """Damage one file: it is refused, or what was damaged is of no account."""
    rng = random.Random(f"{seed} {number}")
    name = rng.choice(FILES)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "state"
        shutil.copytree(originals, copy)
        path = copy / f"{name}.npz"
        other = originals / f"{rng.choice(FILES)}.npz"
        try:
            what = rng.choice([changed_arrays, changed_bytes])(path, rng, other)
        except (ValueError, TypeError, KeyError, IndexError) as error:
            return {"case": number, "defect": f"the fuzzer: {error!r}"}
        is_same = path.read_bytes() == (originals / path.name).read_bytes()
        try:
            if name == "accumulator":
                found = Accumulator.load(path).compute(["hand_till"]).estimates["hand_till"]
                found = found.value, found.standard_error
            else:
                found = numbers([batch(0), batch(1)], checkpoint=copy)
        except Exception as error:
            defect = told(error)
            if defect is None and path.name not in str(error):
                defect = f"the file is not named: {error}"
        else:
            right = numbers([batch(0), batch(1)])
            defect = None if is_same or np.allclose(found, right, rtol=1e-9) else f"{found}"
    return (
        None if defect is None else {"case": f"{name}, {what}", "number": number, "defect": defect}
    )


# Sources that change


def run_source(seed, number):
    """Change a source at a random moment: the numbers are those of the old or the new, or words."""
    rng = random.Random(f"{seed} {number}")
    first, second = batch(2 * number), batch(2 * number + 1)
    y, scores = first
    later = rng.choice(
        [
            [second],
            [first, first],
            [],
            [(y, second[1])],
            [(y, scores[::-1])],
            [(y[:-1], scores[:-1])],
            [(y[::-1], scores)],
            [(y, scores.astype("f4"))],
            [(y.astype(str), scores)],
            [{"y_true": y, "y_score": scores, "groups": np.arange(300) // 3}],
            [{"y_true": y, "y_score": scores, "sample_weight": 1.0 + y}],
            [{"y_true": y, "y_score": scores, "y_pred": y}],
            [(y, np.full_like(scores, np.nan))],
            [None],
            None,
        ]
    )
    kind = rng.choice(["function", "mixed", "file", "checkpoint"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.parquet"
        try:
            found = _changing(kind, first, second, later, path, rng)
        except Exception as error:
            defect = told(error)
        else:
            possible = []
            for source in ([first], later, [second], [first, *(later or [])]):
                try:
                    possible.append(numbers(source))
                except (ValueError, TypeError):
                    continue
            is_right = any(np.allclose(found, x, rtol=1e-9) for x in possible)
            defect = None if found is None or is_right else f"{found}, not one of {possible}"
    return None if defect is None else {"case": kind, "number": number, "defect": defect}


def _changing(kind, first, second, later, path, rng):
    if kind == "mixed":
        given = [first, *(later or [])]
        rng.shuffle(given)
        return numbers(given)
    if kind == "function":
        when, calls = rng.randint(1, 7), itertools.count()
        return numbers(lambda: [first] if next(calls) < when else later)
    if kind == "checkpoint":
        kept = path.with_name("kept")
        numbers([first], checkpoint=kept)
        found = numbers(later or [second], checkpoint=kept)
        return found if np.allclose(found, numbers(later or [second])) else (0.0, 0.0)
    _write(path, first)
    scan = dmfroc.scan(path, n_bins=64, **COLUMNS)
    after = rng.choice([None, "labels", "sample", "counts"])
    if after is not None:
        getattr(scan, after)
    data = bytearray(path.read_bytes())
    match rng.choice(["replaced", "deleted", "cut", "bits", "directory", "pipe"]):
        case "replaced":
            _write(path, second)
        case "deleted":
            path.unlink()
        case "cut":
            path.write_bytes(data[: rng.randrange(len(data))])
        case "bits":
            data[rng.randrange(4, len(data))] ^= 1 << rng.randrange(8)
            path.write_bytes(data)
        case "directory":
            path.unlink()
            path.mkdir()
        case "pipe":
            path.unlink()
            os.mkfifo(path)
    found = dmfroc.estimate("hand_till", scan)
    return found.value, found.standard_error


def _write(path, rows):
    table = pd.DataFrame({"y": rows[0]} | {str(k): rows[1][:, k] for k in range(3)})
    table.to_parquet(path, index=False, write_page_checksum=True)


# Scans that are killed


def run_kill(seed, number, folder, files, expected, seconds):
    """Kill a scan at a random moment: the next one goes on to the same number."""
    rng = random.Random(f"{seed} {number}")
    kept = folder / f"kept {number}"
    child = os.fork()
    if child == 0:
        try:
            numbers(files, checkpoint=kept, **COLUMNS)
        finally:
            os._exit(0)
    time.sleep(rng.uniform(0, seconds))
    os.kill(child, signal.SIGKILL)
    was_killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    n_files = len(list(kept.glob("*.npz"))) if kept.exists() else 0
    try:
        found = numbers(files, checkpoint=kept, **COLUMNS)
        defect = None if found == expected else f"{found}, not {expected}"
    except Exception as error:
        defect = f"{type(error).__name__}: {error}"
    left = [file.name for file in kept.iterdir() if file.suffix != ".npz"]
    if left:
        defect = f"left {left}"
    shutil.rmtree(kept)
    found = None if defect is None else {"case": "kill", "number": number, "defect": defect}
    return was_killed, n_files, found


def kills(seed, n):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [folder / f"{part}.parquet" for part in range(4)]
        for part, file in enumerate(files):
            _write(file, batch(part, 20_000))
        before = time.monotonic()
        expected = numbers(files, checkpoint=folder / "first", **COLUMNS)
        seconds = time.monotonic() - before
        found, n_killed = [], 0
        while n_killed < n:
            found.append(run_kill(seed, len(found), folder, files, expected, seconds))
            n_killed += found[-1][0]
    n_by_files = np.bincount([n_files for _, n_files, _ in found], minlength=4)
    print(f"{n_killed} of {len(found)} killed; with 0 to 3 files: {n_by_files}", file=sys.stderr)
    return [defect for _, _, defect in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, n in (("states", 500), ("sources", 200), ("kills", 100), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=n)
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside pyarrow's threads
    found = kills(options.seed, options.kills)
    with tempfile.TemporaryDirectory() as name:
        originals = Path(name) / "originals"
        accumulator = Accumulator(range(3), n_bins=64)
        for number in range(2):
            accumulator.update(*batch(number))
        numbers([batch(0), batch(1)], checkpoint=originals)
        accumulator.save(originals / "accumulator.npz")
        found += [run_state(options.seed, i, originals) for i in range(options.states)]
    found += [run_source(options.seed, number) for number in range(options.sources)]
    defects = [defect for defect in found if defect is not None]
    print(json.dumps({"cases": len(found), "defects": defects}, indent=1))
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
