"""A fitted model's own pictures: ``model.plot.pair()`` is ``plots.pair(model)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from equipoise.plots import density


@dataclass(frozen=True)
class Plotter:
    """The pictures of one fitted density; each takes ``ax`` and returns it.

    Arguments:
        model: A fitted density.
    """

    model: Any

    def marginals(self, X: Any = None, *, column: int = 0, ax: Any = None) -> Any:  # noqa: ANN401
        """One column's density, beside the rows X where they are given."""
        return density.marginals(self.model, X, column=column, ax=ax)

    def pair(self, X: Any = None, *, columns: tuple[int, int] = (0, 1), ax: Any = None) -> Any:  # noqa: ANN401
        """Two columns' density, with the rows X on it where they are given."""
        return density.pair(self.model, X, columns=columns, ax=ax)

    def history(self, *, ax: Any = None) -> Any:  # noqa: ANN401
        """The forces of both sides along the push."""
        return density.history(self.model, ax=ax)
