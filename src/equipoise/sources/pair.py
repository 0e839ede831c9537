"""A pair: where up rows and down rows come from, and the base where it is known.

    batch = [x_up; x_down],   log_base = log p_down at every row

push knows a pair by ``draw`` and ``features`` alone; a labelled table is a pair too, of another kind.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Generator, Tensor

from equipoise.batch import Batch
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
        self._buffer = torch.empty(0)

    def log_base(self, x: Tensor) -> Tensor:
        """The base's log density at rows (n, d)."""
        if self.down.log_prob is None:
            message = "the down density of this pair is not known: give a base with log_prob, such as eq.bases.Gaussian"
            raise ValueError(message)
        value: Tensor = self.down.log_prob(x)
        return value.to(x.dtype)

    def draw(
        self, n_up: int, n_down: int, generator: Generator, *, like: Tensor | None = None, log_base: bool = False
    ) -> Batch:
        """Draw both sides into one buffer, which the next draw overwrites."""
        x = self._room(n_up + n_down, torch.empty(0) if like is None else like)
        up_weight = self.up.draw(x[:n_up], generator)
        down_weight = self.down.draw(x[n_up:], generator)
        return Batch(x, n_up, self.log_base(x) if log_base else None, weight=_join(up_weight, down_weight, x, n_up))

    def _room(self, n: int, like: Tensor) -> Tensor:
        buffer = self._buffer
        if buffer.shape != (n, self.features) or buffer.dtype != like.dtype or buffer.device != like.device:
            self._buffer = torch.empty(n, self.features, dtype=like.dtype, device=like.device)
        return self._buffer


def _join(up: Tensor | None, down: Tensor | None, x: Tensor, n_up: int) -> Tensor | None:
    if up is None and down is None:
        return None
    ones = x.new_ones(x.shape[0])
    return torch.cat([ones[:n_up] if up is None else up, ones[n_up:] if down is None else down])
