"""The notebook says what its page says, and the gallery has every display."""

import ast
import importlib.util
import inspect
import os
import re
import shlex
import subprocess
import sys
import textwrap
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import click
import pytest
from matplotlib import pyplot

import dmfroc
from dmfroc.cli.commands import app

PACKAGE = Path(dmfroc.__file__).parent
DOCS = Path(__file__).resolve().parent.parent / "docs"
ROOMS = (
    *("applications", "bayes", "counted", "curves", "functional", "measures", "papers", "plots"),
    "results",
)


def load(name):
    specification = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_notebook_has_the_code_of_its_page():
    page = (DOCS / "getting_started.md").read_text(encoding="utf-8")
    notebook = load("notebook").notebook_of(page)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(code) == page.count("```python")
    found = "\n".join("".join(cell["source"]) for cell in code)
    expected = [line[4:] for line in page.splitlines() if line.startswith((">>> ", "... "))]
    assert found.splitlines() == expected
    compile(found, "getting_started", "exec")
    text = "".join("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown")
    assert ">>>" not in text
    assert "## How good is it?" in text


@pytest.mark.parametrize("page", ["getting_started", "gallery"])
def test_code_fits_its_column(page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```.*?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line[:5] != ":alt:"]
    assert [line for line in lines if len(line) > 80] == []


def test_the_gallery_names_the_displays_of_results():
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    kinds = [getattr(dmfroc.plots, name) for name in dir(dmfroc.plots) if name.endswith("Display")]
    of_results = {kind.__name__ for kind in kinds if not hasattr(kind, "from_estimator")}
    [sentence] = re.findall(r"`from_estimator\(model, X, y\)`\.([^.]*) draw a result", gallery)
    assert set(re.findall(r"\w+Display", sentence)) == of_results


def test_the_gallery_has_every_display():
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    displays = {name for name in dmfroc.plots.__all__ if name.endswith("Display")}
    drawn = set(re.findall(r"plots\.(\w+Display)", gallery)) | {"ComparisonDisplay"}
    assert "dmfroc.compare(y[1::2], scores).plot()" in gallery
    assert displays - drawn == set()


GALLERY = re.findall(
    r"### (.*?)\n\n(?:(?!### ).)*?<!-- picture (\S+): [^`]{20,} -->\n\n```python\n(.*?)```",
    (DOCS / "gallery.md").read_text(encoding="utf-8"),
    re.DOTALL,
)


def test_the_contents_of_the_gallery_are_its_pictures():
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    contents = gallery.partition("<!-- end of thumbnails -->")[0]
    links = re.findall(r"\[([^]]*)\]\(#([^)]*)\)", contents)
    assert [title for title, _ in links] == [title for title, *_ in GALLERY]
    assert len(GALLERY) == gallery.count("<!-- picture ") == gallery.count("```python")
    assert all(slug == re.sub(r"[^\w -]", "", x).lower().replace(" ", "-") for x, slug in links)


@pytest.mark.slow
@pytest.mark.parametrize("code", [code for *_, code in GALLERY], ids=[x for _, x, _ in GALLERY])
def test_each_block_of_the_gallery_runs_alone(code):
    names = {}
    exec(code, names)
    figure = names["display"].figure_ if "display" in names else names["figure"]
    assert any(ax.lines or ax.images for ax in figure.axes)
    pyplot.close("all")


def test_every_page_is_in_the_sidebar_which_is_short():
    pytest.importorskip("sphinx", reason="install the extra docs")
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    lists = re.findall(r"^```{toctree}\n(.*?)^```", index, re.M | re.S)
    first = [line for text in lists for line in text.splitlines() if line and line[0] != ":"]
    behind = load("navigation").BEHIND
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.glob("*.md")}
    pages |= {f"measures/{path.stem}" for path in (DOCS / "measures").glob("*.md")}
    shown = first + [x.removeprefix("../") for pages_of in behind.values() for x in pages_of]
    pages |= {f"api/{path.stem}" for path in (DOCS / "api").glob("*.md")}
    assert pages - {"index"} == set(shown) - {"experiments/index"}
    assert len(shown) == len(set(shown))
    assert len(lists) == 5
    assert len(first) <= 25


def test_every_public_name_has_one_page():
    reference = load("public_names")
    lists = [x for call in reference.calls() for x in reference.public_names(call).items()]
    listed = [getattr(importlib.import_module(module), name) for module, xs in lists for name in xs]
    for page in sorted((DOCS / "api").glob("*.md")):
        for module, names in re.findall(
            r"currentmodule:: (\S+)\n\n.*?\n\n(.*?)\n```", page.read_text("utf-8"), re.DOTALL
        ):
            listed += [getattr(importlib.import_module(module), name) for name in names.split()]
    public = {
        getattr(module, name)
        for module in (dmfroc, *(getattr(dmfroc, name) for name in ROOMS))
        for name in set(getattr(module, "__all__", dir(module))) - {"FACTORIES", "MEASURES"}
    }
    public = {x for x in public if not isinstance(x, ModuleType)}
    assert len(public) > 200
    assert public - set(listed) == set()
    assert len(listed) == len(set(listed))


@pytest.mark.filterwarnings("ignore:.*(hand_till|AUC) is below chance")
def test_the_typed_program_runs(tmp_path, monkeypatch):
    """What type checkers see of the package is what there is."""
    import numpy as np

    monkeypatch.chdir(tmp_path)
    truth = ["a", "b", "c"] * 20
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(size=(60, 3)) for name in ("first", "second")}
    path = tmp_path / "a.csv"
    path.write_text("y,a,b\na,0.9,0.1\nb,0.2,0.8\n")
    load("../tests/typed_program").main(truth, scores)
    assert (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_all_code_of_the_readme_runs_in_its_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    names = {}
    for code in re.findall(r"```python\n(.*?)```", readme, re.S):
        exec(compile(code, "README", "exec"), names)
    commands = re.findall(r"^\$ dmfroc (.*)$", readme, re.M)
    assert len(commands) == 4
    for command in commands:
        done = subprocess.run([sys.executable, "-m", "dmfroc", *command.split()], check=False)
        assert done.returncode == 0, command
    assert {"report.html", "roc.png", "dmfroc-overview.png"} <= set(os.listdir())


def printed_lines():
    """Return the lines for a shell on all pages, with their pages."""
    pages = [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]
    texts = {page: re.sub(r"\\\n", "", page.read_text(encoding="utf-8")) for page in pages}
    return [(x, line) for x, text in texts.items() for line in re.findall(r"^\$ (.*)", text, re.M)]


def test_lines_for_a_shell_have_commands_and_options_that_there_are():
    lines = [line for _, line in printed_lines() if line.startswith("dmfroc ")]
    assert len(lines) > 15
    for line in lines:
        name, *words = shlex.split(line, comments=True)[1:]
        with click.Context(app, **app.context_settings) as parent:  # commands remember its options
            assert app.commands[name].make_context(name, words, parent=parent)


def test_what_is_printed_is_installed_from_a_clone():
    texts = [line for _, line in printed_lines()]
    texts += [x.read_text(encoding="utf-8") for x in [DOCS / "gates.md", *PACKAGE.rglob("*.py")]]
    texts.append(files("dmfroc._kit").joinpath("habits.toml").read_text(encoding="utf-8"))
    found = [x for text in texts for x in re.findall(r"pip install (?:-\S+ )*'?([^\s'\"]+)", text)]
    assert {"./dmfroc", ".", ".[dask]"} <= set(found)
    assert {x for x in found if not x.startswith((".", "./"))} <= {"statsmodels"}
    assert not re.search("PATH/OF|git checkout v", "\n".join(texts))


def recipes():
    """Return the files and the lines of each workflow of the page on gates."""
    page = (DOCS / "gates.md").read_text(encoding="utf-8")
    for part in re.split(r"^### \d\. ", page, flags=re.M)[1:]:
        title, blocks = (
            part.split("\n", 1)[0],
            re.findall(r"`([^`\s]+)`[^`]*:\n\n```\w+\n(.*?)```", part, re.S),
        )
        yaml = [text for name, text in blocks if name.endswith(".yml")]
        lines = [
            line
            for text in yaml
            for line in re.findall(r"^ *- (?:run: )?(p.*|dmfroc.*)", text, re.M)
        ]
        lines += [line for text in yaml for line in re.findall(r"^ +(dmfroc gate.*)", text, re.M)]
        lines += [
            line for name, text in blocks if name.endswith(".sh") for line in text.splitlines()
        ]
        yield title, {name: text for name, text in blocks if name.endswith(".toml")}, lines


PREDICT = """
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
y = np.arange(600) % 3
for name, effect in (("new", 2.5), ("old", 2.4)):
    s = np.exp(rng.normal(size=(600, 3)) + effect * np.eye(3)[y])
    frame = pd.DataFrame(s / s.sum(axis=1, keepdims=True), columns=list("abc"))
    rows = np.arange(600) // 3
    frame.assign(species=np.array(list("abc"))[y], site=rows % 2, patient=rows // 5).to_csv(
        f"{name}.csv", index=False
    )
    answers = pd.DataFrame(rng.integers(2, size=(200, 3)), columns=["try_1", "try_2", "try_3"])
    answers.assign(question=range(200)).to_csv(f"{name}_answers.csv", index=False)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("title", "rules", "lines"), [*recipes()], ids=lambda x: str(x)[:9])
def test_recipes_run_as_they_are_printed(title, rules, lines, tmp_path):
    """In a repository with a clone, the scripts of its owner, and `dmfroc` as installed from it."""
    (tmp_path / "dmfroc").symlink_to(DOCS.parent)
    (tmp_path / "predict.py").write_text(PREDICT)
    for name, text in rules.items():
        (tmp_path / name).write_text(text)
    command = tmp_path / "bin" / "dmfroc"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m dmfroc "$@"\n')
    command.chmod(0o755)
    paths = os.pathsep.join([str(command.parent), str(Path(sys.executable).parent), os.defpath])
    own = {"PATH": paths, "PYTHONPATH": str(DOCS.parent), "GITHUB_STEP_SUMMARY": "summary.md"}
    assert [x for x in lines if x.startswith("dmfroc gate")]
    for line in lines if "answers" not in str(rules) else ["python predict.py", *lines]:
        if installed := re.fullmatch(r"python -m pip install (\S+)", line):
            assert (tmp_path / installed[1] / "pyproject.toml").is_file()
            continue
        done = subprocess.run(
            line, shell=True, cwd=tmp_path, env=os.environ | own, capture_output=True, text=True
        )
        is_gate = line.startswith("dmfroc gate")
        assert done.returncode in ((0, 1, 3) if is_gate else (0,)), f"{line}: {done.stderr}"


def test_tests_that_pages_name_are_there():
    pages = [*(DOCS).rglob("*.md"), DOCS.parent / "SECURITY.md"]
    named = {path for page in pages for path in re.findall(r"`(tests/[\w/.]+)`", page.read_text())}
    assert len(named) > 20
    assert [path for path in sorted(named) if not (DOCS.parent / path).exists()] == []


def test_the_first_lines_of_the_readme_print_what_they_show(capsys):
    readme, names = (DOCS.parent / "README.md").read_text(encoding="utf-8"), {}
    parts = re.findall(r"```python\n((?:(?!```).)*)```\n\n```text\n(.*?)```", readme, re.S)
    for code, shown in parts:
        exec(compile(code, "README", "exec"), names)
        assert capsys.readouterr().out == shown
    assert [len([x for x in code.splitlines() if x]) for code, _ in parts] == [4, 7, 4]


def test_the_record_of_validation_has_every_promise():
    record = (DOCS / "validation.md").read_text(encoding="utf-8")
    promises = load("../tests/validate").promises()
    assert len(promises) > 40
    missing = [x.text for x in promises if f"| {x.number}. {x.subject} |" not in record]
    assert missing == []
    for passed, tests in re.findall(r": (\d+) of (\d+)", record):
        assert passed == tests


def dotted(node):
    """Return the name ``a.b.c`` of an attribute, if it is one."""
    if isinstance(node, ast.Name):
        return node.id
    parent = dotted(node.value) if isinstance(node, ast.Attribute) else None
    return f"{parent}.{node.attr}" if parent else None


def names_of_package(code):
    """Return what code imports from the package, and the attributes of it that it uses."""
    for node in ast.walk(ast.parse(textwrap.dedent(code))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dmfroc"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and (dotted(node) or "").startswith("dmfroc."):
            yield dotted(node)


def test_names_in_the_code_of_pages_are_there():
    found = set()
    for page in [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]:
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
            prompted = re.findall(r"^(?:>>>|\.\.\.) ?(.*)", block, re.M)
            found |= {(page.name, x) for x in names_of_package("\n".join(prompted) or block)}
    assert len(found) > 100
    for page, name in found:
        value = dmfroc
        for part in name.split(".")[1:]:
            value = getattr(value, part, None) if hasattr(value, part) else None
            assert value is not None, f"{page} has {name}"


@pytest.fixture
def docstrings(monkeypatch):
    pytest.importorskip("numpydoc", reason="install the extra docs")
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module("docstrings")


def test_every_measure_has_the_same_headings_and_something_below_each(docstrings):
    expected = ["What it is", "Range and chance", "When", "Formula", "Options", "Example", "Source"]
    makers = {docstrings.factory_of(x).__name__ for x in dmfroc.measures.MEASURES.values()}
    assert makers == set(docstrings.definitions())
    for name in makers:
        sections = docstrings.sections_of(name)
        assert list(sections) == expected
        assert [x for x, lines in sections.items() if len("".join(lines).strip()) < 3] == [], name
        options = inspect.signature(dmfroc.measures.FACTORIES[name]).parameters
        assert [x for x in options if f"``{x}`` : " not in "\n".join(sections["Options"])] == []


def test_parameters_are_explained_in_place(docstrings):
    for function in (dmfroc.evaluate, dmfroc.estimate, dmfroc.compare):
        page = "\n".join(docstrings.explained(function, function.__doc__.splitlines()))
        for name in inspect.signature(function).parameters.keys() - {"surplus", "others"}:
            explained = re.search(rf"^{name}( : .*)?\n((?:    .*\n)+)", page, re.M)
            assert len(explained[2]) > 10, name
            assert "As for `" not in explained[2]
