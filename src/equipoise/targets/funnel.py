"""Neal's funnel: one column sets the scale of all others.

v ~ N(0, τ²),   x_i | v ~ N(0, e^v),   i = 1 … d−1
"""

from __future__ import annotations

from math import log, pi

import torch
from torch import Generator, Tensor

from equipoise.targets.target import Target, normal


class Funnel(Target):
    """A funnel; its first column is v.

    Arguments:
        dim: How many columns.
        scale: The standard deviation τ of v. With Neal's own 3, and still with 1.5, errors at a few far rows decide
            every average over 20,000; at 1 an average can be measured.
    """

    def __init__(self, dim: int = 10, scale: float = 1.0) -> None:
        if not dim >= 2:
            message = f"dim must be at least 2, got {dim!r}"
            raise ValueError(message)
        if not scale > 0.0:
            message = f"scale must be positive, got {scale!r}"
            raise ValueError(message)
        self.features, self.scale = dim, scale

    def _sample(self, n: int, generator: Generator | None) -> Tensor:
        rows = normal(n, self.features, generator)
        rows[:, 0] *= self.scale
        rows[:, 1:] *= torch.exp(0.5 * rows[:, :1])
        return rows

    def _log_prob(self, x: Tensor) -> Tensor:
        v, others = x[:, 0], x[:, 1:]
        log_v = -0.5 * (v / self.scale) ** 2 - log(self.scale)
        log_others = -0.5 * torch.exp(-v) * others.square().sum(dim=1) - 0.5 * others.shape[1] * v
        return log_v + log_others - 0.5 * self.features * log(2.0 * pi)
