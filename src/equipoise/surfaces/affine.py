"""An affine surface: what logistic regression makes of a log ratio, or of several classes' log probabilities at once.

u(x) = x·W + b
"""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor, nn

from equipoise.surfaces.blueprint import saved_as
from equipoise.surfaces.field import COUNT
from equipoise.surfaces.rows import check_rows


@saved_as("affine", features=COUNT, outputs=COUNT)
class Affine(nn.Module):
    """A plane per output, flat at the start.

    Arguments:
        features: Columns of a row.
        outputs: Heights per row; one gives (n,), more give (n, outputs).
    """

    def __init__(self, features: int, outputs: int = 1) -> None:
        super().__init__()
        if min(features, outputs) < 1:
            message = f"features and outputs must be at least 1, got {features}, {outputs}"
            raise ValueError(message)
        self.features = features
        self.weights = nn.Parameter(torch.zeros(features, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    @classmethod
    def of(cls, weights: Tensor, bias: Tensor) -> Self:
        """The surface of given numbers, (features, outputs) and (outputs,), in their precision."""
        surface = cls(*weights.shape).to(weights.dtype)
        with torch.no_grad():
            surface.weights.copy_(weights)
            surface.bias.copy_(bias)
        return surface

    @property
    def spec(self) -> dict[str, object]:
        """The sizes."""
        return {"features": self.features, "outputs": len(self.bias)}

    @staticmethod
    def numbers(*, features: int, outputs: int) -> int:
        """A slope per column and output, and a constant per output."""
        return (features + 1) * outputs

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        check_rows(x, self.features, self.weights)
        u = torch.addmm(self.bias, x, self.weights)
        return u.squeeze(1) if u.shape[1] == 1 else u
