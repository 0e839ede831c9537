"""Two tables in agreement: the same columns in the same order, and in words what it took.

    X (a, b, c),  Y (c, a, b)   →   X (a, b, c),  Y (a, b, c),  "Y's columns were put into X's order"

Names decide where both tables have them. A column that one of them lacks is an error: leaving it out is for the user
to decide.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from equipoise.io.table import Table, counted
from equipoise.io.tables import Missing, to_table


def two_tables(
    X: Any,  # noqa: ANN401  # whatever a user has
    Y: Any,  # noqa: ANN401
    words: tuple[str, str] = ("X", "Y"),
    missing: Missing = "error",
) -> tuple[Table, Table, list[str]]:
    """Both as tables with the columns of the first, and what was done to get there, in sentences.

    Arguments:
        X: Whatever :func:`equipoise.io.to_table` reads.
        Y: The same.
        words: What to call them in messages.
        missing: What to do about missing values and NaN, ``"error"`` or ``"drop"``.
    """
    left, right = to_table(X, words[0], missing), to_table(Y, words[1], missing)
    notes = [
        f"{word}: {counted(table.dropped, 'row')} with missing values left out."
        for word, table in zip(words, (left, right), strict=True)
        if table.dropped
    ]
    if left.names and right.names:
        _same_names(left, right, words)
        if left.names != right.names:
            right = right.select(left.names)
            notes.append(f"{words[1]}'s columns were put into the order of {words[0]}'s, by name.")
        return left, right, notes
    _same_count(left, right, words)
    if left.names or right.names:
        names = left.names or right.names
        named, bare = words if left.names else words[::-1]
        notes.append(f"{bare} has no column names: its columns were taken to stand in the order of {named}'s.")
        left, right = replace(left, names=names), replace(right, names=names)
    return left, right, notes


def _same_names(left: Table, right: Table, words: tuple[str, str]) -> None:
    lacking = [
        (word, [name for name in there if name not in set(here)])
        for word, here, there in ((words[0], left.names, right.names), (words[1], right.names, left.names))
    ]
    if not any(names for _, names in lacking):
        return
    said = "; ".join(f"{word} has no column {', '.join(map(repr, names))}" for word, names in lacking if names)
    shared = [name for name in left.names if name in set(right.names)]
    remedy = f"pass the columns that both have: {', '.join(shared)}" if shared else "they have no column in common"
    message = f"{words[0]} and {words[1]} must have the same columns, but {said}; {remedy}"
    raise ValueError(message)


def _same_count(left: Table, right: Table, words: tuple[str, str]) -> None:
    if left.shape[1] != right.shape[1]:
        message = (
            f"{words[0]} and {words[1]} must have the same columns, but {words[0]} has "
            f"{counted(left.shape[1], 'column')} and {words[1]} has {right.shape[1]:,}"
        )
        raise ValueError(message)
