"""The product of the columns' own densities, each as sharp as its rows allow: the base of independent columns.

    p(x) = Π_i p_i(x_i)

A column's density is a Pólya tree's posterior mean on fine bins (:mod:`equipoise.bases.density_tree`): deep where the
density jumps, a kernel density's bandwidth where it is smooth. Beyond the first and last row lies a mass of 1/(n + 2)
on each side, unless bounds were given.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from equipoise.bases.base import Base, refuse_constant, row_count
from equipoise.bases.binned_kernel import binned_kernels
from equipoise.bases.columns import Columns
from equipoise.bases.density_tree import tree_density

_OCTAVES = 7  # bandwidths: the column's deviation, and its halves
_CHUNK = 8192  # rows evaluated together
_TOGETHER = 16_384  # bins smoothed together
_QUANTILE_ROWS = 100_000


class Marginals(Base):
    """A product of fitted densities of single columns.

    Arguments:
        low: Lower bounds, (d,) or one for all; −∞ where a column has none.
        high: Upper bounds.
        bins: Bins per column, a power of two; follows the number of rows where it is None.
    """

    fitted: ClassVar[tuple[str, ...]] = ("centre_", "spread_", "low_", "high_", "tails_", "mass_")

    def __init__(self, low: Any = None, high: Any = None, *, bins: int | None = None) -> None:  # noqa: ANN401
        if bins is not None and (bins < 8 or bins & (bins - 1)):
            message = f"bins must be a power of two, at least 8; got {bins!r}"
            raise ValueError(message)
        self.low, self.high, self.bins = low, high, bins

    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments, but for given bounds, which are state."""
        return {"bins": self.bins}

    @property
    def columns(self) -> Columns:
        """The columns' densities, with distribution functions and quantiles."""
        if "_columns" not in self.__dict__:
            self._columns = Columns(*(self._state(name) for name in self.fitted))
        return self._columns

    def load_state(self, state: dict[str, Tensor]) -> Marginals:
        """Take fitted tensors over from :meth:`state`."""
        self.__dict__.pop("_columns", None)
        return super().load_state(state)

    def _fit(self, rows: Tensor, share: Tensor) -> None:
        rows, share = rows[share > 0], share[share > 0]
        lowest, highest = rows.amin(dim=0), rows.amax(dim=0)
        refuse_constant(highest > lowest)
        n = row_count(share)
        lower, upper = self._bounds(lowest, highest)
        self.tails_ = torch.stack([torch.isinf(lower), torch.isinf(upper)]).to(torch.float64) / (n + 2.0)
        self.centre_, self.spread_ = (
            torch.stack(part) for part in zip(*map(_scale, rows.T, _repeat(share, rows)), strict=True)
        )
        ends = torch.stack(
            [torch.where(torch.isinf(lower), lowest, lower), torch.where(torch.isinf(upper), highest, upper)]
        )
        self.low_, self.high_ = torch.asinh((ends - self.centre_) / self.spread_)
        bins = self.bins or 1 << min(max((int(n) - 1).bit_length() - 2, 8), 13 if n < 1e6 else 14)
        counts = n * torch.stack([self._binned(rows[:, i], share, i, bins) for i in range(rows.shape[1])])
        together = max(1, _TOGETHER // bins)
        density = torch.cat([_smooth(part) for part in counts.split(together)])
        self.mass_ = density * (1.0 - self.tails_.sum(dim=0)).unsqueeze(1)
        self.__dict__.pop("_columns", None)

    def _bounds(self, lowest: Tensor, highest: Tensor) -> tuple[Tensor, Tensor]:
        lower, upper = torch.full_like(lowest, -torch.inf), torch.full_like(highest, torch.inf)
        lower = lower if self.low is None else torch.as_tensor(self.low, dtype=torch.float64).expand_as(lowest)
        upper = upper if self.high is None else torch.as_tensor(self.high, dtype=torch.float64).expand_as(highest)
        outside = torch.nonzero((lowest < lower) | (highest > upper)).flatten().tolist()
        if outside:
            message = f"columns {outside} have rows outside of the bounds given: widen the bounds or drop the rows"
            raise ValueError(message)
        return lower, upper

    def _binned(self, column: Tensor, share: Tensor, i: int, bins: int) -> Tensor:
        z = torch.asinh((column - self.centre_[i]) / self.spread_[i])
        position = (z - self.low_[i]) * (bins / (self.high_[i] - self.low_[i]))
        return torch.bincount(position.long().clamp(0, bins - 1), weights=share, minlength=bins)

    def _is_density(self) -> bool:
        return self.columns.are_densities

    def _support(self) -> tuple[Tensor, Tensor]:
        open_, ends = self.tails_ > 0, self.columns.ends
        infinite = torch.full_like(ends, torch.inf)
        return torch.where(open_[0], -infinite[0], ends[0]), torch.where(open_[1], infinite[1], ends[1])

    def _sample(self, n: int, generator: Generator | None, dtype: torch.dtype) -> Tensor:
        return self.columns.draw(n, generator, dtype)

    def _log_prob(self, x: Tensor) -> Tensor:
        parts = [self.columns.log_prob(part.to(torch.float64)).sum(dim=1) for part in x.split(_CHUNK)]
        return torch.cat(parts).to(x.dtype)


def _smooth(counts: Tensor) -> Tensor:
    """Smooth masses of binned columns, (d, m)."""
    at = torch.arange(counts.shape[1], dtype=counts.dtype)
    share = counts / counts.sum(dim=1, keepdim=True)
    mean = share @ at
    deviation = torch.sqrt((share * (at - mean.unsqueeze(1)) ** 2).sum(dim=1, keepdim=True))
    bandwidths = (deviation * 0.5 ** torch.arange(_OCTAVES, dtype=counts.dtype)).clamp(min=1.0)
    return tree_density(counts, *binned_kernels(counts, bandwidths))


def _repeat(share: Tensor, rows: Tensor) -> list[Tensor]:
    return [share] * rows.shape[1]


def _scale(column: Tensor, share: Tensor) -> tuple[Tensor, Tensor]:
    """The median, and twice the distance of the quartiles, or of wider quantiles where those agree."""
    stride = -(-len(column) // _QUANTILE_ROWS)
    values, order = torch.sort(column[::stride])
    below = torch.cumsum(share[::stride][order], dim=0)
    wanted = torch.tensor([0.5, 0.25, 0.75, 0.1, 0.9, 0.01, 0.99, 0.0, 1.0], dtype=torch.float64) * below[-1]
    quantile = values[torch.searchsorted(below, wanted * (1.0 - 1e-12)).clamp(max=len(values) - 1)]
    width = quantile[2::2] - quantile[1::2]
    width = torch.where(width > 0, width, width[-1])
    first = width[torch.nonzero(quantile[2::2] > quantile[1::2]).flatten()]
    return quantile[0], 2.0 * (first[0] if len(first) else column.max() - column.min())
