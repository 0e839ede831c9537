"""Kernel densities on a grid of few columns, by Fourier transforms, and the leave-one-out likelihood of a bandwidth.

    g(b) = Σ_a c_a·N(b; a, (h·λ_a)²·1)        kernels of one width are one convolution; of several, one a class

Rows are binned linearly: each is shared by the 2^d nodes around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import log2, pi, sqrt

import torch
from torch import Tensor

_LEAST = 1e-30
_CLASSES = 2  # of kernel widths, to an octave


@dataclass(frozen=True)
class Grid:
    """A box of equal cells.

    Arguments:
        low: The first node, (d,).
        step: Distance of nodes, (d,).
        size: Nodes along each column.
    """

    low: Tensor
    step: Tensor
    size: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Nodes along every column."""
        return (self.size,) * len(self.low)

    def corners(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The 2^d nodes around every row (n, 2^d), and each one's share (n, 2^d); shares vanish outside of the box."""
        at = (rows - self.low) / self.step
        inside = ((at >= 0.0) & (at <= self.size - 1)).all(dim=1)
        base = at.floor().clamp(0, self.size - 2)
        beyond = (at - base).clamp(0.0, 1.0)
        nodes, shares = [], []
        for corner in product((0, 1), repeat=len(self.low)):
            node, share = torch.zeros(len(rows), dtype=torch.long), inside.to(at)
            for i, side in enumerate(corner):
                node = node * self.size + base[:, i].long() + side
                share = share * (beyond[:, i] if side else 1.0 - beyond[:, i])
            nodes.append(node)
            shares.append(share)
        return torch.stack(nodes, dim=1), torch.stack(shares, dim=1)

    def binned(self, rows: Tensor, weight: Tensor) -> Tensor:
        """The rows' weights on the nodes, in the grid's shape."""
        nodes, shares = self.corners(rows)
        flat = torch.bincount(nodes.flatten(), (shares * weight.unsqueeze(1)).flatten(), self.size ** len(self.low))
        return flat.reshape(self.shape)

    def smoothed(self, mass: Tensor, width: float) -> Tensor:
        """Masses under a Gaussian kernel around each node."""
        d = len(self.low)
        exponent = torch.zeros((1,) * d, dtype=mass.dtype)
        for i, step in enumerate(self.step):
            whole = i < d - 1
            f = (torch.fft.fftfreq if whole else torch.fft.rfftfreq)(self.size, dtype=mass.dtype) / step
            exponent = exponent + (f**2).reshape([-1 if j == i else 1 for j in range(d)])
        kernel = torch.exp(-2.0 * pi**2 * width**2 * exponent)
        smooth: Tensor = torch.fft.irfftn(torch.fft.rfftn(mass) * kernel, s=self.shape)
        return smooth.clamp_(min=0.0)

    def centre(self, width: Tensor | float) -> Tensor:
        """The mass a kernel gives the node it stands on."""
        volume = self.step.prod()
        return volume / (sqrt(2.0 * pi) * torch.as_tensor(width, dtype=torch.float64)) ** len(self.low)

    def adaptive(self, mass: Tensor, width: float, relative: Tensor) -> Tensor:
        """Masses under kernels of width·relative, (d axes), each split between the two nearest classes of width."""
        octave = torch.log2(relative) * _CLASSES
        result = torch.zeros_like(mass)
        lowest, highest = int(octave.min().floor()), int(octave.max().ceil())
        for level in range(lowest, highest + 1):
            share = (1.0 - (octave - level).abs()).clamp(min=0.0)
            part = mass * share
            if float(part.sum()) > 0.0:
                result += self.smoothed(part, width * 2.0 ** (level / _CLASSES))
        return result

    def left_out(self, mass: Tensor, density: Tensor, own: Tensor, n: float) -> float:
        """The mean log mass at the rows' nodes, each row's own kernel left out."""
        without = (density - own / n) * (n / (n - 1.0)) if n > 1 else density
        seen = mass > 0
        score = mass[seen] @ torch.log(without[seen].clamp(min=_LEAST))
        return score.item()


def relative_widths(mass: Tensor, density: Tensor, exponent: float) -> Tensor:
    """Abramson's λ at every node: the density over its geometric mean at the rows, to a negative power."""
    log_density = torch.log(density.clamp(min=_LEAST))
    seen = mass > 0
    level = mass[seen] @ log_density[seen]
    most = log2(10.0)
    return torch.exp2((-exponent * (log_density - level) / torch.log(torch.tensor(2.0))).clamp(-most, most))
