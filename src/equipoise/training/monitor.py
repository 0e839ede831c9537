"""A held-out score that watches a push over a known base, and keeps the weights at which it was best.

    score = mean log R(u(x)) over held-out rows − log mean R(u(b)) over rows b of the base

It is the gain in held-out log-likelihood of the normalised model over the base alone, which scores 0.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from math import inf, isfinite, sqrt
from typing import Any

import torch
from torch import Tensor, nn

from equipoise.bases.choice import weighted_mean
from equipoise.instance import Instance
from equipoise.normalizer import normalise
from equipoise.training.history import History


@dataclass
class HeldOut:
    """A callback of push.

    Arguments:
        instance: Whose heights the surface holds.
        held_out: Rows of the up density that are not pushed.
        base_rows: Rows of the base, fixed for the whole push.
        weight: Sample weights of the held-out rows; all alike where it is None.
        every: Steps between scores.
        patience: Scores without a new best after which the push ends.
    """

    instance: Instance
    held_out: Tensor
    base_rows: Tensor
    weight: Tensor | None = None
    every: int = 50
    patience: int = 8
    best: float = -inf
    best_se: float = inf
    best_step: int = -1
    scores: list[tuple[int, float]] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)

    def __call__(self, step: int, surface: nn.Module, history: History) -> bool:
        """Score the surface; True where it has not improved for long."""
        score, se = self._score(surface)
        self.scores.append((step, score))
        if score > self.best or not self.state:
            self.best, self.best_se, self.best_step = score, se, step
            self.state = deepcopy(surface.state_dict())
        return len(self.scores) - 1 - self._best_index() >= self.patience

    def _score(self, surface: nn.Module) -> tuple[float, float]:
        """The score and its standard error; −∞ where the heights give no density."""
        surface.train(mode=False)
        with torch.no_grad():
            gain = self.instance.log_ratio(surface(self.held_out))
            log_weight = self.instance.log_ratio(surface(self.base_rows))
        surface.train()
        try:
            normaliser = normalise(log_weight)
        except ValueError:
            return -inf, inf
        mean, se = weighted_mean(gain, self.weight)
        score = mean - normaliser.log_z
        return (score, sqrt(se**2 + normaliser.se**2)) if isfinite(score) else (-inf, inf)

    def _best_index(self) -> int:
        return max(range(len(self.scores)), key=lambda i: self.scores[i][1])
