"""Figures from the lines of a benchmark: chosen, pooled over seeds, compared row by row.

A line is a cell with its status and result; of several time limits of one method the longest counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, sqrt
from statistics import fmean
from typing import Any

import numpy as np

Line = dict[str, Any]
Lines = list[Line]


def matches(line: Line, **wanted: Any) -> bool:
    return all(line["cell"].get(k) == v for k, v in wanted.items())


def lsqr_of(line: Line) -> float:
    """A model that failed, or held a row impossible, is infinitely far."""
    result = line.get("result")
    return result["lsqr"][0] if result and not result["failed"] and result["lsqr"][0] is not None else inf


def longest(cells: Lines, method: str) -> Lines:
    """A method's cells, one a seed: of several time limits the longest."""
    by_seed: dict[int, Line] = {}
    for line in sorted((x for x in cells if matches(x, method=method)), key=lambda x: x["cell"].get("seconds", 0)):
        by_seed[line["cell"]["seed"]] = line
    return list(by_seed.values())


def mean_lsqr(cells: Lines, method: str) -> float | None:
    values = [lsqr_of(x) for x in longest(cells, method)]
    return fmean(values) if values else None


def mean_of(cells: Lines, method: str, name: str) -> float | None:
    values = [x["result"][name][0] for x in longest(cells, method)]
    return fmean(-inf if v is None else v for v in values) if values else None


def across_seeds(cells: Lines, method: str) -> str:
    lines = longest(cells, method)
    done = [x["result"] for x in lines if x["status"] == "ok"]
    if not done:
        return lines[0]["status"] if lines else ""
    failed = sum(r["failed"] for r in done)
    lost = f", {failed} rows −∞" if failed else ""
    return " / ".join(pooled([r[name] for r in done]) for name in ("lsqr", "kl")) + lost


def pooled(pairs: Sequence[Sequence[float | None]]) -> str:
    if any(value is None for pair in pairs for value in pair):
        return "∞"
    mean, se = fmean(p[0] for p in pairs), sqrt(sum(p[1] ** 2 for p in pairs)) / len(pairs)
    return f"{figure(mean)} ± {se:.1g}"


def paired(cells: Lines, peer: str) -> tuple[float, float]:
    """The mean difference of ours to a peer over untouched rows, and its standard error over rows and seeds."""
    ours, theirs = ({x["cell"]["seed"]: x["result"]["scores"] for x in longest(cells, m)} for m in ("ours", peer))
    seeds = sorted(set(ours) & set(theirs))
    gaps = [np.array(_filled(ours[s])) - np.array(_filled(theirs[s])) for s in seeds]
    means, squares = [g.mean() for g in gaps], [g.var() / len(g) for g in gaps]
    return float(np.mean(means)), float(np.sqrt(np.sum(squares)) / len(gaps))


def _filled(scores: Iterable[float | None]) -> list[float]:
    return [-1e6 if s is None else s for s in scores]  # −∞, in a number that can be subtracted


def fits_of(lines: Lines) -> list[dict[str, Any]]:
    return [fit for line in lines if line["status"] == "ok" for fit in line["result"]["fits"]]


def figure(value: float | None, digits: int | None = None) -> str:
    if value is None:
        return ""
    return f"{value:.{digits}f}" if digits is not None else f"{value:.3g}"
