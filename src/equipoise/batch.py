"""The rows of one push: up rows first, then down rows, with what the forces may need to know about them.

    x = [x_up; x_down]   (n, d)        n = n_up + n_down

A batch of labelled rows has no sides; its labels stand in for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """One draw from a pair.

    Arguments:
        x: All rows, (n, d); the first ``n_up`` are pushed up, the rest down.
        n_up: How many rows are pushed up.
        log_base: log p_down at every row, (n,), where the base is known.
        labels: Class of every row, (n,), where the batch is labelled instead of two-sided.
        weight: Non-negative sample weights, (n,), or None where all rows count alike.
    """

    x: Tensor
    n_up: int
    log_base: Tensor | None = None
    labels: Tensor | None = None
    weight: Tensor | None = None

    @property
    def n_down(self) -> int:
        """How many rows are pushed down."""
        return self.x.shape[0] - self.n_up
