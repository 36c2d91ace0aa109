"""Sixty searches of the documentation: each has a page that answers it among its first three."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "docs" / "_build" / "html"
SEARCHES = {
    "sample size": "sample_size",
    "p-value": "many_models",
    "latex": "how_to",
    "one class against the rest": "how_to",
    "clustered data": "how_to",
    "repeated cross-validation": "cross_validation",
    "RepeatedStratifiedKFold": "cross_validation",
    "several readers": "training_runs",
    "mrmc": "training_runs",
    "expected calibration error": "measures/calibration",
    "delong": "method",
    "excel": "faq",
    "50 patients": "choosing",
    "jit": "simulation_vmap",
    "missing values": "faq",
    "non-inferiority": "how_to_report",
    "permutation test": "uncertainty",
    "license": "index",
    "install": "index",
    "confidence interval": "uncertainty",
    "standard error": "uncertainty",
    "bootstrap": "uncertainty",
    "compare two models": "many_models",
    "significance": "many_models",
    "multiple comparisons": "many_models",
    "confusion matrix": "measures/contingency",
    "f1 score": "measures/contingency",
    "mcc": "measures/contingency",
    "kappa": "measures/contingency",
    "accuracy": "measures/contingency",
    "balanced accuracy": "measures/contingency",
    "threshold": "operating_points",
    "cutoff": "operating_points",
    "youden": "operating_points",
    "sensitivity": "operating_points",
    "calibration": "measures/calibration",
    "ece": "measures/calibration",
    "brier score": "measures/probabilities",
    "log loss": "measures/probabilities",
    "net benefit": "measures/decisions",
    "decision curve": "measures/decisions",
    "cross-validation": "cross_validation",
    "repeated measurements": "how_to",
    "cluster": "how_to",
    "csv": "how_to",
    "fairness": "subgroups",
    "external validation": "sites",
    "survival": "at_a_horizon",
    "censoring": "at_a_horizon",
    "llm judge": "few_labels",
    "pass@k": "items",
    "imbalanced": "choosing",
    "prevalence": "other_population",
    "multi-label": "multilabel",
    "ordinal": "ordered",
    "pytorch": "integrations",
    "sklearn": "integrations",
    "proc": "coming_from",
    "gpu": "large_data",
    "out of memory": "large_data",
    "plot": "gallery",
    "cite": "how_to_report",
    "tripod": "checklists",
    "bayesian": "bayes",
    "custom metric": "add_a_measure",
    "drift": "any_time",
    "tutorial": "getting_started",
    "precision-recall curve": "measures/curves",
    "meta-analysis": "meta_analysis",
}


@pytest.fixture(scope="module")
def found():
    node = shutil.which("node")
    if node is None or not (HTML / "searchindex.js").exists():
        pytest.skip("install node, and run `make docs`")
    command = [node, Path(__file__).parent / "search.js", HTML, *SEARCHES]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(zip(SEARCHES, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("words", SEARCHES)
def test_a_search_has_its_page_among_the_first_three(found, words):
    assert SEARCHES[words] in found[words][:3]


def test_records_of_studies_are_not_found(found):
    pages = {page for of in found.values() for page in of}
    assert not {page for page in pages if page.startswith("experiments/")} - {"experiments/index"}
    assert not pages & {"validation", "options", "papers", "changelog"}
