"""What methods without a balance do under their pairings, and what the mixtures reach."""

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance
from tests.asserts import assert_close

from equipoise import catalog
from equipoise.batch import Batch
from equipoise.catalog import pairings
from equipoise.pairing import TWO_SIDED, Pairing

X = torch.linspace(-5.0, 5.0, 401, dtype=torch.float64)
DX = (X[1] - X[0]).item()


def normal(mean, scale):
    density = torch.exp(-0.5 * ((X - mean) / scale) ** 2)
    return density / (density.sum() * DX)


def net(instance, u, p_up, p_down):
    """The mean force at every x: positive where the surface rises."""
    return p_up * instance.up(u) - p_down * instance.down(u)


def samples(n_up=40, n_down=50):
    generator = torch.Generator().manual_seed(8)
    up = torch.randn(n_up, generator=generator, dtype=torch.float64)
    down = 0.5 + 1.3 * torch.randn(n_down, generator=generator, dtype=torch.float64)
    return up, down, Batch(torch.cat([up, down]).unsqueeze(1), n_up)


def test_unit_forces_never_adapt():
    """Without a pairing's or a surface's restriction the forces are the densities' difference, at every height."""
    p_up, p_down = normal(0.3, 1.0), normal(-0.3, 1.2)
    for height in (-1e3, 0.0, 1e3):
        assert_close(net(catalog.unit, torch.full_like(X, height), p_up, p_down), p_up - p_down)
    assert catalog.unit.range == "no balance"
    names = [pairing.name for pairing in catalog.unit.pairings]
    assert names == ["two-sided", "contrastive divergence", "Wasserstein critic", "maximum mean discrepancy"]


def test_contrastive_divergence_rests_where_the_model_is_the_density():
    """The model itself is the down density: exp f/Z. At f = log p_up + c every x is at rest, elsewhere not."""
    p_up = normal(0.4, 0.9)

    def model(f):
        return torch.softmax(f, 0) / DX

    at_rest = torch.log(p_up) + 3.7
    assert net(catalog.unit, at_rest, p_up, model(at_rest)).abs().max() < 1e-12
    elsewhere = at_rest + 0.2 * torch.sin(X)
    assert net(catalog.unit, elsewhere, p_up, model(elsewhere)).abs().max() > 1e-2
    f = torch.zeros_like(X)
    for _ in range(20000):
        f += 2.0 * net(catalog.unit, f, p_up, model(f))
    seen = p_up > 1e-2
    assert_close(model(f)[seen], p_up[seen], relative=1e-3)


def test_mean_discrepancy_is_minus_the_unit_loss_of_the_best_witness_in_the_ball():
    """Over ‖f‖ ≤ 1 in an RKHS the witness is (μ_up − μ_down)/‖μ_up − μ_down‖, minus its loss the MMD."""
    up, down, rows = samples()
    x = torch.cat([up, down])
    gram = torch.exp(-0.5 * (x[:, None] - x[None, :]) ** 2)
    n = rows.n_up
    mmd = torch.sqrt(gram[:n, :n].mean() + gram[n:, n:].mean() - 2.0 * gram[:n, n:].mean()).item()

    forces = catalog.unit.forces(torch.zeros_like(x), rows)

    def minus_loss(coefficients):
        """Of f = Σ c_i k(x_i, ·), scaled to the unit ball."""
        f = gram @ coefficients / torch.sqrt(coefficients @ gram @ coefficients)
        return (catalog.unit.up_primitive(f[:n]).mean() - catalog.unit.down_primitive(f[n:]).mean()).item()

    assert minus_loss(-forces) == pytest.approx(
        mmd, rel=1e-10
    )  # one push from f = 0 is the witness, but for its length
    generator = torch.Generator().manual_seed(9)
    for _ in range(50):
        other = -forces + 0.02 * torch.randn(len(x), generator=generator, dtype=torch.float64)
        assert minus_loss(other) < mmd


def test_wasserstein_distance_is_minus_the_unit_loss_of_the_best_lipschitz_surface():
    """In one dimension the maximum over 1-Lipschitz f is ∫ |F_up − F_down|; the Kantorovich potential attains it."""
    up, down, rows = samples()
    forces = catalog.unit.forces(torch.zeros(len(rows.x), dtype=torch.float64), rows)
    order = torch.argsort(rows.x.squeeze(1))
    x, weights = rows.x.squeeze(1)[order], forces[order]
    gaps = torch.diff(x)
    below = -torch.cumsum(weights, 0)[:-1]  # F_up − F_down between neighbours
    distance = (below.abs() * gaps).sum().item()
    assert distance == pytest.approx(wasserstein_distance(up, down), rel=1e-10)

    n = len(x)
    step = np.eye(n)[1:] - np.eye(n)[:-1]
    best = linprog(
        weights.numpy(),
        A_ub=np.vstack([step, -step]),
        b_ub=np.tile(gaps.numpy(), 2),
        A_eq=np.eye(n)[:1],
        b_eq=[0.0],
        bounds=(None, None),
    )
    assert -best.fun == pytest.approx(distance, rel=1e-8)

    kantorovich = torch.cat([torch.zeros(1).double(), torch.cumsum(-torch.sign(below) * gaps, 0)])
    assert bool((torch.diff(kantorovich).abs() <= gaps + 1e-15).all())
    assert -(weights @ kantorovich).item() == pytest.approx(distance, rel=1e-10)


def test_ebgan_lands_at_the_margin_or_at_zero():
    """Projected steps on a non-negative surface: m where the down density is the larger, 0 elsewhere."""
    margin, size = 1.5, 0.05
    instance = catalog.ebgan(margin)
    p_up, p_down = normal(0.8, 1.0), normal(-0.8, 1.0)
    u = torch.full_like(X, 0.7)
    for _ in range(20000):
        u = torch.clamp(u + size * net(instance, u, p_up, p_down), min=0.0)
    clear = (p_up - p_down).abs() > 5e-3
    expected = torch.where(p_up < p_down, margin, 0.0).double()
    assert_close(u[clear], expected[clear], absolute=2.0 * size)
    assert_close(instance.target(p_up / p_down), expected)


def test_hinge_lands_at_plus_or_minus_the_margin():
    margin, size = 0.6, 0.05
    instance = catalog.hinge(margin)
    p_up, p_down = normal(0.8, 1.0), normal(-0.8, 1.0)
    u = 0.1 * torch.cos(X)
    for _ in range(20000):
        u = u + size * net(instance, u, p_up, p_down)
    clear = (p_up - p_down).abs() > 5e-3
    expected = margin * torch.sign(p_up - p_down)
    assert_close(u[clear], expected[clear], absolute=2.0 * size)
    assert_close(instance.target(p_up / p_down)[clear], expected[clear])


def test_total_variation_is_minus_its_loss():
    instance = catalog.f_divergence("total_variation")
    p_up, p_down = normal(0.5, 1.0), normal(-0.5, 1.4)
    u = instance.target(p_up / p_down)
    loss = (-p_up * instance.up_primitive(u) + p_down * instance.down_primitive(u)).sum() * DX
    assert -loss.item() == pytest.approx(0.5 * DX * (p_up - p_down).abs().sum().item(), rel=1e-12)
    assert bool((u.abs() == 0.5).all())


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ndmr", lambda p, q: p / (p + q)), ("ndmlr", lambda p, q: torch.log(p / (p + q)))],
)
def test_mixtures_learn_the_posterior_of_the_two_original_densities(name, expected):
    """z = p_up / (½ p_up + ½ p_down) stays below 2 (Eq. BalPointExampleSD, line 2433)."""
    instance = catalog.get(name)
    p_up, p_down = normal(0.5, 1.0), normal(-0.5, 1.4)
    z = p_up / (0.5 * p_up + 0.5 * p_down)
    assert z.max() < instance.pairing.z_high == 2.0
    u = instance.target(z)
    assert_close(u, expected(p_up, p_down), relative=1e-9)
    assert bool(instance.reachable.contains(u).all())
    assert not instance.reachable.contains(instance.target(torch.tensor([2.1], dtype=torch.float64))).item()
    assert instance.interval.contains(instance.target(torch.tensor([2.1], dtype=torch.float64))).item()


@pytest.mark.parametrize("name", pairings.__all__)
def test_every_pairing_says_what_it_samples(name):
    pairing = getattr(pairings, name)
    assert isinstance(pairing, Pairing)
    assert pairing.up
    assert pairing.down
    assert pairing.words
    assert pairing is TWO_SIDED or "line" in pairing.place


def test_every_pairing_is_somebodys():
    used = {pairing for instance in catalog.all() for pairing in instance.pairings}
    assert used == {getattr(pairings, name) for name in pairings.__all__}
