"""How a density is fitted: standardise, split, choose a base, push a surface over it, and keep what wins held out.

    candidates: bases, and the surface over the best of them        score: mean held-out log density

Everything happens in standardised units, in which multiplying a column by a power of two changes nothing at all.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from equipoise import catalog
from equipoise.bases import Base, Rescaled, as_base, choose
from equipoise.bases.choice import weighted_mean
from equipoise.instance import Instance
from equipoise.normalizer import Normalizer, normalise
from equipoise.sources.pair import Pair
from equipoise.sources.rows import Rows, as_weights
from equipoise.surfaces import FullyConnected, InRange
from equipoise.training.budget import read, steps_of
from equipoise.training.history import History
from equipoise.training.monitor import HeldOut
from equipoise.training.progress import Progress
from equipoise.training.push import push

_FEWEST_ROWS = 50  # below this a surface has too little to learn from, and the base alone is the answer
_BASE_ROWS = 4_096
_NORMALISER_ROWS = 131_072
_SCORES = 20
_LEARNING_RATE = 0.005


@dataclass(frozen=True)
class Settings:
    """The estimator's parameters, checked and made definite."""

    instance: Instance
    base: Any
    surface: Any
    budget: int | str
    validation_fraction: float
    seed: int
    device: torch.device
    verbose: int

    @classmethod
    def of(cls, estimator: Any) -> Settings:  # noqa: ANN401  # a Density
        """Check the estimator's parameters."""
        from equipoise.estimators.density import seed_of

        given = estimator.instance
        instance = catalog.get("pso_lde" if isinstance(given, str) and given == "auto" else given)
        if not (instance.scalar and instance.feasible):
            message = f"{instance.label} has no balance on one surface, so no density follows from it"
            raise ValueError(message)
        if instance.pairing.name not in ("two-sided", "convolved"):
            message = f"{instance.label} samples a {instance.pairing.name} pair; Density samples rows against a base"
            raise ValueError(message)
        if instance.ratio.needs_base:  # type: ignore[attr-defined]
            message = f"{instance.label} holds the density in its own units, and Density works in standardised ones: "
            message += "push it with eq.push, or take one of eq.catalog.search(estimand='log_density')"
            raise ValueError(message)
        if not (isinstance(estimator.surface, nn.Module) or estimator.surface == "auto"):
            message = f"surface must be 'auto' or a torch module, got {estimator.surface!r}"
            raise TypeError(message)
        if not (isinstance(estimator.budget, str) and estimator.budget == "auto"):
            read(estimator.budget)
        if not 0.0 < estimator.validation_fraction < 1.0:
            message = f"validation_fraction must lie between 0 and 1, got {estimator.validation_fraction!r}"
            raise ValueError(message)
        return cls(
            instance,
            estimator.base,
            estimator.surface,
            estimator.budget,
            estimator.validation_fraction,
            seed_of(estimator.random_state),
            _device(estimator.device),
            int(estimator.verbose),
        )


def _device(name: Any) -> torch.device:  # noqa: ANN401
    try:
        return torch.device(("cuda" if torch.cuda.is_available() else "cpu") if name == "auto" else name)
    except (RuntimeError, TypeError):
        message = f"device must be 'auto', 'cpu' or a torch device, got {name!r}"
        raise ValueError(message) from None


@dataclass(frozen=True)
class _Part:
    """Standardised rows, with their weights where they have any."""

    rows: Tensor
    weight: Tensor | None

    @classmethod
    def of(cls, rows: Tensor, weight: Tensor | None, index: Tensor) -> _Part:
        return cls(rows[index], None if weight is None else weight[index])


@dataclass(frozen=True)
class Fitted:
    """A fitted density in standardised units, with the shift and scale that lead there."""

    instance: Instance
    base: Any
    surface: nn.Module | None
    shift: Tensor
    scale: Tensor
    normalizer: Normalizer
    selection: list[dict[str, Any]]
    history: History


def fit_density(values: np.ndarray[Any, Any], sample_weight: Any, settings: Settings) -> Fitted:  # noqa: ANN401
    """Fit base, surface and normaliser to rows (n, d)."""
    rows = torch.from_numpy(values)
    weight = None
    if sample_weight is not None:
        weight = as_weights(sample_weight, rows)
        rows, weight = rows[weight > 0.0], weight[weight > 0.0]
    shift, scale = _units(rows)
    train, held_out = (_Part.of((rows - shift) / scale, weight, index) for index in _split(len(rows), settings))
    bases = _bases(train, held_out, shift, scale, settings)
    base = bases[0]["base"]
    units = torch.log(scale).sum().item()
    selection = [{"name": b["name"], "score": b["score"] - units, "se": b["se"], "weight": 0.0} for b in bases]
    surface, gain, se, history = None, 0.0, 0.0, History()
    steps = _steps(settings, len(train.rows))
    if len(rows) >= _FEWEST_ROWS and steps != 0:
        surface, gain, se, history = _push(train, held_out, base, steps, settings)
        name = f"{settings.instance.label} over {bases[0]['name']}"
        selection.append({"name": name, "score": selection[0]["score"] + gain, "se": se, "weight": 0.0})
    if surface is None or not gain > se:
        selection[0]["weight"] = 1.0
        return Fitted(settings.instance, base, None, shift, scale, Normalizer(0.0, 0.0, np.inf, 0), selection, history)
    selection[-1]["weight"] = 1.0
    surface = surface.double().cpu()
    normalizer = _normalizer(surface, base, settings)
    return Fitted(settings.instance, base, surface, shift, scale, normalizer, selection, history)


def _units(rows: Tensor) -> tuple[Tensor, Tensor]:
    if len(rows) < 2:
        message = "a density needs at least 2 rows, got n_samples = 1"
        raise ValueError(message)
    constant = torch.nonzero(rows.amax(dim=0) == rows.amin(dim=0)).flatten().tolist()
    if constant:
        message = f"columns {constant} hold one value only and have no density: leave them out"
        raise ValueError(message)
    deviation = rows.std(dim=0, correction=0)
    return rows.mean(dim=0), 2.0 ** torch.round(torch.log2(deviation))  # powers of two scale without rounding


def _split(n: int, settings: Settings) -> tuple[Tensor, Tensor]:
    order = torch.randperm(n, generator=torch.Generator().manual_seed(settings.seed))
    if n < _FEWEST_ROWS:
        return order, order  # too few to hold any out; only the base is fitted, and nothing is claimed from them
    cut = min(max(20, round(settings.validation_fraction * n)), n // 2)
    return order[cut:], order[:cut]


def _bases(train: _Part, held_out: _Part, shift: Tensor, scale: Tensor, settings: Settings) -> list[dict[str, Any]]:
    """The candidate bases in standardised units, the chosen one first."""
    if isinstance(settings.base, str) and settings.base == "auto":
        if len(held_out.rows) < 20:
            return [_scored("gaussian", as_base("gaussian").fit(train.rows, train.weight), held_out)]
        scored = choose(train.rows, train.weight, held_out.rows, settings.seed, held_out.weight)
        return [{"name": s.name, "base": s.base, "score": s.score, "se": s.se} for s in scored]
    base = as_base(settings.base)
    if isinstance(base, Base) and not base.is_fitted:
        base = deepcopy(base).fit(train.rows, train.weight)
    else:
        base = Rescaled(base, -shift / scale, 1.0 / scale)  # given in the table's units
    name = settings.base if isinstance(settings.base, str) else type(settings.base).__name__
    return [_scored(name, base, held_out)]


def _scored(name: str, base: Any, held_out: _Part) -> dict[str, Any]:  # noqa: ANN401
    score, se = weighted_mean(base.log_prob(held_out.rows), held_out.weight)
    return {"name": name, "base": base, "score": score, "se": se}


def _surface(features: int, rows: int, settings: Settings) -> nn.Module:
    if isinstance(settings.surface, nn.Module):
        return deepcopy(settings.surface)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        surface: nn.Module = FullyConnected(features, width=32 if rows < 2000 else 64, gain=4.0)
    return InRange(surface, settings.instance.interval) if not settings.instance.interval.is_real_line else surface


def _steps(settings: Settings, rows: int) -> int | None:
    """Steps where they do not depend on how fast this machine is; None for a time."""
    if isinstance(settings.budget, str) and settings.budget == "auto":
        return int(np.clip(rows // 2, 200, 3000))
    given = read(settings.budget)
    return given if isinstance(given, int) else None


def _push(
    train: _Part,
    held_out: _Part,
    base: Any,  # noqa: ANN401
    steps: int | None,
    settings: Settings,
) -> tuple[nn.Module, float, float, History]:
    """Push a surface over the base; return it at its best held-out weights, with its gain over the base."""
    n, features = train.rows.shape
    surface = _surface(features, n, settings).to(settings.device)
    move = partial(
        push,
        instance=settings.instance,
        pair=Pair(Rows(train.rows, train.weight), base),
        n_up=min(n, 1000),
        n_down=min(max(n, 500), 1000),
        learning_rate=_LEARNING_RATE,
        seed=settings.seed,
    )
    if steps is None:
        steps = steps_of(settings.budget, lambda count: move(deepcopy(surface), steps=count))
    dtype = next(surface.parameters()).dtype
    generator = torch.Generator().manual_seed(settings.seed + 1)
    monitor = HeldOut(
        settings.instance,
        held_out.rows.to(settings.device, dtype),
        base.sample(_BASE_ROWS, generator=generator, dtype=dtype).to(settings.device),
        weight=held_out.weight,
        patience=_SCORES // 2,
    )
    with Progress(steps, visible=settings.verbose > 0) as progress:
        history = move(surface, steps=steps, record_every=max(1, steps // _SCORES), callbacks=[progress, monitor])
    surface.load_state_dict(monitor.state)
    surface.train(mode=False)
    return surface, monitor.best, monitor.best_se, history


def _normalizer(surface: nn.Module, base: Any, settings: Settings) -> Normalizer:  # noqa: ANN401
    generator = torch.Generator().manual_seed(settings.seed + 2)
    rows = base.sample(_NORMALISER_ROWS, generator=generator, dtype=torch.float64)
    with torch.no_grad():
        parts = [settings.instance.log_ratio(surface(part)) for part in rows.split(16_384)]
    return normalise(torch.cat(parts))
