"""The arguments and options of the command line, each defined once for all commands."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from dmfroc._kit.files import written
from dmfroc.cli.outputs import KINDS, keep, keep_form

_PATH = click.Path(path_type=Path)


class _SavedPath(click.Path):
    """The path of a file that can be read more than once, into which standard input is saved."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value in ("-", "/dev/stdin"):
            if "stdin" in ctx.meta:
                self.fail("standard input can be read once only: name a file", param, ctx)
            value = Path(ctx.find_root().with_resource(TemporaryDirectory()), "stdin.csv")
            ctx.meta["stdin"] = str(value)
            with written(value, "-") as stream:
                stream.write(sys.stdin.buffer.read())
        return super().convert(value, param, ctx)


_SAVED = _SavedPath(path_type=Path)


def _words(*words: str) -> click.Choice[str]:
    return click.Choice(words, case_sensitive=False)


def _measures_that_begin(_: object, __: object, incomplete: str) -> list[str]:
    from dmfroc.measures import measure_table

    before, comma, begun = incomplete.rpartition(",")
    return [before + comma + name for name in measure_table().index if name.startswith(begun)]


def _option(flag: str, metavar: str, help: str, **others: Any) -> click.Option:
    return click.Option(flag.split(), metavar=metavar, help=help, **others)


def _numbers(
    context: click.Context, option: click.Parameter, texts: Sequence[str]
) -> tuple[float, ...]:
    """Return the numbers of an option, separated by commas or by repeating it."""
    if len(texts) == 1 and re.fullmatch(r"0,\d+", texts[0]):  # 0 is neither threshold nor horizon
        raise click.BadParameter(f"{texts[0]!r} is not a valid float", context, option)
    try:
        return tuple(float(x) for text in texts for x in text.split(","))
    except ValueError:
        remedy = f"give numbers separated by commas, such as {option.opts[0]} 0.2,0.5"
        raise click.BadParameter(f"{','.join(texts)!r}: {remedy}", context, option) from None


def _flag(flag: str, help: str, **others: Any) -> click.Option:
    return click.Option(flag.split(), is_flag=True, help=help, **others)


def _file(flag: str, help: str, **others: Any) -> click.Option:
    return _option(flag, "PATH", help, type=_PATH, **others)


FILE, RATINGS = (
    click.Argument(
        ["file"],
        type=_SAVED,
        help=f"{what}. A CSV, TSV, JSON, Parquet, Feather or .npz file. Text may come from "
        "standard input, which is named -.",
    )
    for what in (
        "One row per observation, one score column per class, or one alone of two classes",
        "One row per item, one column per rater",
    )
)
FILES = click.Argument(
    ["files"],
    type=_SAVED,
    nargs=-1,
    required=True,
    help="One file per classifier, with the same observations. In the same order, or with --id. To "
    "compare or rank columns of one file with two classes, name them in --scores.",
)
RECEIPTS = click.Argument(
    ["files"],
    type=_PATH,
    nargs=-1,
    required=True,
    help="A receipt of each site, see write_receipt; or a table of published values and errors.",
)
POOLED = [
    _option("--measures measure", "NAME", "Which measure, if there are several."),
    _option("--classifier", "NAMES", "Of comparisons: a classifier, or A,B for a difference."),
    _option("--method", "METHOD", "reml or bayes.", default="reml", type=_words("reml", "bayes")),
]
KIND = click.Argument(
    ["kind"], type=_words(*KINDS), metavar="KIND", help=f"The chart: {', '.join(KINDS)}."
)

PATTERNS = click.Argument(
    ["patterns"], nargs=-1, help="Only those with each of these texts in name, title or family."
)

# What the columns of a file are

FOLLOW_UP = [
    _option(
        "--time",
        "COLUMN",
        "How long rows were followed; --label is the kind of event.",
    ),
    _option(
        "--censored",
        "VALUE",
        "With --time: the value of --label in rows without event. Default: 0, or the first of "
        "--labels.",
    ),
    _option(
        "--horizon",
        "T",
        "With --time: when outcomes are looked at; several separated by commas.",
        multiple=True,
        callback=_numbers,
    ),
]
THRESHOLDS = _option(
    "--threshold thresholds",
    "P",
    "Threshold probability, by default 0.01 to 0.99. Several separated by commas.",
    multiple=True,
    callback=_numbers,
)
_COLUMNS = [
    _option("--label", "COLUMN", "Observed classes.", required=True),
    _option(
        "--scores",
        "COLUMNS",
        "Score columns, such as a,b,c or 'prob_*'. Separated by commas or by repeating the option. "
        "They are named after their classes, with one text before or after all of them, or else in "
        "the order of --labels. Default: all columns that match a class.",
        multiple=True,
    ),
    _option(
        "--models",
        "PATTERNS",
        "Classifiers in one file: 'rf_*,nb_*' are their columns. Separated by commas or by "
        "repeating the option.",
        multiple=True,
    ),
    _option(
        "--labels",
        "A,B,...",
        "All classes, in their order, which is that of --scores. Of two the positive one is the "
        "second. Default: sorted.",
    ),
    _option(
        "--pos-label",
        "CLASS",
        "The positive one of two classes, which a single score is about. Default: the second.",
    ),
    _option(
        "--direction",
        "SIDE",
        "'<=' if small values of a single score speak for the positive class. Default: '>='.",
        type=_words(">=", "<="),
    ),
    _option("--sample-weight", "COLUMN", "Weights."),
    _option(
        "--count frequency_weight", "COLUMN", "How often each row was observed: rows are repeated."
    ),
    _option(
        "--y-pred",
        "COLUMN",
        "Hard labels, alone or beside scores. Default: the class of the largest score.",
    ),
    _option(
        "--ignore other_columns",
        "COLUMNS",
        "Columns that are no scores, separated by commas or by repeating the option.",
        multiple=True,
    ),
    _option(
        "--drop-label",
        "LABELS",
        "Labels of rows to be left out, such as -100 or unlabeled, separated by commas.",
        multiple=True,
    ),
    _option(
        "--where",
        "COLUMN=VALUE",
        "Keep the rows with this value only, such as split=test; several values, separated by "
        "commas, or columns, by repeating the option.",
        multiple=True,
    ),
    _flag("--drop-missing", "Leave out rows without a label or a score, and say which."),
    _option("--truth", "FILE", "Another file, with the labels; --id names the rows.", type=_PATH),
    _option(
        "--threshold",
        "T",
        "The positive one of two classes is predicted if its score is at least this, or, with "
        "--direction '<=', at most.",
        type=float,
    ),
    _option("--id", "COLUMN", "Names of the rows, by which those of several files are matched."),
    _option(
        "--fold folds",
        "COLUMNS",
        "Folds of a cross-validation. Values are means over the folds. Of a repeated one the "
        "columns of the repeat and of the fold, separated by commas or by repeating the option.",
        multiple=True,
    ),
    _option(
        "--groups", "COLUMN", "Patient or document of each row. For rows that belong together."
    ),
    _option(
        "--by",
        "COLUMN",
        "Subgroups. Several columns, separated by commas or by repeating the option, cross.",
        multiple=True,
        required=True,
    ),
    _option(
        "--judge",
        "COLUMN",
        "Labels of a judge for all rows; those of --label may be missing where nobody verified.",
    ),
    _option(
        "--separator",
        "CHARACTER",
        "What separates the cells of a file of text: one character, or tab. Default: detected.",
    ),
    _option("--decimal", "MARK", "The decimal mark of a file of text, . or ,. Default: detected."),
    _option(
        "--encoding",
        "NAME",
        "The encoding of a file of text, such as utf-8 or cp1252. Default: detected.",
    ),
]


ROWS = ("threshold", "folds", "groups", "judge")
"""What most commands have a column for, or a threshold."""


def columns(*names: str) -> list[click.Option]:
    """Return the options of columns; those of rows that belong together only if named."""
    return [x for x in _COLUMNS if x.name in names or x.name not in ("by", "models", *ROWS)]


_OPTIONAL_LABEL = _option("--label", "COLUMN", "Observed classes; or give --answers of items.")
ANSWERS = _option(
    "--answers",
    "COLUMNS",
    "Instead of --label: scores of items, 1 for right. A column for each attempt, separated by "
    "commas or by repeating the option.",
    multiple=True,
)
OF_RATERS = [
    _option(
        "--raters",
        "COLUMNS",
        "The classes that each rater chose, a column each. Separated by commas or by repeating the "
        "option, or a pattern such as 'rater_*'. An empty cell is no rating.",
        multiple=True,
        required=True,
    ),
    _option(
        "--measures",
        "A,B,...",
        "Coefficients: gwet_ac1, gwet_ac2, krippendorff_alpha, fleiss_kappa. With options in "
        "parentheses: \"krippendorff_alpha(scale='ordinal')\". Default: all but gwet_ac2.",
        default="gwet_ac1,krippendorff_alpha,fleiss_kappa",
    ),
    _option("--labels", "A,B,...", "All classes, in their order. Default: sorted."),
    *(
        x
        for x in columns("groups")
        if x.name in ("where", "groups", "separator", "decimal", "encoding")
    ),
]
AGAINST = _option(
    "--against",
    "BASELINE",
    "Compare with chance, 'treat all', 'treat none' or 'always CLASS', too; then one file will do.",
)
TASK = _option("--task", "COLUMN", "The task of each row. Ranks are by the mean over the tasks.")
RULES = click.Argument(["rules"], type=_SAVED, help="TOML file of rules, see the page on gates.")
BASELINE = _option(
    "--baseline",
    "FILE",
    "Another classifier, called baseline in the rules: the same rows, in the same order or --id.",
    type=_SAVED,
)
JUNIT = _file("--junit", "Write the verdicts into this file of JUnit's XML.")


def columns_of_either(*names: str) -> list[click.Option]:
    """Return the options of columns of classes, or of items with scores instead."""
    return [_OPTIONAL_LABEL, ANSWERS, *columns(*names)[1:]]


# What is computed, and how

MEASURES = _option(
    "--measures",
    "A,B,...",
    "Names of measures (see: dmfroc measures), or all. Options in parentheses: "
    "'partial_auc(max_fpr=0.2)'. Default: dmf_auc, hand_till and informedness.",
    shell_complete=_measures_that_begin,
)
MEASURE = _option(
    "--measures measure",
    "NAME",
    "A measure, such as hand_till, or several with commas (see: dmfroc measures).",
    default="dmf_auc",
    shell_complete=_measures_that_begin,
)
LEVEL = _option("--level", "LEVEL", "Nominal coverage of the intervals.", default=0.95)
SEED = _option("--random-state", "SEED", "Seed of everything that is drawn.", default=0)
DRAWS = _option("--n-draws", "N", "Number of draws of the outcomes.", default=999)
REHEARSE = _option(
    "--rehearse n_samples",
    "N",
    "Also draw N samples like these, of a smoothed population, and say how often intervals hold.",
    type=int,
)
INTERVALS = [
    _option(
        "--method",
        "METHOD",
        "How intervals are found: jackknife (the default), bootstrap, bayesian_bootstrap, "
        "paper_bootstrap or bayes.",
        type=_words("jackknife", "bootstrap", "bayesian_bootstrap", "paper_bootstrap", "bayes"),
    ),
    _option("--n-draws", "N", "Number of replicates of a bootstrap. Default: 2000.", type=int),
    SEED,
    LEVEL,
]
CHOICE = [
    _option(
        "--criterion by",
        "NAME",
        "What shall be best: youden (sensitivity + specificity - 1), f1, accuracy or cost; or "
        "which rate shall reach --at-least: sensitivity or specificity.",
        default="youden",
        type=_words("youden", "f1", "accuracy", "cost", "sensitivity", "specificity"),
    ),
    _option(
        "--at-least",
        "RATE",
        "The sensitivity or specificity that is asked for. Default: 0.95.",
        type=float,
    ),
    _option("--cost-fp", "COST", "Of a false positive, for the cost. Default: 1.", type=float),
    _option("--cost-fn", "COST", "Of a false negative, for the cost. Default: 1.", type=float),
    _option("--n-draws", "N", "Number of bootstrap samples.", default=1000),
]
TARGET_PREVALENCE = _option(
    "--target-prevalence",
    "P",
    "Share of each class where the classifier is to be used, such as ill=0.01,healthy=0.99; of two "
    "classes that of the positive one is enough.",
)
PAIR_WEIGHTS = _option(
    "--pair-weights",
    "WEIGHTS",
    "Weights of the pairs of classes in dmf_auc and the curve: equal, prevalence, or a CSV file "
    "with a matrix of costs, class names in its header (predicted) and first column (observed).",
    default="equal",
)
MARGIN = _option(
    "--margin",
    "D",
    "Non-inferiority: how much worse the first file's classifier may be.",
    type=float,
)
DIFFERENCES = [
    MEASURE,
    *INTERVALS,
    _option(
        "--alternative",
        "SIDE",
        "What is tested of a difference, A minus B: two-sided, greater or less.",
        default="two-sided",
        type=_words("two-sided", "greater", "less"),
    ),
    MARGIN,
    _flag(
        "--unpaired paired",
        "Every file has observations of its own.",
        flag_value=False,
        default=True,
        show_default=False,
    ),
    _option("--rope", "WIDTH", "Half-width of the region of practical equivalence.", default=0.0),
    _flag(
        "--simultaneous",
        "Intervals and p-values of all differences that hold at once, and the winner.",
    ),
    PAIR_WEIGHTS,
]
PLANNED = [
    _option("--half-width", "WIDTH", "Half the width that the interval shall have.", type=float),
    _option(
        "--difference",
        "D",
        "True difference that shall be found: of two files, or of one from a fixed value.",
        type=float,
    ),
    MARGIN,
    _option("--power", "P", "Probability of finding the difference. Default: 0.8.", type=float),
]
PER_CLASS = _flag(
    "--per-class", "Each class against the rest; intervals and p-values hold for all at once."
)
SCAN = [
    _flag(
        "--scan",
        "Read Parquet in passes instead of into memory: FILE may be a directory or a pattern in "
        "quotes.",
    ),
    _option(
        "--scheduler",
        "ADDRESS",
        "Address of a Dask scheduler whose workers do the passes of --scan.",
    ),
]

# What is written

_KEPT: dict[str, Any] = {"expose_value": False, "callback": keep}
FORMATS = [
    *(
        _flag(f"--{form} form_{form}", text, expose_value=False, callback=keep_form)
        for form, text in {
            "json": "Print JSON.",
            "csv": "Print a table as comma-separated values, with all digits.",
            "latex": "Print a table for LaTeX's package booktabs.",
            "markdown": "Print a table in Markdown.",
        }.items()
    ),
    _option("--table", "NAME", "Which table, such as differences. Default: the main one.", **_KEPT),
    _file(
        "-o --output",
        "Write into this .txt, .csv, .json, .tex or .md file instead, or a report for the browser "
        "into an .html file as well.",
        **_KEPT,
    ),
]
PLOT = _file("--plot", "Draw the curves into this file (.png, .pdf, .svg, ...).")
DEMO_PLOT = _file("--plot", "Draw the curves into this file.", default=Path("dmfroc-demo.png"))
PICTURE = _file(
    "-o --output", "Draw into this file (.png, .pdf, .svg, ...). Default: dmfroc-KIND.png."
)
REPORT = _file(
    "-o --output", "Write the report into this .html file.", default=Path("dmfroc-report.html")
)
TITLE = _option("--title", "TEXT", "Head the report with this title instead of its question.")
RECEIPT = _file(
    "--receipt",
    "Write values, errors and covariances into this .json file, without rows; for dmfroc pool.",
)
