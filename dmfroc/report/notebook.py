"""Results as short tables for notebooks: values, intervals, method and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dmfroc._tables import format_probability
from dmfroc.report.verdict import interval_text, number

if TYPE_CHECKING:
    from dmfroc.comparison_result import Comparison
    from dmfroc.evaluation import Evaluation
    from dmfroc.uncertainty.estimate import Estimate

_TABLE = """
{%- macro table(caption, header, rows) -%}
<table>
<caption style="caption-side: top; text-align: left">{{ caption }}</caption>
<thead><tr>{% for title in header %}<th scope="col">{{ title }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in rows %}
<tr><th scope="row">{{ row[0] }}</th>{% for cell in row[1:] %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}
</tbody>
</table>
{%- endmacro -%}
<div class="dmfroc">
{% for caption, header, rows in tables %}
{{ table(caption, header, rows) }}
{% endfor %}
{% for remark in warnings %}
<p>note: {{ remark }}</p>
{% endfor %}
</div>
"""

type _Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]


def estimate_as_html(estimate: Estimate) -> str:
    """Return a table of one estimate."""
    return _render([_estimates([estimate], "")], estimate.warnings)


def evaluation_as_html(evaluation: Evaluation) -> str:
    """Return a table of all measures."""
    table = _estimates(evaluation.estimates.values(), repr(evaluation.predictions))
    return _render([table], evaluation.warnings)


def comparison_as_html(comparison: Comparison) -> str:
    """Return tables of the classifiers, of their differences and of their orders."""
    interval = f"{100 * comparison.level:g} % interval"
    classifiers = [
        [name, number(e.value, e.standard_error), interval_text(e)]
        for name, e in comparison.estimates.items()
    ]
    differences = [
        [
            f"{d.first} \N{MINUS SIGN} {d.second}",
            number(d.value, d.standard_error),
            interval_text(d),
            f"{d.p_value:.2g}",
            f"{d.adjusted_p_value:.2g}",
            format_probability(d.probability_better),
        ]
        for d in comparison.differences
    ]
    orders = [
        [" > ".join(order), format_probability(probability)]
        for order, probability in list(comparison.order_probabilities.items())[:10]
    ]
    how = f"{comparison.title}, method {comparison.method}"
    tables: list[_Table] = [
        (how, ["classifier", comparison.title, interval], classifiers),
        (
            "differences",
            ["A \N{MINUS SIGN} B", "difference", interval, "p-value", "adjusted", "P(A better)"],
            differences,
        ),
        ("orders, best first", ["order", "probability"], orders),
    ]
    return _render(tables, comparison.warnings)


def _estimates(estimates: Iterable[Estimate], caption: str) -> _Table:
    rows = [
        [
            e.title,
            number(e.value, e.standard_error),
            number(e.standard_error, e.standard_error),
            f"{interval_text(e)} ({100 * e.level:g} %)",
            e.method,
        ]
        for e in estimates
    ]
    return caption, ["measure", "value", "std. error", "interval", "method"], rows


def _render(tables: Sequence[_Table], warnings: Sequence[str]) -> str:
    from jinja2 import Environment

    template = Environment(autoescape=True, trim_blocks=True).from_string(_TABLE)
    return template.render(tables=tables, warnings=warnings)
