"""The density of two columns on a grid, and the regions of highest density that hold given shares of the model.

{density ≥ t(q)} holds the share q;  t from the sorted masses of the cells
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equipoise.plots.bins import Array, Bins, bins_of
from equipoise.plots.source import Drawn

_GRID = 180
_BINS = 72
_FINE, _BROAD = 1.2, 2.8  # bins; where samples are dense, and where they are sparse and regions would be ragged
_DENSE = 1.5  # samples a bin


@dataclass(frozen=True)
class Field:
    """Density (k_y, k_x) over cells, and the middles of the cells.

    Arguments:
        x, y: Middles.
        density: Per unit of area.
        lattice: Whether a column repeats few values, so that there is nothing between the cells.
        bins: Those of the two columns, where lattice.
    """

    x: Array
    y: Array
    density: Array
    lattice: bool = False
    bins: tuple[Bins, Bins] | None = None

    def thresholds(self, shares: Array) -> Array:
        """The density at which a region of highest density holds each share of the whole model."""
        flat = self.density.ravel()
        order = np.argsort(-flat, kind="stable")
        mass, heights = (self.density * self._areas()).ravel()[order], flat[order]
        held = np.cumsum(mass) / max(1.0, float(mass.sum()))
        at = np.minimum(np.searchsorted(held, shares), len(heights) - 1)
        result: Array = heights[at]
        return result

    @property
    def frame(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Ends of both axes: to the edges of the cells where these are drawn, to their middles where regions are."""
        half = 0.5 if self.lattice else 0.0
        ends = [(float(m[0] - half * w[0]), float(m[-1] + half * w[-1])) for m, w in self._sides()]
        return ends[0], ends[1]

    def _sides(self) -> list[tuple[Array, Array]]:
        return [(middles, _widths(middles)) for middles in (self.x, self.y)]

    def _areas(self) -> Array:
        result: Array = np.outer(_widths(self.y), _widths(self.x))
        return result


def exact(model: Drawn, x: Array, y: Array) -> Field:
    """The density itself, of a model of two columns."""
    gx, gy = np.meshgrid(x, y)
    log_density = model.score_samples(np.column_stack([gx.ravel(), gy.ravel()]))
    return Field(x, y, np.exp(log_density).reshape(gx.shape))


def of_samples(first: Array, second: Array, x: Array, y: Array) -> Field:
    """A smoothed histogram of samples over a grid of edges."""
    from scipy.ndimage import gaussian_filter

    counts, _, _ = np.histogram2d(first, second, bins=(x, y))
    fine, broad = (gaussian_filter(counts.T, width, mode="constant") for width in (_FINE, _BROAD))
    trust = broad / (broad + _DENSE)
    smooth = trust * fine + (1.0 - trust) * broad
    smooth *= counts.sum() / max(float(smooth.sum()), 1e-300)
    density = smooth / (len(first) * np.outer(np.diff(y), np.diff(x)))
    return Field(_middles(x), _middles(y), density)


def field(model: Drawn, samples: Array, rows: Array | None, columns: tuple[int, int]) -> Field:
    """The density of two columns: exact where the model has just these, otherwise from its samples."""
    shown = samples if rows is None else rows
    bins = [bins_of(shown[:, i], samples[:, i]) for i in columns]
    first, second = (samples[:, i] for i in columns)
    if any(b.lattice for b in bins):
        edges = [b.edges if b.lattice else np.linspace(b.edges[0], b.edges[-1], 31) for b in bins]
        counts, _, _ = np.histogram2d(first, second, bins=(edges[0], edges[1]))
        density = counts.T / (len(first) * np.outer(np.diff(edges[1]), np.diff(edges[0])))
        return Field(_middles(edges[0]), _middles(edges[1]), density, lattice=True, bins=(bins[0], bins[1]))
    ends = [_roomy(b.edges[0], b.edges[-1]) for b in bins]
    if model.n_features_in_ == 2:
        grid = [np.linspace(*end, _GRID) for end in ends]
        order = list(columns)
        if order == [0, 1]:
            return exact(model, grid[0], grid[1])
        turned = exact(model, grid[1], grid[0])
        return Field(grid[0], grid[1], turned.density.T)
    edges = [np.linspace(*end, _BINS + 1) for end in ends]
    return of_samples(first, second, edges[0], edges[1])


def _roomy(low: float, high: float) -> tuple[float, float]:
    room = 0.04 * (high - low)
    return low - room, high + room


def _middles(edges: Array) -> Array:
    result: Array = 0.5 * (edges[1:] + edges[:-1])
    return result


def _widths(middles: Array) -> Array:
    """Of cells on an even grid."""
    step = (middles[-1] - middles[0]) / max(len(middles) - 1, 1) if len(middles) > 1 else 1.0
    return np.full(len(middles), step)
