"""The command where its surroundings are hostile: one line on stderr, and nothing left behind."""

import io
import os
import signal
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from click.testing import CliRunner

from dmfroc.cli import commands as cli


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    lines = [f"{c},{x:.2f},{1 - x:.2f}" for x in np.linspace(0.1, 0.9, 9) for c in "ab"]
    path.write_text("y,a,b\n" + "\n".join(lines))
    return path


def complaint(path, *options):
    found = CliRunner().invoke(cli.app, ["evaluate", str(path), "--label", "y", *options])
    assert found.exit_code == 2, found.output
    assert found.stderr.count("\n") == 1
    return found.stderr


def array(values):
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return path


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x.csv")
    assert "this is a pipe or a device" in complaint(tmp_path / "x.csv")


def test_strange_archives_are_refused(tmp_path, monkeypatch):
    path = archive(tmp_path / "x.npz", y=array(np.array([0, 1])), y_score=array(np.ones(2)))
    content = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = -1
        while (place := content.find(signature, place + 1)) >= 0:
            content[place + flags] |= 1
    path.write_bytes(content)
    assert "encrypted" in complaint(path)
    header = b"{'descr':'<f8','fortran_order':False,'shape':(10000000000000,),}".ljust(117) + b"\n"
    huge = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(80)
    assert "cannot be read" in complaint(archive(path, y=array(np.array([0, 1])), y_score=huge))
    odd = b"\x93NUMPY\x01\x00\x10\x00{'descr':[('a',"
    assert "cannot be read" in complaint(archive(path, y=b"not numpy", y_score=odd))
    archive(path, y=array(np.arange(1000) % 2), y_score=array(np.zeros((1000, 2))))
    monkeypatch.setattr("dmfroc._kit.memory.available_memory", lambda: 20_000)
    monkeypatch.setattr("dmfroc._kit.memory._LITTLE", 0)
    assert "reading the array 'y_score' takes about" in complaint(path)


def test_names_in_messages_cannot_act_on_a_terminal(tmp_path):
    path = tmp_path / "x\x1b[2J.csv"
    path.write_text("y,a,b\na,1,\x1b[31m\nb,0,1\n")
    assert "\x1b" not in complaint(path)


def test_devices_are_not_drawn_over(tmp_path, scores):
    (tmp_path / "x.png").symlink_to("/dev/null")
    assert "it is no regular file" in complaint(scores, "--plot", str(tmp_path / "x.png"))


def run(command, **options):
    return subprocess.run(
        ["/bin/sh", "-c", f'"$0" -m dmfroc {command}', sys.executable],
        capture_output=True,
        text=True,
        timeout=600,
        **options,
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_stdout_may_be_full_or_closed():
    for where, message in ((">/dev/full", "No space left on device"), (">&-", "stdout is closed")):
        done = run(f"measures {where}")
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert message in done.stderr


def test_a_missing_device_is_said_in_one_line(scores):
    done = run(
        f"evaluate {scores} --label y --measures dmf_auc --method bootstrap --n-draws 100",
        env=os.environ | {"JAX_PLATFORMS": "cuda"},
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("dmfroc: error: JAX found no device")


ENDED = """
import os, signal, sys
from matplotlib.figure import Figure
number = getattr(signal, sys.argv.pop())
signal.signal(number, signal.SIG_DFL)  # nohup, above the tests, would have it ignored
Figure.savefig = lambda *_, **__: os.kill(os.getpid(), number)
from dmfroc.cli.commands import main
main()
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_signals_leave_no_partial_picture(tmp_path, scores, name):
    arguments = ["plot", "roc", scores, "--label", "y", "--output", tmp_path / "x.png", name]
    done = subprocess.run([sys.executable, "-c", ENDED, *arguments], capture_output=True)
    assert done.returncode == 128 + getattr(signal, name)
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]
