"""What importing the package costs beside torch, each in a fresh interpreter, interleaved, medians of nine.

    cost = median t(import torch, X) − median t(import torch)

Run: python benchmarks/import_time.py
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import perf_counter

STATEMENTS = {
    "torch": "import torch",
    "equipoise": "import torch, equipoise",
    "equipoise.catalog": "import torch, equipoise.catalog",
    "equipoise.push": "import torch, equipoise; equipoise.push",
    "equipoise.Density": "import torch, equipoise; equipoise.Density",
}
REPEATS = 9


def seconds(statement: str) -> float:
    """Wall time of one statement in a fresh interpreter."""
    start = perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return perf_counter() - start


def main() -> None:
    """Print the table."""
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for _ in range(REPEATS):
        for name, statement in STATEMENTS.items():
            times[name].append(seconds(statement))
    torch_alone = median(times["torch"])
    for name, values in times.items():
        print(f"{name:20s} {median(values):6.3f} s   beside torch {median(values) - torch_alone:+.3f} s")


if __name__ == "__main__":
    main()
