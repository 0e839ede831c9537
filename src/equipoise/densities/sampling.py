"""Rows of a density that is known up to its normaliser, from rows of a base.

    rejection                keep a row of the base with probability w/W, where weights w = R(u) have a known bound W
    importance resampling    draw a pool from the base, keep rows with probability ∝ w
    MALA                     then move each along x' = x + ε²/2·∇log p + ε·noise, accepted by Metropolis and Hastings

Rejection is exact, and taken where it keeps rows often enough. Resampling is right where the pool's weights are even.
Where few rows carry them, a row would be drawn again and again; there each is moved by a Markov chain whose stationary
density is the model's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf
from typing import Any, Protocol, Self

import torch
from torch import Generator, Tensor

from equipoise.normalizer import Normalizer

_POOL, _LEAST_POOL, _MOST_POOL = 8, 16_384, 1_048_576
_POOR = 0.05  # effective share of the pool below which rows are moved
_LEAST_KEPT = 0.05  # of the base's rows, for rejection to be worth its draws
_MOVES = 60
_AIM = 0.57  # acceptance at which MALA moves fastest


class Weighted(Protocol):
    """A density over a base."""

    @property
    def base(self) -> Any:  # noqa: ANN401
        """Where proposals come from."""

    @property
    def normalizer(self) -> Normalizer:
        """What is known of the weights."""

    @property
    def log_bound(self) -> float:
        """What no log weight exceeds; infinite where nothing is known."""

    def log_weight(self, x: Tensor) -> Tensor:
        """Log R(u) at rows."""

    def differentiable_log_prob(self, x: Tensor) -> Tensor:
        """The log density of rows, as torch can differentiate it."""


@dataclass(frozen=True)
class Quality:
    """How rows are drawn.

    Arguments:
        method: In words.
        effective: The share of the base's rows that carry the weight, 1 where the base is the density.
        kept: The share of the base's rows that rejection keeps; 0 where it is not used.
    """

    method: str
    effective: float
    kept: float = 0.0

    @classmethod
    def of(cls, normalizer: Normalizer, log_bound: float = inf) -> Self:
        """What the weights of the normaliser, and their bound where they have one, say."""
        effective = normalizer.ess / normalizer.n if normalizer.n else 1.0
        kept = exp(min(normalizer.log_z - log_bound, 0.0)) if normalizer.n and normalizer.trusted else 0.0
        if kept >= _LEAST_KEPT:
            return cls("rejection sampling", effective, kept)
        poor = effective < _POOR
        return cls("importance resampling, moved by MALA" if poor else "importance resampling", effective)


def draw(density: Weighted, n: int, generator: Generator) -> tuple[Tensor, Quality]:
    """Draw n rows in float64, and say how."""
    quality = Quality.of(density.normalizer, density.log_bound)
    if quality.kept:
        return _kept(density, n, quality.kept, generator), quality
    wanted = max(_LEAST_POOL, int(_POOL * n / max(quality.effective, 1e-6)))
    rows = _resampled(density, n, min(wanted, max(_MOST_POOL, _POOL * n)), generator)
    if quality.effective < _POOR:
        rows = moved(density, rows, generator)
    return rows, quality


def _kept(density: Weighted, n: int, share: float, generator: Generator) -> Tensor:
    """N rows of the base, each kept with probability w/W."""
    parts: list[Tensor] = []
    while (missing := n - sum(map(len, parts))) > 0:
        pool = min(int(1.1 * missing / share) + 16, _MOST_POOL)
        rows = density.base.sample(pool, generator=generator, dtype=torch.float64)
        chance = torch.rand(pool, generator=generator, dtype=torch.float64)
        odds = density.log_weight(rows).double() - density.log_bound
        parts.append(rows[torch.log(chance) < odds][:missing])
    return torch.cat(parts)


def _resampled(density: Weighted, n: int, pool: int, generator: Generator) -> Tensor:
    """N rows out of a pool, systematically: a row comes as often as its weight says, to within one."""
    rows = density.base.sample(pool, generator=generator, dtype=torch.float64)
    share = torch.softmax(density.log_weight(rows).double(), dim=0).cumsum(dim=0)
    points = (torch.arange(n, dtype=torch.float64) + torch.rand((), generator=generator, dtype=torch.float64)) / n
    index = torch.searchsorted(share, points * share[-1]).clamp(max=pool - 1)
    drawn: Tensor = rows[index]
    return drawn[torch.randperm(n, generator=generator)]


def moved(density: Weighted, rows: Tensor, generator: Generator, moves: int = _MOVES) -> Tensor:
    """Move every row by a Markov chain of the density: Langevin proposals, accepted by Metropolis and Hastings."""
    scale = rows.std(dim=0).clamp(min=1e-9)
    step, x = 0.5 / rows.shape[1] ** (1.0 / 6.0), rows
    here, slope = _with_slope(density, x)
    for move in range(moves):
        noise = torch.randn(x.shape, generator=generator, dtype=torch.float64)
        mean = x + 0.5 * (step * scale) ** 2 * slope
        y = mean + step * scale * noise
        there, back = _with_slope(density, y)
        returned = (x - y - 0.5 * (step * scale) ** 2 * back) / (step * scale)
        log_odds = there - here - 0.5 * (returned**2).sum(dim=1) + 0.5 * (noise**2).sum(dim=1)
        chance = torch.rand(len(x), generator=generator, dtype=torch.float64)
        accepted = (torch.log(chance) < log_odds) & torch.isfinite(there)
        x = torch.where(accepted.unsqueeze(1), y, x)
        here, slope = torch.where(accepted, there, here), torch.where(accepted.unsqueeze(1), back, slope)
        if move < moves // 2:  # a step that still adapts is no chain yet
            step *= float(torch.exp(0.4 * (accepted.double().mean() - _AIM)))
    return x


def _with_slope(density: Any, x: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ANN401
    """Log p and its gradient at rows; any gradient gives the right density, a good one gives it sooner."""
    with torch.enable_grad():
        rows = x.detach().requires_grad_()
        log_prob = density.differentiable_log_prob(rows)
        (slope,) = torch.autograd.grad(log_prob.sum(), rows, allow_unused=True)
    slope = torch.zeros_like(x) if slope is None else torch.nan_to_num(slope, 0.0, 0.0, 0.0)
    return log_prob.detach(), slope.clamp(-1e3, 1e3)
