"""The uniform density on a box: the paper's own down density (line 3851).

    log p(x) = −Σ_i log(high_i − low_i)   inside,   −∞   outside

A box drawn tightly around the data leaves fresh rows outside, so the fitted box has margins.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from equipoise.bases.base import Base, refuse_constant
from equipoise.bases.fitted import are_finite


class Uniform(Base):
    """A uniform density on a box.

    Arguments:
        low: The lower corner, (d,); fitted where it is None.
        high: The upper corner, (d,); fitted where it is None.
        margin: What is added to each side of the data's range, as a share of it.
    """

    fitted: ClassVar[tuple[str, ...]] = ("low_", "high_")

    def __init__(self, low: Any = None, high: Any = None, *, margin: float = 0.05) -> None:  # noqa: ANN401
        if not margin >= 0.0:
            message = f"margin must not be negative, got {margin!r}"
            raise ValueError(message)
        self.low, self.high, self.margin = low, high, margin
        if low is not None and high is not None:
            self._set(_corner(low), _corner(high))

    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments, but for a given box, which is state."""
        return {"margin": self.margin}

    def _set(self, low: Tensor, high: Tensor) -> None:
        if low.shape != high.shape or not bool((low < high).all()):
            message = "a box needs low < high in every column"
            raise ValueError(message)
        self.low_, self.high_ = low, high

    def _fit(self, rows: Tensor, share: Tensor) -> None:
        seen = rows[share > 0]
        lowest, highest = seen.amin(dim=0), seen.amax(dim=0)
        if self.low is None or self.high is None:
            refuse_constant(highest > lowest)
        room = self.margin * (highest - lowest)
        low = lowest - room if self.low is None else _corner(self.low).expand_as(lowest)
        high = highest + room if self.high is None else _corner(self.high).expand_as(highest)
        self._set(low.clone(), high.clone())

    def _is_density(self) -> bool:
        fits = self.low_.dim() == 1 and self.low_.shape == self.high_.shape
        return fits and are_finite(self.high_ - self.low_) and bool((self.low_ < self.high_).all())

    def _support(self) -> tuple[Tensor, Tensor]:
        return self.low_, self.high_

    def _sample(self, n: int, generator: Generator | None, dtype: torch.dtype) -> Tensor:
        out = torch.empty(n, self.features, dtype=dtype)
        self._draw(out, generator)
        return out

    def _draw(self, out: Tensor, generator: Generator | None) -> None:
        low, high = self.low_.to(out), self.high_.to(out)
        out.uniform_(generator=generator).mul_(high - low).add_(low)
        torch.minimum(out, high, out=out)  # low + (high − low) rounds above high now and then

    def _log_prob(self, x: Tensor) -> Tensor:
        low, high = self.low_.to(x), self.high_.to(x)
        inside = ((x >= low) & (x <= high)).all(dim=1)
        volume = torch.log(self.high_ - self.low_).sum().item()
        return x.new_full((len(x),), -volume).masked_fill(~inside, -torch.inf)


def _corner(values: Any) -> Tensor:  # noqa: ANN401
    return torch.as_tensor(values, dtype=torch.float64).reshape(-1)
