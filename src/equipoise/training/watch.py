"""What is done around a held-out score, whatever the score: the best weights are kept, and patience ends.

    best = max over scores,   stop after ``patience`` scores in a row without a new best

A monitor is anything with ``score(surface) → (value, standard error)``, where higher is better.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isnan
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from equipoise.training.history import History


@runtime_checkable
class Monitor(Protocol):
    """A held-out score."""

    def score(self, surface: nn.Module) -> tuple[float, float]:
        """How good the surface is, higher being better, and the standard error of that."""


@dataclass
class Watch:
    """Keeps the best weights by a monitor, and calls for the end; a callback of push, or its ``monitor``.

    Arguments:
        monitor: The score.
        patience: Scores without a new best after which the push ends; None never ends it.
    """

    monitor: Monitor
    patience: int | None = None
    best: float = -inf
    best_se: float = inf
    best_step: int = -1
    scores: list[tuple[int, float]] = field(default_factory=list)
    state: dict[str, Tensor] = field(default_factory=dict)
    latest: tuple[float, float] = (-inf, inf)

    def __call__(self, step: int, surface: nn.Module, history: History | None = None) -> bool:
        """Score the surface; True where it has not improved for long."""
        value, se = self.latest = self.score(surface)
        self.scores.append((step, value))
        if value > self.best or not self.state:
            self.best, self.best_se, self.best_step = value, se, step
            self._keep(surface)
        return self.over

    @property
    def over(self) -> bool:
        """Whether patience has ended."""
        if self.patience is None or not self.scores:
            return False
        steps = [step for step, _ in self.scores]
        return len(steps) - 1 - steps.index(self.best_step) >= self.patience

    def score(self, surface: nn.Module) -> tuple[float, float]:
        """The monitor's score of the surface in evaluation mode; NaN counts as −∞."""
        training = surface.training
        surface.train(mode=False)
        with torch.no_grad():
            value, se = self.monitor.score(surface)
        surface.train(mode=training)
        return (-inf, inf) if isnan(value) else (float(value), float(se))

    def restart(self) -> None:
        """Forget an earlier push."""
        self.best, self.best_se, self.best_step = -inf, inf, -1
        self.scores, self.state = [], {}

    def settle(self, surface: nn.Module) -> None:
        """Leave the best weights in the surface, if there are any yet."""
        if self.state:
            surface.load_state_dict(self.state)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"best": (self.best, self.best_se, self.best_step), "scores": list(self.scores), "state": self.state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over from :meth:`state_dict`."""
        self.best, self.best_se, self.best_step = state["best"]
        self.scores, self.state = [tuple(entry) for entry in state["scores"]], dict(state["state"])

    def _keep(self, surface: nn.Module) -> None:
        current = surface.state_dict()
        if not self.state:
            self.state = {name: value.detach().clone() for name, value in current.items()}
        for name, value in current.items():
            self.state[name].copy_(value)


def as_watch(monitor: Any, patience: int | None) -> Watch | None:  # noqa: ANN401  # a Monitor, a Watch, or None
    """A fresh watch over a monitor; None where there is none."""
    if patience is not None and not (isinstance(patience, int) and patience >= 1):
        message = f"patience must be a number of scores of at least 1, or None; got {patience!r}"
        raise ValueError(message)
    if monitor is None:
        if patience is not None:
            message = "patience needs a monitor: give one such as eq.training.Gain(instance, held_out, base_rows)"
            raise ValueError(message)
        return None
    if not isinstance(monitor, Monitor):
        message = f"a monitor needs score(surface) → (value, standard error), and {type(monitor).__name__} has not"
        raise TypeError(message)
    watch = monitor if isinstance(monitor, Watch) else Watch(monitor, patience)
    watch.restart()
    if patience is not None:
        watch.patience = patience
    return watch
