"""Rows of a table: samples of an unknown density, drawn in a seeded random order.

x = rows[order.take(n)]        weights go with their rows
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from equipoise.sources.order import Order
from equipoise.sources.table import Array, Table, digest


class Rows:
    """Samples of an unknown density.

    Arguments:
        rows: The table, (n, d); a ``np.memmap`` is read row by row, and never copied as a whole.
        weight: Non-negative sample weights, (n,).
        replace: Draw with replacement instead of by permutations.
    """

    log_prob = None

    def __init__(self, rows: Any, weight: Any = None, *, replace: bool = False) -> None:  # noqa: ANN401
        self.table = Table(rows)
        self.weight = None if weight is None else as_weights(weight, self.table)
        self.features = self.table.shape[1]
        self.order = Order(len(self.table), replace=replace)

    @property
    def rows(self) -> Tensor | Array:
        """The table itself."""
        return self.table.rows

    def __len__(self) -> int:
        return len(self.table)

    def draw(self, out: Tensor, generator: Generator) -> Tensor | None:
        """Fill ``out`` with the next rows of the order."""
        index = self.order.take(out.shape[0], generator)
        self.table.gather(index, out)
        return None if self.weight is None else self.weight[index].to(out)

    def position(self) -> dict[str, Any]:
        """Where the order stands."""
        return self.order.position()

    def seek(self, position: dict[str, Any], generator: Generator) -> None:
        """Go to a position."""
        self.order.seek(position, generator)

    def outline(self) -> str:
        """What this is, in short."""
        weighted = "" if self.weight is None else f", weighted {digest(self.weight)}"
        return f"Rows {self.table.outline()}{self.order.outline()}{weighted}"


def as_weights(weight: Any, rows: Tensor | Table) -> Tensor:  # noqa: ANN401
    """Sample weights as a tensor, one per row, finite, non-negative and not all zero."""
    if not isinstance(weight, Tensor):
        weight = torch.from_numpy(np.array(weight, dtype=np.float64))  # a copy: arrays may be read-only, or a frame's
    values: Tensor = weight.detach().to(rows.dtype)
    if isinstance(rows, Tensor):
        values = values.to(rows.device)
    if values.shape != (len(rows),):
        message = f"weight must hold one number per row: expected ({len(rows)},), got {tuple(values.shape)}"
        raise ValueError(message)
    if not bool((values >= 0).all()) or not bool(torch.isfinite(values).all()) or not bool(values.sum() > 0):
        message = "weight must be finite, non-negative and not all zero"
        raise ValueError(message)
    return values
