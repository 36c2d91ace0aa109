"""Change random executable lines, and see whether a test notices.

    python tests/fuzz/mutants.py --n 150 --seed 0 --minutes 120

All tests and examples run once, and the lines that each reaches are noted; ``build/mutants.json``
keeps that until package or tests change. Each mutant is then judged in a copy of the tree by the
tests that reach the line, or its file if the line runs while the module is imported, until one
fails: those of the same room first, then the examples, then the others, fast ones before slow ones.
"""

import argparse
import ast
import collections
import hashlib
import importlib
import inspect
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dmfroc"
CHECKED = "--jaxtyping-packages=dmfroc,beartype.beartype"  # as `make doctest` does
EXAMPLES = ("--doctest-modules", "--doctest-glob=*.md", CHECKED)
HEAVY = ("jax", "matplotlib.pyplot", "numpyro", "pandas", "scipy.stats", "sklearn.linear_model")
OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "all": "any", "any": "all", "sorted": "list"}


# Mutants


def variants(node):
    """Yield what a node may become, as source; an empty text stands for nothing at all."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
        yield ast.Compare(node.left, [OTHER[type(node.ops[0])](), *node.ops[1:]], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in OTHER:
        yield ast.BinOp(node.left, OTHER[type(node.op)](), node.right)
        if isinstance(node.op, ast.Sub | ast.Div | ast.Pow | ast.MatMult):
            yield ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(OTHER[type(node.op)](), node.values)
        yield node.values[0]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield ast.Constant(not node.value)
        elif isinstance(node.value, int | float):
            yield ast.Constant(node.value + 1)
            yield ast.Constant(2 * node.value + (node.value == 0))
        elif isinstance(node.value, str) and node.value.isidentifier():
            yield ast.Constant(f"{node.value}s")
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield node.value
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in NAMES:
            other = ast.Name(NAMES[node.func.id])
            yield ast.Call(other, node.args, [] if other.id == "list" else node.keywords)
        for place in range(len(node.keywords)):
            rest = node.keywords[:place] + node.keywords[place + 1 :]
            yield ast.Call(node.func, node.args, rest)
        if len(node.args) > 1 and not any(isinstance(x, ast.Starred) for x in node.args[:2]):
            yield ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)
    elif isinstance(node, ast.Raise | ast.Continue | ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield ast.Pass()
    elif isinstance(node, ast.Return) and node.value is not None:
        yield ast.Return(ast.Constant(None))


def executable(tree):
    """Yield the nodes that run: no annotations, imports, docstrings, or parts of f-strings."""
    if isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.unparse(tree.test):
        return
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "type_params", "decorator_list"):
            continue
        for node in value if isinstance(value, list) else [value]:
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not isinstance(node, ast.AST) or is_text:
                continue
            if isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr | ast.TypeAlias):
                continue
            if hasattr(node, "lineno"):
                yield node
            yield from executable(node)


def mutants_of(file):
    """Yield the changes of a file: line, what was there, what is to be, and where it begins, ends.

    Places are in bytes.
    """
    data = file.read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in executable(ast.parse(data)):
        first = starts[node.lineno - 1] + node.col_offset
        last = starts[node.end_lineno - 1] + node.end_col_offset
        was = ast.unparse(node)
        for other in variants(node):
            text = ast.unparse(ast.fix_missing_locations(other))
            if text != was:
                text = f"({text})" if isinstance(other, ast.expr) else text
                yield node.lineno, " ".join(was.split()), text, first, last


def changed(data, text, first, last):
    """Return the changed source, or None if it is none."""
    source = data[:first] + text.encode() + data[last:]
    try:
        ast.parse(source)
    except SyntaxError:  # such as in a pattern
        return None
    return source


# Which tests reach which lines


class Notes:
    """Write down of each test that passes how long it takes and which lines it reaches."""

    def __init__(self, folder, path):
        self.root = os.path.join(folder, "dmfroc", "")
        self.path = path
        self.lines = collections.defaultdict(set)

    def pytest_sessionstart(self):
        monitoring, line = sys.monitoring, sys.monitoring.events.LINE
        monitoring.use_tool_id(monitoring.COVERAGE_ID, "mutants")
        monitoring.register_callback(monitoring.COVERAGE_ID, line, self.reached)
        monitoring.set_events(monitoring.COVERAGE_ID, line)

    def reached(self, code, line):
        # What runs while a module is imported belongs to no test.
        if code.co_filename.startswith(self.root) and code.co_flags & inspect.CO_OPTIMIZED:
            self.lines[code.co_filename.removeprefix(self.root)].add(line)
        return sys.monitoring.DISABLE

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self.lines.clear()
        sys.monitoring.restart_events()
        n_failed, started = item.session.testsfailed, time.perf_counter()
        result = yield
        seconds = time.perf_counter() - started
        if item.session.testsfailed == n_failed:
            lines = {name: sorted(some) for name, some in self.lines.items()}
            with self.path.open("a") as stream:
                print(json.dumps([item.nodeid, seconds, lines]), file=stream)
        return result


class Order:
    """Run certain tests in a certain order."""

    def __init__(self, tests):
        self.place = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid in self.place]
        items.sort(key=lambda item: self.place[item.nodeid])


def tracked():
    """Return the files of the tree, and what changes when one of package or tests does."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = sorted(name for name in found.split("\0") if (ROOT / name).is_file())
    content = [(ROOT / name).read_bytes() for name in files if name.startswith(("dmfroc", "tests"))]
    return files, hashlib.sha256(b"".join(content)).hexdigest()


def copy_to(folder):
    for name in tracked()[0]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((ROOT / name).read_bytes())


def pytest_in(folder, arguments, plugin):
    os.chdir(folder)
    sys.path[:0] = [str(folder), str(folder / "tests")]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os._exit(pytest.main(["-q", "-p", "no:cacheprovider", "-m", "", *arguments], plugins=[plugin]))


def run(folder, arguments, plugin, timeout=None):
    """Run pytest in a copy; return its status, or None if it took too long."""
    # A copy of this process has the heavy libraries already.
    process = multiprocessing.get_context("fork").Process(
        target=pytest_in, args=(folder, arguments, plugin)
    )
    process.start()
    process.join(timeout)
    if process.exitcode is None:
        process.kill()
        process.join()
        return None
    return process.exitcode


def notes(folder):
    """Return of each test its name, how long it takes, and the lines it reaches in each file."""
    path = ROOT / "build" / "mutants.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    files, digest = tracked()
    if kept.get("digest") != digest:
        lines = folder / "notes"
        pages = [name for name in files if name.endswith(".md")]
        run(folder, ["tests"], Notes(folder, lines))
        run(folder, [*EXAMPLES, "dmfroc", *pages], Notes(folder, lines))
        tests = [json.loads(line) for line in lines.read_text().splitlines()]
        kept = {"digest": digest, "tests": tests}
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(kept))
    return kept["tests"]


# Runs


def room_of(name):
    return name.split("/")[0] if "/" in name else "top"


def chosen(n, seed, only):
    """Return random mutants, first one of each room."""
    generator = random.Random(seed)
    rooms = collections.defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        name = str(file.relative_to(PACKAGE))
        if only in name:
            rooms[room_of(name)] += [(name, *mutant) for mutant in mutants_of(file)]
    for some in rooms.values():
        generator.shuffle(some)
    first = [some.pop() for some in rooms.values() if some]
    rest = [mutant for some in rooms.values() for mutant in some]
    generator.shuffle(rest)
    return (first + rest)[:n]


def within(seconds, tests):
    """Return the first tests that together take so long."""
    chosen, total = [], 0.0
    for test, needed in tests.items():
        total += needed
        if total > seconds:
            break
        chosen.append(test)
    return chosen


def tests_of(notes, name, line):
    """Return the tests that reach a line, or its file if it runs at import, by kind; fast first."""
    kinds = {"its room": {}, "the examples": {}, "others": {}}
    own = f"tests/{room_of(name).strip('_')}/"
    of_file = [(test, seconds, lines[name]) for test, seconds, lines in notes if name in lines]
    of_line = [of_test for of_test in of_file if line in of_test[2]]
    for test, seconds, _ in sorted(of_line or of_file, key=lambda of_test: of_test[1]):
        is_test = test.startswith("tests/")
        kind = "its room" if test.startswith(own) else "others" if is_test else "the examples"
        kinds[kind][test] = seconds
    return kinds


def verdict(folder, mutant, notes, seconds):
    """Return which kind of tests notices a mutant, or that none does."""
    name, line, _, text, first, last = mutant
    target = folder / "dmfroc" / name
    original = target.read_bytes()
    source = changed(original, text, first, last)
    if source is None:
        return "no code"
    n_run = 0
    try:
        target.write_bytes(source)
        for kind, some in tests_of(notes, name, line).items():
            tests = within(seconds, some)
            files = sorted({test.partition("::")[0] for test in tests})
            options = ["-x", *(EXAMPLES if kind == "the examples" else ())]
            if files:
                status = run(folder, [*options, *files], Order(tests), 120 + 4 * seconds)
                if status not in (0, 5):
                    return f"caught by {kind}"
            n_run += len(tests)
    finally:
        target.write_bytes(original)
    return f"unnoticed by {n_run} tests"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=150, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=240, help="of all mutants together")
    parser.add_argument("--seconds", type=float, default=60, help="of each kind of tests")
    parser.add_argument("--only", default="", help="files whose path contains this")
    parser.add_argument("--list", action="store_true", help="show the mutants, run nothing")
    options = parser.parse_args()
    mutants = chosen(options.n, options.seed, options.only)
    if options.list:
        for name, line, was, became, *_ in mutants:
            print(f"{name}:{line}: {was[:70]} -> {became[:70]}")
        return
    # Before anything imports NumPy and JAX
    os.environ |= {"MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1"}
    compiled = str(Path(tempfile.gettempdir(), "mutants"))
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", compiled)
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    for module in HEAVY:
        importlib.import_module(module)
    counts = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_to(folder)
        tests = notes(folder)
        ends = time.monotonic() + 60 * options.minutes
        for mutant in mutants:
            if time.monotonic() > ends:
                break
            name, line, was, became, *_ = mutant
            found = verdict(folder, mutant, tests, options.seconds)
            if found != "no code":
                is_caught = found.startswith("caught")
                counts[room_of(name)]["caught" if is_caught else "unnoticed"] += 1
                text = found if is_caught else found.upper()
                became = became[:60] or "nothing"
                print(f"{name}:{line}: {was[:60]} -> {became}: {text}", flush=True)
    print(f"\n{'room':<16} {'caught':>6} {'unnoticed':>9}")
    for room, of in sorted(counts.items()):
        print(f"{room:<16} {of['caught']:>6} {of['unnoticed']:>9}")
    total = sum(counts.values(), collections.Counter())
    print(f"{'all':<16} {total['caught']:>6} {total['unnoticed']:>9}")


if __name__ == "__main__":
    main()
