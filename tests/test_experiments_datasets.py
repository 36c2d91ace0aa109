"""Data sets: real files as described, and OpenML (behind a stubbed transport) the same as files."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from openml_stub import Offline, openml_server
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

sys.path.append(str(Path(__file__).parents[1] / "experiments"))
from _datasets import design_matrix, load_dataset

# name: rows, features, {class: rows} as published with each set
PUBLISHED = {
    "car": (1728, 6, {"unacc": 1210, "acc": 384, "good": 69, "vgood": 65}),
    "credit_a": (690, 15, {"-": 383, "+": 307}),
    "glass": (
        214,
        9,
        {
            "build wind float": 70,
            "vehic wind float": 17,
            "build wind non-float": 76,
            "headlamps": 29,
            "tableware": 9,
            "containers": 13,
        },
    ),
    "heart_c": (303, 13, {"<50": 165, ">50_1": 138}),
    "ionosphere": (351, 34, {"g": 225, "b": 126}),
    "iris": (150, 4, {"Iris-setosa": 50, "Iris-versicolor": 50, "Iris-virginica": 50}),
    "optdigits": (
        5620,
        64,
        dict(zip("0123456789", [554, 571, 557, 572, 568, 558, 558, 566, 554, 562], strict=True)),
    ),
    "pendigits": (
        10992,
        16,
        dict(
            zip(
                "0123456789",
                [1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055],
                strict=True,
            )
        ),
    ),
    "shuttle_landing_control": (15, 6, {"1": 6, "2": 9}),
    "tae": (151, 5, {"1": 49, "2": 50, "3": 52}),
    "tic_tac_toe": (958, 9, {"positive": 626, "negative": 332}),
    "vote": (435, 16, {"democrat": 267, "republican": 168}),
    "waveform5000": (5000, 40, {"0": 1692, "1": 1653, "2": 1655}),
    "zoo": (
        101,
        17,
        {
            "mammal": 41,
            "bird": 20,
            "reptile": 5,
            "fish": 13,
            "amphibian": 4,
            "insect": 8,
            "invertebrate": 10,
        },
    ),
}

CSV = """buying,doors,weight,class
vhigh,2,1.5,unacc
,4,,acc
low,,-0.5,unacc
high,3,2,good
"""

ARFF = """@RELATION car
@ATTRIBUTE buying {vhigh,high,low}
@ATTRIBUTE doors {2,3,4}
@ATTRIBUTE weight REAL
@ATTRIBUTE class {unacc,acc,good}
@DATA
vhigh,2,1.5,unacc
?,4,?,acc
low,?,-0.5,unacc
high,3,2,good
"""


@pytest.fixture
def csv_directory(tmp_path, monkeypatch):
    (tmp_path / "car.csv").write_text(CSV)
    monkeypatch.setenv("DMFROC_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_real_files_have_the_published_shape_and_classes(name, data_directory):
    rows, features, classes = PUBLISHED[name]
    dataset = load_dataset(name)
    assert dataset.name == name
    assert dataset.X.shape == (rows, features)
    assert dict(zip(*np.unique(dataset.y, return_counts=True), strict=True)) == classes
    assert dataset.source == str(data_directory / f"{name}.csv")


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_real_files_become_finite_design_matrices(name, data_directory):
    dataset = load_dataset(name)
    matrix = design_matrix(dataset).fit_transform(dataset.X)
    assert len(matrix) == len(dataset.y)
    assert np.isfinite(matrix).all()


def test_columns_are_numeric_or_objects_with_nan_for_missing(csv_directory):
    dataset = load_dataset("car")
    assert dataset.X["buying"].tolist()[0::2] == ["vhigh", "low"]
    assert dataset.X["buying"].dtype == object
    np.testing.assert_array_equal(dataset.X["doors"], [2, 4, np.nan, 3])
    np.testing.assert_array_equal(dataset.X["weight"], [1.5, np.nan, -0.5, 2])
    assert dataset.X["buying"].isna().tolist() == [False, True, False, False]
    assert dataset.y.tolist() == ["unacc", "acc", "unacc", "good"]
    assert dataset.y.dtype.kind == "U"


def test_openml_gives_what_the_file_gives(csv_directory, openml, monkeypatch):
    from_file = load_dataset("car")
    openml(openml_server(car=ARFF))
    monkeypatch.delenv("DMFROC_DATA")
    from_openml = load_dataset("car")
    pd.testing.assert_frame_equal(from_openml.X, from_file.X)
    np.testing.assert_array_equal(from_openml.y, from_file.y)
    assert from_openml.source == "OpenML car, version 1"


def test_a_directory_without_the_file_falls_back_to_openml(tmp_path, openml, monkeypatch):
    openml(openml_server(car=ARFF))
    monkeypatch.setenv("DMFROC_DATA", str(tmp_path))
    assert load_dataset("car").source == "OpenML car, version 1"


@pytest.mark.filterwarnings("ignore:A network error occurred")
def test_without_a_network_the_error_names_the_remedy(openml, monkeypatch):
    monkeypatch.delenv("DMFROC_DATA", raising=False)
    openml(Offline)
    with pytest.raises(OSError, match=r"no route to host.*set DMFROC_DATA .* holds car\.csv"):
        load_dataset("car")


def test_an_unknown_name_is_answered_with_the_close_and_all_known_ones():
    unknown = r"'waveform' .*mean 'waveform5000'\?\)\. Known: car, .*zoo"
    with pytest.raises(ValueError, match=unknown):
        load_dataset("waveform")
    with pytest.raises(ValueError, match=r"'qqq' is not a data set\. Known: car"):
        load_dataset("qqq")


def test_design_matrix_standardises_imputes_and_encodes(csv_directory):
    dataset = load_dataset("car")
    transformer = design_matrix(dataset)
    with pytest.raises(NotFittedError):
        check_is_fitted(transformer)
    matrix = transformer.fit_transform(dataset.X)
    numeric, one_hot = matrix[:, :2], matrix[:, 2:]
    np.testing.assert_allclose(numeric.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(numeric.std(axis=0), 1)
    assert numeric[1, 1] == pytest.approx(numeric[0, 1])  # 1.5 is the median of 1.5, -0.5 and 2
    # categories in order: high, low, missing, vhigh
    np.testing.assert_array_equal(one_hot, np.eye(4)[[3, 2, 1, 0]])
    unseen = transformer.transform(dataset.X.assign(buying="unheard of"))
    np.testing.assert_array_equal(unseen[:, 2:], 0)
