"""A family's parameter as a plain number, from whatever number the caller holds; anything else is refused by name."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from torch import Tensor


def number(value: Any, name: str) -> int | float:  # noqa: ANN401  # the refusal is the point
    """A Python number from a Python, numpy or one-element torch number; ``name`` is how the refusal speaks of it."""
    given = value.item() if isinstance(value, Tensor) and value.numel() == 1 else value
    if isinstance(given, bool) or not isinstance(given, Real):
        message = f"{name} must be a number, got {value!r}"
        raise TypeError(message)
    return int(given) if isinstance(given, Integral) else float(given)
