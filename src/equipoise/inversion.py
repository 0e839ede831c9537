"""Monotone inversion: the u of an open interval at which an increasing or decreasing function takes a value.

    T = R⁻¹ :  u = T(z)  ⇔  R(u) = z

Bisected in float64 along the map ℝ → K, so that no bracket is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from math import asinh

import torch
from torch import Tensor

from equipoise.interval import Interval

_HALVINGS = 90


def invert(function: Callable[[Tensor], Tensor], values: Tensor, interval: Interval, sign: int = 1) -> Tensor:
    """Solve function(u) = value for each value, with u in the interval.

    Arguments:
        function: Monotone on the interval; +inf and 0 where it overflows or underflows are welcome, and so is NaN far
            out, where the quotient of two such numbers is none.
        values: What the function should return.
        interval: Where to look.
        sign: +1 where the function increases, −1 where it decreases.

    Values beyond the function's range give the end of the interval on that side.
    """
    wanted = values.detach().to(torch.float64)
    low = torch.full_like(wanted, -asinh(_reach(interval)))
    high = -low
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        value = function(interval.from_real(torch.sinh(middle)))
        too_low = torch.where(torch.isnan(value), middle < 0, sign * (value - wanted) < 0)
        low = torch.where(too_low, middle, low)
        high = torch.where(too_low, high, middle)
    u = interval.from_real(torch.sinh(0.5 * (low + high)))
    return u.to(values.dtype).masked_fill(torch.isnan(values), torch.nan)


def _reach(interval: Interval) -> float:
    # A scaled sigmoid has come to the last number before its end long before 1000; ℝ and half-lines have no end.
    return 1e300 if interval.low == -torch.inf or interval.high == torch.inf else 1e3
