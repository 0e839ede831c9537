"""A push for what a start leaves over: the surface is moved, the start's heights stand beside its rows and stay.

u(x) = surface(x) + start(x),     forces of softmax cross-entropy on u
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from equipoise.estimators.class_rows import ClassRows
from equipoise.estimators.classifier_plan import ClassifierPlan, ClassifierSettings
from equipoise.sources.labelled import Labelled
from equipoise.training.budget import steps_of
from equipoise.training.history import History
from equipoise.training.monitor import CrossEntropy
from equipoise.training.progress import Progress
from equipoise.training.push import push

_FARTHEST = 1e4  # heights of a start that a push sees
_MOST_WATCHED = 5_000
_SCORES, _PATIENCE = 40, 10


class Beside(nn.Module):
    """A surface that adds to heights which stand in the last C columns of its rows.

    Arguments:
        surface: From the other columns to what it adds, (n, C).
        classes: C.
    """

    def __init__(self, surface: nn.Module, classes: int) -> None:
        super().__init__()
        self.surface, self.classes = surface, classes

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d + C)."""
        added: Tensor = self.surface(x[:, : -self.classes])
        if added.shape != (len(x), self.classes):
            came = f"{len(x)} rows gave u of {tuple(added.shape)}"
            message = f"surface must return one height per class, (n, {self.classes}); {came}"
            raise ValueError(message)
        return added + x[:, -self.classes :]


@dataclass(frozen=True)
class Member:
    """One push over a start.

    Arguments:
        surface: What is pushed, in place.
        teach, watch: Rows that push, and rows that end the push.
        settings, plan: Of the whole fit.
        seed: Of this push.
    """

    surface: nn.Module
    teach: ClassRows
    watch: ClassRows
    settings: ClassifierSettings
    plan: ClassifierPlan
    seed: int

    def steps_in(self, seconds: float) -> int:
        """How many steps a time allows, tried on a copy."""
        whole = self._whole()
        return steps_of(f"{seconds}s", lambda count: self._move(deepcopy(whole), steps=count))

    def push(self, steps: int) -> History:
        """Push, and leave the best weights in the surface."""
        device = self.settings.device
        watch = CrossEntropy(
            self.watch.rows.float().to(device), self.watch.labels.to(device), self.watch.weight.float().to(device)
        )
        with Progress(steps, visible=self.settings.verbose > 0) as progress:
            return self._move(
                self._whole(),
                steps=steps,
                record_every=max(1, steps // 100),
                monitor=watch,
                monitor_every=max(1, steps // _SCORES),
                patience=_PATIENCE,
                callbacks=[progress],
            )

    def _whole(self) -> nn.Module:
        return Beside(self.surface, self.teach.classes).to(self.settings.device)

    def _move(self, surface: nn.Module, **rest: Any) -> History:  # more of push's arguments
        batch = min(self.plan.batch, len(self.teach))
        move = partial(
            push,
            n_up=batch - 1,
            n_down=1,  # a labelled batch has no sides
            learning_rate=self.plan.learning_rate,
            optimizer="adamw",
            weight_decay=self.plan.weight_decay,
            average=0.99,
            seed=self.seed,
        )
        rows = Labelled(self.teach.rows.float(), self.teach.labels.numpy(), self.teach.weight)
        return move(surface, self.settings.instance, rows, **rest)


def beside(seen: Tensor, heights: Tensor, table: ClassRows) -> ClassRows:
    """A table's rows as a push sees them, (n, d + C): other columns, with the start's heights beside them."""
    return ClassRows(
        torch.cat([seen, heights.clamp(-_FARTHEST, _FARTHEST)], dim=1), table.labels, table.weight, table.classes
    )
