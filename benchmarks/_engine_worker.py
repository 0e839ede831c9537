"""A process that times what it is told to: one JSON line in, one JSON line out.

    {"kind": "native", "threads": 2, "blocks": 50, "width": 16, …}   →   {"seconds": …}

Several of these, some under another allocator, take turns under benchmarks/engine.py, so that all see the same machine.
"""

from __future__ import annotations

import ctypes
import json
import resource
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

import equipoise as eq
from equipoise.surfaces import BlockDiagonal, FullyConnected, node
from equipoise.surfaces.buffered import Buffered
from equipoise.training import guard, run

GEMM = 2560
BLOCK = 0.06  # seconds that one sample takes at least
TABLE = 100_000
NATIVE = node.engine_for


class Plain(nn.Module):
    """The network as one writes it down: einsum, leaky_relu, autograd."""

    def __init__(self, features: int, blocks: int, width: int, layers: int) -> None:
        super().__init__()
        sizes = [features, *[width] * (layers - 2)]
        self.matrices = nn.ParameterList(torch.randn(blocks, m, width) / m**0.5 for m in sizes)
        self.biases = nn.ParameterList(torch.zeros(blocks, width) for _ in sizes)
        self.last = nn.Parameter(torch.randn(blocks, width) / (blocks * width) ** 0.5)
        self.constant = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        h = torch.einsum("nd,bdw->nbw", x, self.matrices[0]) + self.biases[0]
        for matrix, bias in zip(self.matrices[1:], self.biases[1:], strict=True):
            h = torch.einsum("nbm,bmw->nbw", nn.functional.leaky_relu(h, 0.2), matrix) + bias
        return torch.einsum("nbw,bw->n", nn.functional.leaky_relu(h, 0.2), self.last) + self.constant


def flops(features: int, blocks: int, width: int, layers: int, rows: int) -> float:
    """Of products, forward and backward; the rows' own gradient is not needed."""
    first, inner, last = features * blocks * width, (layers - 2) * blocks * width**2, blocks * width
    return 2.0 * rows * (2 * first + 3 * inner + 2 * last)


def surface_of(kind: str, **sizes: int) -> nn.Module:
    torch.manual_seed(0)
    if kind == "plain":
        return Plain(**sizes)
    if kind == "fully connected":
        wanted = BlockDiagonal(**sizes).weights.numel()
        width = next(w for w in range(1, 10_000) if weights_of_fc(sizes["features"], w, sizes["layers"]) >= wanted)
        return FullyConnected(sizes["features"], width, sizes["layers"] - 1, activation="leaky_relu")
    return BlockDiagonal(**sizes)


def weights_of_fc(features: int, width: int, layers: int) -> int:
    return features * width + width + (layers - 2) * (width * width + width) + width + 1


@contextmanager
def engine(kind: str) -> Iterator[None]:
    node.engine_for = (lambda x: Buffered()) if kind == "torch" else NATIVE
    try:
        yield
    finally:
        node.engine_for = NATIVE


@cache
def step_of(kind: str, rows: int, **sizes: int) -> Callable[[], None]:
    """A forward and a backward pass."""
    surface = surface_of(kind, **sizes)
    x, force = torch.randn(rows, sizes["features"]), torch.randn(rows) / rows
    weights = list(surface.parameters())

    def step() -> None:
        for weight in weights:
            weight.grad = None
        with engine(kind):
            surface(x).backward(force)

    return step


@cache
def gemm(library: str) -> Callable[[], object]:
    a, b = np.random.default_rng(0).random((2, GEMM, GEMM), dtype=np.float32)
    if library == "numpy":
        return lambda: a @ b
    first, second = torch.from_numpy(a), torch.from_numpy(b)
    out = torch.empty_like(first)
    return lambda: torch.mm(first, second, out=out)


def seconds_of(call: Callable[[], object], steps: int | None) -> float:
    """Seconds a call, the mean over a block of them."""
    call()
    count, start = 0, perf_counter()
    while count < steps if steps else perf_counter() - start < BLOCK:
        call()
        count += 1
    return (perf_counter() - start) / count


@cache
def pair_of(features: int) -> eq.Pair:
    rows = eq.targets.Columns(dim=features).sample(TABLE, generator=torch.Generator().manual_seed(1))
    return eq.Pair(rows.float(), eq.bases.Uniform([-2.4] * features, [2.4] * features))


def push(kind: str, rows: int, steps: int, callbacks: tuple[Any, ...] = (), **sizes: int) -> float:
    """Seconds a step of the whole push, its history kept as by default."""
    surface, instance = surface_of(kind, **sizes), eq.catalog.pso_lde(0.25)
    with engine(kind):
        history = eq.push(
            surface,
            instance,
            pair_of(sizes["features"]),
            steps=steps + 1,
            n_up=rows // 2,
            callbacks=callbacks,
            seed=0,
            record_every=min(50, steps),
        )
    return (history.time[-1] - history.time[0]) / steps


def shares(rows: int, steps: int, **sizes: int) -> dict[str, float]:
    """Seconds a step in each part of a push."""
    spent: dict[str, list[float]] = defaultdict(list)

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            start = perf_counter()
            result = function(*args, **kwargs)
            spent[name].append(perf_counter() - start)
            return result

        return call

    places = {
        "sampling": (eq.Pair, "draw"),
        "forward": (BlockDiagonal, "forward"),
        "backward": (Tensor, "backward"),
        "forces": (eq.Instance, "forces"),
        "guard": (guard.Guard, "check"),
        "optimizer": (run.Run, "move"),
    }
    before = {name: getattr(owner, method) for name, (owner, method) in places.items()}
    for name, (owner, method) in places.items():
        setattr(owner, method, timed(name, before[name]))
    try:
        whole = push("native", rows, steps, **sizes)
    finally:
        for name, (owner, method) in places.items():
            setattr(owner, method, before[name])
    parts = {name: fmean(times[2:]) for name, times in spent.items()}
    return parts | {"rest": whole - sum(parts.values())}


def steady(rows: int, steps: int, **sizes: int) -> dict[str, float]:
    """Page faults a step, and the largest allocation, between the second and the last record of a push."""
    process = ctypes.CDLL(None)
    counter = process if hasattr(process, "eq_count") else None  # where _count_allocations.c is preloaded
    faults: list[int] = []

    def watch(*_: Any) -> None:
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
        if counter is not None and len(faults) == 2:
            counter.eq_reset()

    push("native", rows, steps, (watch,), **sizes)
    found = {"faults": (faults[-1] - faults[1]) / (steps - min(50, steps))}
    if counter is not None:
        counter.eq_largest.restype = counter.eq_count.restype = ctypes.c_long
        found |= {"largest": counter.eq_largest(), "large": counter.eq_count()}
    return found


def resident() -> dict[str, int]:
    """Bytes in memory now, and at most so far."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    lines = dict(line.split(":", 1) for line in status.splitlines() if line.startswith("Vm"))
    return {"now": int(lines["VmRSS"].split()[0]) * 1024, "peak": int(lines["VmHWM"].split()[0]) * 1024}


def memory(rows: int, steps: int, **sizes: int) -> dict[str, Any]:
    """Memory along a push, and what it held of it by design."""
    pair_of(sizes["features"]).draw(rows // 2, rows // 2, torch.Generator(), like=torch.empty(0))
    push("native", 20, 3, features=sizes["features"], blocks=2, width=16, layers=3)  # what is imported on first use
    start, along = resident(), []
    points = {steps * i // 10 for i in range(1, 11)}
    surfaces: list[BlockDiagonal] = []

    def watch(step: int, surface: Any, _: Any) -> None:
        surfaces[:] = [surface]
        if step in points or step == 50:
            along.append((step, resident()["now"]))

    push("native", rows, steps, (watch,), **sizes)
    rooms = surfaces[0]._pool.free
    buffers = sum(b.untyped_storage().nbytes() for room in rooms for b in room.buffers.values())
    weights = 4 * surfaces[0].weights.numel()  # themselves, twice their gradient, two moments, the guard's copy
    return {"start": start["now"], "peak": resident()["peak"], "along": along, "workspace": buffers + 6 * weights}


def answer(kind: str, threads: int, **case: Any) -> dict[str, Any]:
    """Do what a line asks for."""
    torch.set_num_threads(threads)
    with threadpool_limits(threads):
        if kind in ("numpy", "mm"):
            return {"seconds": seconds_of(gemm(kind), None)}
        if kind in ("shares", "steady", "memory"):
            return {"shares": shares, "steady": steady, "memory": memory}[kind](**case)
        if kind == "push":
            return {"seconds": push("native", **case)}
        steps = case.pop("steps", None)
        return {"seconds": seconds_of(step_of(kind, **case), steps)}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), flush=True)
