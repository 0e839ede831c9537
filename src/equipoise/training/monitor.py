"""Held-out scores of a surface; higher is better, whatever the instance that pushes it.

    Gain            mean log R(u(x)) over held-out rows − log mean R(u(b)) over rows b of the base
    Logistic        π·mean log σ(s(x_up)) + (1 − π)·mean log σ(−s(x_down)),   s = log R(u) + log(π/(1 − π))
    Importance      mean log R(u(x)) over held-out rows − mean R(u(b)) + 1 over rows b of the base     (line 5580)
    CrossEntropy    mean log softmax(u(x))_y over held-out labelled rows

Gain is the gain in held-out log-likelihood of the normalised model over the base, which itself scores 0. Logistic is
for two samples whose densities are both unknown: a proper score of the ratio, at most 0. Importance is the paper's
monitor with its sign turned; it never exceeds Gain, because log Z ≤ Z − 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf, isfinite, log

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from equipoise.bases.choice import weighted_mean
from equipoise.instance import Instance
from equipoise.normalizer import normalise
from equipoise.training.watch import Watch

_CHUNK = 2000  # as many rows as a usual step, so that watching needs no more memory than pushing

_WORST = -inf, inf


@dataclass
class Gain:
    """The gain over a known base.

    Arguments:
        instance: Whose heights the surface holds.
        held_out: Rows of the up density that are not pushed.
        base_rows: Rows of the base, fixed for the whole push.
        weight: Sample weights of the held-out rows; all alike where it is None.
    """

    instance: Instance
    held_out: Tensor
    base_rows: Tensor
    weight: Tensor | None = None

    def score(self, surface: nn.Module) -> tuple[float, float]:
        """The score and its standard error; −∞ where the heights give no density."""
        gain = log_ratio(self.instance, surface, self.held_out)
        try:
            normaliser = normalise(log_ratio(self.instance, surface, self.base_rows))
        except ValueError:
            return _WORST
        mean, se = weighted_mean(gain, self.weight)
        return _sum(mean - normaliser.log_z, se, normaliser.se)


@dataclass
class Importance:
    """The paper's loss of importance sampling, with its sign turned; arguments as for :class:`Gain`."""

    instance: Instance
    held_out: Tensor
    base_rows: Tensor
    weight: Tensor | None = None

    def score(self, surface: nn.Module) -> tuple[float, float]:
        """The score and its standard error."""
        up, up_se = weighted_mean(log_ratio(self.instance, surface, self.held_out), self.weight)
        mass, mass_se = weighted_mean(torch.exp(log_ratio(self.instance, surface, self.base_rows).double()))
        return _sum(up - mass + 1.0, up_se, mass_se)


@dataclass
class Logistic:
    """How well the ratio tells held-out rows of the two sides apart.

    Arguments:
        instance: Whose heights the surface holds.
        up: Rows of the up density that are not pushed.
        down: Rows of the down density that are not pushed.
        prior: π, how much the up side counts.
        up_weight: Sample weights of the up rows.
        down_weight: Sample weights of the down rows.
    """

    instance: Instance
    up: Tensor
    down: Tensor
    prior: float = 0.5
    up_weight: Tensor | None = None
    down_weight: Tensor | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.prior < 1.0:
            message = f"prior must lie between 0 and 1, got {self.prior!r}"
            raise ValueError(message)

    def score(self, surface: nn.Module) -> tuple[float, float]:
        """The score and its standard error."""
        shift = log(self.prior / (1.0 - self.prior))
        up, up_se = weighted_mean(
            logsigmoid(log_ratio(self.instance, surface, self.up).double() + shift), self.up_weight
        )
        down, down_se = weighted_mean(
            logsigmoid(-log_ratio(self.instance, surface, self.down).double() - shift), self.down_weight
        )
        shares = self.prior, 1.0 - self.prior
        return _sum(shares[0] * up + shares[1] * down, shares[0] * up_se, shares[1] * down_se)


@dataclass
class CrossEntropy:
    """The log probability of the right class, for surfaces of one output per class.

    Arguments:
        rows: Labelled rows that are not pushed.
        labels: Their classes, 0 … C−1.
        weight: Sample weights.
    """

    rows: Tensor
    labels: Tensor
    weight: Tensor | None = None

    def score(self, surface: nn.Module) -> tuple[float, float]:
        """The score and its standard error."""
        right = torch.log_softmax(heights(surface, self.rows), dim=1).gather(1, self.labels.unsqueeze(1))
        return weighted_mean(right.squeeze(1), self.weight)


class HeldOut(Watch):
    """A watch over the gain, as a callback; arguments as for :class:`Gain` and :class:`Watch`."""

    def __init__(
        self,
        instance: Instance,
        held_out: Tensor,
        base_rows: Tensor,
        weight: Tensor | None = None,
        every: int = 50,
        patience: int | None = 8,
    ) -> None:
        super().__init__(Gain(instance, held_out, base_rows, weight), patience)
        self.every = every


def _sum(value: float, *errors: float) -> tuple[float, float]:
    """A score of independent parts with the standard error of their sum; −∞ where it is no number."""
    se = hypot(*errors)
    return (value, se) if isfinite(value) and isfinite(se) else _WORST


def heights(surface: nn.Module, rows: Tensor) -> Tensor:
    """Heights of rows in the surface's precision, no more of them at a time than in a step."""
    like = next(surface.parameters(), rows)
    return torch.cat([surface(part.to(like)) for part in rows.split(_CHUNK)])


def log_ratio(instance: Instance, surface: nn.Module, rows: Tensor) -> Tensor:
    """The log density ratio that the surface holds at rows."""
    return instance.log_ratio(heights(surface, rows))
