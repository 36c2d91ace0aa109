"""The options of the command line, each defined once for all commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dmfroc.cli.outputs import KINDS

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, JSON lines, Parquet or .npz file: one row per observation, one score "
        "column per class.",
        show_default=False,
    ),
]
Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILES",
        help="One file per classifier, with the same observations in the same order, or with --id.",
        show_default=False,
    ),
]
Label = Annotated[
    str,
    typer.Option("--label", metavar="COLUMN", help="Observed classes.", show_default=False),
]
Scores = Annotated[
    list[str] | None,
    typer.Option(
        "--scores",
        metavar="COLUMNS",
        help="Score columns, separated by commas or by repeating the option, or a pattern such as "
        "'prob_*'. They are named after their classes, with one text before or after all of them, "
        "or else in the order of --labels. Default: all columns that match a class.",
        show_default=False,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="A,B,...",
        help="All classes, in the order of --scores; of two the positive one is the second. "
        "Default: sorted.",
        show_default=False,
    ),
]
PosLabel = Annotated[
    str | None,
    typer.Option(
        "--pos-label",
        metavar="CLASS",
        help="The positive one of two classes. Default: the second.",
        show_default=False,
    ),
]
SampleWeight = Annotated[
    str | None,
    typer.Option("--sample-weight", metavar="COLUMN", help="Weights.", show_default=False),
]
Count = Annotated[
    str | None,
    typer.Option(
        "--count",
        metavar="COLUMN",
        help="How often each row was observed: rows are repeated.",
        show_default=False,
    ),
]
YPred = Annotated[
    str | None,
    typer.Option(
        "--y-pred",
        metavar="COLUMN",
        help="Hard labels, alone or beside scores. Default: the class of the largest score.",
        show_default=False,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="CHARACTER",
        help="What separates the cells of a file of text: one character, or tab. Default: "
        "detected.",
        show_default=False,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar="MARK",
        help="The decimal mark of a file of text, . or ,. Default: detected.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="The encoding of a file of text, such as utf-8 or cp1252. Default: detected.",
        show_default=False,
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Names of the rows, by which those of several files are matched.",
        show_default=False,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="COLUMNS",
        help="Columns that are no scores, separated by commas or by repeating the option.",
        show_default=False,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="COLUMN",
        help="Patient, document, ... of each row, if several rows belong together.",
        show_default=False,
    ),
]
Measures = Annotated[
    str | None,
    typer.Option(
        "--measures",
        metavar="A,B,...",
        help="Names of measures (see: dmfroc measures), or all. Default: dmf_auc, hand_till and "
        "informedness.",
        show_default=False,
    ),
]
MeasureName = Annotated[
    str,
    typer.Option("--measure", metavar="NAME", help="Name of a measure, such as hand_till."),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="METHOD",
        help="How intervals are found: jackknife (the default), bootstrap, bayesian_bootstrap or "
        "bayes.",
        show_default=False,
    ),
]
NDraws = Annotated[
    int | None,
    typer.Option(
        "--n-draws",
        metavar="N",
        help="Number of replicates of a bootstrap. Default: 2000.",
        show_default=False,
    ),
]
Alternative = Annotated[
    str,
    typer.Option(
        "--alternative",
        metavar="SIDE",
        help="What is tested of a difference, A minus B: two-sided, greater or less.",
    ),
]
Rope = Annotated[
    float,
    typer.Option(
        "--rope", metavar="WIDTH", help="Half-width of the region of practical equivalence."
    ),
]
RandomState = Annotated[
    int, typer.Option("--random-state", metavar="SEED", help="Seed of everything that is drawn.")
]
Level = Annotated[
    float, typer.Option("--level", metavar="LEVEL", help="Nominal coverage of the intervals.")
]
PairWeights = Annotated[
    str,
    typer.Option(
        "--pair-weights",
        metavar="WEIGHTS",
        help="Weights of the pairs of classes in dmf_auc and the curve: equal, prevalence, or a "
        "CSV file with a matrix of costs, class names in its header (predicted) and first column "
        "(observed).",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="PATH",
        help="Draw the curves into this file (.png, .pdf, .svg, ...).",
        show_default=False,
    ),
]
Kind = Annotated[
    str,
    typer.Argument(metavar="KIND", help=f"The chart: {', '.join(KINDS)}.", show_default=False),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="PATH",
        help="Draw into this file (.png, .pdf, .svg, ...). Default: dmfroc-KIND.png.",
        show_default=False,
    ),
]
Report = Annotated[
    Path,
    typer.Option("--output", metavar="PATH", help="Write the report into this .html file."),
]
ReportToo = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="PATH",
        help="Write a report for the browser into this .html file as well.",
        show_default=False,
    ),
]
DemoPlot = Annotated[
    Path, typer.Option("--plot", metavar="PATH", help="Draw the curves into this file.")
]
Fold = Annotated[
    str | None,
    typer.Option(
        "--fold",
        metavar="COLUMN",
        help="Folds of a cross-validation: values are means over the folds.",
        show_default=False,
    ),
]
By = Annotated[
    list[str],
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="Subgroups; several columns, by repeating the option, cross.",
        show_default=False,
    ),
]
Unpaired = Annotated[
    bool,
    typer.Option("--unpaired", help="Every file has observations of its own."),
]
Simultaneous = Annotated[
    bool,
    typer.Option(
        "--simultaneous",
        help="Intervals and p-values of all differences that hold at once, and the winner.",
    ),
]
HalfWidth = Annotated[
    float | None,
    typer.Option(
        "--half-width",
        metavar="WIDTH",
        help="Half the width that the interval shall have.",
        show_default=False,
    ),
]
Difference = Annotated[
    float | None,
    typer.Option(
        "--difference",
        metavar="D",
        help="True difference that shall be found: of two files, or of one from a fixed value.",
        show_default=False,
    ),
]
Margin = Annotated[
    float | None,
    typer.Option(
        "--margin",
        metavar="D",
        help="Non-inferiority: how much worse the first file's classifier may be.",
        show_default=False,
    ),
]
Power = Annotated[
    float, typer.Option("--power", metavar="P", help="Probability of finding the difference.")
]
Scan = Annotated[
    bool,
    typer.Option(
        "--scan",
        help="Read Parquet in passes instead of into memory: FILE may be a directory or a pattern "
        "in quotes.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Address of a Dask scheduler whose workers do the passes of --scan.",
        show_default=False,
    ),
]
