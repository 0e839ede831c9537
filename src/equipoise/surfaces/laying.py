"""Where to lay knots over the rows of a column: at equal distances or at quantiles, and around jumps.

A spline with knots on either side of a jump follows it as it is; one whose knots lie anywhere smears it over their
distance. So each jump takes two knots, a hair before it and a hair after it, and the others lie as if there were none.
"""

from __future__ import annotations

import torch
from torch import Tensor

from equipoise.surfaces.jumps import find

_HAIR = 2  # roundings that keep two knots apart


def lay(rows: Tensor, knots: int, at: str, *, jumps: bool, like: Tensor) -> Tensor:
    """Knots (d, K) over rows (n, d), increasing even where a tensor ``like`` holds them."""
    columns = rows.sort(dim=0).values.T.contiguous()
    low, high = columns[:, :1], columns[:, -1:]
    apart = _HAIR * torch.finfo(like.dtype).eps * torch.maximum(low.abs(), high.abs())
    if bool((knots * apart > high - low).any()):
        crowded = torch.nonzero(knots * apart > high - low)[:, 0].tolist()
        message = f"columns {crowded} are too narrow for {knots} knots in {like.dtype}: standardise them first"
        raise ValueError(message)
    if at == "equal" and not jumps:
        return equal(low, high, knots)
    laid = torch.stack([_lay(column, knots, at, jumps=jumps) for column in columns])
    return _separate(laid, torch.maximum(apart, 1e-6 * (high - low) / knots), high)


def equal(low: Tensor, high: Tensor, knots: int) -> Tensor:
    """Knots at equal distances from low to high, both (d, 1)."""
    return low + (high - low) * torch.linspace(0.0, 1.0, knots, dtype=low.dtype, device=low.device)


def _lay(column: Tensor, knots: int, at: str, *, jumps: bool) -> Tensor:
    """Knots of one sorted column: every stretch between jumps has a knot at either end, and its share of the others."""
    places, errors = find(column) if jumps else (column[:0], column[:0])
    places, order = places[: (knots - 2) // 4].sort()  # half of the knots stay for everything else
    errors = errors[order]
    starts = torch.cat([column[:1], places + errors])
    ends = torch.cat([places - errors, column[-1:]])
    first, last = torch.searchsorted(column, starts), torch.searchsorted(column, ends, right=True) - 1
    measure = ends - starts if at == "equal" else (last - first).double()
    extra = knots - 2 * len(starts)
    inner = torch.diff(torch.round(extra * (measure / measure.sum()).cumsum(0)), prepend=measure.new_zeros(1))
    stretches = []
    for start, end, low, high, count in zip(starts, ends, first, last, (inner + 2).tolist(), strict=True):
        share = torch.linspace(0.0, 1.0, int(count), dtype=column.dtype, device=column.device)
        if at == "equal":
            stretches.append(start + (end - start) * share)
        else:
            inside = column[torch.round(low + (high - low) * share).long()]
            stretches.append(torch.cat([start[None], inside[1:-1], end[None]]))
    return torch.cat(stretches).sort().values


def _separate(knots: Tensor, apart: Tensor, high: Tensor) -> Tensor:
    """Push knots that coincide a hair apart: to the right, and back under the upper end."""
    steps = torch.arange(knots.shape[1], dtype=knots.dtype, device=knots.device) * apart
    risen = torch.cummax(knots - steps, dim=1).values + steps
    return risen - torch.clamp(risen - (high - steps.flip(1)), min=0.0)
