"""Build the release twice, and use it with the lowest and the newest libraries on each Python.

Both builds start from a clone of the last commit, in different folders, time zones and file modes;
their files must be equal byte for byte. They are in `dist`, with SHA256SUMS and, in
`environments.txt`, the versions with which the wheel passed. Pythons that are not there are skipped
with a line that says it. Name others by `--python`, one by one.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("python3.12", "python3.13", "python3.14")
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def output_of(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command and return what it prints; end if it fails."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def build(folder: Path, time: str, zone: str, mask: int) -> dict[str, bytes]:
    """Build from a clone in a folder, and return the files by name."""
    output_of("git", "clone", "--quiet", ROOT, folder)
    before = os.umask(mask)
    try:
        command = (sys.executable, "-m", "build", "--outdir", folder / "dist", folder)
        output_of(*command, SOURCE_DATE_EPOCH=time, TZ=zone)
    finally:
        os.umask(before)
    return {path.name: path.read_bytes() for path in sorted((folder / "dist").iterdir())}


def lowest() -> list[str]:
    """Return the lowest allowed version of every dependency."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    bounds = [tuple(requirement.split(">=")) for requirement in wanted]
    return [f"{name}=={version}" for name, version in [*bounds, ("jaxlib", dict(bounds)["jax"])]]


def is_there(python: str) -> bool:
    """Whether an interpreter runs: version managers leave launchers that do not."""
    try:
        return subprocess.run([python, "--version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def check(python: str, folder: Path, wheel: Path, constraints: list[str]) -> str:
    """Install the wheel in an empty environment, use it, and return the versions."""
    output_of(python, "-m", "venv", folder)
    own = folder / "bin" / "python"
    (folder / "constraints.txt").write_text("\n".join(constraints))
    output_of(own, *PIP, "install", "--constraint", folder / "constraints.txt", wheel)
    output_of(own, ROOT / ".ci" / "smoke.py", cwd=folder, MPLBACKEND="Agg", PYTHONPATH="")
    return output_of(own, *PIP, "freeze")


def main() -> None:
    """Build, compare, check, and write checksums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", help="an interpreter to check with")
    pythons = parser.parse_args().python or PYTHONS
    if output_of("git", "status", "--porcelain", "--untracked-files=no"):
        print("Changes without a commit are not in the release.", file=sys.stderr)
    time = output_of("git", "log", "-1", "--format=%ct")
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        first = build(scratch / "first", time, "UTC", 0o022)
        second = build(scratch / "a longer name", time, "Asia/Tokyo", 0o077)
        if first != second:
            sys.exit("The two builds differ.")
        dist.mkdir()
        for file, content in first.items():
            (dist / file).write_bytes(content)
        sums = [f"{hashlib.sha256(x).hexdigest()}  {file}" for file, x in first.items()]
        (dist / "SHA256SUMS").write_text("\n".join(sums) + "\n")
        print("Two builds, byte for byte the same:", *sums, sep="\n", flush=True)
        [wheel] = dist.glob("*.whl")
        for python in pythons:
            if not is_there(python):
                print(f"{python}: is not there, skipped", flush=True)
                continue
            version = output_of(python, "--version")
            for kind, constraints in (("lowest", lowest()), ("newest", [])):
                label = re.sub(r"\W+", "-", f"{version} {kind}")
                frozen = check(python, scratch / label, wheel, constraints)
                with (dist / "environments.txt").open("a") as file:
                    file.write(f"# {version}, {kind}\n{frozen}\n\n")
                print(f"{version}, {kind} libraries: passed", flush=True)


if __name__ == "__main__":
    main()
