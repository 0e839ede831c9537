"""What a picture asks of a fitted density, and how rows and columns are matched to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.io.tables import to_table
from equipoise.plots.style import short

Array = NDArray[np.float64]
Columns = int | str | Sequence[int | str]

SAMPLES = 20_000


class Drawn(Protocol):
    """A fitted density, as far as pictures look at it."""

    n_features_in_: int

    def score_samples(self, X: Any) -> Array:  # noqa: ANN401
        """The log density of rows."""

    def sample(self, n: int, random_state: Any = None) -> Array:  # noqa: ANN401
        """Rows of the model."""


def names_of(model: Drawn) -> list[str]:
    """What to call the columns on an axis."""
    return [short(name) for name in _names(model)] or [f"column {i}" for i in range(model.n_features_in_)]


def samples_of(model: Drawn, samples: Array | None) -> Array:
    """Rows of the model; the given ones, where they were drawn before."""
    return model.sample(SAMPLES, random_state=0) if samples is None else samples


def rows_of(model: Drawn, X: Any) -> Array:  # noqa: ANN401
    """The rows X with their columns in the model's order."""
    table, names = to_table(X), _names(model)
    if names and table.names and table.names != tuple(names):
        table = table.select(names)
    if table.shape[1] != model.n_features_in_:
        message = f"X has {table.shape[1]} columns, and the model has {model.n_features_in_}"
        raise ValueError(message)
    return table.values


def columns_of(model: Drawn, columns: Columns | None) -> list[int]:
    """Positions of the columns asked for, by name or position; all where it is None."""
    if columns is None:
        return list(range(model.n_features_in_))
    names = _names(model)
    asked = [columns] if isinstance(columns, int | str | np.integer) else list(columns)
    there = ", ".join(names) if names else f"0 to {model.n_features_in_ - 1}"
    at = []
    for column in asked:
        position = names.index(column) if column in names else column
        if isinstance(position, str) or not 0 <= position < model.n_features_in_:
            message = f"no column {column!r}: the model has {there}"
            raise ValueError(message)
        at.append(int(position))
    if not at or len(set(at)) < len(at):
        message = f"columns must be different ones, got {columns!r}; the model has {there}"
        raise ValueError(message)
    return at


def _names(model: Drawn) -> list[str]:
    return [str(name) for name in getattr(model, "feature_names_in_", ())]
