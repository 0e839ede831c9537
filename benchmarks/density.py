"""The density benchmark: what `eq.Density().fit(X)` gives, beside the truth, its own base, and what others would use.

    python benchmarks/density.py                 the default grid, about an hour on two cores; resumes where it was
    python benchmarks/density.py --grid full     three minutes a peer, three seeds of everything, the long runs: hours
    python benchmarks/density.py --only columns  one section
    python benchmarks/density.py --again ours    once more what a cell's key contains
    python benchmarks/density.py --report        the tables and criteria from what is there, nothing run

Every finished cell is a line of benchmarks/results/density.jsonl; the report is density.md beside it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _cells import Cell, read, run

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "density.jsonl"
REPORT = HERE / "results" / "density.md"

DEPENDENT = ("two_spirals", "stripes", "full_mixture", "funnel", "clayton", "curved_ridge")
TABLES = ("iris", "wine", "diabetes", "breast_cancer", "digits", "magic", "penbased")
PEERS = ("kde", "gmm", "nsf", "maf")

# Everything that decides a figure is fixed here, before a run.
GRIDS: dict[str, dict[str, Any]] = {
    "default": {
        "peer_seconds": {1_000: 30, 10_000: 60, 100_000: 60},
        "seeds": {1_000: 3, 10_000: 1, 100_000: 1},
        "columns_seeds": 1,
        "table_seeds": 1,
        "long": False,
    },
    "full": {
        "peer_seconds": {1_000: 180, 10_000: 180, 100_000: 180},
        "seeds": {1_000: 3, 10_000: 3, 100_000: 3},
        "columns_seeds": 3,
        "table_seeds": 3,
        "long": True,
    },
}
NEVER_WORSE_FITS, NORMALISER_FITS, NORMALISER_STEPS = 100, 2_000, 60


def columns_cells(grid: dict[str, Any]) -> Iterator[Cell]:
    for seed in range(grid["columns_seeds"]):
        common = {"section": "columns", "seed": seed, "threads": 2}
        for target, rows in (("columns", 100_000), ("columns", 10_000), ("transformed_columns", 100_000)):
            yield {**common, "target": target, "rows": rows, "base": "auto", "limit": 600}
        for target, base in (("columns", "any"), ("columns", "uniform"), ("transformed_columns", "any")):
            yield {**common, "target": target, "rows": None, "base": base, "seconds": 300, "limit": 600}
        if grid["long"]:
            gaussian = {"target": "transformed_columns", "base": "gaussian", "seconds": 900, "limit": 1_500}
            yield {**common, "rows": None, **gaussian}


def dependent_cells(grid: dict[str, Any]) -> Iterator[Cell]:
    for n, seeds in grid["seeds"].items():
        for seed in range(seeds):
            for target in DEPENDENT:
                common = {"section": "dependent", "target": target, "n": n, "seed": seed}
                for method in ("ours", "base_only"):
                    yield {**common, "method": method, "limit": 900}
                for peer in PEERS:
                    seconds = grid["peer_seconds"][n]
                    yield {**common, "method": peer, "seconds": seconds, "limit": 2 * seconds + 420}


def table_cells(grid: dict[str, Any]) -> Iterator[Cell]:
    for seed in range(grid["table_seeds"]):
        for table in TABLES:
            common = {"section": "table", "table": table, "seed": seed}
            for method in ("ours", "base_only"):
                yield {**common, "method": method, "limit": 900}
            for peer in PEERS:
                seconds = grid["peer_seconds"][10_000]
                yield {**common, "method": peer, "seconds": seconds, "limit": 2 * seconds + 300}


def other_cells(grid: dict[str, Any]) -> Iterator[Cell]:
    for first in range(0, NEVER_WORSE_FITS, 10):
        yield {"section": "never_worse", "first": first, "count": 10, "limit": 900}
    for first in range(0, NORMALISER_FITS, 100):
        yield {"section": "normaliser", "first": first, "count": 100, "steps": NORMALISER_STEPS, "limit": 900}
    yield {"section": "scoring", "n": 100_000, "seed": 0, "threads": 2, "limit": 1_200}
    for n, features in ((10_000, 50), (200, 5), (100_000, 20)):
        yield {"section": "wall_time", "n": n, "features": features, "seed": 0, "threads": 2, "limit": 900}


def cells(grid: dict[str, Any]) -> list[Cell]:
    """The whole grid, what needs the whole machine last."""
    every = [*other_cells(grid), *dependent_cells(grid), *table_cells(grid), *columns_cells(grid)]
    return sorted(every, key=lambda cell: cell.get("threads", 1))


def main() -> None:
    """Run what is asked for, then report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grid", choices=GRIDS, default="default")
    parser.add_argument("--only", metavar="TEXT", help="cells whose key contains the text")
    parser.add_argument("--again", metavar="TEXT", help="run again what has a line already and contains the text")
    parser.add_argument("--stretch", type=float, default=1.0, help="times a cell's limit, on a machine that others use")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        from _density_cells import work

        print(json.dumps(work(json.loads(arguments.cell)), default=float))
        return
    if not arguments.report:
        from _cells import key_of

        chosen = [c for c in cells(GRIDS[arguments.grid]) if arguments.only is None or arguments.only in key_of(c)]
        stretched = [{**cell, "limit": arguments.stretch * cell["limit"]} for cell in chosen]
        run(Path(__file__), stretched, RESULTS, arguments.again)
    from _density_report import write

    write(read(RESULTS), REPORT)


if __name__ == "__main__":
    main()
