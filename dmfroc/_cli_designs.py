"""Options of the command line for designs beyond one classifier on one test set."""

from __future__ import annotations

from typing import Annotated

import typer

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
