"""The normaliser of a surface over a base, by importance sampling from the base, with its standard error.

    Z = E_base[ R(u(x)) ],   log Z ± se,   ess = (Σ w)² / Σ w²

The model's density is R(u)·p_base / Z. In float64, because a sum decides. At balance Z is 1, which checks the surface;
and the largest weights, fitted by a generalised Pareto law, say whether their variance exists, which checks the error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, isfinite, log, sqrt

import torch
from torch import Tensor

_LEAST_ESS = 100.0
_HEAVIEST = (
    0.7  # of the tail's shape: beyond, the mean converges too slowly for any number of rows (Vehtari et al., 2024)
)
_FEWEST_TAIL = 20  # weights that a tail's shape can be told from


@dataclass(frozen=True)
class Normalizer:
    """An estimate of log Z.

    Arguments:
        log_z: The estimate.
        se: Its standard error.
        ess: The effective sample size of the weights.
        n: How many rows of the base were used.
        tail: The shape of the weights' upper tail; moments beyond its inverse do not exist.
    """

    log_z: float
    se: float
    ess: float
    n: int
    tail: float = -inf

    @property
    def trusted(self) -> bool:
        """Whether enough rows carry the weight, and evenly enough, for the standard error to mean something."""
        return self.enough and self.tail < _HEAVIEST

    @property
    def enough(self) -> bool:
        """Whether enough rows carry the weight for the estimate to be one."""
        return self.ess >= _LEAST_ESS

    @property
    def warning(self) -> str:
        """What is wrong with the estimate, in words; empty where nothing is."""
        if self.ess < _LEAST_ESS:
            return (
                f"log Z rests on {self.ess:.3g} effective rows of {self.n}: its error is not to be trusted; "
                "take a base nearer to the data, or more rows"
            )
        if self.tail >= _HEAVIEST:
            return (
                f"a few of {self.n} weights decide log Z (tail shape {self.tail:.2f}, {_HEAVIEST} at most): its error "
                "is larger than stated; take a base with heavier tails, or one nearer to the data"
            )
        return ""

    @property
    def balance(self) -> float:
        """Z itself, which is 1 for a surface in balance: E_base[R(u)] = 1."""
        return exp(min(self.log_z, 700.0))


class UnusableWeightsError(ValueError):
    """Weights from which no normaliser follows: infinite, or nought everywhere."""


def normalise(log_weight: Tensor) -> Normalizer:
    """Estimate log Z from log R(u) at rows of the base, (n,)."""
    values = log_weight.detach().to(torch.float64)
    n = len(values)
    unusable = int((torch.isnan(values) | torch.isposinf(values)).sum())
    if unusable:
        message = f"{unusable} of {n} weights are NaN or infinite: the surface's heights overflow at rows of the base"
        raise UnusableWeightsError(message)
    log_sum = torch.logsumexp(values, dim=0).item()
    if log_sum == -inf:
        message = "no row of the base lies where the surface has weight: log Z cannot be estimated"
        raise UnusableWeightsError(message)
    share = torch.exp(values - log_sum)  # sums to one
    square = (share**2).sum().item()
    # Var(Z-hat)/Z² = (n·Σ share² − 1)/n, and the delta method carries it to log Z.
    se = sqrt(max(n * square - 1.0, 0.0) / n)
    return Normalizer(log_sum - log(n), se, 1.0 / square, n, tail_shape(share))


def until(precision: float, draw: Callable[[int], Tensor], *, first: int = 16_384, most: int = 1 << 22) -> Normalizer:
    """Estimate log Z to a stated standard error, with as many rows of the base as that takes.

    Arguments:
        precision: The standard error wanted.
        draw: Gives log R(u) at so many new rows of the base.
        first: Rows to begin with.
        most: Rows at which the search ends; the error says whether the precision was reached.
    """
    if not precision > 0.0:
        message = f"precision must be positive, got {precision!r}"
        raise ValueError(message)
    parts = [draw(min(first, most)).detach().to(torch.float64)]
    found = normalise(parts[0])
    while (found.se > precision or not found.trusted) and found.n < most:
        needed = found.n * (found.se / precision) ** 2 if isfinite(found.se) else inf
        total = min(most, 8 * found.n, max(int(1.1 * needed) if isfinite(needed) else most, 2 * found.n))
        parts.append(draw(total - found.n).detach().to(torch.float64))
        found = normalise(torch.cat(parts))
    return found


def tail_shape(share: Tensor) -> float:
    """The shape of a generalised Pareto law for the largest weights; −∞ where they are too few, or all alike.

    By Zhang & Stephens's (2009) posterior mean over a grid of scales, on the 3·√n largest, as in Pareto-smoothed
    importance sampling.
    """
    count = min(len(share) // 5, int(3.0 * sqrt(len(share))))
    if count < _FEWEST_TAIL:
        return -inf
    largest = torch.topk(share, count + 1).values.flip(0)
    excess = largest[1:] - largest[0]
    quartile = excess[count // 4].item()
    if not quartile > 1e-9 * largest[-1].item():
        return -inf
    grid = torch.arange(1, 31 + int(sqrt(count)), dtype=torch.float64)
    theta = 1.0 / excess[-1] + (1.0 - torch.sqrt(len(grid) / (grid - 0.5))) / (3.0 * quartile)
    shape = torch.log1p(-theta.unsqueeze(1) * excess).mean(dim=1)
    likelihood = count * (torch.log(-theta / shape) - shape - 1.0)
    weight = torch.softmax(likelihood.nan_to_num(nan=-inf), dim=0)
    best = (weight * theta).sum()
    return torch.log1p(-best * excess).mean().item()
