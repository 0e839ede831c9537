"""Convex functions: the generators φ of f-divergences with their conjugates, and the potentials of Bregman divergences.

D_φ(q, p) = ∫ p φ(q/p),   φᶜ(s) = sup_z { z·s − φ(z) },   T = φ′,   R = φᶜ′ = T⁻¹          (line 2811)
D_φ(q, p) = ∫ φ(q) − φ(p) − φ′(p)·(q − p)                                              (line 2620)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log

import torch
from torch import Tensor

from equipoise.interval import NEGATIVE, REALS, Interval

Scalar = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Generator:
    """The generator of an f-divergence, num over den.

    Arguments:
        name: The kind.
        words: The divergence it generates.
        phi: φ(z), convex.
        slope: φ′(z), the height learned at ratio z.
        conjugate: φᶜ(s).
        conjugate_slope: φᶜ′(s), the ratio at height s.
        interval: The range of φ′.
        at_one: φ(1); zero by definition of a divergence, but for GAN's, whose minimum is −log 4.
    """

    name: str
    words: str
    phi: Scalar
    slope: Scalar
    conjugate: Scalar
    conjugate_slope: Scalar
    interval: Interval
    at_one: float = 0.0


@dataclass(frozen=True)
class Potential:
    """The potential of a separable Bregman divergence: φ, φ′ and φ″."""

    name: str
    phi: Scalar
    slope: Scalar
    curvature: Scalar


GENERATORS = {
    generator.name: generator
    for generator in (
        Generator(
            "kl",
            "KL(num‖den)",
            phi=lambda z: torch.xlogy(z, z),
            slope=lambda z: 1.0 + torch.log(z),
            conjugate=lambda s: torch.exp(s - 1.0),
            conjugate_slope=lambda s: torch.exp(s - 1.0),
            interval=REALS,
        ),
        Generator(
            "reverse_kl",
            "KL(den‖num)",
            phi=lambda z: -torch.log(z),
            slope=lambda z: -1.0 / z,
            conjugate=lambda s: -1.0 - torch.log(torch.abs(s)),
            conjugate_slope=lambda s: -1.0 / s,
            interval=NEGATIVE,
        ),
        Generator(
            "js",
            "Jensen-Shannon, at most log 2",
            phi=lambda z: 0.5 * (torch.xlogy(z, z) - (1.0 + z) * torch.log(0.5 * (1.0 + z))),
            slope=lambda z: -0.5 * torch.log(0.5 * (1.0 + 1.0 / z)),
            conjugate=lambda s: -0.5 * torch.log(torch.abs(2.0 - torch.exp(2.0 * s))),
            conjugate_slope=lambda s: 1.0 / (2.0 * torch.exp(-2.0 * s) - 1.0),
            interval=Interval(-inf, 0.5 * log(2.0)),
        ),
        Generator(
            "gan",
            "2 JS − log 4",
            phi=lambda z: torch.xlogy(z, z) - (1.0 + z) * torch.log(1.0 + z),
            slope=lambda z: -torch.log1p(1.0 / z),
            conjugate=lambda s: -torch.log(torch.abs(torch.expm1(s))),
            conjugate_slope=lambda s: 1.0 / torch.expm1(-s),
            interval=NEGATIVE,
            at_one=-log(4.0),
        ),
        Generator(
            "pearson",
            "∫(num − den)²/den",
            phi=lambda z: (z - 1.0) ** 2,
            slope=lambda z: 2.0 * (z - 1.0),
            conjugate=lambda s: s * (1.0 + 0.25 * s),
            conjugate_slope=lambda s: 1.0 + 0.5 * s,
            interval=Interval(-2.0, inf),
        ),
        Generator(
            "neyman",
            "∫(num − den)²/num",
            phi=lambda z: (1.0 - z) ** 2 / z,
            slope=lambda z: 1.0 - 1.0 / z**2,
            conjugate=lambda s: 2.0 - 2.0 * torch.sqrt(torch.clamp(1.0 - s, min=0.0)),
            conjugate_slope=lambda s: torch.rsqrt(torch.clamp(1.0 - s, min=0.0)),
            interval=Interval(-inf, 1.0),
        ),
        Generator(
            "hellinger",
            "1 − ∫√(num·den)",
            phi=lambda z: 1.0 - torch.sqrt(z),
            slope=lambda z: -0.5 * torch.rsqrt(z),
            conjugate=lambda s: -1.0 - 0.25 / s,
            conjugate_slope=lambda s: 0.25 / s**2,
            interval=NEGATIVE,
        ),
        Generator(
            "total_variation",
            "½∫|num − den|",
            phi=lambda z: 0.5 * torch.abs(z - 1.0),
            slope=lambda z: 0.5 * torch.sign(z - 1.0),
            conjugate=lambda s: s,
            conjugate_slope=torch.ones_like,
            interval=Interval(-0.5, 0.5),
        ),
    )
}

POTENTIALS = {
    potential.name: potential
    for potential in (
        Potential(
            "squared",
            phi=lambda s: 0.5 * s**2,
            slope=lambda s: s,
            curvature=torch.ones_like,
        ),
        Potential(
            "kl",
            phi=lambda s: torch.xlogy(s, torch.abs(s)),
            slope=lambda s: 1.0 + torch.log(torch.abs(s)),
            curvature=lambda s: 1.0 / s,
        ),
        Potential(
            "itakura_saito",
            phi=lambda s: -torch.log(torch.abs(s)),
            slope=lambda s: -1.0 / s,
            curvature=lambda s: 1.0 / s**2,
        ),
    )
}


def potential(phi: str | Potential | Scalar) -> Potential:
    """A potential by name, as it is, or from any strictly convex function of one tensor, derived by autograd."""
    if isinstance(phi, Potential):
        return phi
    if isinstance(phi, str):
        if phi not in POTENTIALS:
            message = f"phi must be one of {', '.join(POTENTIALS)}, a Potential or a convex function, got {phi!r}"
            raise ValueError(message)
        return POTENTIALS[phi]
    if not callable(phi):
        message = f"phi must be a name, a Potential or a convex function, got {phi!r}"
        raise TypeError(message)
    return Potential(getattr(phi, "__name__", "phi"), phi, _derivative(phi), _derivative(_derivative(phi)))


def _derivative(function: Scalar) -> Scalar:
    def slope(s: Tensor) -> Tensor:
        with torch.enable_grad():
            at = s if s.requires_grad else s.detach().requires_grad_()
            total = function(at).sum()
            if not total.requires_grad:  # the slope of a straight line
                return torch.zeros_like(at)
            return torch.autograd.grad(total, at, create_graph=True)[0]

    return lambda s: slope(s) if torch.is_grad_enabled() and s.requires_grad else slope(s).detach()
