"""Classifiers by least squares, fitted anew under every labelling at the price of a product.

    T = gapᵀ·(C + λ)⁻¹·gap,   witness = (φ(x) − mean)·(C + λ)⁻¹·gap      (discriminant analysis with a ridge)

T is the mean score of X's rows less that of Y's under the classifier that was fitted to them. That it has seen them is
no matter: under every other labelling it has seen them as well. With φ the scores it is Hotelling's test, with squares
and products of scores the quadratic discriminant's.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from equipoise.discrepancy.comparison import Comparison, Statistic, Weighted

RIDGE = 1.0  # in units of a feature's variance
MOST_FEATURES, MOST_ROWS = 1_000, 2_000


def linear(comparison: Comparison) -> Statistic:
    """The linear discriminant, on whitened scores."""
    whitened = comparison.pooled.whitened
    measured = comparison.measure(whitened)
    witness = Weighted(whitened, measured.mean, measured.gaps[0])
    return Statistic("linear classifier", measured.gaps.square().sum(dim=1), witness)


def quadratic(comparison: Comparison) -> Statistic:
    """The quadratic discriminant, on scores, their squares and products."""
    features = comparison.pooled.shape[1]
    if features * (features + 3) // 2 > MOST_FEATURES:
        return _dual(comparison)
    measured = comparison.measure(monomials, products=True)
    correlation = measured.slope[:, None] * measured.spread * measured.slope
    root = torch.linalg.cholesky(correlation + RIDGE * torch.eye(len(correlation), dtype=correlation.dtype))
    white = torch.linalg.solve_triangular(root, (measured.gaps * measured.slope).T, upper=False)
    weight = torch.linalg.solve_triangular(root.T, white[:, :1], upper=True).squeeze(1)
    witness = Weighted(monomials, measured.mean, weight * measured.slope)
    return Statistic("quadratic classifier", white.square().sum(dim=0), witness)


def monomials(scores: Tensor) -> Tensor:
    """Scores, squares and products, (k, d + d(d + 1)/2)."""
    i, j = torch.triu_indices(scores.shape[1], scores.shape[1])
    return torch.cat([scores, scores[:, i] * scores[:, j]], dim=1)


def _dual(comparison: Comparison) -> Statistic:
    """The same with a row for a feature, where there are more features than that: products of rows are enough."""
    rows = comparison.pooled.scores[:MOST_ROWS].double()
    forces = comparison.labels.forces(len(rows))
    gram = _products(rows, rows)
    mean = gram.mean(dim=0)
    centred = gram - mean - mean[:, None] + mean.mean()
    solved = torch.linalg.solve(centred / len(rows) + RIDGE * torch.eye(len(rows), dtype=rows.dtype), forces.T)
    witness = Weighted(partial(_products, rows), mean, solved[:, 0])
    return Statistic("quadratic classifier", ((forces @ centred) * solved.T).sum(dim=1), witness)


def _products(rows: Tensor, scores: Tensor) -> Tensor:
    """⟨φ(scores), φ(rows)⟩ for scores, squares over √2, and products."""
    plain = scores.double() @ rows.T
    return plain + 0.5 * plain.square()
