"""Count the files that a call runs through, and how often it changes from one to another.

Run it as ``python -m benchmarks.tracing``, with ``--list`` for the files and the changes between
them. Everything runs in one thread, and the second call of two is counted, so that imports and
caches of the first are not.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import dmfroc
from dmfroc._kit.threads import become_worker

_ROOT = str(Path(dmfroc.__file__).parent)


def files_called(call: Callable[[], Any]) -> list[str]:
    """Return the file of each function of dmfroc that is called or resumed, in order."""
    files: list[str] = []

    def record(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(_ROOT):
            files.append(name.removeprefix(_ROOT + "/"))

    call()
    sys.setprofile(record)
    try:
        call()
    finally:
        sys.setprofile(None)
    return files


def changes_in(files: list[str]) -> Counter[tuple[str, str]]:
    """Return how often a call in one file is followed by one in another."""
    return Counter((a, b) for a, b in pairwise(files) if a != b)


def main() -> None:
    """Print the counts of the calls that users make most."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print files and changes")
    is_listing = parser.parse_args().list
    generator = np.random.default_rng(0)
    y = np.arange(300) % 3
    scores = generator.normal(size=(300, 3)) + 1.3 * np.eye(3)[y]
    become_worker(threading.Event(), is_alone=False)  # whose own tasks have no other threads
    for text, call in {
        'estimate("hand_till")': lambda: dmfroc.estimate("hand_till", y, scores),
        "evaluate of three measures": lambda: dmfroc.evaluate(y, scores),
    }.items():
        files = files_called(call)
        changes = changes_in(files)
        print(f"{text}: {len(set(files))} files, {changes.total()} changes, {len(files)} calls")
        if is_listing:
            for name, count in Counter(files).most_common():
                print(f"  {count:4d} calls in {name}")
            for (a, b), count in changes.most_common():
                print(f"  {count:4d} changes from {a} to {b}")


if __name__ == "__main__":
    main()
