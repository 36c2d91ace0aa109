"""The source as a whole: imports point one way, and files stay short enough to read."""

import ast
from pathlib import Path

import pytest

import dmfroc

PACKAGE = Path(dmfroc.__file__).parent
MOST_LINES = 600
# From the cellar to the street. A room imports only rooms of lower floors.
FLOORS = [
    ["_kit"],
    ["inputs"],
    ["results"],
    ["measures"],
    ["inference"],
    ["multiclass", "curves"],
    ["functional"],
    ["bayes", "counted", "papers"],
    ["analyses"],
    ["plots"],
    ["reports"],
    ["cli"],
    ["extend"],
    ["applications"],
]
# Imports that still point up.
UPWARD: set[tuple[str, str]] = set()


def module_name(path, root):
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(test):
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def statements(node):
    """Yield all nodes below one, also those in functions, but nothing for type checkers only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and is_type_checking(child.test):
            for other in child.orelse:
                yield other
                yield from statements(other)
        else:
            yield child
            yield from statements(child)


def imported(node, modules, package):
    """Yield the modules that an import names, of those there are; not the packages they are in."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in modules)
    elif isinstance(node, ast.ImportFrom):
        parents = package.split(".")[: len(package.split(".")) + 1 - node.level]
        source = ".".join([*(parents if node.level else []), *filter(None, [node.module])])
        for alias in node.names:
            name = f"{source}.{alias.name}"
            if name in modules or source in modules:
                yield name if name in modules else source


def import_graph(root, type_checking=False):
    """Return the modules that each module of a package imports, anywhere in its code."""
    nodes_of = ast.walk if type_checking else statements
    paths = {module_name(path, root): path for path in root.rglob("*.py")}
    graph = {}
    for name, path in paths.items():
        package = name if path.stem == "__init__" else name.rpartition(".")[0]
        nodes = nodes_of(ast.parse(path.read_text(encoding="utf-8")))
        graph[name] = {target for node in nodes for target in imported(node, paths, package)}
    return graph


def cycles(graph):
    """Return the groups of modules that import each other, directly or not."""

    def reached_from(start):
        found, left = set(), [start]
        while left:
            for target in graph[left.pop()] - found:
                found.add(target)
                left.append(target)
        return found

    reached = {name: reached_from(name) for name in graph}
    groups = {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in graph
        if name in reached[name]
    }
    return sorted(sorted(group) for group in groups)


def test_there_are_no_cycles_of_imports():
    graph = import_graph(PACKAGE)
    assert "dmfroc.inputs.predictions" in graph["dmfroc.measures.measure"]
    assert len(graph) == len(list(PACKAGE.rglob("*.py")))
    assert cycles(graph) == []


def test_rooms_use_only_rooms_below():
    floors = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
    arrows = {
        (source.split(".")[1], target.split(".")[1])
        for source, targets in import_graph(PACKAGE, type_checking=True).items()
        for target in targets
        if source.count(".") and target.count(".")
    }
    assert floors.keys() == {
        path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()
    }
    upward = {(a, b) for a, b in arrows if a in floors and a != b and floors[b] >= floors[a]}
    assert upward == UPWARD


def test_nothing_lies_at_the_top_level():
    names = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert names == {"__init__.py", "__init__.pyi", "__main__.py", "py.typed"}


def test_files_are_short():
    lengths = {
        str(path.relative_to(PACKAGE)): len(path.read_text(encoding="utf-8").splitlines())
        for path in PACKAGE.rglob("*.py")
    }
    assert {name: n for name, n in lengths.items() if n > MOST_LINES} == {}


@pytest.mark.parametrize(
    ("of_a", "expected"),
    [
        ("import p.b", [["p.a", "p.b"]]),
        ("from p import b", [["p.a", "p.b"]]),
        ("from . import b", [["p.a", "p.b"]]),
        ("from .b import f", [["p.a", "p.b"]]),
        ("from p.c.d import g", [["p.a", "p.b", "p.c.d"]]),
        ("def f():\n    from p.b import f", [["p.a", "p.b"]]),
        ("from p.a import f", [["p.a"]]),
        ("if TYPE_CHECKING:\n    import p.b\nelse:\n    import os", []),
        ("if TYPE_CHECKING:\n    import os\nelse:\n    import p.b", [["p.a", "p.b"]]),
        ("from p import c", []),
        ("import os.path, p.e", []),
    ],
)
def test_cycles_are_found(tmp_path, of_a, expected):
    """In p, b imports a and p.c.d imports b; e imports nothing."""
    root = tmp_path / "p"
    (root / "c").mkdir(parents=True)
    sources = {
        "a": of_a,
        "b": "from p.a import g",
        "c/d": "from ..b import f",
        "e": "",
        "__init__": "",
        "c/__init__": "",
    }
    for name, source in sources.items():
        (root / f"{name}.py").write_text(source)
    assert cycles(import_graph(root)) == expected
