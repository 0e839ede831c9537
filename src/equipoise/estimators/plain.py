"""Numbers as JSON can hold them: it has no infinities and no NaN, so these go as words that ``float`` reads."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

_WORDS = {"inf": inf, "-inf": -inf, "nan": float("nan")}


def plain(value: Any) -> Any:  # noqa: ANN401
    """A number, or a list of them, for JSON."""
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def unplain(value: Any) -> Any:  # noqa: ANN401
    """The number or list again."""
    if isinstance(value, list):
        return [unplain(entry) for entry in value]
    return _WORDS.get(value, value) if isinstance(value, str) else value
