"""Stripes across a cube's diagonal, with hard edges: uniform where ⌊2·Σ_i x_i⌋ is even, nothing elsewhere.

    p(x) = 1 / V   on {x in [0, 1]⁴ : s in [0, ½) ∪ [1, 1½) ∪ [2, 2½) ∪ [3, 3½)},   s = Σ_i x_i

V follows from the distribution function of a sum of uniforms. Every column, pair and triple of columns is close to
uniform; only all four together show the stripes.
"""

from __future__ import annotations

from math import comb, factorial, log
from typing import ClassVar

import torch
from torch import Generator, Tensor

from equipoise.targets.target import Target, uniform


class Stripes(Target):
    """Four stripes across the diagonal of the unit cube in four dimensions."""

    bounded_support: ClassVar[bool] = True
    smooth: ClassVar[bool] = False
    features = 4

    def __init__(self) -> None:
        starts = range(self.features)
        self.volume = sum(_sum_below(k + 0.5, self.features) - _sum_below(k, self.features) for k in starts)

    def _sample(self, n: int, generator: Generator | None) -> Tensor:
        rows = uniform(n, self.features, generator)
        while len(between := torch.nonzero(~_on_stripe(rows)).flatten()):
            rows[between] = uniform(len(between), self.features, generator)
        return rows

    def _log_prob(self, x: Tensor) -> Tensor:
        inside = ((x >= 0.0) & (x <= 1.0)).all(dim=1) & _on_stripe(x)
        return torch.full_like(x[:, 0], -log(self.volume)).masked_fill(~inside, -torch.inf)


def _on_stripe(x: Tensor) -> Tensor:
    return torch.floor(2.0 * x.sum(dim=1)) % 2.0 == 0.0


def _sum_below(s: float, d: int) -> float:
    """P(Σ x_i ≤ s) for d uniforms (Irwin and Hall)."""
    return sum((-1.0) ** k * comb(d, k) * max(s - k, 0.0) ** d for k in range(d + 1)) / factorial(d)
