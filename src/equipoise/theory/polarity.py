"""An instance as a curve in the complex plane, where feasibility is a matter of quadrants.

    c(u) = M_up(u) + i·M_down(u),   angle c∠ = atan2(M_down, M_up) in [0, 2π),   radius c_r = |c|      (Lemma 2494)

On K the curve runs through quadrant I from angle 0 to π/2, and tan c∠ = R. Below K it belongs in quadrant IV, above K
in quadrant II; then any range will do. Negative instances run backwards through quadrant III.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi

import torch
from torch import Tensor

from equipoise import catalog
from equipoise.conditions import ANY_RANGE, NO_BALANCE, RANGE_IS_K, Condition, Report
from equipoise.instance import Instance
from equipoise.interval import Interval
from equipoise.theory.bounding import bound

__all__ = ["Polar", "along", "polar"]

_REACH = 8.0  # how far a grid goes along the real line that is mapped onto K
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Polar:
    """The curve of an instance, height by height.

    Arguments:
        name: The instance's label.
        interval: K.
        sign: −1 for a negative instance.
        u: Heights, increasing.
        up: M_up.
        down: M_down.
        angle: c∠, in [0, 2π).
        radius: c_r.
        part: −1 below K, 0 in K, +1 above K.
        conditions: The lemma's: the first two for a range of K, all for any range.
    """

    name: str
    interval: Interval
    sign: int
    u: Tensor
    up: Tensor
    down: Tensor
    angle: Tensor
    radius: Tensor
    part: Tensor
    conditions: tuple[Condition, ...]

    @property
    def verdict(self) -> str:
        """``"any range"``, ``"range must be K"`` or ``"no balance"``."""
        if not all(condition.holds for condition in self.conditions[:2]):
            return NO_BALANCE
        return ANY_RANGE if all(condition.holds for condition in self.conditions) else RANGE_IS_K

    def quadrants(self, part: int) -> tuple[str, ...]:
        """The quadrants that a part of the curve visits, axes aside."""
        angle = self.angle[(self.part == part) & ~torch.isnan(self.angle)]
        turns = angle / (0.5 * pi)
        inner = turns[torch.abs(turns - torch.round(turns)) > _ROUNDING]
        return tuple(("I", "II", "III", "IV")[int(index)] for index in torch.unique(torch.floor(inner)).tolist())


def polar(inst: Instance | str, n: int = 801, log_base: float = 0.0) -> Polar:
    """Follow an instance through the complex plane, over K and where it is bounded beyond its ends.

    Arguments:
        inst: The instance, or its name; of several outputs the first is followed, the others at 0.
        n: About how many heights.
        log_base: log p_down, for magnitudes that need it.
    """
    inst = catalog.get(inst)
    K = inst.interval
    u = _heights(K, n)
    unit = bound(inst, norm=2.0)
    up, down = along(inst, inst.up, log_base)(u), along(inst, inst.down, log_base)(u)
    angle = torch.atan2(along(inst, unit.down, log_base)(u), along(inst, unit.up, log_base)(u))
    angle = torch.where(angle < 0, angle + 2.0 * pi, angle) % (2.0 * pi)
    radius = torch.hypot(up, down)
    part = (u >= K.high).to(torch.int8) - (u <= K.low).to(torch.int8)
    conditions = _conditions(inst.report, u, angle, radius, part)
    return Polar(inst.label, K, inst.sign, u, up, down, angle, radius, part, conditions)


def along(inst: Instance, function: Callable[..., Tensor], log_base: float = 0.0) -> Callable[[Tensor], Tensor]:
    """A function of heights as a function of one; several outputs are followed along the first, the others at 0."""
    if inst.scalar:
        return lambda u: function(u, log_base)
    return lambda u: function(torch.stack([u, torch.zeros_like(u)], dim=-1), log_base)[..., 0]


def _heights(K: Interval, n: int) -> Tensor:
    inside = K.from_real(torch.linspace(-_REACH, _REACH, max(n // 2, 3), dtype=torch.float64))
    width = K.high - K.low if K.low > -torch.inf and K.high < torch.inf else 4.0
    steps = width * torch.cat([torch.zeros(1), torch.logspace(-3.0, 0.0, max(n // 4, 2))]).to(torch.float64)
    below = K.low - steps if K.low > -torch.inf else steps[:0]
    above = K.high + steps if K.high < torch.inf else steps[:0]
    heights: Tensor = torch.unique(torch.cat([below, inside, above]))
    return heights


def _conditions(report: Report, u: Tensor, angle: Tensor, radius: Tensor, part: Tensor) -> tuple[Condition, ...]:
    """The lemma's conditions: in K they are the theorem's in other words, outside they are read off the angles."""
    positive, continuous, monotone, onto = report.balance
    quadrant, codomain = ("0 < c∠ < π/2", "(0, π/2)") if report.sign > 0 else ("π < c∠ < 3π/2", "(π, 3π/2)")
    rises = "increases" if report.sign > 0 else "decreases"
    inner = (
        _both(f"c is continuous on K, with c_r > 0 and {quadrant}", "2494, condition 1", continuous, positive),
        _both(f"c∠ strictly {rises} over K, onto {codomain}", "2494, condition 2", monotone, onto),
    )
    if not report.unconstrained:
        return inner
    outside = part != 0
    alive = Condition("", "", *_everywhere((radius > 0)[outside], u[outside]))
    below = (angle >= 1.5 * pi - _ROUNDING) | (angle <= _ROUNDING)
    above = (angle >= 0.5 * pi - _ROUNDING) & (angle <= pi + _ROUNDING)
    return (
        *inner,
        _both("c is continuous on ℝ, with c_r > 0", "2494, unconstrained 1", report.unconstrained[0], alive),
        Condition("3π/2 <= c∠ <= 2π below K", "2494, unconstrained 2", *_everywhere(below[part < 0], u[part < 0])),
        Condition("π/2 <= c∠ <= π above K", "2494, unconstrained 3", *_everywhere(above[part > 0], u[part > 0])),
    )


def _both(text: str, place: str, one: Condition, other: Condition) -> Condition:
    failed = [condition.at for condition in (one, other) if not condition.holds]
    return Condition(text, place, not failed, next((at for at in failed if at is not None), None))


def _everywhere(good: Tensor, u: Tensor) -> tuple[bool, float | None]:
    bad = u[~good]
    return (True, None) if len(bad) == 0 else (False, bad[torch.argmin(torch.abs(bad))].item())
