"""Choosing a base on held-out rows: the strongest simple density is a surface's starting line.

score(base) = mean log_prob over held-out rows,   the simplest within one standard error of the best is taken
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

from torch import Tensor

from equipoise.bases.base import Base
from equipoise.bases.gaussian import Gaussian
from equipoise.bases.gaussian_mixture import GaussianMixture
from equipoise.bases.marginals import Marginals
from equipoise.bases.stacking import weighted_mean
from equipoise.bases.uniform import Uniform

BASES: dict[str, type[Base]] = {
    "uniform": Uniform,
    "gaussian": Gaussian,
    "marginals": Marginals,
    "gaussian_mixture": GaussianMixture,
}


@dataclass(frozen=True)
class Scored:
    """A fitted base and its mean held-out log density with the standard error."""

    name: str
    base: Any
    score: float
    se: float


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


def choose(
    rows: Tensor, weight: Tensor | None, held_out: Tensor, seed: int = 0, held_out_weight: Tensor | None = None
) -> list[Scored]:
    """Fit and score the candidates; the chosen one is first."""
    candidates: list[tuple[str, Base]] = [
        ("uniform", Uniform()),
        ("gaussian", Gaussian()),
        ("marginals", Marginals()),
        ("gaussian_mixture", GaussianMixture(seed=seed)),
    ]
    scored = [
        Scored(name, base, *weighted_mean(base.fit(rows, weight).log_prob(held_out), held_out_weight))
        for name, base in candidates
    ]
    best = max(scored, key=lambda s: s.score)
    simplest = next(s for s in scored if s.score >= best.score - (best.se if best.se < inf else 0.0))
    return [simplest, *sorted((s for s in scored if s is not simplest), key=lambda s: -s.score)]


__all__ = ["BASES", "Scored", "as_base", "choose", "weighted_mean"]
