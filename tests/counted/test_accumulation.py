"""Batches that come one after the other: the same counts as of a scan, and files."""

import json

import numpy as np
import pytest
from simulations import normal_scores

import dmfroc
from dmfroc import Accumulator

Y, SCORES = normal_scores(0, 900, 3, 1.5)
CUTS = np.linspace(-3, 4, 200)


def fed(accumulator, rows, size=50):
    for first in range(0, len(rows), size):
        some = rows[first : first + size]
        accumulator.update(Y[some], SCORES[some])
    return accumulator


def estimates(accumulator):
    found = accumulator.compute().estimates
    return {
        name: [e.value, e.standard_error, *e.interval, e.error_bound] for name, e in found.items()
    }


@pytest.fixture(scope="module")
def whole():
    return estimates(fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(900)))


def test_counts_are_those_of_a_scan(whole):
    there = dmfroc.evaluate(dmfroc.scan([(Y, SCORES)], cuts=CUTS)).estimates
    here = dmfroc.evaluate(Y, SCORES).estimates
    for name, found in whole.items():
        assert found[0] == pytest.approx(there[name].value, rel=1e-12)
        # The sample has every row, so that the standard error is that of all
        assert found[1] == pytest.approx(there[name].standard_error, rel=1e-12)
        assert abs(found[0] - here[name].value) <= found[-1] + 1e-12


def test_merged_parts_are_the_whole(whole, tmp_path):
    order = np.random.default_rng(1).permutation(900)
    yesterday = fed(Accumulator([0, 1, 2], cuts=CUTS), order[:400], size=7)
    yesterday.save(tmp_path / "yesterday.npz")
    yesterday = Accumulator.load(tmp_path / "yesterday.npz")
    today = fed(Accumulator([0, 1, 2], cuts=yesterday), order[400:])
    merged = yesterday.merge(today)
    assert merged.n_observations == 900
    assert today.n_observations == 500
    for name, found in estimates(merged).items():
        assert found == pytest.approx(whole[name], rel=1e-12)


@pytest.mark.parametrize("learned", [0, 1, 2])
def test_merging_before_and_after_cuts_are_learned(learned):
    """A batch that waits for cut points is counted with those of the other."""
    first, second = (
        fed(Accumulator([0, 1, 2], n_bins=64, learn_from=limit), rows)
        for limit, rows in (
            (100 if learned == 1 else 10_000, np.arange(300)),
            (100 if learned == 2 else 10_000, np.arange(300, 900)),
        )
    )
    first.merge(second)
    counts = first.bound[""].counts if learned else None
    evaluation = first.compute(["hand_till", "informedness"])
    assert evaluation.predictions.n_observations == 900
    if counts is not None:
        assert counts.cells[""].sum() == 3 * 900
    for name, expected in dmfroc.evaluate(Y, SCORES).estimates.items():
        if name in evaluation.estimates:
            found = evaluation.estimates[name]
            assert abs(found.value - expected.value) <= found.error_bound + 1e-12


def test_standard_error_from_a_sample(monkeypatch):
    monkeypatch.setattr("dmfroc.counted.sample._MOST_ROWS", 100)
    found = fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(900)).compute(["hand_till"])
    expected = dmfroc.estimate("hand_till", Y, SCORES).standard_error
    assert found.estimates["hand_till"].standard_error == pytest.approx(expected, rel=0.15)
    # What the class sizes add is known from all rows, not from the sample
    assert found.estimates["hand_till"].class_sizes == "fixed"


def test_weights_and_hard_labels():
    weights, hard = np.tile([0.0, 1.0, 2.5], 300), (Y + (np.arange(900) % 5 == 0)) % 3
    accumulator = Accumulator([0, 1, 2], cuts=CUTS)
    for rows in np.array_split(np.arange(900), 9):
        accumulator.update(Y[rows], SCORES[rows], sample_weight=weights[rows], y_pred=hard[rows])
    expected = dmfroc.estimate("informedness", Y, SCORES, sample_weight=weights, y_pred=hard)
    found = accumulator.compute(["informedness"]).estimates["informedness"]
    assert accumulator.n_observations == 600
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)


# Errors


def test_different_cuts_cannot_be_merged():
    first = fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(300))
    second = fed(Accumulator([0, 1, 2], cuts=CUTS + 0.1), np.arange(300))
    with pytest.raises(ValueError, match=r"give one .* Accumulator\(labels, cuts=other\)"):
        first.merge(second)
    with pytest.raises(ValueError, match="the classes differ"):
        first.merge(Accumulator([0, 1]))


@pytest.mark.parametrize(
    ("labels", "options", "kind", "message"),
    [
        ([0], {}, ValueError, "labels must name two classes or more"),
        ([0, 0, 1], {}, ValueError, "each once"),
        ([0, 1], {"cuts": [0.5, 0.2]}, ValueError, "cuts must be finite, or infinite at the end"),
        ([0, 1], {"cuts": np.zeros((3, 1))}, ValueError, "one row for each of the 2 classes"),
        ([0, 1], {"cuts": [0.5], "n_bins": 9}, TypeError, "cannot both be given"),
        ([0, 1], {"n_bins": 1}, ValueError, "n_bins must be an integer >= 2"),
        ([0, 1], {"learn_from": 0}, ValueError, "learn_from must be a positive integer"),
    ],
)
def test_unusable_options(labels, options, kind, message):
    with pytest.raises(kind, match=message):
        Accumulator(labels, **options)


def test_nothing_accumulated():
    with pytest.raises(ValueError, match="nothing has been accumulated"):
        Accumulator([0, 1]).compute()


def test_unknown_label():
    with pytest.raises(ValueError, match="labels without a score column: 3"):
        Accumulator([0, 1, 2]).update([0, 3], SCORES[:2])


def test_unusable_files(tmp_path):
    path = tmp_path / "saved.npz"
    fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(300)).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays["header"]))
    np.savez(path, **(arrays | {"header": np.array(json.dumps(header | {"version": 99}))}))
    with pytest.raises(ValueError, match="its version is 99"):
        Accumulator.load(path)
    np.savez(path, y=Y)
    with pytest.raises(ValueError, match="no file of counts that dmfroc has saved"):
        Accumulator.load(path)
    np.savez(path, header=np.array({"a": 1}, dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="no file of counts"):
        Accumulator.load(path)


def test_what_was_merged_before_is_merged_on(whole):
    """Rows behind the standard errors are those of all, in whichever order parts were added."""
    a, b, c = (
        fed(Accumulator([0, 1, 2], cuts=CUTS), rows)
        for rows in (np.arange(100), np.arange(100, 500), np.arange(500, 900))
    )
    for part in (a, b, c):
        part.compute()  # each has a sample of its own
    for name, found in estimates(a.merge(c.merge(b))).items():
        assert found == pytest.approx(whole[name], rel=1e-12)
    both = fed(Accumulator([0, 1, 2], cuts=CUTS), np.arange(100, 900))
    for name, found in estimates(c).items():
        assert found == pytest.approx(estimates(both)[name], rel=1e-12)
