"""Run a function over a grid of settings, in parallel, and compute nothing twice.

Every replication of every setting has random numbers of its own, derived from the seed, the setting
and the number of the replication alone. So results do not depend on the order of the work, and
settings or replications can be added later.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import itertools
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import track

Setting = Mapping[str, Any]
Rows = list[dict[str, Any]]
PROVENANCE = b"dmfroc_study"  # key in the metadata of the Parquet file
ROUNDING = 1e-6  # of numbers that are computed again
PACKAGES = ("dmfroc", "jax", "numpy", "scipy", "scikit-learn")


def grid(**values: Sequence[Any]) -> list[dict[str, Any]]:
    """Return all combinations of the values of several settings, the last varying fastest."""
    return [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]


def provenance_of(path: Path) -> dict[str, Any]:
    """Return how stored results came about; nothing if there are none."""
    return json.loads(pq.read_schema(path).metadata[PROVENANCE]) if path.exists() else {}


@dataclass(frozen=True)
class Study:
    """A study: ``function(generator, **setting)`` returns one row as a dict, or a list of rows.

    ``<name>.parquet`` holds the results; until a run has ended, ``<name>.lines`` holds what is new.
    Both count as finished as long as seed, setting and the code of the function stay the same.
    Changes in what the function calls go unnoticed: then delete the files.
    """

    name: str
    function: Callable[..., Any]
    settings: Sequence[Setting]
    replications: int
    directory: str | os.PathLike[str]
    seed: int = 0

    @property
    def path(self) -> Path:
        """The file of the results."""
        return Path(self.directory) / f"{self.name}.parquet"

    def generator(self, setting: Setting, replication: int) -> np.random.Generator:
        """Return the random numbers of one replication."""
        digest = hashlib.sha256(_text(setting).encode()).digest()
        entropy = [self.seed, int.from_bytes(digest[:16])]
        return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(replication,)))

    def run(self, n_workers: int | None = None) -> pd.DataFrame:
        """Compute what is missing, store it, and return the rows by setting and replication."""
        settings = [json.loads(_text(setting)) for setting in self.settings]
        tables = self.stored()
        finished = {(text, r) for text, table in tables.items() for r in table["replication"]}
        cells = itertools.product(settings, range(self.replications))
        missing = [(s, r) for s, r in cells if (_text(s), r) not in finished]
        if missing:
            rows = self._computed(missing, n_workers or os.cpu_count() or 1)
            for setting in settings:
                new = [rows.get((_text(setting), r), []) for r in range(self.replications)]
                parts = [tables.get(_text(setting)), pd.DataFrame(itertools.chain(*new))]
                table = pd.concat([part for part in parts if part is not None and len(part)])
                tables[_text(setting)] = table.sort_values("replication", kind="stable")
            self._store(tables)
            tables = self.stored()
        table = pd.concat([tables[_text(setting)] for setting in settings])
        return table[table["replication"] < self.replications].reset_index(drop=True)

    @property
    def _code(self) -> str:
        return ast.unparse(ast.parse(inspect.getsource(self.function)))  # without comments

    def stored(self) -> dict[str, pd.DataFrame]:
        """Return the stored results by setting."""
        past = provenance_of(self.path)
        if not past or (past["seed"], past["code"]) != (self.seed, self._code):
            return {}
        table, stops = pd.read_parquet(self.path), itertools.accumulate(past["rows"])
        return {
            _text(setting): table.iloc[stop - n : stop]
            for setting, n, stop in zip(past["settings"], past["rows"], stops, strict=True)
        }

    def changed_cells(self, n_cells: int) -> tuple[int, list[tuple[Setting, int]]]:
        """Compute some stored cells anew, drawn at random.

        Returns how many they were, and those that now have other numbers.
        """
        tables = self.stored()
        settings = {_text(setting) for setting in self.settings}
        cells = [
            (text, int(r))
            for text, table in tables.items()
            if text in settings
            for r in table["replication"].unique()
        ]
        order = np.random.default_rng().permutation(len(cells))[:n_cells]
        changed = []
        for text, r in track([cells[place] for place in order], f"{self.name}, anew"):
            setting = json.loads(text)
            *_, rows = _replicate(self.function, self.generator(setting, r), setting, r)
            stored = tables[text]
            if not _are_equal(stored[stored["replication"] == r], rows):
                changed.append((setting, r))
        return len(order), changed

    def _store(self, tables: Mapping[str, pd.DataFrame]) -> None:
        """Write all results with their provenance, and remove the lines."""
        past = provenance_of(self.path).get("versions", [])
        now = {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}
        provenance = {
            "study": self.name,
            "function": f"{self.function.__module__}.{self.function.__qualname__}",
            "code": self._code,
            "settings": [json.loads(text) for text in tables],
            "rows": [len(table) for table in tables.values()],
            "replications": self.replications,
            "seed": self.seed,
            "versions": [*past, *([] if now in past else [now])],
        }
        table = pa.Table.from_pandas(pd.concat(tables.values()), preserve_index=False)
        metadata = {**table.schema.metadata, PROVENANCE: json.dumps(provenance).encode()}
        partial = self.path.with_suffix(".partial")
        pq.write_table(table.replace_schema_metadata(metadata), partial)
        partial.replace(self.path)
        self.path.with_suffix(".lines").unlink()

    def _computed(
        self, cells: Sequence[tuple[Setting, int]], n_workers: int
    ) -> dict[tuple[str, int], Rows]:
        """Return the rows of cells: read from the lines, or computed and added to them."""
        lines, found = self.path.with_suffix(".lines"), {}
        identity = hashlib.sha256(f"{self.seed}\n{self._code}".encode()).hexdigest()[:20]
        for line in lines.read_text(encoding="utf-8").splitlines(True) if lines.exists() else ():
            if line.strip() and line.endswith("\n"):  # not cut off by a kill
                key, text, replication, rows = json.loads(line)
                found |= {(text, replication): rows} if key == identity else {}
        cells = [(setting, r) for setting, r in cells if (_text(setting), r) not in found]
        lines.parent.mkdir(parents=True, exist_ok=True)
        with lines.open("a", encoding="utf-8") as stream:
            stream.write("\n" * (lines.stat().st_size > 0))  # ends a line that was cut off
            for setting, r, rows in track(
                self._replicated(cells, n_workers),
                self.name,
                len(cells),
                console=Console(stderr=True),
            ):
                found[_text(setting), r] = rows
                stream.write(json.dumps([identity, _text(setting), r, rows]) + "\n")
                stream.flush()
        return found

    def _replicated(
        self, cells: Sequence[tuple[Setting, int]], n_workers: int
    ) -> Iterator[tuple[Setting, int, Rows]]:
        """Yield cells with their rows, in the order in which they are finished."""
        if n_workers == 1:
            for setting, r in cells:
                yield _replicate(self.function, self.generator(setting, r), setting, r)
            return
        os.environ["NPROC"] = "1"  # threads of XLA: more than one per worker would only wait
        module = sys.modules[self.function.__module__]
        place = Path(module.__file__ or "").stem, self.function.__qualname__
        calls = (
            joblib.delayed(_replicate)(place, self.generator(setting, r), setting, r)
            for setting, r in cells
        )
        with joblib.parallel_config("loky", n_jobs=n_workers, inner_max_num_threads=1):
            yield from joblib.Parallel(return_as="generator_unordered")(calls)


def _text(setting: Setting) -> str:
    return json.dumps(setting, sort_keys=True, default=lambda array: array.tolist())


def _are_equal(stored: pd.DataFrame, rows: Rows) -> bool:
    """Tell whether stored rows have these numbers, but for errors of rounding."""
    anew = pd.DataFrame(rows).reindex(columns=stored.columns)
    if len(anew) != len(stored):
        return False
    for name in stored:
        a, b = stored[name].to_numpy(), anew[name].to_numpy()
        try:
            same = np.isclose(a.astype(float), b.astype(float), ROUNDING, ROUNDING, equal_nan=True)
        except (TypeError, ValueError):  # names
            same = (a == b) | (pd.isna(a) & pd.isna(b))
        if not same.all():
            return False
    return True


def _replicate(
    function: Callable[..., Any] | tuple[str, str],
    generator: np.random.Generator,
    setting: Setting,
    replication: int,
) -> tuple[Setting, int, Rows]:
    """Return a cell with its rows; a worker imports the function from its script."""
    if isinstance(function, tuple):
        function = getattr(import_module(function[0]), function[1])
    try:
        result = function(generator, **setting)
    except Exception as error:
        error.add_note(f"in replication {replication} of the setting {setting}")
        raise
    rows = [result] if isinstance(result, Mapping) else result
    rows = [{**setting, "replication": replication, **row} for row in rows]
    return setting, replication, json.loads(json.dumps(rows, default=lambda x: x.tolist()))
