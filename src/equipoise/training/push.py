"""The push: one surface, one instance, one pair, and a loop in which forces act on heights.

    u = surface(x),   weights = instance.forces(u, batch),   ∇θ = Σ_i weights_i · ∂u_i/∂θ        (Algorithm at line 658)

Each step draws a batch, makes one backward pass from the heights with signed weights, and lets the optimizer move the
surface. No loss is computed, and none needs to be known. The same loop serves one surface and many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.optim import Optimizer

from equipoise import catalog
from equipoise.instance import Instance
from equipoise.sources.noisy import with_noise
from equipoise.sources.pair import Draws
from equipoise.training import checks
from equipoise.training.attended import Attended
from equipoise.training.average import Average
from equipoise.training.budget import Trial, steps_of
from equipoise.training.checkpoint import Checkpoint, as_checkpoint, restore
from equipoise.training.guard import Guard, PushDivergedError
from equipoise.training.history import History
from equipoise.training.optimizer import Factory, as_optimizer
from equipoise.training.run import Run
from equipoise.training.schedule import Schedule, as_schedule
from equipoise.training.settings import describe
from equipoise.training.watch import Monitor, as_watch

__all__ = ["Callback", "PushDivergedError", "push"]

Callback = Callable[[int, nn.Module, History], Any]

_SCORES = 40  # per push, where the monitor has no pace of its own


def push(
    surface: nn.Module,
    instance: Instance | str,
    pair: Draws,
    *,
    steps: int | str,
    n_up: int = 1000,
    n_down: int | None = None,
    learning_rate: float = 0.0035,
    optimizer: str | Optimizer | Factory = "adam",
    weight_decay: float = 0.0,
    schedule: str | Schedule = "cosine",
    noise: float | Tensor = 0.0,
    average: float | None = None,
    clip: float | None = None,
    monitor: Monitor | None = None,
    monitor_every: int | None = None,
    patience: int | None = None,
    checkpoint: str | PathLike[str] | Checkpoint | None = None,
    seed: int | None = None,
    record_every: int = 50,
    callbacks: Iterable[Callback] = (),
) -> History:
    """Push a surface until the forces of an instance balance on a pair.

    Arguments:
        surface: Any module from rows (n, d) to heights (n,) or (n, C); changed in place.
        instance: The magnitudes, or a catalogue name.
        pair: Where up and down rows come from: a Pair, or sources.Labelled for classes.
        steps: How many steps to make, or a time such as ``"90s"``, which a short calibration turns into steps, once.
        n_up: Up rows per step.
        n_down: Down rows per step; as many as up rows where it is None.
        learning_rate: The largest learning rate.
        optimizer: ``"adam"`` with the paper's constants (line 5562), ``"adamw"``, ``"sgd"``, an optimizer over the
            surface's weights (its own rate counts), or a function of (weights, rate) that makes one.
        weight_decay: The optimizer's.
        schedule: ``"cosine"``, ``"paper"``, ``"warmup_stable_decay"``, ``"constant"``, or a function from the share of
            the run that is over, in [0, 1], to the share of the learning rate.
        noise: Standard deviation of Gaussian noise on up rows, one number or one per column (line 5534).
        average: Decay of a moving average of the weights, such as 0.999; the average is scored, and left at the end.
        clip: The largest norm of the gradient that the optimizer sees.
        monitor: A held-out score, see :mod:`equipoise.training.monitor`; the surface ends at its best weights by it.
        monitor_every: Steps between scores; a fortieth of the run where it is None.
        patience: Scores without a new best after which the push ends.
        checkpoint: A path, or a Checkpoint; where the file exists, the push goes on from there.
        seed: Seeds the draws, and dropout; a fresh seed where it is None.
        record_every: Steps between records of the history.
        callbacks: Called as callback(step, surface, history) after each record; True ends the push there.

    Returns the history of heights and forces. Ctrl-C ends the push after its current step, with the weights so far.
    """
    checks.kinds(surface, pair)
    callbacks = list(callbacks)
    settings = describe(locals())  # every argument, so that none is forgotten in a checkpoint
    chosen, file, n_down = catalog.get(instance), as_checkpoint(checkpoint), n_up if n_down is None else n_down
    checks.counts(n_up=n_up, n_down=n_down, record_every=record_every, monitor_every=monitor_every)
    checks.positive(clip=clip)
    weights, pair, pace = checks.weights_of(surface), with_noise(pair, noise), as_schedule(schedule)
    checks.fits(surface, chosen, pair.features, weights[0])
    kept = None if file is None else file.read(settings)
    if kept is None:
        options: dict[str, Any] = {
            "n_up": n_up,
            "n_down": n_down,
            "weight_decay": weight_decay,
            "average": average,
            "clip": clip,
        }
        trial = Trial(
            surface, optimizer, monitor, lambda s, o, n: push(s, chosen, pair, steps=n, optimizer=o, **options)
        )
        budget = steps_of(steps, trial.push, trial.score, _SCORES, monitor_every)
    else:
        budget = int(kept["history"]["steps"])
    run = Run(
        surface,
        as_optimizer(optimizer, weights, learning_rate, weight_decay),
        pair,
        _seeded(seed),
        None if average is None else Average(weights, average),
        as_watch(monitor, patience),
        callbacks,
        History(steps=budget, budget=steps if isinstance(steps, str) else budget),
    )
    history, score_every = run.history, monitor_every or max(1, budget // _SCORES)

    with Attended(surface, run.hooks, run.generator.initial_seed()) as attended:
        restore(run, kept)
        guard = Guard(surface, chosen, clip)
        for step in range(run.next_step, budget):
            rate = run.set_rate(pace(step / budget))
            batch = pair.draw(n_up, n_down, run.generator, like=weights[0], log_base=chosen.needs_base)
            u = surface(batch.x)
            checks.movable(u, batch)
            with torch.no_grad():
                forces = chosen.forces(u, batch)
            _clear(weights)
            u.backward(forces)
            norm = guard.check(step, u, forces, batch)
            last = step == budget - 1
            if recorded := last or step % record_every == 0:
                guard.keep(step)
                history.record(step, u, forces, batch.n_up, rate, norm.item(), run.seconds)
            run.move()
            if last or step % score_every == 0:
                run.score(step)
            ends = recorded and run.call_hooks(step)
            if file is not None and file.due(step):
                file.write(run, settings)
            if ends or run.over or attended.interrupted:
                break
        history.interrupted = attended.interrupted
        if file is not None:
            file.write(run, settings)
        run.settle()
    return history


def _seeded(seed: int | None) -> Generator:
    generator = Generator()
    generator.manual_seed(seed) if seed is not None else generator.seed()
    return generator


def _clear(weights: list[Tensor]) -> None:
    """Gradients to zero, in memory that stays."""
    for weight in weights:
        if weight.grad is None:
            weight.grad = torch.zeros_like(weight)
        else:
            weight.grad.zero_()
