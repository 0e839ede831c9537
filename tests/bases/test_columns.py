"""Columns: a distribution function that is the density's integral, its inverse, and draws that follow it."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy import integrate
from tests.asserts import assert_close

from equipoise.bases import Marginals


def fitted(n=500, **bounds):
    random = np.random.default_rng(5)
    rows = np.column_stack([random.normal(size=n), random.gamma(2.0, size=n), random.standard_cauchy(n)])
    return Marginals(**bounds).fit(rows).columns


COLUMNS = fitted()
GRID = torch.cat([torch.linspace(-9.0, 9.0, 400), 10.0 ** torch.linspace(1.0, 8.0, 50)]).double()
PLACES = torch.cat([-GRID, GRID]).unsqueeze(1).expand(-1, 3).contiguous()


@pytest.mark.parametrize("i", range(3))
def test_the_density_integrates_to_the_distribution_function(i):
    """Between the tails bin by bin, where the density is smooth; in the tails over half a line."""

    def density(x):
        row = torch.zeros(1, 3, dtype=torch.float64)
        row[0, i] = x
        return COLUMNS.log_prob(row)[0, i].exp().item()

    z = COLUMNS.low[i] + COLUMNS.step[i] * torch.arange(COLUMNS.mass.shape[1] + 1)
    edges = (COLUMNS.centre[i] + COLUMNS.spread[i] * torch.sinh(z)).tolist()
    mids = [(a + b) / 2.0 for a, b in pairwise(edges)]
    for k in range(0, len(mids), 37):
        inside, _ = integrate.quad(density, edges[k] + 1e-12, edges[k + 1] - 1e-12)
        assert inside == pytest.approx(COLUMNS.mass[i, k].item(), rel=1e-6, abs=1e-9)
    below, _ = integrate.quad(density, -np.inf, edges[0] - 1e-12)
    above, _ = integrate.quad(density, edges[-1] + 1e-12, np.inf)
    assert (below, above) == pytest.approx((1.0 / 502.0, 1.0 / 502.0), rel=1e-4)
    assert COLUMNS.mass[i].sum().item() + 2.0 / 502.0 == pytest.approx(1.0)


def test_both_ends_of_the_distribution_function_agree():
    below, above = COLUMNS.cdf(PLACES)
    assert_close(below + above, torch.ones_like(below), absolute=1e-12)
    order = torch.argsort(PLACES[:, 0])
    assert bool((torch.diff(below[order], dim=0) >= 0.0).all())
    assert bool((above > 0.0).all())
    assert bool((below > 0.0).all())


def test_quantiles_invert_the_distribution_function():
    below, above = COLUMNS.cdf(PLACES)
    assert_close(COLUMNS.quantile(below, above), PLACES, relative=1e-6, absolute=1e-9)
    assert_close(COLUMNS.quantile(below[400:420]), PLACES[400:420], relative=1e-6, absolute=1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_draws_follow_the_distribution_function(dtype):
    """Kolmogorov's distance of 100,000 draws below its 1e-6 quantile, 2.7/√n, in every column; tails among them."""
    n = 100_000
    drawn = COLUMNS.draw(n, torch.Generator().manual_seed(0), dtype)
    assert drawn.dtype == dtype
    below = COLUMNS.cdf(drawn.double())[0].sort(dim=0).values
    at = torch.arange(n, dtype=torch.float64).unsqueeze(1) / n
    assert (below - at).abs().amax().item() < 2.7 / n**0.5
    beyond = (below < 1.0 / 502.0).sum(dim=0)
    assert bool(((beyond - n / 502.0).abs() < 5.0 * (n / 502.0) ** 0.5).all())


def test_bounds_close_the_ends():
    closed = fitted(low=[-np.inf, 0.0, -np.inf], high=np.inf)
    assert closed.tails[0].tolist() == pytest.approx([1.0 / 502.0, 0.0, 1.0 / 502.0])
    outside = torch.tensor([[0.0, -1e-9, 0.0]], dtype=torch.float64)
    log_prob = closed.log_prob(outside)[0]
    assert log_prob[1] == -torch.inf
    assert bool(torch.isfinite(log_prob[[0, 2]]).all())
    below, above = closed.cdf(outside)
    assert (below[0, 1].item(), above[0, 1].item()) == (0.0, 1.0)
    assert closed.draw(20_000, torch.Generator().manual_seed(1), torch.float32)[:, 1].min() >= 0.0


def test_the_farthest_numbers_have_a_density():
    far = torch.tensor([[1.7e308, -1.7e308, 1e200]], dtype=torch.float64)
    assert bool(torch.isfinite(COLUMNS.log_prob(far)).all())
