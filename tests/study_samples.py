"""A small study, and a script that runs one in the background."""

from study_functions import moments

from dmfroc.simulation.study import Study, grid

SETTINGS = grid(n=[5, 50])
SCRIPT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
import sys
import study_functions
from dmfroc.simulation.study import Study, grid

if __name__ == "__main__":
    directory, log, pause = sys.argv[1], sys.argv[2], float(sys.argv[3])
    settings = grid(n=[5, 50], log=[log], pause=[pause])
    study = Study("logged", study_functions.logged, settings, replications=60, directory=directory)
    study.run(n_workers=int(sys.argv[4]), chunk_size=int(sys.argv[5]))
"""


def study_of(directory, function=moments, settings=SETTINGS, **options):
    options = {"replications": 20, "directory": directory} | options
    return Study("s", function, settings, **options)
