"""The command ``dmfroc``.

Only what ``dmfroc --help`` needs is imported at the top; what computes is imported by the package
when a command first uses it.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

import dmfroc
from dmfroc._kit.text import printable
from dmfroc._kit.version import package_version
from dmfroc.cli.inputs import (
    Columns,
    classifier_names,
    read_pair_weights,
    split_list,
    stem,
    with_columns,
)
from dmfroc.cli.options import (
    Alternative,
    DemoPlot,
    Difference,
    File,
    Files,
    HalfWidth,
    Json,
    Kind,
    Level,
    Margin,
    MeasureName,
    Measures,
    Method,
    NDraws,
    Output,
    PairWeights,
    Plot,
    Power,
    RandomState,
    Report,
    ReportToo,
    Rope,
    Scan,
    Scheduler,
    Simultaneous,
    Unpaired,
)
from dmfroc.cli.outputs import (
    KINDS,
    collected_warnings,
    notes_of,
    open_picture,
    open_report,
    progress,
    show,
    show_json,
    show_result,
    with_options,
)
from dmfroc.results.result import attributed, sample_facts
from dmfroc.results.text import format_table
from dmfroc.results.writers import opened_page

_BAD_INPUT = 2
_INTERRUPTED = 128 + 2  # as shells report SIGINT
_PIPE_CLOSED = 128 + 13  # and SIGPIPE
_FAILURES = (OSError, TypeError, ValueError, MemoryError, RuntimeError)
_ENDING_SIGNALS = ("SIGTERM", "SIGHUP")
_SMALL_FILES = 10_000_000  # bytes

# What the parser raises for bad usage; of this class typer exports only one subclass
_UsageError = cast(type[Exception], typer.BadParameter.__base__)


class _Group(TyperGroup):
    """The commands, with one way to end for all of them."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        """Run one command and exit: with one line on stderr unless all went well."""
        sys.exit(self._run(list(sys.argv[1:] if args is None else args)))

    def _run(self, arguments: list[str]) -> int:
        if sys.stdout is None:
            return _complain("error: stdout is closed, so that nothing can be printed")
        try:
            with self.make_context("dmfroc", arguments) as context:
                self.invoke(context)
            sys.stdout.flush()
        except typer.Exit as end:
            return end.exit_code
        except BrokenPipeError:
            return _leave_closed_pipe()
        except (KeyboardInterrupt, typer.Abort):
            return _complain("interrupted", _INTERRUPTED)
        except _UsageError as error:
            return _complain(f"error: {_usage_message(error)}")
        except _FAILURES as error:
            return _complain(f"error: {_message(error)}")
        return 0


app = typer.Typer(
    name="dmfroc",
    cls=_Group,
    add_completion=False,
    rich_markup_mode=None,  # rich would double the time of --help
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line."""
    for name in _ENDING_SIGNALS:
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) == signal.SIG_DFL:
            signal.signal(getattr(signal, name), _end)
    app()


def _end(number: int, _: object) -> None:
    """End as by the signal, but let files in the making be removed."""
    raise SystemExit(128 + number)


def _show_version(wanted: bool) -> bool:
    if wanted:
        show(f"dmfroc {package_version()}")
        raise typer.Exit
    return wanted


_ShowVersion = Annotated[
    bool,
    typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
]


# Commands


@app.callback()
def _dmfroc(version: _ShowVersion = False) -> None:
    """Multiclass ROC curves, AUCs and honest intervals by deviance matrix factorization."""


@app.command()
@with_columns("fold", "groups")
def evaluate(
    file: File,
    columns: Columns,
    measures: Measures = None,
    method: Method = None,
    n_draws: NDraws = None,
    random_state: RandomState = 0,
    level: Level = 0.95,
    pair_weights: PairWeights = "equal",
    scan: Scan = False,
    scheduler: Scheduler = None,
    as_json: Json = False,
    plot: Plot = None,
) -> None:
    """Evaluate one classifier.

    Prints its measures with intervals, from the predicted class scores in FILE.
    """
    if scheduler is not None and not scan:
        raise ValueError("--scheduler is for --scan alone")
    _compile_quickly([file])
    chosen = measures if measures in (None, "all") else split_list(measures)
    with open_picture(plot) as picture, collected_warnings() as remarks:
        with progress(f"Reading {file} ..."):
            sample: Any = columns.scan(file, scheduler) if scan else columns.read(file)
            units = {} if scan else columns.read_units(file)
            weights = read_pair_weights(pair_weights, sample)
        # A scan has its own bar
        with contextlib.nullcontext() if scan else progress("Computing ..."):
            result = dmfroc.evaluate(
                sample,
                measures=chosen,
                **units,
                method=cast(Any, method),
                n_draws=n_draws,
                random_state=random_state,
                level=level,
                pair_weights=weights,
            )
            if picture and scan:
                picture.draw_scan(result)
            elif picture:
                picture.draw({stem(file): sample}, level, weights, units["folds"])
    notes = notes_of([*result.warnings, *remarks])
    if as_json:
        show_json(
            {"file": str(file), "pair_weights": pair_weights}
            | result.as_json()
            | {"warnings": notes, "dmfroc_version": package_version()}
        )
    else:
        show_result(result, notes, plot)


@app.command()
@with_columns("id", "fold", "groups")
def compare(
    files: Files,
    columns: Columns,
    measure: MeasureName = "dmf_auc",
    method: Method = None,
    alternative: Alternative = "two-sided",
    margin: Margin = None,
    unpaired: Unpaired = False,
    rope: Rope = 0.0,
    simultaneous: Simultaneous = False,
    n_draws: NDraws = None,
    random_state: RandomState = 0,
    level: Level = 0.95,
    pair_weights: PairWeights = "equal",
    as_json: Json = False,
    plot: Plot = None,
) -> None:
    """Compare classifiers on the same observations.

    Prints their differences with intervals and p-values, and the probability of each order.
    """
    _compile_quickly(files)
    named = dict(zip(classifier_names(files), files, strict=True))
    _check_weights(measure, pair_weights)
    with open_picture(plot) as picture, collected_warnings() as remarks:
        with progress(f"Reading {len(files)} files ..."):
            predictions = {name: columns.read(file) for name, file in named.items()}
            shared = next(iter(predictions.values()))
            units = columns.read_units(*files)
            weights = read_pair_weights(pair_weights, shared)
        with progress("Computing ..."):
            weighted = _with_weights(measure, weights)
            result = dmfroc.compare(
                predictions,
                measure=weighted,
                paired=not unpaired,
                **units,
                simultaneous=simultaneous,
                method=cast(Any, method),
                alternative=cast(Any, alternative),
                margin=margin or 0.0,
                rope=rope,
                n_draws=n_draws,
                random_state=random_state,
                level=level,
            )
            if picture:
                picture.draw(predictions, level, weights, units["folds"])
    notes = notes_of([*result.warnings, *remarks])
    if as_json:
        show_json(
            {"files": {name: str(file) for name, file in named.items()}}
            | {"pair_weights": pair_weights}
            | sample_facts(shared)
            | result.as_json()
            | {"warnings": notes, "dmfroc_version": package_version()}
        )
    else:
        show_result(result, notes, plot)


@app.command()
@with_columns("id", "fold", "groups")
def report(
    files: Files,
    columns: Columns,
    measure: MeasureName = "dmf_auc",
    method: Method = None,
    alternative: Alternative = "two-sided",
    margin: Margin = None,
    unpaired: Unpaired = False,
    rope: Rope = 0.0,
    simultaneous: Simultaneous = False,
    n_draws: NDraws = None,
    random_state: RandomState = 0,
    level: Level = 0.95,
    pair_weights: PairWeights = "equal",
    output: Report = Path("dmfroc-report.html"),
) -> None:
    """Write a report for the browser, of one classifier or of several.

    One file that needs nothing else: who is better, curves, pairs, classes, warnings, numbers.
    """
    _compile_quickly(files)
    named = dict(zip(classifier_names(files), files, strict=True))
    _check_weights(measure, pair_weights)
    of_several = {"simultaneous": simultaneous, "alternative": alternative != "two-sided"}
    for name, is_given in (of_several | {"margin": margin is not None}).items():
        if is_given and len(files) == 1:
            raise ValueError(f"--{name} concerns several classifiers, but there is one file")
    from dmfroc.reports.page import comparison_page, evaluation_page, measures_of_report

    with opened_page(output, "--output") as stream, collected_warnings():
        with progress(f"Reading {len(files)} {'file' if len(files) == 1 else 'files'} ..."):
            predictions = {name: columns.read(file) for name, file in named.items()}
            weights = read_pair_weights(pair_weights, next(iter(predictions.values())))
            units = columns.read_units(*files)
        options: dict[str, Any] = {
            **units,
            "method": method,
            "n_draws": n_draws,
            "random_state": random_state,
            "level": level,
        }
        with progress("Computing ..."):
            if len(predictions) == 1:
                [(name, single)] = predictions.items()
                evaluation = dmfroc.evaluate(
                    single,
                    measures=measures_of_report(measure, single),
                    pair_weights=weights,
                    **options,
                )
                page = evaluation_page(evaluation, name)
            else:
                weighted = _with_weights(measure, weights)
                comparison = dmfroc.compare(
                    predictions,
                    measure=weighted,
                    alternative=cast(Any, alternative),
                    margin=margin or 0.0,
                    paired=not unpaired,
                    rope=rope,
                    simultaneous=simultaneous,
                    **options,
                )
                page = comparison_page(comparison)
            stream.write(page.encode("utf-8"))
    show(f"The report is in {printable(output)}")


@app.command()
@with_columns("groups", "by")
def subgroups(
    file: File,
    columns: Columns,
    measure: MeasureName = "dmf_auc",
    method: Method = None,
    n_draws: NDraws = None,
    random_state: RandomState = 0,
    level: Level = 0.95,
    as_json: Json = False,
    output: ReportToo = None,
) -> None:
    """Compare subgroups of one classifier's observations.

    Prints the measure in each group, all differences with simultaneous intervals, and one test.
    """
    _compile_quickly([file])
    with (
        open_report(output) as report,
        collected_warnings() as remarks,
        progress("Computing ..."),
    ):
        result = dmfroc.compare_subgroups(
            columns.read(file),
            by=columns.read_others(file, columns.by),
            groups=columns.read_units(file)["groups"],
            measure=measure,
            method=cast(Any, method),
            n_draws=n_draws,
            random_state=random_state,
            level=level,
        )
        if report:
            from dmfroc.reports.designs import subgroups_page

            report.write(subgroups_page(result).encode("utf-8"))
    told = [note for note in remarks if not note.startswith("left out: ")]
    notes = notes_of([*result.warnings, *told])
    if as_json:
        show_json(
            {"file": str(file), "by": list(columns.by)}
            | result.as_json()
            | {"warnings": notes, "dmfroc_version": package_version()}
        )
    else:
        show_result(result, notes, output, "report")


@app.command()
@with_columns("id")
def plan(
    files: Files,
    columns: Columns,
    measure: MeasureName = "dmf_auc",
    half_width: HalfWidth = None,
    difference: Difference = None,
    margin: Margin = None,
    power: Power = 0.8,
    level: Level = 0.95,
    as_json: Json = False,
    output: ReportToo = None,
) -> None:
    """Say how many cases a test set needs.

    FILES are the pilot: predictions of one classifier, or of two for their difference.
    """
    _compile_quickly(files)
    if (half_width is None) == (difference is None and margin is None):
        raise ValueError("give either --half-width, or --difference (or --margin) with --power")
    with (
        open_report(output) as report,
        collected_warnings() as remarks,
        progress("Computing ..."),
    ):
        pilots = [columns.read(file) for file in files]
        result = dmfroc.plan(
            pilots[0]
            if len(pilots) == 1
            else dict(zip(classifier_names(files), pilots, strict=True)),
            measure,
            half_width=half_width,
            difference=difference,
            margin=margin,
            power=power,
            level=level,
        )
        if report:
            from dmfroc.reports.designs import plan_page

            report.write(plan_page(result).encode("utf-8"))
    notes = notes_of([*result.warnings, *remarks])
    if as_json:
        show_json(result.as_json() | {"warnings": notes, "dmfroc_version": package_version()})
    else:
        show_result(result, notes, output, "report")


@app.command()
@with_columns()
def plot(
    kind: Kind,
    file: File,
    columns: Columns,
    output: Output = None,
) -> None:
    """Draw a chart of one classifier.

    One curve per class, each against the rest; of two classes, that of the second.
    """
    if kind not in KINDS:
        raise ValueError(f"KIND must be one of {', '.join(KINDS)}, but it is {kind!r}")
    _compile_quickly([file])
    target = Path(f"dmfroc-{kind}.png") if output is None else output
    with open_picture(target, "--output") as picture, collected_warnings() as remarks:
        with progress(f"Reading {file} ..."):
            predictions = columns.read(file)
        with progress("Drawing ..."):
            assert picture is not None
            picture.draw_chart(kind, predictions)
    lines = [
        *(f"note: {note}" for note in notes_of(remarks)),
        f"The picture is in {printable(target)}",
    ]
    show("\n".join(lines))


@app.command()
def measures(as_json: Json = False) -> None:
    """List the measures: range, value under chance, and how their intervals are found."""
    table = dmfroc.measures.measure_table().reset_index()
    if as_json:
        show_json({"measures": table.to_dict("records")})
        return
    columns = ["measure", "title", "family", "low", "high", "chance", "interval"]
    rows = [
        [f"{x:.3g}" if isinstance(x, float) else str(x) for x in row]
        for row in table[columns].itertuples(index=False)
    ]
    show(format_table(columns, rows))


@app.command()
def demo(plot: DemoPlot = Path("dmfroc-demo.png")) -> None:
    """Show both on data that ship with scikit-learn.

    Evaluates and compares three classifiers, and draws their curves.
    """
    _compile_quickly([])
    with open_picture(plot) as picture, collected_warnings():
        with progress("Fitting three classifiers ..."):
            from dmfroc.cli.demo import DESCRIPTION, demo_predictions

            predictions = demo_predictions()
        show(DESCRIPTION)
        remarks = {}
        for name, of_classifier in predictions.items():
            with progress(f"Evaluating: {name} ..."):
                evaluation = dmfroc.evaluate(of_classifier)
            remarks[name] = evaluation.warnings
            show(f"\n{name.upper()}\n{evaluation.as_text(warnings=False)}")
        with progress("Comparing ..."):
            comparison = dmfroc.compare(predictions)
            if picture:
                picture.draw(predictions, comparison.level, "equal")
    show("\nCOMPARISON")
    show_result(comparison, attributed(remarks), plot)


def _check_weights(measure: str, pair_weights: str) -> None:
    if pair_weights != "equal" and not dmfroc.measures.get_measure(measure).is_dmf_auc:
        raise ValueError(f"--pair-weights concerns dmf_auc alone, but --measure is {measure}")


def _with_weights(measure: str, pair_weights: Any) -> dmfroc.Measure:
    named = dmfroc.measures.get_measure(measure)
    return dmfroc.measures.dmf_auc(pair_weights) if named.is_dmf_auc else named


def _compile_quickly(files: Sequence[Path]) -> None:
    """Spend less time on optimising code than it will save, which on small files is most of a run.

    JAX reads the variable when it is first used, which is after this. A user's own flags stand.
    """
    if sum(file.stat().st_size for file in files if file.exists()) <= _SMALL_FILES:
        os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")


# Failure


def _complain(message: str, status: int = _BAD_INPUT) -> int:
    line = printable(re.sub(r"\s*[\r\n]\s*", " ", message.strip()))
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"dmfroc: {line}", file=sys.stderr)
    if sys.stdout is not None:
        _abandon_stdout()
    return status


def _usage_message(error: Any) -> str:
    command = error.ctx.command_path if error.ctx else "dmfroc"
    return f"{error.format_message().rstrip('.')} (see {command} --help)"


def _message(error: Exception) -> str:
    """Say what went wrong in terms of the command line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return with_options(str(error))


def _abandon_stdout() -> None:
    """Keep Python from complaining at its exit of what could not be written, as to a full disk."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):  # stdout may be no real file
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _leave_closed_pipe() -> int:
    _abandon_stdout()
    return _PIPE_CLOSED
