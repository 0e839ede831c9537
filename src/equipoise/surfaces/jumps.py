"""Where the density of a column jumps.

    contrast(e) = rows in a window right of e − rows in the window left of it
    jump(e)     = contrast(e) − ½ (contrast(e − w) + contrast(e + w)),   zero to first order where the density is smooth

Each jump is then placed between rows, where two constant densities explain the rows around it best.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import max_pool1d

_CELLS, _WINDOW, _ROWS_PER_CELL = 1024, 8, 32
_SURE = 6.0  # standard errors that a jump stands above chance
_STEEP = 0.25  # share of the rows around it that it moves at least: a factor of 1.7


def find(column: Tensor) -> tuple[Tensor, Tensor]:
    """Jumps of a column's density, the clearest first: their places, and how far off they may be.

    Arguments:
        column: Sorted numbers, (n,).
    """
    cells = min(_CELLS, len(column) // _ROWS_PER_CELL)
    low, high = float(column[0]), float(column[-1])
    if cells < 8 * _WINDOW:
        return column[:0], column[:0]
    score = _scores(torch.histc(column, cells, low, high))
    peak = max_pool1d(score[None], 2 * _WINDOW + 1, 1, _WINDOW)[0] == score
    order = torch.argsort(score, descending=True)
    clear: list[int] = []
    for edge in (order[(peak & (score > _SURE))[order]] + 2 * _WINDOW).tolist():
        if all(abs(edge - other) > _WINDOW for other in clear):  # an atom is as high all along its window
            clear.append(edge)
    cell = (high - low) / cells
    around = [_place(column, low + cell * edge, _WINDOW * cell) for edge in clear]
    places, errors = zip(*around, strict=True) if around else ((), ())
    return column.new_tensor(places), column.new_tensor(errors)


def _scores(counts: Tensor) -> Tensor:
    """How many standard errors each inner edge of cells stands above a smooth density, 2·window from either end."""
    below = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    window = below[_WINDOW:] - below[:-_WINDOW]  # rows in the window that starts at each edge
    a, b, c, d = (window[k * _WINDOW : len(window) - (3 - k) * _WINDOW] for k in range(4))  # around b | c
    jump = (c - b) - 0.5 * ((b - a) + (d - c))
    error = (2.25 * (b + c) + 0.25 * (a + d) + 1.0).sqrt()
    real = torch.minimum(jump.abs(), jump.sign() * (c - b)) > _STEEP * (b + c)  # not the echo of a jump a window away
    return torch.where(real, jump.abs() / error, 0.0)


def _place(column: Tensor, edge: float, reach: float) -> tuple[float, float]:
    """The row at which the density around an edge changes most likely, and the distance of rows on its dense side."""
    inside = column[(column >= edge - reach) & (column <= edge + reach)]
    n, start, end = len(inside), edge - reach, edge + reach
    left, right = inside - start, end - inside
    counts = torch.arange(n, dtype=column.dtype)
    likely = torch.stack([_likelihood(left, counts + own, right, n - counts - own) for own in (0, 1)])
    best = int(likely.max(dim=0).values.argmax())
    rate = max(best / float(left[best].clamp(min=1e-300)), (n - best) / float(right[best].clamp(min=1e-300)))
    return float(inside[best]), min(2.0 / rate, 0.1 * reach)


def _likelihood(left: Tensor, below: Tensor, right: Tensor, above: Tensor) -> Tensor:
    """Log-likelihood of two constant densities; not of ones that rest on a handful of rows."""
    value = torch.xlogy(below, below / left) + torch.xlogy(above, above / right)
    return torch.where((left > 0.05 * (left + right)) & (right > 0.05 * (left + right)), value, -torch.inf)
