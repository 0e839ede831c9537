"""Two samples as one: normal scores of pooled ranks, and whitened scores, which know nothing of who is called X.

    s_i = Φ⁻¹(rank_i / N),   w = C^{−1/2}·s,   C the shrunken covariance of s

Columns' units, monotone scales and outliers play no part in what follows. Ties share a rank.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_PRECISE = 5_000  # rows up to which everything is float64
_EDGE = 0.5


@dataclass(frozen=True)
class Ranks:
    """Columns by their ordered values.

    Arguments:
        ordered: Every column in order, (d, N).
    """

    ordered: Tensor

    @classmethod
    def of(cls, rows: Tensor) -> Ranks:
        """Put the columns of rows (N, d) in order."""
        return cls(rows.T.sort(dim=1).values.contiguous())

    def scores(self, rows: Tensor) -> Tensor:
        """Normal scores of rows (k, d): of mid-ranks, and within half a rank of the ends."""
        columns, count = rows.T.contiguous(), self.ordered.shape[1]
        below, up_to = (torch.searchsorted(self.ordered, columns, side=side) for side in ("left", "right"))
        share = (below + up_to).double() / (2.0 * count)
        scores: Tensor = torch.special.ndtri(share.clamp(_EDGE / count, 1.0 - _EDGE / count))
        return scores.T.contiguous()


@dataclass(frozen=True)
class Pooled:
    """Pooled rows in random order.

    Arguments:
        varying: Positions of the columns that vary; the others are left out.
        ranks: Of these columns.
        scores: Of the pooled rows, (N, d).
        truth: Whether each is a row of X, (N,).
        mean: Of the scores, (d,).
        whitening: C^{−1/2}, (d, d).
        together: Ranks of two columns made of all, the mean of s and ‖w‖²: what every single column hides.
    """

    varying: Tensor
    ranks: Ranks
    scores: Tensor
    truth: Tensor
    mean: Tensor
    whitening: Tensor
    together: Ranks

    @classmethod
    def of(cls, X: Tensor, Y: Tensor, seed: int) -> Pooled:
        """Pool rows X (n, d) and Y (m, d), at least one column of which varies."""
        rows = torch.cat([X, Y])
        varying = (rows != rows[0]).any(dim=0).nonzero().squeeze(1)
        order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed))
        rows = rows[:, varying][order]
        ranks = Ranks.of(rows)
        scores = ranks.scores(rows)
        mean, whitening = whiten(scores)
        together = Ranks.of(_together(scores, mean, whitening))
        kind = torch.float64 if len(rows) <= _PRECISE else torch.float32
        return cls(varying, ranks, scores.to(kind), order < len(X), mean, whitening, together)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and varying columns."""
        return self.scores.shape[0], self.scores.shape[1]

    def map(self, rows: Tensor) -> Tensor:
        """Scores of any rows with the tables' columns, (k, d)."""
        return self.ranks.scores(rows[:, self.varying]).to(self.scores)

    def whitened(self, scores: Tensor) -> Tensor:
        """C^{−1/2}·(s − mean)."""
        return (scores - self.mean.to(scores)) @ self.whitening.to(scores)

    def with_made(self, scores: Tensor) -> Tensor:
        """Scores (k, d) and behind them those of the two columns made of all, (k, d + 2); one column stays one."""
        if scores.shape[1] < 2:
            return scores
        made = self.together.scores(_together(scores.double(), self.mean, self.whitening))
        return torch.cat([scores, made.to(scores)], dim=1)


def whiten(rows: Tensor) -> tuple[Tensor, Tensor]:
    """The mean, and C^{−1/2} of Ledoit and Wolf's covariance: shrunken to a multiple of 1 by as much as noise asks."""
    count, features = rows.shape
    mean = rows.mean(dim=0)
    centred = rows - mean
    covariance = centred.T @ centred / count
    level = covariance.diagonal().mean()
    apart = (covariance - level * torch.eye(features).to(rows)).square().sum()
    noise = (centred.square().sum(dim=1).square().mean() - covariance.square().sum()) / count
    share = (noise / apart.clamp(min=torch.finfo(rows.dtype).tiny)).clamp(0.0, 1.0)
    values, vectors = torch.linalg.eigh((1.0 - share) * covariance + share * level * torch.eye(features).to(rows))
    return mean, (vectors * values.clamp(min=1e-9 * level).rsqrt()) @ vectors.T


def _together(scores: Tensor, mean: Tensor, whitening: Tensor) -> Tensor:
    return torch.stack([scores.mean(dim=1), ((scores - mean) @ whitening).square().sum(dim=1)], dim=1)
