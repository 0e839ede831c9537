"""Samples without end: the paper's own setting, with a fitted base, a uniform or a Gaussian one.

    recipe_unlimited(target, base, seconds, seed) → log density, log base        both functions of rows (n, d)

Fresh rows of the target are drawn at every step: nothing can be overfitted, and only resolution and time are short.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from math import log
from time import perf_counter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

import equipoise as eq
from equipoise.training.budget import steps_of

Array = NDArray[np.float64]
LogDensity = Callable[[Array], Array]

BASE_ROWS = 1_000_000
NORMALISER_ROWS = 1_000_000
FRESH_ROWS = 200_000  # decide whether the surface is kept
KNOTS = 400
BATCH = 4_000
LEARNING_RATE = 0.0035
SHARE_FOR_THE_PUSH = 0.9  # of the seconds left once the base is fitted; the rest is for the normaliser


def recipe_unlimited(target: eq.targets.Target, base: str, seconds: float, seed: int) -> tuple[LogDensity, LogDensity]:
    """Fit a base to a large sample, push a surface over it with fresh rows of the target, and normalise.

    Arguments:
        target: What is learned.
        base: ``"any"``, ``"uniform"`` or ``"gaussian"`` (diagonal, as the paper's).
        seconds: For everything.
        seed: Seeds everything.
    """
    start = perf_counter()
    rows = target.sample(BASE_ROWS, torch.Generator().manual_seed(seed), torch.float64)
    down = fitted_base(base, rows)
    surface = eq.surfaces.Standardise(_surface(rows), rows.mean(dim=0), rows.std(dim=0))
    pair = eq.Pair(eq.sources.Known(target), eq.sources.Known(down))
    move = partial(
        eq.push, instance="pso_lde", pair=pair, n_up=BATCH, learning_rate=LEARNING_RATE, seed=seed, record_every=1_000
    )
    left = max(1.0, SHARE_FOR_THE_PUSH * (seconds - (perf_counter() - start)))
    move(surface, steps=steps_of(f"{left:.1f}s", lambda count: move(deepcopy(surface), steps=count)))
    log_z = log_normaliser(surface, down, seed)
    fresh = target.sample(FRESH_ROWS, torch.Generator().manual_seed(seed + 2), torch.float64).numpy()
    if not heights(surface, fresh).mean() > log_z:  # the surface lost: the base is the answer
        return (lambda x: _log_base(down, x),) * 2
    return lambda x: _log_base(down, x) + heights(surface, x) - log_z, lambda x: _log_base(down, x)


def fitted_base(name: str, rows: torch.Tensor) -> Any:
    """The base of a name; "any" is the best on held-out rows of those that cost seconds."""
    if name == "uniform":
        return eq.bases.Uniform(margin=0.001).fit(rows)
    if name == "gaussian":
        return eq.bases.Gaussian(shrinkage=1.0).fit(rows)  # its diagonal alone, as the paper takes it
    held_out, train = rows[:50_000], rows[50_000:]
    fits = [build().fit(train) for build in (eq.bases.Marginals, eq.bases.Independent)]
    return max(fits, key=lambda base: base.log_prob(held_out).mean().item())


def heights(surface: nn.Module, x: Array) -> Array:
    """The surface's heights, part by part."""
    with torch.no_grad():
        parts = [surface(part.float()).double() for part in torch.from_numpy(x).split(16_384)]
    return torch.cat(parts).numpy()


def log_normaliser(surface: nn.Module, down: Any, seed: int) -> float:
    """Log ∫ base·exp u, over fresh rows of the base."""
    rows = down.sample(NORMALISER_ROWS, generator=torch.Generator().manual_seed(seed + 1), dtype=torch.float64).numpy()
    return log(eq.metrics.total_integral(heights(surface, rows), np.zeros(len(rows))).value)


def _surface(rows: torch.Tensor) -> nn.Module:
    standard = (rows[:100_000] - rows.mean(dim=0)) / rows.std(dim=0)
    additive = eq.surfaces.Additive.on_rows(standard, KNOTS, at="equal")
    network = eq.surfaces.BlockDiagonal(rows.shape[1], blocks=30, width=16, layers=6, residual=True, activation="silu")
    return eq.surfaces.Sum(additive, network)


def _log_base(down: Any, x: Array) -> Array:
    return down.log_prob(torch.from_numpy(x)).numpy()
