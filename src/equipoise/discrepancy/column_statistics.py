"""Columns by themselves: smooth tests of ranks and scores, the largest over the columns.

    T = max_j Σ_k z_jk²,   z_jk the gap of column j's k-th feature in units of its chance

One feature sees shifts, two see scales as well, four see skewness, peaks and tails (Neyman's smooth test). What one
column in thirty shows, the largest keeps and a sum would drown.
"""

from __future__ import annotations

import torch

from equipoise.discrepancy.comparison import Comparison, Statistic, Weighted

# Which of the eight column features: four of ranks, four of scores.
SHIFT, SCALE, RANKS, SCORES = slice(4, 5), slice(0, 2), slice(0, 4), slice(4, 8)
_MADE = "the mean of all", "the distance from the middle"


def column_shift(comparison: Comparison) -> Statistic:
    """The column whose mean score differs most, the mean of all columns among them."""
    return _largest("one column's mean", comparison, SHIFT, comparison.pooled.shape[1] + 1)


def column_scale(comparison: Comparison) -> Statistic:
    """The column whose ranks differ most in mean or scale."""
    return _largest("one column's mean or scale", comparison, SCALE)


def column_ranks(comparison: Comparison) -> Statistic:
    """The column whose ranks differ most in any of four ways."""
    return _largest("one column's shape, by ranks", comparison, RANKS)


def column_scores(comparison: Comparison) -> Statistic:
    """The column whose scores differ most in any of four ways; sees tails better than ranks do."""
    return _largest("one column's shape, by scores", comparison, SCORES)


def pair_largest(comparison: Comparison) -> Statistic:
    """The pair of columns whose dependence differs most."""
    z, columns = comparison.pairs.z, comparison.paired
    squares = z.square()
    best = int(squares[0].argmax())
    weight = torch.zeros_like(z[0])
    weight[best] = z[0, best]
    witness = Weighted(comparison.pair_features, comparison.pairs.mean, weight * comparison.pairs.slope)
    pairs = torch.triu_indices(len(columns), len(columns), 1).T
    about = comparison.pooled.varying[columns[pairs[best % len(pairs)]]]  # a pair's features stand len(pairs) apart
    return Statistic("one pair's dependence", squares.amax(dim=1), witness, tuple(about.tolist()))


def pair_sum(comparison: Comparison) -> Statistic:
    """How much all correlations differ together."""
    z = comparison.pairs.z
    weight = z[0] * (torch.arange(z.shape[1]) < z.shape[1] // 3)
    witness = Weighted(comparison.pair_features, comparison.pairs.mean, weight * comparison.pairs.slope)
    return Statistic("all correlations", z[:, : z.shape[1] // 3].square().sum(dim=1), witness)


def _largest(name: str, comparison: Comparison, which: slice, columns: int | None = None) -> Statistic:
    measured, varying = comparison.columns, comparison.pooled.varying
    z = measured.z.unflatten(1, (8, comparison.shaped))[:, which, :columns]
    squares = z.square().sum(dim=1)
    best = int(squares[0].argmax())
    weight = torch.zeros(8, comparison.shaped, dtype=z.dtype)
    weight[which, best] = z[0, :, best]
    witness = Weighted(comparison.column_features, measured.mean, weight.flatten() * measured.slope)
    made = best - len(varying)
    about = (int(varying[best]),) if made < 0 else ()
    return Statistic(name if made < 0 else f"{name}: {_MADE[made]}", squares.amax(dim=1), witness, about)
