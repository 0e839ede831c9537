"""Which columns depend on each other most: mutual information of their ranks, on a small grid.

I(i, j) = Σ p log(p / (p_i p_j))    over cells of equal marginal probability
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_CELLS = 8
_ROWS = 4_000
_COLUMNS = 60  # pairs grow with the square; of more columns than this, the first are looked at


def most_dependent(rows: NDArray[np.float64], count: int) -> list[int]:
    """So many columns, in their order: the most dependent pair, then one by one what depends most on those chosen."""
    if rows.shape[1] <= count:
        return list(range(rows.shape[1]))
    information = mutual_information(rows[:_ROWS, :_COLUMNS])
    first, second = np.unravel_index(int(np.argmax(information)), information.shape)
    chosen = [int(first), int(second)]
    while len(chosen) < count:
        gain = information[:, chosen].sum(axis=1)
        gain[chosen] = -1.0
        chosen.append(int(np.argmax(gain)))
    return sorted(chosen)


def mutual_information(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each pair of columns, (d, d), in nats; zero on the diagonal."""
    n, d = rows.shape
    ranks = np.argsort(np.argsort(rows, axis=0, kind="stable"), axis=0, kind="stable")
    cell = ranks * _CELLS // n
    result = np.zeros((d, d))
    for i in range(d):
        for j in range(i):
            joint = np.bincount(cell[:, i] * _CELLS + cell[:, j], minlength=_CELLS**2) / n
            seen = joint[joint > 0.0]
            result[i, j] = result[j, i] = float((seen * np.log(seen)).sum()) + 2.0 * np.log(_CELLS)
    return result
