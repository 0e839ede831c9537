"""An instance as a test: it pushes on one half, is judged on the other, and its p-value is as exact as any."""

import numpy as np
import pytest
import torch
from scipy.stats import binom
from torch import nn

from equipoise import catalog
from equipoise.discrepancy.comparison import Comparison
from equipoise.discrepancy.pushed import LEAST, as_test, pushed
from equipoise.discrepancy.relabelling import p_value


def rows(n, d, seed):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("name", ["logistic", "unit", "ulsif", "gan_critic", "lsgan"])
def test_instances_find_a_shift_and_their_witness_its_side(name):
    comparison = Comparison(rows(120, 2, 0), rows(100, 2, 1) + 1.0, 99, 0)
    statistic = pushed(comparison, as_test(name), steps=60)
    assert p_value(statistic.values) == 0.01
    low, high = statistic.witness(torch.tensor([[-1.5, -1.5], [1.5, 1.5]]))
    assert low > high


def test_the_surface_is_a_copy_and_learns_from_one_half():
    linear = nn.Sequential(nn.Linear(2, 1, bias=False), nn.Flatten(0))
    nn.init.zeros_(linear[0].weight)
    before = linear[0].weight.clone()
    comparison = Comparison(rows(60, 2, 0), rows(60, 2, 1) + 1.0, 99, 0)
    statistic = pushed(comparison, catalog.get("logistic"), linear, steps=40)
    assert torch.equal(linear[0].weight, before)
    assert p_value(statistic.values) == 0.01


@pytest.mark.parametrize("name", ["softmax_cross_entropy", "deep_pdf", "ebgan"])
def test_instances_that_cannot_are_refused(name):
    with pytest.raises(ValueError, match="cannot push one surface between two samples"):
        as_test(name)


def test_few_rows_are_refused():
    with pytest.raises(ValueError, match=f"at least {LEAST} rows"):
        pushed(Comparison(rows(7, 2, 0), rows(50, 2, 1), 19, 0), catalog.get("logistic"))


def test_its_p_value_is_uniform_under_the_null():
    found = np.array(
        [
            p_value(
                pushed(
                    Comparison(rows(20, 2, 2 * s), rows(20, 2, 2 * s + 1), 19, s), as_test("logistic"), steps=5
                ).values
            )
            for s in range(150)
        ]
    )
    for share in (0.05, 0.5):
        assert binom(150, share).ppf(0.0001) <= (found <= share).sum() <= binom(150, share).ppf(0.9999)
