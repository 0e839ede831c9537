"""The units two tables are compared in: pooled, standardised, without columns that hold one value on both sides.

    standard = (x − shift) / scale,   both sides counting alike; scale a power of two, which does not round

A column that is constant where both tables are is no difference, and no density either: it is left out, and said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from equipoise.ratios import Side, Sides


@dataclass(frozen=True)
class Units:
    """What turns rows in the tables' units into standardised ones.

    Arguments:
        shift: (d,).
        scale: (d,), powers of two; zero for columns that are left out.
        notes: What was left out, in sentences.
    """

    shift: Tensor
    scale: Tensor
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, num: Side, den: Side, names: tuple[str, ...]) -> Self:
        """The units of two sides with the same columns."""
        pooled = Sides(num, den).pooled
        rows, share = pooled.rows, pooled.share / pooled.share.sum()
        varies = rows.amax(dim=0) > rows.amin(dim=0)
        called = list(map(repr, names)) or list(map(str, range(rows.shape[1])))
        constant = [name for name, moves in zip(called, varies.tolist(), strict=True) if not moves]
        if len(constant) == len(called):
            message = f"columns {', '.join(constant)} hold one value in both tables: there is nothing to compare"
            raise ValueError(message)
        shift = share @ rows
        deviation = torch.sqrt(share @ (rows - shift) ** 2).clamp(min=torch.finfo(rows.dtype).tiny)
        scale = torch.where(varies, 2.0 ** torch.round(torch.log2(deviation)), 0.0)
        notes = [f"Left out, since they hold one value in both tables: {', '.join(constant)}."] if constant else []
        return cls(shift, scale, tuple(notes))

    @property
    def kept(self) -> int:
        """How many columns are compared."""
        return int((self.scale > 0).sum())

    def standard(self, rows: Tensor) -> Tensor:
        """Rows (n, d) in standard units, of the columns that are compared."""
        used = self.scale > 0
        return (rows[:, used] - self.shift[used]) / self.scale[used]
