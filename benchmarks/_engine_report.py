"""The tables of benchmarks/engine.py, from its results."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from _engine_worker import GEMM, flops, weights_of_fc

from equipoise.surfaces import backend

SHAPES = ("50×16", "50×64", "100×32")
WAYS = ("native", "torch", "plain, jemalloc", "plain", "fully connected")
KIB, MIB = 1024, 1024**2

Row = Iterable[object]


def machine() -> dict[str, str]:
    """What the figures were taken on."""
    names = [line.split(":")[1].strip() for line in _cpu_lines() if line.startswith("model name")]
    cpu = names[0] if names else platform.processor() or platform.machine()
    versions = f"Python {platform.python_version()}, torch {torch.__version__}"
    load = f"{os.getloadavg()[0]:.2f}"
    return {"cpu": cpu, "cores": str(os.cpu_count()), "versions": versions, "backend": str(backend()), "load": load}


def _cpu_lines() -> list[str]:
    file = Path("/proc/cpuinfo")
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def render(results: dict[str, Any]) -> str:
    """The whole page."""
    m = results["machine"]
    parts = [
        "# The engine\n",
        f"{m['cpu']}, {m['cores']} cores; {m['versions']}; {m['backend']}; load before the run {m['load']}.\n",
        "Medians of samples taken in turns. GFLOP/s count the products of forward and backward pass; the peak is the "
        f"rate of a {GEMM} × {GEMM} float32 product in the same run, numpy's or torch's, the higher. BD: 6 layers, 20 "
        "columns, 1,000 + 1,000 rows, float32, leaky ReLU.\n",
    ]
    for name, section in (("speed", _speed), ("push", _push), ("growth", _growth), ("memory", _memory)):
        if name in results:
            parts += section(results[name])
    return "\n".join([*parts, *_criteria(results)])


def table(head: Row, rows: Iterable[Row]) -> str:
    lines = [[str(cell) for cell in row] for row in (head, *rows)]
    lines.insert(1, ["---"] + ["--:"] * (len(lines[0]) - 1))
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def peak(found: dict[str, float], threads: int) -> float:
    return max(2.0 * GEMM**3 / found[f"{kind} {threads}"] for kind in ("numpy", "mm")) / 1e9


def sizes(shape: str) -> dict[str, int]:
    blocks, width = map(int, shape.split("×"))
    return {"features": 20, "blocks": blocks, "width": width, "layers": 6, "rows": 2000}


def rate(found: dict[str, float], way: str, threads: int, shape: str) -> float:
    return flops(**sizes(shape)) / found[f"{way} {threads} {shape}"] / 1e9


def _speed(found: dict[str, float]) -> list[str]:
    parts = ["## Forward and backward\n"]
    for threads in (1, 2):
        top, rows = peak(found, threads), []
        for shape in SHAPES:
            for way in WAYS:
                seconds = found.get(f"{way} {threads} {shape}")
                if seconds is None:
                    rows.append([shape, way, "no libjemalloc.so.2 here", "", "", ""])
                    continue
                ratio = f"{seconds / found[f'native {threads} {shape}']:.2f}"
                if way == "fully connected":
                    rows.append([shape, way, f"{seconds * 1e3:.2f}", f"{_fc_rate(seconds, shape):.0f}", "", ratio])
                    continue
                speed = rate(found, way, threads, shape)
                rows.append([shape, way, f"{seconds * 1e3:.2f}", f"{speed:.0f}", f"{speed / top:.0%}", ratio])
        head = ("BD", "way", "ms", "GFLOP/s", "of the peak", "time / native")
        parts += [f"{threads} thread{'s'[: threads - 1]}, peak {top:.0f} GFLOP/s:\n", table(head, rows)]
    return [*parts, "Plain: einsum, leaky_relu and autograd. Fully connected: as many layers and weights, autograd.\n"]


def _fc_rate(seconds: float, shape: str) -> float:
    block = sizes(shape)
    wanted = weights_of_bd(shape)
    width = next(w for w in range(1, 10_000) if weights_of_fc(20, w, block["layers"]) >= wanted)
    return flops(20, 1, width, block["layers"], block["rows"]) / seconds / 1e9


def weights_of_bd(shape: str) -> int:
    s = sizes(shape)
    wide = s["blocks"] * s["width"]
    return s["features"] * wide + wide + (s["layers"] - 2) * (s["width"] * wide + wide) + wide + 1


def _push(found: dict[str, Any]) -> list[str]:
    seconds, rows = found["seconds"], []
    for shape in SHAPES:
        step, whole = seconds[f"native {shape}"], seconds[f"push {shape}"]
        rows.append([shape, f"{step * 1e3:.2f}", f"{whole * 1e3:.2f}", f"{step / whole:.0%}"])
    head = ("BD", "forward + backward, ms", "whole step, ms", "of that speed")
    parts = ["## The whole step of a push\n", "Two threads; up rows from a table of 100,000, down rows from a known "]
    parts[-1] += "uniform density, Adam, history every 50 steps. Both are means over 50 or 100 steps on end.\n"
    parts.append(table(head, rows))
    names = list(found["shares"][SHAPES[0]])
    shares = [[shape, *_percent(found["shares"][shape], names)] for shape in SHAPES]
    parts += ["Where it goes (one run, each part with a clock around it):\n", table(("BD", *names), shares)]
    steady = [[shape, *_steady(found["steady"].get(shape, {}))] for shape in SHAPES]
    head = ("BD", "minor page faults a step", "allocations ≥ 64 KiB in 100 steps", "largest of them, KiB")
    return [*parts, "In steady state, from step 50 on, malloc and mmap watched:\n", table(head, steady)]


def _percent(parts: dict[str, float], names: list[str]) -> list[str]:
    return [f"{parts[name] / sum(parts.values()):.1%}" for name in names]


def _steady(found: dict[str, float]) -> list[str]:
    if not found:
        return ["", "", ""]
    if "large" not in found:
        return [f"{found['faults']:.2f}", "no compiler to count them with", ""]
    return [f"{found['faults']:.2f}", f"{found['large']:.0f}", f"{found['largest'] / KIB:.0f}"]


def _growth(found: dict[str, float]) -> list[str]:
    usual = {"features": 20, "blocks": 50, "width": 32, "layers": 6, "rows": 2000}
    top, rows = peak(found, 2), []
    for name in [key.split(" ", 1)[1] for key in found if key.startswith("native ")]:
        what, value = name.split()
        work = flops(**usual | {what: int(value)})
        speeds = [work / found[f"{kind} {name}"] / 1e9 for kind in ("native", "torch")]
        times = [f"{found[f'{kind} {name}'] * 1e3:.3f}" for kind in ("native", "torch")]
        rows.append([f"{what} {int(value):,}", *times, *[f"{speed / top:.0%}" for speed in speeds]])
    head = ("one size changed", "native, ms", "torch, ms", "native, of the peak", "torch, of the peak")
    about = f"From 2,000 rows of 20 columns, 50 channels of 32, 6 layers; two threads, peak {top:.0f} GFLOP/s.\n"
    return ["## Growth\n", about, table(head, rows)]


def _memory(found: dict[str, Any]) -> list[str]:
    large, long = found["large"], found["long"]
    rows = [[f"{step:,}", f"{now / MIB:.1f}"] for step, now in long["along"]]
    return [
        "## Memory\n",
        f"BD 50×64: the peak lies {(large['peak'] - large['start']) / MIB:.0f} MiB above what stood there with "
        f"imports and data; workspace, weights, gradients, moments and the guard's copy are "
        f"{large['workspace'] / MIB:.0f} MiB: {_over(large):.2f} times as much.\n",
        f"A run of {long['case']['steps']:,} small steps (BD 8×16, 4 layers, 200 rows), resident memory:\n",
        table(("step", "MiB"), rows),
    ]


def _over(found: dict[str, Any]) -> float:
    return (found["peak"] - found["start"]) / found["workspace"]


def _criteria(results: dict[str, Any]) -> list[str]:
    if not {"speed", "push", "memory"} <= set(results):
        return []
    speed, push, memory = results["speed"], results["push"], results["memory"]
    top, rows = peak(speed, 2), []

    def hold(what: str, value: float, least: float, form: str = ".0%", most: float | None = None) -> None:
        good = value >= least if most is None else value <= most
        bound = f"≥ {least:{form}}" if most is None else f"≤ {most:g}" if form != ".1%" else f"≤ {most:.0%}"
        rows.append([what, bound, f"{value:{form}}", "pass" if good else "**fail**"])

    for shape, native, fallback in (("50×64", 1.0, 0.5), ("50×16", 0.7, 0.4)):
        hold(f"BD {shape}, native, of the peak", rate(speed, "native", 2, shape) / top, native)
        hold(f"BD {shape}, torch path, of the peak", rate(speed, "torch", 2, shape) / top, fallback)
    for shape in ("50×64", "50×16"):
        whole = push["seconds"][f"native {shape}"] / push["seconds"][f"push {shape}"]
        hold(f"BD {shape}, whole step, of forward + backward's speed", whole, 0.85)
        shares = push["shares"][shape]
        hold(f"BD {shape}, sampling, of the whole step", shares["sampling"] / sum(shares.values()), 0, ".1%", most=0.1)
        for way, least in (("plain", 10.0), ("plain, jemalloc", 2.5)):
            if f"{way} 2 {shape}" in speed:
                ratio = speed[f"{way} 2 {shape}"] / speed[f"native 2 {shape}"]
                hold(f"BD {shape}, times faster than {way}", ratio, least, ".1f")
        steady = push["steady"].get(shape, {})
        if "large" in steady:
            hold(f"BD {shape}, allocations of 64 KiB or more in 100 steps", steady["large"], 0, ".0f", most=0)
            hold(f"BD {shape}, minor page faults a step", steady["faults"], 0, ".1f", most=99)
    hold("BD 50×64, peak memory over import + data, in workspaces", _over(memory["large"]), 0, ".2f", most=1.5)
    along = [now for _, now in memory["long"]["along"]]
    hold("growth of memory over the second half of the long run, KiB", (along[-1] - along[5]) / KIB, 0, ".0f", most=512)
    about = (
        "Two threads. Accuracy of gradients is held in tests/surfaces/test_block_diagonal.py, and the recipe of the "
    )
    about += "paper in recipe_paper.csv.\n"
    return ["## What was asked for\n", about, table(("", "asked", "found", ""), rows)]
