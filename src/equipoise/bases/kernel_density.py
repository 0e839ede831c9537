"""A kernel density for few columns: a Gaussian around every row, as wide as its neighbourhood is thin.

    p(x) = Σ_i s_i·N(x; x_i, (h·λ_i)²·Σ),   λ_i = (p₀(x_i)/g)^(−a)

Σ is the rows' covariance, p₀ the density with λ = 1 and g its geometric mean (Abramson, 1982: a = ½). Bandwidth h and
exponent a, 0 or ½, are those of the best likelihood with the row that is scored left out. The density lives on a grid
of white coordinates and is linear between its nodes; a wide Gaussian of weight 1/(n + 2) holds what lies beyond.
"""

from __future__ import annotations

from math import inf, log, pi
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from equipoise.bases.base import Base, refuse_constant, row_count, squarable
from equipoise.bases.fitted import are_factors, are_shares, is_share
from equipoise.bases.gaussian import factor
from equipoise.bases.gridded import Grid, relative_widths

_SIZES = {1: (1024, 4096), 2: (128, 512), 3: (48, 96)}  # nodes along a column, for few rows and for many
_MANY_ROWS = 1000
_RATIO = 2.0**0.5  # between bandwidths tried
_TRIED = 16
_WIDER = 3.0  # the defensive Gaussian's width, in deviations of the rows
_FARTHEST = 25.0  # deviations; rows beyond are left to the defence
_CHUNK = 16_384


class KernelDensity(Base):
    """A kernel density estimate for up to three columns.

    Arguments:
        bandwidth: In deviations of the rows; the best by leave-one-out likelihood where it is None.
        adaptive: Whether kernels may be wider where rows are few.
    """

    fitted: ClassVar[tuple[str, ...]] = ("mean_", "factor_", "low_", "step_", "mass_", "defence_")

    def __init__(self, bandwidth: float | None = None, *, adaptive: bool = True) -> None:
        if bandwidth is not None and not bandwidth > 0.0:
            message = f"bandwidth must be positive, got {bandwidth!r}"
            raise ValueError(message)
        self.bandwidth = bandwidth
        self.adaptive = adaptive

    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {"bandwidth": self.bandwidth, "adaptive": self.adaptive}

    @property
    def _grid(self) -> Grid:
        return Grid(self.low_, self.step_, self.mass_.shape[0])

    def _fit(self, rows: Tensor, share: Tensor) -> None:
        d = rows.shape[1]
        if d not in _SIZES:
            message = f"a kernel density is for up to {max(_SIZES)} columns, got {d}: take another base"
            raise ValueError(message)
        rows, share = rows[share > 0], share[share > 0]
        refuse_constant(rows.amax(dim=0) > rows.amin(dim=0))
        n = row_count(share)
        self.mean_ = share @ rows
        centred = rows - self.mean_
        self.factor_ = factor(centred.T @ (share.unsqueeze(1) * centred), 0.0)
        white = self._whitened(rows)
        silverman = (4.0 / ((d + 2.0) * n)) ** (1.0 / (d + 4.0))
        widest = self.bandwidth or 1.3 * silverman
        low = (white.amin(dim=0) - 5.0 * widest).clamp(min=-_FARTHEST)
        high = (white.amax(dim=0) + 5.0 * widest).clamp(max=_FARTHEST)
        size = _SIZES[d][int(len(rows) > _MANY_ROWS)]
        self.low_, self.step_ = low, (high - low) / (size - 1)
        grid = Grid(low, self.step_, size)
        mass = grid.binned(white, share)
        widths = [self.bandwidth] if self.bandwidth else [widest * _RATIO**-k for k in range(_TRIED)]
        density = self._chosen(grid, mass, [w for w in widths if w > 0.5 * self.step_.max()] or widths[:1], n)
        edge = torch.ones_like(density, dtype=torch.bool)
        edge[(slice(1, -1),) * d] = False
        density[edge] = 0.0
        self.mass_ = density / density.sum()
        self.defence_ = torch.tensor(1.0 / (n + 2.0), dtype=torch.float64)

    def _chosen(self, grid: Grid, mass: Tensor, widths: list[float], n: float) -> Tensor:
        """The density of the best leave-one-out likelihood; first of one width, then of many."""
        ones = torch.ones_like(mass)
        width, density, score = _best(grid, mass, widths, ones, n)
        if not self.adaptive:
            return density
        relative = relative_widths(mass, density, 0.5)
        near = [w for w in widths if 0.3 * width < w < 2.1 * width]
        _, adapted, reached = _best(grid, mass, near, relative, n)
        return adapted if reached > score else density

    def _whitened(self, x: Tensor) -> Tensor:
        white: Tensor = torch.linalg.solve_triangular(self.factor_, (squarable(x) - self.mean_).T, upper=False).T
        return white

    def _is_density(self) -> bool:
        d, size = self.mean_.shape, self.mass_.shape[:1]
        fits = len(d) == 1 and self.low_.shape == self.step_.shape == d and self.mass_.shape == size * d[0] != (1,)
        whole = fits and are_factors(self.factor_, self.mean_) and are_shares(self.mass_)
        return whole and bool((self.step_ > 0).all()) and is_share(self.defence_)

    def _sample(self, n: int, generator: Generator | None, dtype: torch.dtype) -> Tensor:
        """A node by its mass, and a triangular step to its neighbours."""
        d, grid = self.features, self._grid
        node = torch.searchsorted(self._below(), torch.rand(n, generator=generator, dtype=torch.float64), right=True)
        node = node.clamp(max=grid.size**d - 1)
        at = torch.stack([(node // grid.size ** (d - 1 - i)) % grid.size for i in range(d)], dim=1)
        step = torch.rand(2, n, d, generator=generator, dtype=torch.float64)
        white = self.low_ + (at + step[0] - step[1]) * self.step_
        far = _WIDER * torch.randn(n, d, generator=generator, dtype=torch.float64)
        defended = torch.rand(n, 1, generator=generator, dtype=torch.float64) < self.defence_
        return (self.mean_ + torch.where(defended, far, white) @ self.factor_.T).to(dtype)

    def _below(self) -> Tensor:
        below = torch.cumsum(self.mass_.flatten(), dim=0)
        return below / below[-1]

    def _log_prob(self, x: Tensor) -> Tensor:
        parts = [self._scored(self._whitened(part.to(torch.float64))) for part in x.split(_CHUNK)]
        return (torch.cat(parts) - torch.log(torch.diagonal(self.factor_)).sum()).to(x.dtype)

    def _scored(self, white: Tensor) -> Tensor:
        nodes, shares = self._grid.corners(white)
        mass = (torch.take(self.mass_, nodes) * shares).sum(dim=1)
        kernels = torch.log(mass / self.step_.prod()) + torch.log1p(-self.defence_)
        constant = white.shape[1] * (log(_WIDER) + 0.5 * log(2.0 * pi))
        defence = torch.log(self.defence_) - 0.5 * (white / _WIDER).square().sum(dim=1) - constant
        return torch.logaddexp(kernels, defence)


def _best(grid: Grid, mass: Tensor, widths: list[float], relative: Tensor, n: float) -> tuple[float, Tensor, float]:
    """The width of the best leave-one-out likelihood, from wide to narrow, with its density and its score."""
    best: tuple[float, Tensor, float] = (widths[0], mass, -inf)
    since = 0
    for width in widths:
        density = grid.adaptive(mass, width, relative)
        score = grid.left_out(mass, density, grid.centre(width * relative), n)
        best, since = ((width, density, score), 0) if score > best[2] else (best, since + 1)
        if since > 1:
            break
    return best
