"""Columns and pairs: each statistic finds what it is for, by a gap that loops confirm, and says where."""

import pytest
import torch
from scipy.stats import kruskal
from tests.asserts import assert_close

from equipoise.discrepancy import column_statistics as columns
from equipoise.discrepancy.comparison import MOST_PAIRED, Comparison
from equipoise.discrepancy.relabelling import p_value

ALL = [
    columns.column_shift,
    columns.column_scale,
    columns.column_ranks,
    columns.column_scores,
    columns.pair_largest,
    columns.pair_sum,
]


def rows(n, d, seed):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def compared(change, n=150, d=4, count=199):
    x, y = rows(n, d, 0), rows(n, d, 1)
    return Comparison(x, change(y), count, 0)


def shift(y):
    y[:, 2] += 1.0
    return y


def scale(y):
    y[:, 2] *= 2.0
    return y


def peak(y):
    y[:, 2] = torch.sign(y[:, 2]) * y[:, 2].abs().sqrt()
    return y


def correlate(y):
    y[:, 2] = 0.6 * y[:, 1] + 0.8 * y[:, 2]
    return y


def bend(y):
    y[:, 2] = y[:, 1].square() - 1.0 + 0.5 * y[:, 2]
    return y


FINDS = [
    (columns.column_shift, shift),
    (columns.column_scale, scale),
    (columns.column_ranks, peak),
    (columns.column_scores, scale),
    (columns.pair_largest, correlate),
    (columns.pair_largest, bend),
    (columns.pair_sum, correlate),
]


@pytest.mark.parametrize(("statistic", "change"), FINDS)
def test_each_finds_what_it_is_for(statistic, change):
    assert p_value(statistic(compared(change)).values) == 0.005


@pytest.mark.parametrize(("statistic", "change"), [(columns.column_shift, scale), (columns.pair_sum, scale)])
def test_none_finds_what_it_is_not_for(statistic, change):
    assert p_value(statistic(compared(change)).values) > 0.05


@pytest.mark.parametrize("statistic", ALL)
def test_the_witness_is_larger_at_rows_of_x(statistic):
    comparison = compared(lambda y: shift(scale(correlate(y))))
    u, truth = statistic(comparison).witness(comparison.pooled.scores), comparison.pooled.truth
    assert u.shape == (300,)
    assert float(u[truth].mean() - u[~truth].mean()) > 0.1


def test_the_witness_sees_the_column_that_differs_and_no_other():
    comparison = compared(shift)
    base = torch.zeros(1, 4).double()
    u = [columns.column_shift(comparison).witness(base + torch.eye(4)[j].double()) for j in range(4)]
    flat = columns.column_shift(comparison).witness(base)
    assert [bool((value != flat).all()) for value in u] == [False, False, True, False]
    assert float(u[2]) < float(flat)  # Y has more of the large ones


def test_what_decided_is_named():
    comparison = compared(shift)
    names = ["a", "b", "c", "d"]
    assert columns.column_shift(comparison).called(names) == "one column's mean: c"
    assert columns.pair_largest(compared(correlate)).called(names) == "one pair's dependence: b and c"
    assert columns.column_shift(compared(lambda y: y + 0.3)).called(names) == "one column's mean: the mean of all"
    round_ = columns.column_scores(compared(lambda y: 1.3 * y)).called(names)
    assert round_ == "one column's shape, by scores: the distance from the middle"
    assert columns.pair_sum(comparison).called(names) == "all correlations"


def test_column_features_are_orthonormal_polynomials_of_ranks_and_scores():
    comparison = compared(lambda y: y, n=4_000, d=1, count=1)
    correlation = torch.corrcoef(comparison.column_features(comparison.pooled.scores).T)
    for part in (slice(0, 4), slice(4, 8)):
        assert_close(correlation[part, part], torch.eye(4).double(), absolute=0.03)


def test_the_first_rank_feature_is_kruskal_s():
    comparison = compared(lambda y: y + 0.3, d=1)
    z = comparison.columns.z[0, 0]
    scores, truth = comparison.pooled.scores[:, 0], comparison.pooled.truth
    assert float(z.square()) == pytest.approx(kruskal(scores[truth], scores[~truth]).statistic, rel=1e-6)


def test_pair_features_are_products():
    comparison = compared(lambda y: y, d=3)
    s = comparison.pooled.scores[:5]
    found = comparison.pair_features(s)
    assert found.shape == (5, 3 + 6)
    assert_close(found[:, 1], s[:, 0] * s[:, 2], absolute=1e-12)
    wanted = {tuple(((s[:, i].square() - 1.0) * s[:, j]).tolist()) for i in range(3) for j in range(3) if i != j}
    assert {tuple(column.tolist()) for column in found[:, 3:].T} == wanted


def test_pairs_of_many_columns_are_those_that_depend_most():
    x, y = rows(60, MOST_PAIRED + 6, 0), rows(60, MOST_PAIRED + 6, 1)
    for z in (x, y):
        z[:, 69] = z[:, 3] + 0.1 * z[:, 69]
    comparison = Comparison(x, y, 5, 0)
    assert len(comparison.paired) == MOST_PAIRED
    assert {3, 69} <= set(comparison.paired.tolist())


def test_work_is_bounded_by_rows(monkeypatch):
    monkeypatch.setattr("equipoise.discrepancy.comparison.WORK", 1.0)
    comparison = compared(shift, n=800)
    assert p_value(columns.column_shift(comparison).values) == 0.005  # the first 1,000 of 1,600 rows, in random order
    assert comparison.columns.gaps.shape[0] == 200
