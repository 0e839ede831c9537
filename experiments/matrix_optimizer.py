"""Does an optimizer that sees the blocks as matrices beat Adam at equal time?

    Muon:  m ← β·m + g,   W ← W − rate·0.2·√w·O(β·m + g),   O(M) = U·Vᵀ of M = U·S·Vᵀ

O comes from Newton-Schulz steps on all blocks at once. First and last layers and biases go with Adam, as is usual.

Run: python experiments/matrix_optimizer.py          30 s a cell, a quarter of an hour
     python experiments/matrix_optimizer.py 3s       a quick look
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from math import sqrt
from statistics import fmean

import torch
from _truth import Problem, write
from torch import Tensor
from torch.optim import Optimizer

import equipoise as eq
from equipoise.surfaces import BlockDiagonal
from equipoise.surfaces.layout import Layout

RATES, SEEDS = (0.0035, 0.01, 0.03), (0, 1)
_A, _B, _C = 3.4445, -4.7750, 2.0315  # a quintic that takes singular values in (0, 1] near 1 in five steps


class Muon(Optimizer):
    """Muon on the inner blocks of one flat vector of weights, Adam on the rest.

    Arguments:
        weights: The flat vector, alone in a list.
        rate: The learning rate of both.
        layout: Where the blocks lie.
        momentum: β.
    """

    def __init__(self, weights: Iterable[Tensor], rate: float, layout: Layout, momentum: float = 0.9) -> None:
        super().__init__(weights, {"lr": rate})
        self.layout, self.momentum = layout, momentum
        (self.flat,) = self.param_groups[0]["params"]
        self.adam = torch.optim.Adam([self.flat], lr=rate, betas=(0.75, 0.999), eps=1e-10, fused=True)
        self.speed = torch.zeros_like(self.flat)

    @torch.no_grad()
    def step(self, closure: object = None) -> None:
        """One step; the blocks' own move takes the place of Adam's."""
        rate, gradient = self.param_groups[0]["lr"], self.flat.grad
        self.adam.param_groups[0]["lr"] = rate
        self.speed.mul_(self.momentum).add_(gradient)
        ahead = torch.add(gradient, self.speed, alpha=self.momentum)
        blocks = [(w, a) for (w, _), (a, _) in zip(*map(self._inner, (self.flat, ahead)), strict=True)]
        before = [w.clone() for w, _ in blocks]
        self.adam.step()
        for (w, moved), old in zip(blocks, before, strict=True):
            w.copy_(old).sub_(orthogonal(moved), alpha=rate * 0.2 * sqrt(w.shape[-1]))

    def _inner(self, flat: Tensor) -> Iterable[tuple[Tensor, Tensor]]:
        return self.layout.views(flat).layers[1:]


def orthogonal(matrices: Tensor, steps: int = 5) -> Tensor:
    """The nearest orthogonal matrices (B, w, w), roughly, all at once."""
    x = matrices / matrices.flatten(1).norm(dim=1).clamp(min=1e-12).view(-1, 1, 1)
    for _ in range(steps):
        square = x @ x.mT
        x = _A * x + (_B * square + _C * square @ square) @ x
    return x


def optimizers(surface: BlockDiagonal) -> dict[str, str | Callable[[list[Tensor], float], Optimizer]]:
    return {"adam": "adam", "muon": lambda weights, rate: Muon(weights, rate, surface.form.layout)}


def main(budget: str) -> None:
    problem = Problem.curved()
    table: list[list[object]] = [["width", "optimizer", "rate", "steps", "ms a step", "KL", "LSQR"]]
    for width in (16, 64):
        for rate in RATES:
            for name in ("adam", "muon"):
                cells = [cell(problem, width, name, rate, budget, seed) for seed in SEEDS]
                steps, seconds, kl, lsqr = (fmean(column) for column in zip(*cells, strict=True))
                found = [f"{steps:.0f}", f"{1e3 * seconds / steps:.2f}", f"{kl:.3f}", f"{lsqr:.3f}"]
                table.append([width, name, rate, *found])
                print(*table[-1], flush=True)
    words = f"BD 30 × width, 6 layers, SiLU, residual; NCE, 1,000 + 1,000 rows, cosine, {budget} a cell, "
    words += f"{torch.get_num_threads()} threads, means over {len(SEEDS)} seeds. Base: ten Gaussians."
    write("matrix_optimizer", "Muon on the blocks against Adam at equal time, a curved ridge", words, table)


def cell(problem: Problem, width: int, name: str, rate: float, budget: str, seed: int) -> tuple[float, ...]:
    torch.manual_seed(seed)
    surface = BlockDiagonal(problem.features, 30, width, 6, residual=True, activation="silu")
    history = eq.push(
        surface,
        "nce",
        problem.pair(),
        steps=budget,
        learning_rate=rate,
        optimizer=optimizers(surface)[name],
        seed=seed,
    )
    return history.steps, history.time[-1], *problem.scores(surface)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "30s")
