"""What a table's columns are like before a density is fitted to them: their units, lattices, repeated values, bounds.

    standard = (x − mean) / deviation        jitter: x + U(−step/2, step/2) on a lattice

A power of two in front of a column scales mean and deviation without any rounding, and the standard rows stay the same
bit by bit; any other scale, or a shift, changes them by rounding alone.
Integers and rounded numbers have no density. Spread evenly over their steps they have one, and its value at a lattice
point is the probability of that point per step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from equipoise.estimators.density_settings import Settings

_REPEATED = 0.02  # a share of the rows at one value from which it is said
_MOST_LEVELS = 0.5  # levels per row below which a lattice is a lattice
_LOOKED_AT = 20_000
_FEWEST_FOR_EDGES = 200
_POWERS = 900  # of two, either way, between which deviations must lie


@dataclass(frozen=True)
class Columns:
    """Standardised rows and what was found about them.

    Arguments:
        standard: (n, d), float64, jittered where it was asked for.
        shift, scale: (d,), back to the table's units.
        low, high: The user's bounds in standardised units, (d,) each.
        warnings: Sentences.
    """

    standard: Tensor
    shift: Tensor
    scale: Tensor
    low: Tensor
    high: Tensor
    warnings: list[str] = field(default_factory=list)

    @property
    def log_units(self) -> float:
        """Σ log scale: what a log density loses on the way back to the table's units."""
        return torch.log(self.scale).sum().item()

    @classmethod
    def of(
        cls, values: np.ndarray[Any, Any], weight: Tensor | None, names: tuple[str, ...], settings: Settings
    ) -> Self:
        """Look at rows (n, d), and standardise them."""
        rows = torch.from_numpy(values)
        called = [repr(name) for name in names] or list(map(str, range(rows.shape[1])))
        _refuse(rows, called)
        low, high = _bounds(settings.bounds, rows, called)
        steps = torch.tensor([_step(column, settings.jitter) for column in rows.T], dtype=torch.float64)
        warnings = _remarks(rows, steps, called, settings)
        if bool((steps > 0).any()):
            noise = torch.rand(rows.shape, generator=torch.Generator().manual_seed(settings.seed + 3), dtype=rows.dtype)
            rows = rows + (noise - 0.5) * steps
            low, high = low - steps / 2, high + steps / 2
        shift, scale = _units(rows, weight, called)
        return cls((rows - shift) / scale, shift, scale, (low - shift) / scale, (high - shift) / scale, warnings)


def _refuse(rows: Tensor, called: list[str]) -> None:
    if len(rows) < 2:
        message = "a density needs at least 2 rows, got n_samples = 1"
        raise ValueError(message)
    constant = [name for name, column in zip(called, rows.T, strict=True) if column.min() == column.max()]
    if constant:
        message = f"columns {', '.join(constant)} hold one value only and have no density: leave them out"
        raise ValueError(message)


def _units(rows: Tensor, weight: Tensor | None, called: list[str]) -> tuple[Tensor, Tensor]:
    """Weighted means and deviations of the columns, (d,) each, by way of powers of two in which no square overflows."""
    largest = rows.abs().amax(dim=0)
    unit = 2.0 ** torch.floor(torch.log2(largest)).clamp(-_POWERS, _POWERS)
    share = torch.full((len(rows),), 1.0 / len(rows), dtype=rows.dtype) if weight is None else weight / weight.sum()
    near = rows / unit
    shift = share @ near
    scale = torch.sqrt(share @ (near - shift) ** 2)
    power = torch.log2(scale) + torch.log2(unit)
    beyond = [f"{called[i]} (up to {largest[i]:.3g})" for i in torch.nonzero(power.abs() > _POWERS).flatten().tolist()]
    if beyond:
        message = (
            f"columns {', '.join(beyond)} are spread too far or too little for float64 to hold their squares: "
            "multiply them by a constant first, or leave out the rows that do not belong"
        )
        raise ValueError(message)
    return shift * unit, scale * unit


def _bounds(given: Any, rows: Tensor, called: list[str]) -> tuple[Tensor, Tensor]:  # noqa: ANN401
    d = rows.shape[1]
    if given is None:
        return torch.full((d,), -inf, dtype=torch.float64), torch.full((d,), inf, dtype=torch.float64)
    try:
        pair = (np.asarray(end, dtype=np.float64) for end in given)
        low, high = (torch.from_numpy(np.broadcast_to(end, (d,)).copy()) for end in pair)
    except (TypeError, ValueError):
        message = f"bounds must be (low, high), each a number or one per column ({d}); ±inf where there is none"
        raise ValueError(message) from None
    if not bool((low < high).all()):
        message = f"bounds need low < high in every column, got {given!r}"
        raise ValueError(message)
    outside = [f"{called[i]} ({int(k)})" for i, k in enumerate(((rows < low) | (rows > high)).sum(dim=0)) if k]
    if outside:
        message = f"rows lie outside of the bounds in columns {', '.join(outside)}"
        raise ValueError(message)
    return low, high


def _step(column: Tensor, jitter: Any) -> float:  # noqa: ANN401
    """The step of the lattice that a column lives on; 0 where it lives on none, or is to be left alone."""
    if jitter is False or jitter is None:
        return 0.0
    if isinstance(jitter, float):
        return jitter
    levels = torch.unique(column[:_LOOKED_AT])
    if len(levels) > _MOST_LEVELS * min(len(column), _LOOKED_AT) and jitter != True:  # noqa: E712
        return 0.0
    gaps = torch.diff(levels)
    step = gaps.min().item() if len(gaps) else 0.0
    steps = gaps / step if step > 0 else gaps
    on_lattice = bool(((steps - torch.round(steps)).abs() < 1e-3).all()) and steps.max().item() < 1e6
    return step if on_lattice else 0.0


def _remarks(rows: Tensor, steps: Tensor, called: list[str], settings: Settings) -> list[str]:
    """What was found, in sentences."""
    said = []
    lattice = [f"{name} (step {step:.4g})" for name, step in zip(called, steps.tolist(), strict=True) if step > 0]
    if lattice:
        said.append(
            f"Columns on a lattice were spread evenly over its steps: {', '.join(lattice)}. "
            "Their density is probability per step; jitter=False leaves them as they are."
        )
    for name, column, step in zip(called, rows.T, steps.tolist(), strict=True):
        if step > 0:
            continue
        values, counts = torch.unique(column, return_counts=True)
        share = counts.max().item() / len(column)
        if share >= _REPEATED and counts.max().item() >= 5:
            value = values[counts.argmax()].item()
            said.append(
                f"Column {name} is {value:.6g} in {share:.0%} of the rows: no density can hold such a point, "
                "and scores there depend on how narrow a peak was fitted."
            )
    if settings.bounds is None:
        edges = [name for name, column in zip(called, rows.T, strict=True) if _has_edge(column)]
        if edges:
            said.append(f"Columns with a sharp edge at their least or largest value: {', '.join(edges)}; see bounds.")
    return said


def _has_edge(column: Tensor) -> bool:
    """Whether rows are half as dense at an end of their range as on the whole, or as between the quartiles."""
    n = len(column)
    if n < _FEWEST_FOR_EDGES:
        return False
    ordered = column.sort().values
    widths = (ordered[-1] - ordered[0]).item(), 2.0 * (ordered[3 * n // 4] - ordered[n // 4]).item()
    typical = n / max(min(widths), 1e-300)
    k = max(10, n // 100)
    ends = (ordered[k] - ordered[0]).item(), (ordered[-1] - ordered[-1 - k]).item()
    return any(k / max(end, 1e-300) > 0.5 * typical for end in ends)
