"""One column at a time: the model's marginal density, the rows beside it, and how far these may stray from it.

model: of its samples, or exact where it has one column      band: where 95 % of the rows' bars fall if it is right
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.plots import source, style
from equipoise.plots.bins import Array, Bins, band, bins_of
from equipoise.plots.source import Columns, Drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PANELS = 12
_BAR = 0.78
_WITHIN = 16  # points of an exact density in one bin


@dataclass(frozen=True)
class Marginal:
    """One column, ready to draw.

    Arguments:
        name: Of the column.
        bins: Where the counts were made.
        model: The model's share in each bin.
        rows: The rows' share in each bin; None without rows.
        n: How many rows there are.
        low, high: The band for the rows' shares.
        beyond: Shares of rows, or else of the model, beyond the axis.
        curve: The exact density, (2, k), where the model has one column.
    """

    name: str
    bins: Bins
    model: Array
    rows: Array | None
    n: int
    low: Array
    high: Array
    beyond: float
    curve: Array | None = None

    @property
    def distance(self) -> float:
        """Half the sum of |rows − model| over the bins; 0 without rows."""
        return 0.0 if self.rows is None else 0.5 * float(np.abs(self.rows - self.model).sum())

    @property
    def astray(self) -> float:
        """The share of bars outside the band; about 5 % where the model is right."""
        return 0.0 if self.rows is None else float(((self.rows < self.low) | (self.rows > self.high)).mean())


def marginals(
    model: Drawn,
    X: Any = None,  # noqa: ANN401
    *,
    columns: Columns | None = None,
    samples: Array | None = None,
    ax: Axes | None = None,
) -> Any:  # noqa: ANN401  # Axes, or an array of them
    """Draw marginal densities.

    Arguments:
        model: A fitted density.
        X: Rows to compare with; bars, and a band for them around the model.
        columns: Which, by name or position. All where it is None, or the twelve in which rows and model differ most.
        samples: Rows of the model, where they were drawn before.
        ax: Where to draw one column; a grid of panels where it is None.

    Returns the axes, or an array of them where there is more than one panel.
    """
    chosen = compare(model, X, columns=columns, samples=samples)
    if ax is not None and len(chosen) > 1:
        message = f"one ax holds one column, and there are {len(chosen)}: give columns=, or leave ax out"
        raise ValueError(message)
    if len(chosen) == 1:
        axes = ax or style.panel()
        draw(chosen[0], axes)
        style.legend(axes, above=True)
        return axes
    grid = style.panels(min(len(chosen), MOST_PANELS))
    for marginal, axes in zip(chosen, grid, strict=False):
        draw(marginal, axes)
        style.label(axes, y="")
    style.shared_legend(grid)
    if len(chosen) > len(grid):
        which = "the first" if X is None else "where rows and model differ most"
        grid[0].figure.supxlabel(f"{len(grid)} of {len(chosen)} columns: {which}", fontsize=8, color=style.FAINT)
    return grid


def compare(
    model: Drawn,
    X: Any = None,  # noqa: ANN401
    *,
    columns: Columns | None = None,
    samples: Array | None = None,
) -> list[Marginal]:
    """Counts of rows and model in the bins of each column; the worst first where there are more than fit on a grid."""
    rows = None if X is None else source.rows_of(model, X)
    drawn, names = source.samples_of(model, samples), source.names_of(model)
    at = source.columns_of(model, columns)
    found = [_marginal(model, None if rows is None else rows[:, i], drawn[:, i], names[i]) for i in at]
    if len(found) > MOST_PANELS and rows is not None:
        found.sort(key=lambda marginal: -marginal.distance)
    return found


def draw(marginal: Marginal, ax: Axes) -> None:
    """The rows' bars, the band, the model's line, and a mark on bars outside the band."""
    bins = marginal.bins
    if marginal.rows is not None:
        heights = marginal.rows / bins.widths
        low, high = marginal.low / bins.widths, marginal.high / bins.widths
        bars(ax, bins, heights, color=style.ROWS, alpha=0.55, label=f"{marginal.n:,} rows")
        words = "95 % of bars, were the model right"
        bars(ax, bins, high, low, color=style.MODEL, alpha=0.25, label=words)
    if marginal.curve is not None and not bins.lattice:
        ax.plot(*marginal.curve, color=style.MODEL, linewidth=1.6, label="model")
    else:
        steps(ax, bins, marginal.model / bins.widths)
    if marginal.rows is not None:
        out = (heights < low) | (heights > high)
        x, y = bins.middles[out], heights[out]
        ax.plot(x, y, "o", color=style.OTHER, markersize=3.6, markeredgewidth=0, label="bars outside")
    ax.set_xlim(float(bins.edges[0]), float(bins.edges[-1]))
    ax.set_ylim(bottom=0.0)
    style.few_ticks(ax.xaxis, bins)
    cut = f"\n({style.percent(marginal.beyond)} beyond the axis)" if marginal.beyond >= 0.0005 else ""
    style.label(ax, marginal.name + cut, "density")


def bars(ax: Axes, bins: Bins, top: Array, bottom: Array | float = 0.0, **look: Any) -> None:
    """Bars from bottom to top; apart from each other where there is nothing between the values."""
    if bins.lattice:
        ax.bar(bins.middles, top - bottom, _BAR * bins.widths, bottom, linewidth=0, **look)
    else:
        ax.stairs(top, bins.edges, baseline=bottom, fill=True, linewidth=0, **look)


def steps(ax: Axes, bins: Bins, heights: Array) -> None:
    """The model's heights as a line of steps, or a stroke at each value."""
    if bins.lattice:
        half = 0.5 * _BAR * bins.widths
        ax.hlines(heights, bins.middles - half, bins.middles + half, color=style.MODEL, linewidth=1.8, label="model")
    else:
        ax.stairs(heights, bins.edges, baseline=None, color=style.MODEL, linewidth=1.5, label="model")


def _marginal(model: Drawn, rows: Array | None, samples: Array, name: str) -> Marginal:
    bins = bins_of(samples) if rows is None else bins_of(rows, samples)
    curve = _exact(model, bins) if model.n_features_in_ == 1 else None
    share = bins.shares(samples) if curve is None else _within(curve, bins)
    n = 0 if rows is None else len(rows)
    effective = 1.0 / ((1.0 / max(n, 1)) + (1.0 / len(samples) if curve is None else 0.0))
    low, high = band(np.clip(share, 0.0, 1.0), effective)
    low, high = np.floor(low * n) / max(n, 1), np.ceil(high * n) / max(n, 1)  # a bar is a whole number of rows
    found = None if rows is None else bins.shares(rows)
    return Marginal(name, bins, share, found, n, low, high, bins.beyond(samples if rows is None else rows), curve)


def _exact(model: Drawn, bins: Bins) -> Array:
    x = np.linspace(bins.edges[0], bins.edges[-1], (len(bins.edges) - 1) * _WITHIN + 1)
    result: Array = np.stack([x, np.exp(model.score_samples(x[:, None]))])
    return result


def _within(curve: Array, bins: Bins) -> Array:
    """The exact density's integral over each bin, by the trapezoidal rule."""
    pieces = 0.5 * (curve[1, 1:] + curve[1, :-1]) * np.diff(curve[0])
    result: Array = pieces.reshape(len(bins.edges) - 1, _WITHIN).sum(axis=1)
    return result
