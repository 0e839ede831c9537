"""A bridge between densities that hardly overlap: classes of rows on the way from one to the other, told apart at once.

    x_k = a_k·x_num + √(1 − a_k²)·x_den,   a_k = k/m,  k = 0 … m        log r(x) = u_m(x) − u_0(x)

Neighbours overlap, so that every step of the log ratio can be learned from rows of both of its classes; the softmax
instance learns all steps on surfaces that share their units.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn

from equipoise.ratios.sides import Side, Sides

_CHUNK = 16_384


def waypoints(sides: Sides, steps: int, generator: Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of all classes, their labels 0 (denominator) … ``steps`` (numerator), and their weights within classes."""
    classes: list[Side] = [sides.den]
    count = max(len(sides.num), len(sides.den))
    for k in range(1, steps):
        a = k / steps
        num, den = (_drawn(side, count, generator) for side in sides.both)
        classes.append(Side(a * num + (1.0 - a * a) ** 0.5 * den))
    classes.append(sides.num)
    labels = torch.cat([torch.full((len(rows),), k) for k, rows in enumerate(classes)])
    return torch.cat([side.rows for side in classes]), labels, torch.cat([side.share for side in classes])


def _drawn(side: Side, count: int, generator: Generator) -> Tensor:
    index = torch.multinomial(side.share, count, replacement=True, generator=generator)
    return side.rows[index]


@dataclass(frozen=True)
class Bridge:
    """The log ratio of the last class to the first.

    Arguments:
        surface: One output per class, in evaluation mode.
    """

    surface: nn.Module

    def log_ratio(self, x: Tensor) -> Tensor:
        """Log ratios of rows (n, d)."""
        like = next(self.surface.parameters(), x)
        with torch.no_grad():
            heights = torch.cat([self.surface(part.to(like)).double() for part in x.split(_CHUNK)])
        return heights[:, -1] - heights[:, 0]
