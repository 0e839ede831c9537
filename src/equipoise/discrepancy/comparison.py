"""A comparison: pooled rows, their relabellings, and what several statistics share, measured once.

column features   P_1 … P_4 of ranks (Legendre), He_1 … He_4 of scores (Hermite)
pair features     s_i·s_j for i < j,   (s_i² − 1)·s_j for i ≠ j
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from equipoise.discrepancy.pooled import Pooled
from equipoise.discrepancy.relabelling import Measured, Relabellings
from equipoise.surfaces.centres import median_distance

WORK = 1e11  # multiplications that one group of features may cost
MOST_PAIRED = 64  # columns whose pairs are looked at


@dataclass(frozen=True)
class Statistic:
    """A number that is large where two samples differ.

    Arguments:
        name: What it is.
        values: Under every labelling, (B + 1,), the true one first.
        witness: From scores (k, d) to heights (k,), positive where rows called X are denser.
        about: Positions in the tables of the columns that decided, where it is a few of them.
    """

    name: str
    values: Tensor
    witness: Callable[[Tensor], Tensor]
    about: tuple[int, ...] = ()

    def called(self, names: Sequence[str]) -> str:
        """The name with the columns that decided, of all columns' names."""
        return f"{self.name}: {' and '.join(names[j] for j in self.about)}" if self.about else self.name


@dataclass(frozen=True)
class Weighted:
    """A witness that is a weighted sum of features: (φ(s) − mean)·slope.

    Arguments:
        features: From scores (k, d) to features (k, D).
        mean: Of the features, (D,).
        slope: Their weights, (D,).
    """

    features: Callable[[Tensor], Tensor]
    mean: Tensor
    slope: Tensor

    def __call__(self, scores: Tensor) -> Tensor:
        """Heights of scores (k, d)."""
        return (self.features(scores).double() - self.mean) @ self.slope


class Comparison:
    """Two samples, ready to be compared.

    Arguments:
        X: Rows (n, d).
        Y: Rows (m, d).
        permutations: How many random labellings.
        seed: Seeds them.
    """

    def __init__(self, X: Tensor, Y: Tensor, permutations: int, seed: int) -> None:
        self.pooled = Pooled.of(X, Y, seed)
        self.labels = Relabellings.draw(self.pooled.truth, permutations, seed)
        self.seed = seed

    def measure(self, features: Callable[[Tensor], Tensor], *, products: bool = False) -> Measured:
        """Measure features on all rows, or on as many as the work allows."""
        scores = self.pooled.scores
        width = features(scores[:1]).shape[1]
        rows = int(WORK / (width * (len(self.labels.called) + (width if products else 0))))
        return self.labels.measure(features, scores[: max(rows, 1000)], products=products)

    def placed(self, *, white: bool) -> Tensor:
        """Where kernels see the pooled rows."""
        return self._whitened if white else self.pooled.scores

    def median(self, *, white: bool) -> float:
        """The median distance between two rows there."""
        return self._medians[0 if white else 1]

    @cached_property
    def columns(self) -> Measured:
        """Column features of every column, and of the two made of all behind them."""
        return self.measure(self.column_features)

    @cached_property
    def pairs(self) -> Measured:
        """Pair features."""
        return self.measure(self.pair_features)

    @cached_property
    def _whitened(self) -> Tensor:
        return self.pooled.whitened(self.pooled.scores)

    @cached_property
    def _medians(self) -> tuple[float, float]:
        white, plain = (
            median_distance(self.placed(white=w), torch.Generator().manual_seed(self.seed)) for w in (True, False)
        )
        return white, plain

    @property
    def shaped(self) -> int:
        """How many columns column features are made of."""
        features = self.pooled.shape[1]
        return features + 2 * (features > 1)

    @cached_property
    def paired(self) -> Tensor:
        """Columns whose pairs are looked at: all, or those which depend on others most."""
        scores = self.pooled.scores[:5_000]
        if scores.shape[1] <= MOST_PAIRED:
            return torch.arange(scores.shape[1])
        strength = torch.corrcoef(scores.T).nan_to_num().square().sum(dim=0)
        return strength.argsort(descending=True)[:MOST_PAIRED].sort().values

    def column_features(self, scores: Tensor) -> Tensor:
        """(k, 8·columns): four of ranks and four of scores, each for all columns."""
        s = self.pooled.with_made(scores)
        u, squared = 2.0 * torch.special.ndtr(s) - 1.0, s.square()
        v = u.square()
        legendre = [u, 1.5 * v - 0.5, u * (2.5 * v - 1.5), (4.375 * v - 3.75) * v + 0.375]
        hermite = [s, squared - 1.0, s * (squared - 3.0), (squared - 6.0) * squared + 3.0]
        return torch.cat([*legendre, *hermite], dim=1)

    def pair_features(self, scores: Tensor) -> Tensor:
        """(k, p(p − 1)/2 + p(p − 1)) for p paired columns."""
        s = scores[:, self.paired]
        i, j = torch.triu_indices(s.shape[1], s.shape[1], 1)
        bent = s.square() - 1.0
        return torch.cat([s[:, i] * s[:, j], bent[:, i] * s[:, j], bent[:, j] * s[:, i]], dim=1)
