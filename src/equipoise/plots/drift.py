"""Two samples of the same columns: one column of both as bars, two columns of both as points.

bars are densities, so that samples of any size can be compared
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from equipoise.plots import style
from equipoise.plots.bins import Array, Bins, bins_of
from equipoise.plots.marginals import bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 400
COLOURS = style.MODEL, style.OTHER


def draw_column(ax: Axes, x: Array, y: Array, name: str) -> None:
    """Both samples' bars of one column, on common bins."""
    bins = bins_of(np.concatenate([x, y]))
    beyond = max(bins.beyond(x), bins.beyond(y))
    for values, colour in zip((x, y), COLOURS, strict=True):
        _bars(ax, bins, bins.shares(values) / bins.widths, colour)
    ax.set_xlim(float(bins.edges[0]), float(bins.edges[-1]))
    ax.set_ylim(bottom=0.0)
    style.few_ticks(ax.xaxis, bins)
    cut = f"\n({style.percent(beyond)} beyond the axis)" if beyond >= 0.0005 else ""
    style.label(ax, style.short(name) + cut, "")


def draw_pair(ax: Axes, x: Array, y: Array, names: tuple[str, str]) -> None:
    """As many points (n, 2) of either sample, mixed, so that neither hides the other."""
    few = min(len(x), len(y), _POINTS)
    order = np.random.default_rng(0).permutation(2 * few)
    points = np.concatenate([x[:few], y[:few]])[order]
    ax.scatter(points[:, 0], points[:, 1], s=7.0, linewidths=0, alpha=0.6, color=np.repeat(COLOURS, few)[order])
    style.label(ax, *(style.short(name) for name in names))


def _bars(ax: Axes, bins: Bins, heights: Array, colour: str) -> None:
    bars(ax, bins, heights, color=colour, alpha=0.25)
    if not bins.lattice:
        ax.stairs(heights, bins.edges, baseline=None, color=colour, linewidth=1.2)
    else:
        half = 0.39 * bins.widths
        ax.hlines(heights, bins.middles - half, bins.middles + half, color=colour, linewidth=1.6)
