"""A density in other units.

    x = shift + scale·y,  y ~ density        log p(x) = log p_y((x − shift)/scale) − Σ_i log scale_i

Estimators fit in standardised units; this is how their base is handed back in the user's, and the user's in theirs.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Generator, Tensor

from equipoise.sources.known import Known


class Rescaled:
    """The density of shift + scale·y.

    Arguments:
        density: The density of y: a base, a ``torch.distributions.Distribution``, anything with sample and log_prob.
        shift: One number per column.
        scale: One positive number per column.
    """

    def __init__(self, density: Any, shift: Tensor, scale: Tensor) -> None:  # noqa: ANN401
        self.density = density
        self.shift = shift.to(torch.float64)
        self.scale = scale.to(torch.float64)
        self._source = Known(density)
        self.features = self._source.features
        if self.shift.shape != (self.features,) or self.scale.shape != (self.features,):
            message = f"the base has {self.features} columns and the rows {self.shift.numel()}: they must agree"
            raise ValueError(message)

    @property
    def log_jacobian(self) -> float:
        """Σ log scale: what is lost in density when units grow."""
        return torch.log(self.scale).sum().item()

    def sample(self, n: int, generator: Generator | None = None, dtype: torch.dtype | None = None) -> Tensor:
        """Draw n rows."""
        rows = torch.empty(n, self.features, dtype=torch.float64)
        self._source.draw(rows, generator or torch.Generator().manual_seed(torch.seed()))
        return (self.shift + self.scale * rows).to(dtype or torch.get_default_dtype())

    def log_prob(self, x: Any) -> Tensor:  # noqa: ANN401
        """The log density of rows (n, d)."""
        rows = x if isinstance(x, Tensor) else torch.as_tensor(x)
        inner = (rows.to(torch.float64) - self.shift) / self.scale
        log_prob = self._source.log_prob
        if log_prob is None:
            message = f"{type(self.density).__name__} has no log_prob"
            raise TypeError(message)
        return (log_prob(inner) - self.log_jacobian).to(rows.dtype)
