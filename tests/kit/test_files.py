"""Files appear whole or not at all, whatever happens while they are written."""

import errno
import os
import stat
import subprocess
import sys

import pytest

from dmfroc._kit.files import remove_strays, written_whole
from dmfroc.simulation.study import Study

KILLED = """
import os, signal, sys
from dmfroc._kit.files import written_whole
if sys.argv[2] == "rename":
    os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with written_whole(sys.argv[1]) as stream:
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
    with written_whole(link) as stream:
        stream.write(b"new")
        [partial] = tmp_path.glob(".dmfroc-*.partial")
        assert stat.S_IMODE(partial.stat().st_mode) == 0o600
        assert secret.read_bytes() == b"old"
    assert link.is_symlink()
    assert secret.read_bytes() == b"new"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    with written_whole(tmp_path / "fresh") as stream:
        stream.write(b"x")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o666 & ~umask


def test_devices_and_pipes_are_not_replaced(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "x.png"
    os.mkfifo(pipe)
    link.symlink_to("/dev/null")
    for path in (pipe, link):
        with pytest.raises(OSError, match="no regular file"), written_whole(path):
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

    def write():
        with written_whole(target) as stream:
            stream.write(b"new")
            if call == "write":
                full()

    with pytest.raises(OSError, match="No space left"):
        write()
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


def test_a_study_on_a_full_disk_ends_and_can_go_on(tmp_path, monkeypatch):
    study = Study("s", numbers, [{}], replications=4, directory=tmp_path)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            study.run(n_workers=1, chunk_size=2)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert len(study.run(n_workers=1, chunk_size=2)) == 4


def test_a_picture_on_a_full_disk_is_not_there(tmp_path, monkeypatch):
    from dmfroc.cli.outputs import open_picture

    target = tmp_path / "x.png"
    target.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"), open_picture(target) as picture:
        picture.stream.write(b"new")
    assert contents(tmp_path) == {"x.png": b"old"}


def numbers(generator):
    return {"x": generator.normal()}
