"""Every case that ever failed, with what it has to give: an error that names, or a value."""

import tempfile
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

import dmfroc
from dmfroc.applications.calibration import calibration_tests
from dmfroc.applications.meta_analysis.models import area_under_line

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 10)
S = RNG.normal(size=(30, 3)) + np.eye(3)[Y]
T = RNG.normal(size=(30, 3)) + np.eye(3)[Y]
B, P = (Y > 0).astype(int), 1 / (1 + np.exp(-S[:, 1]))


IMPORTANCE = (1 + np.arange(30) % 7) / 8
COUNTS = 1 + np.arange(30) % 3
VERIFIED = np.where(np.arange(30) % 4, Y, None)


def indexed_accuracy(name, made_of, values, true=Y):
    """Return an accuracy where one further option is made of rows in another order."""
    index = pd.Index([f"row {place}" for place in ROWS])
    given = made_of(pd.DataFrame(values, index)[::-1].squeeze(axis=1))
    return dmfroc.estimate("accuracy", pd.Series(true, index), S, **{name: given}).value


def of_labels(names, of_scores):
    """Return the mean area of two labels whose scores are perfect."""
    true, order = np.eye(3)[Y][:, :2], ["uv".find(name) for name in of_scores]
    scores = pd.DataFrame(true[:, order], columns=list(of_scores))
    found = dmfroc.applications.multilabel(pd.DataFrame(true, columns=list(names)), scores)
    return found.estimates["classifier"].value


def arrow(array):
    import pyarrow as pa

    return pa.table(dict(zip("uvw", array.T, strict=False)))


def estimate(**options):
    return dmfroc.estimate("hand_till", Y, S, **options).level


def compare(**options):
    return str(dmfroc.compare(Y, {"a": S, "b": T}, measures="hand_till", **options))[:10]


def curve(weights="equal", **options):
    return dmfroc.multiclass_roc(Y, S, pair_weights=weights, **options).converged


def xarray_columns():
    import xarray

    scores = xarray.DataArray([[1.0, 0.0], [0.0, 1.0]], dims=("n", "c"), coords={"c": ["b", "a"]})
    return dmfroc.Predictions.from_arrays(["a", "b"], scores).scores.tolist()


def identifier():
    import pandas as pd

    frame = pd.DataFrame({"id": [1, 2, 3], "a": [0.9, 0.2, 0.1], "b": [0.1, 0.8, 0.9]})
    return dmfroc.Predictions.from_arrays(["a", "b", "b"], frame).scores.tolist()


def scanned(batches, **options):
    return dmfroc.estimate("hand_till", dmfroc.scan(batches, **options)).level


def changing(*contents):
    calls = iter(contents)
    return scanned(lambda: next(calls))


def accumulated(*types):
    accumulator = dmfroc.counted.Accumulator(range(3))
    for kind in types:
        accumulator.update(Y, S.astype(kind))
    return accumulator


def filtered():
    from pyarrow import compute, dataset

    with tempfile.TemporaryDirectory() as folder:
        table = pd.DataFrame({"y": Y} | {str(k): S[:, k] for k in range(3)})
        table.to_parquet(f"{folder}/scores.parquet")
        source = dataset.dataset(folder).filter(compute.field("0") > 0)
        return scanned(source, label="y", scores=["0", "1", "2"])


class Masked(GaussianNB):
    """A classifier whose probabilities are masked."""

    def predict_proba(self, X):
        return np.ma.masked_less(super().predict_proba(X), 0.5)


def cross_validated(classifier, X=S, **options):
    return dmfroc.cross_validate(classifier, X, Y, measures=["hand_till"], **options)


def learner(**options):
    """Accuracy of a learner by folds that have equally many rows of each class."""
    folds = np.arange(30) % 2
    found = dmfroc.estimate(
        "accuracy", Y, S, folds=dmfroc.Folds(folds, target="learner"), **options
    )
    return [found.value, found.standard_error]


def judged_baseline(scores):
    """Difference of two classes' net benefit, with labels of a judge where nobody verified."""
    verified = np.where(np.arange(30) % 3, B, None)
    both = {"a": P, "treat all": scores}
    [found] = dmfroc.compare(verified, both, measures="net_benefit", judge=P > 0.5).differences
    return [found.value, *found.interval]


POINTS = ("sensitivity_at", "specificity_at", "fpr_at", "precision_at", "accuracy_at_coverage")


def points_with_a_judge(said, places=slice(10)):
    """Values at thresholds of 30 rows, of which some are verified."""
    verified = np.where(np.isin(np.arange(30), np.arange(30)[places]), B, None)
    scores = np.column_stack([1 - P, P])
    return [dmfroc.estimate(x, verified, scores, judge=said).value for x in POINTS]


def judged_booleans():
    """Accuracy of named probabilities, with labels and a judge of True and False."""
    columns = {"True": [0.2, 0.7, 0.4] * 10, "False": [0.8, 0.3, 0.6] * 10}
    verified = [True, False, None] * 10
    judge = [True, True, False] * 10
    return dmfroc.estimate("accuracy", verified, pd.DataFrame(columns), judge=judge).value


def weighted_stream():
    """Accuracy of a stream with weights of 3/2 where it is right, and of 1/2 where not."""
    right = np.tile([True, False], 20)
    y, weights = np.arange(40) // 2 % 2, np.where(right, 1.5, 0.5)
    stream = dmfroc.counted.Accumulator([0, 1], n_bins=64)
    stream.update(y, np.eye(2)[np.where(right, y, 1 - y)], sample_weight=weights)
    found = stream.compute(["accuracy"]).estimates["accuracy"].value
    return [dmfroc.applications.confidence_sequence(stream, "accuracy").value, found]


def entropy_with_a_judge():
    """Value and limits where the weight of the judge carries the value beyond ln 2."""
    rng = np.random.default_rng(5)
    y = np.tile([0, 1], 60)
    p = 1 / (1 + np.exp(-(2 * rng.normal(size=120) + 4 * y - 2)))
    said = np.where(rng.random(120) < 0.8, y, 1 - y)
    verified, scores = np.where(np.arange(120) < 40, y, None), np.column_stack([1 - p, p])
    found = dmfroc.estimate("entropy_predicted", verified, scores, judge=said)
    return [found.value, max(*found.interval, found.value)]


def points(places):
    scores = np.column_stack([1 - P, P])[places]
    return [dmfroc.estimate(x, B[places], scores).value for x in POINTS]


# 70 and 30 rows. The hard labels of 10 and 6 are wrong
TRUE = np.repeat([0, 1], [70, 30])
HARD = np.where(np.r_[np.arange(70) < 10, np.arange(30) < 6], 1 - TRUE, TRUE)
TWO = np.column_stack([0.8 - 0.6 * HARD, 0.2 + 0.6 * HARD])
FOLD = np.r_[np.arange(70) < 60, np.arange(30) < 3].astype(int)


def first_class(measure, scores=TWO, **options):
    return dmfroc.estimate(measure, TRUE, scores, pos_label=0, **options).value


def beside_baselines(measure):
    scores = {"model": TWO, "treat all": None, "treat none": None}
    found = dmfroc.compare(TRUE, scores, measures=measure, pos_label=0).estimates
    return [one.value for one in found.values()]


def accuracy_in_folds(share):
    parts = [np.bincount(2 * FOLD + TRUE, x) for x in (HARD == TRUE, None)]
    right = (parts[0] / parts[1]).reshape(2, 2)
    return float((right @ [1 - share, share]).mean())


def strict(call):
    """Let NumPy raise what it ignores or warns of by default, as programs of users may."""
    with np.errstate(all="raise"):
        return call()


def cut_at_zero():
    accumulator = dmfroc.counted.Accumulator(range(3), cuts=[-1.0, 0.0, 1.0])
    accumulator.update(Y, S)
    return accumulator.compute().estimates["hand_till"].value


def columns_of_no_class(n):
    """Return whether what is said of a table with so many columns can be read."""
    names = ["p_a", "p_b", *(f"p_{place}" for place in range(n))]
    shares = np.random.default_rng(0).dirichlet(np.ones(len(names)), size=6)
    try:
        dmfroc.Predictions.from_arrays(3 * ["a", "b"], pd.DataFrame(shares, columns=names))
    except ValueError as error:
        return "leave them out" in str(error) and len(str(error)) < 1000


ROWS, ROC = np.arange(30), dmfroc.curves.roc_curve(B, P)
FOLDS = np.arange(30) % 2
IN_FOLDS = dmfroc.Predictions.from_arrays(B, P).in_folds(FOLDS)
PAIR = {"a": IN_FOLDS, "b": dmfroc.Predictions.from_arrays(B, -P)}
GROUPED = {"y_true": Y, "y_score": S, "groups": np.arange(30) // 3}
EMPTY = (Y[:0], S[:0])

CASES = {
    "function that changes": (
        lambda: changing(*[[(Y, S)]] * 5, [(Y, S)] * 2),
        (ValueError, "the data have changed since an earlier pass"),
    ),
    "function that returns None": (
        lambda: scanned(lambda: None),
        (TypeError, "source must be a function that returns an iterator"),
    ),
    "groups in some batches": (
        lambda: scanned([GROUPED, (Y, S)]),
        (ValueError, "groups are missing, but integers in"),
    ),
    "labels of two types": (
        lambda: scanned([(Y, S), (Y.astype(str), S)]),
        (TypeError, "convert them to one type"),
    ),
    "dataset with a filter": (filtered, (ValueError, "source is a dataset with a filter")),
    "frame as source": (
        lambda: scanned(pd.DataFrame(S)),
        (TypeError, "source must be a path, a dataset"),
    ),
    "function with arguments": (
        lambda: scanned(lambda folder: [(Y, S)]),
        (TypeError, "source must be a function without arguments"),
    ),
    "masked within numbers": (
        lambda: dmfroc.curves.isometrics(ROC, "accuracy", [0.5, np.ma.masked]),
        (ValueError, "values has masked values"),
    ),
    "masked features": (
        lambda: cross_validated(GaussianNB(), np.ma.masked_less(S, 0)),
        (ValueError, "X has masked values"),
    ),
    "masked probabilities": (
        lambda: cross_validated(Masked()),
        (ValueError, "y_score, from Masked, has masked values"),
    ),
    "masked rows of folds": (
        lambda: cross_validated(GaussianNB(), cv=[(np.ma.masked_equal(ROWS[::2], 4), ROWS[1::2])]),
        (ValueError, "a split of cv has masked values"),
    ),
    "folds that are trained on": (
        lambda: cross_validated(GaussianNB(), cv=[(ROWS, ROWS[::2]), (ROWS[::2], ROWS[1::2])]),
        (ValueError, "cv has row 0 (counting from 0) among both"),
    ),
    "folds that judge a fit twice": (
        lambda: cross_validated(GaussianNB(), cv=[(ROWS[::2], ROWS[1::2]), (ROWS[::2], ROWS[3:4])]),
        (ValueError, "test row 3 in an earlier split"),
    ),
    "stratify with a judge": (
        lambda: estimate(judge=Y, stratify=True),
        (ValueError, "stratify cannot be given together with judge="),
    ),
    "points with a judge of verified rows": (
        lambda: points_with_a_judge(B, slice(30)),
        points(slice(30)),
    ),
    "points with a judge that gives one label": (
        lambda: points_with_a_judge(0 * B, slice(20)),
        points(slice(20)),
    ),
    "a value with a judge beyond its range": (entropy_with_a_judge, [np.log(2)] * 2),
    "the learner with a judge": (
        lambda: estimate(judge=Y, folds=dmfroc.Folds(target="learner")),
        (ValueError, "folds cannot be given together with judge="),
    ),
    "the learner and stratify": (
        lambda: estimate(folds=dmfroc.Folds(FOLDS, target="learner"), stratify=True),
        (ValueError, "stratify is no option of method='corrected_resampling'"),
    ),
    "the learner in another population": (
        lambda: learner(population=[0.2, 0.3, 0.5]),
        learner(sample_weight=np.array([0.2, 0.3, 0.5])[Y]),
    ),
    "stratify with groups of several classes": (
        lambda: estimate(groups=np.arange(30) % 10, stratify=True),
        (
            ValueError,
            "stratify=True fixes the class sizes, but groups have rows of several classes",
        ),
    ),
    "costs without a use": (
        lambda: dmfroc.applications.choose_threshold(B, P, cost_fp=5, n_draws=100),
        (ValueError, "cost_fp is no option of by='youden': use by='cost'"),
    ),
    "power of a half-width": (
        lambda: dmfroc.applications.plan(PAIR["b"], half_width=0.1, power=0.9),
        (TypeError, "power goes with difference= or margin="),
    ),
    "scores of a target beside hard labels": (
        lambda: dmfroc.estimate("accuracy", B, y_pred=P > 0.6, population=S[:, :2]),
        (ValueError, "of the sample there are hard labels alone"),
    ),
    "the learner of accumulators": (
        lambda: dmfroc.compare(
            {x: accumulated("f8") for x in "ab"}, folds=dmfroc.Folds(target="learner")
        ),
        (TypeError, "of accumulators, which are streams, call dmfroc.applications.compare_streams"),
    ),
    "a judge of a scan": (
        lambda: dmfroc.estimate("hand_till", dmfroc.scan([(Y, S)]), judge=Y),
        (TypeError, "judge cannot be given together with a scan"),
    ),
    "labels True and False with a judge": (judged_booleans, 0.0),
    "columns named after classes where those are numbers by position": (
        lambda: dmfroc.functional.hand_till(B, pd.DataFrame({"b": P, "a": 1 - P}), n_classes=2),
        (ValueError, "scores has columns named 'b', 'a', and the classes here are numbers"),
    ),
    "a stream whose weights have a mean of 1": (weighted_stream, [0.75, 0.75]),
    "a judge of predictions": (
        lambda: dmfroc.compare(PAIR, judge=B),
        (TypeError, "judge= goes with arrays: instead of a dict of Predictions pass y_true"),
    ),
    "a baseline with a judge": (
        lambda: judged_baseline(None),
        judged_baseline(np.tile([0.0, 1.0], (30, 1))),
    ),
    "folds of one classifier": (
        lambda: dmfroc.compare(PAIR, measures="hand_till"),
        (ValueError, "the folds of 'a' and 'b' differ"),
    ),
    "other folds than those of the predictions": (
        lambda: dmfroc.estimate("hand_till", IN_FOLDS, folds=np.arange(30) % 3),
        (ValueError, "folds are others than those of the predictions"),
    ),
    "pooled folds": (
        lambda: dmfroc.curves.roc_curve(IN_FOLDS),
        (ValueError, "the predictions have folds, whose scores come from different fits"),
    ),
    "a pilot in folds": (
        lambda: dmfroc.applications.plan(IN_FOLDS, measure="hand_till", half_width=0.1).value,
        dmfroc.estimate("hand_till", IN_FOLDS).value,
    ),
    "a masked number as labels": (
        lambda: dmfroc.applications.multilabel(np.eye(3)[Y], S, labels=np.ma.masked),
        (TypeError, "labels must be a list"),
    ),
    "costs that depend on nothing": (
        lambda: dmfroc.applications.decision_curve(B, P, costs=lambda: 0),
        (TypeError, "costs must be a function of a threshold: too many positional"),
    ),
    "a number as the name of a classifier": (
        lambda: dmfroc.plots.ROCDisplay.from_predictions(B, P, name=5),
        (TypeError, "name must be of type str"),
    ),
    "offsets that overflow": (
        lambda: dmfroc.dmf([[0.5, 0.2]], offset=1e308),
        (ValueError, "offset must be between -1e+06 and 1e+06"),
    ),
    "picture of one classifier's labels": (
        lambda: len(
            dmfroc.applications.multilabel(np.eye(3)[Y], S).plot().rows
        ),  # labels and their mean
        4.0,
    ),
    "predictions in a number": (
        lambda: dmfroc.Predictions.from_file(5, label="y"),
        (TypeError, "path must be a path, but it is 5"),
    ),
    "page in a number": (
        lambda: dmfroc.evaluate(Y, S).to_html(3),
        (TypeError, "path must be a path, but it is 3"),
    ),
    "hundreds of columns that are no classes": (lambda: columns_of_no_class(300), True),
    "strict arithmetic of a cut at 0": (lambda: strict(cut_at_zero), cut_at_zero()),
    "strict arithmetic of a posterior": (
        lambda: strict(
            lambda: (
                dmfroc.bayes.bayesian_roc(Y, S, n_thresholds=9, n_draws=20, algorithm="laplace")
                .posterior["posterior"]
                .dataset["auc"]
                .size
            )
        ),
        80,
    ),
    "strict arithmetic of a line": (
        lambda: strict(lambda: area_under_line(np.zeros(1), np.full(1, 60.0)).item()),
        0.5,
    ),
    "strict arithmetic of rates near 0": (
        lambda: strict(lambda: dmfroc.dmf(np.eye(3) / 3, rank=2).converged),
        dmfroc.dmf(np.eye(3) / 3, rank=2).converged,
    ),
    "a number as bind": (
        lambda: dmfroc.Measure(name="own", bind=5),
        (TypeError, "bind must be a function of Predictions"),
    ),
    "bind without weights": (
        lambda: dmfroc.Measure(name="own", bind=lambda p: lambda: 1)(Y, S),
        (TypeError, "what bind= of the measure 'own' returns must be a function of the weights"),
    ),
    "bins of a curve beyond memory": (
        lambda: dmfroc.curves.calibration_curve(B, P, n_bins=10**12),
        (ValueError, "n_bins must be an integer from 1 to 1000000, but it is larger"),
    ),
    "empty batches": (lambda: scanned([EMPTY, (Y, S), EMPTY]), 0.95),
    "nothing but empty batches": (lambda: scanned([EMPTY] * 2), (ValueError, "source is empty")),
    "no weights": (
        lambda: scanned([{"y_true": Y, "y_score": S, "sample_weight": np.zeros(30)}]),
        (ValueError, "sample_weight is zero in every row"),
    ),
    "no cuts": (lambda: scanned([(Y, S)], cuts={}), (ValueError, "cuts must be an array")),
    "checkpoint 5": (
        lambda: scanned([(Y, S)], checkpoint=5),
        (TypeError, "checkpoint must be a path"),
    ),
    "empty checkpoint": (
        lambda: scanned([(Y, S)], checkpoint=""),
        (ValueError, "checkpoint must be a path"),
    ),
    "scheduler 5": (
        lambda: scanned([(Y, S)], scheduler=5),
        (TypeError, "scheduler must be the address"),
    ),
    "accumulator of two types": (
        lambda: accumulated("f8", "f4"),
        (ValueError, "scores are float32, but float64 in the batches before"),
    ),
    "merge of nothing": (
        lambda: accumulated("f8").merge(None),
        (TypeError, "other must be an Accumulator"),
    ),
    "table of text for Fisher's test": (
        lambda: dmfroc.applications.fisher_exact_test("x"),
        (TypeError, "table must be a ContingencyTable"),
    ),
    "choices of arrays": (
        lambda: dmfroc.curves.calibration_curve(B, P, axes=np.array([0.9, 0.95])),
        (ValueError, "axes must be"),
    ),
    "method of arrays": (
        lambda: estimate(method=np.array([0.9, 0.95])),
        (ValueError, "method must be one of"),
    ),
    "cost Decimal": (
        lambda: (
            dmfroc.applications.optimal_operating_points(B, P, cost_fp=Decimal(2)).expected_cost
        ),
        dmfroc.applications.optimal_operating_points(B, P, cost_fp=2).expected_cost,
    ),
    "thresholds beyond all floats": (
        lambda: curve(n_thresholds=10**400),
        (ValueError, "n_thresholds must be an integer from 9 to"),
    ),
    "thresholds beyond memory": (
        lambda: curve(n_thresholds=10**15),
        (MemoryError, "the multiclass ROC curve of 3 classes"),
    ),
    "short integers": (lambda: curve(n_thresholds=np.int8(9)), True),
    "labels that are none": (
        lambda: dmfroc.measures.ContingencyTable.from_matrix(
            [[1, 2], [3, 4]], rows="true", labels=1.5
        ),
        (TypeError, "labels must be a list of classes"),
    ),
    "level of text": (lambda: estimate(level="0.95"), (TypeError, "level must be a number")),
    "level None": (lambda: estimate(level=None), (TypeError, "level must be a number")),
    "levels": (lambda: estimate(level=np.array([0.9, 0.95])), (TypeError, "level must be")),
    "level Decimal": (lambda: estimate(level=Decimal("0.9")), 0.9),
    "level Fraction": (lambda: estimate(level=Fraction(9, 10)), 0.9),
    "seed of text": (lambda: estimate(random_state="x"), (TypeError, "random_state must be")),
    "seed 1.5": (lambda: estimate(random_state=1.5), (TypeError, "random_state must be")),
    "stratify of text": (lambda: estimate(stratify="no"), (TypeError, "stratify must be True")),
    "masked groups": (
        lambda: estimate(groups=np.ma.masked_array(np.arange(30) // 2, mask=np.arange(30) < 9)),
        (ValueError, "groups has a missing value in row 0"),
    ),
    "groups of two kinds": (
        lambda: estimate(groups=[1] * 5 + ["1"] * 25),
        (TypeError, "groups mixes names of several kinds"),
    ),
    "rope of NumPy": (lambda: compare(test=dmfroc.Equivalence(np.float64(0.01))), "classifier"),
    "rope of text": (
        lambda: compare(test=dmfroc.Equivalence("0.01")),
        (TypeError, "half_width must be a number"),
    ),
    "paired of text": (lambda: compare(paired="no"), (TypeError, "paired must be True or False")),
    "measures 1": (lambda: dmfroc.evaluate(Y, S, measures=1), (TypeError, "measures must be")),
    "measures mixed": (
        lambda: dmfroc.evaluate(Y, S, measures=["hand_till", 2]),
        (TypeError, "measure must be one name or Measure"),
    ),
    "complex weights": (
        lambda: curve(np.full((3, 3), 1j)),
        (TypeError, "pair_weights must hold real numbers"),
    ),
    "dates as weights": (
        lambda: curve(np.full((3, 3), np.datetime64("2020-01-01"))),
        (TypeError, "pair_weights must hold real numbers"),
    ),
    "ragged weights": (lambda: curve([[1, 2], [1]]), (ValueError, "pair_weights must be an array")),
    "huge weights": (lambda: curve([[10**400] * 3] * 3), (ValueError, "pair_weights must be")),
    "shrinkage None": (lambda: curve(shrinkage=None), (TypeError, "shrinkage must be a number")),
    "n_thresholds 1.5": (lambda: curve(n_thresholds=1.5), (TypeError, "n_thresholds must be")),
    "n_bins 1.5": (
        lambda: dmfroc.curves.calibration_curve(B, P, n_bins=1.5),
        (TypeError, "n_bins must be an integer"),
    ),
    "cost of text": (
        lambda: dmfroc.applications.optimal_operating_points(B, P, cost_fp="1"),
        (TypeError, "cost_fp must be a number"),
    ),
    "huge costs": (
        lambda: [
            point.expected_cost / 1e308
            for point in dmfroc.applications.optimal_operating_points(
                B, P, cost_fp=1e308, cost_fn=5e307
            ).points
        ],
        [
            point.expected_cost
            for point in dmfroc.applications.optimal_operating_points(
                B, P, cost_fp=1, cost_fn=0.5
            ).points
        ],
    ),
    "ragged table": (
        lambda: dmfroc.measures.ContingencyTable.from_matrix([[1, 2], [3]], rows="true"),
        (ValueError, "matrix must be an array of numbers, not ragged"),
    ),
    "list as table": (
        lambda: dmfroc.applications.chi_squared_test([[1, 2], [3, 4]]),
        (TypeError, "table must be a ContingencyTable"),
    ),
    "large integers": (
        lambda: dmfroc.hand_till_score([0, 1], np.array([2**53, 2**53 + 1])),
        (ValueError, "y_score holds numbers that differ by so little"),
    ),
    "large integers, distinct": (
        lambda: dmfroc.hand_till_score([0, 1], np.array([2**53, 2**54])),
        1.0,
    ),
    "larger integers": (
        lambda: dmfroc.hand_till_score([0, 1], [10**20, 10**20 + 1]),
        (ValueError, "y_score holds numbers that differ by so little"),
    ),
    "long doubles": (
        lambda: dmfroc.hand_till_score([0, 1], 1 + np.arange(2) * np.finfo(np.longdouble).eps),
        (ValueError, "y_score holds numbers that differ by so little"),
    ),
    "10**400": (
        lambda: dmfroc.hand_till_score([0, 1], [10**400, 1]),
        (ValueError, "y_score holds a number of more than 308 digits"),
    ),
    "10**400 bins": (
        lambda: dmfroc.curves.calibration_curve(B, P, n_bins=10**400),
        (ValueError, "n_bins must be an integer from 1 to"),
    ),
    "weights that overflow": (
        lambda: dmfroc.dmf([[0.5, 0.2]], weights=1e308),
        (ValueError, "weights must not add up to more than 1e+300"),
    ),
    "ragged labels": (
        lambda: dmfroc.measures.ContingencyTable.from_matrix(
            [[1, 2], [3, 4]], rows="true", labels=[[1, 2], [3]]
        ),
        (TypeError, "labels must be a list of classes: unhashable"),
    ),
    "ragged weights of observations": (
        lambda: dmfroc.evaluate(B, P, sample_weight=[[1, 2], [3]]),
        (ValueError, "sample_weight must be an array, not ragged lists"),
    ),
    "ragged groups": (
        lambda: dmfroc.evaluate(B, P, groups=[[1, 2], [3]]),
        (ValueError, "groups must be an array, not ragged lists"),
    ),
    "columns of xarray": (xarray_columns, [[0.0, 1.0], [1.0, 0.0]]),
    "identifier": (identifier, [[0.9, 0.1], [0.2, 0.8], [0.1, 0.9]]),
    "masked folds": (
        lambda: estimate(folds=np.ma.masked_equal(np.arange(30) % 3, 1)),
        (ValueError, "folds has a missing value in row 1"),
    ),
    "masked subgroups": (
        lambda: dmfroc.compare_subgroups(Y, S, np.ma.masked_equal(np.arange(30) % 3, 1)),
        (ValueError, "by has a missing value in row 1"),
    ),
    "masked numbers": (
        lambda: dmfroc.dmf(np.ma.masked_array([[0.1, 0.2, 0.3]], mask=[[0, 1, 0]])),
        (ValueError, "rates has masked values"),
    ),
    "a masked number": (
        lambda: dmfroc.applications.optimal_operating_points(B, P, cost_fp=np.ma.masked),
        (TypeError, "cost_fp must be a number"),
    ),
    "masked labels of a fit": (
        lambda: dmfroc.cross_validate(GaussianNB(), S, np.ma.masked_equal(Y, 1)),
        (ValueError, "y has a missing label at row 10"),
    ),
    "points of another kind": (
        lambda: dmfroc.curves.gain_area([0.5, 0.7]),
        (TypeError, "points must be of type OperatingPoints"),
    ),
    "points of another kind, of kappa": (
        lambda: dmfroc.curves.area_under_kappa([0.5, 0.7]),
        (TypeError, "points must be of type OperatingPoints"),
    ),
    "masked within a list": (
        lambda: dmfroc.hand_till_score([0, 1, np.ma.masked], S[:3, :2]),
        (ValueError, "y_true has a missing label at row 2"),
    ),
    "a class of probability 0 that occurs": (
        lambda: calibration_tests(B, np.append(P[:-1], 0), n_draws=99).tests["isotonic"].p_value,
        0.0,
    ),
    "sums of shares of votes, in 32 bits": (
        lambda: dmfroc.measures.vus()(
            [0, 1, 2], (np.array([[1, 2, 1], [3, 4, 3], [2, 3, 2]]) / 10).astype(np.float32)
        ),
        1 / 6,
    ),
    "one right answer of five": (
        lambda: (
            dmfroc.applications.items({"A": [0, 0, 0, 0, 1], "B": [0] * 5}).differences[0].value
        ),
        0.2,
    ),
    "options in the name of a measure": (
        lambda: dmfroc.estimate("partial_auc(max_fpr=0.2)", B, P).measure,
        "partial_auc(max_fpr=0.2)",
    ),
    "flat scores, class after class": (
        lambda: dmfroc.hand_till_score(Y, S.T.ravel()),
        (ValueError, "y_score.reshape(3, 30).T if class follows class"),
    ),
    "the scores of a forest of several labels": (
        lambda: dmfroc.hand_till_score(Y, [np.eye(2)[B], np.eye(2)[1 - B]]),
        (ValueError, "np.stack([p[:, 1] for p in proba], axis=1)"),
    ),
    "soft labels": (
        lambda: dmfroc.hand_till_score(np.full((30, 3), 1 / 3), S),
        (ValueError, "take argmax(axis=1) of soft labels"),
    ),
    "a threshold of a rare event": (
        lambda: (
            str(dmfroc.applications.choose_threshold(B, P * 1e-5, n_draws=100)).count("e-0") > 1
        ),
        True,
    ),
    "planned O/E at another prevalence": (
        lambda: dmfroc.applications.plan(
            dmfroc.Predictions.from_arrays(B, P),
            measure="observed_expected_ratio",
            half_width=0.3,
            prevalence=[0.9, 0.1],
        ).warnings[0][:70],
        "The mean probabilities of the pilot do not fit these shares",
    ),
    "an infinite log loss in a comparison": (
        lambda: dmfroc.compare(B, {"a": np.append(P[:-1], 0), "b": P}, measures="log_loss"),
        (ValueError, "log_loss of 'a' cannot be compared: 1 row gives the observed class"),
    ),
    "ordered categories": (
        lambda: dmfroc.measures.ContingencyTable.from_labels(
            pd.Categorical(list("lmhlmh"), list("lmh"), ordered=True), list("lmhmml")
        ).measures()["weighted_kappa"],
        2 / 7,
    ),
    "ordered categories of Enum in another order": (
        lambda: dmfroc.Predictions.from_labels(
            pd.Categorical(list("lmh"), list("lmh"), ordered=True),
            pd.Categorical(list("lmh"), list("hml"), ordered=True),
        ),
        (ValueError, "state different orders of their categories"),
    ),
    "a dominating weight": (
        lambda: dmfroc.hand_till_score(
            [0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.6, 0.3, 0.5, 0.7], sample_weight=[1e18, 1, 1, 1, 1, 1]
        ),
        1.0,
    ),
    "importance in another order": (
        lambda: indexed_accuracy("population", dmfroc.Importance, IMPORTANCE),
        dmfroc.estimate("accuracy", Y, S, population=dmfroc.Importance(IMPORTANCE)).value,
    ),
    "features in another order": (
        lambda: indexed_accuracy(
            "population", lambda x: dmfroc.Importance(x.to_frame(), S[::2, :1]), T[:, :1]
        ),
        dmfroc.estimate("accuracy", Y, S, population=dmfroc.Importance(T[:, :1], S[::2, :1])).value,
    ),
    "probabilities of labels in another order": (
        lambda: indexed_accuracy(
            "judge", lambda x: dmfroc.Judge(Y, probability=x), IMPORTANCE, VERIFIED
        ),
        dmfroc.estimate(
            "accuracy", VERIFIED, S, judge=dmfroc.Judge(Y, probability=IMPORTANCE)
        ).value,
    ),
    "columns of several labels in another order": (lambda: of_labels("uv", "vu"), 1.0),
    "columns of several labels with other names": (
        lambda: of_labels("uv", "ab"),
        (ValueError, "y_score: columns and classes do not match by name"),
    ),
    "several labels of pyarrow": (
        lambda: list(dmfroc.applications.multilabel(*map(arrow, (np.eye(3)[Y], S))).by_label),
        ["u", "v", "w"],
    ),
    "subgroups of pyarrow": (
        lambda: list(dmfroc.compare_subgroups(Y, S, arrow(ROWS[:, None] % 2)).estimates),
        ["0", "1"],
    ),
    **{
        f"rows that were observed several times, with {name}": (
            lambda given=given: (
                dmfroc.estimate("accuracy", Y, S, frequency_weight=COUNTS, **given).standard_error
            ),
            dmfroc.estimate(
                "accuracy",
                Y.repeat(COUNTS),
                S.repeat(COUNTS, axis=0),
                **{option: values[ROWS.repeat(COUNTS)] for option, values in given.items()},
            ).standard_error,
        )
        for name, given in {
            "groups": {"groups": ROWS // 2},
            "folds": {"folds": ROWS % 2},
            "population": {"population": dmfroc.Importance(IMPORTANCE)},
            "a judge": {"judge": (Y + (ROWS % 7 == 0)) % 3},
            "probabilities of labels": {"judge": dmfroc.Judge(Y, probability=IMPORTANCE)},
        }.items()
    },
    "rows in another order": (
        lambda: dmfroc.hand_till_score(pd.Series(Y), pd.DataFrame(S).iloc[::-1]),
        (ValueError, "hold the same values in another order"),
    ),
    "12 classes as text": (
        lambda: dmfroc.hand_till_score([str(x) for x in range(12)], np.eye(12)),
        (ValueError, "y_true holds labels with two orders"),
    ),
    "costs with the first class positive": (
        lambda: first_class(dmfroc.measures.expected_utility([[0, 5], [1, 0]])),
        -0.3,
    ),
    "kappa's costs with the first class positive": (
        lambda: first_class(dmfroc.measures.weighted_kappa([[0, 3], [1, 0]])),
        1 - (3 * 10 + 6) * 100 / (3 * 70 * 34 + 30 * 66),
    ),
    "shares with the first class positive": (
        lambda: first_class("accuracy", population=[0.9, 0.1]),
        0.9 * 60 / 70 + 0.1 * 24 / 30,
    ),
    "one share with the first class positive": (
        lambda: first_class("accuracy", population=0.9),
        0.9 * 60 / 70 + 0.1 * 24 / 30,
    ),
    "one share of a chosen threshold's positive class": (
        lambda: (
            dmfroc.applications.choose_threshold(
                TRUE, TWO, by="accuracy", population=0.9, pos_label=0, n_draws=100
            ).value.value
        ),
        0.9,  # everybody
    ),
    "rows of the target with the first class positive": (
        lambda: (
            first_class("accuracy", population=TWO[TRUE == 0])
            - first_class("accuracy", population=pd.DataFrame(TWO[TRUE == 0], columns=[0, 1]))
        ),
        0.0,
    ),
    "baselines' benefit with the first class positive": (
        lambda: beside_baselines(dmfroc.measures.net_benefit(0.2)),
        [0.625, 0.625, 0.0],
    ),
    "baselines' recall with the first class positive": (
        lambda: beside_baselines("recall"),
        [60 / 70, 1.0, 0.0],
    ),
    "folds at given shares": (
        lambda: dmfroc.estimate("accuracy", TRUE, TWO, folds=FOLD, population=0.2).value,
        accuracy_in_folds(0.2),
    ),
    "one probability with the first class positive": (
        lambda: first_class("brier_score", TWO[:, 0]),
        0.04 * 0.84 + 0.64 * 0.16,
    ),
    "one probability and a threshold for the first class": (
        lambda: dmfroc.applications.operating_point(TRUE, TWO[:, 0], 0.5, pos_label=0).tpr,
        60 / 70,
    ),
    "runs without any variation": (
        lambda: (
            dmfroc.compare_runs(Y, {"a": [S, S], "b": [S, S]}, measures="hand_till")
            .random_runs.differences[0]
            .p_value
        ),
        1.0,
    ),
    "crossed of text": (
        lambda: dmfroc.compare_runs(Y, {"a": [S, T], "b": [T, S]}, crossed="no"),
        (TypeError, "crossed must be True or False"),
    ),
    "a limit of text": (
        lambda: dmfroc.measures.partial_auc(max_fpr="x"),
        (TypeError, "max_fpr must be a number"),
    ),
    "bins beyond memory": (
        lambda: dmfroc.measures.expected_calibration_error(n_bins=10**12),
        (ValueError, "n_bins must be an integer from 1 to"),
    ),
    "no priors": (
        lambda: dmfroc.bayes.bayesian_roc(Y, S, priors=None),
        (TypeError, "priors must be Priors"),
    ),
    "weights of cells below the smallest number with all digits": (
        lambda: dmfroc.dmf([[0.2, 0.4], [0.6, 0.7]], weights=1e-308),
        (ValueError, "weights must be 0 or at least 1e-300"),
    ),
}
