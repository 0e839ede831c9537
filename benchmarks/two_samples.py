"""The two-sample benchmark: ratios against exact truth and peers, information with its intervals, tests, speed.

    python benchmarks/two_samples.py               everything, within an hour on two quiet cores; resumes where it was
    python benchmarks/two_samples.py --only ratio  one section: ratio, information, coverage, halves, scale
    python benchmarks/two_samples.py --report      the tables and criteria from what is there, nothing run

Every finished cell is a line of benchmarks/results/two_samples.jsonl; the report is two_samples.md beside it. Level and
power of the two-sample test stand in their own file, see _two_sample_level.py.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from _cells import Cell, key_of, read, run
from _information_tasks import tasks
from _pairs import FAMILIES

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "two_samples.jsonl"
REPORT = HERE / "results" / "two_samples.md"

# Everything that decides a figure is fixed here, before a run.
ROWS, COLUMNS, NATS = 10_000, (2, 10, 40), (0.5, 5.0, 20.0)
METHODS = ("ours", "start", "logistic", "boosting", "rulsif")
COVERED = ("normal 1x1, 0.75", "normal 3x3, dense 0.5", "student 2x2, dof 2", "uniform noise, 0.75")
REPEATS, REPEATS_A_CELL, COVERED_ROWS = 100, 10, 1_000
HALVES = 20


def ratio_cells() -> Iterator[Cell]:
    for nats in NATS:
        for family in FAMILIES:
            for columns in COLUMNS:
                for method in METHODS:
                    pair = {"family": family, "columns": columns, "nats": nats, "rows": ROWS, "seed": 0}
                    yield {"section": "ratio", **pair, "method": method, "limit": 900}


def information_cells() -> Iterator[Cell]:
    for task in tasks():
        for method in ("ours", "ksg"):
            yield {"section": "information", "task": task.name, "rows": ROWS, "seed": 0, "method": method, "limit": 900}


def coverage_cells() -> Iterator[Cell]:
    for first in range(0, REPEATS, REPEATS_A_CELL):
        for task in COVERED:
            common = {"section": "coverage", "task": task, "rows": COVERED_ROWS}
            yield {**common, "first": first, "count": REPEATS_A_CELL, "limit": 900}


def other_cells() -> Iterator[Cell]:
    yield {"section": "halves", "count": HALVES, "limit": 900}
    yield {"section": "scale", "rows": 100_000, "columns": 20, "threads": 2, "limit": 900}


def cells() -> list[Cell]:
    """The whole grid, what needs the whole machine last."""
    every = [*ratio_cells(), *information_cells(), *coverage_cells(), *other_cells()]
    return sorted(every, key=lambda cell: cell.get("threads", 1))


def main() -> None:
    """Run what is asked for, then report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="TEXT", help="cells whose key contains the text")
    parser.add_argument("--again", metavar="TEXT", help="run again what has a line already and contains the text")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        from _two_sample_cells import work

        print(json.dumps(work(json.loads(arguments.cell)), default=float))
        return
    if not arguments.report:
        chosen = [cell for cell in cells() if arguments.only is None or arguments.only in key_of(cell)]
        run(Path(__file__), chosen, RESULTS, arguments.again)
    from _two_sample_report import write

    write(read(RESULTS), REPORT)


if __name__ == "__main__":
    main()
