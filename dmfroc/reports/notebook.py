"""Results as short tables for notebooks: values, intervals, method and warnings."""

from __future__ import annotations

from dmfroc.reports.rendering import visible
from dmfroc.reports.tables import page_table
from dmfroc.results.result import Result

_TEMPLATE = """
<div class="dmfroc">
{% for line in head %}
<p>{{ line }}</p>
{% endfor %}
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
{% for line in foot %}
<p>{{ line }}</p>
{% endfor %}
{% for warning in warnings %}
<p>warning: {{ warning }}</p>
{% endfor %}
</div>
"""


def result_as_html(result: Result) -> str:
    """Return the tables of a result, with its warnings."""
    from jinja2 import Environment

    environment = Environment(autoescape=True, finalize=visible, trim_blocks=True)
    template = environment.from_string(_TEMPLATE)
    return template.render(
        tables=[page_table(table) for table in result.tables()],
        head=result.head(),
        foot=result.foot(),
        warnings=result.warnings,
    )
