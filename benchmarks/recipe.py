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
from typing import Any

import torch
from torch import nn

import equipoise as eq
from equipoise.normalizer import normalise
from equipoise.surfaces import Additive, BlockDiagonal, Standardise, Sum

RESULTS = Path(__file__).parent / "results"
ROWS, NORMALISER_ROWS = 100_000, 2_000_000
RUNS = {"paper": 300_000, "additive": 30_000}
HEAD = ["step", "seconds", "lsqr_raw", "bias_raw", "lsqr_normalised", "log_z", "log_z_se"]


class Curve:
    """Scores the surface against the truth every so often; a resumed run goes on with the rows that its checkpoint has.

    Arguments:
        file: The table, written anew with each row.
        target: The truth.
        base: The down density.
        every: Steps between rows.
    """

    def __init__(self, file: Path, target: eq.targets.Target, base: eq.bases.Uniform, every: int) -> None:
        self.file, self.every = file, every
        self.up = rows_of(target)
        self.down = base.sample(NORMALISER_ROWS, generator=torch.Generator().manual_seed(2), dtype=torch.float32)
        self.truth = target.log_prob(self.up.double())
        self.log_base = float(base.log_prob(self.down[:1].double()))
        self.rows: list[list[float]] = []

    def __call__(self, step: int, surface: nn.Module, history: Any) -> None:
        """Add a row where it is time."""
        if step == 0 or (step % self.every and step < history.steps - 1):
            return
        surface.eval()
        with torch.no_grad():
            error = surface(self.up).double() + self.log_base - self.truth
            log_z = normalise(surface(self.down))
        surface.train()
        raw, normalised = (error**2).mean().item(), ((error - log_z.log_z) ** 2).mean().item()
        scores = [round(v, 5) for v in (raw, error.mean().item(), normalised, log_z.log_z, log_z.se)]
        self.rows.append([step, round(history.time[-1], 1), *scores])
        with self.file.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *self.rows])
        print(*self.rows[-1], flush=True)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"rows": self.rows}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over from :meth:`state_dict`."""
        self.rows = state["rows"]


def rows_of(target: eq.targets.Target) -> torch.Tensor:
    return target.sample(ROWS, generator=torch.Generator().manual_seed(1), dtype=torch.float32)


def main(name: str) -> None:
    RESULTS.mkdir(exist_ok=True)
    steps = RUNS[name]
    torch.manual_seed(0)
    target, base = eq.targets.Columns(dim=20), eq.bases.Uniform([-2.3] * 20, [2.3] * 20)
    every, checkpoint = steps // 30, RESULTS / f".recipe_{name}.checkpoint"
    eq.push(
        surface_of(name, rows_of(target)),
        eq.catalog.pso_lde(0.25),
        eq.Pair(target, base),
        steps=steps,
        n_up=1000,
        learning_rate=0.0035,
        schedule="paper",
        record_every=every,
        callbacks=[Curve(RESULTS / f"recipe_{name}.csv", target, base, every)],
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
    chosen = sys.argv[1] if len(sys.argv) > 1 else "paper"
    if chosen not in RUNS:
        sys.exit(f"there is no run {chosen!r}: there are {', '.join(RUNS)}")
    main(chosen)
