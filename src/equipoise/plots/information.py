"""What each column tells about each other one: a heat map of mutual information, ± standard errors in its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from equipoise.plots import style
from equipoise.plots.bins import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WRITTEN = 12  # columns, of more of which the cells are too small for numbers
_SURE = 1.96
_CELL = 0.78


class Matrix(Protocol):
    """An information matrix, as far as pictures look at it."""

    @property
    def values(self) -> Array:
        """Nats, (d, d); NaN on the diagonal."""

    @property
    def se(self) -> Array:
        """Standard errors, (d, d)."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""


def information(matrix: Matrix, *, ax: Axes | None = None) -> Axes:
    """Draw the information of every pair of columns; the numbers of pairs within 1.96 errors of zero are grey."""
    d = len(matrix.names)
    side = float(np.clip(_CELL * d, 2.6, 10.0))
    ax = ax or style.panel(side + 1.6, side + 0.8)
    most = float(np.nanmax(matrix.values, initial=0.0))
    image = ax.imshow(matrix.values, cmap=_shades(), vmin=0.0, vmax=most if most > 0.0 else 1.0)
    words = [style.short(name) for name in matrix.names]
    every = range(0, d, max(1, -(-d // 40)))
    ax.set_xticks(list(every), [words[i] for i in every], rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(list(every), [words[i] for i in every])
    for text in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        text.set_parse_math(False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if d <= _WRITTEN:
        _write(matrix, ax, most)
    figure: Any = ax.figure
    bar = figure.colorbar(image, ax=ax, shrink=0.8)
    bar.outline.set_visible(False)
    bar.ax.tick_params(color=style.FAINT, labelcolor=style.INK, labelsize=8, width=0.8, length=3)
    bar.set_label("mutual information, nats", fontsize=9, color=style.INK)
    return ax


def _write(matrix: Matrix, ax: Axes, most: float) -> None:
    """Each pair's value and error."""
    for (i, j), value in np.ndenumerate(matrix.values):
        if i == j:
            continue
        error = matrix.se[i, j]
        light = value > 0.55 * most > 0.0
        colour = style.FAINT if value < _SURE * error else "white" if light else style.INK
        said = f"{value:.3f}\n± {error:.3f}".replace("-", "−")
        ax.text(j, i, said, ha="center", va="center", fontsize=7.5, color=colour, linespacing=1.15)


def _shades() -> Any:  # noqa: ANN401  # a colour map
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("information", ["white", style.MODEL]).with_extremes(bad="#eef0f2")
