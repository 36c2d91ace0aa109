"""Lists of public names where they are asked for on a page: a directive of Sphinx.

The lists are those of `public_names`, which tests read without Sphinx.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from public_names import lines_of
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class PublicDirective(SphinxDirective):
    """List what some modules make public."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Parse the lists where the directive is."""
        container = nodes.container()
        lines: Any = StringList(lines_of(self.arguments[0]), "public")
        self.state.nested_parse(lines, self.content_offset, container)
        return container.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("public", PublicDirective)
    return {"parallel_read_safe": True}
