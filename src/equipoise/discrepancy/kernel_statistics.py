"""Maximum mean discrepancy: how wide a gap one push with unit magnitudes opens on a surface of an RKHS.

    u = Σ_i force_i·k(x_i, ·),   T = mean u over X − mean u over Y = Σ_ij force_i·k(x_i, x_j)·force_j     (line 5040)

u is what a :class:`equipoise.surfaces.Kernel` moves by when the unit instance pushes it once from zero, by a step of
length one: the witness. Exact for few rows; for many, the kernel is projected onto some of them as centres.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from equipoise.discrepancy.comparison import Comparison, Statistic
from equipoise.discrepancy.pooled import Pooled
from equipoise.surfaces.kernel import Kernel
from equipoise.surfaces.radial import radial

MOST_EXACT, CENTRES = 2_000, 300
_WIDE = 10.0  # median distances

Surface = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Bumps:
    """A surface of one bump per row: Σ_i force_i·k(x_i, ·).

    Arguments:
        kind: Of the kernel.
        rows: Where the bumps stand, (N, d).
        bandwidth: Their width.
        force: How high they are, (N,).
    """

    kind: str
    rows: Tensor
    bandwidth: Tensor
    force: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Heights of x (k, d)."""
        return radial(self.kind).matrix(x, self.rows, self.bandwidth) @ self.force


@dataclass(frozen=True)
class Seen:
    """A surface on whitened scores or on scores, as a witness of scores.

    Arguments:
        surface: The surface.
        pooled: Which whitens.
        white: Whether it does.
        kind: The precision that the surface computes in.
    """

    surface: Surface
    pooled: Pooled
    white: bool
    kind: torch.dtype

    def __call__(self, scores: Tensor) -> Tensor:
        """Heights of scores (k, d)."""
        placed = self.pooled.whitened(scores) if self.white else scores
        with torch.no_grad():
            return self.surface(placed.to(self.kind)).double()


def energy(comparison: Comparison) -> Statistic:
    """The energy distance, which a Laplacian kernel's discrepancy nears as the kernel widens: 1 − e^(−r/h) → r/h."""
    return replace(kernel_gap(comparison, "laplacian", _WIDE, white=False), name="energy distance")


def kernel_gap(comparison: Comparison, kind: str, times: float, *, white: bool = True) -> Statistic:
    """The discrepancy under one kernel.

    Arguments:
        comparison: Of which two samples.
        kind: ``"gaussian"`` or ``"laplacian"``.
        times: The bandwidth, in median distances between two rows.
        white: Whether on whitened scores, or on scores as they are.
    """
    name = f"{kind} kernel, {times:g} × the median distance" + ("" if white else ", unwhitened")
    rows, width = comparison.placed(white=white), times * comparison.median(white=white)
    values, surface, precision = (_exact if len(rows) <= MOST_EXACT else _projected)(comparison, rows, kind, width)
    return Statistic(name, values, Seen(surface, comparison.pooled, white, precision))


def _exact(comparison: Comparison, rows: Tensor, kind: str, width: float) -> tuple[Tensor, Surface, torch.dtype]:
    bandwidth, forces = torch.tensor(width, dtype=rows.dtype), comparison.labels.forces(len(rows))
    gram = radial(kind).matrix(rows, rows, bandwidth)
    return ((forces @ gram) * forces).sum(dim=1), Bumps(kind, rows, bandwidth, forces[0]), rows.dtype


def _projected(comparison: Comparison, rows: Tensor, kind: str, width: float) -> tuple[Tensor, Surface, torch.dtype]:
    surface = Kernel(rows[:CENTRES], width, kind)
    bumps = partial(radial(kind).matrix, centres=surface.centres, bandwidth=surface.bandwidth)
    gaps = comparison.labels.measure(bumps, rows.to(surface.centres)).gaps
    white = gaps @ surface.white.double()  # the same as gaps of white features, at the price of one small product
    with torch.no_grad():
        surface.weights.copy_(white[0].unsqueeze(1))
    return white.square().sum(dim=1), surface, surface.centres.dtype
