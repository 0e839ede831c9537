"""The interval K of heights at which a surface can come to rest, as an open interval of the real line.

    K = (low, high) = { T(z) : z > 0 },   from_real : ℝ → K smooth and increasing

The smooth map is the identity on ℝ, a softplus on a half-line and a scaled sigmoid on a bounded interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, log10
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Interval:
    """An open interval (low, high); either end may be infinite.

    Arguments:
        low: The lower end, outside of the interval.
        high: The upper end, outside of the interval.

    Example:
        >>> Interval(0.0, 1.0).contains(torch.tensor([0.0, 0.5])).tolist()
        [False, True]
    """

    low: float = -inf
    high: float = inf

    def __post_init__(self) -> None:
        try:
            low, high = float(self.low), float(self.high)
        except (TypeError, ValueError):
            message = f"the ends of an interval are numbers, got ({self.low!r}, {self.high!r})"
            raise TypeError(message) from None
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if not self.low < self.high:
            message = f"an interval needs low < high, got ({self.low}, {self.high})"
            raise ValueError(message)

    @classmethod
    def of(cls, given: Any) -> Interval | None:  # noqa: ANN401  # the refusal is the point
        """An interval as callers hold it: an Interval, two numbers (low, high), or None for one yet to be found."""
        if given is None or isinstance(given, Interval):
            return given
        try:
            low, high = (float(end) for end in given)
        except (TypeError, ValueError):
            message = f"an interval is an Interval or two numbers (low, high), got {given!r}"
            raise TypeError(message) from None
        return cls(low, high)

    def __str__(self) -> str:
        return f"({self.low:g}, {self.high:g})"

    @property
    def is_real_line(self) -> bool:
        """Whether the interval is all of ℝ."""
        return self.low == -inf and self.high == inf

    def contains(self, u: Tensor) -> Tensor:
        """Which heights lie in the interval; NaN does not."""
        return (u > self.low) & (u < self.high)

    def covers(self, other: Interval) -> bool:
        """Whether every height of ``other`` lies in this interval."""
        return self.low <= other.low and other.high <= self.high

    def from_real(self, s: Tensor) -> Tensor:
        """Map ℝ onto the interval, smoothly and increasingly; rounding never leaves it."""
        if self.is_real_line:
            return s
        if self.high == inf:
            u = self.low + _softplus(s)
        elif self.low == -inf:
            u = self.high - _softplus(-s)
        else:
            u = self.low + (self.high - self.low) * torch.sigmoid(s)
        return torch.clamp(u, _step(self.low, inf, u), _step(self.high, -inf, u))

    def to_real(self, u: Tensor) -> Tensor:
        """The inverse of :meth:`from_real`."""
        if self.is_real_line:
            return u
        if self.high == inf:
            return _softplus_inverse(u - self.low)
        if self.low == -inf:
            return -_softplus_inverse(self.high - u)
        return torch.log(u - self.low) - torch.log(self.high - u)

    def grid(self, n: int = 401, *, reach: float = 1e6, margin: float = 1e-14) -> Tensor:
        """Heights that sample the interval, in float64 and in order.

        Arguments:
            n: About how many.
            reach: How far they go on infinite sides.
            margin: How near they come to finite ends, as a share of the width (or of one).
        """
        steps = torch.logspace(log10(margin), log10(reach), n // 2, dtype=torch.float64)
        if self.is_real_line:
            u = torch.cat([-steps, torch.zeros(1, dtype=torch.float64), steps])
        elif self.high == inf:
            u = self.low + steps
        elif self.low == -inf:
            u = self.high - steps
        else:
            inner = torch.logspace(log10(margin), log10(0.5), n // 2, dtype=torch.float64) * (self.high - self.low)
            u = torch.cat([self.low + inner, self.high - inner])
        inside: Tensor = torch.unique(torch.clamp(u, self._innermost(inf), self._innermost(-inf)))
        return inside

    def _innermost(self, towards: float) -> float:
        end = self.low if towards > 0 else self.high
        return _step(end, towards, torch.zeros((), dtype=torch.float64))


REALS = Interval()
POSITIVE = Interval(0.0, inf)
NEGATIVE = Interval(-inf, 0.0)
UNIT = Interval(0.0, 1.0)


def _step(end: float, towards: float, like: Tensor) -> float:
    """The last number of ``like``'s precision before ``end``, seen from inside; zero is left by a normal number."""
    if not isfinite(end):
        return end
    tiny = torch.finfo(like.dtype).tiny
    if end == 0.0:
        return tiny if towards > 0 else -tiny
    limits = torch.tensor([end, towards], dtype=like.dtype)
    return float(torch.nextafter(limits[0], limits[1]).item())


def _softplus(s: Tensor) -> Tensor:
    return torch.logaddexp(s, torch.zeros_like(s))


def _softplus_inverse(v: Tensor) -> Tensor:
    return torch.where(v > 30.0, v + torch.log1p(-torch.exp(-v)), torch.log(torch.expm1(torch.clamp(v, max=30.0))))
