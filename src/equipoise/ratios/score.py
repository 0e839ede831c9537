"""How well a log ratio tells held-out rows apart: a bounded proper score, so that no row decides alone.

    score(L) = ½·mean log σ(L(x_num)) + ½·mean log σ(−L(x_den))  ≤ 0,      −log 2 for L = 0

It is largest, in the mean, at the true log ratio, and near 0 where the sides hardly overlap: there it tells that they
do not, and hardly how far apart they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, log

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from equipoise.bases.stacking import weighted_mean
from equipoise.ratios.sides import Side, Sides

BLIND = -log(2.0)


@dataclass(frozen=True)
class LogRatios:
    """A log ratio at rows of both sides: ``num`` (n,) and ``den`` (m,), with the rows' weights."""

    num: Tensor
    den: Tensor
    num_weight: Tensor | None = None
    den_weight: Tensor | None = None

    @classmethod
    def at(cls, num: Tensor, den: Tensor, sides: Sides) -> LogRatios:
        """With the weights of rows."""
        return cls(num, den, sides.num.weight, sides.den.weight)

    @property
    def shares(self) -> tuple[Tensor, Tensor]:
        """The rows' shares of their sides."""
        return Side(self.num, self.num_weight).share, Side(self.den, self.den_weight).share

    @property
    def losses(self) -> tuple[Tensor, Tensor]:
        """Every row's part of the score."""
        return logsigmoid(self.num), logsigmoid(-self.den)

    def score(self) -> tuple[float, float]:
        """The score and its standard error."""
        return self._halves(*self.losses)

    def gain(self, other: LogRatios) -> tuple[float, float]:
        """By how much the score beats another's, row by row, and the standard error of that."""
        (num, den), (num_other, den_other) = self.losses, other.losses
        return self._halves(num - num_other, den - den_other)

    def _halves(self, num: Tensor, den: Tensor) -> tuple[float, float]:
        (up, up_se), (down, down_se) = weighted_mean(num, self.num_weight), weighted_mean(den, self.den_weight)
        return 0.5 * (up + down), 0.5 * hypot(up_se, down_se)


def pool_weights(tables: tuple[Tensor, Tensor], shares: tuple[Tensor, Tensor], steps: int = 400) -> Tensor:
    """Weights w ≥ 0, Σ w ≤ 1, of candidates whose weighted sum of log ratios scores best.

    Arguments:
        tables: Log ratios of the candidates at rows of either side, (candidates, n) and (candidates, m).
        shares: The rows' shares of their sides.
        steps: Of exponentiated gradients, which keep weights on the simplex; the rest of the weight goes to L = 0.
    """
    num, den = (torch.cat([table, torch.zeros_like(table[:1])]).clamp(-_FAR, _FAR) for table in tables)
    weights = torch.full((len(num),), 1.0 / len(num), dtype=torch.float64)
    pace = 4.0
    best, value = weights, _value(weights, num, den, shares)
    for _ in range(steps):
        slope = 0.5 * (num @ (shares[0] * torch.sigmoid(-(weights @ num))))
        slope = slope - 0.5 * (den @ (shares[1] * torch.sigmoid(weights @ den)))
        moved = torch.softmax(torch.log(weights.clamp(min=1e-300)) + pace * (slope - slope.max()), dim=0)
        reached = _value(moved, num, den, shares)
        if reached < value:
            pace *= 0.5
            if pace < _LEAST_PACE:
                break
            continue
        gained, weights, value, pace = reached - value, moved, reached, 1.2 * pace
        best = weights
        if gained < _TOLERANCE:
            break
    kept = torch.where(best >= _LEAST_KEPT, best, 0.0)
    return (kept / kept.sum())[:-1]


_FAR = 60.0
_LEAST_PACE, _TOLERANCE, _LEAST_KEPT = 1e-6, 1e-10, 0.04


def _value(weights: Tensor, num: Tensor, den: Tensor, shares: tuple[Tensor, Tensor]) -> float:
    up, down = shares[0] @ logsigmoid(weights @ num), shares[1] @ logsigmoid(-(weights @ den))
    return 0.5 * float(up + down)
