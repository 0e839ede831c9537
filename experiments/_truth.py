"""What the experiments with training share: a target of curved dependence, a base fitted to rows of it, and scores.

KL(p ‖ p̂) and LSQR of the normalised model, at fresh rows of the target
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

import equipoise as eq
from equipoise.normalizer import normalise

RESULTS = Path(__file__).parent / "results"
ROWS, FRESH, NORMALISER_ROWS = 100_000, 50_000, 400_000


@dataclass
class Problem:
    """A density to learn and all that its scores need, the same for everything compared."""

    target: eq.targets.Target
    base: eq.bases.GaussianMixture
    rows: torch.Tensor
    fresh: torch.Tensor
    down: torch.Tensor

    @classmethod
    def curved(cls) -> Problem:
        """A curve through fifteen dimensions with noise around it, against a mixture of ten Gaussians."""
        target = eq.targets.CurvedRidge()
        rows, fresh = (
            target.sample(n, torch.Generator().manual_seed(seed), torch.float32) for seed, n in enumerate((ROWS, FRESH))
        )
        base = eq.bases.GaussianMixture(10).fit(rows[:20_000].numpy())
        down = base.sample(NORMALISER_ROWS, generator=torch.Generator().manual_seed(2)).float()
        return cls(target, base, rows, fresh, down)

    @property
    def features(self) -> int:
        """Columns of a row."""
        return self.rows.shape[1]

    def pair(self) -> eq.Pair:
        """Rows of the table against the base."""
        return eq.Pair(self.rows, self.base)

    def scores(self, surface: nn.Module) -> tuple[float, float]:
        """KL and LSQR."""
        surface.eval()
        with torch.no_grad():
            parts = (torch.cat([surface(part) for part in rows.split(20_000)]) for rows in (self.fresh, self.down))
            u, weight = parts
            log_z = normalise(weight).log_z
            error = self.target.log_prob(self.fresh.double()) - self.base.log_prob(self.fresh.double()) - u.double()
            error += log_z
        return error.mean().item(), error.square().mean().item()


def write(name: str, title: str, words: str, table: list[list[object]]) -> None:
    """Keep a table as experiments/results/<name>.md, and print it."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in table]
    lines.insert(1, "|" + " --- |" * len(table[0]))
    RESULTS.mkdir(exist_ok=True)
    text = f"# {title}\n\n{words}\n\n" + "\n".join(lines) + "\n"
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)
