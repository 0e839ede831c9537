"""How a density is fitted: bases compete on held-out rows, surfaces are pushed over the best, a stack keeps a few.

    candidates: bases, and surfaces over the stronger of them        score: mean held-out log density, normalised
    answer:     Σ_j w_j·p_j, as few of them as predict held-out rows within a standard error of all

Everything happens in standardised units (:mod:`equipoise.estimators.columns`), whatever a column was multiplied by.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any

import numpy as np
import torch
from torch import Tensor

from equipoise.bases import Base, Rescaled, as_base, candidates, choose
from equipoise.bases.choice import Scored, ranked
from equipoise.bases.stacking import prune, weighted_mean
from equipoise.densities import Pushed, Stacked
from equipoise.densities.stacked import stacked
from equipoise.estimators.columns import Columns
from equipoise.estimators.density_plan import FLOWS, PRODUCTS, joined_on_scores, plan
from equipoise.estimators.density_push import Candidate, Part, pushed_over
from equipoise.estimators.density_settings import Settings
from equipoise.instance import Instance
from equipoise.sources.rows import as_weights
from equipoise.training.history import History

_FEWEST_ROWS = 50  # below, too few to hold any out
_MOST_SELECTING = 20_000
_MOST_FOR_DENSITIES = 3  # columns


@dataclass(frozen=True)
class Fitted:
    """A fitted density in standardised units, with the shift and scale that lead there."""

    stack: Stacked
    shift: Tensor
    scale: Tensor
    selection: list[dict[str, Any]]
    history: History
    warnings: list[str] = field(default_factory=list)
    n_samples: int = 0
    n_selecting: int = 0
    instance: Instance | None = None


def fit_density(values: np.ndarray[Any, Any], sample_weight: Any, settings: Settings, names: tuple[str, ...]) -> Fitted:  # noqa: ANN401
    """Fit a stack of candidates to rows (n, d)."""
    weight = None if sample_weight is None else as_weights(sample_weight, torch.from_numpy(values))
    if weight is not None and not bool((weight > 0).all()):
        values, weight = values[(weight > 0).numpy()], weight[weight > 0]
    columns = Columns.of(values, weight, names, settings)
    rows = Part(columns.standard, weight)
    train, selecting = _split(rows, settings)
    found = _bases(train, selecting, columns, settings)
    bases = {candidate.name: candidate for candidate in found}
    for recipe in plan(train.rows, settings, list(bases)):
        pushed = pushed_over(recipe, bases[recipe.over], train, selecting, settings)
        if pushed is not None:
            found.append(pushed)
    weights = _weights(found, selecting, settings)
    members = [
        candidate.refit(rows) if weight > 0 and candidate.refit is not None else candidate.density
        for candidate, weight in zip(found, weights.tolist(), strict=True)
    ]
    names_ = [candidate.name for candidate in found]
    whole = stacked(members, weights.tolist(), names_, columns.low, columns.high, settings.seed)
    return Fitted(
        whole,
        columns.shift,
        columns.scale,
        _selection(found, weights, selecting, columns.log_units),
        _history(found, whole),
        [*columns.warnings, *_of_instance(settings.instance, rows.rows.shape[1]), *_warnings(whole, found)],
        len(rows),
        len(selecting) if len(rows) >= _FEWEST_ROWS else 0,
        settings.instance if whole.strongest is None else whole.strongest.instance,
    )


def _split(rows: Part, settings: Settings) -> tuple[Part, Part]:
    """Rows that teach and rows that choose; the same few where there are too few to hold any out."""
    n = len(rows)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(settings.seed))
    if n < _FEWEST_ROWS:
        return rows, rows
    cut = min(max(20, round(settings.validation_fraction * n)), n // 2, _MOST_SELECTING)
    return rows[order[cut:]], rows[order[:cut]]


def _bases(train: Part, selecting: Part, columns: Columns, settings: Settings) -> list[Candidate]:
    """The candidate bases, the best first."""
    if settings.base is None:
        scored = _compete(train, selecting, settings)
        return [
            Candidate(s.name, s.base, s.base.log_prob(selecting.rows), refit=_refit(s.name, s.base)) for s in scored
        ]
    base, name = as_base(settings.base), settings.base if isinstance(settings.base, str) else None
    if isinstance(base, Base) and not base.is_fitted:
        base = deepcopy(base).fit(train.rows, train.weight)
    else:
        base = Rescaled(base, -columns.shift / columns.scale, 1.0 / columns.scale)  # given in the table's units
    return [Candidate(name or type(settings.base).__name__, base, base.log_prob(selecting.rows))]


def _compete(train: Part, selecting: Part, settings: Settings) -> list[Scored]:
    """Bases from simple to complex; a flow joins where these have found dependence, in the space that suits it."""
    seconds = settings.budget if isinstance(settings.budget, float) else inf
    n, d = train.rows.shape
    names = candidates(n, d, seconds, trained=settings.budget != 0)
    compete = partial(choose, train.rows, train.weight, selecting.rows, settings.seed, selecting.weight)
    found = compete(names=[name for name in names if name not in FLOWS])
    flow = FLOWS[joined_on_scores([scored.name for scored in found])]
    if flow not in names or found[0].name in PRODUCTS:
        return found
    steps = settings.budget if isinstance(settings.budget, int) else None
    return ranked([*found, *compete(names=[flow], steps=steps)], selecting.weight)


def _refit(name: str, base: Base) -> Callable[[Part], Base] | None:
    """How to fit a base again to more rows; a flow holds out its own, and stays as it is."""
    return None if name in FLOWS else lambda rows: deepcopy(base).fit(rows.rows, rows.weight)


def _weights(candidates: list[Candidate], selecting: Part, settings: Settings) -> Tensor:
    """The stack's weights; none for a push whose normaliser rests on too few rows, but where its base was asked for.

    Such a log Z is mostly too low, and the score that it flatters too high.
    """
    known = [settings.base is not None or not _is_astray(candidate.density) for candidate in candidates]
    table = torch.stack([candidate.log_prob for candidate in candidates])
    weights = torch.zeros(len(candidates), dtype=torch.float64)
    weights[torch.tensor(known)] = prune(table[torch.tensor(known)], selecting.weight).weights
    return weights


def _is_astray(density: Any) -> bool:  # noqa: ANN401
    return isinstance(density, Pushed) and not density.normalizer.enough


def _selection(candidates: list[Candidate], weights: Tensor, selecting: Part, log_units: float) -> list[dict[str, Any]]:
    """Every candidate with its held-out score in the table's units and its weight in the stack."""
    rows = []
    for candidate, weight in zip(candidates, weights.tolist(), strict=True):
        score, se = weighted_mean(candidate.log_prob, selecting.weight)
        rows.append({"name": candidate.name, "score": score - log_units, "se": se, "weight": weight})
    return rows


def _history(candidates: list[Candidate], stack: Stacked) -> History:
    """Of the strongest pushed member; of the best push where none is in the stack."""
    pushed = [candidate for candidate in candidates if candidate.history is not None]
    kept = [candidate for candidate in pushed if candidate.name in stack.names]
    kept.sort(key=lambda candidate: stack.names.index(candidate.name))
    return (kept or pushed)[0].history or History() if pushed else History()


def _of_instance(instance: Instance | None, d: int) -> list[str]:
    """Magnitudes that contain densities are as small as these, over more powers of ten the more columns there are."""
    if instance is None or not instance.needs_base or d <= _MOST_FOR_DENSITIES:
        return []
    log_base = torch.tensor([0.0, -1.0], dtype=torch.float64)
    here, rarer = instance.up(instance.target(torch.ones_like(log_base)), log_base).tolist()
    if rarer > 0.9 * here:
        return []
    return [
        f"{instance.label} pushes with magnitudes that are as small as densities are; in {d} columns that is mostly "
        "too small to learn from: take an instance of the log density, such as pso_lde."
    ]


def _warnings(stack: Stacked, candidates: list[Candidate]) -> list[str]:
    """What a user should know, in sentences."""
    found = []
    if stack.strongest is None and any(candidate.history is not None for candidate in candidates):
        found.append("No surface earned weight on held-out rows: the answer is made of bases alone.")
    found += [
        f"{candidate.name} was left out: {candidate.density.normalizer.warning}."
        for candidate in candidates
        if candidate.name not in stack.names and _is_astray(candidate.density)
    ]
    for name, member in zip(stack.names, stack.members, strict=True):
        if isinstance(member, Pushed) and not member.normalizer.trusted:
            effective = f"{member.normalizer.ess:.0f} of {member.normalizer.n:,}"
            found.append(
                f"The normaliser of {name} rests on {effective} rows of its base: its standard error is too small."
            )
    return found
