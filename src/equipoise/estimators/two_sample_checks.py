"""What is said about two tables before they are compared, and what cannot be compared."""

from __future__ import annotations

from math import comb

import numpy as np

from equipoise.estimators.shared_rows import shared_rows
from equipoise.io.table import Table, counted

_FEW = 40  # rows in all, above which labellings are many at any level


def look(left: Table, right: Table, level: float) -> list[str]:
    """Sentences about two tables X and Y of the same columns; an error where there is nothing to compare."""
    for word, table in (("X", left), ("Y", right)):
        if table.shape[0] < 2:
            message = f"{word} has {counted(table.shape[0], 'row')}: a test needs at least 2 in X and in Y"
            raise ValueError(message)
    return [*_constant(left, right), *_shared(left, right), *_few(left, right, level)]


def _constant(left: Table, right: Table) -> list[str]:
    first = left.values[0]
    constant = np.flatnonzero((left.values == first).all(axis=0) & (right.values == first).all(axis=0))
    called = ", ".join(repr(left.names[j]) if left.names else str(j) for j in constant)
    if len(constant) == len(first):
        message = f"columns {called} hold one value in both tables: there is nothing to compare"
        raise ValueError(message)
    return [f"Left out, since they hold one value in both tables: {called}."] if len(constant) else []


def _shared(left: Table, right: Table) -> list[str]:
    words = shared_rows(left, right).note()
    return [words] if words else []


def _few(left: Table, right: Table, level: float) -> list[str]:
    n, m = left.shape[0], right.shape[0]
    if n + m > _FEW or comb(n + m, n) * level >= 1.0:
        return []
    ways = comb(n + m, n)
    return [f"So few rows can be labelled in {ways} ways only: at level {level:g} no difference could be called one."]
