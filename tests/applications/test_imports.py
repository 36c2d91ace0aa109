"""Applications are built from public names, and nothing in the core is built from them."""

import ast
import re
from pathlib import Path

import dmfroc
from dmfroc import extend

PACKAGE = Path(dmfroc.__file__).parent
APPLICATIONS = PACKAGE / "applications"


def imports(path):
    """Yield the module and the names of each import of dmfroc in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((x.name, []) for x in node.names if x.name.split(".")[0] == "dmfroc")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            if node.module.split(".")[0] == "dmfroc":
                yield node.module, [x.name for x in node.names]


def public_names(module):
    """Return what the stub of a package lists."""
    if module == "dmfroc.measures":  # which lists measures itself
        return set(dir(dmfroc.measures))
    stub = PACKAGE.joinpath(*module.split(".")[1:], "__init__.pyi")
    if not stub.exists():
        return set()
    nodes = ast.parse(stub.read_text(encoding="utf-8")).body
    listed = {x.asname for node in nodes if isinstance(node, ast.ImportFrom) for x in node.names}
    return listed | {"__version__"} if module == "dmfroc" else listed


def test_applications_import_public_names_only():
    found = [(path, *x) for path in APPLICATIONS.rglob("*.py") for x in imports(path)]
    assert len(found) > 50
    stub = "dmfroc._kit.stub"  # of the list of names itself
    others = [x for x in found if not x[1].startswith("dmfroc.applications") and x[1] != stub]
    private = [
        f"{path.relative_to(PACKAGE)}: {module} has no public {sorted(names)}"
        for path, module, named in others
        if (names := set(named or ["*"]) - public_names(module))
    ]
    assert private == []


def test_nothing_else_imports_applications():
    core = [path for path in PACKAGE.rglob("*.py") if APPLICATIONS not in path.parents]
    found = [
        (path, module)
        for path in core
        for module, names in imports(path)
        if "applications" in [*module.split(".")[1:2], *names]
        and module != "dmfroc.cli.applications"
    ]
    assert len(core) > 100
    assert found == []


def test_every_name_to_build_on_is_used_by_an_application():
    used = {
        name
        for path in APPLICATIONS.rglob("*.py")
        for module, names in imports(path)
        if module == "dmfroc.extend"
        for name in names
    }
    assert set(extend.__all__) - used <= {"influences", "warnings_of"}


def test_the_page_names_all_that_there_is_to_build_on():
    page = (PACKAGE.parent / "docs" / "applications.md").read_text(encoding="utf-8")
    listed = re.findall(r"`(\w+)`", page[page.index("| what | names |") :])
    assert sorted(listed) == extend.__all__
