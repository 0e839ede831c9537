"""An instance of PSO: two magnitude functions, and with them all that the surface will learn.

    M_up(u)·p_up = M_down(u)·p_down   at balance,    R = M_down / M_up,    T = R⁻¹,    K = { T(z) : z > 0 }

An instance is pure mathematics and holds no data. Whatever follows from the two functions is derived from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite
from typing import Any

import torch
from torch import Tensor

from equipoise.batch import Batch
from equipoise.conditions import RANGE_IS_K, Report, alone, bound_of, examine, sign_on
from equipoise.discovery import find_interval
from equipoise.estimand import CUSTOM, Estimand
from equipoise.forces import scalar_forces
from equipoise.frame import LogBase
from equipoise.interval import REALS, Interval
from equipoise.magnitude import DERIVED, Inverse, Magnitude, Quadrature, Quotient, as_heights
from equipoise.pairing import TWO_SIDED, Pairing
from equipoise.reach import Curve
from equipoise.reference import Printed, Reference

__all__ = ["Estimand", "Instance", "Interval", "Printed", "Reference"]

Function = Callable[..., Any]
Forces = Callable[["Instance", Tensor, Batch], Tensor]

DERIVE: Any = None  # stands for what is to be derived from the two magnitudes


@dataclass(frozen=True, eq=False, repr=False)
class Instance:
    """Two magnitude functions in relative heights u, under one name.

    Arguments:
        name: The instance's name.
        up: M_up, a function of (u) or of (u, log_base).
        down: M_down, likewise.
        interval: K, an Interval or (low, high); found from R where it is None.
        target: T(z); the estimand's where it is None, and R inverted where that has none.
        ratio: R(u); the estimand's where it is None, and M_down / M_up where that has none.
        up_primitive: An antiderivative of M_up; quadrature, for evaluation only, where it is None.
        down_primitive: An antiderivative of M_down, likewise.
        estimand: What the surface learns.
        pairings: What is sampled up and down: the method's own first, then known variants.
        force_rule: Replaces the scalar rule of :meth:`forces` where a surface has several outputs that act together.
        parameters: A family's parameters: ``catalog.get(name, **parameters)`` gives the instance again.
        printed: The paper's formulas.
        reference: The paper's place and the literature.

    Example:
        >>> mine = Instance("mine", up=lambda u: torch.sigmoid(-u), down=torch.sigmoid)
        >>> mine.interval.low, mine.interval.high, mine.range
        (-inf, inf, 'any range')
    """

    name: str
    up: Function
    down: Function
    interval: Interval = DERIVE
    target: Function = DERIVE
    ratio: Function = DERIVE
    up_primitive: Function = DERIVE
    down_primitive: Function = DERIVE
    estimand: Estimand = CUSTOM
    pairings: tuple[Pairing, ...] = (TWO_SIDED,)
    force_rule: Forces | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    printed: Printed | None = None
    reference: Reference = Reference()

    def __post_init__(self) -> None:
        fill = object.__setattr__
        fill(self, "up", Magnitude.of(self.up, f"M_up of {self.name}"))
        fill(self, "down", Magnitude.of(self.down, f"M_down of {self.name}"))
        fill(self, "interval", Interval.of(self.interval))
        if self.interval is None:
            fill(self, "interval", self.estimand.interval or find_interval(self._curve("up"), self._curve("down")))
        self._probe()
        for side in ("up", "down"):
            derived = Quadrature(getattr(self, side), self._start, self.scalar)
            self._settle(f"{side}_primitive", f"the {side} primitive", derived)
        self._settle("ratio", "R", self.estimand.ratio or Quotient(self.up, self.down))  # type: ignore[arg-type]
        self._settle("target", "T", self.estimand.target or Inverse(self.ratio, self.interval, self.sign))

    def _settle(self, name: str, words: str, derived: Function) -> None:
        """Keep what was given, take the derived function where nothing was, and derive again in a changed copy."""
        given = getattr(self, name)
        value = derived if given is None or isinstance(given, DERIVED) else given
        if not isinstance(value, DERIVED):
            value = Magnitude.of(value, f"{words} of {self.name}")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"<Instance {self.label}: {self.estimand.name} on {self.interval}>"

    @property
    def label(self) -> str:
        """The name with its parameters."""
        inside = ", ".join(f"{key}={_spelled(value)}" for key, value in self.parameters.items())
        return f"{self.name}({inside})" if inside else self.name

    @property
    def pairing(self) -> Pairing:
        """What the method itself samples up and down."""
        return self.pairings[0]

    @property
    def tables(self) -> tuple[int, ...]:
        """The paper's instance tables that list it."""
        return self.reference.tables

    @property
    def needs_base(self) -> bool:
        """Whether the magnitudes depend on the base beyond the relative height."""
        return bool(self.up.needs_base or self.down.needs_base)  # type: ignore[attr-defined]

    @property
    def scalar(self) -> bool:
        """Whether every output of the surface is pushed by itself."""
        return self.force_rule is None

    @property
    def has_loss(self) -> bool:
        """Whether both primitives are known in closed form."""
        return not any(isinstance(p, Quadrature) for p in (self.up_primitive, self.down_primitive))

    @cached_property
    def sign(self) -> int:
        """+1, or −1 where the magnitudes are negative and T decreases."""
        return sign_on(self._curve("up"), self._curve("down"), self.interval)

    @cached_property
    def report(self) -> Report:
        """Every condition of the paper's theorems, evaluated on the functions."""
        return examine(self._curve("up"), self._curve("down"), self.interval)

    @property
    def feasible(self) -> bool:
        """Whether the forces balance at one height for every density ratio."""
        return self.report.feasible

    @property
    def range(self) -> str:
        """Which range the surface may have: ``"any range"``, ``"range must be K"`` or ``"no balance"``."""
        return self.report.verdict

    @cached_property
    def heights(self) -> Interval:
        """The heights that a surface pushed by this instance may take."""
        free = self.range != RANGE_IS_K and (self.feasible or self.interval.is_real_line)
        return REALS if free else self.interval

    @cached_property
    def reachable(self) -> Interval:
        """The part of K that the pairing can reach: all of it, unless the pairing bounds the ratio."""
        if not isfinite(self.pairing.z_high):
            return self.interval
        end = self.target(torch.tensor([self.pairing.z_high], dtype=torch.float64)).item()
        return Interval(self.interval.low, end) if self.sign > 0 else Interval(end, self.interval.high)

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The largest |M_up| and |M_down| over the heights that the surface may take."""
        return bound_of(self._curve("up"), self.heights), bound_of(self._curve("down"), self.heights)

    @property
    def bounded(self) -> bool:
        """Whether both magnitudes are bounded over those heights."""
        return all(isfinite(bound) for bound in self.bounds)

    @cached_property
    def strength(self) -> float:
        """How hard both sides push where the densities are equal, |M_up(T(1))|; 1 where no one number says it.

        Optimizers with an ε of their own need to know: PSO-LDE's is 2^(−1/α).
        """
        if self.needs_base or not (self.scalar and self.feasible):
            return 1.0
        size = abs(self.up(self.target(torch.ones(1, dtype=torch.float64))).item())
        return size if 0.0 < size < inf else 1.0

    @cached_property
    def where_only_up(self) -> str | float:
        """Where the surface goes when only the up density lives there (1199): a height, "arbitrary", "undecided"."""
        return alone(self._curve("up", log_base=-inf), self.heights, +1)

    @cached_property
    def where_only_down(self) -> str | float:
        """Where the surface goes when only the down density lives there (1274)."""
        return alone(self._curve("down"), self.heights, -1)

    def height(self, u: Tensor, log_base: LogBase = None) -> Tensor:
        """The paper's height f at relative height u."""
        return self.estimand.frame.height(as_heights(u), log_base)

    def log_ratio(self, u: Tensor, log_base: LogBase = None) -> Tensor:
        """The log density ratio log R(u) that a height stands for.

        Where R is 0 or infinite, and beyond K on either side, it is the log of the least or the largest number.
        """
        u = as_heights(u)
        if self.estimand.log_ratio is not None:
            return self.estimand.log_ratio(u)
        least, largest = torch.finfo(u.dtype).tiny, torch.finfo(u.dtype).max
        inside = self.interval.contains(u) | torch.isnan(u)
        ratio = self.ratio(torch.where(inside, u, self._start), log_base)
        beyond = torch.where(self.sign * (u - self._start) > 0, u.new_tensor(largest), u.new_tensor(least))
        return torch.log(torch.clamp(torch.where(inside, ratio, beyond), least, largest))

    def forces(self, u: Tensor, batch: Batch) -> Tensor:
        """Signed weights of u's shape, whose product with ∂u/∂θ is the PSO gradient."""
        return (self.force_rule or scalar_forces)(self, u, batch)

    def _curve(self, side: str, log_base: float = 0.0) -> Curve:
        """A magnitude as a function of one height; several outputs are followed along the first, the others at 0."""
        magnitude: Magnitude = getattr(self, side)
        if self.scalar:
            return lambda u: magnitude(u, log_base)
        return lambda u: magnitude(torch.stack([u, torch.zeros_like(u)], dim=-1))[..., 0]

    @cached_property
    def _start(self) -> float:
        """A height well inside K, from which quadrature starts."""
        return self.interval.from_real(torch.zeros((), dtype=torch.float64)).item()

    def _probe(self) -> None:
        u = self.interval.grid(33, reach=10.0)
        for side in ("up", "down"):
            values = self._curve(side)(u)
            if bool(torch.isnan(values).any()):
                where = u[torch.isnan(values)][0].item()
                message = f"M_{side} of {self.name} is NaN at u = {where:.6g}, inside K = {self.interval}"
                raise ValueError(message)


def _spelled(parameter: object) -> str:
    """A parameter in a label; functions go by their names."""
    return getattr(parameter, "__name__", None) or getattr(parameter, "name", None) or repr(parameter)
