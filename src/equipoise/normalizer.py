"""The normaliser of a surface over a base, by importance sampling from the base, with its standard error.

    Z = E_base[ R(u(x)) ],   log Z ± se,   ess = (Σ w)² / Σ w²

The model's density is R(u)·p_base / Z. In float64, because a sum decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, sqrt

import torch
from torch import Tensor


@dataclass(frozen=True)
class Normalizer:
    """An estimate of log Z.

    Arguments:
        log_z: The estimate.
        se: Its standard error.
        ess: The effective sample size of the weights.
        n: How many rows of the base were used.
    """

    log_z: float
    se: float
    ess: float
    n: int

    @property
    def trusted(self) -> bool:
        """Whether enough rows carry the weight for the standard error to mean something."""
        return self.ess >= 100.0


def normalise(log_weight: Tensor) -> Normalizer:
    """Estimate log Z from log R(u) at rows of the base, (n,)."""
    values = log_weight.detach().to(torch.float64)
    n = len(values)
    unusable = int((torch.isnan(values) | torch.isposinf(values)).sum())
    if unusable:
        message = f"{unusable} of {n} weights are NaN or infinite: the surface's heights overflow at rows of the base"
        raise ValueError(message)
    log_sum = torch.logsumexp(values, dim=0).item()
    if log_sum == -inf:
        message = "no row of the base lies where the surface has weight: log Z cannot be estimated"
        raise ValueError(message)
    share = torch.exp(values - log_sum)  # sums to one
    square = (share**2).sum().item()
    # Var(Z-hat)/Z² = (n·Σ share² − 1)/n, and the delta method carries it to log Z.
    return Normalizer(log_sum - log(n), sqrt(max(n * square - 1.0, 0.0) / n), 1.0 / square, n)
