"""Kernel densities: the grid against the sum over rows, and the bandwidth that leave-one-out likelihood takes."""

import numpy as np
import pytest
import torch
from scipy import stats
from tests.asserts import assert_close

from equipoise.bases import KernelDensity
from equipoise.bases.gridded import Grid, relative_widths
from equipoise.targets import TwoSpirals

RANDOM = np.random.default_rng(3)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_grid_is_the_sum_over_rows(d):
    """Where the defence has no weight to speak of; binning widens a kernel by a sixth of a cell's square."""
    rows = RANDOM.normal(size=(2000, d))
    base = KernelDensity(0.3, adaptive=False).fit(rows)
    lower = np.linalg.cholesky(np.cov(rows.T, bias=True).reshape(d, d))
    at = rows[:50]
    gap = np.linalg.solve(lower, (at[:, None, :] - rows[None]).reshape(-1, d).T).T.reshape(50, 2000, d)
    kernels = stats.norm.pdf(gap / 0.3).prod(axis=2) / 0.3**d / np.prod(np.diag(lower))
    expected = np.log(kernels.mean(axis=1) * (1.0 - 1.0 / 2002.0))
    np.testing.assert_allclose(base.log_prob(at), expected, atol=0.06)
    assert np.abs(base.log_prob(at).numpy() - expected).mean() < 0.02


def test_the_density_is_one_in_all():
    rows = RANDOM.normal(size=(300, 2)) @ np.array([[1.0, 0.9], [0.0, 0.2]])
    base = KernelDensity().fit(rows)
    axes = [torch.linspace(-16.0, 16.0, 1601, dtype=torch.float64)] * 2
    grid = torch.cartesian_prod(*axes)
    assert (base.log_prob(grid).exp().sum() * 0.02**2).item() == pytest.approx(1.0, abs=2e-3)


def test_kernels_left_out_are_those_of_the_rows():
    grid = Grid(torch.tensor([-4.0], dtype=torch.float64), torch.tensor([0.05], dtype=torch.float64), 161)
    rows = torch.from_numpy(RANDOM.choice(np.arange(-40, 40) * 0.05, size=(60, 1)))  # on nodes
    mass = grid.binned(rows, torch.full((60,), 1.0 / 60.0, dtype=torch.float64))
    density = grid.smoothed(mass, 0.4)
    kernels = stats.norm.pdf((rows - rows.T).numpy(), scale=0.4)
    np.fill_diagonal(kernels, 0.0)
    expected = np.log(kernels.sum(axis=1) / 59.0 * 0.05).mean()
    assert grid.left_out(mass, density, grid.centre(0.4), 60.0) == pytest.approx(expected, abs=1e-6)


def test_widths_of_several_classes_are_their_convolutions():
    grid = Grid(torch.tensor([-4.0], dtype=torch.float64), torch.tensor([0.05], dtype=torch.float64), 161)
    mass = torch.zeros(161, dtype=torch.float64)
    mass[[40, 120]] = 0.5
    relative = torch.ones(161, dtype=torch.float64)
    relative[120] = 2.0
    expected = 0.5 * (
        grid.smoothed(torch.eye(161)[40].double(), 0.2) + grid.smoothed(torch.eye(161)[120].double(), 0.4)
    )
    assert_close(grid.adaptive(mass, 0.2, relative), expected, absolute=1e-12)
    flat = torch.full((161,), 1.0 / 161.0, dtype=torch.float64)
    assert_close(relative_widths(flat, flat, 0.5), torch.ones(161, dtype=torch.float64), absolute=1e-9)


def test_the_bandwidth_of_a_gaussian_is_near_silvermans():
    rows = RANDOM.normal(size=(4000, 2))
    base = KernelDensity(adaptive=False).fit(rows)
    fresh = RANDOM.normal(size=(4000, 2))
    loss = {h: -KernelDensity(h, adaptive=False).fit(rows).log_prob(fresh).mean().item() for h in (0.08, 0.25, 0.8)}
    assert -base.log_prob(fresh).mean().item() <= min(loss.values()) + 2e-3


def test_spirals_are_followed():
    """LSQR at 10,000 rows; measured 0.08."""
    target = TwoSpirals()
    rows, fresh = (target.sample(n, torch.Generator().manual_seed(n), torch.float64) for n in (10_000, 5_000))
    error = target.log_prob(fresh) - KernelDensity().fit(rows).log_prob(fresh)
    assert error.square().mean().item() < 0.12


def test_many_columns_are_refused():
    with pytest.raises(ValueError, match="for up to 3 columns, got 4"):
        KernelDensity().fit(RANDOM.normal(size=(50, 4)))
    with pytest.raises(ValueError, match="bandwidth must be positive"):
        KernelDensity(0.0)
