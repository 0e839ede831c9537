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


def column_shift(comparison: Comparison) -> Statistic:
    """The column whose mean score differs most."""
    return _largest("one column's mean", comparison, SHIFT, comparison.pooled.shape[1])


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
    z = comparison.pairs.z
    squares = z.square()
    best = squares[0].argmax()
    weight = torch.zeros_like(z[0]).index_fill(0, best, 1.0) * z[0]
    witness = Weighted(comparison.pair_features, comparison.pairs.mean, weight * comparison.pairs.slope)
    return Statistic("one pair's dependence", squares.amax(dim=1), witness)


def pair_sum(comparison: Comparison) -> Statistic:
    """How much all correlations differ together."""
    z = comparison.pairs.z
    weight = z[0] * (torch.arange(z.shape[1]) < z.shape[1] // 3)
    witness = Weighted(comparison.pair_features, comparison.pairs.mean, weight * comparison.pairs.slope)
    return Statistic("all correlations", z[:, : z.shape[1] // 3].square().sum(dim=1), witness)


def _largest(name: str, comparison: Comparison, which: slice, columns: int | None = None) -> Statistic:
    measured = comparison.columns
    z = measured.z.unflatten(1, (8, comparison.shaped))[:, which, :columns]
    squares = z.square().sum(dim=1)
    best = squares[0].argmax()
    weight = torch.zeros(8, comparison.shaped, dtype=z.dtype)
    weight[which, best] = z[0, :, best]
    witness = Weighted(comparison.column_features, measured.mean, weight.flatten() * measured.slope)
    return Statistic(name, squares.amax(dim=1), witness)
