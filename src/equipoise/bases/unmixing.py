"""Independent component analysis: a rotation of white rows after which the columns know least about each other.

    W ← (Σ_i g(y_i)·z_iᵀ/n − mean g'(y)·W),   W ← (W·Wᵀ)^(−½)·W,      y = W·z

FastICA's fixed point, all components at once (Hyvärinen, 1999): g = y³, or tanh where tails are heavy. Maximum
likelihood under densities p_j takes over: with ψ_j = −(log p_j)', G = mean ψ(y)·yᵀ and κ_j = mean ψ_j², W ← (1 + E)·W,

    κ_i·E_ij + E_ji = −G_ij,   i ≠ j        (Newton's step of pairs, Palmer et al., 2008, in which E_ii = 0)
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Generator, Tensor

Nonlinearity = Callable[[Tensor], tuple[Tensor, Tensor]]

_STEPS = 200
_TOLERANCE = 1e-5


def cube(y: Tensor) -> tuple[Tensor, Tensor]:
    """y³ and its slope."""
    return y**3, 3.0 * y**2


def tanh(y: Tensor) -> tuple[Tensor, Tensor]:
    """Tanh and its slope."""
    value = torch.tanh(y)
    return value, 1.0 - value**2


def rotation(white: Tensor, share: Tensor, nonlinearity: Nonlinearity, generator: Generator) -> Tensor | None:
    """A rotation (d, d) that has converged, or None."""
    d = white.shape[1]
    found = orthogonal(torch.randn(d, d, generator=generator, dtype=torch.float64)).to(white)
    for _ in range(_STEPS):
        before, found = found, turned(white, share, found, nonlinearity)
        if not bool(torch.isfinite(found).all()):
            return None
        if (1.0 - (found * before).sum(dim=1).abs()).max().item() < _TOLERANCE:
            return found.double()
    return None


def turned(white: Tensor, share: Tensor, rotation: Tensor, nonlinearity: Nonlinearity) -> Tensor:
    """One step of the fixed point."""
    value, slope = nonlinearity(white @ rotation.T)
    weight = share.to(white).unsqueeze(1)
    return orthogonal((value * weight).T @ white - (slope * weight).sum(dim=0).unsqueeze(1) * rotation)


def orthogonal(matrix: Tensor) -> Tensor:
    """The nearest rotation, (W·Wᵀ)^(−½)·W."""
    if not bool(torch.isfinite(matrix).all()):
        return matrix
    u, _, v = torch.linalg.svd(matrix, full_matrices=False)
    nearest: Tensor = u @ v
    return nearest


def newton(y: Tensor, slope: Tensor, share: Tensor) -> Tensor:
    """The factor 1 + E of a step of maximum likelihood, from components y (n, d) of variance near one and ψ(y)."""
    gradient = (slope * share.unsqueeze(1)).T @ y
    information = (share @ slope**2).clamp(min=1.0 + 1e-3)
    across = torch.outer(information, information) - 1.0
    step = (gradient.T - information.unsqueeze(0) * gradient) / across
    step.fill_diagonal_(0.0)
    return torch.eye(len(step), dtype=step.dtype) + step.clamp(-0.2, 0.2)
