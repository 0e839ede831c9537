"""Do several models train faster as one wider block-diagonal pass than one after another?

    k models of B channels   against   one pass of k·B channels

A pass over k·B channels does the arithmetic of k models; what it can save is what a pass costs whatever its size.

Run: python experiments/wider_pass.py          two minutes
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter

import torch
from _truth import write

from equipoise.surfaces import BlockDiagonal

ROUNDS, LEAST = 15, 0.05


def main() -> None:
    table: list[list[object]] = [["each model", "rows", "models", "one by one, ms", "one pass, ms", "gain"]]
    for blocks, width, rows in ((4, 16, 200), (8, 16, 2000), (30, 16, 2000), (50, 64, 2000)):
        for models in (2, 4, 8):
            singly, x, force = BlockDiagonal(20, blocks, width, 6), torch.randn(rows, 20), torch.randn(rows)
            wide = BlockDiagonal(20, models * blocks, width, 6)

            def one_by_one(surface: BlockDiagonal = singly, times: int = models) -> None:
                for _ in range(times):
                    step(surface, x, force)  # noqa: B023  # called before the next round

            apart, together = in_turns(one_by_one, lambda: step(wide, x, force))  # noqa: B023
            times = [f"{1e3 * apart:.3f}", f"{1e3 * together:.3f}", f"{apart / together:.2f}"]
            table.append([f"BD {blocks}×{width}", rows, models, *times])
            print(*table[-1], flush=True)
    words = f"Forward and backward, 6 layers, {torch.get_num_threads()} threads, medians of turns."
    write("wider_pass", "Several models in one wider pass", words, table)


def step(surface: BlockDiagonal, x: torch.Tensor, force: torch.Tensor) -> None:
    surface.weights.grad = None
    surface(x).backward(force)


def in_turns(*calls: Callable[[], None]) -> list[float]:
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, times in zip(calls, found, strict=True):
            call()
            count, start = 0, perf_counter()
            while perf_counter() - start < LEAST:
                call()
                count += 1
            times.append((perf_counter() - start) / count)
    return [median(times) for times in found]


if __name__ == "__main__":
    main()
