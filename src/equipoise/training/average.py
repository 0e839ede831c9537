"""A moving average of the weights, which trails the noise of single steps.

ā_t = Σ_k d^(t−k)·θ_k / Σ_k d^(t−k),   k = 1 … t        (no memory of where the run began)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor


class Average:
    """An exponential moving average.

    Arguments:
        weights: The weights to follow; read, and exchanged only on request.
        decay: d, between 0 and 1; the average reaches over about 1/(1 − d) steps.
    """

    def __init__(self, weights: list[Tensor], decay: float) -> None:
        if not (isinstance(decay, int | float) and 0.0 < decay < 1.0):
            message = f"average must be a decay between 0 and 1, such as 0.999, or None; got {decay!r}"
            raise ValueError(message)
        self.decay, self.count = decay, 0
        self._weights = weights
        self._mean = [torch.zeros_like(w, requires_grad=False) for w in weights]
        self._kept = [torch.empty_like(w, requires_grad=False) for w in weights]

    @torch.no_grad()
    def update(self) -> None:
        """Take in the weights as they are now."""
        self.count += 1
        share = (1.0 - self.decay) / (1.0 - self.decay**self.count)
        for mean, weight in zip(self._mean, self._weights, strict=True):
            mean.lerp_(weight, share)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """The surface holds the average within, and its own weights again after."""
        _copy(self._weights, self._kept)
        self.settle()
        try:
            yield
        finally:
            _copy(self._kept, self._weights)

    def settle(self) -> None:
        """Leave the average in the surface, if there is one yet."""
        if self.count:
            _copy(self._mean, self._weights)

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"count": self.count, "mean": self._mean}

    def load_state(self, state: dict[str, Any]) -> None:
        """Take over from :meth:`state`."""
        self.count = int(state["count"])
        _copy(state["mean"], self._mean)


@torch.no_grad()
def _copy(source: list[Tensor], target: list[Tensor]) -> None:
    for old, new in zip(source, target, strict=True):
        new.copy_(old)
