"""Whether two magnitudes are an instance at all, and which range its surface may have.

check(inst).verdict   "any range" (Theorem 1174), "range must be K" (Theorem 1137) or "no balance"
consistent(a, b)      R_a = R_b: one PSO-CM set (line 2574), whatever the magnitudes
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isfinite

import torch
from torch import Tensor

from equipoise import catalog
from equipoise.conditions import Condition, Report
from equipoise.discovery import find_interval
from equipoise.instance import Instance
from equipoise.interval import REALS, Interval
from equipoise.reach import in_reach
from equipoise.theory.polarity import Polar, along, polar
from equipoise.theory.written import Side, from_formulas, magnitudes

__all__ = ["check", "consistent"]

_BASES = (0.0, -1.25)  # log p at which two instances are compared; one would let a power of the base pass unseen
_SAME = 1e-6


def check(
    inst: Instance | Side,
    down: Side | None = None,
    interval: Interval | tuple[float, float] | None = None,
    **parameters: float,
) -> Report:
    """Examine an instance, a catalogue name, or two magnitudes given as formulas or functions.

    Arguments:
        inst: The instance or its name; or M_up: text such as ``"1/(exp(u) + 1)"``, a function of heights or a number.
        down: M_down, where ``inst`` is M_up.
        interval: K, an Interval or (low, high), for two magnitudes; found from R where it is None.
        **parameters: Numbers that the formulas name, or the parameters of a named family.

    Example:
        >>> check("1 - u", "1 + u").verdict
        'any range'
    """
    interval = Interval.of(interval)
    if down is None:
        examined = _looked_up(inst, interval, parameters)
        return _annotated(examined, _broken(examined.up, examined.down, examined.interval, examined))
    if isinstance(inst, Instance):
        message = "check takes an instance alone, or two magnitudes; got an instance and a second argument"
        raise TypeError(message)
    broken = _broken(*magnitudes(inst, down, parameters), interval)
    if broken:
        return Report(interval or REALS, 1, broken, ())
    return _annotated(from_formulas(inst, down, interval, None, **parameters), ())


def consistent(a: Instance | str, b: Instance | str) -> bool:
    """Whether two instances have the same R, and so the same target: the paper's PSO-consistent magnitudes.

    Both are compared at the paper's heights f over the part of K that they share, at more than one base density.
    """
    one, other = catalog.get(a), catalog.get(b)
    return one.feasible and other.feasible and all(_same_ratio(one, other, log_base) for log_base in _BASES)


def _same_ratio(a: Instance, b: Instance, log_base: float) -> bool:
    u = a.interval.from_real(torch.linspace(-9.0, 9.0, 181, dtype=torch.float64))
    base = torch.full_like(u, log_base)
    same_height = b.estimand.frame.relative(a.estimand.frame.of(u, base), base)
    shared = b.interval.contains(same_height)
    if not bool(shared.any()):
        return False
    u, same_height = u[shared], same_height[shared]
    left = torch.log(along(a, a.ratio, log_base)(u))
    right = torch.log(along(b, b.ratio, log_base)(same_height))
    known = torch.isfinite(left) & torch.isfinite(right)
    return bool(known.any()) and bool((torch.abs(left - right)[known] <= _SAME * (1.0 + torch.abs(left[known]))).all())


def _looked_up(inst: Instance | Side, interval: Interval | None, parameters: dict[str, float]) -> Instance:
    if not isinstance(inst, Instance | str):
        message = f"check takes an instance, a name, or two magnitudes; got one {type(inst).__name__}: pass M_down too"
        raise TypeError(message)
    if isinstance(inst, str) and not inst.isidentifier():
        message = f"check got {inst!r} alone: a magnitude needs M_down beside it, and this is no name of a method"
        raise TypeError(message)
    found = catalog.get(inst, **parameters)
    return found if interval is None else replace(found, interval=interval)


def _broken(
    up: Callable[..., Tensor], down: Callable[..., Tensor], interval: Interval | None, inst: Instance | None = None
) -> tuple[Condition, ...]:
    """What keeps the conditions from being examined at all: wrong shapes, and NaN in K."""
    curves = {}
    for name, side in (("M_up", up), ("M_down", down)):
        curve = along(inst, side) if inst else _at_unit_base(side)
        try:
            curve(REALS.grid(33, reach=10.0) if interval is None else interval.grid(33, reach=10.0))
        except ValueError as error:
            if "one value per height" not in str(error):
                raise
            where = 0.0 if interval is None else interval.grid(33, reach=10.0)[0].item()
            return (Condition(str(error), "1137, condition 2", holds=False, at=where),)
        curves[name] = curve
    K = interval or find_interval(curves["M_up"], curves["M_down"])
    u = in_reach(curves["M_up"], curves["M_down"], K.grid(1201))
    return tuple(_never_nan(name, curve, u) for name, curve in curves.items() if bool(torch.isnan(curve(u)).any()))


def _never_nan(name: str, curve: Callable[[Tensor], Tensor], u: Tensor) -> Condition:
    where = u[torch.isnan(curve(u))]
    nearest = where[torch.argmin(torch.abs(where))].item()
    return Condition(f"{name} is a number on K", "1137, condition 2", holds=False, at=nearest)


def _at_unit_base(side: Callable[..., Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda u: side(u, 0.0)


def _annotated(inst: Instance, broken: tuple[Condition, ...]) -> Report:
    report = inst.report
    if broken:
        return replace(report, balance=(*broken, *report.balance))
    return replace(report, notes=(*report.notes, *_notes(inst)))


def _notes(inst: Instance) -> list[str]:
    notes = [_quadrants(inst)]
    if isfinite(inst.pairing.z_high):
        notes.append(
            f"by the theorem K is {inst.interval}; the pairing {inst.pairing.name!r} keeps z below "
            f"{inst.pairing.z_high:g}, so that only {inst.reachable} is reached (what the paper prints for NDMR, NDMLR)"
        )
    if inst.sign < 0:
        notes.append("both magnitudes are negative: up rows push down, and T decreases (line 1152)")
    notes.extend(_disagreement(inst))
    return notes


def _disagreement(inst: Instance) -> list[str]:
    """Where an R that was declared is not the quotient of the magnitudes."""
    u = inst.interval.from_real(torch.linspace(-5.0, 5.0, 41, dtype=torch.float64))
    up, down, ratio = (along(inst, function)(u) for function in (inst.up, inst.down, inst.ratio))
    off = torch.abs(down - ratio * up) > 1e-6 * (torch.abs(down) + torch.abs(ratio * up))
    if not bool(off.any()):
        return []
    where = u[off][torch.argmin(torch.abs(u[off]))].item()
    return [f"the ratio that {inst.label} declares is not M_down / M_up at u = {where:.6g}"]


def _visited(curve: Polar, part: int) -> str:
    undefined = bool(torch.isnan(curve.radius[curve.part == part]).any())
    return " and ".join(curve.quadrants(part)) or ("no quadrant" if undefined else "no quadrant, only axes")


def _quadrants(inst: Instance) -> str:
    curve = polar(inst, n=201)
    below, inside, above = (_visited(curve, part) for part in (-1, 0, 1))
    words = f"c = M_up + i·M_down is in {inside} on K"
    if inst.interval.low > -torch.inf:
        words += f", in {below} below K"
    if inst.interval.high < torch.inf:
        words += f", in {above} above K"
    wanted = "I" if inst.sign > 0 else "III"
    return f"{words} (Lemma 2494 asks for {wanted} on K; IV below and II above free the range)"
