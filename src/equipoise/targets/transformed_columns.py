"""Transformed Columns: Columns turned by a dense matrix, so that every column depends on every other (line 6468).

    x = A·y,   y ~ Columns,   log p(x) = log p_Columns(A⁻¹·x) − log |det A|

A is orthogonal to 7e-9: the covariance is isotropic, and all dependence is of higher order.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Generator, Tensor

from equipoise.targets.columns import Columns
from equipoise.targets.matrix import MATRIX
from equipoise.targets.target import Target


class TransformedColumns(Target):
    """Columns in 20 dimensions under the paper's matrix A."""

    smooth: ClassVar[bool] = False
    features = 20

    def __init__(self) -> None:
        self.columns = Columns(self.features)
        self.matrix = torch.tensor(MATRIX, dtype=torch.float64)
        self._inverse: Tensor = torch.linalg.inv(self.matrix)
        self._log_det: Tensor = torch.linalg.slogdet(self.matrix).logabsdet

    def unmix(self, x: Tensor) -> Tensor:
        """The independent columns y = A⁻¹·x behind rows x."""
        return x @ self._inverse.T.to(x)

    def _sample(self, n: int, generator: Generator | None) -> Tensor:
        return self.columns.sample(n, generator, torch.float64) @ self.matrix.T

    def _log_prob(self, x: Tensor) -> Tensor:
        return self.columns.log_prob(self.unmix(x)) - self._log_det
