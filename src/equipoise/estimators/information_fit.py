"""Mutual information as a ratio: rows of two tables side by side, against the same rows with their pairing undone.

    pmi(x, y) = log p(x, y) − log p(x)·p(y)        I(X; Y) = E pmi

    I ≈ mean L(x_i, y_i) + 1 − mean e^{L(x_i, y_j)},   j ≠ i,   L from the fold that has seen neither row (line 5048)

The second mean takes off what is wrong with L's scale: an error of L enters the sum by its square alone. Each row's
part in it, for the standard error, is L(x_i, y_i) less its share in both marginal means of e^L, which are 1 where L is
right.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import torch
from torch import Tensor

from equipoise.ratios import Side, Sides
from equipoise.ratios.score import LogRatios
from equipoise.ratios.sides import Fold, bits

_TAUGHT, _JUDGED = 100_000, 200_000  # pairs undone, for pushing and for the estimate
_MOST_SHIFTS = 20
_FAR = 300.0
_FEWEST = 3


@dataclass(frozen=True)
class Pairs:
    """Rows of two tables in folds.

    Arguments:
        folds: Joint rows against rows whose pairing is undone, within the rows that are seen and within those held out.
        left, right: Which rows of the tables each undone pair of the held-out ones is made of.
    """

    folds: list[Fold]
    left: Tensor
    right: Tensor


def in_folds(x: Tensor, y: Tensor, weight: Tensor | None, count: int, seed: int) -> Pairs:
    """Both tables' rows in ``count`` parts at random; the pairing is undone within parts, never across."""
    generator = torch.Generator().manual_seed(seed)
    parts = torch.randperm(len(x), generator=generator).tensor_split(count)
    by = bits(parts)
    joint = Side(torch.cat([x, y], dim=1), weight, by)
    found, lefts, rights, at = [], [], [], 0
    for k, held_out in enumerate(parts):
        seen = torch.cat([*parts[:k], *parts[k + 1 :]])
        left, right = _undone(held_out, _JUDGED * len(held_out) // len(x))
        undone = _side(joint, x.shape[1], left, right)
        taught = _side(joint, x.shape[1], *_undone(seen, max(_TAUGHT, 2 * len(seen))))
        den_at = torch.arange(at, at + len(left))
        found.append(Fold(Sides(joint[seen], taught), Sides(joint[held_out], undone), held_out, den_at))
        lefts.append(left)
        rights.append(right)
        at += len(left)
    return Pairs(found, torch.cat(lefts), torch.cat(rights))


def _undone(rows: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Positions (left, right) of pairs that are none: the rows, in random order already, against themselves shifted."""
    shifts = range(1, max(2, min(len(rows), _MOST_SHIFTS + 1, most // len(rows) + 1)))
    return rows.repeat(len(shifts)), torch.cat([rows.roll(-shift) for shift in shifts])


def _side(joint: Side, width: int, left: Tensor, right: Tensor) -> Side:
    """Rows whose first columns come from one joint row, and the others from another."""
    one, other = joint[left], joint[right]
    rows = torch.cat([one.rows[:, :width], other.rows[:, width:]], dim=1)
    weight = None if one.weight is None or other.weight is None else one.weight * other.weight
    return Side(rows, weight, _bits_of(one) | _bits_of(other))


def _bits_of(side: Side) -> Tensor:
    return torch.zeros(len(side), dtype=torch.int64) if side.held_out_by is None else side.held_out_by


def influence(at: LogRatios, pairs: Pairs, *, corrected: bool) -> Tensor:
    """Every row's part in the estimate, (n,), whose mean is the estimate.

    Arguments:
        at: Log ratios of all rows, and of all undone pairs.
        pairs: Which rows these are made of.
        corrected: Whether the mean of e^L is taken off; where few pairs decide it, it says nothing.
    """
    part = at.num.double()
    if not corrected:
        return part
    n = len(part)
    excess = torch.exp(at.den.double().clamp(max=_FAR)) - 1.0
    share = torch.ones_like(excess) if at.den_weight is None else at.den_weight / at.den_weight.mean()
    own = torch.ones_like(part) if at.num_weight is None else at.num_weight / at.num_weight.mean()
    nothing = torch.zeros(n, dtype=torch.float64)
    ends = nothing.index_add(0, pairs.left, share * excess).index_add(0, pairs.right, share * excess)
    times = nothing.index_add(0, pairs.left, torch.ones_like(excess))
    return part - ends / (times * own) + (share * excess).mean()


def estimate(part: Tensor, weight: Tensor | None) -> tuple[float, float]:
    """The weighted mean of the rows' parts and its standard error; no nearer than one part in the rows' number."""
    share = Side(part, weight).share
    mean = share @ part
    n = 1.0 / float((share**2).sum())
    spread = sqrt(max(float((share**2 * (part - mean) ** 2).sum()) * n / max(n - 1.0, 1.0), 0.0))
    return float(mean), sqrt(spread**2 + 1.0 / n**2)


def check_rows(n: int) -> None:
    """Refuse tables too small to hold rows out."""
    if n < 2 * _FEWEST:
        message = f"information needs at least {2 * _FEWEST} rows, got {n}"
        raise ValueError(message)
