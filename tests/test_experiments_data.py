"""The experiments on real data run without local files, on what OpenML sends."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from openml_stub import Offline, openml_server
from sklearn.datasets import load_iris

EXPERIMENTS = Path(__file__).resolve().parent.parent / "experiments"
USES_DATA = sorted(
    path.stem
    for path in EXPERIMENTS.glob("[a-z]*.py")
    if "load_dataset" in path.read_text(encoding="utf-8")
)


def arff(attributes: dict[str, str], rows: list[list[object]]) -> str:
    head = "".join(f"@ATTRIBUTE {name} {kind}\n" for name, kind in attributes.items())
    return f"@RELATION r\n{head}@DATA\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def iris() -> str:
    flowers, species = load_iris(return_X_y=True)
    names = ["Iris-setosa", "Iris-versicolor", "Iris-virginica"]
    rows = [[*flower, names[k]] for flower, k in zip(flowers, species, strict=True)]
    measured = dict.fromkeys(("sepallength", "sepalwidth", "petallength", "petalwidth"), "REAL")
    return arff(measured | {"class": f"{{{','.join(names)}}}"}, rows)


def glass() -> str:
    generator = np.random.default_rng(1)
    kinds = "abcdef"
    rows = [[*(generator.normal(size=3) + k % 3).round(2), kinds[k]] for k in np.arange(72) % 6]
    return arff(dict.fromkeys(("RI", "Na", "Mg"), "REAL") | {"Type": "{a,b,c,d,e,f}"}, rows)


def shuttle_landing_control() -> str:
    """Return rules as in the real set: what does not matter is missing."""
    rows = [["?", "?", 1, 1], ["?", "?", 2, 2], [1, "?", 3, 1], [2, 1, 3, 2], [2, 2, 3, 2]]
    attributes = {"WIND": "{1,2}", "SIGN": "{1,2}", "MAGNITUDE": "{1,2,3}", "Class": "{1,2}"}
    return arff(attributes, rows)


def run(study: str, monkeypatch) -> None:
    """Run a study in this process, as from the command line."""
    monkeypatch.delenv("DMFROC_DATA", raising=False)
    monkeypatch.setattr(sys, "argv", [f"{study}.py", "--quick"])
    monkeypatch.syspath_prepend(str(EXPERIMENTS))
    runpy.run_path(str(EXPERIMENTS / f"{study}.py"), run_name="__main__")


EXPECTED = {
    "charts": "(a) to ",
    "rank_disagreement": "| AUPRG and AUPR disagree on the best model",
    "real_data": "| iris | k-nearest > multinomial > tree | ",
    "threshold_pools": "| iris | ",
    "threshold_selection": "| shuttle-landing-control | bayes |",
}


def test_what_differs_by_rounding_alone_is_no_change(monkeypatch):
    monkeypatch.syspath_prepend(str(EXPERIMENTS))
    from threshold_selection import signs

    assert signs([2.8e-17, -2.2e-16, 0.1, -0.1, 0.2])[:3] == ["2", "1", "2"]


@pytest.mark.slow
@pytest.mark.parametrize("study", USES_DATA)
def test_study_runs_on_what_openml_sends(study, openml, monkeypatch, capsys):
    openml(
        openml_server(iris=iris(), glass=glass(), shuttle_landing_control=shuttle_landing_control())
    )
    run(study, monkeypatch)
    assert EXPECTED[study] in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore:A network error occurred")
def test_study_without_data_and_network_names_the_remedy(openml, monkeypatch):
    openml(Offline)
    with pytest.raises(OSError, match=r"set DMFROC_DATA to a directory that holds glass\.csv"):
        run("charts", monkeypatch)
