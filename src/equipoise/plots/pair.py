"""Two columns at a time: regions of highest density that hold 10 %, …, 99 % of the model, and rows on them.

Exact where the model has just these two columns, otherwise from a smoothed histogram of its samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.plots import source, style
from equipoise.plots.bins import Array
from equipoise.plots.dependence import most_dependent
from equipoise.plots.marginals import compare, draw as draw_marginal
from equipoise.plots.regions import Field, field
from equipoise.plots.source import Columns, Drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHARES = np.array([0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
_NAMED = (0.99, 0.9, 0.5, 0.1)
_VEIL = 0.16  # opacity of one region; those inside lie on those around them
MOST_COLUMNS = 4
_POINTS = 600


def pair(
    model: Drawn,
    X: Any = None,  # noqa: ANN401
    *,
    columns: Columns | None = None,
    samples: Array | None = None,
    ax: Axes | None = None,
) -> Any:  # noqa: ANN401  # Axes, or an array of them
    """Draw the joint density of two columns, or of each pair among several.

    Arguments:
        model: A fitted density of two columns or more.
        X: Rows to show on it; at most 600 of them, evenly spaced.
        columns: Two or more, by name or position. Where it is None, both of two, or the four that depend on each
            other most.
        samples: Rows of the model, where they were drawn before.
        ax: Where to draw two columns; a figure of its own where it is None.

    Returns the axes, or a square array of them, columns below the diagonal and marginals on it.
    """
    if model.n_features_in_ < 2:
        message = "a pair needs two columns, and the model has one: plot.marginals() draws it"
        raise ValueError(message)
    drawn = source.samples_of(model, samples)
    rows = None if X is None else source.rows_of(model, X)
    at = most_dependent(drawn, MOST_COLUMNS) if columns is None else source.columns_of(model, columns)
    if columns is None and ax is not None:
        at = at[:2]
    if len(at) < 2 or (ax is not None and len(at) > 2):
        message = f"{'an ax holds a pair' if ax is not None else 'a pair needs two columns'}, got {len(at)} columns"
        raise ValueError(message)
    if len(at) > 2:
        return _corner(model, rows, drawn, at)
    axes = ax or style.panel(5.4, 4.8)
    draw(axes, field(model, drawn, rows, (at[0], at[1])), None if rows is None else rows[:, at])
    names = source.names_of(model)
    style.label(axes, names[at[0]], names[at[1]])
    _key(axes, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    return axes


def draw(ax: Axes, shown: Field, rows: Array | None = None, points: int = _POINTS) -> None:
    """Regions laid over each other, the highest densities darkest, and some of the rows."""
    levels = shown.thresholds(SHARES)
    if shown.lattice:
        held = (shown.density[:, :, None] >= np.maximum(levels, 1e-300)).sum(axis=2)
        opacity = 1.0 - (1.0 - _VEIL) ** held
        _tiles(ax, shown, opacity)
    else:
        top = float(shown.density.max())
        for level in np.unique(levels[(levels > 0.0) & (levels < top)]):
            ax.contourf(
                shown.x,
                shown.y,
                shown.density,
                levels=[level, np.inf],
                colors=[style.MODEL],
                alpha=_VEIL,
                antialiased=True,
            )
    if rows is not None:
        few = rows[np.linspace(0, len(rows) - 1, min(points, len(rows))).astype(int)]
        ax.plot(few[:, 0], few[:, 1], ".", color=style.INK, markersize=2.8, markeredgewidth=0, alpha=0.55, label="rows")
    across, upward = shown.frame
    ax.set_xlim(*across)
    ax.set_ylim(*upward)
    for axis, bins in zip((ax.xaxis, ax.yaxis), shown.bins or (), strict=False):
        style.few_ticks(axis, bins)


def _tiles(ax: Axes, shown: Field, opacity: Array) -> None:
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    colour = to_rgb(style.MODEL)
    ramp = LinearSegmentedColormap.from_list("model", [(*colour, 0.0), (*colour, 1.0)])
    ax.pcolormesh(shown.x, shown.y, opacity, cmap=ramp, vmin=0.0, vmax=1.0, shading="nearest", linewidth=0)


def _key(place: Any, **options: Any) -> None:  # noqa: ANN401  # axes, or a figure
    """What the shades mean."""
    shades = {f"{100 * share:.0f} %": 1.0 - (1.0 - _VEIL) ** int((share <= SHARES).sum()) for share in _NAMED}
    look = {"frameon": False, "fontsize": 8, "title_fontsize": 8, "labelcolor": style.INK, "columnspacing": 1.2}
    size = {"handlelength": 1.0, "handleheight": 1.0}
    key = place.legend(*style.shades(shades), title="share of the model inside", **look, **size, **options)
    key.get_title().set_color(style.INK)


def _corner(model: Drawn, rows: Array | None, samples: Array, at: list[int]) -> np.ndarray[Any, Any]:
    """Pairs below the diagonal, marginals on it."""
    import matplotlib.pyplot as plt

    k, names = len(at), source.names_of(model)
    figure, axes = plt.subplots(k, k, figsize=(2.1 * k + 0.4, 2.0 * k + 0.4), layout="constrained", squeeze=False)
    diagonal = compare(model, rows, columns=at, samples=samples)
    for i in range(k):
        for j in range(k):
            ax = style.calm(axes[i, j])
            if j > i:
                ax.set_visible(False)
            elif i == j:
                draw_marginal(diagonal[i], ax)
                ax.set_yticks([])
                ax.spines["left"].set_visible(False)
                style.label(ax, names[at[i]] if i == k - 1 else "", "")
            else:
                both = [at[j], at[i]]
                draw(ax, field(model, samples, rows, (at[j], at[i])), None if rows is None else rows[:, both], 300)
                style.label(ax, names[at[j]] if i == k - 1 else "", names[at[i]] if j == 0 else "")
            if i < k - 1:
                ax.tick_params(labelbottom=False)
            if 0 < j < i:
                ax.tick_params(labelleft=False)
    if k < model.n_features_in_:
        figure.supxlabel(f"{k} of {model.n_features_in_} columns", fontsize=8, color=style.FAINT)
    _key(figure, loc="upper right", bbox_to_anchor=(0.96, 0.96), ncols=1)
    result: np.ndarray[Any, Any] = axes
    return result
