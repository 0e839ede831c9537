"""A pair: where up rows and down rows come from, and the base where it is known.

    batch = [x_up; x_down],   log_base = log p_down at every row

push knows a pair by ``draw`` and ``features`` alone; a labelled table is a pair too, of another kind.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Generator, Tensor

from equipoise.batch import Batch
from equipoise.sources.buffer import Buffer
from equipoise.sources.position import outline, position_of, seek
from equipoise.sources.source import Source, as_source


class Draws(Protocol):
    """What push asks of a pair."""

    features: int

    def draw(
        self, n_up: int, n_down: int, generator: Generator, *, like: Tensor | None = None, log_base: bool = False
    ) -> Batch:
        """A batch of n_up + n_down rows of ``like``'s type and device, with log_base where it is asked for."""


class Pair:
    """Up and down rows.

    Arguments:
        up: The source of up rows (or an array, a tensor, a density).
        down: The source of down rows, likewise; where it has a log_prob, that is the base.
    """

    def __init__(self, up: Any, down: Any) -> None:  # noqa: ANN401  # see as_source
        self.up: Source = as_source(up)
        self.down: Source = as_source(down)
        if self.up.features != self.down.features:
            message = f"up rows have {self.up.features} columns, down rows {self.down.features}: they must agree"
            raise ValueError(message)
        self.features = self.up.features
        self._buffer = Buffer()

    def log_base(self, x: Tensor) -> Tensor:
        """The base's log density at rows (n, d)."""
        if self.down.log_prob is None:
            message = "the down density of this pair is not known: give a base with log_prob, such as eq.bases.Gaussian"
            raise ValueError(message)
        value: Tensor = self.down.log_prob(x)
        return value.to(x)

    def draw(
        self, n_up: int, n_down: int, generator: Generator, *, like: Tensor | None = None, log_base: bool = False
    ) -> Batch:
        """Draw both sides into one buffer, which the next draw overwrites."""
        x = self._buffer.rows(n_up + n_down, self.features, torch.empty(0) if like is None else like)
        up_weight = self.up.draw(x[:n_up], generator)
        down_weight = self.down.draw(x[n_up:], generator)
        return Batch(x, n_up, self.log_base(x) if log_base else None, weight=_join(up_weight, down_weight, x, n_up))

    def with_noise(self, sigma: float | Tensor) -> Pair:
        """The same pair with Gaussian noise on its up rows."""
        from equipoise.sources.noisy import Noisy

        return Pair(Noisy(self.up, sigma), self.down)

    def position(self) -> dict[str, Any]:
        """Where both sides stand."""
        return {"up": position_of(self.up), "down": position_of(self.down)}

    def seek(self, position: dict[str, Any], generator: Generator) -> None:
        """Go to a position."""
        seek(self.up, position["up"], generator)
        seek(self.down, position["down"], generator)

    def outline(self) -> str:
        """What this is, in short."""
        return f"{outline(self.up)} against {outline(self.down)}"


def _join(up: Tensor | None, down: Tensor | None, x: Tensor, n_up: int) -> Tensor | None:
    if up is None and down is None:
        return None
    ones = x.new_ones(x.shape[0])
    return torch.cat([ones[:n_up] if up is None else up, ones[n_up:] if down is None else down])
