"""The product of two marginals: rows of one table beside rows of another, drawn independently.

    [x_i, y_j],   i and j from two orders        p(x, y) = p_X(x)·p_Y(y)

Against the table's own rows [x_i, y_i] the log ratio is the pointwise mutual information (line 5048).
"""

from __future__ import annotations

from typing import Any

from torch import Generator, Tensor

from equipoise.sources.order import Order
from equipoise.sources.table import Table


class Shuffled:
    """Two tables without their pairing.

    Arguments:
        left: Rows of the first columns, (n, d).
        right: Rows of the last columns, (m, e); usually of the same table.
        replace: Draw with replacement instead of by permutations.
    """

    log_prob = None

    def __init__(self, left: Any, right: Any, *, replace: bool = False) -> None:  # noqa: ANN401
        self.left, self.right = Table(left, "left"), Table(right, "right")
        self.features = self.left.shape[1] + self.right.shape[1]
        self._orders = Order(len(self.left), replace=replace), Order(len(self.right), replace=replace)

    def draw(self, out: Tensor, generator: Generator) -> None:
        """Fill ``out`` with independent halves."""
        width = self.left.shape[1]
        left, right = (order.take(out.shape[0], generator) for order in self._orders)
        self.left.gather(left, out[:, :width])
        self.right.gather(right, out[:, width:])

    def position(self) -> dict[str, Any]:
        """Where both orders stand."""
        return {"left": self._orders[0].position(), "right": self._orders[1].position()}

    def seek(self, position: dict[str, Any], generator: Generator) -> None:
        """Go to a position."""
        self._orders[0].seek(position["left"], generator)
        self._orders[1].seek(position["right"], generator)

    def outline(self) -> str:
        """What this is, in short."""
        return f"Shuffled {self.left.outline()} and {self.right.outline()}{self._orders[0].outline()}"
