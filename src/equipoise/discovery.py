"""The interval K of a pair of magnitudes for which none was given, found from their ratio R.

K is the stretch around R = 1 on which both magnitudes have one sign and R is strictly monotone. Where several
stretches qualify (LDAR has one per period of the tangent), the one nearest to u = 0 is taken.
"""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor

from equipoise.conditions import Curve
from equipoise.interval import REALS, Interval

_FLOOR = 1e-150  # a magnitude that fades below this has underflowed; one that ends above it has ended


def find_interval(up: Curve, down: Curve) -> Interval:
    """K found from R; all of ℝ where no stretch of heights has a balance."""
    u = _line()
    good = _valid(up, down, u)
    log_ratio = _log_ratio(up, down, u)
    crossing = good[:-1] & good[1:] & (log_ratio[:-1] * log_ratio[1:] <= 0)
    if not bool(crossing.any()):
        return REALS
    start = torch.nonzero(crossing).flatten()
    nearest = int(start[torch.argmin(torch.abs(u[start]))])
    sign = torch.sign(up(u[nearest : nearest + 1])).item()
    rises = torch.cat([sign * torch.diff(log_ratio) > 0, torch.tensor([False])])
    last = _walk(good, rises, nearest, 1)
    first = _walk(good, torch.roll(rises, 1), nearest + 1, -1)
    low = _end(up, down, u, first, -1, sign)
    high = _end(up, down, u, last, 1, sign)
    return Interval(low, high) if low < high else REALS


def _line() -> Tensor:
    far: Tensor = torch.logspace(-9, 3, 1500, dtype=torch.float64)
    near = torch.linspace(-20.0, 20.0, 4001, dtype=torch.float64)
    u: Tensor = torch.unique(torch.cat([-far, near, far]))
    return u


def _valid(up: Curve, down: Curve, u: Tensor) -> Tensor:
    a, b = up(u), down(u)
    finite = torch.isfinite(a) & torch.isfinite(b)
    return finite & (torch.sign(a) * torch.sign(b) > 0)


def _log_ratio(up: Curve, down: Curve, u: Tensor) -> Tensor:
    return torch.log(torch.abs(down(u))) - torch.log(torch.abs(up(u)))


def _walk(good: Tensor, rises: Tensor, index: int, step: int) -> int:
    while 0 <= index + step < len(good) and bool(good[index + step]) and bool(rises[index]):
        index += step
    return index


def _end(up: Curve, down: Curve, u: Tensor, index: int, step: int, sign: float) -> float:
    """Bisect from the last good height of the walk towards the first bad one; infinite where numbers just run out."""
    if not 0 <= index + step < len(u):
        return step * inf
    inside, outside = u[index].item(), u[index + step].item()
    for _ in range(200):
        middle = torch.tensor([0.5 * (inside + outside)], dtype=torch.float64)
        ordered = (
            step * sign * (_log_ratio(up, down, middle) - _log_ratio(up, down, torch.tensor([inside]).double())) > 0
        )
        if bool(_valid(up, down, middle)) and bool(ordered):
            inside = middle.item()
        else:
            outside = middle.item()
    last = torch.tensor([inside], dtype=torch.float64)
    faded = min(abs(up(last).item()), abs(down(last).item())) < _FLOOR
    grown = max(abs(up(last).item()), abs(down(last).item())) > 1.0 / _FLOOR
    if abs(inside) > 30.0 and (faded or grown):
        return step * inf
    return 0.0 if abs(outside) < 1e-100 else outside
