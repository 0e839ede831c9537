"""Two tables of rows, numerator and denominator, parted into folds, and into rows that teach and rows that choose.

r(x) = p_num(x) / p_den(x),      rows x ~ p_num and x ~ p_den, with weights where they have any
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor


@dataclass(frozen=True)
class Side:
    """Rows of one density.

    Arguments:
        rows: (n, d), float64.
        weight: Non-negative sample weights, (n,); all alike where it is None.
        held_out_by: By which folds a row is held out, the bits of an integer, (n,); by none where it is None.
    """

    rows: Tensor
    weight: Tensor | None = None
    held_out_by: Tensor | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Tensor | slice) -> Side:
        weight, by = (None if value is None else value[index] for value in (self.weight, self.held_out_by))
        return Side(self.rows[index], weight, by)

    def seen_by(self, fold: int) -> Tensor:
        """Which rows a fold may use, (n,)."""
        if self.held_out_by is None:
            return torch.ones(len(self), dtype=torch.bool)
        return (self.held_out_by >> fold) & 1 == 0

    @property
    def share(self) -> Tensor:
        """Every row's share of the whole, (n,)."""
        if self.weight is None:
            return torch.full((len(self),), 1.0 / len(self), dtype=torch.float64)
        return self.weight.double() / self.weight.sum()


@dataclass(frozen=True)
class Sides:
    """Rows of both densities."""

    num: Side
    den: Side

    def map(self, function: Callable[[Tensor], Tensor]) -> Sides:
        """The same rows in other columns."""
        return Sides(*(replace(side, rows=function(side.rows)) for side in self.both))

    @property
    def both(self) -> tuple[Side, Side]:
        """Numerator and denominator."""
        return self.num, self.den

    @property
    def fewer(self) -> int:
        """Rows of the smaller side."""
        return min(len(self.num), len(self.den))

    @property
    def pooled(self) -> Side:
        """All rows, both sides counting alike."""
        share = torch.cat([self.num.share, self.den.share])
        return Side(torch.cat([self.num.rows, self.den.rows]), share)

    def take(self, num: Tensor, den: Tensor) -> Sides:
        """The rows at positions of either side."""
        return Sides(self.num[num], self.den[den])

    def split(self, share: float, seed: int) -> tuple[Sides, Sides]:
        """Rows that teach, and a share of both sides that chooses."""
        generator = torch.Generator().manual_seed(seed)
        orders = [torch.randperm(len(side), generator=generator) for side in self.both]
        cuts = [max(1, round(share * len(order))) for order in orders]
        teach, choose = zip(*((order[cut:], order[:cut]) for order, cut in zip(orders, cuts, strict=True)), strict=True)
        return self.take(*teach), self.take(*choose)


@dataclass(frozen=True)
class Fold:
    """Rows that a ratio may see, and rows held out from it, with where the latter stand in their tables."""

    seen: Sides
    held_out: Sides
    num_at: Tensor
    den_at: Tensor


def folds(sides: Sides, count: int, seed: int) -> list[Fold]:
    """Both sides in ``count`` parts at random; each part is held out once."""
    generator = torch.Generator().manual_seed(seed)
    parts = [_parts(len(side), count, generator) for side in sides.both]
    sides = Sides(*(replace(side, held_out_by=bits(part)) for side, part in zip(sides.both, parts, strict=True)))
    found = []
    for k in range(count):
        rest = [torch.cat([*part[:k], *part[k + 1 :]]) for part in parts]
        found.append(Fold(sides.take(*rest), sides.take(parts[0][k], parts[1][k]), parts[0][k], parts[1][k]))
    return found


def bits(parts: Sequence[Tensor]) -> Tensor:
    """By which of the parts every row is held out, as the bits of an integer."""
    held_out_by = torch.zeros(sum(map(len, parts)), dtype=torch.int64)
    for k, part in enumerate(parts):
        held_out_by[part] = 1 << k
    return held_out_by


def _parts(n: int, count: int, generator: Generator) -> tuple[Tensor, ...]:
    return torch.randperm(n, generator=generator).tensor_split(count)
