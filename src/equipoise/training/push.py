"""The push: one surface, one instance, one pair, and a loop in which forces act on heights.

    u = surface(x),   weights = instance.forces(u, batch),   ∇θ = Σ_i weights_i · ∂u_i/∂θ        (Algorithm at line 658)

Each step draws a batch, makes one backward pass from the heights with signed weights, and lets the optimizer move the
surface. No loss is computed, and none needs to be known. The same loop serves one surface and many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import cos, pi
from typing import Any

import torch
from torch import Tensor, nn

from equipoise import catalog
from equipoise.batch import Batch
from equipoise.instance import Instance
from equipoise.sources.pair import Draws
from equipoise.surfaces.in_range import heights_of
from equipoise.training.history import History

Callback = Callable[[int, nn.Module, History], Any]


class PushDivergedError(FloatingPointError):
    """A force was not finite; the surface keeps the weights it had."""


def push(
    surface: nn.Module,
    instance: Instance | str,
    pair: Draws,
    *,
    steps: int,
    n_up: int = 1000,
    n_down: int | None = None,
    learning_rate: float = 0.0035,
    optimizer: torch.optim.Optimizer | None = None,
    seed: int | None = None,
    record_every: int = 50,
    callbacks: Iterable[Callback] = (),
) -> History:
    """Push a surface until the forces of an instance balance on a pair.

    Arguments:
        surface: Any module from rows (n, d) to heights (n,) or (n, C); changed in place.
        instance: The magnitudes, or a catalogue name.
        pair: Where up and down rows come from: a Pair, or sources.Labelled for classes.
        steps: How many steps to make.
        n_up: Up rows per step.
        n_down: Down rows per step; as many as up rows where it is None.
        learning_rate: The first step's learning rate; a cosine takes it to zero over the steps.
        optimizer: Adam with the paper's constants (line 5558) where it is None.
        seed: Seeds the draws; a fresh seed where it is None.
        record_every: Steps between records of the history.
        callbacks: Called as callback(step, surface, history) after each record; True ends the push there.

    Returns the history of heights and forces.
    """
    chosen = catalog.get(instance)
    _check_range(surface, chosen)
    parameters = [p for p in surface.parameters() if p.requires_grad]
    if optimizer is None:
        optimizer = torch.optim.Adam(parameters, lr=learning_rate, betas=(0.75, 0.999), eps=1e-10, fused=True)
    start = [group["lr"] for group in optimizer.param_groups]
    generator = torch.Generator()
    generator.manual_seed(seed) if seed is not None else generator.seed()
    like = parameters[0] if parameters else torch.empty(0)
    hooks, history = list(callbacks), History()

    surface.train()
    for step in range(steps):
        _set_rate(optimizer, start, 0.5 * (1.0 + cos(pi * step / steps)))
        batch = pair.draw(n_up, n_up if n_down is None else n_down, generator, like=like, log_base=chosen.needs_base)
        u = surface(batch.x)
        with torch.no_grad():
            forces = chosen.forces(u, batch)
        _check_finite(step, u, forces, batch, chosen)
        optimizer.zero_grad(set_to_none=False)
        u.backward(forces)
        optimizer.step()
        if step % record_every == 0 or step == steps - 1:
            history.record(step, u, forces, batch.n_up, optimizer.param_groups[0]["lr"])
            stops = [hook(step, surface, history) is True for hook in hooks]
            if any(stops):
                break
    surface.train(mode=False)
    return history


def _set_rate(optimizer: torch.optim.Optimizer, start: list[float], share: float) -> None:
    for group, rate in zip(optimizer.param_groups, start, strict=True):
        group["lr"] = rate * share


def _check_range(surface: nn.Module, instance: Instance) -> None:
    if instance.heights.covers(heights_of(surface)):
        return
    message = (
        f"{instance.label} balances only at heights in {instance.heights}, and this {type(surface).__name__} can take "
        f"others: wrap it as eq.surfaces.InRange(surface, instance.interval)"
    )
    raise ValueError(message)


def _check_finite(step: int, u: Tensor, forces: Tensor, batch: Batch, instance: Instance) -> None:
    if u.shape[0] != batch.x.shape[0]:
        message = f"a surface must return one height per row: {batch.x.shape[0]} rows gave u of {tuple(u.shape)}"
        raise ValueError(message)
    if bool(torch.isfinite(forces).all()):
        return
    row = int(torch.nonzero(~torch.isfinite(forces))[0, 0])
    side = "up" if row < batch.n_up else "down"
    message = (
        f"step {step}: M_{side} of {instance.label} is {forces[row].flatten()[0].item()} at height "
        f"{u[row].flatten()[0].item():.6g}; the surface keeps its last weights. "
        "Lower the learning rate, or bound the magnitudes with eq.theory.bound(instance)"
    )
    raise PushDivergedError(message)
