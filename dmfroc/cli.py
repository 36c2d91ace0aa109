"""The command ``dmfroc``.

Only what ``dmfroc --help`` needs is imported at the top; what computes is imported by the package
when a command first uses it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

import dmfroc
from dmfroc._cli_inputs import Columns, classifier_names, read_pair_weights, split_list, stem
from dmfroc._cli_outputs import (
    KINDS,
    collected_warnings,
    comparison_as_json,
    comparison_notes,
    evaluation_as_json,
    open_picture,
    package_version,
    progress,
    sample_as_json,
    show,
    show_json,
    show_result,
    unique,
)
from dmfroc._tables import format_table

_BAD_INPUT = 2
_INTERRUPTED = 128 + 2  # as shells report SIGINT
_PIPE_CLOSED = 128 + 13  # and SIGPIPE
_SMALL_FILES = 10_000_000  # bytes

# What the parser raises for bad usage; of this class typer exports only one subclass
_UsageError = cast(type[Exception], typer.BadParameter.__base__)


class _Group(TyperGroup):
    """The commands, with one way to end for all of them."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        """Run one command and exit: with one line on stderr unless all went well."""
        sys.exit(self._run(list(sys.argv[1:] if args is None else args)))

    def _run(self, arguments: list[str]) -> int:
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
        except (OSError, TypeError, ValueError) as error:
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
    app()


# Options

_File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet or .npz file: one row per observation, one score column per class.",
        show_default=False,
    ),
]
_Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILES",
        help="One file per classifier, with the same observations in the same order.",
        show_default=False,
    ),
]
_Label = Annotated[
    str,
    typer.Option("--label", metavar="COLUMN", help="Observed classes.", show_default=False),
]
_Scores = Annotated[
    list[str] | None,
    typer.Option(
        "--scores",
        metavar="COLUMNS",
        help="Score columns, separated by commas or by repeating the option, each named after its "
        "class, with or without a shared prefix. Default: all columns without another use.",
        show_default=False,
    ),
]
_Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="A,B,...",
        help="All classes in order. Default: sorted, as the score columns name them.",
        show_default=False,
    ),
]
_SampleWeight = Annotated[
    str | None,
    typer.Option("--sample-weight", metavar="COLUMN", help="Weights.", show_default=False),
]
_YPred = Annotated[
    str | None,
    typer.Option(
        "--y-pred",
        metavar="COLUMN",
        help="Hard labels. Default: the class of the largest score.",
        show_default=False,
    ),
]
_Measures = Annotated[
    str | None,
    typer.Option(
        "--measures",
        metavar="A,B,...",
        help="Names of measures (see: dmfroc measures), or all. Default: dmf_auc, hand_till and "
        "informedness.",
        show_default=False,
    ),
]
_MeasureName = Annotated[
    str,
    typer.Option("--measure", metavar="NAME", help="Name of a measure, such as hand_till."),
]
_Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="METHOD",
        help="How intervals are found: jackknife, bootstrap or bayesian_bootstrap. Default: "
        "jackknife, but bootstrap for measures with kinks.",
        show_default=False,
    ),
]
_NDraws = Annotated[
    int | None,
    typer.Option(
        "--n-draws",
        metavar="N",
        help="Number of replicates of a bootstrap. Default: 2000.",
        show_default=False,
    ),
]
_Rope = Annotated[
    float,
    typer.Option(
        "--rope", metavar="WIDTH", help="Half-width of the region of practical equivalence."
    ),
]
_RandomState = Annotated[
    int, typer.Option("--random-state", metavar="SEED", help="Seed of everything that is drawn.")
]
_Level = Annotated[
    float, typer.Option("--level", metavar="LEVEL", help="Nominal coverage of the intervals.")
]
_PairWeights = Annotated[
    str,
    typer.Option(
        "--pair-weights",
        metavar="WEIGHTS",
        help="Weights of the pairs of classes in dmf_auc and the curve: equal, prevalence, or a "
        "CSV file with a matrix of costs, class names in its header (predicted) and first column "
        "(observed).",
    ),
]
_Scan = Annotated[
    bool,
    typer.Option(
        "--scan",
        help="Read Parquet in passes instead of into memory: FILE may be a directory or a pattern "
        "in quotes.",
    ),
]
_Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Address of a Dask scheduler whose workers do the passes of --scan.",
        show_default=False,
    ),
]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
_Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="PATH",
        help="Draw the curves into this file (.png, .pdf, .svg, ...).",
        show_default=False,
    ),
]
_Kind = Annotated[
    str,
    typer.Argument(metavar="KIND", help=f"The chart: {', '.join(KINDS)}.", show_default=False),
]
_Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="PATH",
        help="Draw into this file (.png, .pdf, .svg, ...). Default: dmfroc-KIND.png.",
        show_default=False,
    ),
]
_DemoPlot = Annotated[
    Path, typer.Option("--plot", metavar="PATH", help="Draw the curves into this file.")
]


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
def evaluate(
    file: _File,
    label: _Label,
    scores: _Scores = None,
    labels: _Labels = None,
    sample_weight: _SampleWeight = None,
    y_pred: _YPred = None,
    measures: _Measures = None,
    method: _Method = None,
    n_draws: _NDraws = None,
    random_state: _RandomState = 0,
    level: _Level = 0.95,
    pair_weights: _PairWeights = "equal",
    scan: _Scan = False,
    scheduler: _Scheduler = None,
    as_json: _Json = False,
    plot: _Plot = None,
) -> None:
    """Evaluate one classifier.

    Prints its measures with intervals, from the predicted class scores in FILE.
    """
    if scan and plot is not None:
        raise ValueError("--plot needs all scores in memory: leave --scan out")
    if scheduler is not None and not scan:
        raise ValueError("--scheduler is for --scan alone")
    _compile_quickly([file])
    columns = Columns(label, scores, labels, sample_weight, y_pred)
    chosen = measures if measures in (None, "all") else split_list(measures)
    with open_picture(plot) as picture, collected_warnings() as remarks:
        with progress(f"Reading {file} ..."):
            sample: Any = columns.scan(file, scheduler) if scan else columns.read(file)
            weights = read_pair_weights(pair_weights, sample)
        # A scan has its own bar
        with contextlib.nullcontext() if scan else progress("Computing ..."):
            result = dmfroc.evaluate(
                sample,
                measures=chosen,
                method=cast(Any, method),
                n_draws=n_draws,
                random_state=random_state,
                level=level,
                pair_weights=weights,
            )
            if picture:
                picture.draw({stem(file): sample}, level, weights)
    notes = unique([*result.warnings, *remarks])
    if as_json:
        show_json(
            {"file": str(file), "pair_weights": pair_weights}
            | evaluation_as_json(result)
            | {"warnings": notes, "dmfroc_version": package_version()}
        )
    else:
        show_result(str(result), notes[len(result.warnings) :], plot)


@app.command()
def compare(
    files: _Files,
    label: _Label,
    scores: _Scores = None,
    labels: _Labels = None,
    sample_weight: _SampleWeight = None,
    y_pred: _YPred = None,
    measure: _MeasureName = "dmf_auc",
    method: _Method = None,
    rope: _Rope = 0.0,
    n_draws: _NDraws = None,
    random_state: _RandomState = 0,
    level: _Level = 0.95,
    pair_weights: _PairWeights = "equal",
    as_json: _Json = False,
    plot: _Plot = None,
) -> None:
    """Compare classifiers on the same observations.

    Prints their differences with intervals and p-values, and the probability of each order.
    """
    _compile_quickly(files)
    columns = Columns(label, scores, labels, sample_weight, y_pred)
    named = dict(zip(classifier_names(files), files, strict=True))
    if measure != "dmf_auc" and pair_weights != "equal":
        raise ValueError(f"--pair-weights concerns dmf_auc alone, but --measure is {measure}")
    with open_picture(plot) as picture, collected_warnings() as remarks:
        with progress(f"Reading {len(files)} files ..."):
            predictions = {name: columns.read(file) for name, file in named.items()}
            shared = next(iter(predictions.values()))
            weights = read_pair_weights(pair_weights, shared)
        with progress("Computing ..."):
            weighted = dmfroc.measures.dmf_auc(weights) if measure == "dmf_auc" else measure
            result = dmfroc.compare(
                predictions,
                measure=weighted,
                method=cast(Any, method),
                rope=rope,
                n_draws=n_draws,
                random_state=random_state,
                level=level,
            )
            if picture:
                picture.draw(predictions, level, weights)
    notes = unique([*comparison_notes(result), *remarks])
    if as_json:
        show_json(
            {"files": {name: str(file) for name, file in named.items()}}
            | {"pair_weights": pair_weights}
            | sample_as_json(shared)
            | comparison_as_json(result)
            | {"warnings": notes, "dmfroc_version": package_version()}
        )
    else:
        show_result(str(result), notes, plot)


@app.command()
def plot(
    kind: _Kind,
    file: _File,
    label: _Label,
    scores: _Scores = None,
    labels: _Labels = None,
    sample_weight: _SampleWeight = None,
    output: _Output = None,
) -> None:
    """Draw a chart of one classifier.

    One curve per class, each against the rest; of two classes, that of the second.
    """
    if kind not in KINDS:
        raise ValueError(f"KIND must be one of {', '.join(KINDS)}, but it is {kind!r}")
    _compile_quickly([file])
    columns = Columns(label, scores, labels, sample_weight, None)
    target = Path(f"dmfroc-{kind}.png") if output is None else output
    with open_picture(target, "--output") as picture, collected_warnings() as remarks:
        with progress(f"Reading {file} ..."):
            predictions = columns.read(file)
        with progress("Drawing ..."):
            assert picture is not None
            picture.draw_chart(kind, predictions)
    lines = [*(f"note: {note}" for note in unique(remarks)), f"The picture is in {target}"]
    show("\n".join(lines))


@app.command()
def measures(as_json: _Json = False) -> None:
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
def demo(plot: _DemoPlot = Path("dmfroc-demo.png")) -> None:
    """Show both on data that ship with scikit-learn.

    Evaluates and compares three classifiers, and draws their curves.
    """
    _compile_quickly([])
    with open_picture(plot) as picture, collected_warnings():
        with progress("Fitting three classifiers ..."):
            from dmfroc.demo import DESCRIPTION, demo_predictions

            predictions = demo_predictions()
        show(DESCRIPTION)
        for name, of_classifier in predictions.items():
            with progress(f"Evaluating: {name} ..."):
                evaluation = dmfroc.evaluate(of_classifier)
            show(f"\n{name.upper()}\n{evaluation}")
        with progress("Comparing ..."):
            comparison = dmfroc.compare(predictions)
            if picture:
                picture.draw(predictions, comparison.level, "equal")
    show_result(f"\nCOMPARISON\n{comparison}", comparison_notes(comparison), plot)


def _compile_quickly(files: Sequence[Path]) -> None:
    """Spend less time on optimising code than it will save, which on small files is most of a run.

    JAX reads the variable when it is first used, which is after this. A user's own flags stand.
    """
    if sum(file.stat().st_size for file in files if file.exists()) <= _SMALL_FILES:
        os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")


# Failure


def _complain(message: str, status: int = _BAD_INPUT) -> int:
    line = re.sub(r"\s*[\r\n]\s*", " ", message.strip())
    print(f"dmfroc: {line}", file=sys.stderr)
    return status


def _usage_message(error: Any) -> str:
    command = error.ctx.command_path if error.ctx else "dmfroc"
    return f"{error.format_message().rstrip('.')} (see {command} --help)"


def _message(error: Exception) -> str:
    """Say what went wrong in terms of the command line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # The package speaks of its arguments, `labels=`; here they are options, `--labels`
    arguments = r"\b(label|labels|scores|sample_weight|y_pred)="
    return re.sub(arguments, lambda found: "--" + found[1].replace("_", "-"), str(error))


def _leave_closed_pipe() -> int:
    """Keep Python from complaining at its exit that it could not write the rest."""
    with contextlib.suppress(io.UnsupportedOperation):  # stdout may be no real file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _PIPE_CLOSED
