"""Magnitude functions under one calling convention, M(u, log_base), whatever their author wrote.

    lambda u: …                 depends on the relative height alone
    lambda u, log_base: …       depends on the base as well

What cannot be had in closed form (an antiderivative, R, T) is derived here, under the same convention.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from equipoise.frame import LogBase
from equipoise.interval import Interval
from equipoise.inversion import invert
from equipoise.quadrature import antiderivative


@dataclass(frozen=True)
class Magnitude:
    """A function of the relative height, and of log p_down where it asks for it.

    Arguments:
        function: The author's function; a number stands for a constant.
        name: How errors speak of it.
        needs_base: Whether ``function`` takes log_base as its second argument.
    """

    function: Callable[..., Any]
    name: str
    needs_base: bool
    takes_base: bool

    @classmethod
    def of(cls, function: Callable[..., Any] | float, name: str) -> Magnitude:
        """Wrap a function by the arguments it takes, or a constant."""
        if isinstance(function, Magnitude):
            return function
        if isinstance(function, Real):
            return cls(_constant(float(function)), name, needs_base=False, takes_base=False)
        if not callable(function):
            message = f"{name} must be a function of heights or a number, got {function!r}"
            if isinstance(function, str):
                message += "; for formulas as text there is theory.from_formulas"
            raise TypeError(message)
        takes, needs = _base_argument(function, name)
        return cls(function, name, needs_base=needs, takes_base=takes)

    def __call__(self, u: Tensor, log_base: LogBase = None) -> Tensor:
        """Evaluate at relative heights u, with log_base broadcast against u."""
        u = as_heights(u)
        if not self.takes_base:
            return self._shaped(self.function(u), u)
        if log_base is None:
            if self.needs_base:
                message = f"{self.name} depends on the base: pass log_base, the log density of the base at each row"
                raise ValueError(message)
            return self._shaped(self.function(u, None), u)
        base = torch.as_tensor(log_base, dtype=u.dtype, device=u.device)
        if base.dim() > 0 and base.shape != u.shape:
            self._refuse_unless_beside(base, u)
        return self._shaped(self.function(u, base), u)

    def _refuse_unless_beside(self, base: Tensor, u: Tensor) -> None:
        try:
            beside = torch.broadcast_shapes(base.shape, u.shape) == u.shape
        except RuntimeError:
            beside = False
        if not beside:
            message = (
                f"{self.name} takes log_base as one number per height, or one for all: got {tuple(base.shape)} "
                f"for u of {tuple(u.shape)}"
            )
            raise ValueError(message)

    def _shaped(self, value: Tensor | float, u: Tensor) -> Tensor:
        if isinstance(value, Real):
            return torch.full_like(u, float(value))
        if not isinstance(value, Tensor):
            message = f"{self.name} must return a tensor, or a number, got a {type(value).__name__}"
            raise TypeError(message)
        if value.shape != u.shape:
            message = (
                f"{self.name} must return one value per height: got {tuple(value.shape)} for u of {tuple(u.shape)}"
            )
            raise ValueError(message)
        return value.to(u.dtype)


@dataclass(frozen=True)
class Quadrature:
    """The antiderivative of a magnitude that has none in closed form; for evaluation only."""

    magnitude: Magnitude
    start: float
    scalar: bool = True

    @property
    def needs_base(self) -> bool:
        """Whether the magnitude depends on the base."""
        return self.magnitude.needs_base

    def __call__(self, u: Tensor, log_base: LogBase = None) -> Tensor:
        """∫ M dt from ``start`` to each u."""
        u = as_heights(u)
        if not self.scalar:
            message = f"{self.magnitude.name} acts on several outputs at once and has no primitive in closed form"
            raise ValueError(message)
        base = None if log_base is None else torch.as_tensor(log_base, dtype=u.dtype, device=u.device)
        return antiderivative(self.magnitude, u, self.start, base)


@dataclass(frozen=True)
class Quotient:
    """R = M_down / M_up, where no closed form is known."""

    up: Magnitude
    down: Magnitude

    @property
    def needs_base(self) -> bool:
        """Whether a magnitude depends on the base."""
        return self.up.needs_base or self.down.needs_base

    def __call__(self, u: Tensor, log_base: LogBase = None) -> Tensor:
        """The density ratio at which the forces balance at height u."""
        return self.down(u, log_base) / self.up(u, log_base)


@dataclass(frozen=True)
class Inverse:
    """T = R⁻¹, where no closed form is known: found by bisection, for evaluation only."""

    ratio: Callable[..., Tensor]
    interval: Interval
    sign: int

    def __call__(self, z: Tensor, log_base: LogBase = None) -> Tensor:
        """The height in K at which R is z."""
        return invert(lambda u: self.ratio(u, log_base), as_heights(z), self.interval, self.sign)


DERIVED = (Quadrature, Quotient, Inverse)


def as_heights(u: Any) -> Tensor:  # noqa: ANN401  # a tensor, an array, a list or a number
    """Heights, or ratios, as a tensor of floating-point numbers."""
    heights = u if isinstance(u, Tensor) else torch.as_tensor(u)
    return heights if heights.is_floating_point() else heights.to(torch.get_default_dtype())


def _constant(value: float) -> Callable[[Tensor], Tensor]:
    return lambda u: torch.full_like(u, value)


def _base_argument(function: Callable[..., Any], name: str) -> tuple[bool, bool]:
    """Whether a function takes log_base as its second argument, and whether it cannot do without."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # built into torch without a signature: a function of u
        return False, False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    if len(required) > 2 or not positional:
        message = f"{name} must take (u) or (u, log_base), got a function of {[p.name for p in parameters]}"
        raise TypeError(message)
    takes = len(required) == 2 or "log_base" in [p.name for p in positional[1:]]
    return takes, len(required) == 2
