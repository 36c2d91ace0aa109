import ctypes
import gc
import os
import sys
import urllib.request
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before NumPy is imported: several processes share the cores, and more threads only wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Compiling takes most of the suite's time; unoptimised code computes the same.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
# Where a program was traced from is shown nowhere, and takes a twentieth of compiling it.
os.environ.setdefault("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "0")
gc.set_threshold(100_000, 50, 100)  # traces have many objects and few cycles

settings.register_profile(
    "dmfroc",
    deadline=None,  # the first example of a shape pays for its compilation
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("dmfroc")


MOST_MEMORY = 1e9  # of a process between two files


LONGEST = (
    *("applications/test_meta_analysis.py", "tests/test_scripts.py", "fuzz/test_fuzz.py"),
    *("bayes/test_roc.py", "functional/test_functional.py", "tests/test_option_pairs.py"),
    *("kit/test_compiled.py", "measures/test_measure.py", "bayes/test_sampling.py"),
    *("functional/test_device.py", "functional/test_dmf.py", "multiclass/test_factorization.py"),
    *("multiclass/test_higher_rank.py", "multiclass/test_band.py", "reports/test_page.py"),
    *("reports/test_browser.py", "analyses/test_comparison.py", "cli/test_cli.py"),
)


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest, so that no process is left alone with one."""
    items.sort(key=lambda item: not item.path.as_posix().endswith(LONGEST))


def directory(variable: str, content: str) -> Path:
    """Return the directory that a variable names, or skip the test."""
    path = os.environ.get(variable)
    if not path or not Path(path).is_dir():
        pytest.skip(f"set {variable} to a directory with {content}, see CONTRIBUTING.md")
    return Path(path)


@pytest.fixture(scope="module", autouse=True)
def _large_processes_shrink():
    """Return the memory of what a file has compiled, which else adds up to several GB."""
    yield
    if sys.platform == "linux" and "jax" in sys.modules:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        if pages * os.sysconf("SC_PAGE_SIZE") > MOST_MEMORY:
            sys.modules["jax"].clear_caches()
            gc.collect()
            ctypes.CDLL(None).malloc_trim(0)


@pytest.fixture(scope="session")
def data_directory() -> Path:
    """The real data sets as CSV files, one per name."""
    return directory("DMFROC_DATA", "the real data sets")


@pytest.fixture(scope="session")
def external_directory() -> Path:
    """Public predictions, ratings and counts with published analyses, as CSV files."""
    return directory("DMFROC_EXTERNAL_DATA", "published examples")


@pytest.fixture(scope="session")
def cases_directory() -> Path:
    """Files of predictions as other tools write them, with known right answers."""
    return directory("DMFROC_CASES_DATA", "files of other tools")


@pytest.fixture
def openml(tmp_path, monkeypatch):
    """Return a function that routes downloads through a handler, with an empty cache."""
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr("time.sleep", lambda seconds: None)

    def route(handler: type[urllib.request.HTTPSHandler]) -> None:
        monkeypatch.setattr(urllib.request, "_opener", urllib.request.build_opener(handler))

    return route


@pytest.fixture(scope="module")
def spawned():
    """A fresh process, which knows nothing but what is sent to it."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def cluster():
    """Two workers of Dask, which find the package and what tests share."""
    distributed = pytest.importorskip("distributed")
    import dask

    tests = Path(__file__).parent
    paths = [str(tests.parent), str(tests)]
    options = {"distributed.worker.daemon": True, "distributed.admin.log-format": "%(message)s"}
    with (
        dask.config.set(options),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=50,
            env={"PYTHONPATH": os.pathsep.join(paths)},
        ) as cluster,
    ):
        yield cluster
