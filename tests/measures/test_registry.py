"""Identity: options are part of a measure, of its name and title, and of its rows in results."""

import dataclasses
import inspect
import json
import re
import warnings

import numpy as np
import pytest
from simulations import normal_scores
from sklearn import metrics

from dmfroc import Measure, Predictions, compare, dmf_auc_score, estimate, evaluate, measures
from dmfroc._kit.habits import table
from dmfroc._kit.text import normalized
from dmfroc.analyses import catalogue
from dmfroc.bayes import bayesian_table
from dmfroc.measures import FACTORIES, MEASURES, get_measure
from dmfroc.measures.registry import register

CLASSES, SCORES = normal_scores(1, 60, 3, prior=[0.5, 0.3, 0.2])
SCORES = np.round(SCORES, 1)
COSTS = np.array([[0, 1, 5], [1, 0, 1], [2, 1, 0]])
WITH_OPTIONS = {
    "auc_mu(partition=...)": (lambda: measures.auc_mu(COSTS), "AUC-mu (partition=...)"),
    "dmf_auc(n_thresholds=9, shrinkage=50)": (
        lambda: measures.dmf_auc(shrinkage=50, n_thresholds=9),
        "DMF-AUC (n_thresholds=9, shrinkage=50)",
    ),
    "dmf_auc(pair_weights=...)": (
        lambda: measures.dmf_auc(pair_weights=COSTS),
        "DMF-AUC (pair_weights=...)",
    ),
    "dmf_auc_pooled": (
        lambda: measures.dmf_auc(threshold_pool="pooled"),
        "DMF-AUC (pooled)",
    ),
    "dmf_auc_prevalence": (
        lambda: measures.dmf_auc(pair_weights="prevalence"),
        "DMF-AUC (prevalence)",
    ),
    "dmf_auc_prevalence_pooled(shrinkage=0)": (
        lambda: measures.dmf_auc("prevalence", shrinkage=0, threshold_pool="pooled"),
        "DMF-AUC (prevalence, pooled, shrinkage=0)",
    ),
    "h_measure(beta=5)": (lambda: measures.h_measure(beta=5), "H-measure (beta=5)"),
    "informedness_macro": (lambda: measures.informedness("macro"), "Informedness (macro)"),
    "kappa_area_trapezoid": (
        lambda: measures.kappa_area("trapezoid"),
        "Area under kappa (trapezoid)",
    ),
    "markedness_bias": (lambda: measures.markedness("bias"), "Markedness (bias)"),
    "one_vs_one_auc_macro": (
        lambda: measures.one_vs_one_auc("macro"),
        "One-vs-one AUC, even",
    ),
    "partial_auc(max_fpr=0.5)": (lambda: measures.partial_auc(0.5), "Partial AUC, FPR to 0.5"),
    "precision_recall_gain_area(clip=True)": (
        lambda: measures.precision_recall_gain_area(clip=True),
        "Precision-recall-gain area (clip=True)",
    ),
    "roc_area_lower": (lambda: measures.roc_area("lower"), "ROC area, lower staircase"),
}


def test_every_factory_has_a_measure_of_its_name_and_they_are_found_as_attributes():
    assert set(FACTORIES) <= set(dir(measures))
    for name, make in FACTORIES.items():
        assert getattr(measures, name) is make
        # Of the ways to count ties, only those are listed that are no other measure.
        assert name in MEASURES or name in {"one_vs_one_auc", "roc_area"}
        assert inspect.getdoc(make)
        default = make()
        assert default.name == name or name == "one_vs_one_auc"
        if default.name in MEASURES:
            assert default.title == MEASURES[default.name].title
    for name, measure in MEASURES.items():
        assert measure.name == name
        assert get_measure(name) is measure
    with pytest.raises(AttributeError, match="no accuracies: did you mean"):
        measures.accuracies  # noqa: B018


def test_a_table_lists_them():
    table = measures.measure_table()
    assert list(table.index) == list(MEASURES)
    assert table.title.to_list() == [measure.title for measure in MEASURES.values()]
    assert table.loc["convex_hull_auc", "interval"] == "jackknife"
    assert table.index[:2].to_list() == ["dmf_auc", "hand_till"]
    # Measures of any table come before those of two classes.
    assert list(table.index).index("mutual_information") < list(table.index).index("recall")


@pytest.mark.parametrize(("name", "made"), WITH_OPTIONS.items(), ids=WITH_OPTIONS)
def test_options_are_part_of_name_and_title(name, made):
    make, title = made
    measure = make()
    assert (measure.name, measure.title) == (name, title)
    assert measure.options


def test_options_that_are_the_default_are_not():
    for make in FACTORIES.values():
        defaults = {
            option: parameter.default
            for option, parameter in inspect.signature(make).parameters.items()
        }
        given = make(**defaults)
        assert (given.name, given.title) == (make().name, make().title)
        assert dict(given.options) == defaults == dict(make().options)
    assert measures.partial_auc(0.1).name == "partial_auc"
    assert measures.dmf_auc(shrinkage=0.05).name == "dmf_auc"


@pytest.mark.filterwarnings("ignore:.*rows tie for the largest score")
def test_all_options_have_rows_values_and_titles_of_their_own():
    chosen = [make() for make, _ in WITH_OPTIONS.values()]
    defaults = ["auc_mu", "dmf_auc", "h_measure", "informedness", "kappa_area", "markedness"]
    defaults += ["partial_auc", "precision_recall_gain_area", "roc_area_upper", "hand_till"]
    found = evaluate(CLASSES, SCORES, measures=[*defaults, *chosen], method="jackknife")
    assert list(found.estimates) == [*defaults, *WITH_OPTIONS]
    for measure in chosen:
        of_measure = found.estimates[measure.name]
        # Alone or among others, by sums in whichever order: equal up to rounding.
        assert of_measure.value == pytest.approx(measure(CLASSES, SCORES), rel=1e-12)
        assert (of_measure.measure, of_measure.title) == (measure.name, measure.title)
        assert f"\n{measure.title} " in str(found)
        if measure.is_smooth:
            alone = estimate(measure, CLASSES, SCORES)
            assert alone.interval == pytest.approx(of_measure.interval, rel=1e-12)
            assert alone.standard_error == pytest.approx(of_measure.standard_error, rel=1e-12)
            assert (alone.method, alone.warnings) == (of_measure.method, of_measure.warnings)
    values = [round(of_measure.value, 9) for of_measure in found.estimates.values()]
    # Hand and Till's M is the even average of one class against one.
    assert len(set(values)) == len(values) - 1


def test_what_was_silently_wrong():
    def values(*chosen, **options):
        found = evaluate(CLASSES, SCORES, measures=chosen, **options).estimates
        return {name: of_measure.value for name, of_measure in found.items()}

    own = measures.dmf_auc(shrinkage=50, n_thresholds=9)
    expected = dmf_auc_score(CLASSES, SCORES, shrinkage=50, n_thresholds=9)
    assert values(own) == {own.name: pytest.approx(expected, rel=0, abs=1e-12)}
    two = values(measures.partial_auc(0.1), measures.partial_auc(0.5))
    assert list(two) == ["partial_auc", "partial_auc(max_fpr=0.5)"]
    assert two["partial_auc"] == measures.partial_auc()(CLASSES, SCORES)
    by_size = measures.dmf_auc(pair_weights="prevalence")
    expected = dmf_auc_score(CLASSES, SCORES, pair_weights="prevalence")
    for pair_weights in ("equal", COSTS):
        found = values(by_size, "dmf_auc", pair_weights=pair_weights)
        assert found["dmf_auc_prevalence"] == pytest.approx(expected, rel=0, abs=1e-12)
        of_curve = dmf_auc_score(CLASSES, SCORES, pair_weights=pair_weights)
        assert found["dmf_auc"] == pytest.approx(of_curve, rel=0, abs=1e-12)


@pytest.mark.parametrize("options", [{"shrinkage": 50.0}, {"threshold_pool": "pooled"}], ids=str)
def test_posteriors_refuse_options_of_the_measure_that_their_model_lacks(options):
    pytest.importorskip("numpyro")
    with pytest.raises(ValueError, match=r"dmf_auc.* knows pair_weights alone"):
        estimate(measures.dmf_auc(**options), CLASSES, SCORES, method="bayes")


@pytest.mark.slow
def test_posteriors_know_default_options_that_are_written_out():
    pytest.importorskip("numpyro")
    predictions = Predictions.from_arrays(CLASSES, SCORES)  # whose curve is drawn once
    expected = estimate("dmf_auc", predictions, method="bayes")
    default = inspect.signature(measures.dmf_auc).parameters
    for options in (
        {"shrinkage": 0.05},
        {"shrinkage": np.float64(0.05)},
        {"n_thresholds": np.int8(99)},
    ):
        assert {name: default[name].default for name in options} == options
        assert estimate(measures.dmf_auc(**options), predictions, method="bayes") == expected


@pytest.mark.filterwarnings("ignore:.*most rows of the classes")
def test_what_is_the_area_under_the_curve_is_no_matter_of_its_name_or_family():
    """A user's measure may have them, or the names of the area's options."""
    options = measures.dmf_auc().options
    other = dataclasses.replace(
        measures.hand_till(), name="dmf_auc_mine", family="multiclass ROC", options=options
    )
    own = dataclasses.replace(measures.dmf_auc(shrinkage=9), name="mine", family="mine")
    assert [m.name for m in measures.MEASURES.values() if m.is_dmf_auc] == ["dmf_auc"]
    assert (other.is_dmf_auc, own.is_dmf_auc) == (False, True)
    found = evaluate(CLASSES, SCORES, measures=[other, own])
    assert (found.area, found.curve_options.shrinkage) == ("mine", 9)
    assert evaluate(CLASSES, SCORES, measures=[other]).area is None
    scores = {"a": SCORES, "b": SCORES**3}
    assert compare(CLASSES, scores, measures=other).curve_options is None
    assert compare(CLASSES, scores, measures=own).curve_options.shrinkage == 9


def test_a_users_measure_has_no_posterior_of_the_curve():
    pytest.importorskip("numpyro")
    own = Measure(name="own", bind=lambda p: lambda w: w @ p.scores[:, 0], family="multiclass ROC")
    with pytest.raises(ValueError, match="own has no posterior"):
        estimate(own, CLASSES, SCORES, method="bayes")


def test_numbers_of_numpy_are_the_same_options():
    names = {measures.dmf_auc(shrinkage=kind(4)).name for kind in (int, float, np.int8, np.float64)}
    assert names == {"dmf_auc(shrinkage=4)", "dmf_auc(shrinkage=4.0)"}
    assert measures.partial_auc(np.float64(0.1)).name == "partial_auc"


def test_posteriors_of_tables_have_the_measures_own_options():
    pytest.importorskip("arviz")
    by_bias, even = (
        bayesian_table(measures.informedness(weighting), CLASSES, SCORES, n_draws=50)
        for weighting in ("bias", "macro")
    )
    assert (by_bias.measure, even.measure) == ("informedness", "informedness_macro")
    assert even.value != pytest.approx(by_bias.value, abs=1e-4)


@pytest.mark.filterwarnings("ignore:.*most rows of the classes")
def test_a_title_of_ones_own_is_used():
    own = dataclasses.replace(measures.hand_till(), name="m", title="Separation")
    found = evaluate(CLASSES, SCORES, measures=["hand_till", own])
    assert found.estimates["m"].value == found.estimates["hand_till"].value
    assert found.estimates["m"].title == "Separation"
    assert "\nSeparation " in str(found)
    compared = compare(CLASSES, {"a": SCORES, "b": SCORES**3}, measures=own)
    assert (compared.measure, compared.title) == ("m", "Separation")
    assert own(CLASSES, SCORES) == measures.hand_till()(CLASSES, SCORES)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "informedness",
            {"weighting": "micro"},
            r"weighting must be one of \('bias', 'prevalence'",
        ),
        ("one_vs_rest_auc", {"weighting": 1}, r"weighting must be one of \('macro', .* it is 1"),
        ("one_vs_one_auc", {"weighting": "bias"}, r"weighting must be one of .* it is 'bias'"),
        (
            "roc_area",
            {"ties": "none"},
            r"ties must be one of \('half', 'lower', 'upper'\).* 'none'",
        ),
        ("kappa_area", {"method": "cohen"}, r"method must be one of \('exact', 'trapezoid'\)"),
        ("dmf_auc", {"threshold_pool": "joint"}, r"threshold_pool must be one of \('column'"),
        ("dmf_auc", {"pair_weights": "even"}, "pair_weights must be 'equal', 'prevalence', a cost"),
        ("dmf_auc", {"n_thresholds": 0}, "n_thresholds must be an integer >= 9, but it is 0"),
        ("dmf_auc", {"shrinkage": -1}, "shrinkage must be a finite number >= 0, but it is -1"),
        ("partial_auc", {"max_fpr": 2}, r"max_fpr must be in \(0, 1\], such as 0.1, but it is 2"),
    ],
)
def test_wrong_options_are_refused(name, options, message):
    with pytest.raises(ValueError, match=message):
        FACTORIES[name](**options)(CLASSES, SCORES)


def test_options_that_do_not_exist_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'alpha'"):
        measures.partial_auc(alpha=1)
    with pytest.raises(TypeError, match="too many positional arguments"):
        measures.accuracy(1)


def test_names_are_unique(monkeypatch):
    monkeypatch.setitem(FACTORIES, "hand_till", FACTORIES["hand_till"])  # restores it

    def hand_till():
        return Measure(name="hand_till", bind=lambda predictions: lambda weights: weights[0])

    with pytest.raises(ValueError, match="there are two measures 'hand_till'"):
        register()(hand_till)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("acuracy", "accuracy"),
        ("han_till", "hand_till"),
        ("breir", "brier_score"),
        ("auc(max_fpr=0.1)", "partial_auc"),
        ("c_index(pair_weights='prevalence')", "dmf_auc"),
    ],
)
def test_unknown_measures_are_told_with_near_ones(text, nearest):
    with pytest.raises(ValueError, match="near it are ") as caught:
        get_measure(text)
    near = str(caught.value).split("near it are ")[1].split(", and ")[0].split(", ")
    assert near[0] == nearest
    assert set(near) <= {*MEASURES, *FACTORIES}


@pytest.mark.parametrize("text", ["aic", "mae", "ndcg", "hosmer", "x", "bleu"])
def test_measures_unlike_any_are_told_without_others(text):
    with pytest.raises(ValueError, match=f"'{text}'") as caught:
        get_measure(text)
    assert "near it" not in str(caught.value)


def test_parentheses_that_stay_open_are_named():
    with pytest.raises(ValueError, match="its parenthesis is not closed; near it are partial_auc"):
        get_measure("partial_auc(max_fpr=0.1")
    with pytest.raises(ValueError, match=r"its options are k, written as in 'recall_at\(k=...\)'"):
        get_measure("recall_at(precision=0.9)")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("DMF-AUC", "dmf_auc"),
        ("Hand-Till M", "hand_till"),
        ("AP", "average_precision"),
        ("mcc", "gorodkin_correlation"),
        ("Matthews correlation coefficient", "gorodkin_correlation"),
        ("Kappa", "cohen_kappa"),
        ("Cohen's kappa", "cohen_kappa"),
        ("balanced accuracy", "balanced_accuracy"),
        ("F1-score", "f1"),
        ("f1_macro", "macro_f1"),
        ("brier", "brier_score"),
        ("ECE", "expected_calibration_error"),
        ("cross_entropy", "log_loss"),
        ("LogLoss", "log_loss"),
        ("roc_auc_ovr_weighted", "one_vs_rest_auc_prevalence"),
        ("QWK", "weighted_kappa"),
        ("LR+", "positive_likelihood_ratio"),
        ("LR-", "negative_likelihood_ratio"),
        ("Likelihood ratio -", "negative_likelihood_ratio"),
        ("ROC-AUC", "auc"),
        ("AUROC", "auc"),
    ],
)
def test_measures_have_the_names_that_people_use(text, name):
    assert get_measure(text).name == name


@pytest.mark.parametrize(
    ("text", "k"),
    [("top2", 2), ("Top-3", 3), ("top_5_accuracy", 5), ("hits@10", 10), ("acc@1", 1)],
)
def test_accuracy_among_the_first_k_is_named_by_k(text, k):
    assert get_measure(text).name.startswith("top_k_accuracy")
    assert get_measure(text).options == {"k": k}


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("top_k", "say which k, as in 'top3'"),
        ("precision@5", "ranked lists of items"),
        ("f2", r"as in 'f_beta\(beta=2\)'"),
        ("ECE-10", r"expected_calibration_error\(n_bins=...\)"),
    ],
)
def test_names_with_numbers_in_them_have_hints(text, hint):
    with pytest.raises(ValueError, match=hint):
        get_measure(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("AUPRC", ["average_precision", "precision_recall_area"]),
        ("Youden's J", ["informedness", "max_informedness"]),
        ("macro AUC", ["one_vs_rest_auc", "hand_till", "dmf_auc"]),
    ],
)
def test_names_of_several_measures_are_refused_with_all_of_them(text, names):
    with pytest.raises(ValueError, match="which is not clear") as caught:
        get_measure(text)
    assert all(repr(name) in str(caught.value) for name in names)


def test_measures_of_other_options_have_another_repr():
    for one, other in (
        (measures.recall_at(k=5), measures.recall_at(k=7)),
        (measures.recall_at(), measures.recall_at(k=7)),
        (measures.dmf_auc(np.eye(3)), measures.dmf_auc(1 - np.eye(3))),
        (get_measure("recall"), get_measure("recall_macro")),
        tuple(measures.expected_utility([[0, x], [1, 0]]) for x in (1, 2)),
    ):
        assert repr(one) != repr(other)
        assert repr(one) == repr(dataclasses.replace(one))
    assert repr(get_measure("hand_till")) == "Measure('hand_till')"
    assert repr(get_measure("recall_at(k=5)")) == "Measure('recall_at(k=5)')"
    assert repr(get_measure("recall_at")) == "Measure('recall_at', k=10)"


def test_no_two_measures_have_the_same_name():
    """Of names, titles, synonyms and hints, whatever the case and the marks."""
    names = [normalized(x) for xs in catalogue.SYNONYMS.values() for x in xs.split(", ")]
    names += [*map(normalized, table("measures")), *catalogue._AREAS_OF_TWO]
    for measure in MEASURES.values():
        names += {normalized(measure.name), normalized(measure.title)}
    assert len(names) == len(set(names))
    assert set(catalogue.SYNONYMS) <= set(MEASURES)


def test_synonyms_are_scikit_learns_numbers():
    probabilities = np.exp(SCORES) / np.exp(SCORES).sum(axis=1)[:, None]
    predicted = probabilities.argmax(axis=1)
    for name, expected in {
        "roc_auc_ovo": metrics.roc_auc_score(CLASSES, probabilities, multi_class="ovo"),
        "roc_auc_ovr": metrics.roc_auc_score(CLASSES, probabilities, multi_class="ovr"),
        "roc_auc_ovo_weighted": metrics.roc_auc_score(
            CLASSES, probabilities, multi_class="ovo", average="weighted"
        ),
        "roc_auc_ovr_weighted": metrics.roc_auc_score(
            CLASSES, probabilities, multi_class="ovr", average="weighted"
        ),
        "cross_entropy": metrics.log_loss(CLASSES, probabilities),
        "mcc": metrics.matthews_corrcoef(CLASSES, predicted),
        "f1_micro": metrics.f1_score(CLASSES, predicted, average="micro"),
        "ap": metrics.average_precision_score(np.eye(3)[CLASSES], probabilities),
    }.items():
        found = get_measure(name)(CLASSES, probabilities)
        assert found == pytest.approx(expected, rel=1e-10), name


def test_the_area_of_two_classes_is_called_so():
    classes, score = np.minimum(CLASSES, 1), SCORES[:, 1]
    found = evaluate(classes, score, measures=["AUC"])
    assert found.estimates["auc"].value == pytest.approx(metrics.roc_auc_score(classes, score))
    assert "AUC" in str(found)
    with pytest.raises(ValueError, match="auc is a measure of two classes, and there are 3: use"):
        estimate("auc", CLASSES, SCORES)


def test_pair_weights_are_those_of_the_area_by_any_of_its_names():
    by_name, by_title = (
        evaluate(CLASSES, SCORES, measures=[name], pair_weights=COSTS).estimates["dmf_auc"].value
        for name in ("dmf_auc", "DMF-AUC")
    )
    assert by_name == by_title != estimate("dmf_auc", CLASSES, SCORES).value


def test_absent_classes_are_told_once_for_each_measure():
    keep = CLASSES != 1
    for make in (measures.hand_till, measures.gini, measures.auc_mu, measures.dmf_auc):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            make()(CLASSES[keep], SCORES[keep], labels=[0, 1, 2])
        assert len(caught) == 1


@pytest.mark.parametrize("name", ["scaled_brier_score", "d2_brier_score", "Scaled Brier"])
def test_the_scaled_brier_score_is_relative_to_the_shares(name, cases_directory):
    folder = cases_directory / "third"
    handed = json.loads((folder / "expected_handout.json").read_text(encoding="utf-8"))
    [right] = [x["right"] for x in handed if "d2_brier_score" in x["call"]]
    scores = ["P_early", "P_late", "P_none"]
    read = Predictions.from_file(folder / "sas_score.csv", label="F_stage", scores=scores)
    assert estimate(name, read).value == pytest.approx(right["brier_skill_score"], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("micro_auc", "dmfroc.applications.multilabel(one_hot, y_score, average='micro')"),
        ("IDI", "the difference of 'discrimination_slope' between two models"),
        ("hosmer_lemeshow_test", "dmfroc.applications.calibration_tests"),
        ("ndcg", "for ranked lists"),
        ("ndcg@10", "for ranked lists"),
        ("BEDROC", "'precision_at_k'"),
    ],
)
def test_measures_that_are_not_here_are_answered_with_what_is(name, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        get_measure(name)
