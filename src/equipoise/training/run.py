"""Everything that a push changes as it goes: what a checkpoint holds, and what a step leaves behind.

run = (surface, optimizer, generators, positions in the data, average, watch, history, next step)
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import torch
from torch import Generator, nn
from torch.optim import Optimizer

from equipoise.sources.pair import Draws
from equipoise.sources.position import position_of, seek
from equipoise.training.average import Average
from equipoise.training.history import History
from equipoise.training.watch import Watch


@dataclass
class Run:
    """A push between two of its steps.

    Arguments:
        surface: What is pushed.
        optimizer: What moves it.
        pair: What it is pushed on.
        generator: Where all draws come from.
        average: The moving average of the weights, if one is kept.
        watch: The held-out score and the best weights by it, if one is taken.
        hooks: The callbacks; those with state_dict and load_state_dict go into checkpoints.
        history: What has been seen.
        next_step: The step to come.
    """

    surface: nn.Module
    optimizer: Optimizer
    pair: Draws
    generator: Generator
    average: Average | None
    watch: Watch | None
    hooks: list[Any]
    history: History
    next_step: int = 0
    _start: float = field(default_factory=perf_counter)
    _rates: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self._rates = [float(group["lr"]) for group in self.optimizer.param_groups]

    @property
    def seconds(self) -> float:
        """How long the push has run."""
        return perf_counter() - self._start

    def set_rate(self, factor: float) -> float:
        """Scale the learning rates that the optimizer began with; return the first."""
        for group, rate in zip(self.optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * factor
        return self._rates[0] * factor

    def move(self) -> None:
        """One step of the optimizer."""
        self.optimizer.step()
        if self.average is not None:
            self.average.update()
        self.next_step += 1

    def call_hooks(self, step: int) -> bool:
        """Call every hook; whether one of them ends the push."""
        ends = [hook for hook in self.hooks if hook(step, self.surface, self.history) is True]
        if ends:
            self.history.stopped = f"by {getattr(ends[0], '__name__', type(ends[0]).__name__)}"
        return bool(ends)

    def score(self, step: int) -> None:
        """Let the watch score the surface, or its average; the history says if it calls for the end."""
        if self.watch is None:
            return
        with self.average.shown() if self.average else nullcontext():
            ends = self.watch(step, self.surface, self.history)
            value, se = self.watch.latest
        self.history.scored.append(step)
        self.history.score.append(value)
        self.history.score_se.append(se)
        self.history.best_step = self.watch.best_step
        if ends:
            self.history.stopped = f"{self.watch.patience} scores in a row without a new best"

    @property
    def over(self) -> bool:
        """Whether the watch has called for the end."""
        return self.watch is not None and self.watch.over

    def settle(self) -> None:
        """Leave in the surface what it shall keep: the best weights, else their average, else the last."""
        if self.watch is not None and self.watch.state:
            self.watch.settle(self.surface)
        elif self.average is not None:
            self.average.settle()

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {
            "next_step": self.next_step,
            "seconds": self.seconds,
            "surface": dict(self.surface.state_dict()),
            "optimizer": self.optimizer.state_dict(),
            "position": position_of(self.pair),
            "generators": {"draws": self.generator.get_state(), "torch": torch.get_rng_state()},
            "average": None if self.average is None else self.average.state(),
            "watch": None if self.watch is None else self.watch.state_dict(),
            "hooks": [hook.state_dict() for hook in stateful(self.hooks)],
            "history": self.history.to_dict(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Take over from :meth:`state`."""
        self.surface.load_state_dict(state["surface"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["generators"]["draws"])
        torch.set_rng_state(state["generators"]["torch"])
        seek(self.pair, state["position"], self.generator)
        if self.average is not None:
            self.average.load_state(state["average"])
        if self.watch is not None:
            self.watch.load_state_dict(state["watch"])
        self.history.__dict__.update(vars(History.from_dict(state["history"])))
        self.history.interrupted = False
        self.history.stopped = self.history.stopped if self.over else ""
        known = [kept for kept in state["hooks"] if kept is not None]
        for hook, kept in zip(stateful(self.hooks), known, strict=True):
            hook.load_state_dict(kept)
        self.next_step = self.history.steps if self.over else state["next_step"]
        self._start = perf_counter() - state["seconds"]


def stateful(hooks: Iterable[Any]) -> list[Any]:
    """The callbacks that know more after a step than before."""
    return [hook for hook in hooks if hasattr(hook, "state_dict") and hasattr(hook, "load_state_dict")]
