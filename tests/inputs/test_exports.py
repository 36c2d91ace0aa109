"""Exports of other tools with a totals row, a second header, look-alikes or codes for missing."""

import json

import numpy as np
import pandas as pd
import pytest

import dmfroc
from dmfroc import Predictions

CLASSES = ["cat", "dog", "owl"]
TRUE = np.arange(60) % 3
SHARES = np.random.default_rng(7).dirichlet([1, 1, 1], 60) * 0.5 + np.eye(3)[TRUE] * 0.5
EXPECTED = dmfroc.hand_till_score(TRUE, SHARES)
LABELS = np.array(CLASSES)[TRUE]


def text(frame=None):
    frame = pd.DataFrame(SHARES, columns=CLASSES).assign(y=LABELS) if frame is None else frame
    return frame.to_csv(index=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x + "20,20,20,Total\n", "label 'Total' occurs only once, at data row 61"),
        (lambda x: x + "20,20,20,\n", "has a missing label at data row 61"),
        (lambda x: x + "cat,dog,owl,y\n", "label 'y' occurs only once, at data row 61"),
        (lambda x: x.replace(",cat\n", ",Cat\n", 9), "labels 'Cat', 'cat' differ only in case"),
        (lambda x: x.replace(",cat\n", ",cat \n", 9), "labels 'cat', 'cat ' differ only in case"),
    ],
)
def test_rows_that_are_no_observations_and_labels_that_look_alike(tmp_path, change, message):
    path = tmp_path / "export.csv"
    path.write_text(change(text()))
    with pytest.raises(ValueError, match=message):
        Predictions.from_file(path, label="y")


def test_hard_labels_that_look_alike():
    with pytest.warns(UserWarning, match="labels 'Cat', 'cat' differ only in case"):
        Predictions.from_labels(["cat", "dog", "cat"], ["Cat", "dog", "cat"])


@pytest.mark.parametrize("code", [-999, -1, 9])
def test_codes_for_missing_values(code):
    scores = SHARES.copy()
    scores[4, 1] = code
    with pytest.warns(UserWarning, match=r"1 rows of y_score have scores outside 0 to 1.* row 4 "):
        dmfroc.hand_till_score(TRUE, scores)
    dmfroc.hand_till_score(TRUE, np.log(SHARES))  # no warning
    dmfroc.hand_till_score(TRUE, 100 * SHARES)


@pytest.mark.filterwarnings("ignore:columns that match no class are ignored")
def test_one_column_of_lists_beside_others(tmp_path):
    path = tmp_path / "answers.jsonl"
    rows = [
        {
            "text": f"text {row}",
            "tokens": row,
            "label": str(LABELS[row]),
            "scores": [
                {"label": name, "score": share}
                for share, name in sorted(zip(SHARES[row], CLASSES, strict=True))
            ],
        }
        for row in range(60)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert dmfroc.hand_till_score(Predictions.from_file(path, label="label")) == EXPECTED
    frame = pd.DataFrame(SHARES, columns=CLASSES).assign(label=LABELS)
    frame["raw"] = [str(row.tolist()) for row in -SHARES]
    path = tmp_path / "raw.csv"
    frame.to_csv(path, index=False)
    assert dmfroc.hand_till_score(Predictions.from_file(path, label="label")) == EXPECTED


@pytest.mark.parametrize(
    ("columns", "remedy"),
    [
        (["proba", "pred"], r"pass scores=\['proba'\]$"),
        (["pred", "proba"], r"pass scores=\['proba'\]$"),
        (["proba", "other"], r"in this order pass scores=\['proba', 'other'\], labels=\[0, 1\]$"),
        (["pred", "id"], "or choose with scores=$"),
    ],
)
def test_hard_labels_are_no_proposed_scores(tmp_path, columns, remedy):
    rng = np.random.default_rng(1)
    values = {"proba": rng.random(40), "other": rng.random(40), "pred": np.arange(40) // 2 % 2}
    values["id"] = np.arange(40)
    frame = pd.DataFrame({name: values[name] for name in columns}).assign(y=np.arange(40) % 2)
    path = tmp_path / "two.csv"
    frame.to_csv(path, index=False)
    with pytest.raises(ValueError, match=remedy):
        Predictions.from_file(path, label="y")
