"""Several log ratios as one: weighted within a fold, and averaged over folds.

L(x) = (1/K)·Σ_k Σ_j w_kj·L_kj(x),     w ≥ 0, Σ_j w_kj = 1, or 0 where no difference was found
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from equipoise.ratios.starts import LogRatio


@dataclass(frozen=True)
class Pool:
    """A weighted sum of log ratios; of none, it is zero.

    Arguments:
        members: The log ratios.
        weights: One per member, positive.
        names: What the members are called.
    """

    members: tuple[LogRatio, ...]
    weights: tuple[float, ...]
    names: tuple[str, ...]

    def log_ratio(self, x: Tensor) -> Tensor:
        """Log ratios of rows (n, d)."""
        total = torch.zeros(len(x), dtype=torch.float64)
        for member, weight in zip(self.members, self.weights, strict=True):
            total += weight * member.log_ratio(x)
        return total


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
