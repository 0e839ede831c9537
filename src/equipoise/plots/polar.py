"""An instance drawn in the complex plane, as in the figure at line 2509: c = M_up + i·M_down, height by height.

below K red, K blue, above K amber       K belongs in quadrant I, below in IV, above in II, negative instances in III
"""

from __future__ import annotations

from itertools import pairwise
from math import isnan, pi
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from equipoise.instance import Instance
from equipoise.theory.polarity import Polar, polar as follow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["polar"]

_RED, _BLUE, _AMBER = "#c8352b", "#1f5fa8", "#e09a00"
_GREY, _PALE = "#8a8f98", "#d9dce1"
_PARTS = ((-1, _RED, "below K"), (0, _BLUE, "K"), (1, _AMBER, "above K"))
_LABELS = (  # quadrant, angle of its label, what belongs there, in whose colour
    ("I", 45, "K", _BLUE),
    ("II", 135, "above K", _AMBER),
    ("III", 225, "K of negative\ninstances", _GREY),
    ("IV", 315, "below K", _RED),
)
_LARGE = 12.0  # radii beyond this multiple of the smallest on K are compressed
_FARTHEST = 1e3
_CIRCLES = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0)


def polar(curve: Polar | Instance, ax: Axes | None = None) -> Axes:
    """Draw an instance's curve in the complex plane.

    Arguments:
        curve: An instance, or the result of :func:`equipoise.theory.polar`.
        ax: Where to draw; a new figure where it is None.

    Directions are true. Radii are too, unless they differ so much that they must be compressed: then a point at radius
    r is drawn at asinh r, the circles carry the true radii, and the axis says so.
    """
    curve = follow(curve, n=4001) if isinstance(curve, Instance) else curve
    ax = _axes() if ax is None else ax
    compressed = _compressed(curve)
    radius = _drawn(torch.clamp(curve.radius, max=_FARTHEST), compressed)
    x, y = radius * torch.cos(curve.angle), radius * torch.sin(curve.angle)
    reach = 1.16 * max(radius[torch.isfinite(radius)].max().item(), 1e-3)
    _draw_plane(ax, reach, compressed)
    for part, colour, label in _PARTS:
        _draw_part(ax, x, y, curve, part, colour, label)
    _draw_ends(ax, x, y, curve)
    ax.set_title(f"{curve.name}: {curve.verdict}", fontsize=11, pad=10)
    return ax


def _axes() -> Axes:
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=(5.4, 5.8), layout="constrained")
    return ax


def _compressed(curve: Polar) -> bool:
    on_K = curve.radius[(curve.part == 0) & torch.isfinite(curve.radius)]
    return bool(len(on_K)) and curve.radius.max().item() > _LARGE * max(on_K.min().item(), 0.1)


def _drawn(radius: Tensor, compressed: bool) -> Tensor:  # one scale for curve and circles
    return torch.asinh(radius) if compressed else radius


def _draw_plane(ax: Axes, reach: float, compressed: bool) -> None:
    from matplotlib.patches import Circle

    for true in _CIRCLES:
        drawn = _drawn(torch.tensor(true), compressed).item()
        if 0.12 * reach < drawn < 0.96 * reach:
            ax.add_patch(Circle((0.0, 0.0), drawn, fill=False, color=_PALE, linewidth=0.7, zorder=0))
            corner = (-drawn * 0.5**0.5, -drawn * 0.5**0.5)
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
            ax.text(*corner, f"{true:g}", fontsize=7, color=_GREY, ha="center", va="center", bbox=box)
    ax.axhline(0.0, color=_GREY, linewidth=0.8, zorder=1)
    ax.axvline(0.0, color=_GREY, linewidth=0.8, zorder=1)
    for name, degrees, words, colour in _LABELS:
        angle = torch.tensor(degrees * pi / 180.0)
        at = (1.2 * reach * torch.cos(angle).item(), 1.2 * reach * torch.sin(angle).item())
        ax.text(*at, f"{name}\n{words}", ha="center", va="center", fontsize=9, color=colour, linespacing=1.4)
    ax.text(reach, -0.02 * reach, "$M_{up}$", ha="right", va="top", fontsize=10)
    ax.text(-0.02 * reach, reach, "$M_{down}$", ha="right", va="top", fontsize=10)
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xticks=[], yticks=[])
    scale = "radius r drawn at asinh r; the circles carry the true r" if compressed else "circles: radius"
    ax.set_xlabel(scale, fontsize=8, color=_GREY)
    ax.spines[:].set_visible(False)


def _draw_part(ax: Axes, x: Tensor, y: Tensor, curve: Polar, part: int, colour: str, label: str) -> None:
    """One part as a line, broken where the magnitudes jump; a stretch that stays in one place is a dot.

    K lies on top and is the thinner line: where the curve goes the same way again beyond K, as LDAR's does, both show.
    """
    here = (curve.part == part) & torch.isfinite(x) & torch.isfinite(y)
    if not bool(here.any()):
        return
    px, py = x[here].clone(), y[here].clone()
    step = torch.hypot(torch.diff(px), torch.diff(py))
    broken = torch.nonzero(step > 0.2 * torch.hypot(px, py).max()).flatten() + 1
    dots = [first for first, end in pairwise([0, *broken.tolist(), len(px)]) if _rests(px[first:end], py[first:end])]
    ax.plot(px[dots].numpy(), py[dots].numpy(), "o", color=colour, markersize=5, zorder=4)
    px[broken] = torch.nan
    width, layer = (2.2, 3.5) if part == 0 else (3.4, 3.0)
    ax.plot(px.numpy(), py.numpy(), color=colour, linewidth=width, solid_capstyle="round", label=label, zorder=layer)
    _draw_arrow(ax, px, py, colour, layer)


def _rests(x: Tensor, y: Tensor) -> bool:
    return len(x) > 1 and torch.hypot(x - x[0], y - y[0]).max().item() < 1e-9


def _draw_arrow(ax: Axes, x: Tensor, y: Tensor, colour: str, layer: float) -> None:
    """The direction in which u grows, half-way along the line."""
    step = torch.nan_to_num(torch.hypot(torch.diff(x), torch.diff(y)))
    travelled = torch.cumsum(step, dim=0)
    if len(step) < 3 or travelled[-1] <= 0:
        return
    at = int(torch.searchsorted(travelled, 0.5 * travelled[-1]).clamp(1, len(step) - 1))
    ends = [(x[i].item(), y[i].item()) for i in (at, at + 1)]
    if not any(isnan(value) for end in ends for value in end):
        style = {"arrowstyle": "-|>", "color": colour, "lw": 0, "mutation_scale": 18}
        ax.annotate("", xy=ends[1], xytext=ends[0], arrowprops=style, zorder=layer)


def _draw_ends(ax: Axes, x: Tensor, y: Tensor, curve: Polar) -> None:
    """The finite ends of K, as heights; where the curve jumps there, as tan does, they are the ends of K's part."""
    for height, inwards in ((curve.interval.low, 1), (curve.interval.high, -1)):
        if abs(height) == torch.inf:
            continue
        at = int(torch.argmin(torch.abs(curve.u - height)))
        jumps = torch.hypot(x[at + inwards] - x[at], y[at + inwards] - y[at]) > 0.2 * torch.hypot(x[at], y[at])
        end = at + inwards if bool(jumps) else at
        if not bool(torch.isfinite(x[end] + y[end])):
            continue
        place = (x[end].item(), y[end].item())
        ax.plot(*place, "o", markerfacecolor="white", markeredgecolor=_BLUE, markersize=6, zorder=5)
        words = f"u = {height:.4g}".replace("-", "−") + (", r = ∞" if torch.isinf(curve.radius[at]) else "")
        side = "right" if place[0] > 0.7 * ax.get_xlim()[1] else "left"
        ax.annotate(words, place, (8, 7), textcoords="offset points", fontsize=8, color=_BLUE, ha=side)
