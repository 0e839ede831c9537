"""Instances from two magnitudes as a reader has them: text, functions or numbers.

    from_formulas("1/(exp(u) + 1)", "1/(exp(-u) + 1)")

Formulas are read by :class:`equipoise.formula.Formula`; those that name the base p become functions of log_base.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from equipoise.formula import Formula
from equipoise.instance import DERIVE, Instance
from equipoise.interval import Interval
from equipoise.magnitude import Magnitude

__all__ = ["Side", "from_formulas", "magnitudes"]

Side = str | float | Callable[..., Any]


def from_formulas(
    up: Side,
    down: Side,
    interval: Interval | tuple[float, float] | None = None,
    name: str | None = None,
    **parameters: float,
) -> Instance:
    """The instance of two magnitudes.

    Arguments:
        up: M_up: text in u (or f) and the base p, a function of (u) or (u, log_base), or a number.
        down: M_down, likewise.
        interval: K; found from R where it is None.
        name: The instance's name; the two formulas where it is None.
        **parameters: Numbers that the formulas name.

    Example:
        >>> from_formulas("b - u", "u - a", a=0, b=1).range
        'any range'
    """
    sides = magnitudes(up, down, parameters)
    return Instance(name or f"{_written(up)} against {_written(down)}", *sides, Interval.of(interval) or DERIVE)


def magnitudes(up: Side, down: Side, parameters: dict[str, float]) -> tuple[Magnitude, Magnitude]:
    """Both sides under the calling convention of magnitudes, and no parameter that neither names."""
    formulas = [
        side if isinstance(side, Formula) or not isinstance(side, str) else Formula(side) for side in (up, down)
    ]
    named = set().union(*(formula.parameters for formula in formulas if isinstance(formula, Formula)))
    if unused := set(parameters) - named:
        message = (
            f"no formula names {', '.join(sorted(unused))}; they name {', '.join(sorted(named)) or 'no parameter'}"
        )
        raise TypeError(message)
    return _magnitude(formulas[0], "M_up", parameters), _magnitude(formulas[1], "M_down", parameters)


def _magnitude(side: float | Callable[..., Any], name: str, parameters: dict[str, float]) -> Magnitude:
    if not isinstance(side, Formula):
        return Magnitude.of(side, name)
    own = {key: value for key, value in parameters.items() if key in side.parameters}
    if side.needs_base:
        return Magnitude.of(lambda u, log_base: side(u, torch.exp(log_base), **own), name)
    return Magnitude.of(lambda u: side(u, **own), name)


def _written(side: Side) -> str:
    text = side.text if isinstance(side, Formula) else side
    return text if isinstance(text, str) else getattr(text, "__name__", str(text))
