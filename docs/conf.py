"""Sphinx configuration. Formulas become MathML, so that no page needs a script or a network."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

project = "dmfroc"
author = "The dmfroc developers"
copyright = author
release = version = installed_version("dmfroc")

sys.path.insert(0, str(Path(__file__).parent))
from notebook import write_notebook  # noqa: E402
from public_names import PAGES, write_all  # noqa: E402

extensions = [
    *("myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"),
    *("sphinx.ext.viewcode", "sphinx_copybutton", "sphinx_design"),
    "docstrings",
    "gallery_pictures",
    "measure_tables",
    "navigation",
    "option_table",
    "paper_table",
    "public_directive",
    "stale_pages",
]
exclude_patterns = ["_build", "paper"]
templates_path = ["_templates"]
default_role = "autolink"  # of docstrings: a link where the name is one

# Pages that are notebooks too
EXTRA = Path(__file__).parent / "_build" / "extra"
write_notebook(Path(__file__).parent / "getting_started.md", EXTRA / "getting_started.ipynb")
html_extra_path = ["_build/extra"]

# What the reference lists, where autosummary looks for it
write_all(Path(__file__).parent / "_build" / "public.rst")
autosummary_generate = ["_build/public.rst", *(f"api/{page.name}" for page in PAGES.glob("*.md"))]

# Copied code has no prompts and no output
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"dmfroc {release}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["pages.css"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"
numpydoc_show_class_members = False


def visit_inline_formula(translator: Any, node: nodes.math) -> None:
    """Write an inline formula."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_displayed_formula(translator: Any, node: nodes.math_block) -> None:
    """Write a displayed formula."""
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div style="overflow-x: auto">{formula}</div>')
    raise nodes.SkipNode


def skip_generated(
    app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what scikit-learn gives every estimator for its metadata routing."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def setup(app: Sphinx) -> None:
    """Register the writer of formulas, and what not to document."""
    app.connect("autodoc-skip-member", skip_generated)
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(visit_inline_formula, None),
        block_renderers=(visit_displayed_formula, None),
    )
