"""A budget as a number of steps: given as such, or as a time that a short calibration turns into steps, once.

    steps = (time − scores · seconds per score) / seconds per step

Calibration happens on copies, so that a push does not notice it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from numbers import Integral
from time import perf_counter
from typing import Any

import torch

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_LONG = 0.25  # seconds that a calibration should last, so that a step's time is known to a few per cent


def steps_of(
    budget: int | str,
    trial: Callable[[int], object],
    score: Callable[[], object] | None = None,
    scores: int = 0,
    every: int | None = None,
) -> int:
    """Turn a budget into steps.

    Arguments:
        budget: A number of steps, or a time such as ``"90s"``, ``"5m"`` or ``"1h"``.
        trial: Makes so many steps on a copy, for the calibration.
        score: Takes the held-out score of the copy, where there is one.
        scores: How many scores the run will take, where ``every`` does not say it.
        every: Steps between scores.
    """
    given = read(budget)
    if isinstance(given, int):
        return given
    trial(3)
    count, elapsed = 20, _seconds(lambda: trial(20))
    if elapsed < min(_LONG, 0.02 * given):
        count = min(2000, round(20 * _LONG / elapsed))
        elapsed = _seconds(lambda: trial(count))
    step = elapsed / count
    if score is None:
        return max(1, round(given / step))
    once = _seconds(score)
    if every is not None:
        return max(1, round(given / (step + once / every)))
    return max(1, round(max(given - scores * once, 0.5 * given) / step))


def read(budget: int | str) -> int | float:
    """A number of steps as an int, or a time in seconds as a float."""
    if isinstance(budget, Integral) and not isinstance(budget, bool):
        if budget < 0:
            message = f"a budget in steps must not be negative, got {budget}"
            raise ValueError(message)
        return int(budget)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh])\s*", budget) if isinstance(budget, str) else None
    if match is None:
        message = f"a budget is a number of steps, or a time such as '90s' or '5m'; got {budget!r}"
        raise ValueError(message)
    return float(match[1]) * _UNITS[match[2]]


class Trial:
    """Steps and scores on copies of a surface and its optimizer, made when they are first needed.

    Arguments:
        surface: What to copy.
        optimizer: Copied beside it, so that the copy moves the copy.
        monitor: Scores the copy.
        move: Makes steps, as move(surface, optimizer, steps), and returns their history.
    """

    def __init__(self, surface: Any, optimizer: Any, monitor: Any, move: Callable[..., Any]) -> None:  # noqa: ANN401
        self._original, self._move, self._monitor = (surface, optimizer), move, monitor
        self._copies: list[Any] = []

    def push(self, steps: int) -> None:
        """Make steps; Ctrl-C ends the calibration, and with it the push that has not begun."""
        if not self._copies:
            self._copies.extend(deepcopy(self._original))
        if self._move(*self._copies, steps).interrupted:
            raise KeyboardInterrupt

    @property
    def score(self) -> Callable[[], object] | None:
        """Takes one score, if there is a monitor."""
        return None if self._monitor is None else self._score

    @torch.no_grad()
    def _score(self) -> None:
        self._monitor.score(self._copies[0])


def _seconds(act: Callable[[], object]) -> float:
    start = perf_counter()
    act()
    return perf_counter() - start
