"""Write the tables that ship with the repository: two arms of a spiral with noise, 5,000 rows and 2,000 fresh ones.

    x = r·(cos t, sin t)/3 + 0.15·ε,   r = ±t,   t = 3π·√U(0.05, 1)

Run: python experiments/spirals_table.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np


def spirals(n: int, seed: int) -> np.ndarray:
    """Rows of the two-armed spiral, (n, 2)."""
    rng = np.random.default_rng(seed)
    t = 3.0 * np.pi * np.sqrt(rng.uniform(0.05, 1.0, n))
    r = t * rng.choice([-1.0, 1.0], n)
    return np.column_stack([r * np.cos(t), r * np.sin(t)]) / 3.0 + rng.normal(0.0, 0.15, (n, 2))


if __name__ == "__main__":
    for name, n, seed in (("spirals.csv", 5_000, 0), ("spirals_test.csv", 2_000, 1)):
        target = Path(__file__).parents[1] / "data" / name
        np.savetxt(target, spirals(n, seed), fmt="%.4f", delimiter=",", header="east,north", comments="")
        print(f"wrote {target.name}")
