"""A surface over a start: it holds what the start leaves over, and is pushed at the height that both make.

    log r(x) = s(x) + v(x),    u(x) = T(e^(s + v)),     s the start, v the surface

Through T every instance is pushed in its own heights, and whatever v is, u lies in K and the ratio is positive.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from equipoise.instance import Instance
from equipoise.ratios.starts import LogRatio

FARTHEST = 80.0  # nats; e^80 is a number in single precision
_CHUNK = 16_384


def height_at(instance: Instance, log_ratio: Tensor) -> Tensor:
    """The height that stands for a log ratio: the inverse of ``instance.log_ratio``."""
    u: Tensor = instance.target(torch.exp(log_ratio.clamp(-FARTHEST, FARTHEST)))
    return u


class Beside(nn.Module):
    """A surface on rows that carry their start: (n, d + 1), the start's log ratio in the last column.

    Arguments:
        surface: v, from rows (n, d) to (n,).
        instance: Whose heights come out.
    """

    def __init__(self, surface: nn.Module, instance: Instance) -> None:
        super().__init__()
        self.surface, self.instance = surface, instance
        self.heights = instance.heights

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows."""
        return height_at(self.instance, x[:, -1] + self.surface(x[:, :-1]))


@dataclass(frozen=True)
class Over:
    """A start and the surface pushed over it.

    Arguments:
        start: Where the surface starts from.
        surface: What it adds to the log ratio, in evaluation mode.
    """

    start: LogRatio
    surface: nn.Module

    def log_ratio(self, x: Tensor) -> Tensor:
        """Log ratios of rows (n, d)."""
        like = next(self.surface.parameters(), x)
        with torch.no_grad():
            added = torch.cat([self.surface(part.to(like)).double() for part in x.split(_CHUNK)])
        return self.start.log_ratio(x) + added
