import math

import pytest
import torch

import equipoise as eq
from equipoise.catalog.generators import GENERATORS
from equipoise.theory import from_conjugate, to_conjugate

Z = torch.tensor([0.2, 0.7, 1.0, 1.6, 4.0], dtype=torch.float64)
SMOOTH = [kind for kind in GENERATORS if kind != "total_variation"]


@pytest.mark.parametrize("kind", SMOOTH)
def test_recovers_the_conjugate_of_a_variational_divergence(kind):
    generator, inst = GENERATORS[kind], eq.catalog.f_divergence(kind)
    s = generator.slope(Z)
    found = to_conjugate(inst)
    torch.testing.assert_close(found.transform(s), s)
    torch.testing.assert_close(found.conjugate(s), generator.conjugate(s) + generator.at_one)  # φ(1) = 0
    assert found.alpha().item() == pytest.approx(generator.at_one, abs=1e-9)


def test_the_logistic_loss_is_the_gans_divergence_in_another_height():
    found = to_conjugate(eq.catalog.get("logistic"))
    t = torch.tensor([-3.0, -1.0, -0.1], dtype=torch.float64)
    torch.testing.assert_close(found.conjugate(t), -torch.log1p(-torch.exp(t)) - math.log(4.0))
    torch.testing.assert_close(found.transform(Z), torch.nn.functional.logsigmoid(Z))
    assert found.alpha().item() == pytest.approx(-2 * math.log(2.0))


@pytest.mark.parametrize("name", ["logistic", "square", "ulsif", "kliep", "lipschitz", "exponential", "gan_critic"])
def test_the_conjugate_is_normalised_and_its_slope_is_the_ratio(name):
    inst = eq.catalog.get(name)
    found = to_conjugate(inst)
    t = found.transform(inst.target(Z))
    one = found.transform(inst.target(torch.ones(1, dtype=torch.float64)))
    torch.testing.assert_close(found.conjugate(one), one, rtol=0, atol=1e-9)  # φᶜ(s′) = s′ at s′ = φ′(1)
    step = 1e-5 * (1 + t.abs())
    slope = (found.conjugate(t + step) - found.conjugate(t - step)) / (2 * step)
    inside = torch.isfinite(slope)
    torch.testing.assert_close(slope[inside], Z[inside], rtol=1e-4, atol=1e-6)


def test_negative_instances_have_one_too():
    inst = eq.catalog.lsgan(1.0, 0.0)
    found = to_conjugate(inst)
    u = inst.target(Z)
    torch.testing.assert_close(found.conjugate(found.transform(u)), inst.down_primitive(u) + found.alpha())


def test_alpha_follows_the_base():
    inst = eq.catalog.get("deep_pdf")
    log_base = torch.tensor([-1.0, 0.5], dtype=torch.float64)
    found = to_conjugate(inst)
    u = torch.tensor([0.3, 2.0], dtype=torch.float64)
    torch.testing.assert_close(found.alpha(log_base), 0.5 * torch.exp(2 * log_base))
    torch.testing.assert_close(
        found.conjugate(inst.up_primitive(u, log_base), log_base),
        inst.down_primitive(u, log_base) + found.alpha(log_base),
    )


@pytest.mark.parametrize("kind", ["kl", "pearson", "reverse_kl"])
def test_the_identity_gives_the_variational_divergence(kind):
    generator = GENERATORS[kind]
    inst = from_conjugate(generator.conjugate, interval=generator.interval)
    s = generator.slope(Z)
    torch.testing.assert_close(inst.up(s), torch.ones_like(s))
    torch.testing.assert_close(inst.down(s), Z)
    torch.testing.assert_close(inst.target(Z), s, rtol=1e-7, atol=1e-9)
    assert inst.has_loss
    assert inst.feasible


def test_a_bent_height_gives_the_logistic_loss():
    inst = from_conjugate(
        lambda t: -torch.log1p(-torch.exp(t)), torch.nn.functional.logsigmoid, interval=eq.Interval(), name="bent"
    )
    u = torch.linspace(-5, 5, 11, dtype=torch.float64)
    logistic = eq.catalog.get("logistic")
    for side in ("up", "down", "up_primitive", "down_primitive", "ratio"):
        torch.testing.assert_close(getattr(inst, side)(u), getattr(logistic, side)(u))


def test_there_and_back():
    inst = eq.catalog.get("lipschitz")
    found = to_conjugate(inst)
    u = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64)
    torch.testing.assert_close(
        found.conjugate(found.transform(u)) - found.alpha(), inst.down_primitive(u), rtol=1e-9, atol=1e-9
    )


def test_a_base_may_enter_both():
    inst = from_conjugate(lambda t: 0.5 * t**2, lambda u, log_base: u * torch.exp(log_base), interval=eq.Interval(0.0))
    u, log_base = torch.tensor([0.5, 2.0]), torch.tensor([0.1, -0.4])
    assert inst.needs_base
    torch.testing.assert_close(inst.up(u, log_base), torch.exp(log_base))
    torch.testing.assert_close(inst.down(u, log_base), u * torch.exp(2 * log_base))
