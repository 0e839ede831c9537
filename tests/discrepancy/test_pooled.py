"""Pooled rows: scores of mid-ranks, whitening as scikit-learn shrinks, and nothing that depends on units."""

import numpy as np
import pytest
import torch
from scipy.stats import norm, rankdata
from sklearn.covariance import ledoit_wolf
from tests.asserts import assert_close

from equipoise.discrepancy.pooled import Pooled, Ranks, whiten


def rows(n=60, d=3, seed=0):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_scores_are_of_mid_ranks():
    x = (rows() * 2).round()  # with ties
    expected = norm.ppf((rankdata(x.numpy(), axis=0) - 0.5) / len(x))
    assert_close(Ranks.of(x).scores(x), torch.from_numpy(expected), absolute=1e-12)


def test_fresh_rows_fall_between_and_stay_finite():
    ranks = Ranks.of(torch.tensor([[1.0], [2.0], [3.0], [4.0]]).double())
    found = ranks.scores(torch.tensor([[-1e9], [2.5], [1e9]]).double())
    assert_close(found[:, 0], torch.from_numpy(norm.ppf([0.125, 0.5, 0.875])), absolute=1e-12)


@pytest.mark.parametrize(("n", "d"), [(60, 3), (40, 80), (200, 10)])
def test_whitening_is_ledoit_and_wolf_s(n, d):
    x = rows(n, d) @ torch.linspace(0.5, 2.0, d).double().diag()
    mean, root = whiten(x)
    covariance, _ = ledoit_wolf(x.numpy())
    assert_close(mean, x.mean(dim=0), absolute=1e-12)
    assert_close(root @ torch.from_numpy(covariance) @ root, torch.eye(d).double(), absolute=1e-8)


def test_columns_that_repeat_each_other_can_be_whitened():
    x = rows(50, 1).expand(50, 4)
    _, root = whiten(x)
    assert torch.isfinite(root).all()


def test_monotone_scales_change_nothing():
    x, y = rows(30), rows(20, seed=1)
    ours, theirs = Pooled.of(x, y, 0), Pooled.of(x.exp() * 1e5, y.exp() * 1e5, 0)
    assert torch.equal(ours.scores, theirs.scores)
    assert torch.equal(ours.map(x), theirs.map(x.exp() * 1e5))


def test_the_pool_is_in_random_order_and_knows_who_is_who():
    x, y = rows(30), rows(20, seed=1)
    pooled = Pooled.of(x, y, 0)
    assert int(pooled.truth.sum()) == 30
    assert not torch.equal(pooled.truth.sort(descending=True).values, pooled.truth)
    ours, theirs = ({tuple(r) for r in s.tolist()} for s in (pooled.scores[pooled.truth], pooled.map(x)))
    assert ours == theirs


def test_constant_columns_are_left_out():
    x, y = rows(30), rows(20, seed=1)
    x[:, 1] = y[:, 1] = 7.0
    pooled = Pooled.of(x, y, 0)
    assert pooled.varying.tolist() == [0, 2]
    assert pooled.map(torch.zeros(4, 3).double()).shape == (4, 2)


def test_two_columns_are_made_of_all():
    x, y = rows(30), rows(20, seed=1)
    pooled = Pooled.of(x, y, 0)
    made = pooled.with_made(pooled.scores)
    assert torch.equal(made[:, :3], pooled.scores)
    assert np.array_equal(made[:, 3].argsort(), pooled.scores.mean(dim=1).argsort())
    apart = pooled.whitened(pooled.scores).square().sum(dim=1)
    assert np.array_equal(made[:, 4].argsort(), apart.argsort())
    single = Pooled.of(x[:, :1], y[:, :1], 0)
    assert torch.equal(single.with_made(single.scores), single.scores)
