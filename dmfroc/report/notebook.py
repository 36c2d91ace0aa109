"""Results as short tables for notebooks: values, intervals, method and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dmfroc.report.rendering import visible
from dmfroc.report.tables import (
    Table,
    classifiers_table,
    differences_of,
    estimates_table,
    orders_table,
)

if TYPE_CHECKING:
    from dmfroc.comparison_result import Comparison
    from dmfroc.evaluation import Evaluation
    from dmfroc.uncertainty.estimate import Estimate

_TEMPLATE = """
<div class="dmfroc">
{% for table in tables %}
<table>
<caption style="caption-side: top; text-align: left">{{ table.caption }}</caption>
<thead><tr>{% for c in table.columns %}<th scope="col">{{ c.title }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in table.rows %}
<tr><th scope="row">{{ row[0].text }}</th>
{%- for cell in row[1:] %}<td>{{ cell.text }}</td>{% endfor %}</tr>
{% endfor %}
</tbody>
</table>
{% endfor %}
{% for remark in warnings %}
<p>note: {{ remark }}</p>
{% endfor %}
</div>
"""


def estimate_as_html(estimate: Estimate) -> str:
    """Return a table of one estimate."""
    return _render([estimates_table([estimate], "")], estimate.warnings)


def evaluation_as_html(evaluation: Evaluation) -> str:
    """Return a table of all measures."""
    table = estimates_table(evaluation.estimates.values(), repr(evaluation.predictions))
    return _render([table], evaluation.warnings)


def comparison_as_html(comparison: Comparison) -> str:
    """Return tables of the classifiers, of their differences and of their orders."""
    how = f"{comparison.title}, method {comparison.method}"
    tables = [
        classifiers_table(comparison, how),
        differences_of(comparison),
        orders_table(comparison),
    ]
    return _render(tables, comparison.warnings)


def _render(tables: Sequence[Table], warnings: Sequence[str]) -> str:
    from jinja2 import Environment

    environment = Environment(autoescape=True, finalize=visible, trim_blocks=True)
    template = environment.from_string(_TEMPLATE)
    return template.render(tables=tables, warnings=warnings)
