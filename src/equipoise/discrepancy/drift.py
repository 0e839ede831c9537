"""Which columns differ: each alone, and given the others, with p-values that bear looking at all of them.

    p_(k) = max over k′ ≤ k of #{ b : max_{j ≥ k′} T_jb ≥ T_(k′)0 } / (B + 1)      (step-down, Westfall and Young)

columns in the order of their statistics. The same labellings serve all columns, so that what depends on each other is
not counted twice, and thirty columns need no thirty times as many of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from equipoise.discrepancy.calibration import standard_scores
from equipoise.discrepancy.column_statistics import RANKS, SCALE, SCORES, SHIFT, pair_largest
from equipoise.discrepancy.comparison import Comparison
from equipoise.discrepancy.given_others import given_others
from equipoise.discrepancy.relabelling import p_value


@dataclass(frozen=True)
class ColumnDrift:
    """How one column differs.

    Arguments:
        name: The column.
        position: Where it stands in the tables.
        medians: Of X and of Y, in the table's units.
        spreads: The distance between the quartiles, of X and of Y.
        distance: The largest gap between the two distribution functions (Kolmogorov and Smirnov).
        alone: p-value of the column by itself, adjusted for looking at all columns.
        given_others: p-value given the other columns, adjusted likewise; None where it was not asked.
    """

    name: str
    position: int
    medians: tuple[float, float]
    spreads: tuple[float, float]
    distance: float
    alone: float
    given_others: float | None


@dataclass(frozen=True)
class PairDrift:
    """The pair of columns whose dependence differs most.

    Arguments:
        names: Of the two columns.
        positions: Where they stand in the tables.
        pvalue: Of the largest difference over all pairs.
    """

    names: tuple[str, str]
    positions: tuple[int, int]
    pvalue: float


def pair_drift(comparison: Comparison, names: list[str]) -> PairDrift | None:
    """The pair whose dependence differs most; None where fewer than two columns vary."""
    if comparison.pooled.shape[1] < 2:
        return None
    largest = pair_largest(comparison)
    first, second = largest.about
    return PairDrift((names[first], names[second]), (first, second), p_value(largest.values))


def drift(comparison: Comparison, X: Tensor, Y: Tensor, names: list[str]) -> list[ColumnDrift]:
    """Every column of the tables X (n, d) and Y (m, d), those that differ most first."""
    pooled, draws = comparison.pooled, len(comparison.labels.called) - 1
    alone = _all_ones(X.shape[1]).index_copy(0, pooled.varying, step_down(_alone(comparison)))
    others = given_others(pooled.scores, pooled.truth, draws, comparison.seed)
    given = None if others is None else _all_ones(X.shape[1]).index_copy(0, pooled.varying, step_down(others))
    found = []
    for j, name in enumerate(names):
        x, y = X[:, j].sort().values, Y[:, j].sort().values
        (low_x, middle_x, high_x), (low_y, middle_y, high_y) = quartiles(x), quartiles(y)
        others_p = None if given is None else float(given[j])
        spreads = high_x - low_x, high_y - low_y
        found.append(ColumnDrift(name, j, (middle_x, middle_y), spreads, gap(x, y), float(alone[j]), others_p))
    return sorted(found, key=lambda column: (column.alone, -column.distance))


def step_down(values: Tensor) -> Tensor:
    """Adjusted p-values (d,) of statistics (B + 1, d) on one scale."""
    order = values[0].argsort(descending=True)
    behind = values[:, order].flip(1).cummax(dim=1).values.flip(1)  # the largest of what stands at k or behind it
    p = [p_value(torch.cat([values[:1, j], b[1:]])) for j, b in zip(order, behind.T, strict=True)]
    adjusted = torch.empty(len(order), dtype=torch.float64)
    adjusted[order] = torch.tensor(p, dtype=torch.float64).cummax(dim=0).values
    return adjusted


def gap(x: Tensor, y: Tensor) -> float:
    """The largest |F_x − F_y| over all values, of columns in order."""
    at = torch.cat([x, y])
    shares = [torch.searchsorted(v, at, side="right").double() / len(v) for v in (x, y)]
    return float((shares[0] - shares[1]).abs().max())


def quartiles(ordered: Tensor) -> tuple[float, float, float]:
    """Of a column in order, between neighbours where they fall between rows."""
    at = torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64) * (len(ordered) - 1)
    below = at.floor().long()
    values = torch.lerp(ordered[below], ordered[at.ceil().long()], at - below)
    low, middle, high = values.tolist()
    return low, middle, high


def _alone(comparison: Comparison) -> Tensor:
    """How much every column differs by itself: standard scores (B + 1, d)."""
    features = comparison.pooled.shape[1]
    squares = comparison.columns.z.unflatten(1, (8, comparison.shaped))[:, :, :features].square()
    asked = torch.stack([squares[:, which].sum(dim=1) for which in (SHIFT, SCALE, RANKS, SCORES)], dim=2)
    return standard_scores(standard_scores(asked).amax(dim=2))


def _all_ones(count: int) -> Tensor:
    return torch.ones(count, dtype=torch.float64)
