"""Change random executable lines, and see whether a test notices.

    python tests/fuzz/mutants.py --n 150 --seed 0 --minutes 120

Of each changed line only the test files that reach it are run, the fastest first, in copies of the
tree, until one fails. Which file reaches which line is found once, by running each test file with
Python's monitoring of lines, and kept in ``build/mutants.json`` until package or tests change.
"""

import argparse
import ast
import collections
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dmfroc"
COPIED = ("dmfroc", "tests", "conftest.py", "pyproject.toml", "benchmarks", "experiments", "docs")
SLOWEST = 600  # seconds of a test file
OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "all": "any", "any": "all", "sorted": "list"}

# Told to pytest by `-p`: lines of the package that a process reaches
RECORDER = """
import atexit, json, os, sys

lines = {}
root = os.environ["MUTANTS_PACKAGE"]
monitoring = sys.monitoring


def reached(code, line):
    if code.co_filename.startswith(root):
        lines.setdefault(os.path.relpath(code.co_filename, root), set()).add(line)
    return monitoring.DISABLE


def write():
    with open(os.environ["MUTANTS_LINES"], "w") as stream:
        json.dump({name: sorted(some) for name, some in lines.items()}, stream)


monitoring.use_tool_id(monitoring.COVERAGE_ID, "mutants")
monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, reached)
monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)
atexit.register(write)
"""


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


def test_files():
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))


def digest():
    """Return what changes when the package or the tests do."""
    paths = sorted([*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")])
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def pytest(folder, files, timeout, **variables):
    """Run tests of a copy; return the status, or None if they took too long."""
    environment = os.environ | variables | {"PYTHONPATH": str(folder), "MPLBACKEND": "Agg"}
    environment.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(tempfile.gettempdir(), "mutants")))
    environment.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    plugin = ["-p", "mutants_recorder"] if "MUTANTS_LINES" in variables else []
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *plugin]
    try:
        done = subprocess.run(
            [*command, *files],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


def copy_to(folder):
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "_build", ".hypothesis")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, folder / name)
    (folder / "mutants_recorder.py").write_text(RECORDER)


def lines_by_test(path, jobs):
    """Return for each test file how long it takes and which lines it reaches."""
    kept = json.loads(path.read_text()) if path.exists() else {}
    if kept.get("digest") == digest():
        return kept["tests"]
    found = {}

    def record(file):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            copy_to(folder)
            started = time.perf_counter()
            status = pytest(
                folder,
                [file],
                SLOWEST,
                MUTANTS_LINES=str(folder / "lines.json"),
                MUTANTS_PACKAGE=str(folder / "dmfroc"),
            )
            seconds = time.perf_counter() - started
            if status in (0, 5) and (folder / "lines.json").exists():
                lines = json.loads((folder / "lines.json").read_text())
                found[file] = {"seconds": seconds, "lines": lines}
            print(f"{file}: {seconds:.0f} s, status {status}", file=sys.stderr, flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(record, test_files()))
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"digest": digest(), "tests": found}))
    return found


# Runs


def room_of(name):
    return name.split("/")[0] if "/" in name else "top"


def chosen(n, seed, only):
    """Return random mutants, of every room at least one."""
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


def verdict(folder, mutant, tests, longest):
    """Return which test file notices a mutant, or why none does."""
    name, line, _, text, first, last = mutant
    reaching = sorted(
        (of["seconds"], test) for test, of in tests.items() if line in of["lines"].get(name, ())
    )
    if not reaching:
        return "no test reaches it"
    target = folder / "dmfroc" / name
    original = target.read_bytes()
    source = changed(original, text, first, last)
    if source is None:
        return "no code"
    deadline = time.monotonic() + longest
    try:
        target.write_bytes(source)
        for seconds, test in reaching:
            left = deadline - time.monotonic()
            if left < seconds:
                return f"unnoticed in {longest / 60:g} minutes"
            if pytest(folder, [test], 60 + 4 * seconds) not in (0, 5):
                return test
    finally:
        target.write_bytes(original)
    return "unnoticed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=150, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=240, help="of all mutants together")
    parser.add_argument("--minutes-each", type=float, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="side by side")
    parser.add_argument("--only", default="", help="files whose path contains this")
    parser.add_argument("--list", action="store_true", help="show the mutants, run nothing")
    options = parser.parse_args()
    mutants = chosen(options.n, options.seed, options.only)
    if options.list:
        for name, line, was, became, *_ in mutants:
            print(f"{name}:{line}: {was[:70]} -> {became[:70]}")
        return
    tests = lines_by_test(ROOT / "build" / "mutants.json", options.jobs)
    ends = time.monotonic() + 60 * options.minutes
    counts = collections.defaultdict(collections.Counter)
    folders = SimpleQueue()

    def judge(mutant):
        name, line, was, became, *_ = mutant
        if time.monotonic() > ends:
            return
        folder = folders.get()
        found = verdict(folder, mutant, tests, 60 * options.minutes_each)
        folders.put(folder)
        if found == "no code":
            return
        is_caught = found.startswith("tests/")
        counts[room_of(name)]["caught" if is_caught else "unnoticed"] += 1
        text = f"caught by {found}" if is_caught else found.upper()
        print(f"{name}:{line}: {was[:60]} -> {became[:60] or 'nothing'}: {text}", flush=True)

    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(options.jobs) as pool:
        for place in range(options.jobs):
            folder = Path(name, str(place))
            folder.mkdir()
            copy_to(folder)
            folders.put(folder)
        list(pool.map(judge, mutants))
    print(f"\n{'room':<16} {'caught':>6} {'unnoticed':>9}")
    for room, of in sorted(counts.items()):
        print(f"{room:<16} {of['caught']:>6} {of['unnoticed']:>9}")
    total = sum(counts.values(), collections.Counter())
    print(f"{'all':<16} {total['caught']:>6} {total['unnoticed']:>9}")


if __name__ == "__main__":
    main()
