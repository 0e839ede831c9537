"""Maximum mean discrepancy: how wide a gap one push with unit magnitudes opens on a surface of an RKHS.

    u = Σ_i force_i·k(x_i, ·),   T = mean u over X − mean u over Y = Σ_ij force_i·k(x_i, x_j)·force_j     (line 5040)

u is what a :class:`equipoise.surfaces.Kernel` moves by when the unit instance pushes it once from zero, by a step of
length one: the witness. Exact for few rows; for many, the kernel is projected onto some of them as centres.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from equipoise.discrepancy.comparison import Comparison, Statistic
from equipoise.surfaces.kernel import Kernel
from equipoise.surfaces.radial import radial

MOST_EXACT, CENTRES = 2_000, 300
_WIDE = 10.0  # median distances

Surface = Callable[[Tensor], Tensor]


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
    values, surface = (_exact if len(rows) <= MOST_EXACT else _projected)(comparison, rows, kind, width)
    whitened = comparison.pooled.whitened
    return Statistic(name, values, lambda scores: surface(whitened(scores) if white else scores).double())


def _exact(comparison: Comparison, rows: Tensor, kind: str, width: float) -> tuple[Tensor, Surface]:
    bandwidth, forces = torch.tensor(width, dtype=rows.dtype), comparison.labels.forces(len(rows))
    gram = radial(kind).matrix(rows, rows, bandwidth)
    values = ((forces @ gram) * forces).sum(dim=1)
    return values, lambda x: radial(kind).matrix(x, rows, bandwidth) @ forces[0]


def _projected(comparison: Comparison, rows: Tensor, kind: str, width: float) -> tuple[Tensor, Surface]:
    surface = Kernel(rows[:CENTRES], width, kind).requires_grad_(requires_grad=False)
    bumps = radial(kind).matrix
    gaps = comparison.labels.measure(
        lambda x: bumps(x, surface.centres, surface.bandwidth), rows.to(surface.centres)
    ).gaps
    white = gaps @ surface.white.double()  # the same as gaps of white features, at the price of one small product
    surface.weights.copy_(white[0].unsqueeze(1))
    return white.square().sum(dim=1), lambda x: surface(x.to(surface.centres))
