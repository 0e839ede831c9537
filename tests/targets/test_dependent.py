"""The dependent targets and the hole, each against something independent of its code."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch import distributions as D

from equipoise.targets import Clayton, CurvedRidge, FullMixture, Funnel, Stripes, TwoSpirals, UniformWithHole
from equipoise.targets.clayton import log_clayton

N = 20_000


def sample(target, n=N):
    return target.sample(n, torch.Generator().manual_seed(0), torch.float64)


def uniform_pvalue(values):
    return stats.kstest(np.asarray(values), "uniform").pvalue


def normal_pvalue(values):
    return stats.kstest(np.asarray(values), "norm").pvalue


# --- the hole ------------------------------------------------------------------------------------------------------


def test_the_hole_is_empty_and_the_rest_even():
    target = UniformWithHole()
    rows = sample(target)
    radius = rows.norm(dim=1)
    assert radius.min() >= 0.3
    assert torch.isneginf(target.log_prob([[0.1, 0.1], [0.0, 1.1]])).all()
    ring = radius[radius < 1.0]
    assert uniform_pvalue((ring**2 - 0.09) / 0.91) > 0.001
    share = math.pi * 0.91 / (4 - math.pi * 0.09)
    assert abs(len(ring) / N - share) < 4.5 * math.sqrt(share * (1 - share) / N)


@pytest.mark.parametrize("radius", [-0.1, 1.1])
def test_a_hole_must_fit(radius):
    with pytest.raises(ValueError, match="radius must lie between 0 and 1"):
        UniformWithHole(radius)


# --- spirals -------------------------------------------------------------------------------------------------------


def test_spirals_integrate_to_one():
    axis = torch.linspace(-5.5, 5.5, 161, dtype=torch.float64)  # the trapezium rule is exact to rounding at this step
    grid = torch.cartesian_prod(axis, axis)
    step = (axis[1] - axis[0]).item()
    assert abs(TwoSpirals().log_prob(grid).exp().sum().item() * step**2 - 1.0) < 1e-9


@pytest.mark.parametrize("column", [0, 1])
def test_spiral_columns_follow_their_mixture(column):
    target = TwoSpirals()
    centres = target.centres[:, column].numpy()
    rows = sample(target, 4_000)[:, column].numpy()
    assert stats.kstest(rows, lambda x: stats.norm.cdf(x[:, None], centres, 0.12).mean(axis=1)).pvalue > 0.001


def test_spiral_points_are_equidistant_and_on_the_curve():
    target = TwoSpirals()
    arm = target.centres[:256]
    steps = torch.diff(arm, dim=0).norm(dim=1)
    assert (steps / steps.mean() - 1.0).abs().max() < 1e-3
    assert steps.mean() < 0.65 * target.noise
    radius = arm.norm(dim=1)
    torch.testing.assert_close(radius * torch.cos(math.pi * radius), arm[:, 0], rtol=0, atol=1e-6)
    torch.testing.assert_close(target.centres[256:], -arm)
    with pytest.raises(ValueError, match="noise must be positive"):
        TwoSpirals(0.0)


# --- stripes -------------------------------------------------------------------------------------------------------


def test_stripes_fill_half_the_cube():
    rows = torch.rand(200_000, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    share = torch.isfinite(Stripes().log_prob(rows)).double().mean().item()
    assert abs(share - Stripes().volume) < 4.5 * math.sqrt(0.25 / 200_000)
    assert abs(Stripes().volume - 0.5) < 1e-15  # x → 1 − x takes stripes to gaps


def test_stripes_have_even_sums_between_hard_edges():
    rows = sample(Stripes())
    total = rows.sum(dim=1)
    assert bool((torch.floor(2 * total) % 2 == 0).all())
    first = Stripes().log_prob([[0.12, 0.12, 0.12, 0.13], [0.13, 0.12, 0.12, 0.14], [0.2, 0.3, 0.3, 0.3]])
    assert torch.isfinite(first).tolist() == [True, False, True]


# --- the full mixture ------------------------------------------------------------------------------------------------


def reference_mixture():
    target = FullMixture()
    parts = D.MultivariateNormal(target.means, scale_tril=target.factors)
    return D.MixtureSameFamily(D.Categorical(probs=target.shares), parts)


def test_the_full_mixture_is_torchs():
    rows = sample(FullMixture(), 500)
    torch.testing.assert_close(FullMixture().log_prob(rows), reference_mixture().log_prob(rows))


def test_the_full_mixtures_moments_are_its_formulas():
    rows, reference = sample(FullMixture()), reference_mixture()
    se = rows.std(dim=0) / math.sqrt(N)
    assert ((rows.mean(dim=0) - reference.mean) / se).abs().max() < 4.5
    target = FullMixture()
    covariance = target.factors @ target.factors.mT + target.means.unsqueeze(2) * target.means.unsqueeze(1)
    second = (target.shares[:, None, None] * covariance).sum(dim=0)
    products = rows.unsqueeze(2) * rows.unsqueeze(1)
    away = (products.mean(dim=0) - second) / (products.std(dim=0) / math.sqrt(N))
    assert away.abs().max() < 4.5


def test_the_full_mixtures_covariances_are_full_and_well_conditioned():
    covariance = FullMixture().factors @ FullMixture().factors.mT
    assert covariance.abs().min() > 1e-4
    assert torch.linalg.cond(covariance).max() < 1e3


# --- the funnel ------------------------------------------------------------------------------------------------------


def test_the_funnel_is_its_conditionals():
    target = Funnel(5, scale=1.5)
    rows = sample(target, 500)
    v = rows[:, :1]
    expected = D.Normal(0.0, 1.5).log_prob(v).sum(dim=1) + D.Normal(0.0, (0.5 * v).exp()).log_prob(rows[:, 1:]).sum(
        dim=1
    )
    torch.testing.assert_close(target.log_prob(rows), expected)


def test_funnel_rows_are_normal_in_their_own_scale():
    rows = sample(Funnel())
    assert normal_pvalue(rows[:, 0]) > 0.001
    assert normal_pvalue(rows[:, 9] / torch.exp(0.5 * rows[:, 0])) > 0.001


def test_funnels_are_checked():
    with pytest.raises(ValueError, match="dim must be at least 2"):
        Funnel(1)
    with pytest.raises(ValueError, match="scale must be positive"):
        Funnel(scale=-1.0)


# --- Clayton ---------------------------------------------------------------------------------------------------------


def clayton_distribution(w, theta):
    return ((w**-theta).sum(dim=1) - w.shape[1] + 1) ** (-1 / theta)


@pytest.mark.parametrize("theta", [0.5, 2.0])
@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_copulas_density_is_the_mixed_derivative_of_its_distribution(d, theta):
    w = (
        0.05 + 0.94 * torch.rand(50, d, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ).requires_grad_()
    value = clayton_distribution(w, theta)
    for column in range(d):
        value = torch.autograd.grad(value.sum(), w, create_graph=True)[0][:, column]
    torch.testing.assert_close(log_clayton(torch.log(w), theta).exp(), value, rtol=1e-8, atol=0)


def test_the_copulas_branches_meet():
    log_w = torch.log(torch.linspace(0.55, 0.65, 201, dtype=torch.float64)).unsqueeze(1).expand(-1, 12)
    d = 12
    direct = (
        sum(math.log1p(2.0 * k) for k in range(1, d))
        - 3.0 * log_w.sum(dim=1)
        - (d + 0.5) * torch.log((torch.exp(-2.0 * log_w)).sum(dim=1) - d + 1)
    )
    torch.testing.assert_close(log_clayton(log_w, 2.0), direct, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("column", [0, 5, 11])
def test_clayton_columns_are_gamma(column):
    rows = sample(Clayton())[:, column].numpy()
    assert stats.kstest(rows, stats.gamma(1.5 + 0.5 * column).cdf).pvalue > 0.001


@pytest.mark.parametrize(("i", "j"), [(0, 1), (3, 11)])
def test_clayton_columns_have_kendalls_tau_of_one_half(i, j):
    rows = sample(Clayton(), 4_000).numpy()
    assert abs(stats.kendalltau(rows[:, i], rows[:, j]).statistic - 0.5) < 4.5 * 0.011


def test_claytons_density_is_the_samplers():
    """E_p[q/p] = 1 for q of independent gammas above their medians, which lies inside the support."""
    target = Clayton()
    rows = sample(target, 100_000)
    gamma = D.Gamma(target.shapes, 1.0)
    median = torch.from_numpy(stats.gamma(target.shapes.numpy()).median())
    log_q = (gamma.log_prob(rows) + math.log(2.0)).sum(dim=1).masked_fill(~(rows > median).all(dim=1), -torch.inf)
    ratio = torch.exp(log_q - target.log_prob(rows))
    assert abs(ratio.mean() - 1.0) < 4.5 * ratio.std() / math.sqrt(len(ratio))
    assert ratio.std() / math.sqrt(len(ratio)) < 0.1


def test_claytons_density_follows_tiny_rows_down():
    """Where all columns shrink together the log density is finite, and its slope along the diagonal settles."""
    scale = torch.logspace(-14, -4, 11, dtype=torch.float64)
    log_prob = Clayton().log_prob(scale.unsqueeze(1) * Clayton().shapes)
    assert bool(torch.isfinite(log_prob).all())
    slope = torch.diff(log_prob) / torch.diff(torch.log(scale))
    assert (torch.diff(slope).abs() < 0.05).all()


# --- the ridge -------------------------------------------------------------------------------------------------------


def test_the_ridge_is_its_conditionals():
    target = CurvedRidge()
    rows = sample(target, 500)
    y = torch.linalg.solve(target.rotation, rows.T).T
    expected = D.Normal(0.0, 1.0).log_prob(y[:, 0]) + D.Normal(target.curve(y[:, 0]), 0.3).log_prob(y[:, 1:]).sum(dim=1)
    torch.testing.assert_close(target.log_prob(rows), expected)
    assert (target.rotation @ target.rotation.T - torch.eye(15)).abs().max() < 1e-12


def test_ridge_rows_are_normal_around_the_line():
    target = CurvedRidge()
    y = sample(target) @ target.rotation
    assert normal_pvalue(y[:, 0]) > 0.001
    assert normal_pvalue(((y[:, 1:] - target.curve(y[:, 0])) / 0.3)[:, 7]) > 0.001
