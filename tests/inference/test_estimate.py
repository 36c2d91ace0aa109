"""The result of an estimate: its draws as a tree."""

import numpy as np
import pytest

import dmfroc
from dmfroc import estimate


def test_draws_become_an_arviz_tree(predictions):
    arviz = pytest.importorskip("arviz")
    found = estimate("hand_till", predictions, method=dmfroc.BayesianBootstrap(500))
    tree = found.to_datatree()
    assert tree["posterior"]["hand_till"].dims == ("chain", "draw")
    np.testing.assert_array_equal(tree["posterior"]["hand_till"].values[0], found.draws)
    assert tree["posterior"].attrs["method"] == "bayesian_bootstrap"
    summary = arviz.summary(tree, round_to=None)
    assert float(summary.loc["hand_till", "mean"]) == pytest.approx(found.draws.mean(), abs=1e-3)
    with pytest.raises(ValueError, match="has no draws: use a bootstrap"):
        estimate("hand_till", predictions).to_datatree()
