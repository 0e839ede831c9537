"""Kernels of the distance between rows, as matrices and as spectral densities (Bochner).

    gaussian   k(x, c) = exp(−‖x − c‖² / 2h²)   spectral density: normal, ω = z / h
    laplacian  k(x, c) = exp(−‖x − c‖ / h)      spectral density: Cauchy in d dimensions, ω = z / (h·|g|)

with z a standard normal vector and g a standard normal number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from equipoise.surfaces.transforms import transformed


@dataclass(frozen=True)
class Radial:
    """A kernel of distance.

    Arguments:
        unit: k at h = 1 between rows (n, d) and centres (m, d), as (n, m).
        frequencies: Draws from the spectral density at h = 1: (m, d) from standard normal z (m, d) and g (m, 1).
    """

    unit: Callable[[Tensor, Tensor], Tensor]
    frequencies: Callable[[Tensor, Tensor], Tensor]

    def matrix(self, x: Tensor, centres: Tensor, bandwidth: Tensor) -> Tensor:
        """k(x_i, c_j), (n, m)."""
        middle = centres.mean(dim=0)  # near the origin, differences lose fewer digits
        return self.unit((x - middle) / bandwidth, (centres - middle) / bandwidth)


def _gaussian(x: Tensor, centres: Tensor) -> Tensor:
    """By one matrix product: −½‖x − c‖² = x·c − ½‖x‖² − ½‖c‖²."""
    products = torch.addmm(-0.5 * centres.square().sum(dim=1), x, centres.T)
    return products.sub_(0.5 * x.square().sum(dim=1, keepdim=True)).clamp(max=0.0).exp_()


def _laplacian(x: Tensor, centres: Tensor) -> Tensor:
    """From differences: a matrix product's rounding would be rooted, to half its digits, at the peak of every bump."""
    if not (x.requires_grad or transformed()):
        return torch.cdist(x, centres, compute_mode="donot_use_mm_for_euclid_dist").neg_().exp_()
    squares = (x.unsqueeze(1) - centres).square().sum(dim=2)
    return torch.exp(-squares.clamp(min=torch.finfo(x.dtype).tiny).sqrt())  # the root has no slope at zero


RADIAL = {
    "gaussian": Radial(_gaussian, lambda z, _: z),
    "laplacian": Radial(_laplacian, lambda z, g: z / g.abs()),
}


def radial(kind: str) -> Radial:
    """The kernel of a name."""
    if kind not in RADIAL:
        message = f"kind must be one of {', '.join(RADIAL)}, got {kind!r}"
        raise ValueError(message)
    return RADIAL[kind]


def check_bandwidth(bandwidth: float) -> None:
    """Refuse a bandwidth that is no length."""
    if not 0.0 < bandwidth < torch.inf:
        message = f"bandwidth must be a positive number, got {bandwidth}; or use on_rows with bandwidth='median'"
        raise ValueError(message)
