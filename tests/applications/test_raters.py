"""Agreement of two and more raters: published values, identities, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from dmfroc import estimate
from dmfroc.applications import rater_agreement
from dmfroc.measures import get_measure

N = None
# Ratings of 12 units by 4 observers, Krippendorff (2011); also in the package irrCAC
FOUR = [
    [1, 1, N, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [N, 5, 5, 5], [N, N, 1, 1], [N, N, 3, N],
]  # fmt: skip
# How many of 6 psychiatrists chose each of 5 diagnoses for 15 patients, Fleiss (1971); irrCAC
COUNTS = [
    [0, 0, 0, 6, 0], [0, 3, 0, 0, 3], [0, 1, 4, 0, 1], [0, 0, 0, 0, 6], [0, 3, 0, 3, 0],
    [2, 0, 4, 0, 0], [0, 0, 4, 0, 2], [2, 0, 3, 1, 0], [2, 0, 0, 4, 0], [0, 0, 0, 0, 6],
    [1, 0, 0, 5, 0], [1, 1, 0, 4, 0], [0, 3, 3, 0, 0], [1, 0, 0, 5, 0], [0, 2, 0, 3, 1],
]  # fmt: skip
SIX = [np.repeat(np.arange(5), counts) for counts in COUNTS]
ABSTRACTORS = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
pytestmark = pytest.mark.filterwarnings("ignore")


def of_table(counts):
    first, second = np.indices(counts.shape).reshape(2, -1)
    return np.repeat(first, counts.ravel()), np.repeat(second, counts.ravel())


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("gwet_ac1", 0.8493305, 0.04321747),
        ("krippendorff_alpha", 0.7972585, 0.05905473),
        ("fleiss_kappa", 0.7962397, 0.05905473),
        ("scott_pi", 0.7962397, 0.05905473),
    ],
)
def test_two_raters_as_irrcac_prints_them(name, value, error):
    first, second = of_table(ABSTRACTORS)
    found = estimate(name, first, y_pred=second)
    assert found.value == pytest.approx(value, abs=5e-8)
    assert found.standard_error == pytest.approx(error, rel=0.02)
    several = rater_agreement(np.column_stack([first, second]), measures=["fleiss_kappa"])
    assert several["fleiss_kappa"].value == pytest.approx(0.7962397, abs=5e-8)


def test_six_raters_as_irrcac_prints_them():
    found = rater_agreement(SIX)
    printed = {"gwet_ac1": 0.4448007, "krippendorff_alpha": 0.4204384, "fleiss_kappa": 0.4139265}
    assert {x: round(e.value, 7) for x, e in found.items()} == printed
    assert found["gwet_ac1"].standard_error == pytest.approx(0.08418757, abs=5e-8)
    assert found["fleiss_kappa"].standard_error == pytest.approx(0.08119291, abs=5e-8)
    assert found["fleiss_kappa"].value == pytest.approx(statsmodels_fleiss(np.array(COUNTS)))


def test_raters_who_did_not_rate_all():
    found = rater_agreement(FOUR)
    printed = {"gwet_ac1": 0.77544, "krippendorff_alpha": 0.74342, "fleiss_kappa": 0.76117}
    assert {x: round(e.value, 5) for x, e in found.items()} == printed
    assert (found.n_rows, found.n_raters, found.n_ratings) == (12, 4, 41)
    # Krippendorff's own values
    printed = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}
    scales = [f"krippendorff_alpha(scale={x!r})" for x in printed]
    found = rater_agreement(FOUR, measures=scales)
    assert [round(e.value, 3) for e in found.values()] == [*printed.values()]
    as_table = rater_agreement(pd.DataFrame(FOUR, columns=list("abcd")), measures=scales)
    assert [e.value for e in as_table.values()] == [e.value for e in found.values()]


def test_ordinal_alpha_depends_on_the_order_of_classes_alone_and_has_the_error_of_a_jackknife():
    rng = np.random.default_rng(2)
    truth = rng.integers(5, size=80)
    ratings = np.clip(truth[:, None] + rng.integers(-1, 2, (80, 3)), 0, 4)
    ordinal = "krippendorff_alpha(scale='ordinal')"

    def value(x, measure=ordinal):
        [found] = rater_agreement(x, measures=[measure]).values()
        return found.value

    [found] = rater_agreement(ratings, measures=[ordinal]).values()
    assert value(np.array([1, 2, 30, 31, 500])[ratings]) == pytest.approx(found.value)
    # Interval alpha of the middles of ranks
    counts = np.bincount(ratings.ravel())
    middles = np.cumsum(counts) - counts / 2
    assert value((2 * middles).astype(int)[ratings], "krippendorff_alpha(scale='interval')") == (
        pytest.approx(found.value)
    )
    binary = 1 * (ratings > 2)
    assert value(binary) == pytest.approx(value(binary, "krippendorff_alpha"))
    left = [value(np.delete(ratings, i, axis=0)) for i in range(80)]
    assert found.standard_error == pytest.approx(np.sqrt(79 / 80 * 80 * np.var(left)), rel=0.03)


def test_krippendorffs_two_observers():
    """Krippendorff (2011): ten units, two observers, binary and five classes."""
    binary = [[0, 0], [1, 1], [0, 1], [0, 0], [0, 0], [0, 1], [0, 1], [0, 0], [1, 0], [0, 0]]
    assert rater_agreement(binary)["krippendorff_alpha"].value == pytest.approx(0.095, abs=5e-4)
    letters = ["ab", "aa", "bb", "bb", "db", "cc", "cc", "cc", "ee", "dd", "dd", "ad"]
    [found] = rater_agreement([[*x] for x in letters], measures=["krippendorff_alpha"]).values()
    assert found.value == pytest.approx(0.692, abs=5e-4)
    first, second = np.array([[*x] for x in letters]).T
    assert get_measure("kalpha")(first, y_pred=second) == pytest.approx(found.value)


@pytest.mark.slow
@given(
    st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=4, max_size=12),
    st.sampled_from(["gwet_ac1", "gwet_ac2", "krippendorff_alpha", "fleiss_kappa"]),
)
def test_they_are_what_pairs_of_ratings_say(rows, name):
    """An independent implementation, pair by pair."""
    ratings = np.array(rows)
    if len(np.unique(ratings)) < 3:
        return
    cost = np.abs(np.subtract.outer(range(3), range(3))) ** 2 / 4
    if name != "gwet_ac2":
        cost = 1 - np.eye(3)
    pairs = [(r[i], r[j]) for r in ratings for i in range(3) for j in range(3) if i != j]
    observed = np.mean([cost[pair] for pair in pairs])
    shares = np.bincount(ratings.ravel(), minlength=3) / ratings.size
    expected = sum(shares[a] * shares[b] * cost[a, b] for a in range(3) for b in range(3))
    if name.startswith("gwet"):
        expected = 1 - (1 - cost).sum() / 6 * (shares * (1 - shares)).sum()
    if name == "krippendorff_alpha":
        expected *= ratings.size / (ratings.size - 1)
    [found] = rater_agreement(ratings, measures=[name]).values()
    assert found.value == pytest.approx(1 - observed / expected, abs=1e-12)


def test_perfect_agreement_is_not_certain():
    for e in rater_agreement([["a"] * 3] * 10 + [["b"] * 3] * 20).values():
        assert e.value == 1
        assert 0.8 < e.interval[0] < 0.95


def test_rows_of_one_patient_are_one_unit():
    alone = rater_agreement(SIX)
    twice = rater_agreement(SIX * 2, groups=np.tile(np.arange(15), 2))
    for name in ("gwet_ac1", "fleiss_kappa"):
        assert twice[name].value == pytest.approx(alone[name].value)
        assert twice[name].standard_error == pytest.approx(alone[name].standard_error, rel=1e-6)


@pytest.mark.parametrize(
    ("ratings", "options", "message"),
    [
        ([1, 2, 1], {}, "two columns or more"),
        ([[1, N], [N, 2]], {}, "no row with two ratings"),
        (FOUR, {"measures": ["accuracy"]}, "has 'accuracy', but of several raters there are"),
        (FOUR, {"labels": [1, 2]}, "labels"),
        ([["a", "b"], ["b", "b"]], {"measures": ["krippendorff_alpha('interval')"]}, "numbers"),
    ],
)
def test_what_is_refused(ratings, options, message):
    with pytest.raises(ValueError, match=message):
        rater_agreement(ratings, **options)


def test_any_table_of_ratings_counts_the_same_and_other_tables_are_refused_by_name():
    columns = {str(k): rater for k, rater in enumerate(zip(*FOUR, strict=True))}
    expected = rater_agreement(FOUR)["gwet_ac1"]
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert rater_agreement(table)["gwet_ac1"].interval == expected.interval
    for ratings, why in (
        (np.ones((0, 2)), "no row with two ratings"),
        ([[1, 1], [1, N]], "ratings are all 1: name all classes, in labels="),
    ):
        with pytest.raises(ValueError, match=why):
            rater_agreement(ratings)
