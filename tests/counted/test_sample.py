"""A sample of a scan's rows stands for all of them, and results say that it is one."""

import itertools

import numpy as np
import pytest

import dmfroc
from dmfroc import measures

K, N = 3, 30_000
RNG = np.random.default_rng(0)
Y = RNG.choice(K, size=N, p=[0.7, 0.25, 0.05])
SCORES = np.exp(RNG.normal(size=(N, K)) + 1.2 * np.eye(K)[Y])
SCORES /= SCORES.sum(axis=1, keepdims=True)
DRAWN = r"computed from 3,000 rows that were drawn from 30,000"


def batches(*arrays, n_parts=4):
    return list(zip(*(np.array_split(x, n_parts) for x in arrays), strict=True))


@pytest.fixture(scope="module")
def sample():
    return dmfroc.scan(batches(Y, SCORES)).predictions(3000)


def test_weights_keep_the_shares_of_the_classes(sample):
    assert sample.n_observations == 3000
    assert sample.class_counts.tolist() == [1000] * K
    assert sample.class_totals == pytest.approx(np.bincount(Y), rel=1e-12)
    for k in range(K):
        assert len(set(sample.sample_weight[sample.true == k])) == 1


def test_every_row_of_the_sample_is_one_of_the_data(sample):
    rows = {(y, *row) for y, row in zip(Y.tolist(), SCORES.tolist(), strict=True)}
    drawn = list(zip(sample.true.tolist(), *sample.scores.T.tolist(), strict=True))
    assert len(set(drawn)) == 3000
    assert rows.issuperset(drawn)


def test_sample_is_reproducible(sample):
    again = dmfroc.scan(batches(Y, SCORES)).predictions(3000)
    for name in ("true", "scores", "sample_weight", "predicted"):
        np.testing.assert_array_equal(getattr(again, name), getattr(sample, name))


def refused():
    bound = dmfroc.scan(batches(Y, SCORES), n_bins=8).bound[""]
    return [m.name for m in measures.MEASURES.values() if bound.refusal(m) is not None]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_values_are_those_of_all_rows_but_for_sampling():
    """All that a scan refuses, but for numbers of rows, which a sample does not have."""
    y, scores = Y[:6000], SCORES[:6000]
    sample = dmfroc.scan(batches(y, scores)).predictions(1200)
    names = [*refused(), "hand_till", "dmf_auc", "accuracy", "log_loss"]
    possible = [x for x in names if measures.get_measure(x).applies_to(sample)]
    of_two_classes = {"calibration_intercept", "discrimination_slope", "net_reclassification"}
    assert set(names) - set(possible) == {"recall_at", "precision_at_k"} | of_two_classes
    assert len(possible) == 21
    here = dmfroc.evaluate(sample, measures=possible, method="jackknife").estimates
    z = [(e.value - measures.get_measure(x)(y, scores)) / e.standard_error for x, e in here.items()]
    assert np.abs(z).max() < 3.5, dict(zip(here, z, strict=True))


@pytest.mark.parametrize("name", ["recall_at", "precision_at_k"])
def test_numbers_of_rows_are_given_as_shares(sample, name):
    message = r"k=10, a number of all rows, but these are a sample: give a share, k=0\.000333"
    with pytest.raises(ValueError, match=message):
        dmfroc.estimate(name, sample)
    measure = getattr(measures, name)(k=0.1)
    with pytest.warns(UserWarning, match=DRAWN):
        found = dmfroc.estimate(measure, sample)
    assert abs(found.value - measure(Y, SCORES)) < 4 * found.standard_error


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_standard_errors_are_those_of_the_sample():
    """Over samples of other data, values miss those of all rows by about a standard error."""
    z = []
    for seed in range(60):
        order = np.random.default_rng(seed).permutation(N)[:6000]
        y, scores = Y[order], SCORES[order]
        drawn = dmfroc.scan(batches(y, scores)).predictions(600)
        of_all = [dmfroc.measures.get_measure(x)(y, scores) for x in ("hand_till", "accuracy")]
        found = dmfroc.evaluate(drawn, measures=["hand_till", "accuracy"]).estimates.values()
        z.append([(e.value - x) / e.standard_error for e, x in zip(found, of_all, strict=True)])
    assert np.mean(z, axis=0) == pytest.approx([0, 0], abs=0.45)
    assert np.std(z, axis=0) == pytest.approx([1, 1], abs=0.3)


def test_equal_rows_are_drawn_one_by_one():
    """Half of the rows are the same, and so is about half of the sample."""
    y, scores = Y.copy(), SCORES.copy()
    y[::2], scores[::2] = 0, [1.0, 0.0, 0.0]
    for n_parts in (1, 50):
        drawn = dmfroc.scan(batches(y, scores, n_parts=n_parts)).predictions(3000)
        share = np.mean((drawn.scores[:, 0] == 1)[drawn.true == 0])
        expected = np.mean((scores[:, 0] == 1)[y == 0])
        n = drawn.class_counts[0]
        assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / n)


def test_a_scan_with_fewer_rows_gives_all_of_them():
    found = dmfroc.scan(batches(Y[:500], SCORES[:500])).predictions()
    assert (found.design, found.is_weighted, found.n_observations) == ({}, False, 500)
    here = dmfroc.estimate("hand_till", found)
    expected = dmfroc.estimate("hand_till", Y[:500], SCORES[:500])
    assert here.value == pytest.approx(expected.value, rel=1e-12)
    assert here.standard_error == pytest.approx(expected.standard_error, rel=1e-9)
    assert here.warnings == ()


def test_weights_and_hard_labels_of_rows_are_kept():
    weights, hard = RNG.uniform(0, 3, N).round(2), (Y + (RNG.uniform(size=N) < 0.2)) % K
    parts = [
        {"y_true": y, "y_score": s, "sample_weight": w, "y_pred": p}
        for y, s, w, p in batches(Y, SCORES, weights, hard)
    ]
    found = dmfroc.scan(parts, n_bins=64).predictions(3000)
    assert found.class_totals == pytest.approx(np.bincount(Y, weights), rel=1e-12)
    assert (found.sample_weight > 0).all()
    with pytest.warns(UserWarning, match=DRAWN):
        estimate = dmfroc.estimate("accuracy", found)
    expected = np.average(hard == Y, weights=weights)
    assert abs(estimate.value - expected) < 4 * estimate.standard_error


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_classifiers_are_compared_on_the_same_rows():
    other = SCORES[:, ::-1].copy()
    parts = [(y, {"a": s, "b": t}) for y, s, t in batches(Y, SCORES, other)]
    found = dmfroc.scan(parts).predictions(3000)
    assert list(found) == ["a", "b"]
    np.testing.assert_array_equal(found["a"].scores, found["b"].scores[:, ::-1])
    np.testing.assert_array_equal(found["a"].true, found["b"].true)
    compared = dmfroc.compare(found, measures="vus")
    assert any("were drawn from 30,000" in x for x in compared.estimates["a"].warnings)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_report_says_it(sample, tmp_path):
    dmfroc.evaluate(sample).to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "<dt>Drawn from</dt><dd>30,000</dd>" in page
    assert "rows that were drawn from 30,000" in page


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_results_say_that_it_is_a_sample(sample):
    small = dmfroc.scan(batches(Y[:500], SCORES[:500])).predictions(200)
    results = [
        dmfroc.estimate("vus", sample),
        dmfroc.estimate("hand_till", sample, method=dmfroc.Bootstrap(100)),
        dmfroc.estimate("hand_till", sample, method=dmfroc.BayesianBootstrap(100)),
        dmfroc.estimate("dmf_auc", sample, method=dmfroc.papers.PaperBootstrap(100)),
        dmfroc.estimate("dmf_auc", small, method="bayes"),
        dmfroc.bayes.bayesian_table("informedness", small, n_draws=400),
        dmfroc.evaluate(sample).estimates["dmf_auc"],
        dmfroc.compare_subgroups(sample, by=np.arange(3000) % 2).estimates["0"],
    ]
    for found in results:
        assert any(x.startswith("computed from") for x in found.warnings), found
    with pytest.warns(UserWarning, match=DRAWN):
        dmfroc.estimate("hand_till", sample)


def test_whole_weights_are_no_counts():
    """Two rows stand for each that is drawn; these are weights that nobody passed."""
    found = dmfroc.scan(batches(np.arange(4000) % 2, SCORES[:4000, 0])).predictions(2000)
    assert set(found.sample_weight) == {2.0}
    with pytest.warns(UserWarning, match="computed from") as told:
        dmfroc.estimate("hand_till", found)
    assert not any("frequency_weight" in str(x.message) for x in told)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: dmfroc.estimate("vus", s), r"from a sample of the rows.*\.predictions\(\)"),
        (
            lambda s: dmfroc.estimate("hand_till", s, method="bootstrap"),
            r"pass a sample of the rows, scan\.predictions\(\)",
        ),
        (lambda s: dmfroc.multiclass_roc(s), r"one Predictions, such as y_true\.predictions\(\)"),
        (lambda s: s.predictions(2), "n must be at least the number of classes, 3, but it is 2"),
        (lambda s: s.predictions(1), "n must be an integer >= 2"),
        (lambda s: s.predictions(2.5), "n must be an integer >= 2, but it is 2.5"),
    ],
)
def test_errors_name_the_remedy(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(dmfroc.scan(batches(Y[:300], SCORES[:300])))


def test_an_accumulators_errors_name_it_too():
    accumulator = dmfroc.counted.Accumulator(range(K))
    accumulator.update(Y[:300], SCORES[:300])
    with pytest.raises(ValueError, match=r"dmfroc\.scan\(\.\.\.\)\.predictions\(\)"):
        accumulator.compute(["brier_score"])


def test_groups_are_not_divided():
    parts = [
        {"y_true": y, "y_score": s, "groups": g}
        for y, s, g in batches(Y[:300], SCORES[:300], np.arange(300) // 3)
    ]
    with pytest.raises(ValueError, match="belong together in groups"):
        dmfroc.scan(parts).predictions(100)


def test_small_classes_leave_their_places_to_others():
    from dmfroc.counted.sample import even_sizes

    for sizes in itertools.product([0, 1, 5, 40], repeat=3):
        found = even_sizes(30, np.array(sizes))
        assert found.sum() == min(30, sum(sizes))
        assert (found <= sizes).all()
        short = found < sizes
        assert not short.any() or found[short].min() >= found.max() - 1
