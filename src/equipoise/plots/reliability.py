"""Whether a ratio means what it says: the predicted share of numerator rows against the share that was observed.

    predicted = mean of σ(L) over a bin's rows,    observed = a/(a + b),    a, b the bin's shares of either side

Both sides count alike, whatever their numbers of rows. If log ratios are right, the points lie on the diagonal. The
bars are 95 % intervals of a binomial share of n rows, 1/n = ((1 − o)·Σs²_num + o·Σs²_den)/(a + b), o the observed
share and s the rows' shares of their sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equipoise.plots import style
from equipoise.plots.bins import Array, band
from equipoise.plots.overlap import Compared, sides_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Integers = NDArray[np.int64]

_MOST_BINS, _ROWS_EACH = 12, 25
_FIFTHS = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]


@dataclass(frozen=True)
class Reliability:
    """Bins of like predictions, (k,) each.

    Arguments:
        predicted: The mean predicted share of numerator rows.
        observed: The share that was observed.
        low, high: The 95 % interval of the latter.
    """

    predicted: Array
    observed: Array
    low: Array
    high: Array

    @property
    def astray(self) -> float:
        """The share of bins whose interval does not hold what was predicted."""
        return float(((self.predicted < self.low) | (self.predicted > self.high)).mean())


def reliability(model: Compared, *, ax: Axes | None = None) -> Axes:
    """Draw predicted against observed shares of numerator rows, on rows that were not seen."""
    found = measure(model)
    ax = ax or style.panel(4.2, 4.0)
    ax.plot([0.0, 1.0], [0.0, 1.0], color=style.FAINT, linewidth=0.8, label="perfect")
    error = np.abs(np.stack([found.low, found.high]) - found.observed)
    words = f"{len(found.observed)} bins, 95 % intervals"
    ax.errorbar(
        found.predicted, found.observed, yerr=error, fmt="o", color=style.MODEL, ecolor=style.MODEL,
        markersize=4, elinewidth=1.0, label=words,
    )  # fmt: skip
    ax.set_xticks(_FIFTHS)
    ax.set_yticks(_FIFTHS)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    style.label(ax, "predicted share of numerator rows", "observed share")
    style.legend(ax, above=True, ncols=1)
    return ax


def measure(model: Compared) -> Reliability:
    """Bins of equal shares of all rows, at most twelve."""
    (num, of_num), (den, of_den) = sides_of(model)
    chance, share = _sigmoid(np.concatenate([num, den])), np.concatenate([of_num, of_den])
    order = np.argsort(chance, kind="stable")
    count = int(np.clip(len(share) // _ROWS_EACH, 1, _MOST_BINS))
    reached = np.cumsum(share[order]) - 0.5 * share[order]
    which = np.empty(len(share), dtype=int)
    which[order] = np.minimum((0.5 * count * reached).astype(int), count - 1)
    which = _ties_together(chance, which)
    a, b = np.bincount(which[: len(num)], of_num, count), np.bincount(which[len(num) :], of_den, count)
    kept = a + b > 0.0
    a, b, both = a[kept], b[kept], (a + b)[kept]
    observed = a / both
    n = both / ((1.0 - observed) * (of_num @ of_num) + observed * (of_den @ of_den))
    return Reliability(np.bincount(which, share * chance, count)[kept] / both, observed, *band(observed, n))


def _ties_together(chance: Array, which: Integers) -> Integers:
    """Rows that are predicted alike fall into one bin, the first of theirs."""
    _, at = np.unique(chance, return_inverse=True)
    first = np.full(at.max() + 1, which.max())
    np.minimum.at(first, at, which)
    return first[at]


def _sigmoid(log_ratio: Array) -> Array:
    from scipy.special import expit

    result: Array = expit(log_ratio)
    return result
