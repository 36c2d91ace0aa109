"""The real data sets of the multiclass ROC literature, from local files or from OpenML."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy
    import pandas
    import sklearn.compose

__all__ = ["Dataset", "design_matrix", "load_dataset"]


class _Origin(NamedTuple):
    openml_name: str
    openml_version: int = 1
    label: str | None = None  # column with the class in the CSV file; None: the last one


_ORIGINS = {
    "car": _Origin("car"),
    "credit_a": _Origin("credit-approval"),
    "glass": _Origin("glass"),
    "heart_c": _Origin("heart-c"),
    "ionosphere": _Origin("ionosphere"),
    "iris": _Origin("iris"),
    "optdigits": _Origin("optdigits"),
    "pendigits": _Origin("pendigits"),
    "shuttle_landing_control": _Origin("shuttle-landing-control", label="Class"),
    "tae": _Origin("tae"),
    "tic_tac_toe": _Origin("tic-tac-toe"),
    "vote": _Origin("vote"),
    "waveform5000": _Origin("waveform-5000"),
    "zoo": _Origin("zoo"),
}


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
    if name not in _ORIGINS:
        close = difflib.get_close_matches(name, _ORIGINS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"name={name!r} is not a data set.{hint} Known: {', '.join(_ORIGINS)}.")
    directory = os.environ.get("DMFROC_DATA")
    if directory and (path := Path(directory) / f"{name}.csv").is_file():
        return _read(name, path)
    return _download(name)


def design_matrix(dataset: Dataset) -> sklearn.compose.ColumnTransformer:
    """Prepare the transformer that turns the features of a data set into numbers.

    Numeric columns are imputed by their median and standardised; the other columns are one-hot
    encoded, where a missing value is a category of its own and a category that was not seen
    in fitting is all zeros.

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

    categorical = dataset.X.dtypes == "object"
    return ColumnTransformer(
        [
            (
                "numeric",
                make_pipeline(
                    SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
                ),
                list(dataset.X.columns[~categorical]),
            ),
            (
                "categorical",
                make_pipeline(
                    SimpleImputer(strategy="constant", fill_value="missing"),
                    OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                ),
                list(dataset.X.columns[categorical]),
            ),
        ]
    )


def _read(name: str, path: Path) -> Dataset:
    import pandas

    frame = pandas.read_csv(path, dtype=object, keep_default_na=False, na_values=[""])
    label = frame.pop(_ORIGINS[name].label or frame.columns[-1])
    return Dataset(name, _typed(frame), label.to_numpy(dtype=str), str(path))


def _download(name: str) -> Dataset:
    from sklearn.datasets import fetch_openml

    origin = _ORIGINS[name]
    try:
        bunch = fetch_openml(
            name=origin.openml_name,
            version=origin.openml_version,
            as_frame=True,
            # The faster parser fails on classes that are digits (scikit-learn issue 34892).
            parser="liac-arff",
        )
    except OSError as error:
        raise OSError(
            f"The data set {name!r} could not be downloaded from OpenML ({error}). Without a "
            f"network, set DMFROC_DATA to a directory that holds {name}.csv."
        ) from error
    return Dataset(
        name,
        _typed(bunch.data),
        bunch.target.to_numpy(dtype=str),
        f"OpenML {origin.openml_name}, version {origin.openml_version}",
    )


def _typed(features: pandas.DataFrame) -> pandas.DataFrame:
    """Make columns of numbers numeric and all others objects, whatever they were read as."""
    return features.astype(object).apply(_numeric_if_possible)


def _numeric_if_possible(column: pandas.Series) -> pandas.Series:
    import pandas

    try:
        return pandas.to_numeric(column)
    except ValueError:
        return column
