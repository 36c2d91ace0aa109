"""Pictures drawn when the documentation is built.

A page has a comment, ``<!-- picture NAME: what is seen -->``, before code that makes a ``display``
or a ``figure``, and a list of its pictures between comments. The repository shows both as they are.
The documentation shows each picture below its code, and all of them in small instead of the list.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).resolve().parent / "_build" / "gallery"
_PICTURE = re.compile(r"<!-- picture (\S+): (.*?) -->\n\n```python\n(.*?)```", re.DOTALL)
_LIST = re.compile(r"<!-- thumbnails -->.*<!-- end of thumbnails -->", re.DOTALL)


def draw(code: str, path: Path) -> None:
    """Run code by itself and save what it draws."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    names: dict[str, Any] = {}
    exec(code, names)
    shown = names["display"].figure_ if "display" in names else names["figure"]
    path.parent.mkdir(parents=True, exist_ok=True)
    shown.savefig(path, dpi=60 if "overview" in code else 80)
    pyplot.close("all")


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
        return [block, nodes.image(uri=uri, alt=self.options["alt"])]


class ThumbnailsDirective(SphinxDirective):
    """Show all pictures of the page in small, each a link to the large one."""

    def run(self) -> list[nodes.Node]:
        """Return a row of linked pictures, which are drawn further down the page."""
        page = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
        row = nodes.container(classes=["thumbnails"])
        pattern = r"^### (.*?)$(?:(?!^### ).)*?^<!-- picture (\S+):"
        for title, name in re.findall(pattern, page, re.MULTILINE | re.DOTALL):
            text = nodes.inline("", title)
            image = nodes.image(uri=f"/_build/gallery/{name}.png", alt="")
            attributes = {"refuri": f"#{nodes.make_id(title)}", "classes": ["thumbnail"]}
            row += nodes.paragraph("", "", nodes.reference("", "", image, text, **attributes))
        return [row]


def with_directives(app: Sphinx, name: str, source: list[str]) -> None:
    """Turn the comments of a page into directives."""
    page = _PICTURE.sub(r"```{drawn} \1\n:alt: \2\n\n\3```", source[0])
    source[0] = _LIST.sub("```{thumbnails}\n```", page)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    app.connect("source-read", with_directives)
    app.add_directive("drawn", DrawnDirective)
    app.add_directive("thumbnails", ThumbnailsDirective)
    return {"parallel_read_safe": True}
