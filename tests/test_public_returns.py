"""What public functions return is printed, converted and written by the same means.

The walk goes over the return types of all public functions and methods: what is no `Result` must be
on a short list, of samples, measures and estimators, or be a named tuple of numbers.
"""

import copy
import inspect
import json
import pickle
import re

import numpy as np
import pytest

import dmfroc
from dmfroc.multiclass.curve import mean_curve_of
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.results.result import AttributeTables, Result, ResultsByName

HOMES = (dmfroc, dmfroc.curves, dmfroc.applications, dmfroc.papers, dmfroc.results, dmfroc.measures)
NO_RESULTS = {  # samples, measures, estimators, parts of results, and pictures
    *("Accumulator", "Predictions", "Scan", "Measure", "MeasureScorer", "Table", "Cells"),
    *("Hypothesis", "RunsTest", "Difference", "CensoringWeights"),
    *("DecisionDisplay", "RiskCoverageDisplay"),
}
OF_SAMPLES = ("Accumulator", "Predictions", "Scan", "Measure")  # whose methods nobody prints

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3
SCORES = np.exp(RNG.normal(size=(60, 3)) + np.eye(3)[Y])
SCORES /= SCORES.sum(axis=1, keepdims=True)
TWO, P = (Y > 0).astype(int), SCORES[:, 1:].sum(axis=1)
SCREEN = 45  # lines


def public():
    """Yield the name and the function of all that people call."""
    for home in HOMES:
        for name, x in inspect.getmembers(home):
            if name[0] == "_" or not getattr(x, "__module__", "").startswith("dmfroc"):
                continue
            if not inspect.isclass(x):
                yield name, x
            elif name not in OF_SAMPLES:
                for part, f in inspect.getmembers(x):
                    f = f.fget if isinstance(f, property) else f
                    if part[0] != "_" and (getattr(f, "__module__", "") or "").startswith("dmfroc"):
                        yield f"{name}.{part}", f


def returned_types(function):
    """Return the classes of this package in the annotation of what a function returns."""
    annotation = str(inspect.signature(function).return_annotation)
    module = inspect.getmodule(inspect.unwrap(function))
    found = (getattr(module, word, None) for word in re.findall(r"\w+", annotation))
    return [x for x in found if inspect.isclass(x) and x.__module__.startswith("dmfroc")]


def test_whatever_is_returned_is_a_result():
    returned = {x: name for name, f in public() for x in returned_types(f)}
    assert len(returned) > 35
    others = {
        x.__name__: name
        for x, name in returned.items()
        if not issubclass(x, Result | tuple) and x.__name__ not in NO_RESULTS
    }
    others = {x: name for x, name in others.items() if name != "Comparison.samples"}
    assert others == {}


TABLE = dmfroc.measures.ContingencyTable.from_labels(Y, SCORES.argmax(axis=1))
CURVE = dmfroc.curves.roc_curve(TWO, P)


def nested():
    from sklearn.datasets import load_wine
    from sklearn.naive_bayes import GaussianNB

    X, y = load_wine(return_X_y=True)
    return dmfroc.applications.nested_cross_validation(
        GaussianNB(), X[:, :2], y, measure="accuracy", cv=3
    )


RETURNS = {
    "MulticlassROC": lambda: dmfroc.multiclass_roc(Y, SCORES),
    "MeanROC": lambda: mean_curve_of(
        dmfroc.Predictions.from_arrays(Y, SCORES).in_folds(np.arange(60) // 30), CurveOptions()
    ),
    "CurveBand": lambda: dmfroc.evaluate(Y, SCORES).band(),
    "Factorization": lambda: dmfroc.dmf(RNG.uniform(0.2, 0.8, size=(4, 5))),
    "Curve": lambda: CURVE,
    "CalibrationCurve": lambda: dmfroc.curves.calibration_curve(TWO, P),
    "OperatingPoints": lambda: CURVE.points,
    "Hull": lambda: dmfroc.curves.convex_hull(CURVE),
    "Isometric": lambda: dmfroc.curves.isometrics(CURVE)[4],
    "RiskCoverageCurve": lambda: dmfroc.applications.risk_coverage_curve(Y, SCORES),
    "OperatingPoint": lambda: dmfroc.applications.operating_point(TWO, P, threshold=0.5),
    "OptimalOperatingPoints": lambda: dmfroc.applications.optimal_operating_points(TWO, P),
    "RandomizedThreshold": lambda: dmfroc.applications.randomized_threshold(TWO, P, fpr=0.13),
    "ClassWeights": lambda: dmfroc.applications.select_class_weights(Y, SCORES),
    "choose_threshold": lambda: dmfroc.applications.choose_threshold(Y, SCORES, n_draws=100),
    "decision_curve": lambda: dmfroc.applications.decision_curve(Y, SCORES, thresholds=[0.2, 0.5]),
    "NestedCrossValidation": nested,
    "ContingencyTable": lambda: TABLE,
    "TestResult": lambda: dmfroc.applications.chi_squared_test(TABLE),
    "PowersStatistics": lambda: dmfroc.applications.powers_statistics(TABLE),
    "MosesLittenbergROC": lambda: dmfroc.applications.moses_littenberg_roc(
        [30, 20], [10, 5], [5, 15], [30, 35]
    ),
}


def test_every_class_of_attributes_is_returned_here():
    kinds = {x.__name__ for x in AttributeTables.__subclasses__() if x.__module__ != "dmfroc.bayes"}
    assert kinds - set(RETURNS) <= {"PosteriorCurve"}


@pytest.fixture(scope="module", params=RETURNS)
def result(request):
    return RETURNS[request.param]()


def no_constant(text):
    raise ValueError(f"JSON has {text}")


def test_it_is_printed_on_a_screen_and_converted_from_its_tables(result, tmp_path):
    assert isinstance(result, Result)
    assert len(str(result).splitlines()) <= SCREEN
    json_of = json.loads(result.to_json(), parse_constant=no_constant)
    tables = result.tables()
    for table in tables:
        assert len(json_of[table.key]) == len(table.rows) == len(result.to_pandas(table.key))
        assert result.to_markdown(table.key).count("\n") == len(table.rows) + 1
    assert len(result.to_pandas()) > 0
    assert result._repr_html_().count("<table") == len(tables)
    result.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert all(table.title in page for table in tables)


def test_copies_are_equal_and_print_the_same_in_a_spawned_process(result, spawned):
    for again in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert again == result
    assert spawned.submit(str, result).result() == str(result)


def test_no_attribute_is_missing(result):
    if not isinstance(result, AttributeTables):
        return
    frames = [result.to_pandas(table.key) for table in result.tables()]
    shown = {name: frame[name] for frame in reversed(frames) for name in frame}
    for name, x in vars(result).items():
        if isinstance(x, float):
            np.testing.assert_equal(shown[name].tolist(), [x])
        elif isinstance(x, np.ndarray) and x.ndim == 1:
            np.testing.assert_equal(shown[name].to_numpy(float), x)


def test_results_by_class_are_a_dict_and_have_the_rows_of_all():
    found = RETURNS["choose_threshold"]()
    assert isinstance(found, ResultsByName)
    assert isinstance(found, dict)
    frame = found.to_pandas()
    for label, one in found.items():
        own = frame[frame["label"] == label].drop(columns="label")
        np.testing.assert_array_equal(own["value"], one.to_pandas()["value"])
    assert found.warnings == found[0].warnings
