"""Calibration: log p of rows against log p of the model's own samples, quantile by quantile.

If the rows come from the model, both have one distribution, and quantile q of n rows falls where the model's quantiles
at Beta(nq, n(1 − q) + 1) and Beta(nq + 1, n(1 − q)) are, with 95 %. Rows below the line are stranger to the model than
what it draws itself: it is too sure of itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.plots import source, style
from equipoise.plots.bins import Array, band
from equipoise.plots.source import Drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVELS = 199
_MOST_ROWS = 20_000
_TAIL = 3.0  # times the middle nine tenths


@dataclass(frozen=True)
class Calibration:
    """Quantiles of log p of rows and of samples at the same levels, and a band for the former.

    Arguments:
        levels: Between 0 and 1, (k,).
        model: Quantiles of the model's samples.
        rows: Quantiles of the rows.
        low, high: The band for the rows' quantiles.
        n: How many rows were scored.
        impossible: How many of them the model calls impossible, log p = −∞.
        mean, se: Of log p of the rows that are possible.
        own_mean: Of log p of the model's samples: what it expects of rows.
    """

    levels: Array
    model: Array
    rows: Array
    low: Array
    high: Array
    n: int
    impossible: int
    mean: float
    se: float
    own_mean: float

    @property
    def astray(self) -> float:
        """The share of quantiles outside the band."""
        return float(((self.rows < self.low) | (self.rows > self.high)).mean())


def calibration(
    model: Drawn,
    X: Any,  # noqa: ANN401
    *,
    samples: Array | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how rows score under a model against how its own samples do; the rows should be new to it."""
    ax = ax or style.panel(5.0, 4.6)
    draw(measure(model, X, samples=samples), ax)
    return ax


def measure(model: Drawn, X: Any, *, samples: Array | None = None) -> Calibration:  # noqa: ANN401
    """The quantiles, over at most 20,000 rows, evenly spaced."""
    rows = source.rows_of(model, X)
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), _MOST_ROWS)).astype(int)]
    scores, own = model.score_samples(rows), model.score_samples(source.samples_of(model, samples))
    return compare(scores, own)


def compare(scores: Array, own: Array) -> Calibration:
    """The quantiles of log p of rows, and of samples."""
    n, m = len(scores), len(own)
    levels = (np.arange(_LEVELS) + 0.5) / _LEVELS
    if n < _LEVELS:
        levels = (np.arange(n) + 0.5) / n
    low, high = band(levels, 1.0 / (1.0 / n + 1.0 / m))
    possible = scores[np.isfinite(scores)]
    mean = float(possible.mean()) if len(possible) else float("nan")
    se = float(possible.std(ddof=1)) / sqrt(len(possible)) if len(possible) > 1 else float("nan")
    finite = own[np.isfinite(own)]
    order = np.sort(scores)
    at = np.clip((levels * n).astype(int), 0, n - 1)
    quantile = _quantiles(finite)
    return Calibration(
        levels,
        quantile(levels),
        order[at],
        quantile(low),
        quantile(high),
        n,
        n - len(possible),
        mean,
        se,
        finite.mean(),
    )


def _quantiles(values: Array) -> Any:  # noqa: ANN401  # a function of levels
    ordered = np.sort(values)
    middles = (np.arange(len(ordered)) + 0.5) / len(ordered)
    return lambda levels: np.interp(levels, middles, ordered)


def draw(found: Calibration, ax: Axes) -> None:
    """The rows' quantiles against the model's, the diagonal, and the band."""
    ends = _ends(found)
    ax.fill_between(
        found.model,
        found.low,
        found.high,
        color=style.MODEL,
        alpha=0.22,
        linewidth=0,
        label="95 % band for rows of the model",
    )
    ax.plot(ends, ends, color=style.MODEL, linewidth=1.0, label="perfect")
    seen = np.isfinite(found.rows)
    ax.plot(
        found.model[seen], found.rows[seen], "o", color=style.INK, markersize=2.6, markeredgewidth=0,
        label=f"{found.n:,} rows",
    )  # fmt: skip
    ax.set_xlim(*ends)
    ax.set_ylim(*ends)
    ax.set_aspect("equal")
    style.label(ax, "log p of the model's own samples, quantiles", "log p of rows, quantiles")
    style.legend(ax, loc="upper left")
    below = int((found.rows < ends[0]).sum())
    if below:
        style.note(ax, f"{style.percent(below / len(found.rows))} of rows below the axis")


def _ends(found: Calibration) -> tuple[float, float]:
    """An axis for both; a tail that would squeeze the rest together is cut."""
    both = np.concatenate([found.model, found.rows[np.isfinite(found.rows)]])
    low, high = float(both.min()), float(both.max())
    fifth, most = np.quantile(found.model, [0.05, 0.95])
    low = max(low, float(fifth - _TAIL * (most - fifth)))
    room = 0.04 * (high - low) or 0.5
    return low - room, high + room
