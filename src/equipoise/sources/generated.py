"""Rows that a generator makes: the down side of an adversary, with or without conditions.

    g(υ),   υ ~ N(0, I)            or  [x_i, g(x_i, υ)],  x_i from a table            (line 4618)

The density is implicit; a push moves the critic and leaves the generator as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor

from equipoise.sources.order import Order
from equipoise.sources.table import Table


class Generated:
    """Samples of a generator.

    Arguments:
        generator: A function or module from noise (n, latent), or from (conditions, noise), to rows (n, e).
        latent: How many numbers of noise a row takes.
        conditions: A table whose rows the generator sees, and which make the first columns of a row.
    """

    log_prob = None

    def __init__(self, generator: Callable[..., Tensor], latent: int, conditions: Any = None) -> None:  # noqa: ANN401
        if not latent >= 1:
            message = f"latent must be at least 1, got {latent!r}"
            raise ValueError(message)
        self.generator, self.latent = generator, latent
        self.conditions = None if conditions is None else Table(conditions, "conditions")
        self._order = Order(1 if self.conditions is None else len(self.conditions))
        first = torch.zeros(2, dtype=torch.long)
        self.features = self._make(first, torch.Generator().manual_seed(0), torch.get_default_dtype()).shape[1]

    def draw(self, out: Tensor, generator: Generator) -> None:
        """Fill ``out`` with fresh rows."""
        out.copy_(self._make(self._order.take(out.shape[0], generator), generator, out.dtype))

    def position(self) -> dict[str, Any]:
        """Where the conditions stand."""
        return self._order.position()

    def seek(self, position: dict[str, Any], generator: Generator) -> None:
        """Go to a position."""
        self._order.seek(position, generator)

    def outline(self) -> str:
        """What this is, in short."""
        beside = "" if self.conditions is None else f" beside {self.conditions.outline()}"
        return f"Generated {self.features} columns from {self.latent} numbers{beside}"

    def _make(self, index: Tensor, generator: Generator, dtype: torch.dtype) -> Tensor:
        """Rows of the generator, beside the conditions numbered by ``index`` where there are any."""
        n = len(index)
        noise = torch.randn(n, self.latent, generator=generator, dtype=dtype)
        with torch.no_grad():
            if self.conditions is None:
                rows = self.generator(noise)
            else:
                seen = torch.empty(n, self.conditions.shape[1], dtype=dtype)
                self.conditions.gather(index, seen)
                rows = torch.cat([seen, self.generator(seen, noise)], dim=1)
        if rows.dim() != 2 or rows.shape[0] != n:
            message = f"a generator must return rows of shape ({n}, columns), got {tuple(rows.shape)}"
            raise ValueError(message)
        if not bool(torch.isfinite(rows).all()):
            message = f"the generator returned NaN or infinity in {int((~torch.isfinite(rows)).any(dim=1).sum())} rows"
            raise ValueError(message)
        return rows
