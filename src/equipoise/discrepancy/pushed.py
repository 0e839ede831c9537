"""Any instance as a test: a surface pushed on half of the rows, and its log ratios at the other half.

    T = mean log R(u) over held-out X − mean log R(u) over held-out Y

The surface knows nothing of the held-out rows, so their labels alone are permuted, and the push is made once. An
instance without a balance, such as unit, tells the samples apart by its heights themselves.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from equipoise import catalog
from equipoise.discrepancy.comparison import Comparison, Statistic
from equipoise.discrepancy.relabelling import Relabellings
from equipoise.instance import Instance
from equipoise.interval import REALS
from equipoise.sources.pair import Pair
from equipoise.sources.rows import Rows
from equipoise.surfaces.in_range import InRange
from equipoise.surfaces.kernel import Kernel
from equipoise.training.monitor import Logistic, heights
from equipoise.training.push import push

LEAST = 8  # rows of either sample
_CENTRES, _BATCH = 100, 500
_CHOOSING = 0.2  # of the pushing half
_STEPS, _RATE = 400, 0.005
_FAR = 30.0  # log ratios beyond it are cut: one row shall not decide


@dataclass(frozen=True)
class LogRatio:
    """A pushed surface as a witness: its log ratio, or its heights where the instance has no balance.

    Arguments:
        surface: The surface.
        instance: Which pushed it.
    """

    surface: nn.Module
    instance: Instance

    def __call__(self, scores: Tensor) -> Tensor:
        """Heights of scores (k, d)."""
        with torch.no_grad():
            u = heights(self.surface, scores).double()
        return self.instance.log_ratio(u).clamp(-_FAR, _FAR) if self.instance.feasible else self.instance.sign * u


def as_test(given: Instance | str) -> Instance:
    """An instance that can tell two samples apart."""
    instance = catalog.get(given)
    if not instance.scalar or instance.needs_base or not (instance.feasible or instance.heights == REALS):
        message = f"{instance.label} cannot push one surface between two samples: try 'logistic', or 'mmd'"
        raise ValueError(message)
    return instance


def pushed(
    comparison: Comparison, instance: Instance, surface: nn.Module | None = None, steps: int = _STEPS
) -> Statistic:
    """The statistic of an instance.

    Arguments:
        comparison: Of which two samples.
        instance: Whose forces push.
        surface: A module from scores (n, d) to heights (n,), copied before it is pushed; a Kernel where it is None.
        steps: Of the push.
    """
    truth, scores = comparison.pooled.truth, comparison.pooled.scores.float()
    if int(min(truth.sum(), (~truth).sum())) < LEAST:
        message = f"half of the rows push and half are tested: at least {LEAST} rows are needed in X and in Y"
        raise ValueError(message)
    (up, up_choosing, up_held), (down, down_choosing, down_held) = (_split(scores[side]) for side in (truth, ~truth))
    model = _surface(surface, instance, torch.cat([up, down]), comparison.seed)
    monitor = Logistic(instance, up_choosing, down_choosing) if instance.feasible else None
    push(
        model,
        instance,
        Pair(Rows(up), Rows(down)),
        steps=steps,
        n_up=min(_BATCH, len(up)),
        n_down=min(_BATCH, len(down)),
        learning_rate=_RATE,
        monitor=monitor,
        seed=comparison.seed,
    )

    witness = LogRatio(model, instance)
    held = torch.arange(len(up_held) + len(down_held)) < len(up_held)
    labels = Relabellings.draw(held, len(comparison.labels.called) - 1, comparison.seed)
    values = labels.forces(len(held)) @ witness(torch.cat([up_held, down_held]))
    return Statistic(f"{instance.label} on held-out rows", values, witness)


def _split(rows: Tensor) -> list[Tensor]:
    """Rows in random order as those that push, those that choose, and those that are tested."""
    pushing = len(rows) // 2
    choosing = max(1, round(_CHOOSING * pushing))
    return list(rows.split([pushing - choosing, choosing, len(rows) - pushing]))


def _surface(given: nn.Module | None, instance: Instance, rows: Tensor, seed: int) -> nn.Module:
    if given is not None:
        return deepcopy(given)
    kernel = Kernel.on_rows(rows, min(_CENTRES, len(rows)), at="random", seed=seed)
    return kernel if instance.heights == REALS else InRange(kernel, instance.heights)
