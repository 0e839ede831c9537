"""A uniform density with a hole: where it is the down density, nothing holds the surface down in the hole (line 3699).

p(x) = 1 / (4 − π·r²)   on [−1, 1]², outside the disc of radius r
"""

from __future__ import annotations

from math import log, pi
from typing import ClassVar

import torch
from torch import Generator, Tensor

from equipoise.targets.target import Target, uniform


class UniformWithHole(Target):
    """Uniform on a square without a disc around its centre.

    Arguments:
        radius: The disc's radius; 0.3 in the paper.
    """

    bounded_support: ClassVar[bool] = True
    smooth: ClassVar[bool] = False
    features = 2

    def __init__(self, radius: float = 0.3) -> None:
        if not 0.0 <= radius <= 1.0:
            message = f"radius must lie between 0 and 1, got {radius!r}"
            raise ValueError(message)
        self.radius = radius

    def _sample(self, n: int, generator: Generator | None) -> Tensor:
        rows = 2.0 * uniform(n, 2, generator) - 1.0
        while len(inside := torch.nonzero(~self._holds(rows)).flatten()):
            rows[inside] = 2.0 * uniform(len(inside), 2, generator) - 1.0
        return rows

    def _log_prob(self, x: Tensor) -> Tensor:
        height = -log(4.0 - pi * self.radius**2)
        return torch.full_like(x[:, 0], height).masked_fill(~self._holds(x), -torch.inf)

    def _holds(self, x: Tensor) -> Tensor:
        return (x.abs() <= 1.0).all(dim=1) & (x.square().sum(dim=1) >= self.radius**2)
