"""What fitted tensors must be to make a density: a file may hold anything.

shares: w ≥ 0, Σ w = 1        a Gaussian's factor: lower triangular, its diagonal positive
"""

from __future__ import annotations

import torch
from torch import Tensor

_ROUNDING = 1e-6


def are_finite(*tensors: Tensor) -> bool:
    """Whether all numbers are finite."""
    return all(bool(torch.isfinite(tensor).all()) for tensor in tensors)


def are_shares(values: Tensor) -> bool:
    """Whether numbers, of any shape, are shares of one."""
    return bool((values >= 0).all()) and abs(values.sum().item() - 1.0) < _ROUNDING


def is_share(value: Tensor) -> bool:
    """Whether one number lies strictly between 0 and 1."""
    return value.shape == () and 0.0 < value.item() < 1.0


def are_factors(factors: Tensor, means: Tensor) -> bool:
    """Whether (..., d, d) are covariances' lower Cholesky factors, one for each of the means (..., d)."""
    d = means.shape[-1]
    fits = means.dim() >= 1 and factors.shape == (*means.shape, d)
    triangular = fits and torch.equal(factors, torch.tril(factors))
    return triangular and bool((torch.diagonal(factors, dim1=-2, dim2=-1) > 0).all())
