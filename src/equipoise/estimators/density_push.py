"""One push: a surface over a base, ended by rows of its own, and normalised.

    surface ← best weights of push(surface, instance, rows | base)        log p = log base + log R(u) − log Z

The rows that end the push are neither learned from nor among those that choose: what they picked would flatter itself.
Over a copula the surface may see normal scores; there the push is one of scores against what joins them.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from math import log
from typing import Any

import torch
from torch import Tensor, nn

from equipoise.densities import Pushed
from equipoise.estimators.density_plan import Recipe
from equipoise.estimators.density_settings import Settings
from equipoise.normalizer import UnusableWeightsError
from equipoise.sources.pair import Pair
from equipoise.sources.rows import Rows
from equipoise.surfaces import OnScores
from equipoise.training.budget import steps_of
from equipoise.training.history import History
from equipoise.training.monitor import Gain
from equipoise.training.progress import Progress
from equipoise.training.push import PushDivergedError, push

_ENDING, _MOST_ENDING = 0.1, 5_000  # share of the rows that ends a push, and the most of them
_BASE_ROWS = 16_384  # that an early stop looks at
_SCORES, _PATIENCE = 40, 16


@dataclass(frozen=True)
class Part:
    """Standardised rows, with their weights where they have any."""

    rows: Tensor
    weight: Tensor | None

    def __getitem__(self, index: Tensor | slice) -> Part:
        return Part(self.rows[index], None if self.weight is None else self.weight[index])

    def __len__(self) -> int:
        return len(self.rows)


@dataclass
class Candidate:
    """A normalised density and how well it does on the selection rows.

    Arguments:
        name: What it is called.
        density: It has log_prob and sample.
        log_prob: At the selection rows.
        history: Of its push, where it is a pushed one.
        refit: Fits it again, to all rows; None where it stays as it is.
    """

    name: str
    density: Any
    log_prob: Tensor
    history: History | None = None
    refit: Any = None


def pushed_over(recipe: Recipe, over: Candidate, train: Part, selecting: Part, settings: Settings) -> Candidate | None:
    """Push a surface over a base, and normalise it; None where its forces blew up."""
    base, down = over.density, over.density
    if recipe.scores:
        down, train = base.density_of_scores, replace(train, rows=base.scores_of(train.rows))
    cut = min(round(_ENDING * len(train)), _MOST_ENDING)
    ending, learned = train[:cut], train[cut:]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        surface = deepcopy(recipe.build(learned.rows)).to(settings.device)
    move = partial(
        push,
        instance=recipe.instance,
        pair=Pair(Rows(learned.rows, learned.weight), down),
        n_up=recipe.n_up,
        learning_rate=recipe.learning_rate,
        noise=recipe.noise,
        average=recipe.average,
        seed=settings.seed,
    )
    steps = recipe.steps
    if isinstance(settings.budget, float):
        share = f"{settings.budget / recipe.of}s"
        steps = steps_of(share, lambda count: move(deepcopy(surface), steps=count))
    try:
        with Progress(steps, visible=settings.verbose > 0) as progress:
            history = move(
                surface,
                steps=steps,
                record_every=max(1, steps // 100),
                monitor=_monitor(recipe, down, ending, surface, settings),
                monitor_every=max(1, steps // _SCORES),
                patience=_PATIENCE,
                callbacks=[progress],
            )
        least = -log(len(train) + 2.0)
        density = Pushed(down, recipe.instance, surface.train(mode=False).cpu(), least=least).normalised(
            settings.seed + 2
        )
    except (PushDivergedError, UnusableWeightsError):
        return None
    surface = surface.double()
    if recipe.scores:
        surface = OnScores(surface, base.marginals.columns)
    density = replace(density, base=base, surface=surface.train(mode=False))
    return Candidate(f"{recipe.name} over {over.name}", density, density.log_prob(selecting.rows), history)


def _monitor(recipe: Recipe, base: Any, ending: Part, surface: nn.Module, settings: Settings) -> Gain:  # noqa: ANN401
    """The gain over the base on rows not learned from, and on rows of the base fixed for the whole push."""
    like = next(surface.parameters())
    generator = torch.Generator().manual_seed(settings.seed + 1)
    rows = base.sample(_BASE_ROWS, generator=generator, dtype=like.dtype).to(like)
    weight = None if ending.weight is None else ending.weight.to(like)
    return Gain(recipe.instance, ending.rows.to(like), rows, weight)
