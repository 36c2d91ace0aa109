"""Powers (2011): the numbers of his table 2 beside ours, and how often his statistics reject."""

from __future__ import annotations

import numpy as np
from _study import arguments, claims_table, markdown_table, write_page
from scipy.optimize import brentq
from scipy.stats import chi2, multivariate_normal, norm

from dmfroc.applications import chi_squared_test, fisher_exact_test, powers_statistics
from dmfroc.applications.significance import PowersStatistics, TestResult
from dmfroc.measures import ContingencyTable, binary
from dmfroc.measures.cells import Cells

N_TABLES = 40_000
DESIGNS = ((0.5, 0.5, 100), (0.6, 0.42, 100), (0.2, 0.1, 400))  # prevalence, bias, size
EFFECT = 0.25  # share of right predictions in tables that are not independent
CELLS = {"upper": (30, 12, 30, 28), "lower": (56, 20, 12, 12)}  # tp, fp, fn, tn
TABLES = {
    name: ContingencyTable.from_cells(tp=tp, fp=fp, fn=fn, tn=tn)
    for name, (tp, fp, fn, tn) in CELLS.items()
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
    bets = n * cells.informedness**2 * cells.evenness_real
    marks = n * cells.markedness**2 * cells.evenness_predicted
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "Pearson": n * binary.correlation(cells) ** 2,
            "plus_p": bets / cells.bias,
            "plus_r": marks / cells.prevalence,
            "kb": 2 * bets,
            "km": 2 * marks,
            "kbm": 2 * n * cells.informedness * cells.markedness * binary.evenness_global(cells),
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


def with_informedness(name: str, factor: float) -> ContingencyTable:
    """Return a table of the same margins with a multiple of the informedness."""
    tp, fp, fn, tn = CELLS[name]
    gain = (factor - 1) * (tp - (tp + fp) * (tp + fn) / (tp + fp + fn + tn))
    return ContingencyTable.from_cells(tp=tp + gain, fp=fp - gain, fn=fn - gain, tn=tn + gain)


def claims() -> str:
    """Hold what section 3 says of the two tables against what they are."""
    limit = chi2.ppf(0.95, 1)
    fisher = {
        name: [fisher_exact_test(t, alternative=side).p_value for side in ("greater", "two-sided")]
        for name, t in TABLES.items()
    }
    pearson = [chi_squared_test(t).statistic for t in TABLES.values()]
    doubled = [powers_statistics(with_informedness(name, 2.0)) for name in TABLES]
    enough = [x for s in doubled for x in (s.plus_p[1], s.plus_r[1], s.kb, s.km, s.kbm)]
    problems = {
        name: dict(zip(("inverse dual", "dual", "inverse", "given"), values, strict=True))
        for name, t in TABLES.items()
        for s in (powers_statistics(t),)
        for values in ((s.plus_r[0], s.plus_r[1], s.plus_p[0], s.plus_p[1]),)
    }
    shown = "; ".join(
        f"{name}: " + ", ".join(f"{problem} {value:.2f}" for problem, value in values.items())
        for name, values in problems.items()
    )
    ratios = []
    for factor in (1.0, 0.1, 0.01):
        s = powers_statistics(with_informedness("upper", factor))
        ratios.append(2 * s.half_g2_plus_p[1] / s.plus_p[1])
    tests = "; ".join(
        f"{name} p = {one:.4f} one-sided, {two:.4f} two-sided"
        for name, (one, two) in fisher.items()
    )
    return claims_table(
        [
            (
                "Fisher's exact test is significant at .05 for both tables",
                tests,
                all(one < 0.05 for one, _ in fisher.values()),
            ),
            (
                "Neither table is significant at .05 by chi-square",
                "Pearson's statistics " + ", ".join(f"{x:.2f}" for x in pearson) + ", limit 3.84",
                all(x < limit for x in pearson),
            ),
            (
                "Twice the informedness would be significant at n = 100",
                f"with the same margins KBM is {doubled[0].kbm:.2f} (upper) and "
                f"{doubled[1].kbm:.2f} (lower); the least of +P, +R, KB, KM, KBM is "
                f"{min(enough):.2f}",
                min(enough) > limit,
            ),
            (
                "The inverse and dual problems come near .05, the inverse dual far exceeds it",
                f"{shown}; limit 3.84",
                all(v["inverse dual"] > limit for v in problems.values()),
            ),
            (
                "G² is twice as sensitive as chi-square for small effects",
                "G²(+P) / chi²(+P) at 1, 1/10 and 1/100 of the informedness of the upper table: "
                + ", ".join(f"{x:.3f}" for x in ratios)
                + " (the second-order term of the logarithm, left out in eq. 31, halves it)",
                abs(ratios[-1] - 2) < 0.05,
            ),
        ]
    )


def bias_to_one() -> str:
    """Compare equation 30 with its form for a bias near 1, where N / bias becomes N + PN."""
    rows = []
    for bias in (0.5, 0.9):
        exact, short = 1 / bias, 1 + (1 - bias)
        rows.append(
            (f"{bias:.2f}", f"{exact:.4f}", f"{short:.4f}", f"{100 * (1 - short / exact):.2f} %")
        )
    return markdown_table(["bias", "1 / bias", "(N + PN) / N", "too small by"], rows)


def several_classes(n_tables: int, effect: float = 0.0) -> str:
    """Return how often the statistics of three classes reject, with both degrees of freedom.

    A share ``effect`` of the predictions is right, the others are independent of the class.
    """
    n, prevalence = 150, np.ones(3) / 3
    cells = (1 - effect) * np.outer(prevalence, prevalence) + effect * np.diag(prevalence)
    tables = np.random.default_rng(2).multinomial(n, cells.ravel(), n_tables).reshape(-1, 3, 3)
    statistics = np.array(
        [(s.kb, s.km, s.kbm, pearson.statistic) for s, pearson in map(both_statistics, tables)]
    )
    rows = []
    for freedom in (4, 2):
        shares = np.mean(statistics > chi2.ppf(0.95, freedom), axis=0)
        rows.append(("3, even", n, freedom, *(f"{share:.3f}" for share in shares)))
    return markdown_table(
        ["classes, margins", "n", "degrees of freedom", "kb", "km", "kbm", "Pearson"], rows
    )


def both_statistics(counts: np.ndarray) -> tuple[PowersStatistics, TestResult]:
    table = ContingencyTable(counts, np.arange(len(counts)))
    return powers_statistics(table), chi_squared_test(table)


def tetrachoric(name: str) -> float:
    """Return the correlation of two normal variables that were cut into the table."""
    tp, fp, fn, _ = np.array(CELLS[name]) / sum(CELLS[name])
    cuts = norm.ppf([tp + fp, tp + fn])

    def excess(rho: float) -> float:
        return multivariate_normal.cdf(cuts, cov=[[1, rho], [rho, 1]]) - tp

    return float(brentq(excess, -0.999, 0.999))


def single_point() -> str:
    """Check the areas of figure 1: one system, and the same with the labels reversed."""
    rows = []
    for name, table in TABLES.items():
        tpr, fpr = (float(table.class_values[x][1]) for x in ("recall", "fallout"))
        area = np.trapezoid([0, tpr, 1], [0, fpr, 1])
        rows.append(
            (
                name,
                f"({fpr:.3f}, {tpr:.3f})",
                f"{area:.4f}",
                f"{(1 + tpr - fpr) / 2:.4f}",
                f"{np.trapezoid([0, 1 - tpr, 1], [0, 1 - fpr, 1]):.4f}",
            )
        )
    header = ["table", "point (fpr, tpr)", "trapezoid", "(1 + B) / 2", "labels reversed"]
    return markdown_table(header, rows)


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

With more classes the paper refers them to (K - 1)² degrees of freedom, and proposes K - 1 for the
power. Independent tables again, {n_tables // 10:,} in each row:

{several_classes(n_tables // 10)}

The same if {100 * EFFECT:g} % of the predictions are right and the others independent of the class.
His statistics have more power with K - 1 degrees of freedom, and Pearson's, with the (K - 1)² under
which it keeps the 5 %, at least as much as they have with either:

{several_classes(n_tables // 10, EFFECT)}

## What section 3 says of the two tables

{claims()}

The equations have a short form for a bias near 1. It is never above the exact one:

{bias_to_one()}

The tetrachoric correlations, which the paper names as an alternative:

{markdown_table(["table", "correlation"], [[f"{x} table", f"{tetrachoric(x):.4f}"] for x in CELLS])}

Figure 1 takes the area under a single point, a trapezoid. It is (1 + B) / 2:

{single_point()}
"""


if __name__ == "__main__":
    options = arguments(__doc__)
    text = page(2000 if options.quick else N_TABLES)
    if options.quick:
        print(text)
    else:
        write_page("powers_tables", text)
