"""A column given the others: do the samples differ in it beyond what the other columns explain?

    z_ψ = Σ_i r_i·ψ_i / √(Σ_i r_i²·ψ_i²),   r the label and ψ ∈ {u, u², u·s_k, u·(s_k² − 1)} of column j, all after
                                             regression on the other columns; u what they leave over of s_j

Where X and Y differ in column j only because they differ in columns on which it depends, r and ψ are uncorrelated if
either regression is right (Shah and Peters 2020). Permutations of r give the chance of every z together (Freedman and
Lane 1983); z is studentised anew under each, so that labels of unequal variance do no harm.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from equipoise.discrepancy.calibration import standard_scores

MOST_ROWS = 10_000
WORK = 1e11  # multiplications
_ROWS_PER_REGRESSOR = 5
_RIDGE = 1e-6


def given_others(scores: Tensor, truth: Tensor, draws: int, seed: int) -> Tensor | None:
    """How much every column differs given the others: standard scores (draws + 1, d), the observed ones first.

    None where there are no other columns, or too few rows for regressions on them, or too many columns.

    Arguments:
        scores: Of the pooled rows, (N, d).
        truth: Which of them are rows of X, (N,).
        draws: How many permutations.
        seed: Seeds them.
    """
    features = scores.shape[1]
    affordable = int(WORK / (features * (4 * features**2 + 4 * features * (draws + 1))))
    most = min(MOST_ROWS, affordable)
    s, label = scores[:most].double(), truth[:most].double()
    count = len(s)
    if features < 2 or _ROWS_PER_REGRESSOR * features > count:
        return None
    order = np.tile(np.arange(count, dtype=np.int32), (draws + 1, 1))
    np.random.default_rng(seed).permuted(order[1:], axis=1, out=order[1:])
    bent = s.square() if 4 * _ROWS_PER_REGRESSOR * features <= count else None
    return torch.stack([_one(s, bent, label, torch.from_numpy(order), j) for j in range(features)], dim=1)


def _one(s: Tensor, bent: Tensor | None, label: Tensor, order: Tensor, j: int) -> Tensor:
    rest = [k for k in range(s.shape[1]) if k != j]
    regression = Regression(s[:, rest] if bent is None else torch.cat([s[:, rest], bent[:, rest]], dim=1))
    u = regression.left_over(s[:, j : j + 1])
    bends = u * (s[:, rest].square() - 1.0)
    made = regression.left_over(torch.cat([u, u.square(), u * s[:, rest], bends], dim=1))
    r = regression.left_over(label[:, None]).squeeze(1)
    permuted, squares = r[order], made.square()  # (draws + 1, N), (N, 2d)
    chance = permuted.square() @ squares
    chance[0] = (r.square() / (1.0 - regression.leverage)) @ squares  # the regression has fitted r, and shrunk it
    z = (permuted @ made).square() / torch.where(chance > 0.0, chance, 1.0)
    asked = torch.stack([z[:, 0], z[:, 1], z[:, 2:].amax(dim=1)], dim=1)
    return standard_scores(standard_scores(asked).amax(dim=1))


class Regression:
    """Least squares on regressors (N, p) and a constant, with just enough of a ridge to be solvable."""

    def __init__(self, regressors: Tensor) -> None:
        ones = torch.ones(len(regressors), 1, dtype=regressors.dtype)
        design = torch.cat([ones, regressors - regressors.mean(dim=0)], dim=1)
        gram = design.T @ design
        ridge = _RIDGE * gram.diagonal().mean() * torch.eye(len(gram), dtype=gram.dtype)
        self.white = torch.linalg.solve_triangular(torch.linalg.cholesky(gram + ridge), design.T, upper=False)

    @property
    def leverage(self) -> Tensor:
        """How much each row's own value counts in its fit, (N,); below 1."""
        leverage: Tensor = self.white.square().sum(dim=0).clamp(max=0.999)
        return leverage

    def left_over(self, values: Tensor) -> Tensor:
        """What the regressors leave over of values (N, k)."""
        rest: Tensor = values - self.white.T @ (self.white @ values)
        return rest
