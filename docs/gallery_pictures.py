"""Pictures drawn when the documentation is built: a directive of Sphinx.

``{drawn} name`` shows code and what it draws; its option ``alt`` says what is seen. The code finds
`dmfroc`, `digits`, `wines`, a new `figure` and, on it, the axes `ax`; the figure of its `display`,
if it makes one, is what is shown. ``{thumbnails}`` shows all pictures of a page in small.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from matplotlib.figure import Figure
from pictures import six_digits
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import dmfroc
from dmfroc.cli.demo import demo_predictions

FOLDER = Path(__file__).resolve().parent / "_build" / "gallery"


@functools.cache
def examples() -> dict[str, Any]:
    """Return the predictions that all pictures share."""
    return {"digits": six_digits(), "wines": demo_predictions(), "dmfroc": dmfroc}


def draw(code: str, path: Path) -> None:
    """Run code and save what it draws."""
    is_large = "overview" in code
    figure = Figure(figsize=(11, 11.6) if is_large else (5.6, 5.2), layout="constrained")
    names = examples() | {"figure": figure}
    if not is_large and "ax=ax" in code:
        names["ax"] = figure.add_subplot()
    exec(code, names)
    shown = names["display"].figure_ if "display" in names else figure
    path.parent.mkdir(parents=True, exist_ok=True)
    shown.savefig(path, dpi=60 if is_large else 90)


class DrawnDirective(SphinxDirective):
    """Show code, and the picture that it draws."""

    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Draw the picture and return it after its code."""
        code = "\n".join(self.content)
        name = self.arguments[0]
        path = FOLDER / f"{name}.png"
        draw(code, path)
        block = nodes.literal_block(code, code, language="python")
        uri = f"/_build/gallery/{name}.png"
        anchor = nodes.target("", "", ids=[name], names=[name])
        self.state.document.note_explicit_target(anchor)
        return [anchor, block, nodes.image(uri=uri, alt=self.options["alt"])]


class ThumbnailsDirective(SphinxDirective):
    """Show all pictures of the page in small, each a link to the large one."""

    def run(self) -> list[nodes.Node]:
        """Return a row of linked pictures, which are drawn further down the page."""
        page = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
        row = nodes.container(classes=["thumbnails"])
        # A picture has the title of the text below it
        pattern = r"^```{drawn} (\S+)(?=.*?^\*\*(.+?)\.?\*\*)"
        for name, title in re.findall(pattern, page, re.MULTILINE | re.DOTALL):
            text = nodes.inline("", title)
            image = nodes.image(uri=f"/_build/gallery/{name}.png", alt="")
            attributes = {"refuri": f"#{name}", "classes": ["thumbnail"]}
            row += nodes.paragraph("", "", nodes.reference("", "", image, text, **attributes))
        return [row]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive("drawn", DrawnDirective)
    app.add_directive("thumbnails", ThumbnailsDirective)
    return {"parallel_read_safe": True}
