import math

import pytest
import torch

import equipoise as eq
from equipoise.theory import derive, polar

EVERY = [pytest.param(inst, id=inst.label) for inst in [*eq.catalog.all(), eq.catalog.lsgan(1.0, 0.0)]]


@pytest.mark.parametrize("inst", EVERY)
def test_the_lemma_agrees_with_the_theorems(inst):
    assert polar(inst).verdict == inst.range


@pytest.mark.parametrize("inst", EVERY)
def test_angle_and_radius_are_those_of_the_magnitudes(inst):
    curve = polar(inst, n=101)
    assert ((curve.angle >= 0) & (curve.angle < 2 * math.pi)).all()
    assert (torch.diff(curve.u) > 0).all()
    seen = torch.isfinite(curve.radius) & (curve.radius > 1e-12)
    torch.testing.assert_close((curve.radius * torch.cos(curve.angle))[seen], curve.up[seen], rtol=1e-6, atol=1e-6)
    torch.testing.assert_close((curve.radius * torch.sin(curve.angle))[seen], curve.down[seen], rtol=1e-6, atol=1e-6)
    assert ((curve.part == 0) == inst.interval.contains(curve.u)).all()


@pytest.mark.parametrize("inst", [case for case in EVERY if case.values[0].feasible])
def test_the_angles_tangent_is_r_on_k(inst):
    curve = polar(inst, n=101)
    angle = curve.angle[curve.part == 0] - (0.0 if inst.sign > 0 else math.pi)
    assert ((angle >= 0) & (angle <= math.pi / 2)).all()
    assert (inst.sign * torch.diff(angle) >= 0).all()
    if inst.scalar:
        z = torch.tan(angle)
        u = inst.target(z[(z > 1e-3) & (z < 1e3)], 0.0)
        torch.testing.assert_close(u, curve.u[curve.part == 0][(z > 1e-3) & (z < 1e3)], rtol=1e-5, atol=1e-6)


def test_the_papers_two_pictures():
    square, gan = polar(eq.catalog.get("square")), polar(eq.catalog.get("gan_critic"))
    assert [square.quadrants(part) for part in (-1, 0, 1)] == [("IV",), ("I",), ("II",)]
    assert [gan.quadrants(part) for part in (-1, 0, 1)] == [("II",), ("I",), ("IV",)]
    assert all(condition.holds for condition in square.conditions)
    failed = [condition for condition in gan.conditions if not condition.holds]
    assert [condition.theorem for condition in failed] == [f"2494, unconstrained {i}" for i in (1, 2, 3)]


def test_a_negative_instance_runs_through_quadrant_three():
    curve = polar(eq.catalog.lsgan(1.0, 0.0))
    assert [curve.quadrants(part) for part in (-1, 0, 1)] == [("IV",), ("III",), ("II",)]


def test_a_derived_instance_rests_on_the_axes_outside_of_k():
    curve = polar(derive(ratio=lambda u: (1 + u) / (1 - u)))
    assert [curve.quadrants(part) for part in (-1, 0, 1)] == [(), ("I",), ()]
    assert curve.verdict == "any range"


def test_a_base_may_be_given():
    low, high = (polar(eq.catalog.get("deep_pdf"), n=41, log_base=log_base) for log_base in (-1.0, 0.0))
    torch.testing.assert_close(low.angle, high.angle)
    torch.testing.assert_close(low.radius, high.radius * math.exp(-2.0))
