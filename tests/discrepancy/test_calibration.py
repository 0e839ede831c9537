"""Statistics on one scale: normal where they are gamma, the same order, and combinations that stay exact."""

import pytest
import torch
from scipy.stats import gamma, norm
from tests.asserts import assert_close

from equipoise.discrepancy.calibration import largest, smallest, standard_scores


@pytest.mark.parametrize(("shape", "within"), [(0.5, 0.15), (2.0, 0.05), (50.0, 0.02)])
def test_gamma_statistics_become_normal_where_it_counts(shape, within):
    q = (torch.arange(20_000, dtype=torch.float64) + 0.5) / 20_000
    z = standard_scores(torch.from_numpy(gamma(shape).ppf(q)) * 7.0 + 3.0)
    at = torch.tensor([10_000, 15_000, 18_000, 19_000, 19_800, 19_980])
    assert_close(z[at], torch.from_numpy(norm.ppf(q[at])), absolute=within)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_order_is_kept_and_columns_are_apart(sign):
    values = torch.randn(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64).exp() * sign
    z = standard_scores(values)
    for j in range(3):
        assert torch.equal(z[:, j].argsort(), values[:, j].argsort())
        assert_close(z[:, j], standard_scores(values[:, j]), absolute=1e-12)


def test_an_outlier_does_not_widen_its_own_scale():
    values = torch.randn(200, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    near, far = (torch.cat([torch.tensor([v]).double(), values]) for v in (6.0, 1e6))
    assert_close(standard_scores(near)[1:], standard_scores(far)[1:], absolute=1e-12)
    assert standard_scores(far)[0] > standard_scores(near)[0] > 4.0


def test_statistics_that_never_vary_say_nothing():
    assert torch.equal(standard_scores(torch.full((50,), 3.0)), torch.zeros(50))
    assert torch.isfinite(standard_scores(torch.zeros(20))).all()


def test_the_smallest_p_value_counts_by_weight():
    z = [torch.tensor([2.0, 0.0]).double(), torch.tensor([1.0, 1.0]).double()]
    p = [torch.from_numpy(norm.sf(v)) for v in z]
    assert_close(smallest(z, [1.0, 1.0]), -torch.minimum(*p).log(), relative=1e-12)
    assert_close(smallest(z, [1.0, 20.0]), -torch.minimum(p[0], p[1] / 20.0).log(), relative=1e-12)


def test_largest_is_the_same_whatever_the_units():
    values = torch.randn(2, 300, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    one, other = values.square()
    assert_close(largest([one, other]), largest([1e6 * one - 5.0, 1e-3 * other]), absolute=1e-6)
