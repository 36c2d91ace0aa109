"""Kill a study again and again at random moments: its results are those of an undisturbed run."""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

from pandas.testing import assert_frame_equal

from dmfroc.simulation.study import Study, grid


def noise(generator, n):
    """Draw a few numbers, slowly enough to be killed."""
    time.sleep(0.002)
    return {"mean": float(generator.normal(size=n).mean())}


def study_in(directory, replications):
    """Return the study, whose files are in a directory."""
    return Study("noise", noise, grid(n=[5, 50]), replications=replications, directory=directory)


def n_parts_in(folder):
    """Count the files of finished replications."""
    return len(list(Path(folder).rglob("*.parquet")))


def has_not_ended(child):
    """Tell whether a process runs, and leave it to be waited for."""
    return os.waitid(os.P_PID, child, os.WNOHANG | os.WNOWAIT | os.WEXITED) is None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads
    replications = 200 * options.kills
    n_killed = 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.kills):
            before = n_parts_in(folder)
            child = os.fork()
            if child == 0:
                os.dup2(
                    os.open(os.devnull, os.O_WRONLY), 2
                )  # hides what Python says of killed processes
                try:
                    study_in(folder, replications).run(n_workers=1, chunk_size=2)
                finally:
                    os._exit(1)
            while n_parts_in(folder) <= before and has_not_ended(child):
                time.sleep(0.02)
            time.sleep(random.uniform(0, 0.2))
            os.kill(child, signal.SIGKILL)
            n_killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        finished = 2 * n_parts_in(folder)
        n = max(2, finished // 2)  # replications of each setting that the comparison needs
        found = study_in(folder, n).run(n_workers=1)
        strays = list(Path(folder).rglob("*.partial"))
        with tempfile.TemporaryDirectory() as other:
            expected = study_in(other, n).run(n_workers=1, chunk_size=50)
        assert_frame_equal(found, expected, check_exact=True)
    print(f"{n_killed} kills, {len(found)} rows identical, {len(strays)} stray files")
    sys.exit(bool(strays))


if __name__ == "__main__":
    main()
