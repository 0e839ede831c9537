"""Rows with Gaussian noise: what is estimated from them is the density convolved with the noise (line 5534).

    x̄ = x + υ,   υ ~ N(0, σ²)            p(x̄) = [p * N(0, σ²)](x̄)

A surface that spikes at its training rows spikes less on rows that never come twice.
"""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Generator, Tensor

from equipoise.sources.buffer import Buffer
from equipoise.sources.position import outline, position_of, seek
from equipoise.sources.source import Source, as_source

T = TypeVar("T")


class Noisy:
    """A source whose rows are blurred.

    Arguments:
        source: The source, or anything that one can be made of.
        sigma: The noise's standard deviation, one number or one per column.
    """

    log_prob = None  # a convolution, not known even where the source is

    def __init__(self, source: Any, sigma: float | Tensor) -> None:  # noqa: ANN401  # see as_source
        self.source: Source = as_source(source)
        self.features = self.source.features
        self.sigma = as_sigma(sigma, self.features)
        self._buffer = Buffer()

    def draw(self, out: Tensor, generator: Generator) -> Tensor | None:
        """Fill ``out`` with rows of the source, each with its own noise."""
        weight = self.source.draw(out, generator)
        add_noise(out, self.sigma, self._buffer, generator)
        return weight

    def position(self) -> dict[str, Any]:
        """Where the source stands."""
        return position_of(self.source)

    def seek(self, position: dict[str, Any], generator: Generator) -> None:
        """Go to a position."""
        seek(self.source, position, generator)

    def outline(self) -> str:
        """What this is, in short."""
        return f"Noisy {outline(self.source)}"


def with_noise(pair: T, sigma: float | Tensor) -> T:
    """A pair whose up rows are blurred; the pair itself where there is no noise."""
    if not isinstance(sigma, Tensor) and sigma == 0:
        return pair
    blur = getattr(pair, "with_noise", None)
    if not callable(blur):
        message = f"a {type(pair).__name__} takes no noise: draw its up rows from eq.sources.Noisy(source, sigma)"
        raise TypeError(message)
    blurred: T = blur(sigma)
    return blurred


def as_sigma(sigma: float | Tensor, features: int) -> Tensor:
    """A standard deviation per column, finite and not negative."""
    value = torch.as_tensor(sigma, dtype=torch.float64).reshape(-1)
    if value.numel() not in {1, features} or not bool((torch.isfinite(value) & (value >= 0)).all()):
        message = f"noise must be one number of at least 0, or one per column ({features}); got {sigma!r}"
        raise ValueError(message)
    return value.expand(features).clone()


def add_noise(x: Tensor, sigma: Tensor, buffer: Buffer, generator: Generator) -> None:
    """Blur rows in place."""
    noise = buffer.rows(x.shape[0], x.shape[1], x).normal_(generator=generator)
    x.addcmul_(noise, sigma.to(x))
