"""The interval K of a pair of magnitudes for which none was given, found from their ratio R.

K is the stretch around R = 1 on which both magnitudes have one sign and R is monotone. Where several stretches qualify
(LDAR has one per period of the tangent), the one nearest to u = 0 is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import torch
from torch import Tensor

from equipoise.interval import REALS, Interval
from equipoise.reach import Curve, rounded_away

_FLOOR = 1e-150  # a magnitude that fades below this has underflowed; one that ends above it has ended
_ROUNDING = 1e-12  # how far log R may seem to fall where it is flat
_NOTHING = 2.0**-52  # an end nearer to 0 is 0: beside 1 such heights are rounded away, and their powers fade
_FAINT = 1e-9  # a magnitude that is this small long before it ends has been rounded away
_FAR = 30.0  # where numbers run out beyond this height, only they do


def find_interval(up: Curve, down: Curve) -> Interval:
    """K found from R; all of ℝ where no stretch of heights has a balance."""
    u = _line()
    u = torch.unique(torch.cat([u, *(_around_turns(side, u) for side in (up, down))]))
    good, sign, log_ratio = _valid(up, down, u), torch.sign(up(u)), _log_ratio(up, down, u)
    rises = sign[:-1] * torch.diff(log_ratio) > -_ROUNDING
    linked = good[:-1] & good[1:] & (sign[:-1] == sign[1:]) & rises
    start = torch.nonzero(linked & (log_ratio[:-1] * log_ratio[1:] <= 0)).flatten()
    if len(start) == 0:
        return REALS
    nearest = start[torch.argmin(torch.abs(u[start]))]
    broken = torch.nonzero(~linked).flatten()
    first = int(torch.cat([torch.tensor([0]), broken[broken < nearest] + 1])[-1])
    last = int(torch.cat([broken[broken > nearest], torch.tensor([len(u) - 1])])[0])
    along = sign[nearest].item()
    return Interval(_end(up, down, u, first, -1, along), _end(up, down, u, last, 1, along))


def _line() -> Tensor:
    far: Tensor = torch.logspace(-9, 6, 1875, dtype=torch.float64)
    near = torch.arange(-2000, 2001, dtype=torch.float64) / 100.0
    u: Tensor = torch.unique(torch.cat([-far, near, far]))
    return u


def _around_turns(side: Curve, u: Tensor) -> Tensor:
    """Heights that crowd to where a magnitude changes its sign: K may begin and end between two of the line."""
    sign = torch.sign(side(u))
    turns = torch.nonzero((sign[:-1] != sign[1:]) & torch.isfinite(sign[:-1] * sign[1:])).flatten()  # a zero counts
    low, high, before = u[turns], u[turns + 1], sign[turns]
    for _ in range(64):
        middle = 0.5 * (low + high)
        same = torch.sign(side(middle)) == before
        low, high = torch.where(same, middle, low), torch.where(same, high, middle)
    steps = (u[turns + 1] - u[turns]).unsqueeze(-1) * torch.logspace(-9, 0, 37, dtype=torch.float64)
    crowded: Tensor = torch.cat([low.unsqueeze(-1) - steps, high.unsqueeze(-1) + steps]).flatten()
    return crowded


def _valid(up: Curve, down: Curve, u: Tensor) -> Tensor:
    a, b = up(u), down(u)
    finite = torch.isfinite(a) & torch.isfinite(b)
    return finite & (torch.sign(a) * torch.sign(b) > 0)


def _log_ratio(up: Curve, down: Curve, u: Tensor) -> Tensor:
    return torch.log(torch.abs(down(u))) - torch.log(torch.abs(up(u)))


def _end(up: Curve, down: Curve, u: Tensor, index: int, step: int, sign: float) -> float:
    """The end of K beyond the last good height of the line; infinite where numbers just run out."""

    def goes_on(height: float, so_far: float) -> bool:
        pair = torch.tensor([so_far, height], dtype=torch.float64)
        rise = step * sign * torch.diff(_log_ratio(up, down, pair))
        return bool(_valid(up, down, pair).all()) and bool(rise > -_ROUNDING)

    if not 0 <= index + step < len(u):
        return step * inf
    inside, outside = _bisect(goes_on, u[index].item(), u[index + step].item())
    if outside != 0.0 and _rounded_away(up, down, inside, u, step):
        return step * inf
    if outside == 0.0 or not any(_spent(side, inside) for side in (up, down)):
        return outside
    ahead = u[index + step :] if step > 0 else u[: index + step + 1].flip(0)
    return step * inf if abs(inside) > _FAR else _end_of_spent(up, down, outside, ahead, sign)


def _rounded_away(up: Curve, down: Curve, end: float, u: Tensor, step: int) -> bool:
    """Whether K seems to end only because a magnitude such as 1 − tanh(u) has lost its last digit."""
    near = torch.tensor([end, 0.9 * end], dtype=torch.float64)
    lost = rounded_away(torch.abs(torch.cat([up(near[:1]), down(near[:1])])), near[0])
    beyond = u[u > end] if step > 0 else u[u < end]
    faint = torch.minimum(torch.abs(up(near[1:])), torch.abs(down(near[1:]))).item() < _FAINT
    return lost and faint and bool(((up(beyond) == 0) | (down(beyond) == 0)).all())


def _end_of_spent(up: Curve, down: Curve, start: float, ahead: Tensor, sign: float) -> float:
    """Go on from a height beyond which a magnitude is 0 or ∞ in float64, until the function itself breaks."""
    faded = [side for side in (up, down) if _faded(side, start)]
    grown = [side for side in (up, down) if _grown(side, start)]

    def goes_on(height: float, _: float) -> bool:
        one_sign = all(sign * _at(side, height) >= 0.0 for side in (up, down))
        return one_sign and all(_faded(side, height) for side in faded) and all(_grown(side, height) for side in grown)

    so_far = start
    for height in ahead.tolist():
        if not goes_on(height, so_far):
            return _bisect(goes_on, so_far, height)[1]
        so_far = height
    return inf if so_far > start else -inf


def _bisect(goes_on: Callable[[float, float], bool], inside: float, outside: float) -> tuple[float, float]:
    """Narrow a step, from a height at which something goes on to one at which it does not, to neighbouring numbers."""
    while True:
        middle = 0.5 * (inside + outside)
        if middle in {inside, outside}:
            return inside, 0.0 if abs(outside) < _NOTHING else outside
        if goes_on(middle, inside):
            inside = middle
        else:
            outside = middle


def _at(side: Curve, height: float) -> float:
    return side(torch.tensor([height], dtype=torch.float64)).item()


def _faded(side: Curve, height: float) -> bool:
    return abs(_at(side, height)) < _FLOOR


def _grown(side: Curve, height: float) -> bool:
    return abs(_at(side, height)) > 1.0 / _FLOOR


def _spent(side: Curve, height: float) -> bool:
    return _faded(side, height) or _grown(side, height)
