"""Powers (2011): the numbers of his table 2 beside ours, and how often his statistics reject."""

from __future__ import annotations

import numpy as np
from _study import arguments, markdown_table, write_page
from scipy.stats import chi2

from dmfroc import ContingencyTable
from dmfroc.measures import binary
from dmfroc.measures.cells import Cells
from dmfroc.papers import chi_squared_test, powers_statistics

N_TABLES = 40_000
DESIGNS = ((0.5, 0.5, 100), (0.6, 0.42, 100), (0.2, 0.1, 400))  # prevalence, bias, size
TABLES = {
    "upper": ContingencyTable.from_cells(tp=30, fp=12, fn=30, tn=28),
    "lower": ContingencyTable.from_cells(tp=56, fp=20, fn=12, tn=12),
}
MEASURES = {
    "B": "informedness",
    "M": "markedness",
    "C": "correlation",
    "Rec": "recall",
    "Prec": "precision",
    "Rac": "accuracy",
    "F": "f1",
    "G": "fowlkes_mallows",
    "κ": "cohen_kappa",
}
PRINTED = {
    "upper": "20.00 19.70 19.85 50.00 71.43 58.00 58.82 59.76 18.60 2.29 2.22 2.29 1.92 1.89 1.91",
    "lower": "19.85 23.68 21.68 82.35 73.68 68.00 77.78 77.90 21.26 1.13 1.61 1.13 1.72 2.05 1.87",
}
STATISTICS = ("Pearson", "plus_p", "plus_r", "kb", "km", "kbm")


def values_of(table: ContingencyTable) -> dict[str, str]:
    """Return our numbers under the names of the table: coefficients in per cent, statistics."""
    measures, statistics = table.measures(), powers_statistics(table)
    found = {name: f"{100 * measures[ours]:.2f}" for name, ours in MEASURES.items()}
    return found | {
        "χ²(+P)": f"{statistics.plus_p[1]:.2f}",
        "χ²(+R)": f"{statistics.plus_r[1]:.2f}",
        "χ²": f"{chi_squared_test(table).statistic:.2f}",
        "χ²(KB)": f"{statistics.kb:.2f}",
        "χ²(KM)": f"{statistics.km:.2f}",
        "χ²(KBM)": f"{statistics.kbm:.2f}",
    }


def side_by_side() -> str:
    """Return the printed numbers beside ours."""
    ours = {name: values_of(table) for name, table in TABLES.items()}
    printed = {name: text.split() for name, text in PRINTED.items()}
    rows = []
    for place, quantity in enumerate(ours["upper"]):
        cells = [quantity]
        for name in TABLES:
            found, in_print = ours[name][quantity], printed[name][place]
            cells += [in_print, found if found == in_print else f"**{found}**"]
        rows.append(cells)
    header = ["quantity", "upper, printed", "ours", "lower, printed", "ours"]
    return markdown_table(header, rows)


def statistics_of(cells: Cells, n: int) -> dict[str, np.ndarray]:
    """Return the statistics of many tables of two classes at once."""
    bets = n * binary.informedness(cells) ** 2 * cells.variance_real
    marks = n * binary.markedness(cells) ** 2 * cells.variance_predicted
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "Pearson": n * binary.correlation(cells) ** 2,
            "plus_p": bets / cells.bias,
            "plus_r": marks / cells.prevalence,
            "kb": 2 * bets,
            "km": 2 * marks,
            "kbm": 2
            * n
            * binary.informedness(cells)
            * binary.markedness(cells)
            * binary.evenness_global(cells),
        }


def sizes(n_tables: int) -> str:
    """Return how often each statistic exceeds the 5 % point of chi-square under independence."""
    generator, limit, rows = np.random.default_rng(1), chi2.ppf(0.95, 1), []
    for prevalence, bias, n in DESIGNS:
        of_cells = np.outer([bias, 1 - bias], [prevalence, 1 - prevalence]).ravel()
        tp, fp, fn, tn = generator.multinomial(n, of_cells, n_tables).T / n
        found = statistics_of(Cells(tp, fp, fn, tn, np), n)
        shares = [f"{np.mean(found[name] > limit):.3f}" for name in STATISTICS]
        rows.append([f"{prevalence:.2f}, {bias:.2f}, {n}", *shares])
    return markdown_table(["prevalence, bias, n", *STATISTICS], rows)


def page(n_tables: int) -> str:
    """Report both."""
    return f"""# Table 2 of Powers (2011), and the size of his tests

Made by `experiments/powers_tables.py`. Two tables of 100 observations each; coefficients in per
cent, bold where the print differs:

{side_by_side()}

The printed $\\chi^2$ repeats that of the positive predictions alone; ours is Pearson's, and
significant at 5 % (3.84) for both tables. The printed values for the positive real class follow
from a formula with two symbols exchanged.

His statistics are to be referred to the chi-square distribution with one degree of freedom. How
often they reject at a nominal 5 % where prediction and class are independent, in {n_tables:,}
tables each:

{sizes(n_tables)}

For two classes all but Pearson's are Pearson's times a factor below one
([hard labels](../measures/contingency.md)): they reject far too rarely.
"""


if __name__ == "__main__":
    options = arguments(__doc__)
    text = page(2000 if options.quick else N_TABLES)
    if options.quick:
        print(text)
    else:
        write_page("powers_tables", text)
