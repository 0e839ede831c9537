"""Expectation maximisation for Gaussian mixtures: two matrix products a step over the rows' quadratic features.

    log w_k·N(x; μ_k, Σ_k) = φ(x)·c_k,      φ(x) = (x_i·x_j for i ≤ j, x, 1)
    N_k, μ_k, Σ_k from Σ_i r_ik·φ(x_i),     Σ_k = (S_k + ν·Σ_0)/(N_k + ν),   Σ_0 = diag(var)/K^(2/d)

Σ_0 is the scale of Fraley & Raftery's prior (2007), with ν = d/3 of its rows where they take d + 2: it keeps components
from shrinking onto single rows, and is the strength that measured best. Rows must be standardised,
so that single precision is enough for the features.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log, pi

import torch
from torch import Generator, Tensor

_CHUNK = 4096
_MOST_KEPT = 1 << 25  # numbers: 128 MB in single precision
_LLOYD_STEPS = 8
_KMEANS_ROWS = 5_000


@dataclass(frozen=True)
class Components:
    """A Gaussian mixture: shares (K,), means (K, d) and covariances (K, d, d), in float64."""

    shares: Tensor
    means: Tensor
    covariances: Tensor

    @property
    def parameters(self) -> int:
        """How many numbers are free."""
        k, d = self.means.shape
        return k * (1 + d + d * (d + 1) // 2) - 1


class Quadratic:
    """Rows as the EM steps read them.

    Arguments:
        rows: Standardised rows (n, d).
        weight: How many rows each stands for, (n,).
    """

    def __init__(self, rows: Tensor, weight: Tensor) -> None:
        self.rows = rows
        self.weight = weight.to(rows.dtype)
        self.total = float(weight.sum(dtype=torch.float64))
        self.spread = (
            (weight / self.total) @ (rows.to(weight) - (weight / self.total) @ rows.to(weight)) ** 2
        ).double()
        self.upper = torch.triu_indices(rows.shape[1], rows.shape[1])
        self._kept: dict[int, Tensor] = {}

    def features(self, x: Tensor) -> Tensor:
        """φ of rows (n, d)."""
        d = x.shape[1]
        out = x.new_empty(len(x), d * (d + 1) // 2 + d + 1)
        at = 0
        for i in range(d):  # x_i·x_j for j ≥ i: slices are several times as fast as an index
            torch.mul(x[:, i : i + 1], x[:, i:], out=out[:, at : at + d - i])
            at += d - i
        out[:, at:-1] = x
        out[:, -1] = 1.0
        return out

    def chunks(self) -> Iterator[tuple[Tensor, Tensor]]:
        """φ of all rows, part by part, each with its weights; kept from step to step where there is room."""
        keep = len(self.rows) * (self.upper.shape[1] + self.rows.shape[1] + 1) <= _MOST_KEPT
        for start in range(0, len(self.rows), _CHUNK):
            part = slice(start, start + _CHUNK)
            features = self._kept[start] if start in self._kept else self.features(self.rows[part])
            if keep:
                self._kept[start] = features
            yield features, self.weight[part]

    def step(self, model: Components) -> tuple[Components, float]:
        """One step of EM, and the mean log density before it."""
        table = self._coefficients(model)
        sums = torch.zeros(table.T.shape, dtype=torch.float64)
        score = 0.0
        for features, weight in self.chunks():
            joint = features @ table
            log_density = torch.logsumexp(joint, dim=1, keepdim=True)
            score += float(weight @ log_density.squeeze(1))
            share = torch.exp(joint.sub_(log_density)).mul_(weight.unsqueeze(1))
            sums += share.T @ features
        return self._maximise(sums), score / self.total

    def score(self, model: Components) -> float:
        """The mean log density."""
        table, score = self._coefficients(model), 0.0
        for features, weight in self.chunks():
            score += float(weight @ torch.logsumexp(features @ table, dim=1))
        return score / self.total

    def _coefficients(self, model: Components) -> Tensor:
        """c_k as columns, (features, K)."""
        lower = torch.linalg.cholesky(model.covariances)
        precision = torch.cholesky_inverse(lower)
        linear = (precision @ model.means.unsqueeze(2)).squeeze(2)
        constant = (
            torch.log(model.shares)
            - 0.5 * (model.means * linear).sum(dim=1)
            - torch.log(torch.diagonal(lower, dim1=1, dim2=2)).sum(dim=1)
            - 0.5 * model.means.shape[1] * log(2.0 * pi)
        )
        first, second = self.upper
        square = precision[:, first, second] * torch.where(first == second, -0.5, -1.0)
        return torch.cat([square, linear, constant.unsqueeze(1)], dim=1).T.to(self.rows.dtype).contiguous()

    def _maximise(self, sums: Tensor) -> Components:
        d, k = self.rows.shape[1], len(sums)
        count = sums[:, -1].clamp(min=1e-9 * self.total)
        means = sums[:, -1 - d : -1] / count.unsqueeze(1)
        first, second = self.upper
        scatter = torch.zeros(k, d, d, dtype=torch.float64)
        scatter[:, first, second] = scatter[:, second, first] = sums[:, : len(first)]
        scatter -= count.reshape(k, 1, 1) * means.unsqueeze(2) * means.unsqueeze(1)
        prior_rows = d / 3.0
        prior = prior_rows * torch.diag(self.spread) * k ** (-2.0 / d)
        covariances = (scatter + prior) / (count + prior_rows).reshape(k, 1, 1)
        floor = 1e-6 * torch.diag(self.spread)  # what single precision may have lost of the scatter
        return Components(count / count.sum(), means, covariances + floor)


def climb(rows: Quadratic, model: Components, steps: int, tolerance: float = 2e-4) -> Components:
    """Steps of EM until one gains less than a tolerance, in nats a row."""
    before = -inf
    for _ in range(steps):
        after, score = rows.step(model)
        if score - before < tolerance:
            break
        model, before = after, score
    return model


def start(rows: Quadratic, components: int, generator: Generator) -> Components:
    """Components around the centres that k-means++ and a few of Lloyd's steps find."""
    stride = -(-len(rows.rows) // _KMEANS_ROWS)
    some = rows.rows[::stride].to(torch.float64)
    weight = rows.weight[::stride].to(torch.float64)
    centres = _plus_plus(some, weight, components, generator)
    for _ in range(_LLOYD_STEPS):
        nearest = torch.cdist(some, centres).argmin(dim=1)
        member = torch.nn.functional.one_hot(nearest, components).to(weight) * weight.unsqueeze(1)
        count = member.sum(dim=0)
        centres = torch.where((count > 0).unsqueeze(1), member.T @ some / count.clamp(min=1e-300).unsqueeze(1), centres)
    subset = Quadratic(some, weight * (rows.total / weight.sum()))
    member = torch.nn.functional.one_hot(torch.cdist(some, centres).argmin(dim=1), components).to(weight)
    sums = (member * subset.weight.unsqueeze(1)).T @ subset.features(some)
    return subset._maximise(sums)


def _plus_plus(rows: Tensor, weight: Tensor, components: int, generator: Generator) -> Tensor:
    """Centres among the rows, each drawn in proportion to weight times the squared distance from those before."""
    distance = torch.ones_like(weight)
    chosen: list[Tensor] = []
    for _ in range(components):
        below = torch.cumsum(weight * distance, dim=0)
        at = below[-1] * torch.rand((), generator=generator, dtype=torch.float64)
        row = rows[int(torch.searchsorted(below, at).clamp(max=len(rows) - 1))]
        square = ((rows - row) ** 2).sum(dim=1)
        distance = square if not chosen else torch.minimum(distance, square)
        chosen.append(row)
    return torch.stack(chosen)
