"""Kill a study again and again at random moments: its results are those of an undisturbed run."""

import argparse
import random
import subprocess
import sys
import tempfile
import time
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    replications = 200 * options.kills
    if options.run:
        study_in(options.run, replications).run(n_workers=1, chunk_size=2)
        return
    n_killed = 0
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--kills", str(options.kills), "--run", folder]
        for _ in range(options.kills):
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            before = len(list(Path(folder).rglob("*.parquet")))
            while len(list(Path(folder).rglob("*.parquet"))) <= before and process.poll() is None:
                time.sleep(0.02)
            time.sleep(random.uniform(0, 0.2))
            n_killed += process.poll() is None
            process.kill()
            process.wait()
        finished = 2 * len(list(Path(folder).rglob("*.parquet")))
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
