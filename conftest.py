"""No test and no example leaves a figure open or needs a screen; examples write elsewhere."""

import doctest
import os
import re
import sys

import pytest
from _pytest.doctest import DoctestItem

os.environ.setdefault("MPLBACKEND", "Agg")
collect_ignore_glob = ["dmfroc/*__init__.py"]  # where public functions are a second time
_parse = doctest.DocTestParser.parse


def _parse_page(parser, text, name="<string>"):
    """Parse the examples of a page or a docstring; a fence ends those of its block."""
    return _parse(parser, re.sub(r"^```\S*$", "", text, flags=re.MULTILINE), name)


doctest.DocTestParser.parse = _parse_page


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(autouse=True)
def _examples_write_elsewhere(request, tmp_path_factory, monkeypatch):
    if isinstance(request.node, DoctestItem):
        monkeypatch.chdir(tmp_path_factory.mktemp("example"))
