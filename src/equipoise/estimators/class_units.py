"""The units a classifier sees columns in: mean 0 and deviation 1, without those that hold one value only.

standard = (x − mean) / deviation,      clamped far out, where sums of squares would overflow
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

_POWERS = 900  # of two, either way
_FAR = 1e12  # deviations


@dataclass(frozen=True)
class ClassUnits:
    """What turns rows in the table's units into standardised ones.

    Arguments:
        shift: Means, (d,).
        scale: Deviations, (d,); zero for columns that are left out.
        notes: What was left out, in sentences.
    """

    shift: Tensor
    scale: Tensor
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Tensor, share: Tensor, names: tuple[str, ...]) -> Self:
        """The units of rows (n, d), of which each is a share of the whole."""
        unit = 2.0 ** torch.floor(torch.log2(rows.abs().amax(dim=0))).clamp(-_POWERS, _POWERS)  # squares stay finite
        near = rows / unit
        shift = share @ near
        scale = torch.sqrt(share @ (near - shift) ** 2)
        scale = torch.where(rows.amax(dim=0) > rows.amin(dim=0), scale, 0.0) * unit
        called = list(map(repr, names)) or list(map(str, range(rows.shape[1])))
        constant = [name for name, spread in zip(called, scale.tolist(), strict=True) if spread == 0.0]
        if len(constant) == len(called):
            message = f"columns {', '.join(constant)} hold one value only: there is nothing to tell classes apart by"
            raise ValueError(message)
        notes = [f"Left out, since they hold one value only: {', '.join(constant)}."] if constant else []
        return cls(shift * unit, scale, tuple(notes))

    @property
    def kept(self) -> int:
        """How many columns are looked at."""
        return int((self.scale > 0).sum())

    def standard(self, rows: Tensor) -> Tensor:
        """Rows (n, d) in standard units, of the columns that are looked at."""
        used = self.scale > 0
        shift, scale = self.shift[used], self.scale[used]
        inside = rows[:, used].clamp(shift - _FAR * scale, shift + _FAR * scale)
        return (inside - shift) / scale
