"""Small random densities and tables by number, for claims that are made over many fits.

    random_target(number) → a density to sample, and how many rows to fit to

Everything follows from the number, so that a fit that went wrong can be looked at again.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

_POINTS = {1: 20_001, 2: 501, 3: 81}  # of the quadrature, along each column
_REACH = 7.5  # deviations of the base on either side


class RandomTarget:
    """A mixture of a few Gaussians, drawn at random and then bent: not at all, skewed, curved, or with heavy tails."""

    def __init__(self, features: int, bend: str, generator: Generator) -> None:
        self.features, self.bend = features, bend
        count = int(torch.randint(1, 6, (), generator=generator))
        self.means = 2.0 * torch.randn(count, features, generator=generator, dtype=torch.float64)
        factors = torch.randn(count, features, features, generator=generator, dtype=torch.float64)
        self.factors = 0.3 * torch.eye(features, dtype=torch.float64) + 0.4 * torch.tril(factors)

    def sample(self, n: int, generator: Generator, dtype: torch.dtype) -> Tensor:
        which = torch.randint(len(self.means), (n,), generator=generator)
        noise = torch.randn(n, self.features, generator=generator, dtype=torch.float64)
        rows = self.means[which] + torch.einsum("nij,nj->ni", self.factors[which], noise)
        if self.bend == "skewed":
            rows = torch.exp(0.5 * rows)
        elif self.bend == "curved":
            rows[:, -1] += 0.5 * rows[:, 0] ** 2
        elif self.bend == "heavy":
            chi = torch.randn(n, 4, generator=generator, dtype=torch.float64).square().mean(dim=1, keepdim=True)
            rows = rows / chi.sqrt()
        return rows.to(dtype)


def random_target(number: int, features: int | None = None) -> tuple[RandomTarget, int]:
    """A density and a number of rows from 40 to 2,000, both from the number alone."""
    generator = torch.Generator().manual_seed(7_000 + number)
    n = int(40 * 50 ** torch.rand((), generator=generator, dtype=torch.float64).item())
    columns = int(torch.randint(1, 7, (), generator=generator)) if features is None else features
    bends = ("plain", "skewed", "curved", "heavy") if features is None else ("plain", "curved")
    return RandomTarget(columns, bends[number % len(bends)], generator), n


def random_table(n: int, features: int, seed: int) -> NDArray[np.float64]:
    """Columns that are smooth functions of five hidden ones, with noise."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, 5)) + 2.0 * rng.integers(0, 2, (n, 1))
    mixed = np.sin(hidden @ rng.standard_normal((5, features)) + rng.uniform(0, 6, features))
    return mixed + hidden @ rng.standard_normal((5, features)) / 2 + 0.3 * rng.standard_normal((n, features))


def log_integral(log_density: Callable[[Tensor], Tensor], base: Any) -> float:
    """Log ∫ exp(log_density) by the trapezium rule on a box that holds all but 1e-13 of a Gaussian base."""
    rows = base.sample(20_000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    low = rows.mean(dim=0) - _REACH * rows.std(dim=0)
    high = rows.mean(dim=0) + _REACH * rows.std(dim=0)
    count = _POINTS[rows.shape[1]]
    axes = [torch.linspace(a, b, count, dtype=torch.float64) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    grid = torch.cartesian_prod(*axes).reshape(-1, rows.shape[1])
    cell = sum(log((axis[1] - axis[0]).item()) for axis in axes)
    return torch.logsumexp(log_density(grid), dim=0).item() + cell
