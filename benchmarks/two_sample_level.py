"""Level and power of the two-sample test beside MMD, energy distance and a logistic classifier, all permuted alike.

    python benchmarks/two_sample_level.py                a quarter of an hour on two quiet cores; resumes where it was
    python benchmarks/two_sample_level.py --only power   one section: level, power, test_scale
    python benchmarks/two_sample_level.py --report       the table and criteria from what is there, nothing run

Every finished cell is a line of benchmarks/results/two_sample_level.jsonl; the report is two_sample_level.md beside it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median
from typing import Any

from _cells import key_of, read, run
from _two_sample_level import ALTERNATIVES, DIMENSIONS, LEVEL, METHODS, PERMUTATIONS, ROWS, SIX, cells, work

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "two_sample_level.jsonl"
REPORT = HERE / "results" / "two_sample_level.md"


def report(lines: dict[str, Any]) -> str:
    """The tables, and whether the criteria are met."""
    done = [line for line in lines.values() if line["status"] == "ok"]
    failed = [line for line in lines.values() if line["status"] != "ok"]
    text = [
        "# Level and power of the two-sample test",
        f"{ROWS} rows a side, level {LEVEL:g}, {PERMUTATIONS} permutations for every method: by construction, equal "
        f"samples are rejected {int(LEVEL * (PERMUTATIONS + 1))} times in {PERMUTATIONS + 1}. Shares are of repeats; "
        "bounds are exact binomial ones, 95 % one-sided.",
        "## Null pairs",
        *_level([line for line in done if line["cell"]["section"] == "level"]),
        "## Pairs that differ",
        *_power([line for line in done if line["cell"]["section"] == "power"]),
        "## A large pair",
        *(_scale(line) for line in done if line["cell"]["section"] == "test_scale"),
        *(f"Failed: `{key_of(line['cell'])}`, {line['status']}" for line in failed),
    ]
    return "\n\n".join(text) + "\n"


def _level(lines: list[dict[str, Any]]) -> list[str]:
    from scipy.stats import binomtest

    rows, bounds, everything = [], [], [0, 0]
    for columns in DIMENSIONS:
        some = [line for line in lines if line["cell"]["columns"] == columns]
        n, k = sum(line["cell"]["count"] for line in some), sum(line["result"]["rejected"] for line in some)
        if not n:
            continue
        bounds.append(binomtest(k, n, alternative="less").proportion_ci(0.95).high)
        everything = [everything[0] + k, everything[1] + n]
        rows.append(f"| {columns} | {n:,} | {k / n:.3f} | {bounds[-1]:.3f} |")
    if not rows:
        return ["Not run."]
    pooled = everything[0] / everything[1]
    met = all(bound <= 0.07 for bound in bounds) and 0.04 <= pooled <= 0.06
    table = "\n".join(["| columns | repeats | rejected | upper bound |", "| ---: | ---: | ---: | ---: |", *rows])
    return [table, f"Pooled: {pooled:.4f}. Every bound ≤ 0.07 and pooled within 0.04 to 0.06: {_said(met)}."]


def _power(lines: list[dict[str, Any]]) -> list[str]:
    rows, at_least, best, milliseconds = [], [], [], []
    for name, (columns, _) in ALTERNATIVES.items():
        some = [line for line in lines if line["cell"]["alternative"] == name]
        n = sum(line["cell"]["count"] for line in some)
        if not n:
            continue
        share = {m: sum(line["result"]["rejected"][m] for line in some) / n for m in METHODS}
        milliseconds += [line["result"]["milliseconds"]["ours"] for line in some]
        peers = [share[m] for m in METHODS if m != "ours"]
        if name in SIX:
            at_least.append(share["ours"] >= median(peers))
            best.append(share["ours"] >= max(peers))
        cells_said = " | ".join(f"**{s:.2f}**" if s == max(share.values()) else f"{s:.2f}" for s in share.values())
        rows.append(f"| {name} | {columns} | {n} | {cells_said} |")
    if not rows:
        return ["Not run."]
    head = (
        f"| alternative | columns | repeats | {' | '.join(METHODS)} |\n| --- | ---: | ---: | {'---: | ' * len(METHODS)}"
    )
    return [
        "\n".join([head.rstrip(), *rows]),
        "mmd: Gaussian kernel, median heuristic. energy: energy distance. logistic: a classifier of one half of the "
        "rows, its log odds at the other. The first six are those of the claim.",
        f"Of the six, ours at least the median of the others: {sum(at_least)} of {len(at_least)}; "
        f"the best: {sum(best)}. At least the median everywhere and the best on two: "
        f"{_said(all(at_least) and sum(best) >= 2)}.",
        f"Ours took {median(milliseconds):.0f} ms a pair on one thread, the median over cells.",
    ]


def _scale(line: dict[str, Any]) -> str:
    cell, found = line["cell"], line["result"]
    return (
        f"{cell['rows']:,} + {cell['rows']:,} rows × {cell['columns']} columns by default, one column moved by 0.02 "
        f"standard deviations: p = {found['pvalue']:.2g} after {found['fit_seconds']:g} s, its columns named "
        f"({', '.join(found['named']) or 'none'}) after {found['with_columns_seconds']:g} s, "
        f"{found['gigabytes']:g} GiB at most, {found['gigabytes_before']:g} of them before."
    )


def _said(met: bool) -> str:
    return "met" if met else "**missed**"


def main() -> None:
    """Run what is asked for, then report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="TEXT", help="cells whose key contains the text")
    parser.add_argument("--again", metavar="TEXT", help="run again what has a line already and contains the text")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        print(json.dumps(work(json.loads(arguments.cell)), default=float))
        return
    if not arguments.report:
        chosen = [cell for cell in cells() if arguments.only is None or arguments.only in key_of(cell)]
        run(Path(__file__), chosen, RESULTS, arguments.again)
    text = report(read(RESULTS))
    REPORT.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
