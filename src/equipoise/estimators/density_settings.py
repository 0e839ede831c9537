"""An estimator's parameters, checked and made definite before any row is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from equipoise import catalog
from equipoise.bases import as_base
from equipoise.instance import Instance
from equipoise.training.budget import read

AUTO = "auto"


@dataclass(frozen=True)
class Settings:
    """What fitting a density needs to know.

    Arguments:
        instance: The instance, or None where it is to be chosen.
        base: A name, a base or a distribution, or None where it is to be chosen.
        surface: A module, or None where the plan decides.
        budget: Steps of each push, seconds for all of them, or None where the plan decides.
        validation_fraction: The share of rows that choose and are not pushed.
        jitter: ``"auto"``, whether to, or how much noise per column to spread repeated values by.
        bounds: (low, high), each a number, one per column, or None.
        seed, device, verbose: As they say.
    """

    instance: Instance | None
    base: Any
    surface: nn.Module | None
    budget: int | float | None
    validation_fraction: float
    jitter: Any
    bounds: Any
    seed: int
    device: str
    verbose: int

    @classmethod
    def of(cls, estimator: Any, seed: int) -> Settings:  # noqa: ANN401  # a Density
        """Check the estimator's parameters."""
        if not 0.0 < estimator.validation_fraction < 1.0:
            message = f"validation_fraction must lie between 0 and 1, got {estimator.validation_fraction!r}"
            raise ValueError(message)
        return cls(
            None if is_auto(estimator.instance) else _instance(estimator.instance),
            None if is_auto(estimator.base) else _base(estimator.base),
            None if is_auto(estimator.surface) else as_surface(estimator.surface),
            None if is_auto(estimator.budget) else read(estimator.budget),
            estimator.validation_fraction,
            _jitter(estimator.jitter),
            estimator.bounds,
            seed,
            as_device(estimator.device),
            _verbose(estimator.verbose),
        )


def is_auto(value: Any) -> bool:  # noqa: ANN401
    """Whether a parameter was left to us."""
    return isinstance(value, str) and value == AUTO


def _instance(given: Any) -> Instance:  # noqa: ANN401
    instance = catalog.get(given)
    if not (instance.scalar and instance.feasible):
        message = f"{instance.label} has no balance on one surface, so no density follows from it"
        raise ValueError(message)
    if instance.pairing.name not in ("two-sided", "convolved"):
        message = f"{instance.label} samples a {instance.pairing.name} pair; Density samples rows against a base"
        raise ValueError(message)
    return instance


def _base(given: Any) -> Any:  # noqa: ANN401
    as_base(given)
    return given


def as_surface(given: Any) -> nn.Module:  # noqa: ANN401
    """A surface that a user gave."""
    if not isinstance(given, nn.Module):
        message = f"surface must be 'auto' or a torch module, got {given!r}"
        raise TypeError(message)
    return given


def _jitter(given: Any) -> Any:  # noqa: ANN401
    if is_auto(given) or isinstance(given, bool) or given is None:
        return given
    if isinstance(given, int | float) and given >= 0:
        return float(given)
    message = f"jitter must be 'auto', True, False, or a width in the table's units that is not negative; got {given!r}"
    raise ValueError(message)


def _verbose(given: Any) -> int:  # noqa: ANN401
    if not isinstance(given, int):
        message = f"verbose must be 0 or 1, got {given!r}"
        raise TypeError(message)
    return int(given)


def as_device(given: str) -> str:
    """A device that is there."""
    if is_auto(given):
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=given)
    except (RuntimeError, TypeError, AssertionError) as error:
        message = f"device {given!r} cannot be used: {str(error).splitlines()[0]}"
        raise ValueError(message) from None
    return given
