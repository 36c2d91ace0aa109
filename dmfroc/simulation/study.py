"""Simulation studies: a grid of settings, many replications, in parallel, and never twice.

A study evaluates a function of a random generator and a setting. Every replication of every
setting has random numbers of its own, derived from the seed, the setting and the number of the
replication alone. The results depend neither on the order of the work nor on who did it, and
further settings or replications can be added later. Finished work is written at once, and what is
there is not computed again.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import inspect
import itertools
import json
import os
import re
import textwrap
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dmfroc._kit.dask import checked_scheduler
from dmfroc._kit.files import checked_path, made_directory, remove_strays
from dmfroc._kit.later import DataFrame
from dmfroc._kit.options import instance, integer, listed, positive
from dmfroc._kit.progress import progress_bar
from dmfroc.simulation._study_files import (
    PROVENANCE,
    REPLICATION,
    DamagedError,
    checked_schema,
    kinds_of,
    read,
    schema_of,
    set_aside,
    write,
)
from dmfroc.simulation._study_workers import (
    Chunk,
    Finished,
    Setting,
    canonical,
    generator_of,
    gentle_interrupt,
    workers,
)

if TYPE_CHECKING:
    import argparse


_PART_NAME = re.compile(r"([0-9]{1,18})-([0-9]{1,18})\.parquet")
_LARGEST_CHUNK = 50
_LONGEST_NAME = 247  # bytes; file systems take 255, with the suffix
_CHUNKS_PER_WORKER = 20


def grid(**values: Iterable[Any]) -> list[dict[str, Any]]:
    """Return all combinations of the values of several settings, the last varying fastest.

    Parameters
    ----------
    **values : iterable
        For each setting the values it takes.

    Returns
    -------
    list of dict
        One dict per combination. Lists can be added to make a grid that is not rectangular.

    Examples
    --------
    >>> grid(n_classes=[2, 3], n=[100, 300])
    [{'n_classes': 2, 'n': 100}, {'n_classes': 2, 'n': 300},
     {'n_classes': 3, 'n': 100}, {'n_classes': 3, 'n': 300}]
    """
    return [
        dict(zip(values, combination, strict=True))
        for combination in itertools.product(*values.values())
    ]


@dataclass(frozen=True)
class Study:
    """A simulation study.

    Attributes
    ----------
    name : str
        Name of the result file.
    function : callable
        ``function(generator, **setting)`` evaluates one replication: it draws whatever is random
        from the `numpy.random.Generator` and returns a dict of numbers, strings or booleans, or a
        list of such dicts where one replication has several rows. It must be defined at the top
        level of a module, or of a script that runs the study under
        ``if __name__ == "__main__":``, so that worker processes can import it.
    settings : sequence of dict
        The settings, such as those of `grid`. Their values are numbers, strings, booleans, None,
        or lists of them.
    replications : int
        Replications of each setting.
    seed : int
        Seed of the study, >= 0.
    directory : path-like
        Where ``<name>.parquet`` is written. Finished replications are kept beside it in
        ``<name>.parts``; where that is gone, as in a fresh clone, those in the results count as
        finished. Delete both to compute everything again.

    Raises
    ------
    TypeError, ValueError
        If a setting occurs twice or has a value that cannot be written down, or an option is out
        of its range.

    Notes
    -----
    A finished replication counts as such as long as seed, setting and the code of `function`
    stay the same (comments and layout do not matter). Changes in what the function calls, or in
    the package, go unnoticed: then delete parts and results or give the study another name.

    Examples
    --------
    >>> import tempfile
    >>> def mean_of_normals(generator, n):
    ...     return {"mean": generator.normal(size=n).mean()}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = Study(
    ...         "means", mean_of_normals, grid(n=[10, 1000]), replications=3, directory=folder
    ...     )
    ...     table = study.run(n_workers=1)
    >>> table.round(3)
          n  replication   mean
    0    10            0  0.085
    1    10            1 -0.071
    2    10            2  0.118
    3  1000            0  0.000
    4  1000            1 -0.034
    5  1000            2  0.033
    """

    name: str
    function: Callable[..., Mapping[str, Any] | Sequence[Mapping[str, Any]]]
    settings: Sequence[Setting]
    replications: int = field(kw_only=True)
    seed: int = field(default=0, kw_only=True)
    directory: str | os.PathLike[str] = field(default="results", kw_only=True)
    _code: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        name = instance("name", self.name, str)
        is_plain = Path(name).name == name and name != ".." and "\0" not in name
        if not (is_plain and 0 < len(os.fsencode(name)) <= _LONGEST_NAME):
            raise ValueError(f"name must be that of a file, without a folder, not {name!r}")
        checked_path("directory", self.directory)
        if not callable(self.function):
            raise TypeError(
                "function must be a function of a generator and a setting, but it is of type "
                f"{type(self.function).__name__}"
            )
        settings = [_as_in_json(setting) for setting in listed("settings", self.settings, 0)]
        object.__setattr__(self, "settings", settings)
        # Read once: the file may be edited while the study runs.
        object.__setattr__(self, "_code", _code_of(self.function))
        if not settings:
            raise ValueError("settings is empty: a study needs at least one, even if it is {}")
        seen = set()
        for setting in settings:
            if REPLICATION in setting:
                raise ValueError(
                    f"the setting {setting} has the name {REPLICATION!r}, which is that of a "
                    "column of the results: rename it"
                )
            if (text := canonical(setting)) in seen:
                raise ValueError(f"the setting {setting} occurs twice")
            seen.add(text)
        names = sorted(set().union(*settings))
        columns = {name: [setting.get(name) for setting in settings] for name in names}
        checked_schema(columns, "settings cannot be written")
        object.__setattr__(self, "replications", integer("replications", self.replications, 1))
        object.__setattr__(self, "seed", integer("seed", self.seed, 0))

    @property
    def path(self) -> Path:
        """The Parquet file of the results."""
        return Path(self.directory) / f"{self.name}.parquet"

    def generator(self, setting: Setting, replication: int) -> np.random.Generator:
        """Return the generator of one replication, to look at that one again."""
        return generator_of(self.seed, _as_in_json(setting), integer("replication", replication, 0))

    def run(
        self,
        *,
        n_workers: int | None = None,
        scheduler: str | None = None,
        chunk_size: int | None = None,
        time_limit: float | int | None = None,
    ) -> DataFrame:
        """Compute what is missing, write the results and return them.

        Ctrl-C ends the run after the replications in hand, which are kept; a second one ends it at
        once. The same call later takes up where the run ended, also if it was killed. On a
        terminal a bar shows the progress.

        Parameters
        ----------
        n_workers : int, optional
            Worker processes on this machine, each with one thread for numerics; by default one
            per core. With 1 everything runs in this process, where libraries may use more
            threads and round the last digit differently.
        scheduler : str, optional
            Address of a Dask scheduler, such as ``tcp://127.0.0.1:8786``, on whose workers the
            study runs instead. They need the same packages, and the module of the function. If a
            worker is lost, others repeat its work and come to the same numbers.
        chunk_size : int, optional
            Replications that a worker computes before it hands them over; what a kill can lose.
            It has no influence on the numbers. By default 50 at most.
        time_limit : float, optional
            Seconds that one replication may take before the study ends with an error that names
            it; by default any number. For processes of this machine.

        Returns
        -------
        pandas.DataFrame
            One row per row that the function returned, by setting and replication: the columns
            of the setting, ``replication``, and those of the function. The same table is in
            `path`, with its provenance, see `read_provenance`.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C, once everything finished is on disk.
        RuntimeError
            If a worker process of this machine was killed, or the function calls `sys.exit`.
        TimeoutError
            If a replication takes longer than `time_limit`.
        ValueError
            If the file to be written exists and is not a study's, or the function returns a column
            that has the name of a setting or ``"replication"``, or whose kind differs between
            parts. Parts and results that are damaged are computed again, with a warning.
        Exception
            Whatever the function raises, with a note that names the replication.
        """
        if n_workers is not None:
            n_workers = integer("n_workers", n_workers, 1)
            if scheduler is not None:
                raise ValueError("give either n_workers or scheduler, not both")
        checked_scheduler(scheduler)
        if chunk_size is not None:
            chunk_size = integer("chunk_size", chunk_size, 1)
        if time_limit is not None:
            time_limit = positive("time_limit", time_limit)
            if scheduler is not None:
                raise ValueError("time_limit is for processes of this machine, not for a scheduler")
            in_main_thread = threading.current_thread() is threading.main_thread()
            if n_workers == 1 and not in_main_thread:
                raise ValueError("time_limit with n_workers=1 works in the main thread only")
        made_directory("directory", self.directory)
        for directory in (self.path.parent, *self._directory_of_parts.glob("*")):
            remove_strays(directory)  # of runs that were killed
        if self.path.exists() and not os.access(self.path.parent, os.W_OK):
            provenance, seed, settings = read_provenance(self.path), self.seed, self.settings
            asked = {"seed": seed, "code": self._code, "settings": settings}
            if provenance == provenance | asked | {"replications": self.replications}:
                return read(self.path)[0]
        self._restore_parts()
        damaged: list[Path] = []
        while True:
            self._compute(n_workers, scheduler, chunk_size, time_limit)
            try:
                return self._combine()
            except DamagedError as error:
                if error.path in damaged:
                    raise
                damaged.append(error.path)
                set_aside(error)

    def _compute(
        self,
        n_workers: int | None,
        scheduler: str | None,
        chunk_size: int | None,
        time_limit: float | None,
    ) -> None:
        """Compute and store the replications that no part holds."""
        missing = [_missing(self._parts(setting), self.replications) for setting in self.settings]
        n_missing = sum(map(len, missing))
        if n_missing == 0:
            return
        n_total, kinds = self.replications * len(missing), self._kinds()
        with (
            gentle_interrupt() as stop,
            workers(n_workers, scheduler, stop) as (number, compute),
            progress_bar(self.name, n_total - n_missing, n_total) as advance,
        ):
            size = min(_LARGEST_CHUNK, -(-n_missing // (_CHUNKS_PER_WORKER * number)))
            chunks = [
                Chunk(self.function, self.seed, setting, run, time_limit)
                for setting, numbers in zip(self.settings, missing, strict=True)
                for run in _runs(numbers, chunk_size or size)
            ]
            for chunk, finished in compute(chunks):
                if finished.rows:  # none of a worker that was to stop
                    self._store(chunk, finished, kinds)
                advance(len(finished.rows))
            if stop.is_set():
                raise KeyboardInterrupt

    @property
    def _directory_of_parts(self) -> Path:
        return Path(self.directory) / f"{self.name}.parts"

    def _parts(self, setting: Setting) -> dict[range, Path]:
        """Return the finished runs of replications of a setting; other files are left alone."""
        parts = {}
        for path in self._part_directory(setting).glob("*.parquet"):
            numbers = _PART_NAME.fullmatch(path.name)
            if numbers and path.is_file():
                parts[range(*map(int, numbers.groups()))] = path
        return {run: path for run, path in parts.items() if run}

    def _part_directory(self, setting: Setting) -> Path:
        identity = f"{self.seed}\n{canonical(setting)}\n{self._code}"
        return self._directory_of_parts / hashlib.sha256(identity.encode()).hexdigest()[:20]

    def _restore_parts(self) -> None:
        """Take finished replications from the results if their parts are gone."""
        if not self.path.exists():
            return
        try:
            provenance = read_provenance(self.path)
            if (provenance["seed"], provenance["code"]) != (self.seed, self._code):
                return
            finished, settings = range(provenance["replications"]), provenance["settings"]
            lost = [s for s in settings if _missing(self._parts(s), len(finished))]
            if not lost:
                return
            table, _ = read(self.path)
            if len(table) != sum(provenance["rows"]):
                raise DamagedError(self.path, "it has other rows than the study has written")
        except DamagedError as error:
            set_aside(error)
            return
        stops = itertools.accumulate(provenance["rows"])
        for setting, n_rows, stop in zip(settings, provenance["rows"], stops, strict=True):
            if setting in lost:
                rows = table.iloc[stop - n_rows : stop].drop(columns=list(setting))
                path = self._part_directory(setting) / _part_name(finished)
                write(path, rows, provenance["versions"])

    def _kinds(self) -> dict[str, tuple[str, Setting]]:
        """Return the kind of each column of the finished parts, with a setting that has it."""
        kinds: dict[str, tuple[str, Setting]] = {}
        for setting in self.settings:
            for path in list(self._parts(setting).values())[:1]:
                with contextlib.suppress(DamagedError):
                    for name, kind in kinds_of(schema_of(path)).items():
                        kinds.setdefault(name, (kind, setting))
        return kinds

    def _check_columns(
        self, chunk: Chunk, finished: Finished, kinds: dict[str, tuple[str, Setting]]
    ) -> None:
        """Refuse, from the first part on, columns that could not be written beside the others."""
        rows = [row for rows in finished.rows for row in rows]
        taken = {REPLICATION}.union(*self.settings)
        names = dict.fromkeys(itertools.chain.from_iterable(rows))
        for name in names:
            if not isinstance(name, str):
                raise ValueError(
                    f"the function of the study {self.name!r} returned a column with the name "
                    f"{name!r}: names must be strings"
                )
            if name in taken:
                what = "the number of the replication" if name == REPLICATION else "a setting"
                raise ValueError(
                    f"the function of the study {self.name!r} returned the column {name!r}, which "
                    f"is the name of {what}: rename it"
                )
        # In other parts values may be missing
        columns = {name: [*(row.get(name) for row in rows), None] for name in names}
        what = f"the function of the study {self.name!r} returned what cannot be written, for the "
        schema = checked_schema(columns, f"{what}setting {dict(chunk.setting)}")
        for name, kind in kinds_of(schema).items():
            before, setting = kinds.setdefault(name, (kind, chunk.setting))
            if kind != before:
                raise ValueError(
                    f"the column {name!r} of the study {self.name!r} holds {kind} for the setting "
                    f"{dict(chunk.setting)}, but {before} for {dict(setting)}: return one kind"
                )

    def _store(
        self, chunk: Chunk, finished: Finished, kinds: dict[str, tuple[str, Setting]]
    ) -> None:
        self._check_columns(chunk, finished, kinds)
        first = chunk.replications[0]
        rows = [
            {REPLICATION: replication, **row}
            for replication, rows in enumerate(finished.rows, first)
            for row in rows
        ]
        name = _part_name(range(first, first + len(finished.rows)))
        write(self._part_directory(chunk.setting) / name, rows, [finished.versions])

    def _combine(self) -> DataFrame:
        import pandas as pd

        tables: list[pd.DataFrame] = []
        all_versions: list[dict[str, str]] = []
        n_rows = []
        for setting in self.settings:
            n_before, n_covered = sum(map(len, tables)), 0
            for run, path in sorted(self._parts(setting).items(), key=lambda part: part[0].start):
                part, versions = read(path)
                # Two runs of a study at the same time leave parts that overlap.
                numbers = part[REPLICATION]
                part = part[(numbers >= n_covered) & (numbers < self.replications)]
                n_covered = max(n_covered, run.stop)
                if len(part):
                    columns = {name: [value] * len(part) for name, value in setting.items()}
                    first = pd.DataFrame(columns, index=part.index)
                    tables.append(pd.concat([first, part], axis=1))
                    all_versions += [v for v in versions if v not in all_versions]
            n_rows.append(sum(map(len, tables)) - n_before)
        if len(all_versions) > 1:
            warnings.warn(
                f"the parts of the study {self.name!r} were computed with different versions: "
                f"{all_versions}",
                UserWarning,
                stacklevel=3,
            )
        provenance = {
            "study": self.name,
            "function": f"{self.function.__module__}.{self.function.__qualname__}",
            "code": self._code,
            "settings": self.settings,
            "rows": n_rows,
            "replications": self.replications,
            "seed": self.seed,
            "versions": all_versions,
        }
        table = pd.concat(tables, ignore_index=True)
        write(self.path, table, provenance)
        return table


def read_provenance(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return how the results in a Parquet file came about.

    Parameters
    ----------
    path : str or path-like
        A file that `Study.run` wrote.

    Returns
    -------
    dict
        ``study``; ``function``, its name, and ``code``, its source; ``settings`` and the number of
        ``rows`` of each; ``replications`` and ``seed``; and ``versions``. This lists the versions
        of Python and packages with which the parts were computed: one, unless they changed between
        runs.

    Raises
    ------
    ValueError
        If the file has no provenance, or is damaged.
    """
    metadata = schema_of(checked_path("path", path)).metadata or {}
    if PROVENANCE not in metadata:
        raise ValueError(f"{path} was not written by a study: it has no provenance")
    return json.loads(metadata[PROVENANCE])


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--workers`` and ``--scheduler`` to a script's options, for `Study.run`.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The options are ``n_workers`` and ``scheduler`` of what it parses.
    """
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--workers",
        dest="n_workers",
        type=int,
        metavar="N",
        help="worker processes on this machine; default: one per core",
    )
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a Dask scheduler, such as tcp://127.0.0.1:8786, to run on its workers instead",
    )


# Settings, seeds and files


def _as_in_json(setting: Setting) -> dict[str, Any]:
    """Return a setting as JSON would give it back, so that it is the same on every machine."""
    if not isinstance(setting, Mapping):
        raise TypeError(
            f"each setting must be a dict of names and values, but one is {setting!r}"[:300]
        )

    def as_python(value: Any) -> Any:
        if isinstance(value, np.generic | np.ndarray):
            return value.tolist()
        raise TypeError(
            f"the value {value!r} in the setting {dict(setting)} is a {type(value).__name__}: "
            "settings are numbers, strings, booleans, None and lists of them"
        )

    return json.loads(json.dumps(dict(setting), default=as_python))


def _code_of(function: Callable[..., Any]) -> str:
    """Return the code of a function without comments and layout, its name where that is all."""
    try:
        return ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(function))))
    except (OSError, SyntaxError, TypeError):
        return function.__qualname__


def _part_name(replications: range) -> str:
    return f"{replications.start}-{replications.stop}.parquet"


def _missing(finished: Iterable[range], n_replications: int) -> list[int]:
    return sorted(set(range(n_replications)).difference(*finished))


def _runs(numbers: list[int], longest: int) -> Iterator[range]:
    """Cut ascending numbers into runs of consecutive ones."""
    first = 0
    for stop in range(1, len(numbers) + 1):
        is_end = stop == len(numbers) or numbers[stop] != numbers[stop - 1] + 1
        if is_end or stop - first == longest:
            yield range(numbers[first], numbers[stop - 1] + 1)
            first = stop
