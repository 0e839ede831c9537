"""The Gaussian density with a full, shrunk covariance.

    Σ = (1 − λ)·S + λ·diag(S),   λ = d/(n + d) unless given

The shrinkage keeps Σ regular where columns outnumber rows or are nearly dependent.
"""

from __future__ import annotations

from math import log, pi
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from equipoise.bases.base import Base


class Gaussian(Base):
    """A Gaussian density.

    Arguments:
        shrinkage: λ, the weight of the diagonal: 0 keeps the sample covariance, 1 makes the columns independent.
    """

    fitted: ClassVar[tuple[str, ...]] = ("mean_", "factor_")

    def __init__(self, shrinkage: float | None = None) -> None:
        if shrinkage is not None and not 0.0 <= shrinkage <= 1.0:
            message = f"shrinkage must be between 0 and 1, got {shrinkage!r}"
            raise ValueError(message)
        self.shrinkage = shrinkage

    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {"shrinkage": self.shrinkage}

    def _fit(self, rows: Tensor, share: Tensor) -> None:
        n, d = rows.shape
        self.mean_ = share @ rows
        centred = rows - self.mean_
        covariance = centred.T @ (share.unsqueeze(1) * centred)
        self.factor_ = factor(covariance, d / (n + d) if self.shrinkage is None else self.shrinkage)

    def _sample(self, n: int, generator: Generator | None) -> Tensor:
        noise = torch.randn(n, self.features, generator=generator, dtype=torch.float64)
        return self.mean_ + noise @ self.factor_.T

    def _log_prob(self, x: Tensor) -> Tensor:
        return gaussian_log_prob(x, self.mean_.to(x), self.factor_.to(x))


def factor(covariance: Tensor, shrinkage: float) -> Tensor:
    """The lower Cholesky factor of a shrunk covariance (d, d)."""
    variance = torch.diagonal(covariance)
    if not bool((variance > 0).all()):
        constant = torch.nonzero(~(variance > 0)).flatten().tolist()
        message = f"columns {constant} are constant and have no density: drop them"
        raise ValueError(message)
    shrunk = (1.0 - shrinkage) * covariance + shrinkage * torch.diag(variance)
    scale = torch.sqrt(variance)
    correlation = shrunk / torch.outer(scale, scale)
    lower, info = torch.linalg.cholesky_ex(correlation)
    if info.item() != 0:  # columns that determine each other: a little independent noise makes them a density
        lower = torch.linalg.cholesky(0.999999 * correlation + 1e-6 * torch.eye(len(scale), dtype=scale.dtype))
    result: Tensor = scale.unsqueeze(1) * lower
    return result


def gaussian_log_prob(x: Tensor, mean: Tensor, lower: Tensor) -> Tensor:
    """The log density of rows (n, d) under a mean (d,) and a Cholesky factor (d, d)."""
    white = torch.linalg.solve_triangular(lower, (x - mean).T, upper=False)
    normaliser = torch.log(torch.diagonal(lower)).sum() + 0.5 * len(mean) * log(2.0 * pi)
    log_prob: Tensor = -0.5 * (white**2).sum(dim=0) - normaliser
    return log_prob
