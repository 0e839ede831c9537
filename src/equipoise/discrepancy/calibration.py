"""Statistics of any kind on one scale, and several as one: standard scores, the largest of them, and weights.

    t = (T − mean)/sd over labellings,   z = (6/g)·[(1 + g·t/2)^{1/3} − 1] + g/6,   g the skewness  (Wilson, Hilferty)

z is near to standard normal where T is near to a shifted gamma variable, as quadratic statistics are. However near, the
map treats every labelling alike, and what is built from it stays an exact permutation test. Ranks would do so too, but
the first of B + 1 is the first by however much: several statistics with a p-value of 1/(B + 1) each could not be told
from chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import torch
from torch import Tensor

_FLAT = 1e-10
_STRAIGHT = 1e-3


def standard_scores(values: Tensor) -> Tensor:
    """Statistics (B + 1, ...) as standard scores over the labellings, of the same shape; zero where all are alike.

    The largest value is left out of the moments, or a single outlier would widen the scale it is measured by.
    """
    kept = values.sort(dim=0).values[:-1]
    mean, sd = kept.mean(dim=0), kept.std(dim=0, correction=0)
    flat = sd <= _FLAT * values.abs().amax(dim=0)
    sd = torch.where(flat, 1.0, sd)
    skew = ((kept - mean) / sd).pow(3).mean(dim=0)
    skew = torch.where(skew.abs() < _STRAIGHT, _STRAIGHT, skew)
    inner = 1.0 + 0.5 * skew * (values - mean) / sd
    root = inner.sign() * inner.abs().pow(1.0 / 3.0)
    return torch.where(flat, 0.0, 6.0 / skew * (root - 1.0) + skew / 6.0)


def largest(values: Sequence[Tensor]) -> Tensor:
    """Several statistics (B + 1,) as one standard score, that of the largest among theirs."""
    if len(values) == 1:
        return standard_scores(values[0])
    return standard_scores(torch.stack([standard_scores(v) for v in values], dim=1).amax(dim=1))


def smallest(scores: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    """The smallest weighted p-value over standard scores (B + 1,), as −log:  max_f log w_f − log Φ(−z_f)."""
    heights = [log(weight) - torch.special.log_ndtr(-z) for z, weight in zip(scores, weights, strict=True)]
    return torch.stack(heights, dim=1).amax(dim=1)
