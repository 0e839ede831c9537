"""What must hold before the first step, and what is said where it does not."""

from __future__ import annotations

from math import isfinite
from numbers import Integral
from typing import Any

import torch
from torch import Tensor, nn

from equipoise.batch import Batch
from equipoise.instance import Instance
from equipoise.surfaces.in_range import heights_of


def counts(**given: Any) -> None:
    """Every one of these is a number of at least 1; None stands for a default."""
    for name, value in given.items():
        if value is not None and (not isinstance(value, Integral) or isinstance(value, bool) or value < 1):
            message = f"{name} must be a whole number of at least 1, got {value!r}"
            raise ValueError(message)


def positive(**given: float | None) -> None:
    """Every one of these is a finite number above 0; None stands for its absence."""
    for name, value in given.items():
        if value is not None and not (isfinite(value) and value > 0.0):
            message = f"{name} must be a number above 0, or None; got {value!r}"
            raise ValueError(message)


def kinds(surface: Any, pair: Any) -> None:  # noqa: ANN401  # whatever a user may hand in
    """A surface is a module, and a pair can be drawn from."""
    if not isinstance(surface, nn.Module):
        message = f"a surface must be an nn.Module from rows (n, d) to heights (n,), got {_named(surface)}"
        raise TypeError(message)
    if not callable(getattr(pair, "draw", None)) or not isinstance(getattr(pair, "features", None), Integral):
        message = f"a pair must be an eq.Pair(up, down), or eq.sources.Labelled for classes; got {_named(pair)}"
        raise TypeError(message)


def _named(thing: Any) -> str:  # noqa: ANN401
    return f"the class {thing.__name__}" if isinstance(thing, type) else f"a {type(thing).__name__}"


def weights_of(surface: nn.Module) -> list[Tensor]:
    """The weights that a push moves."""
    weights: list[Tensor] = [p for p in surface.parameters() if p.requires_grad]
    if not weights:
        message = f"this {type(surface).__name__} has no weights to push: none of its parameters requires a gradient"
        raise ValueError(message)
    return weights


def fits(surface: nn.Module, instance: Instance, features: int, like: Tensor) -> None:
    """The surface takes rows of the pair, and returns heights at which the instance balances."""
    if not instance.heights.covers(heights_of(surface)):
        message = (
            f"{instance.label} balances only at heights in {instance.heights}, and this {type(surface).__name__} can "
            f"take others: wrap it as eq.surfaces.InRange(surface, instance.interval)"
        )
        raise ValueError(message)
    wanted = getattr(surface, "features", features)
    problem = f"it has {wanted} features" if isinstance(wanted, int) and wanted != features else ""
    training = surface.training
    surface.train(mode=False)
    try:
        with torch.no_grad():
            u = None if problem else surface(torch.zeros(2, features, dtype=like.dtype, device=like.device))
    except (RuntimeError, ValueError, IndexError) as error:
        problem = str(error).splitlines()[0]
    finally:
        surface.train(mode=training)
    if problem:
        message = f"this {type(surface).__name__} cannot take the pair's rows of {features} columns: {problem}"
        raise ValueError(message)
    shaped(u, 2)


def shaped(u: Any, rows: int) -> None:  # noqa: ANN401
    """One height per row, or one per row and surface."""
    if not isinstance(u, Tensor) or u.dim() not in {1, 2} or u.shape[0] != rows:
        came = tuple(u.shape) if isinstance(u, Tensor) else f"a {type(u).__name__}"
        message = f"a surface must return one height per row: {rows} rows gave u of {came}"
        raise ValueError(message)


def movable(u: Tensor, batch: Batch) -> None:
    """The heights of a batch, as they must be for a backward pass."""
    shaped(u, batch.x.shape[0])
    if not u.requires_grad:
        message = "the surface's heights do not depend on its weights: nothing can be pushed"
        raise ValueError(message)
