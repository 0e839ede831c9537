"""Drawing from unequal cells in constant time: Walker's alias tables, built for a whole row of cells at once.

    cell ~ uniform over m cells,   keep it with probability keep(cell), or take other(cell)

Cells below the mean share borrow from those above it. In order, a light cell borrows from the heavy one that is being
spent, and a heavy cell that is spent borrows from the next, so that all follows from two running sums.
"""

from __future__ import annotations

import torch
from torch import Tensor


def alias_tables(shares: Tensor) -> tuple[Tensor, Tensor]:
    """The tables keep and other, (m,) each, of shares (m,) that sum to one."""
    relative = shares * len(shares)
    light, heavy = torch.nonzero(relative < 1.0).flatten(), torch.nonzero(relative >= 1.0).flatten()
    keep, other = torch.ones_like(relative), torch.arange(len(shares))
    if len(light) == 0:
        return keep, other
    missing = torch.cumsum(1.0 - relative[light], dim=0)
    spare = torch.cumsum(relative[heavy] - 1.0, dim=0)
    before = torch.cat([missing.new_zeros(1), missing[:-1]])
    lender = torch.searchsorted(spare, before, right=True).clamp(max=len(heavy) - 1)
    keep[light], other[light] = relative[light], heavy[lender]
    emptied_by = torch.searchsorted(missing, spare[:-1], right=True)  # the light cell that overdraws each heavy one
    drawn = emptied_by < len(light)
    cells = heavy[:-1][drawn]
    keep[cells] = 1.0 - (missing[emptied_by[drawn]] - spare[:-1][drawn])
    other[cells] = heavy[1:][drawn]
    return keep.clamp(0.0, 1.0), other
