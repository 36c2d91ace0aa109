"""The real data sets of the multiclass ROC literature, from local files or from OpenML."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dmfroc._kit.text import did_you_mean

if TYPE_CHECKING:
    import numpy
    import pandas
    import sklearn.compose


# Names on OpenML, all of version 1
_OPENML = {
    "car": "car",
    "credit_a": "credit-approval",
    "glass": "glass",
    "heart_c": "heart-c",
    "ionosphere": "ionosphere",
    "iris": "iris",
    "optdigits": "optdigits",
    "pendigits": "pendigits",
    "shuttle_landing_control": "shuttle-landing-control",
    "tae": "tae",
    "tic_tac_toe": "tic-tac-toe",
    "vote": "vote",
    "waveform5000": "waveform-5000",
    "zoo": "zoo",
}
_LABELS = {"shuttle_landing_control": "Class"}  # columns of the classes; of others the last one


@dataclass(frozen=True, eq=False)
class Dataset:
    """A classification data set.

    Attributes
    ----------
    name : str
        The name it was loaded by.
    X : pandas.DataFrame of shape (n, p)
        Features. A column whose present values are all numbers is numeric, any other is of
        dtype object; missing values are NaN in both.
    y : numpy.ndarray of shape (n,)
        Class labels, as strings.
    source : str
        Where the data came from: a path, or the OpenML name and version.
    """

    name: str
    X: pandas.DataFrame
    y: numpy.ndarray
    source: str


def load_dataset(name: str) -> Dataset:
    """Load a data set by name.

    Reads ``<name>.csv`` in the directory that the environment variable ``DMFROC_DATA`` names,
    and otherwise downloads the set from OpenML, which scikit-learn caches. Both give the same
    features and labels.

    Parameters
    ----------
    name : str
        One of ``car``, ``credit_a``, ``glass``, ``heart_c``, ``ionosphere``, ``iris``,
        ``optdigits``, ``pendigits``, ``shuttle_landing_control``, ``tae``, ``tic_tac_toe``,
        ``vote``, ``waveform5000`` and ``zoo``.

    Returns
    -------
    Dataset
        Features, labels and where they came from.

    Raises
    ------
    ValueError
        If the name is unknown.
    OSError
        If the set is not at hand locally and OpenML cannot be reached.
    """
    if name not in _OPENML:
        hint = did_you_mean(name, _OPENML)
        raise ValueError(f"name={name!r} is not a data set{hint}. Known: {', '.join(_OPENML)}.")
    directory = os.environ.get("DMFROC_DATA")
    if directory and (path := Path(directory) / f"{name}.csv").is_file():
        import pandas

        frame = pandas.read_csv(path, dtype=object, keep_default_na=False, na_values=[""])
        labels = frame.pop(_LABELS.get(name, frame.columns[-1]))
        return _typed(name, frame, labels, str(path))
    from sklearn.datasets import fetch_openml

    try:
        # The faster parser fails on classes that are digits (scikit-learn issue 34892).
        bunch = fetch_openml(_OPENML[name], version=1, as_frame=True, parser="liac-arff")
    except OSError as error:
        raise OSError(
            f"The data set {name!r} could not be downloaded from OpenML ({error}). Without a "
            f"network, set DMFROC_DATA to a directory that holds {name}.csv."
        ) from error
    return _typed(name, bunch.data, bunch.target, f"OpenML {_OPENML[name]}, version 1")


def design_matrix(dataset: Dataset) -> sklearn.compose.ColumnTransformer:
    """Prepare the transformer that turns the features of a data set into numbers.

    Numeric columns are imputed by their median and standardised; the other columns are one-hot
    encoded. A missing value is a category of its own, and a category that was not seen in fitting
    is all zeros.

    Parameters
    ----------
    dataset : Dataset
        The data set; only the types of its columns are used.

    Returns
    -------
    sklearn.compose.ColumnTransformer
        Not fitted: the first step of a pipeline, so that it learns from training data alone.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    is_text = dataset.X.dtypes == "object"
    numeric = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    categorical = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    return ColumnTransformer(
        [
            ("numeric", numeric, list(dataset.X.columns[~is_text])),
            ("categorical", categorical, list(dataset.X.columns[is_text])),
        ]
    )


def _typed(name: str, features: pandas.DataFrame, labels: pandas.Series, source: str) -> Dataset:
    """Make columns of numbers numeric and all others objects, whatever they were read as."""
    features = features.astype(object).apply(_numeric_if_possible)
    return Dataset(name, features, labels.to_numpy(dtype=str), source)


def _numeric_if_possible(column: pandas.Series) -> pandas.Series:
    import pandas

    try:
        return pandas.to_numeric(column)
    except ValueError:
        return column
