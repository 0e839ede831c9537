"""Pictures of a fitted density: its marginals, two of its columns, and the forces that made it.

Functions take a fitted model and an optional ``ax``, and return the axes. They draw and never train.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equipoise.io.tables import to_table

_GRID = 160
_SAMPLES = 20_000
_UP, _DOWN, _INK = "#1f6fb4", "#c8553d", "#333333"


def pair(model: Any, X: Any = None, *, columns: tuple[int, int] = (0, 1), ax: Any = None) -> Any:  # noqa: ANN401
    """Two columns: exact on a grid where the model has just these two, otherwise from the model's own samples."""
    ax = _axes(ax)
    i, j = columns
    if max(columns) >= model.n_features_in_:
        message = f"columns {columns} do not exist: the model has {model.n_features_in_}"
        raise ValueError(message)
    samples = model.sample(_SAMPLES, random_state=0)[:, columns]
    low, high = np.quantile(samples, 0.001, axis=0), np.quantile(samples, 0.999, axis=0)
    room = 0.08 * (high - low)
    x, y = (np.linspace(low[k] - room[k], high[k] + room[k], _GRID) for k in (0, 1))
    if model.n_features_in_ == 2 and columns == (0, 1):
        gx, gy = np.meshgrid(x, y)
        height = np.exp(model.score_samples(np.column_stack([gx.ravel(), gy.ravel()]))).reshape(gx.shape)
    else:
        counts, xe, ye = np.histogram2d(
            samples[:, 0], samples[:, 1], bins=60, range=[[x[0], x[-1]], [y[0], y[-1]]], density=True
        )
        x, y, height = 0.5 * (xe[1:] + xe[:-1]), 0.5 * (ye[1:] + ye[:-1]), counts.T
    filled = ax.contourf(x, y, height, levels=_levels(height), cmap="Blues", extend="max")
    if X is not None:
        rows = to_table(X).values[:2_000, columns]
        ax.scatter(*rows.T, s=3, color=_INK, alpha=0.35, linewidths=0, label="rows")
    colours = ax.figure.colorbar(filled, ax=ax, pad=0.02, format="%.3g")
    colours.set_ticks(filled.levels[::3])
    colours.set_label("density")
    ax.set_xlabel(_name(model, i))
    ax.set_ylabel(_name(model, j))
    return ax


def marginals(model: Any, X: Any = None, *, column: int = 0, ax: Any = None) -> Any:  # noqa: ANN401
    """One column: the model's samples as a line, the rows X as bars."""
    ax = _axes(ax)
    samples = model.sample(_SAMPLES, random_state=0)[:, column]
    edges = np.linspace(float(np.quantile(samples, 0.001)), float(np.quantile(samples, 0.999)), 61)
    if X is not None:
        ax.hist(to_table(X).values[:, column], bins=edges, density=True, color="#cfd8e3", label="rows")
    heights, _ = np.histogram(samples, bins=edges, density=True)
    ax.stairs(heights, edges, color=_UP, linewidth=1.6, label="model")
    ax.set_xlabel(_name(model, column))
    ax.set_ylabel("density")
    ax.legend(frameon=False)
    return ax


def history(model: Any, *, ax: Any = None) -> Any:  # noqa: ANN401
    """The mean force on each side along the push; the two lines meet at balance."""
    ax = _axes(ax)
    record = model.history_
    ax.plot(record.step, record.up_force, color=_UP, label="up force")
    ax.plot(record.step, record.down_force, color=_DOWN, label="down force")
    ax.set_xlabel("step")
    ax.set_ylabel("mean force")
    ax.legend(frameon=False)
    return ax


def _levels(height: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    top = float(np.quantile(height, 0.999))
    levels: np.ndarray[Any, Any] = np.linspace(0.0, top if top > 0.0 else 1.0, 13)
    return levels


def _name(model: Any, column: int) -> str:  # noqa: ANN401
    names = getattr(model, "feature_names_in_", None)
    return f"column {column}" if names is None else str(names[column])


def _axes(ax: Any) -> Any:  # noqa: ANN401
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(6.0, 4.5), layout="constrained")[1]
