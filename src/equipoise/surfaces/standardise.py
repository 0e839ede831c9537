"""A surface over standardised columns (line 5282).

    u(x) = surface((x − mean) / scale)

The shift and the scale belong to the surface, so that rows stay in the user's units everywhere else.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from equipoise.interval import Interval
from equipoise.surfaces.blueprint import PART, saved_as
from equipoise.surfaces.field import COUNT
from equipoise.surfaces.in_range import heights_of
from equipoise.surfaces.rows import check_rows


@saved_as("standardise", surface=PART, features=COUNT)
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
        fits = self.mean.shape == self.scale.shape and bool(torch.isfinite(self.mean).all())
        if not fits or not bool(((self.scale > 0) & torch.isfinite(self.scale)).all()):
            message = "mean and scale need one finite number per column, and every scale must be positive"
            raise ValueError(message)

    @classmethod
    def to_rows(cls, surface: nn.Module, rows: Tensor) -> Standardise:
        """Standardise by the mean and standard deviation of rows (n, d), taken in float64."""
        wide = rows.detach().double()
        if rows.dim() != 2 or len(rows) == 0 or not bool(torch.isfinite(wide).all()):
            message = f"rows must be finite numbers (n, d) with n >= 1, got {tuple(rows.shape)}"
            raise ValueError(message)
        constant = torch.nonzero(wide.amin(dim=0) == wide.amax(dim=0)).flatten().tolist()
        if constant:
            message = f"columns {constant} hold one value only: there is no scale to divide by, leave them out"
            raise ValueError(message)
        return cls(surface, wide.mean(dim=0), wide.std(dim=0, correction=0))

    @property
    def spec(self) -> dict[str, object]:
        """The surface inside, and the number of columns."""
        return {"surface": self.surface, "features": self.mean.numel()}

    @classmethod
    def blank(cls, surface: nn.Module, features: int) -> Standardise:
        """Units that change nothing."""
        return cls(surface, torch.zeros(features), torch.ones(features))

    @staticmethod
    def numbers(*, features: int) -> int:
        """A mean and a scale per column."""
        return 2 * features

    @property
    def heights(self) -> Interval:
        """The heights that the wrapped surface can take."""
        return heights_of(self.surface)

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        check_rows(x, self.mean.numel(), self.mean)
        u: Tensor = self.surface((x - self.mean) / self.scale)
        return u
