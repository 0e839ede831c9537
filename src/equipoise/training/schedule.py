"""The learning rate along a push, as a share of the first: a function of how much of the run is over.

    rate(step) = learning_rate · factor(step / steps)

    paper   1 up to 40,000/300,000 of the run, then exponentially down to 3e-9/0.0035      (line 5566)

A schedule knows shares, not steps, so that it scales with the budget.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, isfinite, pi

Schedule = Callable[[float], float]

_PLATEAU = 40_000 / 300_000
_FLOOR = 3e-9 / 0.0035
_WARM, _COLD = 0.05, 0.8


def constant(share: float) -> float:
    """The first rate throughout."""
    return 1.0


def cosine(share: float) -> float:
    """Half a cosine, from 1 to 0."""
    return 0.5 * (1.0 + cos(pi * share))


def paper(share: float) -> float:
    """The paper's: flat, then an exponential decay."""
    return 1.0 if share <= _PLATEAU else _FLOOR ** ((share - _PLATEAU) / (1.0 - _PLATEAU))


def warmup_stable_decay(share: float) -> float:
    """A twentieth of the run up from 1 %, flat, and the last fifth down to 0."""
    return min(1.0, 0.01 + 0.99 * share / _WARM, (1.0 - share) / (1.0 - _COLD))


SCHEDULES: dict[str, Schedule] = {
    "cosine": cosine,
    "paper": paper,
    "warmup_stable_decay": warmup_stable_decay,
    "constant": constant,
}


def as_schedule(given: str | Schedule) -> Schedule:
    """A schedule from its name, or a function of the share in [0, 1]."""
    if isinstance(given, str) and given in SCHEDULES:
        return SCHEDULES[given]
    if not callable(given):
        message = (
            f"a schedule must be one of {', '.join(SCHEDULES)}, or a function of the share in [0, 1]; got {given!r}"
        )
        raise ValueError(message)
    for share in (0.0, 0.5, 1.0):
        factor = given(share)
        if not (isinstance(factor, int | float) and isfinite(factor) and factor >= 0.0):
            message = f"a schedule must return a number of at least 0; at share {share} this one returns {factor!r}"
            raise ValueError(message)
    return given
