"""Convex functions and what they generate: Fenchel-Young, and the divergence as minus the loss at its optimum."""

from math import erf, exp, log, log1p, pi, sqrt

import pytest
import torch
from tests.asserts import assert_close, ratios, slope

from equipoise import catalog
from equipoise.catalog.generators import GENERATORS, POTENTIALS, potential

Z = ratios()
KINDS = list(GENERATORS)
SMOOTH = [kind for kind in KINDS if kind != "total_variation"]
MU, NU, S, T = 0.3, -0.4, 0.9, 1.0  # num = N(μ, s²), den = N(ν, t²)
X = torch.linspace(-14.0, 14.0, 28001, dtype=torch.float64)


def densities(mu=MU, s=S, nu=NU, t=T):
    num = torch.distributions.Normal(torch.tensor(mu).double(), torch.tensor(s).double()).log_prob(X).exp()
    den = torch.distributions.Normal(torch.tensor(nu).double(), torch.tensor(t).double()).log_prob(X).exp()
    return num, den


@pytest.mark.parametrize("kind", KINDS)
def test_generators_are_convex_and_vanish_at_one(kind):
    generator = GENERATORS[kind]
    assert generator.name == kind
    one = torch.ones(1, dtype=torch.float64)
    assert generator.phi(one).item() == pytest.approx(generator.at_one, abs=1e-12)
    middle = generator.phi(0.5 * (Z[:-2] + Z[2:]))
    assert bool((middle <= 0.5 * (generator.phi(Z[:-2]) + generator.phi(Z[2:])) + 1e-9).all())


@pytest.mark.parametrize("kind", KINDS)
def test_slopes_are_derivatives(kind):
    generator = GENERATORS[kind]
    assert_close(generator.slope(Z), slope(generator.phi, Z), relative=1e-8, absolute=1e-12)
    s = generator.slope(ratios(-2.0, 2.0))
    assert_close(generator.conjugate_slope(s), slope(generator.conjugate, s), relative=1e-8, absolute=1e-12)


@pytest.mark.parametrize("kind", SMOOTH)
def test_the_conjugates_slope_inverts_the_slope(kind):
    """T = φ′ and R = φᶜ′ are inverse to each other, and the range of φ′ is K."""
    generator = GENERATORS[kind]
    z = ratios(-3.0, 3.0)
    s = generator.slope(z)
    assert bool(generator.interval.contains(s).all())
    assert_close(generator.conjugate_slope(s), z, relative=1e-7)
    far = generator.slope(torch.tensor([1e-300, 1e300], dtype=torch.float64))
    for end, limit in zip(far.tolist(), (generator.interval.low, generator.interval.high), strict=True):
        assert end == pytest.approx(limit, abs=1e-6) or abs(end) > 100.0


@pytest.mark.parametrize("kind", KINDS)
def test_fenchel_young(kind):
    """φ(z) + φᶜ(s) ≥ z·s, with equality at s = φ′(z)."""
    generator = GENERATORS[kind]
    z = ratios(-3.0, 3.0)
    s = generator.slope(z)
    gap = generator.phi(z)[:, None] + generator.conjugate(s)[None, :] - z[:, None] * s[None, :]
    scale = 1.0 + torch.abs(z[:, None] * s[None, :]) + torch.abs(generator.phi(z))[:, None]
    assert bool((gap >= -1e-12 * scale).all())
    assert bool((torch.diagonal(gap) <= 1e-11 * torch.diagonal(scale)).all())


def minus_loss(kind, num, den):
    """−L(f*) = E_num f* − E_den φᶜ(f*), from the instance's own parts (Claim PSO_FDiv_rel, line 2848)."""
    instance = catalog.f_divergence(kind)
    u = instance.target(num / den)
    return torch.trapezoid(num * instance.up_primitive(u) - den * instance.down_primitive(u), X).item()


def kl(mu, s, nu, t):
    return log(t / s) + (s**2 + (mu - nu) ** 2) / (2.0 * t**2) - 0.5


def pearson(mu, s, nu, t):
    """∫ num²/den − 1 for Gaussians with 2t² > s²."""
    variance = 2.0 * t**2 - s**2
    return t**2 / (s * sqrt(variance)) * exp((mu - nu) ** 2 / variance) - 1.0


def overlap(mu, s, nu, t):
    """∫ √(num·den)."""
    return sqrt(2.0 * s * t / (s**2 + t**2)) * exp(-((mu - nu) ** 2) / (4.0 * (s**2 + t**2)))


def jensen_shannon(num, den):
    mixture = 0.5 * (num + den)
    return 0.5 * torch.trapezoid(torch.xlogy(num, num / mixture) + torch.xlogy(den, den / mixture), X).item()


def test_divergences_of_two_gaussians():
    num, den = densities()
    here, there = (MU, S, NU, T), (NU, T, MU, S)
    js = jensen_shannon(num, den)
    expected = {
        "kl": kl(*here),
        "reverse_kl": kl(*there),
        "js": js,
        "gan": 2.0 * js - log(4.0),
        "pearson": pearson(*here),
        "neyman": pearson(*there),
        "hellinger": 1.0 - overlap(*here),
        "total_variation": 0.5 * torch.trapezoid(torch.abs(num - den), X).item(),
    }
    assert set(expected) == set(KINDS)
    for kind, value in expected.items():
        assert minus_loss(kind, num, den) == pytest.approx(value, rel=1e-6), kind


def test_total_variation_of_shifted_gaussians():
    num, den = densities(s=1.0)
    assert minus_loss("total_variation", num, den) == pytest.approx(erf((MU - NU) / sqrt(8.0)), rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_density_does_not_diverge_from_itself(kind):
    num, _ = densities()
    assert minus_loss(kind, num, num) == pytest.approx(GENERATORS[kind].at_one, abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_other_surfaces_only_give_a_lower_bound(kind):
    num, den = densities()
    instance = catalog.f_divergence(kind)
    best = minus_loss(kind, num, den)
    s = instance.interval.to_real(instance.interval.from_real(0.3 * torch.sin(X)))
    for surface in (instance.interval.from_real(s), instance.interval.from_real(torch.zeros_like(X))):
        value = torch.trapezoid(num * instance.up_primitive(surface) - den * instance.down_primitive(surface), X)
        assert value.item() < best


@pytest.mark.parametrize("kind", KINDS)
def test_the_instance_is_its_generator(kind):
    generator, instance = GENERATORS[kind], catalog.f_divergence(kind)
    assert instance.interval == generator.interval
    assert instance.parameters == {"kind": kind}
    assert generator.words in instance.estimand.words
    z = ratios(-2.0, 2.0)
    assert_close(instance.target(z), generator.slope(z))
    assert_close(instance.up(z), torch.ones_like(z))
    verdict = {"total_variation": "no balance", "kl": "any range", "pearson": "any range"}
    assert instance.range == verdict.get(kind, "range must be K")


def test_the_tables_rows_are_members():
    """Table 5's Kullback-Leibler and reverse KL rows, by other names."""
    for row, kind in (("kl_divergence", "kl"), ("reverse_kl_divergence", "reverse_kl")):
        of_row, member = catalog.get(row), catalog.f_divergence(kind)
        u = member.target(Z)
        for part in ("up", "down", "up_primitive", "down_primitive", "ratio"):
            assert_close(getattr(member, part)(u), getattr(of_row, part)(u), relative=1e-12, absolute=1e-12)


@pytest.mark.parametrize("name", POTENTIALS)
def test_potentials_are_consistent_and_strictly_convex(name):
    convex = potential(name)
    s = ratios(-2.0, 2.0)
    assert_close(convex.slope(s), slope(convex.phi, s), relative=1e-10)
    assert_close(convex.curvature(s), slope(convex.slope, s), relative=1e-10)
    assert bool((convex.curvature(s) > 0).all())
    derived = potential(convex.phi)
    assert_close(derived.slope(s), convex.slope(s), relative=1e-10)
    assert_close(derived.curvature(s), convex.curvature(s), relative=1e-10)
    assert potential(convex) is convex


def test_known_values():
    two = torch.tensor([2.0], dtype=torch.float64)
    assert GENERATORS["js"].phi(two).item() == pytest.approx(0.5 * (2.0 * log(2.0) - 3.0 * log(1.5)))
    assert GENERATORS["gan"].slope(two).item() == pytest.approx(-log1p(0.5))
    assert GENERATORS["hellinger"].phi(4.0 * two / 2.0).item() == pytest.approx(-1.0)
    assert pi > GENERATORS["neyman"].slope(two).item() == pytest.approx(0.75)
