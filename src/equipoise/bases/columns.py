"""Densities of single columns: constant on equal bins of an arsinh scale, with Pareto tails beyond the last bins.

    p(x) = (mass_k/h)·dz/dx,   z = arsinh((x − c)/s) in bin k          inside
    p(x) = p_end·(1 + |x − end|/t)^(−3),   t = 2·tail/p_end            beyond, continuous, of mass `tail`

The scale is linear around c and logarithmic far out, so that equal bins serve heavy tails too. The distribution
function and the quantiles are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Generator, Tensor
from torch.nn.functional import softplus

from equipoise.bases.alias import alias_tables
from equipoise.bases.fitted import are_finite

_ROUNDING = 1e-5  # of masses that sum to one
_LEAST = 1e-300  # of a probability, before it becomes a score
_NO_TAIL = 1e-300  # of a reach
_INDEX = 2.0  # of the Pareto tails: a mean exists, a variance does not


@dataclass(frozen=True)
class Columns:
    """Densities of d columns on m bins each, in float64.

    Arguments:
        centre, spread: c and s, (d,).
        low, high: Where the bins begin and end on the arsinh scale, (d,).
        tails: Mass below and above, (2, d).
        mass: Mass of the bins, (d, m).
    """

    centre: Tensor
    spread: Tensor
    low: Tensor
    high: Tensor
    tails: Tensor
    mass: Tensor

    @property
    def are_densities(self) -> bool:
        """Whether the numbers are what they should be: a file may hold anything."""
        if self.mass.dim() != 2 or 0 in self.mass.shape:
            return False
        d = self.mass.shape[:1]
        shapes = [value.shape for value in (self.centre, self.spread, self.low, self.high)]
        if shapes != [d] * 4 or self.tails.shape != (2, *d) or not are_finite(self.mass, self.tails):
            return False
        whole = self.mass.sum(dim=1) + self.tails.sum(dim=0)
        positive = bool((self.mass > 0).all() & (self.tails >= 0).all() & (self.spread > 0).all())
        reach = self.reach[self.tails > 0]
        return (
            positive
            and bool(((whole - 1.0).abs() < _ROUNDING).all() & (self.low < self.high).all() & (reach > 0).all())
            and are_finite(self.centre, self.spread, self.ends, self.reach, self._log_end, self._log_height)
        )

    @cached_property
    def step(self) -> Tensor:
        """The bins' width h, (d,)."""
        return (self.high - self.low) / self.mass.shape[1]

    @cached_property
    def ends(self) -> Tensor:
        """The columns' values where the tails begin, (2, d)."""
        return self.centre + self.spread * torch.sinh(torch.stack([self.low, self.high]))

    @cached_property
    def _log_end(self) -> Tensor:
        """The log density at the ends, (2, d)."""
        slope = self.spread * torch.cosh(torch.stack([self.low, self.high])) * self.step
        return torch.log(self.mass[:, [0, -1]].T / slope)

    @cached_property
    def reach(self) -> Tensor:
        """The tails' scale t, (2, d)."""
        return _INDEX * self.tails * torch.exp(-self._log_end)

    @cached_property
    def _log_height(self) -> Tensor:
        """Log(mass/(h·s)) of all bins, one column after the other."""
        return torch.log(self.mass / (self.step * self.spread).unsqueeze(1)).flatten()

    @cached_property
    def _below(self) -> Tensor:
        """The distribution function where bins begin, and where the last one ends, (d, m + 1)."""
        edges = torch.cumsum(torch.cat([self.tails[0].unsqueeze(1), self.mass], dim=1), dim=1)
        return edges.contiguous()

    @cached_property
    def _above(self) -> Tensor:
        """One minus the distribution function at the same places, without its rounding."""
        edges = torch.cumsum(torch.cat([self.tails[1].unsqueeze(1), self.mass.flip(1)], dim=1), dim=1)
        return edges.flip(1).contiguous()

    def log_prob(self, x: Tensor) -> Tensor:
        """The log density of every entry of x (n, d)."""
        scaled = (x - self.centre) / self.spread
        position = (torch.asinh(scaled) - self.low) / self.step
        value = torch.take(self._log_height, self._index(position)) - 0.5 * torch.log1p(scaled**2)
        for side, (row, column) in enumerate(self._outside(position)):
            log_far = torch.log((x[row, column] - self.ends[side, column]).abs()) - torch.log(self.reach[side, column])
            value[row, column] = self._log_end[side, column] - (_INDEX + 1.0) * softplus(log_far)
        return value

    def cdf(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """P(X ≤ x) and P(X > x) of every entry of x (n, d), each exact where it is small."""
        position = (torch.asinh((x - self.centre) / self.spread) - self.low) / self.step
        index = self._index(position)
        mass, column = self.mass.flatten()[index], index // self.mass.shape[1]
        inside = position - torch.remainder(index, self.mass.shape[1])
        below = self._below.flatten()[index + column] + inside * mass
        above = self._above.flatten()[index + column + 1] + (1.0 - inside) * mass
        lower, upper = (
            self.tails[side] * (1.0 + distance.clamp(min=0.0) / self.reach[side].clamp(min=_NO_TAIL)) ** -_INDEX
            for side, distance in enumerate((self.ends[0] - x, x - self.ends[1]))
        )
        under, over = position < 0.0, position > self.mass.shape[1]
        return (
            torch.where(under, lower, torch.where(over, 1.0 - upper, below)),
            torch.where(under, 1.0 - lower, torch.where(over, upper, above)),
        )

    def scores(self, x: Tensor) -> Tensor:
        """Normal scores Φ⁻¹(F(x)) of every entry of x (n, d), each from the nearer end of its distribution."""
        below, above = self.cdf(x)
        nearer = torch.special.ndtri(torch.minimum(below, above).clamp(min=_LEAST))
        return torch.where(below < above, nearer, -nearer)

    def quantile(self, below: Tensor, above: Tensor | None = None) -> Tensor:
        """Where P(X ≤ x) is ``below`` and P(X > x) is ``above``, (n, d): the inverse of :meth:`cdf`."""
        above = 1.0 - below if above is None else above
        below, above = below.clamp(min=_LEAST), above.clamp(min=_LEAST)  # a quantile is a number
        bins = self.mass.shape[1]
        index = torch.searchsorted(self._below, below.T.contiguous(), right=True).T - 1
        index = index.clamp(0, bins - 1)
        flat = index + bins * torch.arange(len(self.mass))
        start = torch.take(self._below, flat + flat // bins)
        inside = ((below - start) / torch.take(self.mass, flat)).clamp(0.0, 1.0)
        x = self.centre + self.spread * torch.sinh(self.low + (index + inside) * self.step)
        for side, (share, sign) in enumerate(((below, -1.0), (above, 1.0))):
            row, of = torch.nonzero(share < self.tails[side], as_tuple=True)
            far = (share[row, of] / self.tails[side, of]) ** (-1.0 / _INDEX) - 1.0
            x[row, of] = self.ends[side, of] + sign * self.reach[side, of] * far
        return x

    def draw(self, n: int, generator: Generator | None, dtype: torch.dtype) -> Tensor:
        """Independent entries, (n, d)."""
        table = self._table(dtype)
        d, cells = table.keep.shape
        cell = torch.rand(n, d, generator=generator, dtype=dtype).mul_(cells).long().clamp_(max=cells - 1)
        inside = torch.rand(n, d, generator=generator, dtype=dtype)
        flat = cell + table.first
        keep = torch.take(table.keep, flat)
        kept = inside < keep
        cell = torch.where(kept, cell, torch.take(table.other, flat))
        inside = torch.where(kept, inside / keep, (inside - keep) / (1.0 - keep))  # uniform again, whichever was taken
        x = torch.addcmul(table.low, inside.add_(cell), table.step).sinh_().mul_(table.spread).add_(table.centre)
        for side, end in enumerate((0, cells - 1)):
            row, of = torch.nonzero(cell == end, as_tuple=True)
            if len(row):
                share = 1.0 - torch.rand(len(row), generator=generator, dtype=dtype)
                far = table.reach[side, of] * (share ** (-1.0 / _INDEX) - 1.0)
                x[row, of] = table.ends[side, of] + (far if side else -far)
        return x

    def _table(self, dtype: torch.dtype) -> _Table:
        """What drawing reads, made at the first draw of a precision."""
        tables: dict[torch.dtype, _Table] = self._tables
        if dtype not in tables:
            tables[dtype] = _Table.of(self, dtype)
        return tables[dtype]

    @cached_property
    def _tables(self) -> dict[torch.dtype, _Table]:
        return {}

    def _index(self, position: Tensor) -> Tensor:
        """Which bin of all columns' bins, one column after the other; the nearest for entries outside, 0 for NaN."""
        bins = self.mass.shape[1]
        return position.clamp(0, bins - 1).nan_to_num(nan=0.0).long() + bins * torch.arange(len(self.mass))

    def _outside(self, position: Tensor) -> list[tuple[Tensor, ...]]:
        """Rows and columns of the entries below the bins, and above them."""
        return [
            torch.nonzero(position < 0.0, as_tuple=True),
            torch.nonzero(position > self.mass.shape[1], as_tuple=True),
        ]


@dataclass(frozen=True)
class _Table:
    """Alias tables over a column's bins with a tail's cell at either end, and where a cell lies."""

    keep: Tensor
    other: Tensor
    first: Tensor
    low: Tensor
    step: Tensor
    spread: Tensor
    centre: Tensor
    ends: Tensor
    reach: Tensor

    @classmethod
    def of(cls, columns: Columns, dtype: torch.dtype) -> _Table:
        shares = torch.cat([columns.tails[0, :, None], columns.mass, columns.tails[1, :, None]], dim=1)
        keep, other = zip(*(alias_tables(share) for share in shares), strict=True)
        first = shares.shape[1] * torch.arange(len(shares))
        low = columns.low - columns.step  # the lower tail's cell lies before the first bin
        lasting = [torch.stack(keep), low, columns.step, columns.spread, columns.centre, columns.ends, columns.reach]
        keeps, *numbers = (value.to(dtype) for value in lasting)
        return cls(keeps, torch.stack(other), first, *numbers)
