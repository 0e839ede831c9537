"""The paper's recipe on Columns (lines 5558, 6176), with its own constants, and with an additive term beside it.

    PSO-LDE α = 1/4, BD 6 × 50 × 16, uniform down density on [−2.3, 2.3]^20, 1,000 + 1,000 fresh points a step

Writes the curve of LSQR against the truth: raw as in the paper, and normalised over two million rows of the base. A run
that is killed goes on from its checkpoint.

Run: python benchmarks/recipe.py            300,000 steps, about half an hour on one core (paper: LSQR 0.075)
     python benchmarks/recipe.py additive   30,000 steps, with Additive beside the network
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from time import perf_counter

import torch
from torch import nn

import equipoise as eq
from equipoise.normalizer import normalise
from equipoise.surfaces import Additive, BlockDiagonal, Standardise, Sum

RESULTS = Path(__file__).parent / "results"
ROWS, NORMALISER_ROWS = 100_000, 2_000_000
RUNS = {"paper": 300_000, "additive": 30_000}


def main(name: str) -> None:
    steps = RUNS[name]
    torch.manual_seed(0)
    target, base = eq.targets.Columns(dim=20), eq.bases.Uniform([-2.3] * 20, [2.3] * 20)
    rows = target.sample(ROWS, generator=torch.Generator().manual_seed(1), dtype=torch.float32)
    down = base.sample(NORMALISER_ROWS, generator=torch.Generator().manual_seed(2), dtype=torch.float32)
    truth, log_base = target.log_prob(rows.double()), float(base.log_prob(down[:1].double()))
    surface = surface_of(name, rows)
    checkpoint = RESULTS / f".recipe_{name}.checkpoint"
    curve = RESULTS / f"recipe_{name}.csv"
    if not checkpoint.exists():
        curve.write_text("step,seconds,lsqr_raw,bias_raw,lsqr_normalised,log_z,log_z_se\n", encoding="utf-8")
    start, every = perf_counter(), steps // 30

    def evaluate(step: int, surface: nn.Module, history: object) -> None:
        if step == 0 or (step % every and step < steps - 1):
            return
        surface.eval()
        with torch.no_grad():
            error = surface(rows).double() + log_base - truth
            log_z = normalise(surface(down))
        surface.train()
        raw, normalised = (error**2).mean().item(), ((error - log_z.log_z) ** 2).mean().item()
        line = [step, round(perf_counter() - start, 1)]
        line += [round(v, 5) for v in (raw, error.mean().item(), normalised, log_z.log_z, log_z.se)]
        with curve.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow(line)
        print(*line, flush=True)

    eq.push(
        surface,
        eq.catalog.pso_lde(0.25),
        eq.Pair(target, base),
        steps=steps,
        n_up=1000,
        learning_rate=0.0035,
        schedule="paper",
        record_every=every,
        callbacks=[evaluate],
        checkpoint=checkpoint,
        seed=0,
    )
    checkpoint.unlink()


def surface_of(name: str, rows: torch.Tensor) -> nn.Module:
    """The network over standardised columns; beside it, the additive term over the box."""
    network = Standardise.to_rows(BlockDiagonal(20, blocks=50, width=16, layers=6), rows)
    if name == "paper":
        return network
    box = torch.tensor([[-2.3] * 20, [2.3] * 20])
    return Sum(network, Additive.on_rows(box, knots=401, at="equal"))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "paper")
