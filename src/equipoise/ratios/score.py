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

BLIND = -log(2.0)  # of a log ratio that knows nothing
FAR = -0.06  # above it the sides hardly overlap: the truth's score at about 8 nats


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

    def tells_apart(self) -> bool:
        """Whether the sides are told apart better than by knowing nothing, by more than a standard error."""
        gain, se = self.gain(LogRatios(0.0 * self.num, 0.0 * self.den, self.num_weight, self.den_weight))
        return gain > se

    def _halves(self, num: Tensor, den: Tensor) -> tuple[float, float]:
        (up, up_se), (down, down_se) = weighted_mean(num, self.num_weight), weighted_mean(den, self.den_weight)
        return 0.5 * (up + down), 0.5 * hypot(up_se, down_se)


def pool_weights(tables: tuple[Tensor, Tensor], shares: tuple[Tensor, Tensor], steps: int = 400) -> Tensor:
    """Weights w ≥ 0, Σ w = 1, of candidates whose weighted sum of log ratios scores best.

    The first candidate that is as good within half a standard error is taken alone; half, since the score hardly sees a
    log ratio's tails. Where the sides hardly overlap, the score is too blind to prefer one, and the pool stays.

    Arguments:
        tables: Log ratios of the candidates, from simple to complex, at rows of either side, (candidates, n) and
            (candidates, m).
        shares: The rows' shares of their sides.
        steps: Of exponentiated gradients, which keep weights on the simplex.
    """
    num, den = (table.clamp(-_FAR, _FAR) for table in tables)
    weights = _climbed(num, den, shares, steps)
    kept = torch.where(weights >= min(_LEAST_KEPT, 0.5 * float(weights.max())), weights, 0.0)
    kept = kept / kept.sum()
    pool = LogRatios(kept @ num, kept @ den, *shares)
    if pool.score()[0] > FAR:
        return kept
    for k in range(len(kept)):
        gain, se = pool.gain(LogRatios(num[k], den[k], *shares))
        if gain <= _EQUAL * se:
            alone: Tensor = torch.nn.functional.one_hot(torch.tensor(k), len(kept)).double()
            return alone
    return kept


def _climbed(num: Tensor, den: Tensor, shares: tuple[Tensor, Tensor], steps: int) -> Tensor:
    weights = torch.full((len(num),), 1.0 / len(num), dtype=torch.float64)
    value, pace = _value(weights, num, den, shares), 4.0
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
        if gained < _TOLERANCE:
            break
    return weights


_FAR = 60.0
_EQUAL = 0.5
_LEAST_PACE, _TOLERANCE, _LEAST_KEPT = 1e-6, 1e-8, 0.1


def _value(weights: Tensor, num: Tensor, den: Tensor, shares: tuple[Tensor, Tensor]) -> float:
    up, down = shares[0] @ logsigmoid(weights @ num), shares[1] @ logsigmoid(-(weights @ den))
    return 0.5 * float(up + down)
