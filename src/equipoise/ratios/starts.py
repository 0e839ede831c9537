"""Cheap log ratios to start from: what they leave over is all that a surface has to learn.

    linear       c + b·x                       logistic regression
    quadratic    c + b·x + x·A·x               logistic regression on products of columns
    gaussians    log N(x; μ₁, Σ₁) − log N(x; μ₀, Σ₀), which is quadratic too
    densities    log p̂_num(x) − log p̂_den(x)   of fitted bases

The first three are fitted to columns, but for heavy tails, and to their normal scores, which no stretching changes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from equipoise.bases import BASES, Gaussian
from equipoise.bases.base import Base
from equipoise.bases.columns import Columns
from equipoise.ratios.sides import Sides
from equipoise.surfaces import OnScores, Quadratic

_MOST_PRODUCTS = 900  # of columns, for logistic regression on them: 40 columns
_FEW_PRODUCTS = 300  # up to here, a light penalty is tried beside the usual one
_FARTHEST = 12.0  # deviations; rows farther out make a polynomial of columns what no log ratio is
_CHUNK = 16_384


class LogRatio(Protocol):
    """Anything that knows a log ratio, num over den."""

    def log_ratio(self, x: Tensor) -> Tensor:
        """Log ratios of rows (n, d), float64."""


@dataclass(frozen=True)
class Discriminant:
    """A log ratio that is a surface.

    Arguments:
        surface: From rows (n, d) to log ratios, in float64.
    """

    surface: nn.Module

    def log_ratio(self, x: Tensor) -> Tensor:
        """Log ratios of rows (n, d)."""
        with torch.no_grad():
            return torch.cat([self.surface(part) for part in x.split(_CHUNK)])


@dataclass(frozen=True)
class Difference:
    """The difference of two fitted log densities.

    Arguments:
        num: The numerator's.
        den: The denominator's.
    """

    num: Base
    den: Base

    def log_ratio(self, x: Tensor) -> Tensor:
        """Log ratios of rows (n, d)."""
        return torch.cat([self.num.log_prob(part) - self.den.log_prob(part) for part in x.split(_CHUNK)])


@dataclass(frozen=True)
class Start:
    """A start and its name."""

    name: str
    model: LogRatio


def discriminants(sides: Sides, scores: Sides, columns: Columns) -> Iterator[Start]:
    """The linear and quadratic starts, from simple to complex, on columns and on their normal scores."""
    fits = (("linear", _linear), ("gaussians", _gaussians), ("quadratic", _quadratic))
    far = max(float(side.rows.abs().amax()) for side in sides.both) > _FARTHEST
    for name, fit in fits:
        for penalty, surface in () if far else fit(sides):
            yield Start(f"{name}{penalty}", Discriminant(surface))
        for penalty, surface in fit(scores):
            yield Start(f"{name}{penalty} on scores", Discriminant(OnScores(surface, columns).double()))


def densities(sides: Sides, chosen: tuple[str, ...]) -> Iterator[Start]:
    """Differences of bases fitted to either side; none where a column is constant on one, and has no density there."""
    for name in chosen if _vary(sides) else ():
        num, den = (BASES[name]().fit(side.rows, side.weight) for side in sides.both)
        yield Start(f"{name.replace('_', ' ')} densities", Difference(num, den))


def _gaussians(sides: Sides) -> Iterator[tuple[str, nn.Module]]:
    if not _vary(sides):
        return
    parts = [_exponent(Gaussian().fit(side.rows, side.weight)) for side in sides.both]
    yield "", Quadratic.of(*(num - den for num, den in zip(*parts, strict=True)))


def _vary(sides: Sides) -> bool:
    """Whether every column takes several values on both sides, among rows that count."""
    rows = [side.rows if side.weight is None else side.rows[side.weight > 0] for side in sides.both]
    return all(len(part) > 1 and bool((part.amax(dim=0) > part.amin(dim=0)).all()) for part in rows)


def _exponent(base: Gaussian) -> tuple[Tensor, Tensor, Tensor]:
    """The constant, linear and quadratic part of log N, but for what all Gaussians of so many columns share."""
    precision = torch.cholesky_inverse(base.factor_)
    linear = precision @ base.mean_
    constant = -0.5 * base.mean_ @ linear - torch.log(torch.diagonal(base.factor_)).sum()
    return constant, linear, -0.5 * precision


def _linear(sides: Sides) -> Iterator[tuple[str, nn.Module]]:
    rows = sides.pooled
    constant, linear = _logistic(rows.rows, sides, penalty=1.0)
    yield "", Quadratic.of(constant, linear, torch.zeros(len(linear), len(linear), dtype=torch.float64))


def _quadratic(sides: Sides) -> Iterator[tuple[str, nn.Module]]:
    rows = sides.pooled.rows
    d = rows.shape[1]
    left, right = torch.triu_indices(d, d)
    if len(left) > _MOST_PRODUCTS or d + len(left) > sides.fewer:
        return
    products = torch.cat([rows, rows[:, left] * rows[:, right]], dim=1)
    for words, penalty in ((", light", 0.1), ("", 10.0)) if len(left) <= _FEW_PRODUCTS else (("", 10.0),):
        constant, weights = _logistic(products, sides, penalty)
        matrix = torch.zeros(d, d, dtype=torch.float64)
        matrix[left, right] = weights[d:]
        yield words, Quadratic.of(constant, weights[:d], matrix)


def _logistic(features: Tensor, sides: Sides, penalty: float) -> tuple[Tensor, Tensor]:
    """Logistic regression of the side on standardised features, both sides counting alike."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    labels = torch.cat([torch.ones(len(sides.num)), torch.zeros(len(sides.den))])
    share = sides.pooled.share
    shift = (share @ features) / share.sum()
    scale = torch.sqrt((share @ (features - shift) ** 2) / share.sum()).clamp(min=1e-12)
    solver = LogisticRegression(C=1.0 / penalty, solver="newton-cholesky", max_iter=50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # where the sides are apart, the penalty alone ends it
        weight = share * (len(features) / 2.0)
        solver.fit(((features - shift) / scale).numpy(), labels.numpy(), sample_weight=weight.numpy())
    weights = torch.from_numpy(solver.coef_[0]).double() / scale
    return torch.tensor(float(solver.intercept_[0]), dtype=torch.float64) - weights @ shift, weights


def side_scores(columns: Columns, sides: Sides) -> Sides:
    """The rows' normal scores under the pooled columns."""
    return sides.map(lambda rows: torch.cat([columns.scores(part) for part in rows.split(_CHUNK)]))


__all__ = ["Difference", "Discriminant", "LogRatio", "Start", "densities", "discriminants", "side_scores"]
