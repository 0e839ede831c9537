"""A ratio's parameters, checked and made definite before any row is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import nn

from equipoise import catalog
from equipoise.estimators.density_settings import as_device, as_surface, is_auto
from equipoise.instance import Instance
from equipoise.training.budget import read

_TWO_SAMPLES = ("two-sided", "two labels", "convolved")


@dataclass(frozen=True)
class RatioSettings:
    """What fitting a ratio needs to know.

    Arguments:
        instance: Whose forces push.
        surface: A module from standardised rows to what it adds to the log ratio, or None where the plan decides.
        budget: Steps of each push, seconds for all of them, or None where the plan decides.
        seed, device, verbose: As they say.
    """

    instance: Instance
    surface: nn.Module | None = None
    budget: int | float | None = None
    seed: int = 0
    device: str = "cpu"
    verbose: int = 0

    @classmethod
    def of(cls, estimator: Any, seed: int) -> RatioSettings:  # noqa: ANN401  # a DensityRatio, or one that holds ratios
        """Check the estimator's parameters."""
        if not 0.0 < estimator.validation_fraction < 1.0:
            message = f"validation_fraction must lie between 0 and 1, got {estimator.validation_fraction!r}"
            raise ValueError(message)
        return cls(
            as_two_sample("logistic" if is_auto(estimator.instance) else estimator.instance),
            None if is_auto(estimator.surface) else as_surface(estimator.surface),
            None if is_auto(estimator.budget) else read(estimator.budget),
            seed,
            as_device(estimator.device),
            int(estimator.verbose),
        )


def as_two_sample(given: Any) -> Instance:  # noqa: ANN401
    """An instance from which the ratio of two samples follows."""
    instance = catalog.get(given)
    if not (instance.scalar and instance.feasible):
        message = f"{instance.label} has no balance on one surface, so no ratio follows from it"
        raise ValueError(message)
    if instance.pairing.name not in _TWO_SAMPLES:
        message = f"{instance.label} samples a {instance.pairing.name} pair; DensityRatio has rows of two densities"
        raise ValueError(message)
    if instance.needs_base:
        message = f"{instance.label} needs a known down density, which two samples have not: try 'logistic'"
        raise ValueError(message)
    return instance
