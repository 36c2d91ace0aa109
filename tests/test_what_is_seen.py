"""All that users see is what it was: fields, sentences, drawings, downloads, commands, warnings.

The other tests say what is right. These see whatever changes, and cannot say whether it should:
after a wanted change run ``python tests/test_what_is_seen.py`` and look at what it says. The values
themselves are shown by ``every_number.py --write`` and ``--compare``.

Of each part of a result, a line of ``reference/what_is_seen.tsv`` has a digest of its names, texts
and whole numbers, and a sum of its floats, each with a random factor and on a scale where a change
by a millionth shows. Other versions of libraries write texts and draw axes in other ways, and other
processors may round a number that is printed the other way: the tests have the marker ``seen``,
are run by ``make seen`` and for mutants, and skipped if versions are not those of the first line.
"""

import hashlib
import importlib.metadata
import json
import math
import os
import re
import sys
import warnings
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as conftest.py does
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

import every_number
import matplotlib.pyplot as plt
import numpy as np
import pytest

SEEN = Path(__file__).parent / "reference" / "what_is_seen.tsv"
TOLERANCE = 1e-5  # of the sum of the floats of a part, see `number_of`
_SMALLEST = 1e-7  # smaller floats are rounding
_LONG = re.compile(r"-?\d+\.\d{7,}(?:e[-+]?\d+)?|-?\d\.\d+e-\d+")
# Chains, whose draws one bit moves; and what takes longest
LEFT_OUT = (
    r"^(estimate/bayes|summary_roc|bayesian_|function summary_roc|function (estimate|evaluate)$)"
)
CALLS = {n: call for n, call in every_number.all_cases().items() if not re.search(LEFT_OUT, n)}


def versions():
    names = ("numpy", "scipy", "pandas", "matplotlib", "scikit-learn", "jax", "arviz-base")
    found = {"python": sys.version} | {name: importlib.metadata.version(name) for name in names}
    return " ".join(f"{name} {'.'.join(x.split('.')[:2])}" for name, x in found.items())


def number_of(name, x):
    """Return a sum of floats in which a relative change of any of them shows."""
    factors = np.random.default_rng(len(name)).uniform(1, 2, len(x))
    return float(np.arcsinh(np.array(x, float) / _SMALLEST) @ factors)


def without_floats(x, floats):
    """Return a value with its finite floats taken out, and add them to a list."""
    if isinstance(x, list | tuple):
        return [without_floats(item, floats) for item in x]
    if isinstance(x, float) and math.isfinite(x):
        floats.append(x)
        return "float"
    if isinstance(x, str):  # numbers with all digits, as JSON and tables have them
        floats.extend(float(number) for number in _LONG.findall(x))
        return _LONG.sub("float", x)
    return x if isinstance(x, int | None) else repr(x)


def parts_of(name):
    """Return digest and number of each part of what is seen of a call."""
    texts, floats = defaultdict(list), defaultdict(list)
    for line, x in every_number.lines("", every_number.attempt(CALLS[name])):
        if re.search(r"\.files\.[\w-]+\.svg$|\.source$|^\.evidence", line):
            continue  # pictures as files, whose numbers have many digits; and what nobody sees
        part = ".".join(line.split(".")[1:3])
        texts[part].append([line, without_floats(x, floats[part])])
    plt.close("all")
    return {
        part: (
            hashlib.sha256(json.dumps(text).encode()).hexdigest()[:12],
            round(number_of(part, floats[part]), 7),
        )
        for part, text in texts.items()
    }


def known():
    first, *rows = SEEN.read_text("utf-8").splitlines()
    found = defaultdict(dict)
    for row in rows:
        name, part, digest, number = row.split("\t")
        found[name][part] = digest, float(number)
    return first, found


VERSIONS, KNOWN = known() if SEEN.exists() else ("", {})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seen")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        every_number.write_files()
    return folder


@pytest.fixture(autouse=True)
def _as_ever(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    with plt.rc_context({"figure.max_open_warning": 0}):
        yield


@pytest.mark.seen
@pytest.mark.skipif(
    versions() != VERSIONS,
    reason=f"install {VERSIONS}, or run the file as a program: these are {versions()}",
)
@pytest.mark.parametrize("name", CALLS)
def test_what_is_seen(name):
    now, before = parts_of(name), KNOWN[name]
    different = [
        part
        for part in {**before, **now}
        if part not in now
        or part not in before
        or now[part][0] != before[part][0]
        or abs(now[part][1] - before[part][1]) > TOLERANCE
    ]
    assert not different, f"{name}: see every_number.py --compare, or {__file__}"


def main():
    import contextlib
    import tempfile

    os.environ["COLUMNS"] = "100"
    plt.rcParams["figure.max_open_warning"] = 0
    rows = [versions()]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        every_number.write_files()
        warnings.simplefilter("ignore")
        for name in CALLS:
            now, before = parts_of(name), KNOWN.get(name, {})
            rows += [f"{name}\t{part}\t{x[0]}\t{x[1]!r}" for part, x in now.items()]
            changed = [part for part, x in now.items() if before.get(part) != x]
            if changed and before:
                print(f"{name}: {', '.join(changed)}")
    SEEN.write_text("\n".join(rows) + "\n", "utf-8")


if __name__ == "__main__":
    main()
