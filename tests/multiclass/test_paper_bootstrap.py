"""The paper's bootstrap, which is too narrow."""

import numpy as np
import pytest
from bands import bootstrap_band, curve_band
from scipy.special import expit
from simulations import cyclic_scores

import dmfroc
from dmfroc import Predictions, dmf_auc_score, estimate, evaluate, multiclass_roc, scan
from dmfroc.measures import dmf_auc
from dmfroc.plots import MulticlassROCDisplay


def test_the_papers_bootstrap_is_too_narrow():
    predictions = Predictions.from_arrays(*cyclic_scores(n=600, n_classes=4))
    honest = estimate("dmf_auc", predictions)
    found = estimate("dmf_auc", predictions, method=dmfroc.papers.PaperBootstrap(200))
    assert found.value == honest.value
    assert 0.05 < found.standard_error / honest.standard_error < 0.3
    assert any(x.startswith("the paper's bootstrap takes cumulative") for x in found.warnings)


def test_the_papers_bootstrap_is_for_its_curve_only():
    predictions = Predictions.from_arrays(*cyclic_scores())
    for measure, sampled in (("hand_till", predictions), ("dmf_auc", cyclic_scores(n_classes=2))):
        arguments = (sampled,) if isinstance(sampled, Predictions) else sampled
        with pytest.raises(ValueError, match="it is for 'dmf_auc' of three or more classes"):
            estimate(measure, *arguments, method="paper_bootstrap")


def test_cells_are_drawn_from_the_fitted_model(monkeypatch):
    """Section 3.6 of the paper: from Lambda and V, not from the observed rates."""
    predictions = Predictions.from_arrays(*cyclic_scores(n=300, n_classes=3))
    curve = multiclass_roc(predictions)
    fitted = expit(curve.threshold_effect * curve.pair_effect[:, None, None])
    seen = []

    class Recorder(np.random.Generator):
        def binomial(self, size, rate):
            seen.append(rate)
            return size * rate

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Recorder(np.random.PCG64(seed)))
    found = estimate("dmf_auc", predictions, method=dmfroc.papers.PaperBootstrap(100))
    assert len(seen) == 100
    np.testing.assert_allclose(seen[0].reshape(fitted.shape), fitted, rtol=1e-9)
    # Without noise the fit to the fitted rates is the fit itself, but for the prior.
    np.testing.assert_allclose(found.draws, found.draws[0], rtol=1e-12)
    assert abs(found.draws[0] - curve.auc) < 0.002


def test_band_by_the_papers_bootstrap_is_too_narrow():
    """Section 5.4 and figure 8 of the paper: the plotted curve is drawn anew, as the area is."""
    pytest.importorskip("matplotlib").use("agg")
    predictions = Predictions.from_arrays(*cyclic_scores(n=300, n_classes=3))
    draw = MulticlassROCDisplay.from_predictions
    found, honest = draw(predictions, method="paper_bootstrap"), draw(predictions)
    assert (found.estimate.method, found.estimate.n_draws) == ("paper_bootstrap", 100)
    assert draw(predictions, method="paper_bootstrap", level=0.5).estimate.level == 0.5
    band = found.band
    np.testing.assert_array_equal(band.fpr, honest.band.fpr)
    np.testing.assert_array_equal(band.tpr, honest.band.tpr)
    assert (band.low[0], band.high[0], band.low[-1], band.high[-1]) == (0, 0, 1, 1)
    assert np.all(band.low <= band.high)
    assert np.all(np.diff([band.low, band.high]) >= -1e-12)
    widths = [np.trapezoid(b.high - b.low, b.fpr) for b in (band, honest.band)]
    assert 0.2 < widths[0] / widths[1] < 0.8
    with pytest.raises(ValueError, match="it is for 'dmf_auc' of three or more classes"):
        draw(*cyclic_scores(n_classes=2), method="paper_bootstrap")
    with pytest.raises(ValueError, match="method must be one of"):
        draw(predictions, method="bayesian_bootstrap")
    with pytest.raises(ValueError, match="use method='bootstrap'"):
        draw(predictions, method="paper_bootstrap", groups=np.arange(300))


@pytest.mark.slow
def test_the_display_has_the_band_of_the_bootstrap():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=60)
    predictions = Predictions.from_arrays(y, rng.normal(size=(60, 3)) + np.eye(3)[y])
    options = {"n_thresholds": 9, "shrinkage": 0.5}
    display = MulticlassROCDisplay.from_predictions(
        predictions, method="bootstrap", band="simultaneous", **options
    )
    expected = curve_band(predictions, find=bootstrap_band, kind="simultaneous", **options)
    for end in ("low", "high"):
        np.testing.assert_array_equal(getattr(display.band, end), getattr(expected, end))
    assert display.estimate.method == display.band.method == "bootstrap"


def skewed(n_classes=3, n=300):
    """Classes of unlike sizes, whose scores are not alike on all pairs."""
    y, scores = cyclic_scores(n=n, n_classes=n_classes)
    keep = np.random.default_rng(4).random(n) < np.linspace(0.3, 1, n_classes)[y]
    return y[keep], scores[keep]


def test_the_preset_multiplies_costs_by_class_sizes():
    """Equation 14 of the paper."""
    y, scores = skewed()
    sizes = np.bincount(y)
    costs = np.array([[0, 1, 5], [2, 0, 0.5], [1, 3, 0]])
    own = {"shrinkage": 0, "threshold_pool": "pooled"}
    for given, weights in (
        ({}, "prevalence"),
        ({"pair_weights": costs}, (costs * sizes[:, None], costs.T * sizes)),
        ({"pair_weights": (costs, costs)}, (costs * sizes[:, None], costs * sizes)),
        ({"pair_weights": {(0, 1): 4}}, None),
    ):
        if weights is None:
            named = np.where([[0, 1, 0], [0] * 3, [0] * 3], 4, 1)
            weights = named * sizes[:, None], named.T * sizes
        found = multiclass_roc(y, scores, preset="paper", **given)
        expected = multiclass_roc(y, scores, pair_weights=weights, **own)
        np.testing.assert_array_equal(found.tpr, expected.tpr)
        assert dmf_auc_score(y, scores, preset="paper", **given) == expected.auc
        assert expected.auc != multiclass_roc(y, scores, **given).auc
    scanned = scan([(y, scores)], labels=range(3))
    in_bins = estimate(dmf_auc(preset="paper"), scanned)
    assert abs(in_bins.value - multiclass_roc(y, scores, preset="paper").auc) <= in_bins.error_bound


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shrinkage": 0.5}, "has shrinkage=0.0, but shrinkage is 0.5"),
        ({"pair_weights": "prevalence"}, "would do again: leave pair_weights out"),
        ({"preset": "papers"}, "preset must be one of"),
    ],
)
def test_what_contradicts_the_preset_is_refused(given, message):
    for function in (multiclass_roc, dmf_auc_score, MulticlassROCDisplay.from_predictions):
        with pytest.raises(ValueError, match=message):
            function(*skewed(), **{"preset": "paper"} | given)


def test_defaults_that_are_written_out_beside_the_preset_are_as_if_left_out():
    default = dmf_auc().options
    given = {"preset": "paper"} | {x: default[x] for x in ("shrinkage", "threshold_pool")}
    assert dmf_auc_score(*skewed(), **given) == dmf_auc_score(*skewed(), preset="paper")


@pytest.mark.slow
def test_the_interval_of_the_preset_is_percentiles_and_nothing_else():
    measure = dmf_auc(preset="paper")
    found = estimate(measure, *skewed(n=90), method=dmfroc.papers.PaperBootstrap(200))
    assert found.method == "paper_bootstrap"
    np.testing.assert_array_equal(found.interval, np.quantile(found.draws, [0.025, 0.975]))
    assert found.bias_corrected is None
    perfect = estimate(
        measure,
        [0, 1, 2] * 20,
        np.tile(np.eye(3), (20, 1)),
        method=dmfroc.papers.PaperBootstrap(100),
    )
    np.testing.assert_allclose(perfect.interval, 1, atol=1e-9)
    both = evaluate(*skewed(), measures=["hand_till", measure]).estimates.values()
    assert [e.method for e in both] == ["jackknife", "paper_bootstrap"]
    folds = np.arange(len(skewed()[0])) % 3
    assert estimate(measure, *skewed(), folds=folds).method == "jackknife"
    assert estimate(measure, *cyclic_scores(n_classes=2)).method == "jackknife"
    assert estimate(measure, *skewed(), method=dmfroc.Bootstrap(100)).method == "bootstrap"
    with pytest.raises(ValueError, match="groups is no option of method='paper_bootstrap'"):
        estimate(measure, *skewed(), groups=np.arange(len(skewed()[0])))


def test_the_preset_has_the_band_of_its_bootstrap():
    pytest.importorskip("matplotlib").use("agg")
    display = MulticlassROCDisplay.from_predictions(*skewed(), preset="paper")
    assert display.estimate.method == display.band.method == "paper_bootstrap"
    assert display.estimate.value == display.curve.auc
    with pytest.raises(ValueError, match="needs another method than 'paper_bootstrap'"):
        MulticlassROCDisplay.from_predictions(*skewed(), preset="paper", band="simultaneous")
    around = curve_band(Predictions.from_arrays(*skewed()), preset="paper")
    assert around.method == "jackknife"
