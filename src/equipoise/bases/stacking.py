"""Stacking: the mixture of normalised densities that predicts held-out rows best, and as few of them as do as well.

    maximise Σ_i v_i·log Σ_j w_j·p_j(x_i)   over weights w ≥ 0, Σ w = 1        (concave; EM climbs it)

Its only input is log densities at held-out rows, whatever the candidates are. A mixture covers one candidate's blunders
with another's caution, which choosing one cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import torch
from torch import Tensor

_MOST_STEPS = 2000
_TOLERANCE = 1e-9  # nats a row gains in a step


@dataclass(frozen=True)
class Stack:
    """Weights over candidates.

    Arguments:
        weights: One per candidate, (m,); zero where a candidate is not in the stack.
        score: The mean held-out log density of the mixture; −∞ where a row lies outside of all candidates.
        se: Its standard error.
    """

    weights: Tensor
    score: float
    se: float

    @property
    def members(self) -> list[int]:
        """The candidates in the stack, the heaviest first."""
        order = torch.argsort(self.weights, descending=True)
        return [int(i) for i in order if self.weights[i] > 0]


def stack_weights(log_probs: Tensor, sample_weight: Tensor | None = None) -> Stack:
    """The best weights for candidates with log densities (m, n) at n held-out rows.

    Rows outside of every candidate say nothing about the weights; they make the score −∞.
    """
    table, share = _checked(log_probs, sample_weight)
    return _stack(table, share, list(range(len(table))))


def prune(
    log_probs: Tensor, sample_weight: Tensor | None = None, *, standard_errors: float = 1.0, most: int | None = None
) -> Stack:
    """A stack of few: the smallest that scores within some standard errors of the stack of all.

    The standard error is that of the paired difference, row by row. Candidates join one at a time, the one that gains
    most first. Of single candidates as good as the stack the first in the order given is taken, so give the simplest
    first.

    Arguments:
        log_probs: (m, n), candidates by held-out rows.
        sample_weight: Of the rows.
        standard_errors: How many of them may be lost; 0 keeps what the best weights keep.
        most: The largest number of candidates.
    """
    table, share = _checked(log_probs, sample_weight)
    everyone = list(range(len(table)))
    whole = _mixed(table, _stack(table, share, everyone).weights)
    singles = [i for i in everyone if as_good(whole, table[i], share, standard_errors)]
    if singles:
        return _stack(table, share, singles[:1])
    chosen: list[int] = []
    while len(chosen) < min(len(table), most or len(table)):
        rest = [i for i in everyone if i not in chosen]
        tried = [_stack(table, share, [*chosen, i]) for i in rest]
        best = max(range(len(rest)), key=lambda k: _mean(_mixed(table, tried[k].weights), share))
        chosen.append(rest[best])
        if as_good(whole, _mixed(table, tried[best].weights), share, standard_errors):
            break
    return _stack(table, share, chosen)


def weighted_mean(values: Tensor, weight: Tensor | None = None) -> tuple[float, float]:
    """The mean of values (n,) and its standard error √(n/(n − 1)·Σ share²·(value − mean)²); (−∞, ∞) if one is −∞."""
    if not bool(torch.isfinite(values).all()):
        return -inf, inf
    wide, n = values.detach().to(torch.float64), len(values)
    share = torch.full_like(wide, 1.0 / n) if weight is None else weight.to(wide) / weight.sum()
    mean = (share * wide).sum()
    return mean.item(), sqrt(n / max(n - 1, 1) * (share**2 * (wide - mean) ** 2).sum().item())


def as_good(whole: Tensor, part: Tensor, weight: Tensor, standard_errors: float = 1.0) -> bool:
    """Whether log densities ``part`` lose no more than some standard errors, row by row, to those of the ``whole``."""
    seen = torch.isfinite(whole)
    loss, se = weighted_mean(whole[seen] - part[seen], weight[seen])
    return loss <= standard_errors * se + 1e-6 if se < inf else False


def _checked(log_probs: Tensor, sample_weight: Tensor | None) -> tuple[Tensor, Tensor]:
    table = log_probs.detach().to(torch.float64)
    if table.dim() != 2 or 0 in table.shape:
        message = f"log_probs must be (candidates, rows), at least one of each; got {tuple(log_probs.shape)}"
        raise ValueError(message)
    unusable = torch.nonzero((torch.isnan(table) | torch.isposinf(table)).any(dim=1)).flatten().tolist()
    if unusable:
        message = f"candidates {unusable} have log densities that are NaN or +infinity"
        raise ValueError(message)
    weight = torch.ones(table.shape[1]) if sample_weight is None else sample_weight
    if weight.shape != (table.shape[1],):
        message = f"sample_weight must hold one number per row: expected ({table.shape[1]},), got {tuple(weight.shape)}"
        raise ValueError(message)
    return table, weight.to(table) / weight.sum()


def _stack(table: Tensor, share: Tensor, members: Sequence[int]) -> Stack:
    weights = table.new_zeros(len(table))
    weights[list(members)] = _climb(table[list(members)], share)
    return Stack(weights, *weighted_mean(_mixed(table, weights), share))


def _climb(table: Tensor, share: Tensor) -> Tensor:
    """EM: every row is shared out by responsibility, and the shares become the weights."""
    inside = torch.isfinite(table).any(dim=0)
    weights = table.new_full((len(table),), 1.0 / len(table))
    if len(table) == 1 or not bool(inside.any()):
        return weights
    top = table[:, inside].amax(dim=0)
    density, share = torch.exp(table[:, inside] - top), share[inside] / share[inside].sum()
    before = -inf
    for _ in range(_MOST_STEPS):
        mixed = weights @ density
        score = (share @ torch.log(mixed)).item()
        if score - before < _TOLERANCE:
            break
        before, weights = score, weights * (density @ (share / mixed))
    kept = torch.where(weights > 1e-6, weights, 0.0)
    return kept / kept.sum()


def _mixed(table: Tensor, weights: Tensor) -> Tensor:
    """Log Σ_j w_j·p_j at every row."""
    kept = weights > 0
    return torch.logsumexp(table[kept] + torch.log(weights[kept]).unsqueeze(1), dim=0)


def _mean(values: Tensor, share: Tensor) -> float:
    """The mean over rows that are inside, those outside counting as a loss beyond all others."""
    return (share * values.clamp(min=-1e6)).sum().item()
