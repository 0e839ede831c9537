"""What is worth trying on two samples: which starts, which surface over the best of them, how many steps and folds.

Every number here was chosen on pairs of densities like those of ``benchmarks/two_samples.py``, under other seeds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import nn

from equipoise.surfaces import FullyConnected

FEWEST_ROWS = 100  # of the smaller side; below, a surface has too little to learn from
_FEWEST_MIXED, _MOST_WORK = 200, 2e7  # rows, and rows × columns², for mixtures as densities of either side


@dataclass(frozen=True)
class Plan:
    """What is tried within each fold.

    Arguments:
        folds: How many times a part of the rows is held out.
        densities: Bases fitted to either side, whose difference is a start.
        steps: Of each push; 0 for starts alone.
        width: Of the surface.
        learning_rate: The largest learning rate.
        weight_decay: Of the surface's weights.
        n_up: Rows of either side in a step.
        selecting: The share of the rows a fold sees that are not pushed: half of them end pushes, half of them choose.
    """

    folds: int
    densities: tuple[str, ...]
    steps: int
    width: int
    learning_rate: float = 0.003
    weight_decay: float = 0.01
    n_up: int = 1000
    selecting: float = 0.2

    def without_densities(self) -> Plan:
        """The same without densities of either side."""
        return replace(self, densities=())

    def surface(self, features: int, outputs: int = 1) -> nn.Module:
        """A surface that is nearly flat, so that the start is where it starts."""
        surface = FullyConnected(features, self.width, 3, outputs, activation="silu")
        with torch.no_grad():
            surface.last.weight.mul_(0.1)
        return surface


def plan(n: int, d: int, budget: int | float | None, selecting: float) -> Plan:
    """A plan for n rows on the smaller side, and d columns."""
    steps = budget if isinstance(budget, int) else _steps(n)
    work = n * d**2  # what a mixture's fit is in proportion to
    allowed = {
        "marginals": d == 1 and n >= 20,
        "copula": d > 1 and n >= 50,
        "gaussian_mixture": n >= _FEWEST_MIXED and work <= _MOST_WORK,
        "copula_mixture": d > 1 and n >= _FEWEST_MIXED and work <= _MOST_WORK / 4,
    }
    return Plan(
        folds=5 if n < 2_000 else 3 if n < 30_000 else 2,
        densities=tuple(name for name, is_allowed in allowed.items() if is_allowed),
        steps=0 if n < FEWEST_ROWS else steps,
        width=32 if n < 2_000 else 64 if n < 30_000 else 96,
        n_up=min(n, 1000),
        selecting=selecting,
    )


def _steps(n: int) -> int:
    """From 300 on the smallest tables to 3,000 on the largest."""
    return int(min(3000.0, max(300.0, 30.0 * n**0.5)))
