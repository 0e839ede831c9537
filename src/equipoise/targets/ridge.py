"""A curved ridge: rows along a winding curve through fifteen dimensions, with noise around it.

    t ~ N(0, 1),   y_1 = t,   y_j = sin(ω_j·t + φ_j) + σ·ε_j,   x = H·y,   H orthogonal

H (Hartley's matrix) spreads the curve over all columns, so that no order of the columns is the density's own.
"""

from __future__ import annotations

from math import log, pi, sqrt

import torch
from torch import Generator, Tensor

from equipoise.targets.target import Target, kronecker, normal


class CurvedRidge(Target):
    """A ridge in 15 dimensions: frequencies ω from 0.6 to 3, noise σ = 0.3."""

    features = 15

    def __init__(self) -> None:
        self.noise = 0.3
        self.frequency = torch.linspace(0.6, 3.0, self.features - 1, dtype=torch.float64)
        self.phase = 2.0 * pi * kronecker(self.features - 1, 1).squeeze(1)
        angle = 2.0 * pi / self.features * torch.outer(*[torch.arange(self.features, dtype=torch.float64)] * 2)
        self.rotation = (torch.cos(angle) + torch.sin(angle)) / sqrt(self.features)

    def curve(self, t: Tensor) -> Tensor:
        """The ridge's line before rotation, but for t itself: (n,) → (n, d − 1)."""
        return torch.sin(torch.outer(t, self.frequency) + self.phase)

    def _sample(self, n: int, generator: Generator | None) -> Tensor:
        y = normal(n, self.features, generator)
        y[:, 1:] = self.curve(y[:, 0]) + self.noise * y[:, 1:]
        return y @ self.rotation.T

    def _log_prob(self, x: Tensor) -> Tensor:
        y = x @ self.rotation
        t, others = y[:, 0], y[:, 1:]
        off = (others - self.curve(t)) / self.noise
        constant = 0.5 * self.features * log(2.0 * pi) + (self.features - 1) * log(self.noise)
        return -0.5 * (t.square() + off.square().sum(dim=1)) - constant
