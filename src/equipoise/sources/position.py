"""Where a source stands in its data, as numbers and tensors, so that a push can go on where another stopped.

    position_of(source) → tree,   seek(source, tree, generator),   outline(source) → text

A source whose draws come from the generator alone stands nowhere, and need not offer these.
"""

from __future__ import annotations

from typing import Any

from torch import Generator


def position_of(source: Any) -> dict[str, Any]:  # noqa: ANN401  # sources and pairs of all kinds
    """Where a source stands."""
    position = getattr(source, "position", None)
    return dict(position()) if callable(position) else {}


def seek(source: Any, position: dict[str, Any], generator: Generator) -> None:  # noqa: ANN401
    """Go there, for draws from a generator that has gone there too."""
    if position:
        source.seek(position, generator)


def outline(source: Any) -> str:  # noqa: ANN401
    """What a source is, in short: its kind, and its numbers of rows and columns."""
    words = getattr(source, "outline", None)
    return str(words()) if callable(words) else f"{type(source).__name__} of {getattr(source, 'features', '?')} columns"
