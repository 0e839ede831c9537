"""Several log ratios as one: weighted within a fold, and averaged over folds.

L(x) = (1/K)·Σ_k Σ_j w_kj·L_kj(x),     w ≥ 0, Σ_j w_kj = 1, or 0 where no difference was found
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import torch
from torch import Tensor

from equipoise.ratios.sides import Sides
from equipoise.ratios.starts import LogRatio

_FEW = 10


@dataclass(frozen=True)
class Pool:
    """A weighted sum of log ratios; of none, it is zero.

    Arguments:
        members: The log ratios.
        weights: One per member, positive.
        names: What the members are called.
        low: The least log ratio that a few rows of the denominator reach; none is lower anywhere.
        high: The largest that a few of the numerator reach.
    """

    members: tuple[LogRatio, ...]
    weights: tuple[float, ...]
    names: tuple[str, ...]
    low: float = -inf
    high: float = inf

    def log_ratio(self, x: Tensor) -> Tensor:
        """Log ratios of rows (n, d)."""
        total = torch.zeros(len(x), dtype=torch.float64)
        for member, weight in zip(self.members, self.weights, strict=True):
            total += weight * member.log_ratio(x)
        return total.clamp(self.low, self.high)

    def within(self, seen: Sides) -> Pool:
        """The same between the ends that a few rows have shown: beyond them a log ratio would rest on next to none."""
        if not self.members:
            return self
        low, high = -_reached(-self.log_ratio(seen.den.rows)), _reached(self.log_ratio(seen.num.rows))
        return replace(self, low=min(low, 0.0), high=max(high, 0.0))


def _reached(values: Tensor) -> float:
    """What a few of the values reach: the tenth largest of 500 or more, the largest of fewer than 100."""
    few = max(1, min(_FEW, len(values) // 50))
    return float(values.topk(few).values[-1])


@dataclass(frozen=True)
class Folds:
    """Pools that each have not seen a part of the rows.

    Arguments:
        pools: One per fold.
    """

    pools: tuple[Pool, ...]

    def log_ratio(self, x: Tensor) -> Tensor:
        """The mean log ratio of rows (n, d)."""
        return self.each(x).mean(dim=0)

    def each(self, x: Tensor) -> Tensor:
        """Every fold's log ratio of rows, (folds, n)."""
        return torch.stack([pool.log_ratio(x) for pool in self.pools])

    def spread(self, x: Tensor) -> Tensor:
        """The jackknife's standard error of the mean log ratio, (n,): √((K − 1)/K·Σ_k (L_k − L)²)."""
        each = self.each(x)
        return torch.sqrt((len(each) - 1) / len(each) * ((each - each.mean(dim=0)) ** 2).sum(dim=0))
