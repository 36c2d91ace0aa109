"""What the release says of itself is the same everywhere."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def test_all_files_have_the_version():
    version = PROJECT["version"]
    assert re.search(r"^version: (.*)$", read("CITATION.cff"), re.M)[1] == version
    assert re.search(r'^  version: "(.*)"$', read("recipe/recipe.yaml"), re.M)[1] == version
    assert re.search(r"^## \[(.*)\]", read("CHANGELOG.md"), re.M)[1] == version
    assert re.findall(r"version = \{(.*)\}", read("docs/how_to_report.md")) == [version]


def test_the_recipe_has_the_requirements():
    run = read("recipe/recipe.yaml").split("  run:\n")[1].split("\n\n")[0]
    found = [line.removeprefix("    - ").replace(" ", "") for line in run.splitlines()]
    required = [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]
    assert [line.replace("matplotlib-base", "matplotlib") for line in found] == required


def test_the_command_of_the_recipe_is_that_of_the_package():
    assert f"- dmfroc = {PROJECT['scripts']['dmfroc']}\n" in read("recipe/recipe.yaml")


def test_the_workflow_runs_what_a_change_must_pass():
    workflow = read(".github/workflows/ci.yml")
    assert "run: bash .ci/run\n" in workflow
    assert len(set(re.findall(r"system: ([\w.-]+)", workflow))) == 3


def test_the_paper_cites_what_its_bibliography_has():
    cited = set(re.findall(r"@(\w+)", read("docs/paper/paper.md")))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", read("docs/paper/paper.bib"), re.M))
    [figure] = re.findall(r"\]\((\S+\.png)\)", read("docs/paper/paper.md"))
    assert (ROOT / "docs" / "paper" / figure).exists()
