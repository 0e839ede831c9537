"""A quadratic surface: what two Gaussians, and logistic regression on products of columns, make of a log ratio.

u(x) = c + b·x + x·A·x,   A symmetric
"""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor, nn

from equipoise.surfaces.blueprint import saved_as
from equipoise.surfaces.field import COUNT
from equipoise.surfaces.rows import check_rows


@saved_as("quadratic", features=COUNT)
class Quadratic(nn.Module):
    """A polynomial of degree two over rows, flat at the start.

    Arguments:
        features: Columns of a row.
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        if features < 1:
            message = f"features must be at least 1, got {features}"
            raise ValueError(message)
        self.features = features
        self.constant = nn.Parameter(torch.zeros(()))
        self.linear = nn.Parameter(torch.zeros(features))
        self.matrix = nn.Parameter(torch.zeros(features, features))

    @classmethod
    def of(cls, constant: Tensor, linear: Tensor, matrix: Tensor) -> Self:
        """The surface of given numbers, in their precision."""
        surface = cls(len(linear)).to(linear.dtype)
        with torch.no_grad():
            surface.constant.copy_(constant)
            surface.linear.copy_(linear)
            surface.matrix.copy_(0.5 * (matrix + matrix.T))
        return surface

    @property
    def spec(self) -> dict[str, object]:
        """How many columns."""
        return {"features": self.features}

    @staticmethod
    def numbers(*, features: int) -> int:
        """A constant, a number per column, and one per pair of columns."""
        return 1 + features + features**2

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        check_rows(x, self.features, self.linear)
        u: Tensor = self.constant + x @ self.linear + ((x @ self.matrix) * x).sum(dim=1)
        return u
