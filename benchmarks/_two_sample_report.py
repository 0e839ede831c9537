"""The two-sample benchmark's tables and criteria, from the cells that are there."""

from __future__ import annotations

from collections import defaultdict
from math import nan
from pathlib import Path
from typing import Any

from _cells import Line

METHODS = ("ours", "start", "logistic", "boosting", "rulsif")


def write(lines: dict[str, Line], path: Path) -> None:
    """Write the report."""
    by_section: dict[str, list[Line]] = defaultdict(list)
    for line in lines.values():
        by_section[line["cell"]["section"]].append(line)
    parts = ["# Two samples", "", "From benchmarks/two_samples.py; all cells, those that failed too.", ""]
    for section, table in (
        ("ratio", _ratio),
        ("information", _information),
        ("coverage", _coverage),
        ("halves", _halves),
        ("scale", _scale),
    ):
        parts += [f"## {section.capitalize()}", "", *(table(by_section[section]) or ["Not run yet."]), ""]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(parts), encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


def _ok(lines: list[Line]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(line["cell"], line["result"]) for line in lines if line["status"] == "ok"]


def _ratio(lines: list[Line]) -> list[str]:
    cells: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = defaultdict(dict)
    for cell, result in _ok(lines):
        cells[cell["family"], cell["columns"], cell["nats"]][cell["method"]] = result
    head = ["pair", "columns", "nats", *(f"{m}" for m in METHODS), "best?", "KL ours", "KL true", "cpu s"]
    rows, won, compared, near = [], 0, 0, []
    for (family, columns, nats), found in sorted(cells.items(), key=lambda item: (item[0][2], *item[0][:2])):
        errors = {m: found[m]["error"] if m in found else nan for m in METHODS}
        others = [errors[m] for m in METHODS[1:] if m in found]
        whole = all(m in found for m in METHODS)
        best = whole and errors["ours"] <= min(others) * (1.0 + 1e-9)
        compared += whole
        won += best
        ours = found.get("ours", {})
        if nats == 20.0 and ours:
            near.append(abs(ours["kl"] / ours["truth"] - 1.0) <= 0.15)
        numbers = [f"{errors[m]:.3g}" for m in METHODS]
        kl = [f"{ours.get('kl', nan):.2f} ± {ours.get('se', nan):.2f}", f"{ours.get('truth', nan):.2f}"]
        rows.append([family, columns, nats, *numbers, "yes" if best else "", *kl, f"{ours.get('cpu', nan):.0f}"])
    if not rows:
        return []
    said = [
        "Squared error of the log ratio, the mean over fresh rows of both sides.",
        "",
        *_table(head, rows),
        "",
        f"At most the best other in {won} of the {compared} cells where all were run (wanted: 75 % of 27).",
        f"KL within 15 % at 20 nats in {sum(near)} of {len(near)}.",
    ]
    return [*said, *_failures(lines)]


def _information(lines: list[Line]) -> list[str]:
    found: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for cell, result in _ok(lines):
        found[cell["task"]][cell["method"]] = result
    rows, good, beaten, high = [], 0, 0, 0
    for task, by in found.items():
        ours, ksg = by.get("ours"), by.get("ksg")
        if ours is None:
            continue
        error = abs(ours["value"] - ours["truth"])
        ok = error <= max(0.05, 0.1 * ours["truth"])
        good += ok
        other = abs(ksg["value"] - ksg["truth"]) if ksg else nan
        if ours["columns"] > 3:
            high += 1
            beaten += error < other
        value = f"{ours['value']:.4f} ± {ours['se']:.4f}"
        rows.append(
            [
                task,
                ours["columns"],
                f"{ours['truth']:.4f}",
                value,
                f"{error:.4f}",
                f"{other:.4f}",
                "yes" if ok else "",
                f"{ours['cpu']:.0f}",
            ]
        )
    if not rows:
        return []
    return [
        *_table(["task", "columns", "truth", "ours", "error", "KSG's error", "within?", "cpu s"], rows),
        "",
        f"Within max(0.05, 10 %) on {good} of {len(rows)} (wanted 80 %).",
        f"Nearer than KSG on {beaten} of the {high} with more than 3 columns.",
        *_failures(lines),
    ]


def _coverage(lines: list[Line]) -> list[str]:
    by_task: dict[str, list[float]] = defaultdict(list)
    inside: dict[str, int] = defaultdict(int)
    for cell, result in _ok(lines):
        by_task[cell["task"]] += result["z"]
        inside[cell["task"]] += result["inside"]
    rows = [
        [
            task,
            f"{inside[task]}/{len(z)}",
            f"{sum(z) / len(z):+.2f}",
            f"{(sum((v - sum(z) / len(z)) ** 2 for v in z) / len(z)) ** 0.5:.2f}",
        ]
        for task, z in by_task.items()
    ]
    if not rows:
        return []
    total, of = sum(inside.values()), sum(map(len, by_task.values()))
    return [
        *_table(["task", "inside 95 %", "mean z", "sd of z"], rows),
        "",
        f"Pooled: {total} of {of} ({total / of:.1%}; wanted 92 to 98 %).",
        *_failures(lines),
    ]


def _halves(lines: list[Line]) -> list[str]:
    said = []
    for _, result in _ok(lines):
        within = sum(abs(value) <= 2.0 * se for value, se in result["kl"])
        said.append(f"KL of two halves of a table is 0 within 2 SE in {within} of {len(result['kl'])}.")
    return said


def _scale(lines: list[Line]) -> list[str]:
    return [
        f"{cell['rows']:,} + {cell['rows']:,} rows × {cell['columns']} columns: {r['wall']:.0f} s, "
        f"peak {r['peak_gib']:.2f} GiB ({r['before_gib']:.2f} GiB before the fit); "
        f"held-out score {r['score']:.4f}. Wanted: 120 s, 2 GiB."
        for cell, r in _ok(lines)
    ]


def _failures(lines: list[Line]) -> list[str]:
    failed = [line for line in lines if line["status"] != "ok"]
    return [f"- {line['status']}: {line['cell']}" for line in failed]


def _table(head: list[str], rows: list[list[Any]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(map(str, line)) + " |" for line in lines]
