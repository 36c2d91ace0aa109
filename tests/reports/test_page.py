"""What a report says, and that nothing in it can be taken for markup."""

import dataclasses
import html
import json
import re
import warnings

import numpy as np
import pytest
from pages import page_parts

import dmfroc
from dmfroc.analyses.catalogue import MEASURES
from dmfroc.applications import decision_curve
from dmfroc.inference.units import sample_of
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.plots.forest import ForestRow
from dmfroc.reports.designs import result_verdict, subgroups_page, subgroups_verdict
from dmfroc.reports.figures import calibration, decisions, forest, heat_maps, one_vs_rest
from dmfroc.reports.numbers import numbers_of
from dmfroc.reports.page import comparison_page, evaluation_page, meanings
from dmfroc.reports.shapes import shade
from dmfroc.reports.tables import as_sentence
from dmfroc.reports.verdict import (
    comparison_verdict,
    digits,
    evaluation_verdict,
    footnote,
    hardest,
    lead,
    p_text,
)

NASTY = ["<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "</script><b>"]


def sample(effect, labels=NASTY, n=90, probabilities=True):
    k = len(labels)
    rng = np.random.default_rng(0)
    true = np.arange(n) % k
    scores = rng.normal(size=(n, k)) + effect * np.eye(k)[true]
    if probabilities:
        scores = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return dmfroc.Predictions.from_arrays(np.array(labels)[true], scores, labels=labels)


@pytest.fixture(scope="module")
def comparison():
    return dmfroc.compare({NASTY[0]: sample(2.5), "plain & simple": sample(0.5)})


@pytest.fixture(scope="module")
def page(comparison):
    return comparison_page(comparison)


def embedded(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


@pytest.mark.slow
def test_names_stay_text(page):
    without_data = re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.S)
    assert page.count("<script") == 2
    assert "<img src=x" not in page
    assert "</script><b>" not in page.split('id="data">')[1].split("</script>")[0]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in without_data


def test_the_page_asks_for_nothing(page):
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    assert "url(" not in page
    assert "@import" not in page


def test_numbers_are_embedded(page, comparison):
    data = embedded(page)
    [difference] = data["differences"]
    assert difference["value"] == comparison.differences[0].value
    assert data["labels"] == NASTY
    first = comparison.predictions[NASTY[0]]
    np.testing.assert_allclose(
        np.array(data["curves"][NASTY[0]]["pairwise_areas"], dtype=float)[0, 1:],
        dmfroc.pairwise_auc_matrix(first)[0, 1:],
        atol=6e-5,
    )
    confusion = np.array(data["curves"][NASTY[0]]["confusion"])
    assert confusion.sum(axis=1).tolist() == first.class_counts.tolist()


@pytest.mark.slow
def test_a_report_shows_the_area_under_the_curve_once_whatever_its_name():
    both = {"a": sample(2.5), "b": sample(0.5)}

    def report(measure):
        comparison = dmfroc.compare(both, measures=measure)
        parts = page_parts(comparison_page(comparison))
        [header, *_] = parts["tables.csv"]["Classifiers, with 95 % intervals"]
        return comparison, parts["text"], header[1::2]

    area = dataclasses.replace(
        dmfroc.measures.dmf_auc(shrinkage=4.0), name="own", title="Own area", family="own"
    )
    comparison, text, header = report(area)
    assert header == ["Own area", "Hand-Till M", "Informedness"]
    for estimate in comparison.estimates.values():
        low, high = estimate.interval
        assert f"Own area {estimate.value:.3f} ({low:.3f} to {high:.3f})" in text
    other = dataclasses.replace(dmfroc.measures.hand_till(), name="dmf_auc_mine", title="Mine")
    _, text, header = report(other)
    assert header == ["Mine", "DMF-AUC", "Hand-Till M", "Informedness"]
    assert f"a: DMF-AUC {dmfroc.dmf_auc_score(both['a']):.3f}" in text


def test_a_report_of_a_scan_is_refused(tmp_path):
    y = np.arange(60) % 3
    scores = {name: sample(effect, n=60).scores for name, effect in (("a", 2.0), ("b", 1.0))}
    comparison = dmfroc.compare(dmfroc.scan([(y, scores)]), measures="hand_till")
    with pytest.raises(ValueError, match="a report needs all scores in memory"):
        comparison.to_html(tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_the_verdict_names_the_better(page, comparison):
    value = comparison.differences[0].value
    assert embedded(page)["sentences"][0].startswith(f"{NASTY[0]} is better than plain & simple: ")
    assert f"difference {value:.3f}" in embedded(page)["sentences"][0]


@pytest.mark.slow
def test_what_cannot_be_decided_is_said():
    page = comparison_page(
        dmfroc.compare({"a": sample(1.0), "b": sample(1.001)}, test=dmfroc.Equivalence(0.01))
    )
    first, second = embedded(page)["sentences"]
    values = [100 * dmfroc.hand_till_score(sample(effect)) for effect in (1.001, 1.0)]
    assert second == (
        "In {:.0f} (b) and {:.0f} (a) of 100 pairs of cases of different classes, the scores tell "
        "which is which; guessing: 50 (Hand-Till M).".format(*values)
    )
    assert first.startswith("The data do not show whether b or a is better: DMF-AUC 0.")
    assert "probability that b is better" in first
    assert "differ by no more than 0.01" in first
    assert "hardest to tell apart" in page
    two = dmfroc.compare({x: sample(e, [0, 1]) for x, e in {"a": 0.1, "b": 0.101}.items()})
    assert "hardest to tell apart" not in comparison_page(two)  # there is one pair


@pytest.mark.slow
def test_the_better_has_the_smaller_error():
    a, b = sample(2.5), sample(0.5)
    comparison = dmfroc.compare({"a": a, "b": b}, measures="entropy_real_given_predicted")
    [verdict] = embedded(comparison_page(comparison))["sentences"]
    assert " (less is better) " in verdict
    if comparison.differences[0].probability_better > 0.5:
        assert verdict.startswith("a is better than b")
    else:
        assert verdict.startswith("b is better than a")


def test_scores_that_are_no_probabilities_are_not_called_calibrated():
    page = evaluation_page(dmfroc.evaluate(sample(1.0, probabilities=False)))
    assert "the scores are not probabilities" in page
    assert "ECE" not in page.split('id="data">')[0]
    assert "net benefit" not in page.split('id="data">')[0]


def test_charts_of_probabilities_list_the_classifiers_that_they_draw():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    margin = rng.normal(size=200) + 1.5 * y
    named = {"margin": margin, "risk": 1 / (1 + np.exp(0.7 - margin)), "logit": 3 * margin}
    page = dmfroc.compare(y, named, measures="hand_till").to_html()
    for section in ("calibration", "decisions"):
        part = page.split(f'<section id="{section}"')[1].split("</section>")[0]
        key = part.split('<div class="key"')[1].split("</div>")[0]
        assert [x for x in named if x in key] == ["risk"]
        assert "Not shown, as the scores are no probabilities: margin, logit." in part
    key = page.split('<section id="curve"')[1].split('<div class="key"')[1].split("</div>")[0]
    assert all(x in key for x in named)


def test_a_calibration_error_of_one_class_says_so():
    """Beside the measure, which is of the predicted class and has another name."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    risk = 1 / (1 + np.exp(0.7 - rng.normal(size=200) - 1.5 * y))
    page = dmfroc.evaluate(y, risk, measures="expected_calibration_error").to_html()
    [text] = set(re.findall(r"(?<!Top-label )ECE 0\.\d{3}[^<;\"]*", page))
    assert text.endswith(", of class 1")
    assert "Top-label ECE" in page


def test_a_report_shows_what_the_comparison_holds():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    named = {f"m{i}": rng.normal(size=200) + 1.2 * y for i in range(4)}
    for simultaneous, method in ((False, "Holm"), (True, "max-T")):
        found = dmfroc.compare(y, named, measures="hand_till", simultaneous=simultaneous)
        page = found.to_html()
        assert f"Adjusted ({method})" in page_parts(page)["text"]
        held = {frozenset((d.first, d.second)): d for d in found.differences}
        shown = embedded(page)["differences"]
        assert len(shown) == 6
        for row in shown:
            d = held[frozenset((row["first"], row["second"]))]
            assert row["adjusted_p_value"] == d.adjusted_p_value
            assert sorted(map(abs, row["interval"])) == sorted(map(abs, d.interval))


@pytest.mark.parametrize("measure", ["auc", "hand_till", "brier_score"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_area_in_the_legend_has_its_interval(measure, n_classes):
    given = sample(1.0, ["a", "b", "c"][:n_classes])
    area = dmfroc.estimate("dmf_auc", given)
    low, high = area.interval
    expected = (
        f"{'AUC' if n_classes == 2 else 'DMF-AUC'} {area.value:.3f} ({low:.3f} to {high:.3f})"
    )
    if measure != "auc" or n_classes == 2:
        assert expected in page_parts(dmfroc.evaluate(given, measures=measure).to_html())["text"]
    if measure != "brier_score" and n_classes == 2:
        both = dmfroc.compare({"one": given, "two": sample(0.5, ["a", "b"])}, measures=measure)
        assert f"one: {expected}" in page_parts(both.to_html())["text"]


def test_each_measure_of_a_short_list_is_explained():
    given = sample(1.0, ["a", "b"])
    measures = ["brier_score", "net_benefit", "net_benefit(threshold=0.2)", "calibration_slope"]
    page = evaluation_page(dmfroc.evaluate(given, measures=measures))
    for line in (
        "Brier score: the Brier score: half the mean squared distance of the forecast from the "
        "outcome; less is better.",
        "Net benefit (threshold=0.5); Net benefit (threshold=0.2): the net benefit of treating "
        "whoever has a probability of at least a threshold.",
        "Calibration slope: the calibration slope: by what the logits have to be multiplied to be "
        "right; 1 is best.",
    ):
        assert f"<p>{line}</p>" in page
    assert "measures mean</summary>" not in page
    many = [name for name, x in MEASURES.items() if x.applies_to(given)][:20]
    page = evaluation_page(dmfroc.evaluate(given, measures=many))
    assert re.search(r"<details><summary>What the \d+ measures mean</summary>", page)
    assert len(meanings({name: name for name in MEASURES}, 3)) > 80
    assert meanings({"accuracy_of_mine": "Mine"}, 3) == []


def test_panels_of_several_classes_have_the_same_scales():
    rng = np.random.default_rng(0)
    true = np.arange(300) % 3
    effect = np.array([0.5, 2.0, 6.0])[:, None] * np.eye(3)  # the third is hardly ever mistaken
    scores = np.exp(rng.normal(size=(300, 3)) + effect[true])
    given = dmfroc.Predictions.from_arrays(true, scores / scores.sum(axis=1, keepdims=True))
    of_one = numbers_of(sample_of(given), CurveOptions(), 0.95)
    for charts in (
        one_vs_rest({"m": of_one}, given.labels),
        calibration({"m": of_one}, given.labels, 0.95),
        decisions({"m": sample_of(given)}, given.labels, 0.95),
    ):
        assert len(charts) == 3
        assert len({(x.low, x.high) for x in charts}) == 1


def test_decisions_are_those_of_the_decision_curve():
    predictions = sample(2.0, labels=["a", "b"])
    text = evaluation_page(dmfroc.evaluate(predictions))
    curve = decision_curve(predictions)  # as the command prints it
    assert f"better at {curve.better_text()}, of 99 thresholds at once" in text
    [[first, _]] = curve.better_range()
    assert 0 < first < 0.5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:1 class")
def test_absent_classes_are_reported_and_rare_ones_not_doubted():
    full = sample(1.0, ["a", "b", "c"], n=40)
    predictions = dmfroc.Predictions.from_arrays(
        np.array(full.labels)[full.true],
        np.column_stack([full.scores, np.zeros(40)]),
        labels=["a", "b", "c", "never"],
    )
    page = evaluation_page(dmfroc.evaluate(predictions))
    assert "Never observed: never" in page
    assert "may cover less" not in page  # few observations alone are no doubt: intervals hold
    assert any("never" in remark for remark in embedded(page)["warnings"])
    assert embedded(page)["curves"]["classifier"]["pairwise_areas"][3] == [None] * 4


@pytest.mark.parametrize("labels", [[0, 1, 2], ["1", "2", "3"], ["class 1", "class 2", "other"]])
def test_panels_name_the_class_that_they_show(labels):
    page = evaluation_page(dmfroc.evaluate(sample(1.5, labels, n=90)))
    named = {f"class {x}" if str(x).isdigit() else x for x in labels}
    assert set(re.findall(r"<figcaption><strong>(.*?)</strong>", page)) == named
    assert {*re.findall(r'role="img" aria-label="(.*?): ', page)} >= named


def test_two_classes_with_one_score():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    evaluation = dmfroc.evaluate(y, rng.normal(size=60) + y)
    page = evaluation_page(evaluation)
    assert "Confusion" not in re.sub(r"<script>.*", "", page, flags=re.S)
    [of_class] = embedded(page)["curves"]["classifier"]["classes"]
    assert of_class["area"] == pytest.approx(evaluation.estimates["hand_till"].value, rel=1e-12)


def test_hard_labels_of_one_observed_class():
    evaluation = dmfroc.evaluate(["a"] * 30, y_pred=["a", "b"] * 15, measures=["accuracy"])
    page = evaluation_page(evaluation)
    assert "Multiclass ROC curve" not in page
    assert embedded(page)["curves"] == {}


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [15, 40])
def test_many_classes_are_pictures(n_classes):
    labels = [f"c{i}" for i in range(n_classes)]
    predictions = sample(1.5, labels, n=6 * n_classes)
    numbers = numbers_of(sample_of(predictions), CurveOptions(), 0.95)
    [picture] = heat_maps({"x": numbers}, labels)
    assert picture.picture.startswith("data:image/png;base64,")
    assert picture.rows == []


@pytest.mark.slow
def test_a_large_sample_makes_no_larger_page():
    sizes = [
        len(evaluation_page(dmfroc.evaluate(sample(1.5, ["a", "b", "c"], n=n))))
        for n in (1_500, 15_000)
    ]
    assert sizes[1] < 1.2 * sizes[0]
    assert sizes[1] < 200_000


@pytest.mark.slow
def test_the_file_appears_whole_or_not_at_all(tmp_path, comparison):
    with pytest.raises(ValueError, match=r"path must name a file with \.html"):
        comparison.to_html(tmp_path / "report.pdf")
    with pytest.raises(ValueError, match="cannot be written: No such file"):
        comparison.to_html(tmp_path / "nowhere" / "report.html")
    assert list(tmp_path.iterdir()) == []
    comparison.to_html(tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_notebooks_show_intervals_methods_and_warnings():
    predictions = sample(9.0, NASTY, n=30)  # perfect, as a warning says
    evaluation = dmfroc.evaluate(predictions, measures=["hand_till"])
    estimate = evaluation.estimates["hand_till"]
    html = evaluation._repr_html_()
    assert estimate.warnings
    for text in (html, estimate._repr_html_()):
        assert "jackknife" in text
        assert "95 % interval (jackknife)" in text
        assert text.count("<p>warning: ") == len(estimate.warnings)
        assert "<script" not in text


def test_notebooks_show_comparisons(comparison):
    html = comparison._repr_html_()
    assert "P(A better)" in html
    assert "95 % interval" in html
    assert "jackknife" in html
    assert "<script" not in html


def test_notebooks_show_points_all_over_a_curve():
    y = np.arange(120) % 2
    curve = dmfroc.curves.roc_curve(y, np.random.default_rng(0).normal(size=120) + y)
    html = curve._repr_html_()
    points = html.split("</table>")[1]
    assert 8 <= points.count("<tr>") - 1 <= 10
    assert f"of {len(curve.x)}, all are in its JSON" in points
    assert sum(f">{x:.3f}<" in points for x in curve.x[::-1][: len(curve.x) // 4]) > 1


def test_the_decision_comes_first():
    named = {"a": sample(1.001), "b": sample(1.0), "c": sample(0.1)}
    verdict = comparison_verdict(dmfroc.compare(named, measures="hand_till"))
    assert verdict[0].startswith(
        "The data do not show which of a and b is better; both are better than c: Hand-Till M"
    )
    named = {"a": sample(0.1), "b": sample(3.0), "c": sample(0.11)}
    verdict = comparison_verdict(dmfroc.compare(named, measures="hand_till"))
    assert verdict[0].startswith("b is better than all others: Hand-Till M")
    named = {"a": sample(0.502), "b": sample(0.501), "c": sample(0.5)}
    verdict = comparison_verdict(dmfroc.compare(named, measures="hand_till"))
    assert "probability that" not in " ".join(verdict)  # which is not adjusted for three
    assert verdict[0].startswith("The data do not show which of a, b and c is best: Hand-Till M")


@pytest.mark.parametrize(
    ("wins", "best_set", "claim"),
    [
        ([("a", "c")], ["a"], "a is best; b and c are excluded as the best"),
        ([], ["a"], "a is best; b and c are excluded as the best"),
        ([("a", "b"), ("a", "c")], ["a"], "a is better than all others"),
        (
            [],
            ["a", "b"],
            "The data do not show which of a and b is better; c is excluded as the best",
        ),
        ([], [], "The data do not show which of a, b and c is best"),
    ],
)
def test_the_first_sentence_agrees_with_the_confidence_set(wins, best_set, claim):
    sentence, tied = lead("M", {"a": ".9", "b": ".8", "c": ".7"}, wins, best_set)
    assert sentence.startswith(f"{claim}: M ")
    assert tied == (best_set or ["a", "b", "c"])


def test_two_rules_that_differ_are_named():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 240)
    scores = {
        name: rng.normal(size=(240, 3)) + effect * np.eye(3)[y]
        for name, effect in zip("abcd", (0.4, 0.6, 1.0, 1.13), strict=True)
    }
    comparison = dmfroc.compare(y, scores, measures="hand_till", simultaneous=True)
    first, *others = comparison_verdict(comparison)
    assert comparison.best_set() == ("d",)
    [open_one] = [d for d in comparison.differences if {d.first, d.second} == {"c", "d"}]
    assert open_one.adjusted_p_value > 0.05
    assert first.startswith("d is best; c, b and a are excluded as the best: Hand-Till M")
    assert not any("rules" in x for x in others)
    [note] = re.findall(r'<p class="notes">(Intervals and .*?)</p>', comparison_page(comparison))
    assert html.unescape(note) == footnote(comparison)
    assert 'disagree: adjusted p-value and "may be best" for c. ' in html.unescape(note)
    assert 'The verdict goes by "may be best"' in footnote(comparison)
    assert "the best rank of one that is excluded as the best can be 1" in footnote(comparison)


@pytest.mark.slow
def test_many_classifiers_are_all_accounted_for_and_stand_best_first():
    effects = [0.1, 3.0, 0.6, 1.0, 2.98, 1.2]
    named = {f"model {i}": sample(effect) for i, effect in enumerate(effects)}
    comparison = dmfroc.compare(named, measures="hand_till")
    page = comparison_page(comparison)
    parts = page_parts(page)
    lead = re.search(r'<p class="lead">(.*?)</p>', page)[1]
    for name, e in comparison.estimates.items():
        assert f"{name} ({digits(e.value, e.standard_error)})" in lead
    best = max(comparison.estimates, key=lambda name: comparison.estimates[name].value)
    found_of = {frozenset((d.first, d.second)): d for d in comparison.differences}
    found = {caption: rows for caption, [_, *rows] in parts["tables.csv"].items()}
    [rows] = [rows for caption, rows in found.items() if "the best against the others" in caption]
    assert [row[0] for row in rows] == [best] * 5
    for row in rows:
        d = found_of[frozenset(row[:2])]
        assert float(row[4]) == d.p_value
        assert float(row[5]) == d.adjusted_p_value
        assert float(row[2]) == abs(d.value)
    [others] = [rows for caption, rows in found.items() if caption == "Differences of the others"]
    assert len(others) == 10
    assert "intervals are not adjusted" in parts["text"]


def test_a_verdict_of_twelve_names_a_few():
    named = {f"model {i}": sample(0.2 * i) for i in range(12)}
    comparison = dmfroc.compare(named, measures="hand_till")
    first = comparison_verdict(comparison)[0]
    assert 1 <= first.count("model ") <= 8
    assert all(name in first for name in comparison.best_set()[:4])
    assert first.endswith("others. The table has all values.")


def test_rows_of_matrices_keep_short_names():
    labels = [str(digit) for digit in range(6)]
    named = {"a": sample(1.0, labels=labels), "b": sample(2.0, labels=labels)}
    page = comparison_page(dmfroc.compare(named, measures="hand_till"))
    sections = re.findall(r'<section id="(?:pairs|confusion)" class="([^"]*)"', page)
    assert len(sections) == 2
    assert not any("several" in names for names in sections)  # which hides the names


@pytest.mark.slow
def test_the_footnote_of_twelve_names_all_for_which_rules_differ():
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, 300)
    a = rng.normal(size=300) + 1.2 * y
    worse = a + 0.5 * rng.normal(size=300)
    named = {"best": a}
    named |= {f"m{i}": worse + 0.1 * rng.normal(size=300) for i in range(11)}
    comparison = dmfroc.compare(y, named, measures="hand_till")
    best, *others = comparison.best_first().estimates
    decided = {
        d.second for d in comparison.best_first().differences[:11] if d.adjusted_p_value < 0.05
    }
    differ = [x for x in others if (x in comparison.best_set()) == (x in decided)]
    assert len(differ) > 6
    assert f'"may be best" for {", ".join(differ)}. ' in footnote(comparison)
    assert comparison_verdict(comparison)[0].startswith(f"By AUC: {best} ")


@pytest.mark.parametrize(("k", "n"), [(2, 41), (3, 100), (15, 200)])
def test_the_sizes_of_the_classes_stand_above_all(k, n):
    labels = [f"class {i}" for i in range(k)]
    predictions = sample(2.0, labels, n=n)
    above = page_parts(evaluation_page(dmfroc.evaluate(predictions)).split("<main>")[0])["text"]
    counts = predictions.class_counts.tolist()
    assert f"Observations: {n}, " in above
    if k > 10:
        sizes = rf"of 15 classes: from {min(counts)} of class \d+ to {max(counts)} of class \d+\."
        assert re.search(sizes, above)
    else:
        assert all(f"{x} of class {i}" in above for i, x in enumerate(counts))


def test_sizes_of_numbered_classes_and_of_items_stand_above():
    two = evaluation_page(dmfroc.evaluate(sample(2.0, [0, 1], n=50)))
    above = page_parts(two.split("<main>")[0])["text"]
    assert "Observations: 50, 25 of class 0 and 25 of class 1 (positive)." in above
    right = {"a": [1] * 30 + [0] * 10, "b": [0, 1] * 20}
    above = page_parts(dmfroc.applications.items(right).to_html().split("<main>")[0])["text"]
    assert "40 items" in above


def test_sizes_of_several_samples_are_named():
    own = {x: sample(2.0, ["a", "b", "c"], n=n) for x, n in {"old": 60, "new": 90}.items()}
    page = dmfroc.compare(own, paired=False, measures="hand_till").to_html()
    above = page_parts(page.split("<main>")[0])["text"]
    assert "new 90, of 3 classes: 30 of a, 30 of b and 30 of c" in above
    assert "old 60, of 3 classes: 20 of a, 20 of b and 20 of c" in above


def test_p_values_stand_behind_what_a_verdict_says():
    rng = np.random.default_rng(0)
    y, groups = rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    found = dmfroc.compare_subgroups(y, rng.normal(size=300) + y, groups, measures="hand_till")
    first = subgroups_verdict(found)[0]
    assert re.search(r"worst in [^;]* \(95 % interval [^)]*\) \(p = 0\.\d+\)\.$", first)
    named = {x: rng.normal(size=300) + 1.2 * y for x in "abc"}
    sentences = " ".join(comparison_verdict(dmfroc.compare(y, named, measures="hand_till")))
    assert "The data do not show whether" in sentences
    assert "p = " not in sentences


def test_names_of_classifiers_are_never_changed():
    y = np.arange(60) % 3
    scores = {"perfect": np.eye(3)[y] + 0.1, "fair": np.random.default_rng(1).random((60, 3))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        page = comparison_page(dmfroc.compare(y, scores, measures="hand_till"))
    assert "perfect" in page
    assert "Perfect" not in page


def test_two_classes_name_the_positive_one_and_labels_alone_have_no_scores():
    text = page_parts(evaluation_page(dmfroc.evaluate(sample(1.0, ["well", "ill"]))))["text"]
    y, low = np.repeat(["well", "ill"], 40), np.random.default_rng(1).normal(size=80)
    low[:40] += 1
    for direction, scores, larger in ((">=", -low, "larger"), ("<=", low, "smaller")):
        found = dmfroc.evaluate(
            dmfroc.Predictions.from_arrays(y, scores, pos_label="ill", direction=direction)
        )
        in_order = 100 * (low[40:, None] < low[:40]).mean()
        assert evaluation_verdict(found)[0].startswith(
            f"The classifier is better than guessing: in {in_order:.0f} of 100 pairs of a case of "
            f"ill (positive) and one of well, that of ill has the {larger} score; guessing: 50 (AUC"
        )
    assert text.startswith("How well are the classes well and ill told apart?")
    assert "Observations: 90, 45 of well and 45 of ill (positive)." in text
    assert "classifier" not in text.splitlines()  # nor in the legends of its charts
    assert "classifier: AUC " not in text
    y = np.array(["a", "b", "c"] * 20)
    page = evaluation_page(dmfroc.evaluate(y, y_pred=np.where(np.arange(60) < 45, y, "a")))
    assert "score" not in page_parts(page)["text"]
    assert "<path" not in page


@pytest.mark.filterwarnings("ignore:.*each of dmf_auc, hand_till is below chance")
@pytest.mark.parametrize(
    ("effect", "claim"),
    [
        (2.0, "The classifier is better than guessing: "),
        (-2.0, "The classifier is worse than guessing: "),
        (0.0, "The data do not show that the classifier is better than guessing: "),
    ],
)
def test_one_classifier_is_compared_with_guessing(effect, claim):
    evaluation = dmfroc.evaluate(sample(effect, ["a", "b", "c"]))
    assert evaluation_verdict(evaluation)[0].startswith(claim)
    numbers = numbers_of(evaluation.sample, evaluation.curve_options, 0.95)
    areas = numbers.areas
    both = np.nanargmin(areas + areas.T)  # as Hand and Till's M is their mean
    i, j = np.unravel_index(both, areas.shape)
    i, j = (i, j) if areas[i, j] <= areas[j, i] else (j, i)
    pair, decisions = hardest({"x": numbers}, evaluation.predictions)
    assert pair == (
        f"The hardest pair is {'abc'[i]} against {'abc'[j]}: in {100 * areas[i, j]:.0f} of 100 "
        f"such pairs of cases, that of {'abc'[i]} has the larger score for {'abc'[i]} "
        f"(A(i|j) {areas[i, j]:.3f}). By scores for {'abc'[j]}, that of {'abc'[j]} in "
        f"{100 * areas[j, i]:.0f} of 100 (A(j|i) {areas[j, i]:.3f})."
    )
    right = np.trace(numbers.confusion) / 0.9
    assert decisions.startswith(f"Decisions are right in {right:.1f} % of cases; always deciding")


@pytest.mark.parametrize(("n_of_rarest", "sizes"), [(9, " (n = 9 and 40)"), (10, "")])
def test_the_hardest_pair_says_how_few_observations_it_has(n_of_rarest, sizes):
    y = np.repeat([0, 1, 2], [n_of_rarest, 40, 40])
    scores = 3.0 * np.eye(3)[y] + np.random.default_rng(0).normal(size=(len(y), 3))
    scores[y == 0] = scores[-1:]
    scores[y == 0, 0] = scores[y == 1, 0].min() - 1
    scores[y == 1, 1] += 5  # so the pair of 0 and 2 is hardest by both directions
    evaluation = dmfroc.evaluate(y, scores)
    numbers = numbers_of(evaluation.sample, evaluation.curve_options, 0.95)
    pair, _ = hardest({"x": numbers}, evaluation.predictions)
    assert pair.startswith(f"The hardest pair is class 0 against class 2{sizes}: in 0 of 100")
    assert "that of class 0 has the larger score for class 0 (A(i|j) 0.000). By scores" in pair


def test_sentences_begin_with_a_capital_but_names_stand_as_they_are():
    said = map(as_sentence, ("t-tests of class x", "my_file.csv: no rows", "setosa: few rows."))
    assert list(said) == ["T-tests of class x.", "my_file.csv: no rows.", "setosa: few rows."]


@pytest.mark.slow
def test_warnings_are_given_once():
    evaluation = dmfroc.evaluate(sample(6.0, ["a", "b", "c"], n=60))
    parts = page_parts(evaluation_page(evaluation))
    assert evaluation.warnings
    for warning in evaluation.warnings:
        assert parts["text"].count(as_sentence(warning)) == 1


def test_a_warning_about_the_data_stands_above_and_names_all_its_measures():
    predictions = sample(3.0, ["a", "b", "c"])
    y = np.array(predictions.labels)[predictions.true]
    below = "each of DMF-AUC, Hand-Till M is below chance"
    for scores, told, also in (
        (predictions.scores[:, [1, 2, 0]], "ass labels= with the classes in the order", below),
        (-predictions.scores, below, "ass labels= with the classes in the order"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            page = dmfroc.evaluate(y, scores).to_html()
        above = page_parts(page.split('<section id="numbers"')[0])["text"]
        assert told in above
        assert page_parts(page)["text"].count(told) == 1
        assert also not in page_parts(page)["text"]  # one warning of one inversion


def test_decisions_alone_are_explained_by_cases_that_are_known():
    """A classifier that knows a share of the cases and guesses the others has that informedness."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=40_000)
    guessed = np.where(rng.random(y.size) < 0.3, y, rng.integers(4, size=y.size))
    found = dmfroc.evaluate(y, y_pred=guessed)
    assert found["informedness"].value == pytest.approx(0.3, abs=0.02)
    known = round(100 * found["informedness"].value)
    assert (
        f"as if it knew {known} of 100 cases and guessed the others ("
        in evaluation_verdict(found)[0]
    )


def test_tiny_p_values_have_no_exponents_in_sentences():
    assert [p_text(p) for p in (1e-9, 0.001, 0.0123)] == ["p < 0.001", "p = 0.0010", "p = 0.012"]


def test_a_limit_is_open_on_its_other_side():
    rows = [ForestRow("limit", 0.1, (0.0, np.inf)), ForestRow("interval", 0.1, (0.0, 0.2))]
    limit, interval = (bar["interval"] for bar in forest(rows, "")["bars"])
    assert [limit.count("V"), interval.count("V")] == [1, 2]


def test_two_classes_are_shown_once():
    page = evaluation_page(dmfroc.evaluate(sample(1.0, ["a", "b"])), title="Two & one")
    assert "<h1>Two &amp; one</h1>" in page
    assert 'id="pairs"' not in page
    assert 'id="classes"' not in page
    assert "Multiclass" not in page.split("<script")[0]
    [[tn, fp], [fn, tp]] = embedded(page)["curves"]["classifier"]["confusion"]
    assert (
        f"of b, sensitivity (recall) is {tp / (tp + fn):.3f}, specificity {tn / (tn + fp):.3f}, "
        f"and positive predictive value (precision) {tp / (tp + fp):.3f}" in page
    )


def test_two_groups_have_one_p_value():
    predictions = sample(1.0, ["a", "b", "c"], n=180)
    groups = np.arange(180) // 3 % 3
    y, scores = np.array(predictions.labels)[predictions.true], predictions.scores
    for n, is_tested in ((2, False), (3, True)):
        found = dmfroc.compare_subgroups(y, scores, np.minimum(groups, n - 1), measures="hand_till")
        text = page_parts(subgroups_page(found))["text"]
        assert (str(found.omnibus) in text) == is_tested


def test_colours_of_areas_do_not_depend_on_the_data():
    labels = ["a", "b", "c"]
    colours = {}
    for effect in (0.5, 6.0):
        numbers = numbers_of(sample_of(sample(effect, labels)), CurveOptions(), 0.95)
        [matrix] = heat_maps({"x": numbers}, labels)
        for row, areas in zip(matrix.rows, numbers.areas, strict=True):
            colours |= {float(a): x.background for (_, x), a in zip(row, areas, strict=True)}
    assert all(colour == shade(2 * area - 1).background for area, colour in colours.items())


@pytest.mark.slow
def test_results_without_a_report_of_their_own_have_a_verdict():
    predictions = sample(2.0, ["a", "b"], n=120)
    tests = dmfroc.applications.calibration_tests(predictions, n_draws=99)
    [sentence] = result_verdict(tests)
    least = min(tests.tests.values(), key=lambda test: test.p_value)
    assert ("do not contradict" in sentence) == (4 * least.p_value >= 0.05)
    assert least.title in sentence
    curve = decision_curve(predictions)
    assert result_verdict(curve)[0].startswith(
        f"At thresholds {curve.better_text()}, deciding by the score is better than treating "
    )
    choice = dmfroc.applications.choose_threshold(predictions, n_draws=100)
    sentence, *rates = result_verdict(choice)
    for rate, x in zip(rates, choice.rates.values(), strict=True):
        assert f" is {x.value:.3f} at this threshold (95 % interval " in rate
    assert f"a score of at least {choice.threshold.value:.3f}." in sentence
    assert f"Youden's J is then {choice.corrected:.3f} (95 %" in sentence
    [sentence] = result_verdict(dmfroc.estimate("hand_till", predictions))
    assert sentence.startswith("The classifier is better than guessing: ")


def test_files_are_named_with_the_versions(tmp_path):
    path = tmp_path / "scores of <June>.csv"
    path.write_text("y,p_a,p_b\n" + "a,0.9,0.1\nb,0.3,0.7\n" * 20 + "a,0.4,0.6\n")
    predictions = dmfroc.Predictions.from_file(path, label="y")
    assert predictions.file == str(path)
    page = dmfroc.evaluate(predictions, measures=["accuracy"]).to_html()
    assert "scores of &lt;June&gt;.csv" in page
    assert "<dt>Files" not in dmfroc.evaluate([0, 1, 1], [0.2, 0.4, 0.9]).to_html()


def test_warnings_of_measures_beside_the_compared_one_are_told():
    rng = np.random.default_rng(0)
    y, scores = np.arange(90) % 3, rng.random((90, 3))
    tied = scores.copy()
    tied[:5] = 0.5
    compared = dmfroc.compare(y, {"plain": scores, "tied": tied}, measures="hand_till")
    assert "tie for the largest" not in " ".join(compared.warnings)
    assert (
        "tied: pass y_pred= if you know better: 5 rows tie for the largest score"
        in compared.to_html()
    )


def test_of_four_classifiers_one_has_intervals_of_calibration():
    labels = ["a", "b", "c"]
    for n in (3, 4):
        effects = [3.0, 1.0, 2.0, 0.5][:n]
        numbers = {
            f"m{x}": numbers_of(sample_of(sample(x, labels)), CurveOptions(), 0.95) for x in effects
        }
        for chart in calibration(numbers, labels, 0.95):
            assert [bool(x.band) for x in chart.lines] == [True, *[n == 3] * (n - 1)]
