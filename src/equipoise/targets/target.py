"""A target: a density whose truth is known, sampled and evaluated exactly.

    sample(n) → (n, d) ~ p,   log_prob(x) → (n,) = log p(x)

A target computes in float64 and answers in the precision it is asked in, as a base does. Nothing is fitted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Generator, Tensor


class Target(ABC):
    """What all targets share; a target itself is its number of columns and the two functions of its formula.

    A subclass sets ``features`` and writes ``_sample`` and ``_log_prob``, both in float64.
    """

    features: int
    bounded_support: ClassVar[bool] = False  # whether log p is −∞ somewhere
    smooth: ClassVar[bool] = True  # whether p has no jump and no kink

    def sample(self, n: int, generator: Generator | None = None, dtype: torch.dtype | None = None) -> Tensor:
        """Draw n independent rows; one that rounding would carry out of the support is drawn again."""
        if not n >= 0:
            message = f"n must not be negative, got {n!r}"
            raise ValueError(message)
        rows = self._sample(n, generator).to(dtype or torch.get_default_dtype())
        while self.bounded_support:
            outside = torch.nonzero(torch.isneginf(self.log_prob(rows))).flatten()
            if not len(outside):
                break
            rows[outside] = self._sample(len(outside), generator).to(rows)
        return rows

    def log_prob(self, x: Any) -> Tensor:  # noqa: ANN401  # arrays and tensors alike
        """The log density of rows (n, d); −∞ outside the support."""
        rows = x if isinstance(x, Tensor) else torch.from_numpy(np.array(x, dtype=np.float64))
        if rows.dim() != 2 or rows.shape[1] != self.features:
            message = f"{type(self).__name__} has {self.features} columns, got rows of shape {tuple(rows.shape)}"
            raise ValueError(message)
        if not rows.is_floating_point():
            rows = rows.to(torch.float64)
        return self._log_prob(rows.to(torch.float64)).to(rows.dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(features={self.features})"

    @abstractmethod
    def _sample(self, n: int, generator: Generator | None) -> Tensor:
        """Draw rows."""

    @abstractmethod
    def _log_prob(self, x: Tensor) -> Tensor:
        """Evaluate rows."""


def uniform(n: int, d: int, generator: Generator | None) -> Tensor:
    """Rows uniform on the unit cube."""
    return torch.rand(n, d, generator=generator, dtype=torch.float64)


def normal(n: int, d: int, generator: Generator | None) -> Tensor:
    """Standard normal rows."""
    return torch.randn(n, d, generator=generator, dtype=torch.float64)


def pick(share: Tensor, n: int, generator: Generator | None) -> Tensor:
    """N indices drawn with the given shares, however many there are to choose from."""
    edges = torch.cumsum(share, dim=0)
    level = uniform(n, 1, generator).squeeze(1) * edges[-1]
    return torch.searchsorted(edges, level, right=True).clamp_(max=len(share) - 1)


def kronecker(n: int, d: int) -> Tensor:
    """Fixed numbers, evenly spread in (0, 1): fractional parts of multiples of square roots of primes."""
    primes = [p for p in range(2, 12 * d + 12) if all(p % q for q in range(2, p))][:d]
    multiples = torch.arange(1, n + 1, dtype=torch.float64).unsqueeze(1)
    return torch.frac(multiples * torch.sqrt(torch.tensor(primes, dtype=torch.float64)))
