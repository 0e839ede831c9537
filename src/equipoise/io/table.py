"""A table: rows of float64 numbers, the names of their columns where there are any, and what they were read from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Wanted = Sequence[str | int] | None
Choice = Wanted | Callable[[Sequence[str]], Wanted]

_NAMES_SAID = 8


@dataclass(frozen=True)
class Table:
    """Rows of numbers.

    Arguments:
        values: The rows, (n, d), float64.
        names: One per column where the source had names; empty otherwise.
        types: What each column held before it became float64; empty where that is not known.
        dropped: How many rows were left out because values were missing.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    dropped: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.values.shape[0], self.values.shape[1]

    @property
    def said(self) -> str:
        """Rows, columns and types in words."""
        rows, columns = self.shape
        words = [counted(rows, "row"), counted(columns, "column") + self._names_said()]
        if self.types:
            counts = Counter(self.types)
            words.append(", ".join(f"{n} {kind}" if len(counts) > 1 else kind for kind, n in counts.most_common()))
        if self.dropped:
            words.append(f"{counted(self.dropped, 'row')} with missing values left out")
        return ", ".join(words)

    def select(self, columns: Sequence[str | int]) -> Table:
        """The named columns, or those at the positions given, in the order asked for."""
        at = positions(columns, self.names, self.shape[1])
        names, types = (tuple(given[i] for i in at) if given else () for given in (self.names, self.types))
        return replace(self, values=self.values[:, at], names=names, types=types)

    def part(self, start: int, stop: int) -> Table:
        """Rows from start up to stop."""
        return replace(self, values=self.values[start:stop], dropped=0)

    def _names_said(self) -> str:
        if not self.names:
            return " without names"
        more = ", …" if len(self.names) > _NAMES_SAID else ""
        return f" ({', '.join(self.names[:_NAMES_SAID])}{more})"


def positions(columns: Sequence[str | int], names: Sequence[str], count: int) -> list[int]:
    """Where the columns asked for stand among count columns, by name or position."""
    if not columns:
        message = "no columns were asked for"
        raise ValueError(message)
    order = {name: i for i, name in enumerate(names)}
    at = [order.get(c, -1) if isinstance(c, str) else int(c) for c in columns]
    absent = [c for c, i in zip(columns, at, strict=True) if not 0 <= i < count]
    if absent:
        there = f"there are {', '.join(names)}" if names else f"columns have no names, only positions 0 to {count - 1}"
        message = f"no column {', '.join(map(repr, absent))}; {there}"
        raise ValueError(message)
    if len(set(at)) < len(at):
        message = f"each column can be asked for once, got {', '.join(map(str, columns))}"
        raise ValueError(message)
    return at


def chosen(columns: Choice, names: Sequence[str], count: int) -> list[int] | None:
    """Positions of a choice among count columns; None where all are to stay."""
    wanted = columns(names) if callable(columns) else columns
    return None if wanted is None else positions(wanted, names, count)


def counted(n: int, noun: str) -> str:
    """A number with its noun, in the plural where it must be."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
