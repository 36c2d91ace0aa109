"""What authors of results and tables are told if something is missing or wrong."""

import dataclasses
import json
import re

import numpy as np
import pytest

import dmfroc
from dmfroc import extend
from dmfroc.extend import Column, Options, Result, Table, facts_in, get_measure
from dmfroc.results.table import printed

RNG = np.random.default_rng(0)
TIME, EVENT, RISK = 5 * RNG.exponential(size=200), RNG.integers(2, size=200), RNG.random(200)
NEEDED = (
    ": a Result needs tables(), main_table, the key of one of them, and warnings, a tuple of str "
    "such as ()"
)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Bare(Result):
    is_good: bool
    integrated_brier: object = None

    def tables(self):
        return [Table("own", "Own", [Column("good", "is good", [self.is_good, not self.is_good])])]


class Whole(Bare):
    main_table = "own"
    warnings = ()


@pytest.mark.parametrize(
    ("name", "use"),
    [("warnings", str), ("warnings", Bare.to_json), ("main_table", Bare.to_pandas)],
)
def test_an_error_says_which_members_a_result_needs(name, use):
    with pytest.raises(AttributeError) as caught:
        use(Bare(True))
    assert str(caught.value) == f"'Bare' object has no attribute {name!r}{NEEDED}"
    assert "needs ``tables()``, ``main_table`` and ``warnings``" in Result.__doc__


def test_yes_and_no_are_printed_as_such():
    assert str(Whole(True)).split() == ["is", "good", "─" * 7, "yes", "no"]
    assert str(Whole(np.True_)) == str(Whole(True))
    assert json.loads(Whole(True).to_json())["own"] == [{"good": True}, {"good": False}]
    assert Whole(True).to_pandas()["good"].dtype == bool
    assert ">yes</th></tr>" in Whole(True).to_html()
    labels = Table("t", "T", [Column("label", "label", [True, False], "name")])
    assert [cell.text for [cell] in printed(labels)[1]] == ["True", "False"]


def test_missing_attributes_are_looked_for_in_ones_own_result_first():
    part = dmfroc.estimate("hand_till", EVENT, RISK)
    with pytest.raises(AttributeError, match=r"^'Whole' .* 'to_df': type whole\.to_pandas\(\)$"):
        Whole(True, part).to_df()


def test_a_result_of_ones_own_is_told_how_to_be_drawn():
    with pytest.raises(TypeError) as caught:
        Whole(True).plot()
    assert str(caught.value) == (
        'Whole has no plot(): decorate a function with @renders("Whole.plot"), from '
        "dmfroc.extend, in the module that drawn_by names"
    )


@pytest.mark.parametrize("name", ["integrate", "compile", "integral"])
def test_names_that_are_hardly_alike_are_not_suggested(name):
    with pytest.raises(AttributeError) as caught:
        getattr(extend, name)
    assert str(caught.value) == f"module 'dmfroc.extend' has no attribute {name!r}"


@pytest.mark.parametrize(
    ("kind", "cells", "message"),
    [
        ("flag", [1], "kind of column 'x' must be one of ('name', 'count', 'number', "),
        ("estimat", [1], "but it is 'estimat' (did you mean 'estimate'?)"),
        (
            "interval",
            [None, True],
            "cells of column 'x', of kind 'interval', must be tuples of two ends and their "
            "standard error, but that of row 1 is True, of type bool",
        ),
        ("interval", [(0.1, 0.2)], "but that of row 0 is (0.1, 0.2), of type tuple"),
        ("estimate", [0.5], "must be like Estimate or Difference, but that of row 0 is 0.5"),
        ("number", ["a"], "must be numbers, but that of row 0 is 'a', of type str"),
    ],
)
def test_wrong_columns_are_refused(kind, cells, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        Column("x", "x", cells, kind)


def test_columns_of_unequal_length_are_refused():
    columns = [Column("a", "a", [1, 2]), Column("b", "b", [1])]
    message = "columns of table 't' must have as many cells: {'a': 2, 'b': 1}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Table("t", "T", columns)


@pytest.mark.parametrize("scores", [RISK, {1: RISK, 2: RISK}])
def test_evidence_has_one_horizon(scores):
    options = Options(follow_up=dmfroc.FollowUp(TIME, [1, 2]))
    message = r"^follow_up must have one horizon here: .*, see Options\.at_horizons$"
    with pytest.raises(ValueError, match=message):
        extend.evidence_of(EVENT, scores, options, {}, needs="scores")
    with pytest.raises(ValueError, match=message):
        extend.joint_evidence(EVENT, {"a": RISK}, options, "scores", paired=True, given={})
    values = [
        facts_in(
            extend.evidence_of(EVENT, scores, x, {}, needs="scores").sample,
            get_measure("brier_score"),
        ).value
        for x in options.at_horizons
    ]
    curves = dmfroc.estimate("brier_score", EVENT, scores, follow_up=options.follow_up)
    assert values == [point.value for point in curves.points["brier_score"]]


def test_json_of_a_design_leaves_out_what_is_not_there():
    follow_up = dmfroc.FollowUp(TIME, 2)
    found = dmfroc.estimate("hand_till", EVENT, RISK, follow_up=follow_up)
    facts = json.loads(found.to_json())["design"]["horizon"]
    assert [*facts] == ["at", "rows", "known", "censored", "censoring"]


def test_a_sample_is_shown_in_a_line():
    at = extend.evidence_of(EVENT, RISK, Options(), {}, needs="scores").sample
    assert repr(at.units) == "Units(200 units of 200 rows in 2 strata)"
    assert len(repr(at)) < 200
