"""No test and no example leaves a figure open or needs a screen; examples write elsewhere."""

import os
import sys

import pytest
from _pytest.doctest import DoctestItem

os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(autouse=True)
def _examples_write_elsewhere(request, tmp_path_factory, monkeypatch):
    if isinstance(request.node, DoctestItem):
        monkeypatch.chdir(tmp_path_factory.mktemp("example"))
