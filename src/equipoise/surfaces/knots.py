"""Knots of linear splines, one row of them per column, and where a row's numbers fall between them.

    knots_j < x ≤ knots_{j+1},   share = (x − knots_j) / (knots_{j+1} − knots_j), held in [0, 1]

Knots at equal distances are found by arithmetic, others by a binary search of all numbers at once: as many passes over
whole arrays as the search has steps, none of which branches on a number.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from equipoise.surfaces.transforms import transformed

_ULPS = 4  # how far rounding may take equal distances from equal


@dataclass(frozen=True)
class Knots:
    """Knots with what finding needs.

    Arguments:
        at: Their positions, (d, K).
        density: Knots per unit of every column where distances are equal, (d, 1); None where they are not.
        inverse: One over every distance, (d, K − 1); zero where rounding has made two knots one.
        tree: All but the last, filled up with infinity to a power of two.
    """

    at: Tensor
    density: Tensor | None
    inverse: Tensor
    tree: Tensor

    @classmethod
    def of(cls, at: Tensor) -> Knots:
        """Prepare knots (d, K) that rise along every row."""
        columns, last = at.shape[0], at.shape[1] - 1
        gaps = torch.diff(at, dim=1)
        if not bool((gaps >= 0).all()) or not bool(torch.isfinite(at).all()):
            message = "knots must be finite and rise along every row"
            raise ValueError(message)
        tree = torch.full((columns, 1 << (last - 1).bit_length()), torch.inf, dtype=at.dtype, device=at.device)
        tree[:, :last] = at[:, :-1]
        return cls(at, _density(at), torch.where(gaps > 0, gaps, torch.inf).reciprocal(), tree)

    def place(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The index j and the share of numbers x, both (d, n); the share follows x through autograd, NaN included."""
        last = self.at.shape[1] - 1
        if self.density is not None:
            steps = (x - self.at[:, :1]) * self.density
            whole = steps.detach().ceil().sub_(1.0).clamp(0.0, last - 1.0)
            return whole.long().clamp(min=0), (steps - whole).clamp(0.0, 1.0)  # NaN may be any integer below zero
        index = self._search(x.detach())
        return index, ((x - self.at.gather(1, index)) * self.inverse.gather(1, index)).clamp(0.0, 1.0)

    def _search(self, x: Tensor) -> Tensor:
        """How many knots lie below x, the outermost two not counted."""
        place = torch.zeros_like(x)  # as floats, which compare and add faster than integers
        index = place.long()
        step = self.tree.shape[1] // 2
        while step:
            knot = self.tree[:, step:].gather(1, index)
            below = (knot < x).to(x.dtype) if transformed() else knot.lt_(x)  # vmap cannot compare in place
            index = place.add_(below, alpha=step).long()
            step //= 2
        return index


def _density(at: Tensor) -> Tensor | None:
    """Knots per unit, where distances are equal up to rounding."""
    low, high, last = at[:, :1].double(), at[:, -1:].double(), at.shape[1] - 1
    share = torch.arange(last + 1, dtype=torch.float64, device=at.device) / last
    rounding = _ULPS * torch.finfo(at.dtype).eps * torch.maximum(low.abs(), high.abs())
    if bool((high <= low).any()) or bool(((at.double() - (low + (high - low) * share)).abs() > rounding).any()):
        return None
    return (last / (high - low)).to(at.dtype)
