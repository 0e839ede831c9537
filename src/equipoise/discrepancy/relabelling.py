"""Relabellings: which of the pooled rows are called X, as they came and at random.

    p-value = #{ b : T_b ≥ T_0 } / (B + 1),   T_0 under the true labels, T_1 … T_B under random ones

If both samples come from one density, every labelling is as likely as the true one, whatever the statistic: the
p-value is exact at any size. What a labelling does to a surface are the unit instance's forces, +1/n on rows called X
and −1/m on rows called Y (line 4969).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
import torch
from torch import Tensor

Features = Callable[[Tensor], Tensor]

_CELLS = 1 << 22  # of features at a time
_SAME = 1e-7  # relative; what is this near is equal but for rounding


@dataclass(frozen=True)
class Relabellings:
    """The true labels and B random ones.

    Arguments:
        called: Whether each row is called X, (B + 1, N), the true labels first.
    """

    called: Tensor

    @classmethod
    def draw(cls, truth: Tensor, count: int, seed: int) -> Relabellings:
        """Permute the true labels (N,) so many times."""
        called = np.tile(truth.numpy(), (count + 1, 1))
        np.random.default_rng(seed).permuted(called[1:], axis=1, out=called[1:])
        return cls(torch.from_numpy(called))

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """Rows of X and of Y."""
        n = int(self.called[0].sum())
        return n, self.called.shape[1] - n

    def forces(self, count: int) -> Tensor:
        """Unit forces of every labelling on the first rows, (B + 1, count); their sum over rows is zero."""
        some = self.called[:, :count].double()
        n = some.sum(dim=1, keepdim=True)
        up, down = 1.0 / n.clamp(min=1.0), 1.0 / (count - n).clamp(min=1.0)
        return some * (up + down) - down

    def measure(self, features: Features, rows: Tensor, *, products: bool = False) -> Measured:
        """Gaps of features between rows called X and rows called Y, in one pass.

        Arguments:
            features: From rows (k, d) to features (k, D).
            rows: All of the pooled rows, or the first of them.
            products: Whether the features' covariances are wanted, or their variances alone.
        """
        step = max(1, _CELLS // features(rows[:1]).shape[1])
        shift = features(rows[:step]).mean(dim=0)  # near to the mean, so that sums lose no digits
        up, total, spread = (torch.zeros((), dtype=torch.float64) for _ in range(3))
        for start in range(0, len(rows), step):
            part = features(rows[start : start + step]) - shift
            up = up + (self.called[:, start : start + len(part)].to(part.dtype) @ part).double()
            total = total + part.sum(dim=0).double()
            spread = spread + (part.T @ part if products else part.square().sum(dim=0)).double()
        count, n = len(rows), self.called[:, : len(rows)].sum(dim=1, keepdim=True).double()
        gaps = up / n.clamp(min=1.0) - (total - up) / (count - n).clamp(min=1.0)
        mean = total / count
        own = torch.outer(mean, mean) if products else mean.square()
        return Measured(gaps, mean + shift.double(), (spread - count * own) / max(count - 1, 1), self.sizes)


@dataclass(frozen=True)
class Measured:
    """Features, measured.

    Arguments:
        gaps: The mean over rows called X minus that over rows called Y, (B + 1, D).
        mean: Over all rows, (D,).
        spread: Variances (D,), or covariances (D, D).
        sizes: Rows of X and of Y.
    """

    gaps: Tensor
    mean: Tensor
    spread: Tensor
    sizes: tuple[int, int]

    @cached_property
    def variance(self) -> Tensor:
        """Of each feature, (D,)."""
        return (self.spread if self.spread.dim() == 1 else self.spread.diagonal()).clamp(min=0.0)

    @cached_property
    def slope(self) -> Tensor:
        """One over each feature's standard deviation, (D,); zero for constant features."""
        varies = self.variance.sqrt() > _SAME * (1.0 + self.mean.abs())
        return torch.where(varies, self.variance.clamp(min=torch.finfo(torch.float64).tiny).rsqrt(), 0.0)

    @cached_property
    def z(self) -> Tensor:
        """Gaps in units of their standard deviation over labellings, (B + 1, D)."""
        n, m = self.sizes
        z: Tensor = self.gaps * (self.slope / sqrt(1.0 / n + 1.0 / m))
        return z


def p_value(values: Tensor) -> float:
    """The share of labellings under which a statistic (B + 1,) is at least what it is under the true one."""
    return float((values >= values[0] - _SAME * values.abs().max()).double().mean())
