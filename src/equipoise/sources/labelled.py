"""A labelled table as a pair: one batch for all classes, each row up on its own surface and down on the others.

(x, y),   y in 0 … C−1        the class priors are the shares of the labels
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from equipoise.batch import Batch
from equipoise.sources.buffer import Buffer
from equipoise.sources.noisy import add_noise, as_sigma
from equipoise.sources.order import Order
from equipoise.sources.rows import as_weights
from equipoise.sources.table import Array, Table, digest


class Labelled:
    """Rows with class labels.

    Arguments:
        rows: The table, (n, d).
        labels: One label per row; any values that sort. :attr:`classes` holds them in the order of the surfaces.
        weight: Non-negative sample weights, (n,).
        replace: Draw with replacement instead of by permutations.
    """

    def __init__(self, rows: Any, labels: Any, weight: Any = None, *, replace: bool = False) -> None:  # noqa: ANN401
        table = Table(rows)
        names = np.asarray(labels)
        if names.dtype.kind == "f" and np.isnan(names).any():
            message = f"labels must not be NaN, and {int(np.isnan(names).sum())} are"
            raise ValueError(message)
        self.classes, codes = np.unique(names, return_inverse=True)
        if codes.shape != (len(table),):
            message = f"labels must hold one label per row: expected ({len(table)},), got {codes.shape}"
            raise ValueError(message)
        if len(self.classes) < 2:
            message = f"labels must name at least two classes, got only {self.classes.tolist()}"
            raise ValueError(message)
        self.features = table.shape[1]
        self.labels = torch.from_numpy(codes)
        self.table = table
        self.weight = None if weight is None else as_weights(weight, table)
        self.order = Order(len(table), replace=replace)

        self._sigma: Tensor | None = None
        self._buffer, self._noise = Buffer(), Buffer()

    @property
    def rows(self) -> Tensor | Array:
        """The table itself."""
        return self.table.rows

    def draw(
        self, n_up: int, n_down: int, generator: Generator, *, like: Tensor | None = None, log_base: bool = False
    ) -> Batch:
        """A batch of n_up + n_down rows with their labels, in a buffer; labelled rows have no base."""
        if log_base:
            message = "labelled rows have no base: this instance needs a pair whose down density is known"
            raise ValueError(message)
        index = self.order.take(n_up + n_down, generator)
        wanted = torch.empty(0, dtype=self.table.dtype) if like is None else like
        x = self._buffer.rows(len(index), self.features, wanted)
        self.table.gather(index, x)
        if self._sigma is not None:
            add_noise(x, self._sigma, self._noise, generator)
        weight = None if self.weight is None else self.weight[index].to(x)
        return Batch(x, n_up + n_down, labels=self.labels[index].to(x.device), weight=weight)

    def with_noise(self, sigma: float | Tensor) -> Labelled:
        """The same rows and order, with Gaussian noise on the rows."""
        blurred = copy(self)
        blurred._sigma = as_sigma(sigma, self.features)
        return blurred

    def position(self) -> dict[str, Any]:
        """Where the order stands."""
        return self.order.position()

    def seek(self, position: dict[str, Any], generator: Generator) -> None:
        """Go to a position."""
        self.order.seek(position, generator)

    def outline(self) -> str:
        """What this is, in short."""
        weighted = "" if self.weight is None else f", weighted {digest(self.weight)}"
        return f"Labelled {self.table.outline()} by {digest(self.labels)}{self.order.outline()}{weighted}"
