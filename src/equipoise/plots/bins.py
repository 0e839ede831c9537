"""Bins for one column, and how far counts may stray from what a model says.

    height = count / (n·width), n counting rows beyond the axis too, so that heights never claim more than was seen

The band holds a share k/n of rows in a bin of probability p with 95 %, where k is binomial and p itself an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_FEWEST, _MOST = 16, 60
_LATTICE = 60  # so many steps get a bin each
_MIDDLE = 0.02, 0.98
_HEAVY = 4.0  # a range beyond so many times its middle is cut, with so much room as a share of the middle
_ROOM = 0.3
_SEEN = 100_000


@dataclass(frozen=True)
class Bins:
    """Edges (k + 1,), and whether they stand around repeated values."""

    edges: Array
    lattice: bool = False

    @property
    def middles(self) -> Array:
        """The middle of each bin."""
        return 0.5 * (self.edges[1:] + self.edges[:-1])

    @property
    def widths(self) -> Array:
        """The width of each bin."""
        return np.diff(self.edges)

    def shares(self, values: Array) -> Array:
        """The share of all values in each bin; what lies beyond the edges counts among all."""
        counts, _ = np.histogram(values, bins=self.edges)
        result: Array = counts / len(values)
        return result

    def beyond(self, values: Array) -> float:
        """The share of values beyond the edges."""
        return float(np.mean((values < self.edges[0]) | (values > self.edges[-1])))


def bins_of(values: Array, *others: Array) -> Bins:
    """Bins for a column over where most of it lies: around its values where few repeat, otherwise of equal width."""
    step = spacing(values)
    low, high = spread(values, *others) if step is None else spread(values)
    count = _count(values[(values >= low) & (values <= high)], high - low)
    if step is None:
        return Bins(np.linspace(low, high, count + 1))
    start = float(values.min())
    first, last = np.round((low - start) / step), np.round((high - start) / step)
    single = last - first < _LATTICE
    each = 1.0 if single else np.ceil((last - first + 1.0) / count)  # whole steps, or bins would hold more or fewer
    edges = start + step * np.arange(first - 0.5, last + 0.5 + each, each)
    return Bins(edges, lattice=bool(single))


def spacing(values: Array) -> float | None:
    """The step of a column of repeated, evenly spaced values such as integers; None where it is none."""
    few = _some(values)
    distinct = np.unique(few)
    if len(distinct) < 2 or len(distinct) * 4 > len(few):
        return None
    step = float(np.diff(distinct).min())
    steps = (distinct - distinct[0]) / step
    return step if np.allclose(steps, np.round(steps), rtol=0.0, atol=1e-3) else None


def spread(*columns: Array) -> tuple[float, float]:
    """An axis for columns: all of them, unless a few values would squeeze the rest together."""
    lows, highs = zip(*(_spread(values) for values in columns), strict=True)
    low, high = min(lows), max(highs)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _spread(values: Array) -> tuple[float, float]:
    least, most = float(values.min()), float(values.max())
    low, high = (float(v) for v in np.quantile(_some(values), _MIDDLE))
    if most - least <= _HEAVY * (high - low) or high == low:
        return least, most
    return max(least, low - _ROOM * (high - low)), min(most, high + _ROOM * (high - low))


def _some(values: Array) -> Array:
    """As many of a long column as it takes to see its shape."""
    return values[:: max(1, len(values) // _SEEN)]


def _count(values: Array, width: float) -> int:
    """Freedman and Diaconis' number of bins, somewhat more of them, within reason."""
    quarter, three = np.quantile(_some(values), [0.25, 0.75])
    bin_width = 1.5 * (three - quarter) / len(values) ** (1.0 / 3.0)
    wanted = width / bin_width if bin_width > 0.0 else len(values) ** 0.5
    return int(np.clip(np.ceil(wanted), _FEWEST, _MOST))


def band(p: Array, n: float | Array, level: float = 0.95) -> tuple[Array, Array]:
    """Bounds within which a share of n rows falls at the level given, where each row counts with probability p.

    Continuous in n, so that the noise of an estimated p can be counted in: n = 1/(1/rows + 1/samples).
    """
    from scipy.stats import beta

    expected, tail = n * np.asarray(p), 0.5 * (1.0 - level)
    low = beta.ppf(tail, np.maximum(expected, 1e-12), n - expected + 1.0)
    high = beta.ppf(1.0 - tail, expected + 1.0, np.maximum(n - expected, 1e-12))
    return np.where(expected > 0.0, low, 0.0), np.where(expected < n, high, 1.0)
