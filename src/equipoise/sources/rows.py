"""Rows of a table: samples of an unknown density, drawn in a seeded random order.

x = rows[order.take(n)]        weights go with their rows
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from equipoise.sources.order import Order
from equipoise.sources.source import as_rows


class Rows:
    """Samples of an unknown density.

    Arguments:
        rows: The table, (n, d).
        weight: Non-negative sample weights, (n,).
        replace: Draw with replacement instead of by permutations.
    """

    log_prob = None

    def __init__(self, rows: Any, weight: Any = None, *, replace: bool = False) -> None:  # noqa: ANN401
        self.rows = as_rows(rows)
        self.weight = None if weight is None else as_weights(weight, self.rows)
        self.features = self.rows.shape[1]
        self.order = Order(self.rows.shape[0], replace=replace)

    def __len__(self) -> int:
        return self.rows.shape[0]

    def draw(self, out: Tensor, generator: Generator) -> Tensor | None:
        """Fill ``out`` with the next rows of the order."""
        index = self.order.take(out.shape[0], generator)
        if self.rows.dtype == out.dtype and self.rows.device == out.device:
            torch.index_select(self.rows, 0, index, out=out)
        else:
            out.copy_(self.rows[index])
        return None if self.weight is None else self.weight[index].to(out)


def as_weights(weight: Any, rows: Tensor) -> Tensor:  # noqa: ANN401
    """Sample weights as a tensor, one per row, finite, non-negative and not all zero."""
    if not isinstance(weight, Tensor):
        weight = torch.from_numpy(np.array(weight, dtype=np.float64))  # a copy: arrays may be read-only, or a frame's
    values: Tensor = weight.detach().to(rows)
    if values.shape != (rows.shape[0],):
        message = f"weight must hold one number per row: expected ({rows.shape[0]},), got {tuple(values.shape)}"
        raise ValueError(message)
    if not bool((values >= 0).all()) or not bool(torch.isfinite(values).all()) or not bool(values.sum() > 0):
        message = "weight must be finite, non-negative and not all zero"
        raise ValueError(message)
    return values
