"""Where two samples overlap: log ratios of rows that were not seen, both sides on one axis.

E_num L = KL(num‖den),   −E_den L = KL(den‖num)        where L is right: how far the two means are from 0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from equipoise.plots import style
from equipoise.plots.bins import Array, bins_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Unseen(Protocol):
    """Log ratios of rows that were not seen, and the rows' shares of their sides; tensors (n,) and (m,)."""

    num: Any
    den: Any

    @property
    def shares(self) -> tuple[Any, Any]:
        """Of either side, each with sum 1."""


class Compared(Protocol):
    """A fitted ratio, as far as pictures look at it."""

    unseen_: Unseen


def overlap(model: Compared, *, ax: Axes | None = None) -> Axes:
    """Draw the log ratios of held-out rows of both sides as bars whose areas are 1."""
    ax = ax or style.panel(4.8, 3.6)
    sides = sides_of(model)
    bins = bins_of(np.concatenate([values for values, _ in sides]))
    beyond = 0.0
    for (values, share), word, colour in zip(sides, ("numerator", "denominator"), _COLOURS, strict=True):
        bars = np.histogram(values, bins=bins.edges, weights=share)[0]
        beyond += 0.5 * (1.0 - bars.sum())
        height = bars / bins.widths
        ax.stairs(height, bins.edges, fill=True, color=colour, alpha=0.25, linewidth=0)
        mean = f"{round(float(share @ values), 2) + 0.0:.2f}".replace("-", "−")
        ax.stairs(height, bins.edges, color=colour, linewidth=1.2, label=f"{word}, {len(values):,} rows, mean {mean}")
    ax.axvline(0.0, color=style.FAINT, linewidth=0.8, linestyle=":")
    ax.set_xlim(bins.edges[0], bins.edges[-1])
    ax.set_ylim(bottom=0.0)
    said = f" ({style.percent(beyond)} of them beyond the axis)" if beyond > 1e-9 else ""
    style.label(ax, f"log ratio of held-out rows{said}", "density")
    style.legend(ax, above=True, ncols=1)
    return ax


def sides_of(model: Compared) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Log ratios of either side's rows, and their shares."""
    at = model.unseen_
    num, den = (np.asarray(values, dtype=float) for values in (at.num, at.den))
    of_num, of_den = (np.asarray(share, dtype=float) for share in at.shares)
    return (num, of_num), (den, of_den)


_COLOURS = style.MODEL, style.OTHER
