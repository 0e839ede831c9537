"""The density benchmark's report: every cell in a table, every criterion with its figure, passed or not.

    write(lines, path)      lines as read from density.jsonl

A method that failed, or that held an untouched row impossible, counts as infinitely far from the truth.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import exp, inf, isfinite, log, sqrt
from pathlib import Path
from statistics import fmean
from typing import Any

from _lines import (
    Line,
    Lines,
    across_seeds,
    figure,
    fits_of,
    lsqr_of,
    matches,
    mean_lsqr,
    mean_of,
    paired,
    pooled,
)

PEERS = ("kde", "gmm", "nsf", "maf")
METHODS = ("base_only", "ours", *PEERS)
COLUMNS = {  # (target, rows, base): the LSQR to reach, the paper's own
    ("columns", None, "any"): (0.015, "0.03 to 0.054"),
    ("columns", None, "uniform"): (0.03, "0.03 to 0.054"),
    ("columns", 100_000, "auto"): (0.12, "3.13"),
    ("columns", 10_000, "auto"): (0.7, "8,907"),
    ("transformed_columns", None, "any"): (0.05, "0.204"),
    ("transformed_columns", 100_000, "auto"): (0.3, "none"),
    ("transformed_columns", None, "gaussian"): (0.5, "0.32 to 0.44"),
}


@dataclass(frozen=True)
class Criterion:
    """One line of what shows that it is done; ``met`` is None where nothing was run."""

    text: str
    found: str
    met: bool | None

    def __str__(self) -> str:
        mark = {True: "met", False: "NOT met", None: "not all run" if self.found else "not run"}[self.met]
        return f"| {self.text} | {self.found} | {mark} |"


def write(lines: dict[str, Line], path: Path) -> None:
    """Write the report."""
    by_section: dict[str, Lines] = defaultdict(list)
    for line in lines.values():
        by_section[line["cell"]["section"]].append(line)
    parts = [section(by_section[name]) for name, section in SECTIONS.items()]
    criteria = [criterion for _, found in parts for criterion in found]
    head = [
        "# Density: measured",
        "",
        "Written by `benchmarks/density.py`; every figure is a line of `density.jsonl`.",
        "",
    ]
    head += ["| what was asked | what was found | |", "|---|---|---|", *map(str, criteria), ""]
    failed = [line for line in lines.values() if line["status"] != "ok"]
    body = [text for text, _ in parts if text]
    path.write_text("\n".join([*head, *body, *_unfinished(failed)]) + "\n", encoding="utf-8")
    print("\n".join(map(str, criteria)))


def _once(complete: bool, met: bool) -> bool | None:
    """A verdict, once all that was asked for has run."""
    return met if complete else None


def columns(lines: Lines) -> tuple[str, list[Criterion]]:
    """Columns and Transformed Columns."""
    rows, criteria = [], []
    for (target, n, base), (bound, paper) in COLUMNS.items():
        cells = [x for x in lines if matches(x, target=target, rows=n, base=base)]
        what = f"{target}, {'samples without end' if n is None else f'{n:,} rows'}, base {base}"
        values = [lsqr_of(x) for x in cells]
        mean = fmean(values) if values else None
        criteria.append(Criterion(f"{what}: LSQR ≤ {bound}", figure(mean), None if mean is None else mean <= bound))
        rows += [
            [what, x["cell"]["seed"], _shown(x, "lsqr"), _shown(x, "kl"), _base(x), x["result"]["fit_seconds"], paper]
            for x in cells
            if x["status"] == "ok"
        ]
    head = ["setting", "seed", "LSQR", "KL", "base only: LSQR", "seconds", "paper's LSQR"]
    return _section("Columns and Transformed Columns", head, rows), criteria


def dependent(lines: Lines) -> tuple[str, list[Criterion]]:
    """The six dependent targets against their base and the peers."""
    settings = sorted({(x["cell"]["n"], x["cell"]["target"]) for x in lines})
    rows, ratios, gains = [], {}, {}
    for n, target in settings:
        cells = [x for x in lines if matches(x, n=n, target=target)]
        means = {m: mean_lsqr(cells, m) for m in METHODS}
        peers = {m: v for m, v in means.items() if m in PEERS and v is not None}
        if peers and means["ours"] is not None:
            ratios[n, target] = means["ours"] / min(peers.values())
        if means["ours"] is not None and means["base_only"] is not None and n >= 10_000:
            gains[n, target] = 1.0 - means["ours"] / means["base_only"]
        ratio = figure(ratios.get((n, target)))
        rows.append([f"{target}, {n:,}", *[across_seeds(cells, m) for m in METHODS], ratio])
    head = ["target, rows", *METHODS, "ours / best peer"]
    text = _section("Six dependent targets: LSQR ± SE / KL ± SE, averaged over seeds", head, rows)
    return text, [*_ratio_criteria(list(ratios.values())), _gain_criterion(list(gains.values()))]


def _ratio_criteria(ratios: list[float]) -> list[Criterion]:
    if not ratios:
        return [Criterion("dependent targets against the best peer", "", None)]
    finite = [r for r in ratios if isfinite(r) and r > 0]
    mean = exp(fmean(map(log, finite))) if len(finite) == len(ratios) else inf
    better, whole_grid = sum(r < 1.0 for r in ratios), len(ratios) >= 18
    whole = f"of {len(ratios)} settings run (18 asked for)"
    return [
        Criterion(
            "geometric mean of LSQR ratios to the best peer ≤ 0.8",
            f"{figure(mean)}, {whole}",
            _once(whole_grid, mean <= 0.8),
        ),
        Criterion(
            "better than the best peer on at least 12 of 18", f"{better} {whole}", _once(whole_grid, better >= 12)
        ),
        Criterion("worst ratio ≤ 1.5", figure(max(ratios)), _once(whole_grid, max(ratios) <= 1.5)),
    ]


def _gain_criterion(gains: list[float]) -> Criterion:
    text = "the surface lowers base-only LSQR by 30 % or more on at least half, n ≥ 10⁴"
    if not gains:
        return Criterion(text, "", None)
    enough = sum(g >= 0.3 for g in gains)
    return Criterion(text, f"{enough} of {len(gains)}", enough >= len(gains) / 2)


def table(lines: Lines) -> tuple[str, list[Criterion]]:
    """Real tables: held-out log-likelihood, and the paired difference to the best peer."""
    rows, held = [], {}
    for name in dict.fromkeys(x["cell"]["table"] for x in lines):
        cells = [x for x in lines if matches(x, table=name) and x["status"] == "ok"]
        means = {m: mean_of(cells, m, "log_likelihood") for m in METHODS}
        peers = {m: v for m, v in means.items() if m in PEERS and v is not None}
        shown = [figure(means[m], digits=3) for m in METHODS]
        difference = "not run"
        if peers and means["ours"] is not None:
            best = max(peers, key=peers.__getitem__)
            gap, se = paired(cells, best)
            held[name] = gap >= -se
            difference = f"{gap:+.3f} ± {se:.3f} ({best})"
        rows.append([f"{name} {cells[0]['result']['shape'] if cells else ''}", *shown, difference])
    text = _section("Real tables: log-likelihood of untouched rows", ["table", *METHODS, "ours − best peer"], rows)
    if not held:
        return text, [Criterion("real tables against the best peer", "", None)]
    asked = "real tables: within 1 SE of the best peer or above on at least 3/4"
    return text, [Criterion(asked, f"{sum(held.values())} of {len(held)}", sum(held.values()) >= 0.75 * len(held))]


def never_worse(lines: Lines) -> tuple[str, list[Criterion]]:
    """Many small tables against their own base."""
    fits = fits_of(lines)
    if not fits:
        return "", [Criterion("never worse than the base", "", None)]
    worse = [f for f in fits if f["difference"] < -2.0 * f["se"]]
    better = sum(f["difference"] > 2.0 * f["se"] for f in fits)
    pushed = sum(f["pushed"] for f in fits)
    found = f"{len(worse)} of {len(fits)} worse by more than 2 SE, {better} better; {pushed} carry a surface"
    rows = [[f["n"], f["features"], f"{f['difference']:+.4f}", f"{f['se']:.4f}"] for f in worse]
    text = _section("Small tables that came out worse than their base", ["rows", "columns", "difference", "SE"], rows)
    return text, [
        Criterion(
            "100 small tables: worse than the base by 2 SE at most 5 times",
            found,
            _once(len(fits) >= 100, len(worse) <= 5),
        )
    ]


def normaliser(lines: Lines) -> tuple[str, list[Criterion]]:
    """Coverage of log Z."""
    fits = [f for f in fits_of(lines) if f["pushed"]]
    if not fits:
        return "", [Criterion("log Z inside ±1.96 SE in 93.5 to 96.5 %", "", None)]
    rows = []
    for features in (1, 2, 3, None):
        some = [f for f in fits if features in (None, f["features"])]
        inside = [abs(f["truth"] - f["log_z"]) <= 1.96 * f["se"] for f in some]
        share = fmean(inside) if inside else 0.0
        band = 1.96 * sqrt(share * (1 - share) / max(len(some), 1))
        rows.append([features or "all", len(some), f"{share:.4f} ± {band:.4f}", figure(fmean(f["se"] for f in some))])
    text = _section("log Z against quadrature", ["columns", "fits", "inside ±1.96 SE", "mean SE"], rows)
    share = fmean(abs(f["truth"] - f["log_z"]) <= 1.96 * f["se"] for f in fits)
    found = f"{100 * share:.1f} % of {len(fits)} pushed fits"
    return text, [
        Criterion(
            "log Z inside ±1.96 SE in 93.5 to 96.5 %",
            found,
            _once(len(fits_of(lines)) >= 2_000, 0.935 <= share <= 0.965),
        )
    ]


def scoring(lines: Lines) -> tuple[str, list[Criterion]]:
    """Scoring speed."""
    text = "scoring 10⁵ rows, model of 10⁵ × 20: ≥ 100 × scikit-learn's KDE and ≤ 2 s"
    for line in (x for x in lines if x["status"] == "ok"):
        result = line["result"]
        found = f"{result['ours']:.2f} s, {result['ratio']:.0f} × (KDE {result['kde']:.0f} s)"
        return "", [Criterion(text, found, result["ratio"] >= 100.0 and result["ours"] <= 2.0)]
    return "", [Criterion(text, "", None)]


def wall_time(lines: Lines) -> tuple[str, list[Criterion]]:
    """Seconds of default fits."""
    criteria = []
    for n, features, bound in ((10_000, 50, 90), (200, 5, 90), (100_000, 20, 90)):
        done = [x for x in lines if matches(x, n=n, features=features) and x["status"] == "ok"]
        seconds = [x["result"]["fit_seconds"] for x in done]
        text = f"a default fit to {n:,} × {features} in under {bound} s"
        criteria.append(Criterion(text, f"{seconds[0]} s" if seconds else "", seconds[0] < bound if seconds else None))
    return "", criteria


SECTIONS = {
    "columns": columns,
    "dependent": dependent,
    "table": table,
    "never_worse": never_worse,
    "normaliser": normaliser,
    "scoring": scoring,
    "wall_time": wall_time,
}


def _shown(line: Line, name: str) -> str:
    failed = f", {line['result']['failed']} rows −∞" if line["result"]["failed"] else ""
    return pooled([line["result"][name]]) + failed


def _base(line: Line) -> str:
    return pooled([line["result"]["base"]["lsqr"]])


def _section(title: str, head: list[str], rows: list[list[Any]]) -> str:
    if not rows:
        return ""
    lines = [f"## {title}", "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows), ""])


def _unfinished(lines: Lines) -> list[str]:
    if not lines:
        return []
    rows = [f"- {line['status']} after {line['seconds']} s: `{line['cell']}`" for line in lines]
    return ["## Cells that did not finish", "", *rows]
