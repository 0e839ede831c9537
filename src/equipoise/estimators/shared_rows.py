"""The same rows in two tables: a sign that the samples are not independent, unless rows repeat anyway.

Where both tables come from one source, a row is as likely repeated within a table as across the two. Far more across
than within is no chance: the tables share rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.io.table import Table

_TIMES = 3.0  # as often across as within, and it is no chance


@dataclass(frozen=True)
class SharedRows:
    """What two tables have in common.

    Arguments:
        left: How many rows of the first stand in the second as well.
        right: How many of the second stand in the first.
        within: The share of all rows that stand more than once in their own table.
        identical: Whether the tables hold the same rows equally often, in whatever order.
        sizes: Their rows.
    """

    left: int
    right: int
    within: float
    identical: bool
    sizes: tuple[int, int]

    @property
    def by_chance(self) -> bool:
        """Whether rows repeat within a table about as often as across the two."""
        across = (self.left + self.right) / sum(self.sizes)
        return across <= _TIMES * self.within

    def note(self, words: tuple[str, str] = ("X", "Y")) -> str:
        """What to say about it; nothing where it may be chance."""
        if self.identical:
            return f"{words[0]} and {words[1]} hold the same rows: there is nothing to tell apart."
        if self.by_chance or not self.left:
            return ""
        return (
            f"{self.left:,} of {words[0]}'s {self.sizes[0]:,} rows stand in {words[1]} as well: the two samples are "
            "not independent, and look more alike than what they were drawn from."
        )


def shared_rows(left: Table, right: Table) -> SharedRows:
    """Compare two tables of the same columns, row by row and exactly."""
    sizes = left.shape[0], right.shape[0]
    keys = np.concatenate([_keys(left.values), _keys(right.values)])
    _, which = np.unique(keys, return_inverse=True)
    which = which.reshape(-1)
    first, second = (np.bincount(part, minlength=which.max() + 1) for part in (which[: sizes[0]], which[sizes[0] :]))
    repeated = int(first[first > 1].sum() + second[second > 1].sum())
    return SharedRows(
        int(first[second > 0].sum()),
        int(second[first > 0].sum()),
        repeated / sum(sizes),
        bool((first == second).all()),
        sizes,
    )


def _keys(values: NDArray[np.float64]) -> NDArray[np.void]:
    """Rows as single cells of bytes; adding zero makes −0 and 0 the same."""
    rows = np.ascontiguousarray(values + 0.0)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)
