"""Conditions of a table beside targets of a known base: the down side of a conditional density.

    [x_i, y],   x_i from the table,  y ~ base        log_base(x, y) = log base(y)         (line 4317)

Against the table's rows [x_i, y_i] the ratio is p(y | x) / base(y), so the base is that of the target alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Generator, Tensor

from equipoise.sources.buffer import Buffer
from equipoise.sources.known import Known
from equipoise.sources.order import Order
from equipoise.sources.position import outline, position_of, seek
from equipoise.sources.table import Table


class Conditional:
    """Conditions kept, targets replaced.

    Arguments:
        conditions: The conditions' columns, (n, d).
        target: The density of the targets, with sample and log_prob; it makes the last columns of a row.
        replace: Draw conditions with replacement instead of by permutations.
    """

    def __init__(self, conditions: Any, target: Any, *, replace: bool = False) -> None:  # noqa: ANN401
        self.conditions = Table(conditions, "conditions")
        self.target = Known(target)
        self.features = self.conditions.shape[1] + self.target.features
        self._order = Order(len(self.conditions), replace=replace)
        self._buffer = Buffer()

    @property
    def log_prob(self) -> Callable[[Tensor], Tensor] | None:
        """The target's log density, at the last columns of a row."""
        log_prob = self.target.log_prob
        if log_prob is None:
            return None
        return lambda x: log_prob(x[:, self.conditions.shape[1] :])

    def draw(self, out: Tensor, generator: Generator) -> None:
        """Fill ``out`` with conditions of the table and targets of the base."""
        width = self.conditions.shape[1]
        self.conditions.gather(self._order.take(out.shape[0], generator), out[:, :width])
        targets = self._buffer.rows(out.shape[0], self.target.features, out)
        self.target.draw(targets, generator)
        out[:, width:] = targets

    def position(self) -> dict[str, Any]:
        """Where the conditions and the targets stand."""
        return {"conditions": self._order.position(), "target": position_of(self.target)}

    def seek(self, position: dict[str, Any], generator: Generator) -> None:
        """Go to a position."""
        self._order.seek(position["conditions"], generator)
        seek(self.target, position["target"], generator)

    def outline(self) -> str:
        """What this is, in short."""
        return f"Conditional {self.conditions.outline()}{self._order.outline()} beside {outline(self.target)}"
