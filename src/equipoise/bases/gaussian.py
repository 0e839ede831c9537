"""The Gaussian density with a full, shrunk covariance.

    Σ = (1 − λ)·S + λ·diag(S),   λ = d/(n + d) unless given, n the number of different rows

The shrinkage keeps Σ regular where columns outnumber rows or are nearly dependent. It counts different rows, so that
weight two and a row twice are the same.
"""

from __future__ import annotations

from math import log, pi
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from equipoise.bases.base import Base, refuse_constant, squarable
from equipoise.bases.fitted import are_factors


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
        rows, share = rows[share > 0], share[share > 0]
        refuse_constant(rows.amax(dim=0) > rows.amin(dim=0))
        self.mean_ = share @ rows
        centred = rows - self.mean_
        covariance = centred.T @ (share.unsqueeze(1) * centred)
        self.factor_ = factor(covariance, _shrinkage(rows) if self.shrinkage is None else self.shrinkage)

    def _is_density(self) -> bool:
        return self.mean_.dim() == 1 and are_factors(self.factor_, self.mean_)

    def _sample(self, n: int, generator: Generator | None, dtype: torch.dtype) -> Tensor:
        noise = torch.randn(n, self.features, generator=generator, dtype=dtype)
        return torch.addmm(self.mean_.to(dtype), noise, self.factor_.T.to(dtype))

    def _log_prob(self, x: Tensor) -> Tensor:
        return gaussian_log_prob(x, self.mean_.to(x), self.factor_.to(x))


def _shrinkage(rows: Tensor) -> float:
    """d/(n + d) with n the number of rows that differ, told apart by one generic combination of their columns."""
    d = rows.shape[1]
    generic = torch.sqrt(torch.arange(1.0, d + 1.0, dtype=rows.dtype))
    return d / (len(torch.unique((rows * generic).sum(dim=1))) + d)


def factor(covariance: Tensor, shrinkage: float) -> Tensor:
    """The lower Cholesky factor of a shrunk covariance (d, d)."""
    variance = torch.diagonal(covariance)
    refuse_constant(variance > 0)
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
    white = torch.linalg.solve_triangular(lower, (squarable(x) - mean).T, upper=False)
    normaliser = torch.log(torch.diagonal(lower)).sum() + 0.5 * len(mean) * log(2.0 * pi)
    log_prob: Tensor = -0.5 * (white**2).sum(dim=0) - normaliser
    return log_prob
