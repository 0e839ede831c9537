"""The fields of a blueprint: how a constructor's argument becomes JSON, and comes back from JSON that may be anything.

write : argument → JSON,   read : JSON → argument, or an error that says what was wrong
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf, isfinite
from sys import float_info
from typing import Any

from equipoise.interval import Interval

MOST_LAYERS = 1000  # every layer costs more than its numbers


@dataclass(frozen=True)
class Field:
    """One field of a blueprint.

    Arguments:
        read: From JSON; raises ValueError or TypeError for anything that is not such a field.
        write: To JSON.
        numbers: How many numbers stand behind it; only surfaces hold any.
        nested: Whether it holds surfaces, which cost memory to read.
    """

    read: Callable[[Any], Any]
    write: Callable[[Any], Any] = lambda value: value
    numbers: Callable[[Any], int] = lambda _: 0
    nested: bool = False


def _count(value: Any, most: float = inf) -> int:  # noqa: ANN401  # from a file
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        message = f"a surface is counted in integers from 1 to {most:g}, got {short(value)}"
        raise ValueError(message)
    return value


def _number(value: Any) -> float:  # noqa: ANN401
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= float_info.max:
        message = f"expected a finite number, got {short(value)}"
        raise ValueError(message)
    return value


def _flag(value: Any) -> bool:  # noqa: ANN401
    if not isinstance(value, bool):
        message = f"expected true or false, got {short(value)}"
        raise TypeError(message)
    return value


def _interval(value: Any) -> Interval:  # noqa: ANN401
    if not isinstance(value, list) or len(value) != 2:
        message = f"an interval is a list of two numbers, null where it has no end; got {short(value)}"
        raise ValueError(message)
    low, high = (end if end is None else _number(end) for end in value)
    return Interval(-inf if low is None else low, inf if high is None else high)


def one_of(names: Iterable[str]) -> Field:
    """A word out of a list."""
    known = tuple(names)

    def read(value: Any) -> str:  # noqa: ANN401
        if not isinstance(value, str) or value not in known:
            message = f"expected one of {', '.join(known)}, got {short(value)}"
            raise ValueError(message)
        return value

    return Field(read)


def short(value: Any) -> str:  # noqa: ANN401
    """A value as a message can hold it; integers may be too long even to print."""
    if isinstance(value, int) and abs(value) > 10**9:
        return "an integer of ten digits or more"
    return f"a {type(value).__name__}" if isinstance(value, list | dict) else repr(value)[:40]


COUNT = Field(_count)
DEPTH = Field(lambda value: _count(value, MOST_LAYERS))
NUMBER = Field(_number)
FLAG = Field(_flag)
INTERVAL = Field(_interval, lambda interval: [end if isfinite(end) else None for end in (interval.low, interval.high)])
