"""What bfloat16 gains in time and costs in accuracy: products in bfloat16, master weights and optimizer in float32.

    u = surface(x; bf16(θ)),   ∂θ in bfloat16, taken into float32

The torch path runs over its preallocated buffers in bfloat16; float32 runs on that path and on the fused kernel.

Run: python experiments/bfloat16.py              4,000 steps a cell, about ten minutes
     python experiments/bfloat16.py 100          a quick look
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean

import torch
from _truth import Problem, write
from torch import Tensor, nn

import equipoise as eq
from equipoise.surfaces import BlockDiagonal, node
from equipoise.surfaces.buffered import Buffered

WAYS, SEEDS = ("float32, kernel", "float32, torch", "bfloat16, torch", "bfloat16, then float32"), (0, 1)
NATIVE = node.engine_for


class Half(nn.Module):
    """A surface computed in bfloat16 from its float32 weights, until it is told to stop."""

    def __init__(self, surface: BlockDiagonal) -> None:
        super().__init__()
        self.surface, self.on = surface, True

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d), in float32."""
        if not (self.on and self.training):
            return self.surface(x)
        inner = self.surface
        return node.heights(inner.form, x.bfloat16(), inner.weights.bfloat16(), inner._pool).float()


@contextmanager
def engine(way: str) -> Iterator[None]:
    node.engine_for = (lambda x: Buffered()) if way == "float32, torch" else NATIVE
    try:
        yield
    finally:
        node.engine_for = NATIVE


def main(steps: int) -> None:
    problem = Problem.curved()
    table: list[list[object]] = [["BD", "computed in", "ms a step", "KL", "LSQR"]]
    for blocks, width in ((50, 16), (50, 64)):
        for way in WAYS:
            seconds, kl, lsqr = (
                fmean(column)
                for column in zip(*[cell(problem, blocks, width, way, steps, seed) for seed in SEEDS], strict=True)
            )
            table.append([f"{blocks}×{width}", way, f"{1e3 * seconds:.2f}", f"{kl:.3f}", f"{lsqr:.3f}"])
            print(*table[-1], flush=True)
    words = f"6 layers, leaky ReLU; NCE, 1,000 + 1,000 rows, {steps:,} steps, Adam, cosine, "
    words += f"{torch.get_num_threads()} threads, means over {len(SEEDS)} seeds. Scored in float32. "
    words += "The last way computes the first four fifths in bfloat16. Base: ten Gaussians."
    write("bfloat16", "bfloat16 with float32 master weights, a curved ridge", words, table)


def cell(problem: Problem, blocks: int, width: int, way: str, steps: int, seed: int) -> tuple[float, float, float]:
    torch.manual_seed(seed)
    surface = BlockDiagonal(problem.features, blocks, width, 6)
    pushed: nn.Module = Half(surface) if way.startswith("bfloat16") else surface

    def switch(step: int, pushed: nn.Module, _: object) -> None:
        if way.endswith("then float32") and step >= 0.8 * steps:
            pushed.on = False

    with engine(way):
        history = eq.push(pushed, "nce", problem.pair(), steps=steps, seed=seed, callbacks=[switch])
    return history.time[-1] / steps, *problem.scores(surface)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4_000)
