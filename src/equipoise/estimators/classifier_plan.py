"""A classifier's parameters, made definite, and what is worth trying on n rows of d columns.

The numbers were chosen on tables of 130 to 22,000 rows: digits, tumours, moons, products, waves, heavy tails, noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import nn

from equipoise import catalog
from equipoise.estimators.density_settings import as_device, as_surface, is_auto
from equipoise.instance import Instance
from equipoise.surfaces import FullyConnected
from equipoise.training.budget import read

FEWEST_ROWS = 50  # below, too few to hold any out
_FEWEST_PUSHED = 200  # below, a network has too little to learn from
_FEWEST_HELD_OUT = 5  # rows of a part
_MANY_ROWS = 20_000  # from here on, planes need no choice of penalty
_DEEP = 10_000  # from here on, networks are deeper
_WIDTH = 64
_LARGEST_SHARE = 1.0 / 3.0


@dataclass(frozen=True)
class ClassifierSettings:
    """What fitting a classifier needs to know.

    Arguments:
        instance: Softmax cross-entropy of a norm.
        surface: A module from standardised rows to what it adds to the start's heights, or None where the plan decides.
        budget: Steps of each push, seconds for all of them, or None where the plan decides.
        validation_fraction: The share of rows that ends a push, and the share of others that judges it.
        seed, device, verbose: As they say.
    """

    instance: Instance
    surface: nn.Module | None = None
    budget: int | float | None = None
    validation_fraction: float = 0.1
    seed: int = 0
    device: str = "cpu"
    verbose: int = 0

    @classmethod
    def of(cls, estimator: Any, seed: int) -> ClassifierSettings:  # noqa: ANN401  # a Classifier
        """Check the estimator's parameters."""
        if not 0.0 < estimator.validation_fraction <= _LARGEST_SHARE:
            message = (
                "validation_fraction must lie between 0 and 1/3, since as many rows end a push and as many others "
                f"judge it; got {estimator.validation_fraction!r}"
            )
            raise ValueError(message)
        return cls(
            catalog.get("softmax_cross_entropy", norm=estimator.norm),
            None if is_auto(estimator.surface) else as_surface(estimator.surface),
            None if is_auto(estimator.budget) else read(estimator.budget),
            float(estimator.validation_fraction),
            seed,
            as_device(estimator.device),
            int(estimator.verbose),
        )


@dataclass(frozen=True)
class ClassifierPlan:
    """What is tried.

    Arguments:
        parts: How many parts of the rows there are; each push is ended by one and judged by another.
        members: Pushes, whose heights are averaged; 0 for starts alone.
        penalties: On the planes' slopes, in rows: the heaviest first.
        steps: Of each push.
        layers: Of the networks.
        dropout: In the networks.
        batch: Rows of a step.
        learning_rate: The largest learning rate.
        weight_decay: Of the networks' weights.
    """

    parts: int
    members: int
    penalties: tuple[float, ...]
    steps: int
    layers: int
    dropout: float
    batch: int
    learning_rate: float = 0.005
    weight_decay: float = 0.1

    @property
    def folds(self) -> int:
        """How many parts judge."""
        return min(self.members or self.parts, self.parts)

    def network(self, features: int, classes: int) -> nn.Module:
        """A network that is flat, so that the start is where it starts."""
        surface = FullyConnected(features, _WIDTH, self.layers, classes, activation="silu", dropout=self.dropout)
        nn.init.zeros_(surface.last.weight)
        return surface


def plan(n: int, spare: int, settings: ClassifierSettings) -> ClassifierPlan:
    """A plan for n rows, of which so many may be held out."""
    steps = settings.budget if isinstance(settings.budget, int) else _steps(n)
    members = 0 if steps == 0 else 1 if settings.surface is not None else 5 if n >= _FEWEST_PUSHED else 0
    return ClassifierPlan(
        parts=min(round(1.0 / settings.validation_fraction), spare // _FEWEST_HELD_OUT),
        members=members,
        penalties=(100.0, 10.0, 1.0, 0.1) if n < _MANY_ROWS else (1.0,),
        steps=steps,
        layers=2 if n < _DEEP else 3,
        dropout=0.0 if n < _DEEP else 0.1,
        batch=256 if n < 30_000 else 512,
    )


def _steps(n: int) -> int:
    """From 300 on the smallest tables to 5,000 on the largest."""
    return int(min(5000.0, max(300.0, 20.0 * n**0.5)))
