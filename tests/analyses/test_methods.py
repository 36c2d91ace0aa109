"""Which method is used, and the options that it takes or refuses."""

import re
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from simulations import classifiers, cyclic_scores

import dmfroc
from dmfroc import Predictions, compare, estimate, evaluate
from dmfroc.analyses.evidence import METHODS, choose_methods
from dmfroc.inference.method import Method
from dmfroc.inference.options import Options
from dmfroc.measures import dmf_auc, get_measure
from dmfroc.measures.measure import IntervalProperties


def test_measures_with_kinks_are_resampled_unless_they_are_cross_fitted():
    predictions = Predictions.from_arrays(*cyclic_scores(n=120))
    assert estimate("hand_till", predictions).method == "jackknife"
    cross_fitted = estimate("convex_hull_auc", predictions)
    assert cross_fitted.method == "jackknife"
    bent = replace(get_measure("convex_hull_auc"), name="bent", interval=IntervalProperties())
    found = estimate(bent, predictions, method=dmfroc.Bootstrap(200))
    assert found.method == "bootstrap"
    by_derivative = estimate(bent, predictions, method="jackknife")
    assert any("bent has kinks" in warning for warning in by_derivative.warnings)
    assert by_derivative.standard_error == pytest.approx(found.standard_error, rel=0.3)
    assert cross_fitted.standard_error == pytest.approx(found.standard_error, rel=0.4)


GROUPS = {"groups": np.arange(60) // 2}


@pytest.mark.parametrize(
    ("method", "option", "remedy"),
    [
        ("paper_bootstrap", GROUPS, "independent; use method='bootstrap'"),
        ("paper_bootstrap", {"stratify": False}, "class sizes as fixed; use method='bootstrap'"),
        ("paper_bootstrap", {"stratify": True}, "class sizes as fixed; use method='bootstrap'"),
        ("bayes", GROUPS, "independent; use method='bootstrap'"),
        (
            "bayes",
            {"stratify": False},
            "as random for tables.*in Python call bayesian_table with given=",
        ),
        (
            "bayes",
            {"stratify": True},
            "as random for tables.*in Python call bayesian_table with given=",
        ),
    ],
)
def test_options_that_a_method_does_not_use_are_refused(method, option, remedy):
    classes, scores = classifiers(17)
    sample = Predictions.from_arrays(classes, scores["a"])
    samples = {"a": sample, "b": sample}
    [name], given = option, {"method": method} | option
    # The jackknife is the default of this measure.
    message = f"^{name} is no option of method='{method or 'jackknife'}': .*{remedy}"
    for paired in (True, False):
        with pytest.raises(ValueError, match=message):
            compare(samples, measures="dmf_auc", paired=paired, **given)
    with pytest.raises(ValueError, match=message):
        estimate("dmf_auc", sample, **given)
    with pytest.raises(ValueError, match=message):
        evaluate(sample, measures=["dmf_auc"], **given)


def test_posteriors_are_evaluated_where_there_are_some():
    classes, scores = classifiers(17)
    sample = Predictions.from_arrays(classes, scores["a"])
    [found] = evaluate(sample, measures=["informedness"], method="bayes").estimates.values()
    assert found == estimate("informedness", sample, method="bayes")
    with pytest.raises(ValueError, match="use method='bayesian_bootstrap'"):
        evaluate(sample, measures=["informedness", "auc_mu"], method="bayes")


def test_methods_are_known_by_name():
    classes, scores = classifiers(17)
    with pytest.raises(
        ValueError,
        match=f"method must be one of {re.escape(str(get_args(Method)))}, but it is 'delong'",
    ):
        choose_methods([], Predictions.from_arrays(classes, scores["a"]), Options(method="delong"))
    assert {*METHODS, "bayes"} == set(get_args(Method))
    for name in get_args(Method):
        [found] = choose_methods(
            [dmf_auc()], Predictions.from_arrays(classes, scores["a"]), Options(method=name, seed=3)
        )
        assert (found.name, found.seed, found.level) == (name, 3, 0.95)


@pytest.mark.parametrize("method", ["bootstrap", "bayesian_bootstrap"])
def test_what_is_drawn_says_that_it_is_extended(method):
    """Of eight cases of a class draws are too narrow: the jackknife's limits decide."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [120, 8])
    scores = {name: rng.normal(size=128) + 1.5 * y for name in "ab"}
    text = "Intervals are of draws, extended to the jackknife's limits where these reach"
    for score in scores.values():
        drawn, plain = (evaluate(y, score, method=x, measures="hand_till") for x in (method, None))
        (low, high), (least, most) = drawn["AUC"].interval, plain["AUC"].interval
        assert low <= least
        assert most <= high
        assert any(text in line for line in drawn.foot())
        assert plain.foot() == []
        assert "(of draws, extended to the jackknife" in drawn._repr_html_() + drawn.to_html()
    both = compare(y, scores, method=method)
    assert both.foot()[0].endswith("P(A better) is the share of draws.")
    assert "of draws" not in "".join(compare(y, scores).foot())
