"""Files appear whole or not at all, whatever happens while they are written."""

import ast
import errno
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dmfroc
from dmfroc._kit.files import remove_strays, written
from dmfroc.counted import Accumulator

KILLED = """
import os, signal, sys
from dmfroc._kit.files import written
if sys.argv[2] == "rename":
    os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with written(sys.argv[1], "path") as stream:
    stream.write(b"new")
    stream.flush()
    if sys.argv[2] == "write":
        os.kill(os.getpid(), signal.SIGKILL)
"""


def contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_mode_and_link_are_kept(tmp_path):
    secret, link = tmp_path / "secret", tmp_path / "link"
    secret.write_bytes(b"old")
    secret.chmod(0o600)
    link.symlink_to(secret)
    with written(link, "path") as stream:
        stream.write(b"new")
        [partial] = tmp_path.glob(".dmfroc-*.partial")
        assert stat.S_IMODE(partial.stat().st_mode) == 0o600
        assert secret.read_bytes() == b"old"
    assert link.is_symlink()
    assert secret.read_bytes() == b"new"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    with written(tmp_path / "fresh", "path") as stream:
        stream.write(b"x")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o666 & ~umask


def test_devices_and_pipes_are_not_replaced(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "x.png"
    os.mkfifo(pipe)
    link.symlink_to("/dev/null")
    for path in (pipe, link):
        with pytest.raises(ValueError, match="no regular file"), written(path, "path"):
            pass
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("call", ["fsync", "replace", "write"])
def test_a_full_disk_leaves_the_old_file_alone(tmp_path, monkeypatch, call):
    target = tmp_path / "file"
    target.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if call != "write":
        monkeypatch.setattr(f"os.{call}", full)

    def write(opened):
        with opened as stream:
            stream.write(b"new")
            if call == "write":
                full()

    with pytest.raises(ValueError, match=f"path {target} cannot be written: No space left"):
        write(written(target, "path"))
    assert contents(tmp_path) == {"file": b"old"}


@pytest.mark.parametrize("moment", ["write", "rename"])
def test_a_killed_process_leaves_the_old_file_alone(tmp_path, moment):
    target = tmp_path / "file"
    target.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", KILLED, target, moment], check=False)
    assert done.returncode == -9
    assert target.read_bytes() == b"old"
    assert len(contents(tmp_path)) == 2
    mine = next(name for name in contents(tmp_path) if name.endswith(".partial"))
    living = tmp_path / mine.replace(mine.split("-")[2], str(os.getpid()))
    living.write_bytes(b"being written")
    (tmp_path / ".dmfroc-notes.partial").write_bytes(b"another's")
    remove_strays(tmp_path)
    assert set(contents(tmp_path)) == {"file", living.name, ".dmfroc-notes.partial"}


def test_a_picture_on_a_full_disk_is_not_there(tmp_path, monkeypatch):
    from dmfroc.cli.outputs import open_picture

    target = tmp_path / "x.png"
    target.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    message = re.escape(f"--plot {target} cannot be written: No space left")
    with pytest.raises(ValueError, match=message), open_picture(target) as picture:
        picture.stream.write(b"new")
    assert contents(tmp_path) == {"x.png": b"old"}


def entry_of(path):
    """Return what an entry of a directory is; when it was read last is of no account."""
    if not os.path.lexists(path):
        return None
    found = path.lstat()
    return found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no number"),
        OSError(),
        ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
        FileNotFoundError(errno.ENOENT, "no such file", "in.csv"),
        OSError(errno.ENOSPC, "No space left", "elsewhere"),
    ],
)
def test_errors_of_the_block_are_its_own(tmp_path, error):
    target = tmp_path / "file"
    target.write_bytes(b"old")

    def fail(opened):
        with opened as stream:
            stream.write(b"new")
            raise error

    with pytest.raises(type(error)) as caught:
        fail(written(target, "path"))
    assert caught.value is error
    assert contents(tmp_path) == {"file": b"old"}


# No file can be larger than 2,000 bytes, as on a disk that is full
FULL = """
import resource, sys
from pathlib import Path
import numpy as np
from matplotlib.figure import Figure
from dmfroc.counted import Accumulator
from dmfroc.cli.outputs import open_picture
figure = Figure()
figure.add_subplot().plot(np.random.default_rng(0).random(2000))
accumulator = Accumulator([0, 1], cuts=np.linspace(0, 1, 500))
accumulator.update(np.arange(60) % 2, np.random.default_rng(0).random((60, 2)))
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
for name in ("png", "jpg", "webp", "tif", "pdf", "svg", "eps", "npz"):
    path = Path(sys.argv[1], f"x.{name}")
    try:
        if name == "npz":
            accumulator.save(path)
        else:
            with open_picture(path) as picture:
                picture.save(figure)
    except ValueError as error:
        print(name, error)
"""


@pytest.mark.slow
def test_no_format_hides_that_the_disk_is_full(tmp_path):
    """Pillow wrote a part of a JPEG file without an error."""
    run = [sys.executable, "-c", FULL, str(tmp_path)]
    found = subprocess.run(run, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split(maxsplit=1)[0] for line in found] == [
        *("png", "jpg", "webp", "tif", "pdf", "svg", "eps", "npz"),
    ]
    assert all(line.endswith("cannot be written: File too large") for line in found)
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("process", [0, 1, 2**31, 10**30])
def test_no_stray_name_stops_a_write(tmp_path, process):
    """A file that anybody has named so, a pipe, a directory or a link to one's own."""
    with written(tmp_path / "x", "path"):
        [partial] = tmp_path.glob("*.partial")
    name, host, *_ = partial.name.split("-")
    stray = tmp_path / f"{name}-{host}-{process}-{'0' * 16}.partial"
    stray.write_bytes(b"half")
    (tmp_path / "notes").write_bytes(b"mine")
    for digit, make in enumerate((os.mkfifo, os.mkdir, lambda path: os.symlink("notes", path))):
        make(tmp_path / f"{name}-{host}-{10**9}-{'1' * 15}{digit}.partial")
    with written(tmp_path / "x", "path") as stream:
        stream.write(b"new")
    assert (tmp_path / "x").read_bytes() == b"new"
    assert (tmp_path / "notes").read_bytes() == b"mine"
    assert stray.exists() == (process < 2)


def test_the_files_of_other_containers_are_left_alone(tmp_path, monkeypatch):
    """Their processes have numbers that mean nothing here, and perhaps the same host name."""

    def unknown(*_):
        raise ProcessLookupError

    monkeypatch.setattr("os.kill", unknown)
    with written(tmp_path / "x", "path") as stream:
        stream.write(b"new")
        remove_strays(tmp_path)
        with written(tmp_path / "y", "path") as other:
            other.write(b"other")
    assert contents(tmp_path) == {"x": b"new", "y": b"other"}


def test_a_file_that_is_taken_for_a_stray_before_it_is_locked(tmp_path, monkeypatch):
    import dmfroc._kit.files as module

    lock, calls = module._lock, []

    def late(descriptor, **options):
        if not calls:
            calls.append(next(tmp_path.glob("*.partial")).unlink())
        lock(descriptor, **options)

    monkeypatch.setattr(module, "_lock", late)
    with written(tmp_path / "x", "path") as stream:
        stream.write(b"new")
    assert contents(tmp_path) == {"x": b"new"}


# Every writer of the package


def accumulated(n=60):
    accumulator = Accumulator([0, 1], cuts=np.linspace(0, 1, 50))
    generator = np.random.default_rng(n)
    y = np.arange(n) % 2
    accumulator.update(y, generator.random((n, 2)))
    return accumulator


def save_state(path):
    accumulated().save(path)


def scan_with_checkpoint(path):
    scores = np.random.default_rng(0).random((60, 2))
    data = path.parent.parent / "scores.parquet"
    pd.DataFrame(scores, columns=["0", "1"]).assign(y=np.arange(60) % 2).to_parquet(data)
    dmfroc.estimate("hand_till", dmfroc.scan(data, label="y", checkpoint=path.parent))


def write_report(path):
    y = np.arange(60) % 2
    dmfroc.evaluate(y, np.random.default_rng(0).random((60, 2)), measures=["accuracy"]).to_html(
        path
    )


def draw(path):
    from dmfroc.cli.outputs import open_picture

    with open_picture(path) as picture:
        picture.stream.write(b"\x89PNG")


WRITERS = {
    "state.npz": save_state,
    "counts.npz": scan_with_checkpoint,
    "report.html": write_report,
    "curve.png": draw,
}
# A file that is there already is read, not written, by a checkpoint
OVERWRITERS = ["state.npz", "report.html", "curve.png"]


@pytest.mark.parametrize("name", WRITERS)
def test_writers_follow_links_and_remove_strays(tmp_path, name):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target, link = elsewhere / "target", tmp_path / "d" / name
    link.parent.mkdir()
    link.symlink_to(target)
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], stdout=-1)
    with written(elsewhere / "x", "path"):
        [partial] = elsewhere.glob("*.partial")
    stray = partial.name.replace(str(os.getpid()), dead.stdout.decode().strip())
    (elsewhere / stray).write_bytes(b"half")
    WRITERS[name](link)
    assert link.is_symlink()
    assert target.stat().st_size > 0
    assert set(contents(elsewhere)) == {"target", "x"}


@pytest.mark.parametrize("name", OVERWRITERS)
def test_writers_keep_the_mode(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"old")
    path.chmod(0o600)
    WRITERS[name](path)
    assert path.read_bytes() != b"old"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", OVERWRITERS)
@pytest.mark.parametrize("kind", ["device", "pipe", "socket", "directory", "no directory", "loop"])
def test_writers_refuse_what_is_no_file(tmp_path, name, kind):
    path = tmp_path / name
    if kind == "device":
        path.symlink_to("/dev/null")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        import socket

        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    elif kind == "directory":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    else:
        path = tmp_path / "missing" / name
    before = entry_of(path)
    with pytest.raises(ValueError, match="cannot be written"):
        WRITERS[name](path)
    assert entry_of(path) == before
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_names_that_no_file_can_have(tmp_path):
    with pytest.raises(ValueError, match=r"path .* cannot be written"):
        accumulated().save(tmp_path / "a\0b")


def test_threads_that_save_one_file_do_not_tear_it(tmp_path):
    path = tmp_path / "state.npz"
    states = [accumulated(n) for n in (40, 60, 80, 100)]
    done, torn = threading.Event(), []

    def read():
        while not done.is_set():
            if path.exists() and Accumulator.load(path).n_observations not in (40, 60, 80, 100):
                torn.append(1)

    def save(state):
        for _ in range(10):
            state.save(path)

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=save, args=(state,)) for state in states]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert not torn
    assert list(contents(tmp_path)) == ["state.npz"]
    assert Accumulator.load(path).n_observations in (40, 60, 80, 100)


# What writes under a name, and what writes to a stream that is its first argument
_BY_NAME = {
    *("write_text", "write_bytes", "touch", "rename", "renames", "symlink_to", "hardlink_to"),
    *("NamedTemporaryFile", "TemporaryFile", "mkstemp", "mktemp", "copyfile", "copy2", "move"),
    *("to_netcdf", "to_zarr", "to_pickle", "tofile", "savetxt", "memmap", "open_memmap"),
    *("mknod", "mkfifo", "truncate", "fdopen", "FileIO"),
}
_BY_STREAM = {
    *(
        "imsave",
        "savez",
        "savez_compressed",
        "savefig",
        "write_table",
        "ParquetWriter",
        "write_csv",
    ),
    *("write_feather", "to_csv", "to_parquet", "to_feather", "to_excel"),
}


def _writes_a_file(call):
    name = ast.unparse(call.func)
    last = name.rpartition(".")[2]
    arguments = [ast.unparse(x) for x in call.args] + [ast.unparse(k.value) for k in call.keywords]
    if last == "open":
        if name == "os.open":
            return arguments[0] != "os.devnull"
        return any(
            isinstance(x, ast.Constant) and isinstance(x.value, str) and set(x.value) & set("wax+")
            for x in [*call.args[-1:], *(k.value for k in call.keywords if k.arg == "mode")]
        )
    if last == "replace":
        is_method = "." in name and len(call.args) == 1 and not call.keywords
        return name == "os.replace" or is_method
    if name in ("np.save", "numpy.save", "shutil.copy", "json.dump", "pickle.dump", "plt.savefig"):
        return True
    if last in _BY_STREAM:
        return not any(x.rpartition(".")[2] == "stream" for x in arguments)
    return last in _BY_NAME and name != "formatter.write_text"  # of the help of a command


@pytest.mark.slow
def test_one_module_writes_files():
    package = Path(dmfroc.__file__).parent
    found = [
        f"{path.relative_to(package)}:{node.lineno}: {ast.unparse(node)}"
        for path in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and _writes_a_file(node)
    ]
    assert {line.partition(":")[0] for line in found} == {"_kit/files.py"}, found


@pytest.mark.parametrize(
    "source",
    [
        'path.open("wb")',
        'open(path, "a")',
        'open(path, mode="r+")',
        "partial.replace(path)",
        "np.savez(path, a=1)",
        "figure.savefig(path)",
        "table.to_csv(path)",
        "path.write_text(text)",
        "os.open(path, flags)",
    ],
)
def test_writers_are_noticed(source):
    assert _writes_a_file(ast.parse(source, mode="eval").body)
