"""What two magnitude functions do, read off the functions themselves: balance, range, bounds, life on one side.

    R = M_down / M_up : K → (0, ∞) continuous, strictly increasing and onto    (Theorem at line 1137)
    M_up · M_down ≤ 0 outside K, M_up > M_down below it, M_up < M_down above   (Theorem at line 1174)

A decreasing R with negative magnitudes is as good (line 1152). Everything here is numeric and looks at a dense grid,
so a verdict is evidence of the same kind as a plot, not a proof; every failure names the height u where it was seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import torch
from torch import Tensor

from equipoise.interval import Interval
from equipoise.reach import FAR, FLOOR, NOISE, Curve, faded, in_reach, overflown

ANY_RANGE = "any range"
RANGE_IS_K = "range must be K"
NO_BALANCE = "no balance"

_JUMP = 1e-3  # a step between neighbouring heights, relative to 1 + |M|, that no continuous magnitude takes
_ONTO = 9.0  # |log R| that R must reach at both ends of K: z from 1e-4 to 1e4;
_SHOWN = 4.0  # where float64 ends before that, this much must have been seen


@dataclass(frozen=True)
class Condition:
    """One condition of a theorem: what it asks, whether it holds, and where it fails."""

    text: str
    theorem: str
    holds: bool
    at: float | None = None

    def __str__(self) -> str:
        where = "" if self.at is None else f", first seen at u = {self.at:.6g}"
        return f"{'holds' if self.holds else 'FAILS':5s}  {self.text} [{self.theorem}]{'' if self.holds else where}"


@dataclass(frozen=True)
class Report:
    """The conditions of a balance, one by one, and the verdict they lead to."""

    interval: Interval
    sign: int
    balance: tuple[Condition, ...]
    unconstrained: tuple[Condition, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All conditions, those of the balance first."""
        return self.balance + self.unconstrained

    @property
    def feasible(self) -> bool:
        """Whether the forces balance at exactly one height for every density ratio."""
        return all(condition.holds for condition in self.balance)

    @property
    def verdict(self) -> str:
        """``"any range"``, ``"range must be K"`` or ``"no balance"``."""
        if not self.feasible:
            return NO_BALANCE
        return ANY_RANGE if all(condition.holds for condition in self.unconstrained) else RANGE_IS_K

    def __str__(self) -> str:
        kind = "" if self.sign > 0 else ", negative magnitudes"
        rows = [f"K = {self.interval}{kind}", *(f"  {condition}" for condition in self.conditions)]
        return "\n".join([*rows, *(f"  note: {note}" for note in self.notes), f"verdict: {self.verdict}"])


def examine(up: Curve, down: Curve, interval: Interval) -> Report:
    """Evaluate the conditions of both theorems on the actual functions."""
    u = in_reach(up, down, interval.grid(1201))
    a, b = up(u), down(u)
    sign = sign_on(up, down, interval)
    same = (sign * a > 0) & (sign * b > 0)
    log_ratio = sign * (torch.log(torch.abs(b)) - torch.log(torch.abs(a)))
    seen = same & torch.isfinite(log_ratio)
    values = log_ratio[seen]
    rising = torch.diff(values) > 0
    flat = torch.abs(torch.diff(values)) <= 1e-9  # too small a step for float64 to show,
    crowded = torch.diff(u[seen]) <= 1e-7 * (1 + torch.abs(u[seen][1:]))  # between heights too near each other
    noise = NOISE / torch.minimum(torch.abs(a[seen]), torch.abs(b[seen]))  # 1 − sigmoid(u) knows no better
    noise = torch.where(noise > 1e-9, torch.clamp(noise, max=1.0), 0.0)
    lost = torch.abs(torch.diff(values)) < noise[1:] + noise[:-1]
    strictly = rising | (flat & crowded) | lost
    which = "positive" if sign > 0 else "negative"
    balance = (
        Condition(
            f"M_up and M_down are {which} on K", "1137, condition 2", *_all(same | faded(sign * a, sign * b, u), u)
        ),
        Condition(
            "M_up and M_down are continuous on K",
            "1137, condition 2",
            *_continuous(up, down, in_reach(up, down, interval.grid(1201, margin=1e-6))),
        ),
        Condition(
            f"R is strictly {'increasing' if sign > 0 else 'decreasing'} on K",
            "1137, condition 1",
            *_all(strictly, u[seen][1:]),
        ),
        Condition("R takes every value in (0, ∞) on K", "1137, condition 1", _onto(up, down, interval, sign)),
    )
    return Report(interval, sign, balance, _unconstrained(up, down, interval))


def _onto(up: Curve, down: Curve, interval: Interval, sign: int) -> bool:
    """Whether R comes from near 0 and goes far, over heights of every order of magnitude."""
    u = interval.grid(801, reach=1e30, margin=1e-30)
    a, b = sign * up(u), sign * down(u)
    log_ratio = sign * (torch.log(b) - torch.log(a))
    seen = torch.nonzero((a > 0) & (b > 0) & torch.isfinite(log_ratio)).flatten()
    if len(seen) == 0:
        return False
    first, last = int(seen[0]), int(seen[-1])

    def asked(edge: int, end: int) -> float:
        sizes = torch.stack([a[edge], b[edge]])
        spent = edge != end and bool((sizes.min() < FLOOR) | (sizes.max() > 1.0 / FLOOR))
        return _SHOWN if spent else _ONTO

    return bool((log_ratio[first] < -asked(first, 0)) & (log_ratio[last] > asked(last, len(u) - 1)))


def _unconstrained(up: Curve, down: Curve, interval: Interval) -> tuple[Condition, ...]:
    if interval.is_real_line:
        return ()
    below = Interval(-inf, interval.low).grid(401) if interval.low > -inf else torch.empty(0, dtype=torch.float64)
    above = Interval(interval.high, inf).grid(401) if interval.high < inf else torch.empty(0, dtype=torch.float64)
    ends = torch.tensor([end for end in (interval.low, interval.high) if abs(end) < inf], dtype=torch.float64)
    outside = torch.cat([below, ends, above])
    a, b = up(outside), down(outside)
    line = torch.unique(torch.cat([outside, interval.grid(401)]))
    opposed = torch.isfinite(a) & torch.isfinite(b) & (torch.sign(a) * torch.sign(b) <= 0)
    low = torch.cat([below, ends[ends == interval.low]])
    high = torch.cat([above, ends[ends == interval.high]])
    return (
        Condition("M_up and M_down are continuous on ℝ", "1174, condition 1", *_continuous(up, down, line)),
        Condition("M_up and M_down differ in sign outside K", "1174, condition 1", *_all(opposed, outside)),
        Condition("M_up > M_down below K", "1174, condition 2", *_all(up(low) > down(low), low)),
        Condition("M_up < M_down above K", "1174, condition 3", *_all(up(high) < down(high), high)),
    )


def sign_on(up: Curve, down: Curve, interval: Interval) -> int:
    """+1, or −1 where both magnitudes are negative on most of the interval."""
    u = interval.grid(201, reach=10.0)
    votes = torch.sign(up(u)) + torch.sign(down(u))
    return -1 if torch.nanmean(votes).item() < 0 else 1


def bound_of(curve: Curve, interval: Interval) -> float:
    """The largest |M| on the interval, +inf where it keeps growing towards an end or at infinity."""
    inner = _largest(curve, interval.grid(801, reach=1e6, margin=1e-6))
    outer = _largest(curve, interval.grid(801, reach=1e12, margin=1e-12))
    return outer if outer <= 1.01 * inner else inf


def _largest(curve: Curve, u: Tensor) -> float:
    return torch.nan_to_num(torch.abs(curve(u)), nan=inf, posinf=inf).max().item()


def alone(curve: Curve, interval: Interval, direction: int) -> str | float:
    """Where a force without its opponent leaves the surface (Theorems at 1199 and 1274).

    Arguments:
        curve: The magnitude that acts.
        interval: The heights the surface can have.
        direction: +1 for the up side, −1 for the down side.

    Returns the height h where the force changes sign, an end of the interval, ``"arbitrary"`` where there is no force
    at all, or ``"undecided"``.
    """
    u = interval.grid(1201)
    push = torch.sign(direction * torch.nan_to_num(curve(u), posinf=1.0, neginf=-1.0))
    if bool((push == 0).all()):
        return "arbitrary"
    push, u = _without_underflow(push, curve(u), u)
    if bool((push > 0).all()):
        return interval.high
    if bool((push < 0).all()):
        return interval.low
    switches = torch.nonzero(torch.diff(push) != 0).flatten()
    turns_once = bool((push[: switches[0] + 1] > 0).all()) and bool((push[switches[-1] + 1 :] < 0).all())
    if not turns_once or len(switches) > 2 or (len(switches) == 2 and switches[1] - switches[0] > 1):
        return "undecided"
    return _turning_point(curve, u[switches[0]].item(), u[switches[-1] + 1].item(), direction)


def _turning_point(curve: Curve, low: float, high: float, direction: int) -> float:
    for _ in range(200):
        middle = 0.5 * (low + high)
        if direction * curve(torch.tensor([middle], dtype=torch.float64)).item() > 0:
            low = middle
        else:
            high = middle
    return 0.0 if abs(high) < 1e-12 else high


def _without_underflow(push: Tensor, values: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    """Drop outer stretches of exact zeros that a decaying magnitude leaves behind when it underflows or rounds to 0."""

    def decays(edge: int) -> bool:
        size = abs(values[edge].item())
        return size < FLOOR or (size < 1e-6 and abs(u[edge].item()) > 1.0)

    alive = torch.nonzero(push != 0).flatten()
    first, last = int(alive[0]), int(alive[-1])
    keep = torch.ones_like(push, dtype=torch.bool)
    if decays(last):
        keep[last + 1 :] = False
    if decays(first):
        keep[:first] = False
    return push[keep], u[keep]


def _all(good: Tensor, u: Tensor) -> tuple[bool, float | None]:
    bad = torch.nonzero(~good).flatten()
    if len(bad) == 0:
        return True, None
    return False, _nearest(u[bad])


def _nearest(u: Tensor) -> float:
    return u[torch.argmin(torch.abs(u))].item()


def _continuous(up: Curve, down: Curve, u: Tensor) -> tuple[bool, float | None]:
    for curve in (up, down):
        at = _jump(curve, u)
        if at is not None:
            return False, at
    return True, None


def _jump(curve: Curve, u: Tensor) -> float | None:
    """A height where the curve jumps or is not finite, found by bisecting the steep steps of the grid."""
    values = curve(u)
    if bool(torch.isnan(values).any()):
        return _nearest(u[torch.isnan(values)])
    blown = torch.isinf(values) & ~overflown(values) & (torch.abs(u) < FAR)
    if bool(blown.any()):
        return _nearest(u[blown])
    finite = torch.isfinite(values)
    u, values = u[finite], values[finite]
    step = torch.abs(torch.diff(values)) / (1.0 + torch.minimum(torch.abs(values[1:]), torch.abs(values[:-1])))
    steep = torch.nonzero(step > _JUMP).flatten()
    low, high = u[steep], u[steep + 1]
    for _ in range(80):
        middle = 0.5 * (low + high)
        left, centre, right = curve(low), curve(middle), curve(high)
        to_left = torch.nan_to_num(torch.abs(centre - left), nan=inf) > torch.nan_to_num(
            torch.abs(right - centre), nan=inf
        )
        low, high = torch.where(to_left, low, middle), torch.where(to_left, middle, high)
    left, right = curve(low), curve(high)
    gap = torch.abs(right - left) / (1.0 + torch.minimum(torch.abs(left), torch.abs(right)))
    broken = ~(gap < _JUMP)
    return _nearest(high[broken]) if bool(broken.any()) else None
