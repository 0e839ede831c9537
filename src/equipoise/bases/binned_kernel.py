"""Kernel densities of binned rows, at several bandwidths at once, and what each would be without the row it scores.

    g(b) = Σ_a c_a·k_h(a − b)/n,      g₋(b) = (n·g(b) − k_h(0))/(n − 1)

The sums are products in the Fourier domain, where a Gaussian kernel is a Gaussian: exp(−½·(2π·f·h)²).
"""

from __future__ import annotations

from math import pi, sqrt

import torch
from torch import Tensor

_LEAST = 1e-8  # of a uniform share: far out, a kernel rounds to nothing or below it


def binned_kernels(counts: Tensor, bandwidths: Tensor) -> tuple[Tensor, Tensor]:
    """Masses of bins under the kernel densities, and leave-one-out masses; the last one is the uniform density.

    Arguments:
        counts: Rows per bin, (d, m).
        bandwidths: In bins, at least one, (d, k).

    Returns:
        Two tensors (d, k + 1, m).
    """
    d, m = counts.shape
    total = counts.sum(dim=1).reshape(d, 1, 1)
    frequency = torch.fft.rfftfreq(2 * m, dtype=counts.dtype)  # rows of zeros beside the bins stop the wrap-around
    kernel = torch.exp(-0.5 * (2.0 * pi * frequency * bandwidths.unsqueeze(2)) ** 2)
    spectrum = torch.fft.rfft(counts, 2 * m).unsqueeze(1)
    smooth = torch.fft.irfft(spectrum * kernel, 2 * m)[..., :m]
    own = 1.0 / (sqrt(2.0 * pi) * bandwidths.unsqueeze(2))
    uniform = counts.new_full((d, 1, m), 1.0 / m)
    masses = torch.cat([smooth / total, uniform], dim=1)
    without = torch.cat([(smooth - own) / (total - 1.0).clamp(min=1.0), uniform], dim=1)
    return masses.clamp(min=_LEAST / m), without.clamp(min=_LEAST / m)
