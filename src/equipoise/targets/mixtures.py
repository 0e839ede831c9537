"""Targets that are finite mixtures of Gaussians, exactly.

    p(x) = Σ_k w_k·N(x; μ_k, L_k·L_kᵀ)

Two spirals in the plane: many small round components, closer to each other than they are wide, so that the arms are
smooth. A mixture in six dimensions: eight components, each with its own full covariance.
"""

from __future__ import annotations

from math import log, pi

import torch
from torch import Generator, Tensor

from equipoise.targets.target import Target, kronecker, normal, pick


class TwoSpirals(Target):
    """Two arms that wind around each other one and a half times, with Gaussian noise across and along them.

        p(x) = Σ_k N(x; ±c(t_k), σ²·I) / 2K,   c(t) = (t/π)·(cos t, sin t)

    The t_k lie at equal distances along the arm, 0.6 noise widths from each other. The arms are a unit apart.

    Arguments:
        noise: The standard deviation σ.
    """

    features = 2
    _POINTS = 256

    def __init__(self, noise: float = 0.12) -> None:
        if not noise > 0.0:
            message = f"noise must be positive, got {noise!r}"
            raise ValueError(message)
        self.noise = noise
        angle = _equidistant(0.5 * pi, 3.5 * pi, self._POINTS)
        arm = (angle / pi).unsqueeze(1) * torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)
        self.centres = torch.cat([arm, -arm])  # (2K, 2)

    def _sample(self, n: int, generator: Generator | None) -> Tensor:
        which = torch.randint(len(self.centres), (n,), generator=generator)
        return self.centres[which] + self.noise * normal(n, 2, generator)

    def _log_prob(self, x: Tensor) -> Tensor:
        parts = x.split(8192)
        return torch.cat([self._log_mixture(part) for part in parts]) if parts else x.sum(dim=1)

    def _log_mixture(self, x: Tensor) -> Tensor:
        square = ((x.unsqueeze(1) - self.centres) ** 2).sum(dim=2)  # (n, 2K)
        log_kernel = -0.5 * square / self.noise**2 - log(2.0 * pi * self.noise**2)
        return torch.logsumexp(log_kernel, dim=1) - log(len(self.centres))


class FullMixture(Target):
    """Eight Gaussians in six dimensions that overlap in every pair of columns, each with a full covariance."""

    features = 6
    _COMPONENTS = 8

    def __init__(self) -> None:
        k, d = self._COMPONENTS, self.features
        self.means = 6.0 * kronecker(k, d) - 3.0
        spread = kronecker(k * d, d).flip(0).reshape(k, d, d)
        deviations = 0.25 + 0.6 * spread.diagonal(dim1=1, dim2=2)
        self.factors = torch.tril(0.8 * spread - 0.4, -1) + torch.diag_embed(deviations)
        share = 1.0 + torch.arange(k, dtype=torch.float64)
        self.shares = share / share.sum()

    def _sample(self, n: int, generator: Generator | None) -> Tensor:
        which = pick(self.shares, n, generator)
        noise = normal(n, self.features, generator)
        return self.means[which] + torch.einsum("nij,nj->ni", self.factors[which], noise)

    def _log_prob(self, x: Tensor) -> Tensor:
        return torch.logsumexp(torch.stack([self._log_component(x, k) for k in range(self._COMPONENTS)]), dim=0)

    def _log_component(self, x: Tensor, k: int) -> Tensor:
        standard = torch.linalg.solve_triangular(self.factors[k], (x - self.means[k]).T, upper=False)
        log_det = torch.log(self.factors[k].diagonal()).sum()
        constant = torch.log(self.shares[k]) - log_det - 0.5 * self.features * log(2.0 * pi)
        log_density: Tensor = constant - 0.5 * standard.square().sum(dim=0)
        return log_density


def _equidistant(low: float, high: float, points: int) -> Tensor:
    """Angles at equal distances along the spiral r = t/π, both ends included."""
    fine = torch.linspace(low, high, 200_001, dtype=torch.float64)
    length = 0.5 * (fine * torch.sqrt(1.0 + fine**2) + torch.asinh(fine))  # ∫ √(1 + t²), times π
    wanted = torch.linspace(length[0].item(), length[-1].item(), points, dtype=torch.float64)
    at = torch.searchsorted(length, wanted).clamp_(1, len(fine) - 1)
    share = (wanted - length[at - 1]) / (length[at] - length[at - 1])
    angle: Tensor = torch.lerp(fine[at - 1], fine[at], share)
    return angle
