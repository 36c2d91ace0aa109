"""What the command line reads: files of scores and of costs, and the lists in its options."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import dmfroc
from dmfroc._kit.remarks import Note, collected_remarks
from dmfroc._kit.text import did_you_mean, split_calls
from dmfroc.cli.applications import application
from dmfroc.cli.outputs import as_typed, progress
from dmfroc.inputs.messages import listing

if TYPE_CHECKING:
    from dmfroc.counted.scan import Scan
    from dmfroc.inputs.predictions import Predictions

_COLUMNS = ("label", "sample_weight", "frequency_weight", "y_pred", "id")
_OF_FILES = (*_COLUMNS, "truth", "pos_label", "direction", "separator", "decimal", "encoding")

_OF_ROWS = ("where", "drop_label", "drop_missing")
_OF_COLUMNS = (*_COLUMNS[1:], "folds", "groups", "by", "judge", "time", "other_columns")

_IN_MEMORY = (
    *("frequency_weight", "folds", "other_columns", "pos_label", "judge", "time", "censored"),
    "horizon",
    *("truth", "drop_label", "where", "drop_missing", "threshold", "direction"),
)

type PairWeights = str | list[list[float]]


@dataclass(frozen=True)
class Columns:
    """What the command line says about the contents of a file."""

    label: str
    scores: Sequence[str] = ()
    models: Sequence[str] = ()
    labels: str | None = None
    pos_label: str | None = None
    direction: Any = None
    sample_weight: str | None = None
    frequency_weight: str | None = None
    y_pred: str | None = None
    other_columns: Sequence[str] = ()
    id: str | None = None
    truth: Path | None = None
    drop_label: Sequence[str] = ()
    where: Sequence[str] = ()
    drop_missing: bool | Sequence[str] = False
    threshold: float | None = None
    folds: Sequence[str] = ()
    groups: str | None = None
    by: Sequence[str] = ()
    judge: str | None = None
    time: str | None = None
    censored: str | None = None
    horizon: Sequence[float] = ()
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> Columns:
        """Take the options of columns out of all that a command was given; build objects of others.

        ``--n-draws`` becomes a part of the method, ``--margin`` and ``--rope`` become a test.
        """
        if options.keys() >= {"method", "n_draws"}:
            options["method"] = _method_of(options["method"], options.pop("n_draws"))
        if "rope" in options:
            options["test"] = _test_of(*(options.pop(x) for x in ("alternative", "margin", "rope")))
        names = [x.name for x in fields(cls) if x.name in options]
        taken = {name: options.pop(name) for name in names}
        return cls(**taken | {"label": taken["label"] or ""})

    @property
    def _scores(self) -> str | list[str] | None:
        scores = split_all(self.scores)
        # In a .npz file one array holds all scores, and is named by a plain string
        return None if not self.scores else scores[0] if len(scores) == 1 else scores

    @property
    def _labels(self) -> list[str] | None:
        return None if self.labels is None else split_list(self.labels)

    @property
    def _where(self) -> dict[str, list[str]]:
        where: dict[str, list[str]] = {}
        for item in self.where:
            name, sign, values = item.partition("=")
            if not sign:
                raise ValueError(f"--where must be COLUMN=VALUE, such as split=test, not {item!r}")
            where.setdefault(name, []).extend(split_list(values))
        return where

    @property
    def _chosen(self) -> dict[str, Any]:
        """Which columns and which rows."""
        others = [*split_all(self.folds), *filter(None, (self.groups, self.time))]
        return {
            "scores": self._scores,
            "labels": self._labels,
            "other_columns": (*split_all(self.other_columns), *self.by, *others),
            "drop_label": split_all(self.drop_label) or None,
            "where": self._where,
            "drop_missing": self.drop_missing,
        }

    def scan(self, files: Path, scheduler: str | None) -> Scan:
        """Return what is to be read in passes."""
        for option in _IN_MEMORY:
            if getattr(self, option) not in (None, (), False):
                raise ValueError(f"{option}= needs all scores in memory: leave --scan out")
        for option in ("separator", "decimal", "encoding"):
            if getattr(self, option) is not None:
                raise ValueError(f"--{option} is for files of text, and --scan reads Parquet")
        return dmfroc.scan(
            files,
            label=self.label,
            scores=self._scores,
            labels=self._labels,
            sample_weight=self.sample_weight,
            predicted=self.y_pred,
            groups=self.groups,
            scheduler=scheduler,
        )

    def read(self, file: Path) -> Predictions:
        """Read and check the predictions in a file."""
        chosen = self._chosen
        if self.time and self.labels is None:
            from dmfroc.inputs.horizon import labels_of_events

            events = self.read_others(file, {self.label: "label"})[self.label].tolist()
            chosen["labels"] = [str(x) for x in labels_of_events(events, self.censored)[0]]
        with collected_remarks():  # which all results of the predictions have
            try:
                predictions = dmfroc.Predictions.from_file(
                    file, **chosen, **{name: getattr(self, name) for name in _OF_FILES}
                )
            except ValueError as error:
                raise ValueError(f"{error}{self._of_others(str(error))}") from error
        notes = [x for x in predictions.remarks if isinstance(x, Note)]
        click.get_current_context().meta.setdefault("as_read", {}).update(dict.fromkeys(notes))
        named = next((x for x in notes if x.startswith(f"{file}: ")), str(file))
        others = tuple(x for x in predictions.remarks if x not in notes)
        predictions = replace(predictions, file=as_typed(named), remarks=others)
        if self.threshold is None:
            return predictions
        if predictions.n_classes > 2 or self.y_pred is not None:
            either = "it or --y-pred" if self.y_pred else "it"
            raise ValueError(
                f"--threshold makes hard labels of one score of two classes: leave {either} out"
            )
        from dmfroc.inputs.score_doubts import threshold_message

        side = predictions.direction or ">="
        score = predictions.scores[:, 1] * (turned := -1 if side == "<=" else 1)
        hard = (turned * score >= turned * self.threshold).astype("int32")
        design = {**predictions.design, "hard_labels": f"score {side} {self.threshold:g}"}
        doubt = threshold_message(score, hard, predictions.true, self.threshold)
        remarks = (*predictions.remarks, *filter(None, [doubt]))
        return replace(predictions, predicted=hard, design=design, remarks=remarks)

    def _of_others(self, error: str) -> str:
        """Say which other options an error about classes or their columns may come from."""
        if "pos_label= must be one of the classes" in error:
            known = re.findall("'(.*?)'", error.partition(", but it is")[0])
            return did_you_mean(self.pos_label or "", known)
        is_of_rows = "holds one class only" in error
        names = _OF_ROWS if is_of_rows else _OF_COLUMNS * ("no column for class" in error)
        options = " and ".join(
            f"{name}={[] if x is True else split_all([x] if isinstance(x, str) else x)}"
            for name in names
            if (x := getattr(self, name))
        )
        told = (
            f"rows are those of {options}" if is_of_rows else f"columns of {options} are no scores"
        )
        return f"; {told}" if options else ""

    def read_judged(self, file: Path) -> tuple[Predictions, dict[str, Any]]:
        """Read scores, labels of a judge, and labels that are mostly missing."""
        import numpy as np

        from dmfroc.inputs.arrays import is_missing

        if self.drop_label or self.drop_missing or self.truth or self.threshold is not None:
            raise ValueError(
                "--judge has labels of its own: leave --drop-label, --drop-missing, --truth and "
                "--threshold out"
            )
        judge = self.judge or ""
        verified = self.read_others(file, {self.label: "label", judge: "judge"})[self.label]
        predictions = replace(
            self, label=judge, other_columns=[*self.other_columns, self.label]
        ).read(file)
        verified = predictions.given_rows.arranged(verified, None, self.label)
        known = [None if is_missing(x) or x == "" else x for x in verified.tolist()]
        given = predictions.as_given
        names, scores = given.labels, given.scores
        if given.single is not None:
            scores = scores[:, given.single]
            if predictions.direction == "<=":  # turned, probabilities to those of the other class
                scores = float(np.all(np.abs(2 * scores - 1) <= 1)) - scores
        hard = None if given.predicted is None else [names[c] for c in given.predicted]
        return predictions, {
            "y_true": known,
            "y_score": scores if given.has_scores else None,
            "y_pred": hard,
            "labels": list(names),
            "pos_label": predictions.labels[1] if given.n_classes == 2 else None,
            "sample_weight": given.sample_weight if given.is_weighted else None,
            "judge": [names[c] for c in given.true],
        }

    def of_each(self, files: Sequence[Path]) -> dict[str, tuple[Columns, Path]]:
        """Return by name the columns and the file of each classifier.

        Those of a single file have the columns of each of --models, or a column of --scores each,
        which is a score of two classes.
        """
        if self.models and (len(files) > 1 or self.scores or self.y_pred):
            raise ValueError(
                "--models are columns of one file: leave --scores and --y-pred out, and write a "
                "comma between models, as in --models 'a_*,b_*'"
            )
        if len(files) > 1:
            each = [(self, file) for file in files]
            return dict(zip(classifier_names(files), each, strict=True))
        called, given = "models" if self.models else "scores", split_all(self.models or self.scores)
        columns = [*self.read_others(files[0], dict.fromkeys(given, called))]
        if len(columns) < 2 or self.y_pred:
            raise ValueError(
                "name two files or more, or one with two classes and, in --scores a,b, a column of "
                "scores for each classifier; of more classes, --models 'a_*,b_*' names the columns "
                "of each. If a column names the model of each row, make a column of every model, "
                "in pandas by frame.pivot(index=['id', 'label'], columns='model', values='score')"
                ".to_csv('wide.csv')"
            )
        texts = given if self.models else columns
        names = [x.replace("*", "").strip(" _.:-([") if self.models else x for x in texts]
        names = names if len({*names} - {""}) == len(names) else texts
        own: dict[str, Any] = {"models": (), "drop_missing": self.drop_missing and columns}
        each = [(replace(self, scores=[_quoted(x)], **own), files[0]) for x in texts]
        return dict(zip(names, each, strict=True))

    def read_all_judged(
        self, each: Mapping[str, tuple[Columns, Path]]
    ) -> tuple[dict[str, Predictions], dict[str, Any]]:
        """Read what several classifiers say of the same rows, and the same labels of these."""
        if self.id is not None:
            raise ValueError("--judge needs files with rows in the same order: leave --id out")
        read = {name: columns.read_judged(file) for name, (columns, file) in each.items()}
        first, *others = (arguments for _, arguments in read.values())
        shared = {"y_true": f"column {self.label!r}", "judge": f"column {self.judge!r}"}
        for (_, file), other in zip([*each.values()][1:], others, strict=True):
            for key, what in (shared | {"labels": "the set of classes"}).items():
                if other[key] != first[key]:
                    raise ValueError(
                        f"{what} of {file} differs from that of the first file: with --judge all "
                        "must have the same rows in the same order"
                    )
        of_each = {
            key: {name: arguments[key] for name, (_, arguments) in read.items()}
            for key in ("y_score", "y_pred")
        }
        return {name: predictions for name, (predictions, _) in read.items()}, first | of_each

    def read_units(self, *files: Path) -> dict[str, Any]:
        """Read the fold, the group and the follow-up of each row, if there are columns of them.

        They are those of the first file. Others of the same rows have the same ones.
        """
        if bool(self.time) != bool(self.horizon) or (self.censored and not self.time):
            raise ValueError("--time, --horizon and --censored go together")
        named, folds = {self.groups: "groups", self.time: "time"}, split_all(self.folds)
        arguments = {name: option for name, option in named.items() if name}
        arguments |= dict.fromkeys(folds, "folds")
        if not arguments:  # importing pandas takes a fifth of the time of a small file
            return {"groups": None, "folds": None}
        import pandas as pd

        from dmfroc.inputs.horizon import FollowUp

        first, *others = (self.read_others(file, arguments) for file in files)
        for file, other in zip(files[1:], others, strict=True):
            for name, column in first.items():
                has_same_rows = self.id is None and len(column) == len(other[name])
                if has_same_rows and (differs := column != other[name]).any():
                    row = int(differs.argmax())
                    raise ValueError(
                        f"column {name!r} differs between {files[0]} and {file}, first at data "
                        f"row {row + 1}, which has {column[row]} and {other[name][row]}: "
                        "rows that are in different orders are matched by id="
                    )
        units: dict[str, Any] = {"groups": first[self.groups] if self.groups else None}
        units["folds"] = pd.DataFrame({x: first[x] for x in folds}) if folds else None
        if self.time:
            horizon: Any = self.horizon if len(self.horizon) > 1 else self.horizon[0]
            censored = self.censored or (self._labels[0] if self._labels else None)
            units["follow_up"] = FollowUp(
                pd.Series(first[self.time], name=self.time), horizon, censored
            )
        return units

    def read_items(self, files: Sequence[Path], answers: Sequence[str]) -> dict[str, Any]:
        """Read scores of items by model: a column each of a single file, or a file each."""
        if len(files) == 1:
            return dict(self.read_answers(files[0], answers).items())
        if self.id is None:
            raise ValueError("--answers of several files are matched by --id: name its column")
        read = (self.read_answers(file, answers) for file in files)
        return dict(zip(classifier_names(files), read, strict=True))

    def read_answers(self, file: Path, answers: Sequence[str]) -> Any:
        """Read scores of items: a table with the named columns, whose index is the id."""
        import pandas as pd

        arguments = dict.fromkeys(split_all(answers), "answers") | (
            {self.id: "id"} if self.id else {}
        )
        read = self.read_others(file, arguments)
        ids = read.pop(self.id) if self.id else range(len(next(iter(read.values()))))
        # As texts, since numbers from 0 would only count the rows
        index = [str(x) for x in ids]
        try:
            return pd.DataFrame(read, index=index).astype(float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{file}: --answers must be columns of numbers: {error}") from error

    def read_ratings(self, file: Path, raters: Sequence[str]) -> list[list[Any]]:
        """Read the classes that raters chose for each row, None where one chose none."""
        read = self.read_others(file, dict.fromkeys(split_all(raters), "raters"))
        return [[None if x == "" else x for x in row] for row in zip(*read.values(), strict=True)]

    def read_others(self, file: Path, arguments: Mapping[str, str]) -> dict[str, Any]:
        """Read columns, each of one argument, that are about the observations but are no scores."""
        from dmfroc.inputs.delimited import checked_format
        from dmfroc.inputs.files import read_columns
        from dmfroc.inputs.tables import Names

        if not arguments:
            return {}
        try:
            named = {x: name for x in _COLUMNS if (name := getattr(self, x))}
            given = checked_format(self.separator, self.decimal, self.encoding)
            names = Names(named, truth=self.truth, format=given, **self._chosen)
            return read_columns(file, arguments, names)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{file}: {error}") from error


def read_all(
    columns: Columns,
    each: Mapping[str, tuple[Columns, Path]],
    pair_weights: str,
    options: dict[str, Any],
) -> tuple[dict[str, Predictions], Any, dict[str, Any]]:
    """Read all classifiers by name, the weights of pairs, and what rows belong together."""
    files, measure = list(dict.fromkeys(file for _, file in each.values())), options["measure"]
    if pair_weights != "equal" and not (
        len(split_calls(measure)) == 1 and dmfroc.measures.get_measure(measure).is_dmf_auc
    ):
        raise ValueError(f"--pair-weights concerns dmf_auc alone, but --measures is {measure}")
    with progress(f"Reading {len(files)} {'file' if len(files) == 1 else 'files'} ..."):
        units = columns.read_units(*files)
        judged: dict[str, Any] = {}
        if columns.judge:
            predictions, judged = columns.read_all_judged(each)
        else:
            predictions = {name: own.read(file) for name, (own, file) in each.items()}
        first = next(iter(predictions.values()))
        weights = read_pair_weights(pair_weights, first)
        units |= judged
        units["population"] = read_shares(options.pop("target_prevalence"), first)
        return predictions, weights, units


def _method_of(name: str | None, n_draws: int | None) -> Any:
    """Return the method, with its number of draws if that is given."""
    if n_draws is None:
        return name
    methods = {"bootstrap": dmfroc.Bootstrap, "bayesian_bootstrap": dmfroc.BayesianBootstrap}
    if name not in methods:
        raise ValueError(f"--n-draws goes with --method {' or '.join(methods)}")
    return methods[name](n_draws)


def _test_of(side: str, margin: float | None, rope: float) -> Any:
    """Return what is tested of differences."""
    if (side != "two-sided") + (margin is not None) + bool(rope) > 1:
        raise ValueError("--alternative, --margin and --rope are three tests: give one of them")
    if margin is not None:
        return dmfroc.NonInferiority(margin)
    return dmfroc.Equivalence(rope) if rope else side


def options_of_items(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `dmfroc.applications.items`; refuse others that were given."""
    known, context = signature(application("items")).parameters, click.get_current_context()
    for name in options.keys() - known.keys():
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            raise ValueError(f"{name}= is about classes: leave it or --answers out")
    return {x: value for x, value in options.items() if x in known and value is not None}


def each_class(is_asked: bool, y_true: Any) -> dict[str, Any]:
    """Return the classes that occur, each to be judged against the rest, if that is asked for."""
    if not is_asked:
        return {}
    if isinstance(y_true, list):  # with a judge, who has all classes
        return {"pos_label": sorted({x for x in y_true if x is not None})}
    several = y_true.values() if isinstance(y_true, Mapping) else [y_true]
    if not all(isinstance(x, dmfroc.Predictions) for x in several):
        raise ValueError("--per-class needs all rows in memory: leave --scan out")
    return {"pos_label": list(dict.fromkeys(x.labels[k] for x in several for k in x.present))}


def check_either(label: str, answers: Sequence[str]) -> None:
    """Refuse classes and items together, and neither."""
    if bool(label) == bool(answers):
        raise ValueError("give either --label, the column of classes, or --answers of items")


def read_shares(text: str | None, predictions: Predictions | Scan) -> Any:
    """Read shares of classes, ``a=0.2,b=0.8``, or the one of the positive class."""
    if text is None:
        return None
    wrong = ValueError(
        "--target-prevalence must be shares such as ill=0.01,healthy=0.99, or, of two classes, a "
        f"number between 0 and 1, such as 0.2 for 20 %, not {text!r}"
    )
    items = split_list(text)
    try:
        if len(items) == 1 and "=" not in items[0] and 0 < float(items[0]) < 1:
            return float(items[0])
        pairs = [item.rpartition("=") for item in items]
        if not all(name for name, _, _ in pairs):
            raise wrong
        return {_label_of(name.strip(), predictions): float(x) for name, _, x in pairs}
    except ValueError:
        raise wrong from None


def _quoted(name: str) -> str:
    """Return a name as one item of a list."""
    return '"{}"'.format(name.replace('"', '""'))


def split_all(texts: Sequence[str]) -> list[str]:
    """Split the lists in all values of an option at their commas."""
    return [item for text in texts for item in split_list(text)]


def split_list(text: str) -> list[str]:
    """Split a list at its commas; quotes protect those inside a name, as in a CSV file."""
    try:
        return [item for row in csv.reader([text], skipinitialspace=True) for item in row]
    except csv.Error as error:
        raise ValueError(f"{text[:80]!r} is no list on one line: {error}") from error


def classifier_names(files: Sequence[Path]) -> list[str]:
    """Name classifiers after their files, as briefly as keeps them apart."""
    namings: tuple[Callable[[Path], str], ...] = (stem, lambda file: file.name, str)
    for naming in namings:
        names = [naming(file) for file in files]
        if len(set(names)) == len(names):
            return names
    return [f"{file} ({number})" for number, file in enumerate(files, start=1)]


def stem(file: Path) -> str:
    """Return the name of a file without directory and suffixes."""
    return Path(file.name.removesuffix(".gz")).stem


def read_pair_weights(text: str, predictions: Predictions | Scan) -> PairWeights:
    """Return a keyword as it is, or the cost matrix in a file, in the order of the classes."""
    if text in ("equal", "prevalence"):
        return text
    file = Path(text)
    if not file.is_file():
        raise ValueError(
            "--pair-weights must be 'equal', 'prevalence' or a CSV file with a matrix of costs, "
            f"but it is {text!r}, and there is no such file"
        )
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            table = [[cell.strip() for cell in row] for row in csv.reader(stream) if any(row)]
        return _cost_matrix(table, predictions)
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{file}: {error}") from error


def _label_of(text: str, predictions: Predictions | Scan) -> Any:
    """Return the class that a text names; programs differ in how they spell true and false."""
    from dmfroc.inputs.labels import spelled_label

    label = spelled_label(text, type(predictions.labels[0]))
    return text if label is None else label


def _cost_matrix(table: list[list[str]], read: Predictions | Scan) -> list[list[float]]:
    """Return the costs by class; the diagonal counts for nothing and may be empty."""
    if not table:
        raise ValueError("the file is empty, but should hold a matrix of costs")
    classes = list(read.labels)
    predicted = [_label_of(name, read) for name in table[0][1:]]
    observed = [_label_of(row[0], read) for row in table[1:]]
    for row in table[1:]:
        if len(row) != len(table[0]):
            raise ValueError(
                f"the row of class {row[0]!r} has {len(row) - 1} costs, but the header names "
                f"{len(predicted)} classes"
            )
    for what, names in (("column", predicted), ("row", observed)):
        for label in classes:
            if names.count(label) != 1:
                count = "are several" if label in names else "is none"
                raise ValueError(
                    f"there must be one {what} of costs for class {label!r}, but there {count}; "
                    f"the {what}s are {listing(names)}"
                )
    costs = {
        i: dict(zip(predicted, row[1:], strict=True))
        for i, row in zip(observed, table[1:], strict=True)
    }
    return [
        [0.0 if i == j else _cost(costs[i][j], f"row {i!r}, column {j!r}") for j in classes]
        for i in classes
    ]


def _cost(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"the cost in {where} must be a number, but it is {text!r}") from None
