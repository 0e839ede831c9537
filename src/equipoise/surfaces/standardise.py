"""A surface over standardised columns (line 5282).

    u(x) = surface((x − mean) / scale)

The shift and the scale belong to the surface, so that rows stay in the user's units everywhere else.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from equipoise.interval import Interval
from equipoise.surfaces.in_range import heights_of


class Standardise(nn.Module):
    """A surface that sees columns of mean 0 and standard deviation 1.

    Arguments:
        surface: The surface to wrap.
        mean: The columns' means, (d,).
        scale: The columns' standard deviations, (d,), all positive.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, surface: nn.Module, mean: Any, scale: Any) -> None:  # noqa: ANN401  # anything torch takes
        super().__init__()
        self.surface = surface
        self.register_buffer("mean", torch.as_tensor(mean, dtype=torch.get_default_dtype()).reshape(-1))
        self.register_buffer("scale", torch.as_tensor(scale, dtype=torch.get_default_dtype()).reshape(-1))
        if self.mean.shape != self.scale.shape or not bool((self.scale > 0).all()):
            message = "mean and scale need one number per column, and every scale must be positive"
            raise ValueError(message)

    @classmethod
    def to_rows(cls, surface: nn.Module, rows: Tensor) -> Standardise:
        """Standardise by the mean and standard deviation of rows (n, d)."""
        return cls(surface, rows.mean(dim=0), rows.std(dim=0, correction=0))

    @property
    def heights(self) -> Interval:
        """The heights that the wrapped surface can take."""
        return heights_of(self.surface)

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        u: Tensor = self.surface((x - self.mean) / self.scale)
        return u
