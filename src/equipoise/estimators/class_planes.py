"""Planes for classes: multinomial logistic regression, pushed to where its forces and a penalty balance.

    Σ_i x_i·force_i + penalty·W = 0,    u(x) = x·W + b        (forces of softmax cross-entropy at norm 1)

At norm 1 the forces have a loss, convex in planes, and Newton's steps find its least value to the last digits, whatever
the order of the rows. Every other norm has the same balance, so that these planes are a start for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from equipoise import catalog
from equipoise.batch import Batch
from equipoise.surfaces import Affine

FORCES = catalog.get("softmax_cross_entropy", norm=1.0)

_MOST_STEPS, _MOST_HALVINGS, _MOST_DIRECTIONS = 100, 40, 200
_PRECISION = 1e-11  # of the gradient
_ROUNDING = 1e-14  # of the loss


@dataclass(frozen=True)
class _Planes:
    """Rows with labels, and what moving planes over them does.

    Arguments:
        rows: (n, d), float64.
        labels: (n,).
        share: Every row's share of the whole, (n,).
        penalty: On the squares of the slopes, half of it; the constants go free.
    """

    rows: Tensor
    labels: Tensor
    share: Tensor
    penalty: float

    def heights(self, planes: Tensor) -> Tensor:
        """Heights under planes (1 + d, C), constants first: (n, C)."""
        return torch.addmm(planes[0], self.rows, planes[1:])

    def loss(self, planes: Tensor) -> float:
        """The loss whose gradient the forces are."""
        u = self.heights(planes)
        right = FORCES.up_primitive(u).gather(1, self.labels.unsqueeze(1)).squeeze(1)
        value: float = (0.5 * self.penalty * planes[1:].square().sum() - self.share @ right).item()
        return value

    def pull(self, weights: Tensor) -> Tensor:
        """Signed weights (n, C) on heights, as they act on planes."""
        return torch.cat([weights.sum(dim=0, keepdim=True), self.rows.T @ weights])

    def penalised(self, pull: Tensor, planes: Tensor) -> Tensor:
        """The pull with the penalty's."""
        pull[1:] += self.penalty * planes[1:]
        return pull

    def gradient(self, planes: Tensor) -> Tensor:
        """Forces, and the penalty's."""
        batch = Batch(self.rows, len(self.rows), labels=self.labels, weight=self.share)
        return self.penalised(self.pull(FORCES.forces(self.heights(planes), batch)), planes)

    def stiffness(self, shares: Tensor, direction: Tensor) -> Tensor:
        """How the gradient changes along a direction, at class probabilities ``shares`` (n, C)."""
        moved = shares * self.heights(direction)
        change = moved - shares * moved.sum(dim=1, keepdim=True)
        return self.penalised(self.pull(change * self.share.unsqueeze(1)), direction)


def class_planes(
    rows: Tensor, labels: Tensor, share: Tensor, classes: int, penalty: float, begin: Affine | None = None
) -> Affine:
    """The planes of C classes at which forces and penalty balance.

    Arguments:
        rows: (n, d), float64.
        labels: Classes 0 … C−1 of the rows, each of them at least once.
        share: Every row's share of the whole, (n,).
        classes: C.
        penalty: On the squares of the slopes, half of it; must be positive, since classes may be apart.
        begin: Planes near by, where there are any.
    """
    problem = _Planes(rows, labels, share, penalty)
    planes = rows.new_zeros(rows.shape[1] + 1, classes)
    if begin is not None:
        planes = torch.cat([begin.bias.detach().unsqueeze(0), begin.weights.detach()])
    loss, gradient = problem.loss(planes), problem.gradient(planes)
    for _ in range(_MOST_STEPS):
        if gradient.abs().max() <= _PRECISION:
            break
        step = _newton(problem, planes, gradient)
        downhill, size = (gradient * step).sum().item(), 1.0
        for _ in range(_MOST_HALVINGS):
            moved = planes + size * step
            there = problem.loss(moved)
            if there <= loss + 1e-4 * size * downhill + _ROUNDING * abs(loss):
                break
            size *= 0.5
        else:
            break
        planes, loss, gradient = moved, there, problem.gradient(moved)
    return Affine.of(planes[1:], planes[0])


def _newton(problem: _Planes, planes: Tensor, gradient: Tensor) -> Tensor:
    """The step at which the gradient, followed as if it were straight, is nearly nothing: by conjugate gradients."""
    shares = torch.softmax(problem.heights(planes), dim=1)
    rest, step = -gradient, torch.zeros_like(gradient)
    square = rest.square().sum()
    enough = square * min(0.25, square.sqrt().item())
    direction = rest
    for _ in range(_MOST_DIRECTIONS):
        bent = problem.stiffness(shares, direction)
        curvature = (direction * bent).sum()
        if curvature <= 0.0:
            break
        size = square / curvature
        step, rest = step + size * direction, rest - size * bent
        before, square = square, rest.square().sum()
        if square <= enough:
            break
        direction = rest + (square / before) * direction
    return step
