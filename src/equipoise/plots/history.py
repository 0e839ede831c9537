"""How a push went: the held-out gain over the base, and the forces of both sides, which meet at balance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NOTHING = "No surface was pushed:\nthe base alone is the model."


def history(model: Any, *, ax: Axes | None = None) -> Any:  # noqa: ANN401  # Axes, or two of them
    """Draw what a push has seen.

    Arguments:
        model: A fitted density, or a training history.
        ax: Where to draw the forces; two panels, the held-out gain and the forces, where it is None.

    Returns the axes, or an array of both.
    """
    record = getattr(model, "history_", model)
    if ax is not None or not is_scored(record):
        axes = ax or style.panel(5.6, 3.6)
        forces(record, axes)
        return axes
    both = style.panels(2, width=4.6, height=3.4)
    gain(record, both[0])
    forces(record, both[1])
    return both


def is_pushed(record: Any) -> bool:  # noqa: ANN401
    """Whether there is anything to draw."""
    return record is not None and len(getattr(record, "step", ())) > 0


def is_scored(record: Any) -> bool:  # noqa: ANN401
    """Whether a monitor watched the push."""
    return is_pushed(record) and len(getattr(record, "score", ())) > 0


def gain(record: Any, ax: Axes) -> None:  # noqa: ANN401
    """The held-out score at each look, with its standard error; the best is marked, whose weights the surface has."""
    if not is_scored(record):
        _say_nothing(ax)
        return
    step, score = np.asarray(record.scored, dtype=float), np.asarray(record.score, dtype=float)
    error = np.asarray(getattr(record, "score_se", np.zeros_like(score)), dtype=float)
    seen = np.isfinite(score)
    step, score, error = step[seen], score[seen], np.where(np.isfinite(error[seen]), error[seen], 0.0)
    ax.fill_between(step, score - error, score + error, color=style.MODEL, alpha=0.2, linewidth=0, label="± 1 SE")
    ax.plot(step, score, color=style.MODEL, linewidth=1.6, label="held-out gain")
    ax.axhline(0.0, color=style.FAINT, linewidth=0.9, linestyle=(0, (4, 3)), label="the base")
    best = int(np.argmax(score)) if len(score) else None
    if best is not None:
        ax.plot(step[best], score[best], "o", color=style.MODEL, markersize=6, label=f"best, at step {step[best]:,.0f}")
    style.label(ax, "step", "gain over the base, nats per row")
    style.legend(ax, loc="best")


def forces(record: Any, ax: Axes) -> None:  # noqa: ANN401
    """The mean force of each side at each recorded step."""
    if not is_pushed(record):
        _say_nothing(ax)
        return
    ax.plot(record.step, record.up_force, color=style.MODEL, linewidth=1.5, label="up: mean force at the rows")
    words = "down: mean force at the base"
    ax.plot(record.step, record.down_force, color=style.OTHER, linewidth=1.5, linestyle=(0, (5, 2)), label=words)
    style.label(ax, "step", "mean force")
    style.legend(ax, loc="best")


def _say_nothing(ax: Axes) -> None:
    ax.text(0.5, 0.5, _NOTHING, transform=ax.transAxes, ha="center", va="center", fontsize=10, color=style.INK)
    ax.set_axis_off()
