"""What all pictures share: colours that colour-blind readers can tell apart, calm axes, and names taken literally."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from equipoise.plots.bins import Bins

# Okabe and Ito's blue and vermillion, on greys.
MODEL, OTHER = "#0072b2", "#d55e00"
ROWS, INK, FAINT = "#b4bcc6", "#30363d", "#8a929b"

_LONGEST = 26
_FEW = 8


def panel(width: float = 5.6, height: float = 4.0) -> Axes:
    """One pair of axes in a figure of its own."""
    import matplotlib.pyplot as plt

    return calm(plt.subplots(figsize=(width, height), layout="constrained")[1])


def panels(count: int, across: int = 3, width: float = 2.9, height: float = 2.3) -> np.ndarray[Any, Any]:
    """So many axes on a grid, as a flat array; what is left of the grid stays empty."""
    import matplotlib.pyplot as plt

    columns = count if count <= across else min(across, ceil(count**0.5))
    rows = ceil(count / columns)
    _, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), layout="constrained", squeeze=False)
    for spare in axes.flat[count:]:
        spare.set_visible(False)
    for ax in axes.flat[:count]:
        calm(ax)
    flat: np.ndarray[Any, Any] = axes.flatten()[:count]
    return flat


def calm(ax: Axes) -> Axes:
    """Two thin spines, small ticks, and not many of them."""
    from matplotlib.ticker import MaxNLocator

    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.spines[["left", "bottom"]].set_linewidth(0.8)
    ax.tick_params(color=FAINT, labelcolor=INK, labelsize=8, width=0.8, length=3)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    return ax


def label(ax: Axes, x: str | None = None, y: str | None = None) -> None:
    """Label axes; words from data are not read as mathematics."""
    for words, write in ((x, ax.set_xlabel), (y, ax.set_ylabel)):
        if words is not None:
            write(words, fontsize=9, color=INK, parse_math=False)


def note(ax: Axes, words: str) -> None:
    """A remark in the lower right corner."""
    text = ax.text(0.98, 0.03, words, transform=ax.transAxes, ha="right", va="bottom", parse_math=False)
    text.set(fontsize=7.5, color=FAINT)


def few_ticks(axis: Axis, bins: Bins) -> None:
    """A tick at each value, where there are few."""
    if bins.lattice and len(bins.middles) <= _FEW:
        axis.set_ticks([float(value) for value in bins.middles])


_LEGEND = {"frameon": False, "fontsize": 8, "title_fontsize": 8, "labelcolor": INK, "handlelength": 1.4}


def legend(ax: Axes, *, above: bool = False, **options: Any) -> None:
    """A legend without a frame, inside the axes or above them."""
    if above:
        options = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 4, "columnspacing": 1.2, **options}
    if ax.get_legend_handles_labels()[0]:
        ax.legend(**{**_LEGEND, **options})


def shared_legend(axes: Iterable[Axes]) -> None:
    """One legend above a grid of panels."""
    first = next(iter(axes))
    figure: Any = first.figure
    figure.legend(*first.get_legend_handles_labels(), loc="outside upper center", ncols=4, **_LEGEND)


def shades(opacities: dict[str, float]) -> tuple[list[Any], list[str]]:
    """Handles and words for a legend of shades of the model's colour."""
    from matplotlib.patches import Patch

    return [Patch(color=MODEL, alpha=opacity, linewidth=0) for opacity in opacities.values()], list(opacities)


def short(name: str) -> str:
    """A name that fits on an axis and in a page."""
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"


def percent(share: float) -> str:
    """A share in per cent, with as many digits as it takes."""
    return f"{100.0 * share:.2g} %"
