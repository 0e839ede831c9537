"""What every target keeps: samples and log_prob belong to each other, in every precision, and seeds reproduce."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy import integrate

from equipoise import targets
from equipoise.sources import Known
from equipoise.targets.columns import log_column
from equipoise.targets.target import kronecker, pick

ALL = targets.all()
SMOOTH = [name for name, target in ALL.items() if target.smooth]
N = 20_000

walk = pytest.mark.parametrize("name", ALL)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def rows_of(name, n=N, dtype=torch.float64):
    return ALL[name].sample(n, seeded(), dtype)


def assert_mean(values, expected, deviations=4.5):
    """A sample mean within so many standard errors of what it should be."""
    se = values.std(dim=0) / math.sqrt(len(values))
    away = ((values.mean(dim=0) - expected) / se).abs()
    assert bool((away < deviations).all()), f"{away.max().item():.1f} standard errors from {expected}"


def column_entropy():
    edges = [-4, -2.3, -1.7, 1.7, 2.3, 4]

    def integrand(x):
        log_q = log_column(torch.tensor(x, dtype=torch.float64)).item()
        return -math.exp(log_q) * log_q

    return sum(integrate.quad(integrand, a, b, limit=200)[0] for a, b in itertools.pairwise(edges))


def gaussian_entropy(d):
    return 0.5 * d * math.log(2 * math.pi * math.e)


ENTROPY = {
    "columns": 20 * column_entropy(),
    "transformed_columns": 20 * column_entropy(),
    "uniform_with_hole": math.log(4 - math.pi * 0.09),
    "stripes": math.log(0.5),
    "funnel": gaussian_entropy(10),
    "curved_ridge": gaussian_entropy(15) + 14 * math.log(0.3),
}


@pytest.mark.parametrize("name", ENTROPY)
def test_the_entropy_is_the_closed_form(name):
    surprise = -ALL[name].log_prob(rows_of(name))
    if surprise.std() < 1e-9:
        torch.testing.assert_close(surprise.mean().item(), ENTROPY[name], rtol=1e-9, atol=1e-9)
    else:
        assert_mean(surprise, ENTROPY[name])


@pytest.mark.parametrize("name", ["two_spirals", "uniform_with_hole"])
def test_the_entropy_is_that_of_nearest_neighbours(name):
    """Kozachenko and Leonenko, who know nothing of log_prob: E log(volume to the nearest) + log(n − 1) + γ."""
    from scipy.spatial import cKDTree

    target = ALL[name]
    rows = rows_of(name)
    distance = torch.from_numpy(cKDTree(rows.numpy()).query(rows.numpy(), k=2)[0][:, 1])
    d = target.features
    log_ball = 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1)
    nearest = d * torch.log(distance) + log_ball + math.log(N - 1) + np.euler_gamma
    assert_mean(nearest, -target.log_prob(rows).mean())


@pytest.mark.parametrize("name", SMOOTH)
def test_samples_and_gradients_meet_in_steins_identity(name):
    """E ∇log p = 0 and E[(x_i − m_i)·∂_i log p] = −1: scores of the density, averaged over the sampler's rows."""
    x = rows_of(name).requires_grad_()
    score = torch.autograd.grad(ALL[name].log_prob(x).sum(), x)[0]
    x = x.detach()
    if name == "clayton":  # its first column's score is not square integrable at zero: hold it down there
        assert_mean(x * score, -1.0)
    elif name == "funnel":  # rows of tiny v have huge scores: along v, and in units of the scale
        scale = torch.exp(0.5 * x[:, :1])
        assert_mean(scale * score[:, 1:], 0.0)
        assert_mean(x * score, -1.0)
    else:
        assert_mean(score, 0.0)
        assert_mean((x - x.mean(dim=0)) * score, -1.0)


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_are_those_of_finite_differences(name):
    x = rows_of(name, 4).requires_grad_()
    assert torch.autograd.gradcheck(ALL[name].log_prob, (x,), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ["columns", "transformed_columns", "image_density"])
def test_gradients_are_right_between_jumps_too(name):
    x = rows_of(name, 4).requires_grad_()
    assert torch.autograd.gradcheck(ALL[name].log_prob, (x,), atol=1e-4, rtol=1e-4)


@walk
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rows_come_in_the_precision_asked_for_and_lie_in_the_support(name, dtype):
    rows = rows_of(name, dtype=dtype)
    assert rows.shape == (N, ALL[name].features)
    assert rows.dtype == dtype
    log_prob = ALL[name].log_prob(rows)
    assert log_prob.shape == (N,)
    assert log_prob.dtype == dtype
    assert bool(torch.isfinite(log_prob).all())


@walk
def test_precision_changes_nothing_but_rounding(name):
    rows = rows_of(name, 2_000, torch.float32)
    exact = ALL[name].log_prob(rows.double())
    torch.testing.assert_close(ALL[name].log_prob(rows), exact.float(), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(ALL[name].log_prob(rows.double().numpy()), exact, rtol=0, atol=0)


@walk
def test_seeds_reproduce(name):
    target = ALL[name]
    assert torch.equal(target.sample(50, seeded(1)), target.sample(50, seeded(1)))
    assert not torch.equal(target.sample(50, seeded(1)), target.sample(50, seeded(2)))
    torch.manual_seed(3)
    first = target.sample(50)
    torch.manual_seed(3)
    assert torch.equal(first, target.sample(50))


@walk
def test_far_rows_have_no_nan(name):
    target = ALL[name]
    far = torch.tensor([-1e150, -1e4, -3.0, 0.0, 3.0, 1e4, 1e150], dtype=torch.float64)
    log_prob = target.log_prob(far.unsqueeze(1).expand(-1, target.features))
    assert not bool(torch.isnan(log_prob).any())
    assert bool((log_prob[[0, -1]] < -1e3).all())
    assert bool(torch.isneginf(target.log_prob(far[:1].expand(1, target.features))).all()) or not target.bounded_support


@walk
def test_none_and_single_rows(name):
    target = ALL[name]
    assert target.sample(0).shape == (0, target.features)
    assert target.log_prob(target.sample(0)).shape == (0,)
    assert target.log_prob(target.sample(1)).shape == (1,)


@walk
def test_other_widths_are_refused(name):
    target = ALL[name]
    with pytest.raises(ValueError, match=f"{target.features} columns, got rows of shape"):
        target.log_prob(torch.zeros(3, target.features + 1))
    with pytest.raises(ValueError, match="n must not be negative"):
        target.sample(-1)


@walk
def test_a_target_is_a_source(name):
    source = Known(ALL[name])
    out = torch.empty(64, ALL[name].features)
    source.draw(out, seeded())
    assert torch.equal(out, ALL[name].sample(64, seeded(), torch.float32))


def test_targets_go_by_name():
    assert set(targets.dependent()) < set(ALL)
    assert [target.features for target in targets.dependent().values()] == [2, 4, 6, 10, 12, 15]
    for name, target in ALL.items():
        assert type(targets.get(name)) is type(target)
    with pytest.raises(KeyError, match="there is no target 'column'; there are columns"):
        targets.get("column")


def test_picks_follow_the_shares_and_never_a_share_of_zero():
    share = torch.tensor([0.0, 0.2, 0.0, 0.8, 0.0], dtype=torch.float64)
    counts = torch.bincount(pick(share, 10_000, seeded()), minlength=5)
    assert counts[[0, 2, 4]].tolist() == [0, 0, 0]
    assert abs(counts[1].item() - 2_000) < 4.5 * 40


def test_fixed_numbers_are_fixed():
    numbers = kronecker(3, 2)
    torch.testing.assert_close(
        numbers[:, 0], torch.tensor([0.41421356, 0.82842712, 0.24264069]).double(), rtol=0, atol=1e-7
    )
    assert torch.equal(numbers, kronecker(5, 4)[:3, :2])
    assert bool(((numbers > 0) & (numbers < 1)).all())
