"""Columns: the paper's 20-dimensional product density, 5^20 modes, with jumps at its outer ones (line 5599).

p(x) = Π_i q(x_i),   q = (U(−2.3, −1.7) + N(−1, 0.2²) + N(0, 0.2²) + N(1, 0.2²) + U(1.7, 2.3)) / 5
"""

from __future__ import annotations

from math import log, pi
from typing import ClassVar

import torch
from torch import Generator, Tensor

from equipoise.targets.target import Target, normal, uniform

_CENTRES = (-2.0, -1.0, 0.0, 1.0, 2.0)
_DEVIATION = 0.2
_HALF_WIDTH = 0.3


class Columns(Target):
    """Independent columns, each of five modes.

    Arguments:
        dim: How many columns.
    """

    smooth: ClassVar[bool] = False

    def __init__(self, dim: int = 20) -> None:
        if not dim >= 1:
            message = f"dim must be at least 1, got {dim!r}"
            raise ValueError(message)
        self.features = dim

    def _sample(self, n: int, generator: Generator | None) -> Tensor:
        shape = (n, self.features)
        mode = torch.randint(5, shape, generator=generator)
        flat = _HALF_WIDTH * (2.0 * uniform(*shape, generator) - 1.0)
        bell = _DEVIATION * normal(*shape, generator)
        outer = (mode == 0) | (mode == 4)
        return torch.tensor(_CENTRES, dtype=torch.float64)[mode] + torch.where(outer, flat, bell)

    def _log_prob(self, x: Tensor) -> Tensor:
        return log_column(x).sum(dim=1)


def log_column(x: Tensor) -> Tensor:
    """Log q, elementwise."""
    bells = [-0.5 * ((x - centre) / _DEVIATION) ** 2 for centre in _CENTRES[1:4]]
    log_bells = torch.logsumexp(torch.stack(bells), dim=0) - log(5.0 * _DEVIATION) - 0.5 * log(2.0 * pi)
    flat = _inside(x, _CENTRES[0]) | _inside(x, _CENTRES[4])
    log_flat = torch.full_like(x, -log(5.0 * 2.0 * _HALF_WIDTH)).masked_fill(~flat, -torch.inf)
    return torch.logaddexp(log_bells, log_flat)


def _inside(x: Tensor, centre: float) -> Tensor:
    return (x >= centre - _HALF_WIDTH) & (x <= centre + _HALF_WIDTH)
