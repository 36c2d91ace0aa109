"""The command where its surroundings are hostile: one line on stderr, and nothing left behind."""

import csv
import io
import os
import signal
import struct
import subprocess
import sys
import time
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


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_stdout_may_be_full_or_closed():
    for where, message in ((">/dev/full", "No space left on device"), (">&-", "stdout is closed")):
        done = run(f"measures {where}")
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert message in done.stderr


@pytest.mark.slow
def test_a_missing_device_is_said_in_one_line(scores):
    done = run(
        f"evaluate {scores} --label y --measures dmf_auc --method bayes",
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_signals_leave_no_partial_picture(tmp_path, scores, name):
    arguments = ["plot", "roc", scores, "--label", "y", "--output", tmp_path / "x.png", name]
    done = subprocess.run([sys.executable, "-c", ENDED, *arguments], capture_output=True)
    assert done.returncode == 128 + getattr(signal, name)
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


# What the input lacks, and what an output must not be

OUTPUTS = [
    ("report", "--output", "x.html"),
    ("evaluate", "--plot", "x.png"),
    ("compare", "--plot", "x.png"),
    ("subgroups", "--output", "x.html"),
    ("plan", "--output", "x.html"),
    ("plot", "--output", "x.png"),
]


def with_output(command, path, option, output, *others):
    arguments = {
        "compare": [path, path],
        "subgroups": [path, "--by", "y"],
        "plan": [path, "--half-width", "0.1"],
        "plot": ["roc", path],
    }.get(command, [path])
    given = [command, *arguments, "--label", "y", option, output, *others]
    found = CliRunner().invoke(cli.app, list(map(str, given)))
    assert found.exit_code == 2, found.output
    assert found.stderr.count("\n") == 1
    return found.stderr


@pytest.mark.parametrize(("command", "option", "output"), OUTPUTS)
def test_errors_of_the_input_do_not_blame_the_output(tmp_path, scores, command, option, output):
    target = tmp_path / output
    missing = with_output(command, tmp_path / "missing.csv", option, target)
    assert (
        missing
        == f"dmfroc: error: {tmp_path / 'missing.csv'}: there is no such file; check the path\n"
    )
    lacks = with_output(command, scores, option, target, "--sample-weight", "nope")
    assert lacks.startswith(f"dmfroc: error: {scores}: there is no column 'nope', which --sample-w")
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


@pytest.mark.parametrize(("command", "option", "output"), OUTPUTS)
def test_inputs_are_not_overwritten(tmp_path, scores, command, option, output):
    before = scores.read_bytes()
    link, again = tmp_path / f"link-{output}", tmp_path / output
    link.symlink_to(scores)
    again.symlink_to(link)
    for path in (link, again):
        found = with_output(command, scores, option, path)
        assert found == f"dmfroc: error: {option} {path} is an input, {scores}: name another file\n"
    assert scores.read_bytes() == before
    assert link.is_symlink()


def test_inputs_of_other_kinds_are_not_overwritten(tmp_path, scores):
    import pandas as pd

    folder = tmp_path / "scan"
    folder.mkdir()
    pd.read_csv(scores).to_parquet(folder / "part.parquet")
    (tmp_path / "costs.csv").write_text(",a,b\na,0,1\nb,1,0\n")
    for file, options in (
        (folder / "part.parquet", [folder, "--scan", "--scores", "a,b"]),
        (folder / "part.parquet", [folder / "*", "--scan", "--scores", "a,b"]),
        (tmp_path / "costs.csv", [scores, "--pair-weights", tmp_path / "costs.csv"]),
    ):
        link = tmp_path / "x.png"
        link.symlink_to(file)
        before = file.read_bytes()
        assert "--plot" in complaint(*map(str, [*options, "--plot", link]))
        assert file.read_bytes() == before
        link.unlink()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scores", "a\nb"], "is no list on one line"),
        (["--measures", "accuracy\nhand_till"], "is no list on one line"),
        (["--labels", "a,\rb"], "is no list on one line"),
        (["--ignore", "a" * 140_000], "is no list on one line"),
        (["--target-prevalence", "a=.5\nb=.5"], "is no list on one line"),
        (["--fold", "nope"], "there is no column 'nope', which --fold names"),
        (["--groups", "nope"], "there is no column 'nope', which --groups names"),
        (["--judge", "nope"], "there is no column 'nope', which --judge names"),
        (["--ignore", "nope"], "there is no column 'nope', which --ignore names"),
        (["--count", "nope", "--fold", "a"], "there is no column 'nope', which --count names"),
        (
            ["--count", "y", "--fold", "a"],
            "count column 'y' holds text, and data row 1 has",
        ),
        (["--scan", "--scheduler", "garbage"], "there is no such Parquet file"),
    ],
)
def test_options_that_are_wrong_are_named(scores, options, message):
    csv.field_size_limit(2**17)  # the default, which SciPy's reader of ARFF files changes
    path = scores.with_name("x.parquet") if "--scan" in options else scores
    assert message in complaint(path, *options)


@pytest.mark.parametrize(("given", "by"), [("nope", "nope"), ('"a,b"', "a,b")])
def test_columns_of_subgroups_are_named(scores, given, by):
    options = ["subgroups", str(scores), "--label", "y", "--by", given]
    found = CliRunner().invoke(cli.app, options)
    assert found.exit_code == 2
    assert f"there is no column {by!r}, which --by names" in found.stderr


def test_a_missing_library_is_said_in_one_line(scores, monkeypatch):
    import pandas as pd

    path = scores.with_suffix(".parquet")
    pd.read_csv(scores).to_parquet(path)
    monkeypatch.setitem(sys.modules, "distributed", None)
    options = ["--scan", "--scores", "a,b", "--scheduler", "tcp://127.0.0.1:1"]
    assert "a scheduler needs Dask: run python -m pip install" in complaint(path, *options)


@pytest.mark.slow
@pytest.mark.parametrize("address", ["garbage", "unknown://x:1", "tls://127.0.0.1:1"])
def test_a_scheduler_that_is_none_ends_at_once(scores, address):
    """A client of Dask's that is left half-built waited for a minute at the end of Python."""
    pytest.importorskip("distributed")
    import pandas as pd

    path = scores.with_suffix(".parquet")
    pd.read_csv(scores).to_parquet(path)
    begin = time.monotonic()
    done = run(f"evaluate {path} --label y --scores a,b --scan --scheduler {address}")
    assert time.monotonic() - begin < 50
    assert done.returncode == 2
    assert done.stderr.startswith(f"dmfroc: error: scheduler {address} cannot be reached: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_libraries_say_nothing_of_their_own(tmp_path, scores):
    nowhere = {"HOME": "/proc/none", "MPLCONFIGDIR": "/proc/none"}
    done = run(
        f"plot roc {scores} --label y --output {tmp_path / 'x.png'}", env=os.environ | nowhere
    )
    assert done.returncode == 0
    line = f"dmfroc report {scores} --label y -o dmfroc-report.html"
    assert done.stderr == f"Next: {line}\n"


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".feather", ".json"])
def test_names_that_are_not_utf_8(tmp_path, scores, suffix):
    import pandas as pd

    frame, whole = pd.read_csv(scores), tmp_path / f"x{suffix}"
    write = {".csv": frame.to_csv, ".csv.gz": frame.to_csv, ".json": frame.to_json}.get(suffix)
    if write:
        write(whole)
    else:
        getattr(frame, f"to_{suffix[1:]}")(whole)
    path = whole.rename(os.fsdecode(os.fsencode(tmp_path) + b"/x\xff" + suffix.encode()))
    options = ["--label", "y", "--scores", "a,b", "--measures", "hand_till", "--json"]
    found = CliRunner().invoke(cli.app, ["evaluate", str(path), *options])
    assert found.exit_code == 0, found.output
    assert '"value": 0.' in found.output
    if suffix == ".parquet":
        assert "is not UTF-8: rename it" in complaint(path, *options[2:], "--scan")
