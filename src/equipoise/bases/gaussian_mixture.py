"""A mixture of Gaussians, its size chosen on held-out rows, or by BIC where rows are few.

    p(x) = Σ_k w_k·N(x; μ_k, Σ_k)

Sizes are tried from one upwards, each on the same rows, until more components have stopped to help.
"""

from __future__ import annotations

from math import inf, log, pi
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from equipoise.bases.base import Base, refuse_constant, row_count, squarable
from equipoise.bases.em import Components, Quadratic, climb, start
from equipoise.bases.fitted import are_factors, are_shares
from equipoise.bases.gaussian import factor

_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
_MOST_NUMBERS = 9_600  # features times components: what bounds the time of a step
_CHUNK = 1024
_FEW_ROWS = 500  # below, all rows fit and BIC judges
_SEARCH_ROWS = 10_000
_TINY_ROWS = 200
_STARTS, _FIRST_STEPS = 3, 5
_PATIENCE = 1  # sizes without a gain


class GaussianMixture(Base):
    """A mixture of full-covariance Gaussians.

    Arguments:
        components: How many; chosen where it is None.
        seed: Seeds the initialisation of EM.
    """

    fitted: ClassVar[tuple[str, ...]] = ("means_", "factors_", "shares_")

    def __init__(self, components: int | None = None, seed: int = 0) -> None:
        if components is not None and components < 1:
            message = f"components must be at least 1, got {components!r}"
            raise ValueError(message)
        self.components = components
        self.seed = seed

    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {"components": self.components, "seed": self.seed}

    def _fit(self, rows: Tensor, share: Tensor) -> None:
        rows, share = rows[share > 0], share[share > 0]
        refuse_constant(rows.amax(dim=0) > rows.amin(dim=0))
        shift = share @ rows
        scale = torch.sqrt(share @ (rows - shift) ** 2)
        standard = ((rows - shift) / scale).to(torch.float64 if len(rows) <= _FEW_ROWS else torch.float32)
        whole = Quadratic(standard, row_count(share) * share)
        generator = torch.Generator().manual_seed(self.seed)
        model = _fitted(whole, self.components, generator) if self.components else _chosen(whole, generator)
        self.means_ = model.means * scale + shift
        self.factors_ = torch.stack([factor(c, 0.0) for c in model.covariances * torch.outer(scale, scale)])
        self.shares_ = model.shares

    def _is_density(self) -> bool:
        fits = self.means_.dim() == 2 and self.shares_.shape == self.means_.shape[:1]
        return fits and are_shares(self.shares_) and are_factors(self.factors_, self.means_)

    def _sample(self, n: int, generator: Generator | None, dtype: torch.dtype) -> Tensor:
        which = torch.multinomial(self.shares_, n, replacement=True, generator=generator)
        rows = torch.randn(n, self.features, generator=generator, dtype=dtype)
        means, factors = self.means_.to(dtype), self.factors_.to(dtype)
        order = torch.argsort(which)  # one product a component: a factor for every row would take d times the memory
        counts = torch.bincount(which, minlength=len(means)).tolist()
        parts = zip(means, factors, rows[order].split(counts), strict=True)
        rows[order] = torch.cat([torch.addmm(mean, part, lower.T) for mean, lower, part in parts])
        return rows

    def _log_prob(self, x: Tensor) -> Tensor:
        k, d = self.means_.shape
        inverse = torch.linalg.solve_triangular(self.factors_, torch.eye(d, dtype=torch.float64), upper=False)
        height = torch.log(self.shares_) + torch.log(torch.diagonal(inverse, dim1=1, dim2=2)).sum(dim=1)
        offset = (inverse @ self.means_.unsqueeze(2)).flatten().to(x)
        white, height = inverse.reshape(k * d, d).T.to(x), (height - 0.5 * d * log(2.0 * pi)).to(x)
        parts = [
            torch.logsumexp(height - 0.5 * (part @ white - offset).square_().reshape(-1, k, d).sum(dim=2), dim=1)
            for part in squarable(x).split(_CHUNK)
        ]
        return torch.cat(parts)


def _fitted(rows: Quadratic, components: int, generator: Generator) -> Components:
    return climb(rows, _searched(_some(rows, generator), components, generator), 30)


def _searched(rows: Quadratic, components: int, generator: Generator) -> Components:
    """The best of a few starts, climbed to its end."""
    starts = 1 if components == 1 or len(rows.rows) < _TINY_ROWS else _STARTS
    begun = [climb(rows, start(rows, components, generator), _FIRST_STEPS) for _ in range(starts)]
    best = begun[0] if starts == 1 else max(begun, key=rows.score)
    return climb(rows, best, 100)


def _chosen(rows: Quadratic, generator: Generator) -> Components:
    """The size that scores best, fitted to all rows."""
    few = len(rows.rows) < _FEW_ROWS
    search, judge = (rows, rows) if few else _split(rows, generator)
    numbers = rows.rows.shape[1] * (rows.rows.shape[1] + 3) // 2 + 1
    room = min(_MOST_NUMBERS // numbers, int(rows.total) // (2 + rows.rows.shape[1]))
    room = min(room, 4) if len(rows.rows) < _TINY_ROWS else room
    best, score, since = _searched(search, 1, generator), -inf, 0
    for size in _SIZES:
        if size > max(room, 1) or since > _PATIENCE:
            break
        model = _searched(search, size, generator)
        reached = judge.score(model) - (0.5 * model.parameters * log(rows.total) / rows.total if few else 0.0)
        best, score, since = (model, reached, 0) if reached > score else (best, score, since + 1)
    return climb(rows, best, 0 if few else 30)


def _split(rows: Quadratic, generator: Generator) -> tuple[Quadratic, Quadratic]:
    """Rows to search on, at most a number that bounds the time, and a fifth of them that judges."""
    order = torch.randperm(len(rows.rows), generator=generator)[: _SEARCH_ROWS * 5 // 4]
    cut = len(order) // 5
    return Quadratic(*_take(rows, order[cut:])), Quadratic(*_take(rows, order[:cut]))


def _some(rows: Quadratic, generator: Generator) -> Quadratic:
    if len(rows.rows) <= _SEARCH_ROWS:
        return rows
    return Quadratic(*_take(rows, torch.randperm(len(rows.rows), generator=generator)[:_SEARCH_ROWS]))


def _take(rows: Quadratic, index: Tensor) -> tuple[Tensor, Tensor]:
    return rows.rows[index], rows.weight[index].to(torch.float64)
