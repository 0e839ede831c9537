"""A budget as a number of steps: given as such, or as a time that a short calibration turns into steps, once.

steps = time / seconds per step
"""

from __future__ import annotations

import re
from collections.abc import Callable
from numbers import Integral
from time import perf_counter

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_LONG = 0.25  # seconds that a calibration should last, so that a step's time is known to a few per cent


def steps_of(budget: int | str, trial: Callable[[int], object]) -> int:
    """Turn a budget into steps.

    Arguments:
        budget: A number of steps, or a time such as ``"90s"``, ``"5m"`` or ``"1h"``.
        trial: Makes so many steps on a copy, for the calibration.
    """
    given = read(budget)
    if isinstance(given, int):
        return given
    trial(3)
    count, elapsed = 20, _timed(trial, 20)
    if elapsed < min(_LONG, 0.02 * given):
        count = min(2000, round(20 * _LONG / elapsed))
        elapsed = _timed(trial, count)
    return max(1, round(given * count / elapsed))


def _timed(trial: Callable[[int], object], count: int) -> float:
    start = perf_counter()
    trial(count)
    return perf_counter() - start


def read(budget: int | str) -> int | float:
    """A number of steps as an int, or a time in seconds as a float."""
    if isinstance(budget, Integral) and not isinstance(budget, bool):
        if budget < 0:
            message = f"a budget in steps must not be negative, got {budget}"
            raise ValueError(message)
        return int(budget)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh])\s*", budget) if isinstance(budget, str) else None
    if match is None:
        message = f"budget must be 'auto', a number of steps, or a time such as '90s' or '5m'; got {budget!r}"
        raise ValueError(message)
    return float(match[1]) * _UNITS[match[2]]
