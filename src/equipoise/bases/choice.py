"""Choosing a base on held-out rows: the strongest simple density is a surface's starting line.

score(base) = mean log_prob over held-out rows,   the simplest within one standard error of the best is taken

Which bases are tried depends on rows, columns and time; the order is from simple to complex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import inf
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from equipoise.bases.base import Base
from equipoise.bases.copula import Copula, CopulaFlow, CopulaMixture
from equipoise.bases.flow import Flow
from equipoise.bases.gaussian import Gaussian
from equipoise.bases.gaussian_mixture import GaussianMixture
from equipoise.bases.independent import Independent
from equipoise.bases.kernel_density import KernelDensity
from equipoise.bases.marginals import Marginals
from equipoise.bases.stacking import as_good, weighted_mean
from equipoise.bases.uniform import Uniform

BASES: dict[str, type[Base]] = {
    "uniform": Uniform,
    "gaussian": Gaussian,
    "marginals": Marginals,
    "copula": Copula,
    "independent": Independent,
    "kernel_density": KernelDensity,
    "gaussian_mixture": GaussianMixture,
    "copula_mixture": CopulaMixture,
    "flow": Flow,
    "copula_flow": CopulaFlow,
}
_FEW_ROWS = 200  # below, every fit must take milliseconds
_MANY_ROWS = 700  # from here on, flows have something to learn from


@dataclass(frozen=True)
class Scored:
    """A fitted base, its mean held-out log density with the standard error, and what the fit took."""

    name: str
    base: Any
    score: float
    se: float
    seconds: float = field(compare=False, default=0.0)
    log_prob: Tensor | None = field(compare=False, repr=False, default=None)


def as_base(base: Any) -> Any:  # noqa: ANN401  # a name, a base, a torch distribution
    """An unfitted or fitted base from a name, a base, or anything with sample and log_prob."""
    if isinstance(base, str):
        if base not in BASES:
            message = (
                f"base must be 'auto', one of {', '.join(BASES)}, or a density with sample and log_prob; got {base!r}"
            )
            raise ValueError(message)
        return BASES[base]()
    if not (hasattr(base, "sample") and hasattr(base, "log_prob")):
        message = f"a base needs sample and log_prob, and {type(base).__name__} has not"
        raise TypeError(message)
    return base


def candidates(n: int, d: int, budget_seconds: float = inf, *, trained: bool = True) -> list[str]:
    """The bases that n rows, d columns and a time for all fits allow, from simple to complex.

    Without ``trained``, those alone that no network has a part in.
    """
    flows = trained and d > 1 and n >= _MANY_ROWS and budget_seconds >= 20.0 and find_spec("zuko") is not None
    work = n * d  # what most fits take is in proportion to it
    allowed: dict[str, bool] = {
        "uniform": True,
        "gaussian": True,
        "marginals": n >= 20,
        "copula": d > 1 and n >= 50,
        "independent": d > 1 and n >= max(_FEW_ROWS, 10 * d) and budget_seconds >= 5e-6 * work,
        "kernel_density": d <= 3 and n >= (50 if d < 3 else _FEW_ROWS),
        "gaussian_mixture": n >= 20 and d <= 100 and budget_seconds >= 1e-5 * work,
        "copula_mixture": 1 < d <= 100 and n >= _FEW_ROWS and budget_seconds >= 1e-5 * work,
        "flow": flows,
        "copula_flow": flows,
    }
    return [name for name in BASES if allowed[name]]


def choose(
    rows: Tensor,
    weight: Tensor | None,
    held_out: Tensor,
    seed: int = 0,
    held_out_weight: Tensor | None = None,
    *,
    names: Sequence[str] | None = None,
    budget_seconds: float = 30.0,
    steps: int | None = None,
) -> list[Scored]:
    """Fit and score the candidates; the chosen one is first, the others follow by their scores.

    Arguments:
        rows: Rows to fit, (n, d), in standardised units.
        weight: Their sample weights.
        held_out: Rows that judge.
        seed: Seeds the fits that start at random.
        held_out_weight: Weights of the rows that judge.
        names: Which bases; those that :func:`candidates` lists where it is None.
        budget_seconds: What the fits may take together, on one core; sorts out candidates, stops none.
        steps: Of those that are trained in steps; their own number where it is None.
    """
    wanted = candidates(rows.shape[0], rows.shape[1], budget_seconds) if names is None else names
    settings = {"seed": seed} if steps is None else {"seed": seed, "steps": steps}
    scored = [_scored(name, _made(name, settings), rows, weight, held_out, held_out_weight) for name in wanted]
    return ranked(scored, held_out_weight)


def ranked(scored: Sequence[Scored], weight: Tensor | None = None) -> list[Scored]:
    """The first that is as good as the best within a standard error; then the others by their scores."""
    best = max(scored, key=lambda s: s.score)
    simplest = next(s for s in scored if _as_good(best, s, weight))
    return [simplest, *sorted((s for s in scored if s is not simplest), key=lambda s: -s.score)]


def _made(name: str, settings: dict[str, Any]) -> Base:
    """A base by name, with those of the settings that it knows."""
    known: dict[str, Any] = BASES[name]().parameters()
    return BASES[name](**{key: value for key, value in settings.items() if key in known})


def _scored(
    name: str, base: Base, rows: Tensor, weight: Tensor | None, held_out: Tensor, held_out_weight: Tensor | None
) -> Scored:
    began = perf_counter()
    log_prob = base.fit(rows, weight).log_prob(held_out)
    score, se = weighted_mean(log_prob, held_out_weight)
    return Scored(name, base, score, se, perf_counter() - began, log_prob)


def _as_good(best: Scored, other: Scored, weight: Tensor | None) -> bool:
    if best.log_prob is None or other.log_prob is None or best.score == -inf:
        return other is best
    return as_good(best.log_prob, other.log_prob, torch.ones_like(best.log_prob) if weight is None else weight)


__all__ = ["BASES", "Scored", "as_base", "candidates", "choose", "weighted_mean"]
