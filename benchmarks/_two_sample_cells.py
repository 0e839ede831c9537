"""What a cell of the two-sample benchmark does: fits, and measures against the truth on rows that nobody has seen."""

from __future__ import annotations

import resource
from time import process_time
from typing import Any

import numpy as np
import torch
from _cells import Cell
from _information_tasks import ksg, tasks
from _pairs import pair
from _ratio_peers import PEERS

import equipoise as eq

FRESH = 5_000  # rows of either side to measure on


def work(cell: Cell) -> dict[str, Any]:
    """Do a cell."""
    torch.set_num_threads(int(cell.get("threads", 1)))
    return {"ratio": ratio, "information": information, "coverage": coverage, "halves": halves, "scale": scale}[
        cell["section"]
    ](cell)


def ratio(cell: Cell) -> dict[str, Any]:
    given = pair(cell["family"], cell["columns"], cell["nats"])
    rng = np.random.default_rng(1_000 + cell["seed"])
    num, den = (given.draw(side, cell["rows"], rng) for side in (True, False))
    fresh = [given.draw(side, FRESH, rng) for side in (True, False)]
    start, found = process_time(), {}
    if cell["method"] in PEERS:
        log_ratio = PEERS[cell["method"]](num, den, cell["seed"])
        kl = float(log_ratio(fresh[0]).mean())
    else:
        budget: Any = "auto" if cell["method"] == "ours" else 0
        model = eq.DensityRatio(budget=budget, random_state=cell["seed"]).fit(num, den)
        log_ratio = model.log_ratio
        kl = model.divergence("kl").value
        found = {"bridged": model.bridged_, "overlaps": model.overlaps_, "se": model.divergence("kl").se}
        found["kept"] = [[row["name"], round(row["weight"], 3)] for row in model.selection_ if row["weight"] > 0]
    seconds = process_time() - start
    squared = [float(((log_ratio(rows) - given.log_ratio(rows)) ** 2).mean()) for rows in fresh]
    return {"error": sum(squared) / 2, "squared": squared, "kl": kl, "truth": given.kl, "cpu": seconds, **found}


def information(cell: Cell) -> dict[str, Any]:
    task = _task(cell)
    x, y = task.draw(cell["rows"], np.random.default_rng(2_000 + cell["seed"]))
    start = process_time()
    if cell["method"] == "ksg":
        return {"value": ksg(x, y), "truth": task.nats, "columns": task.columns, "cpu": process_time() - start}
    model = eq.MutualInformation(random_state=cell["seed"]).fit(x, y)
    seconds = process_time() - start
    return {"value": model.value_, "se": model.se_, "truth": task.nats, "columns": task.columns, "cpu": seconds}


def coverage(cell: Cell) -> dict[str, Any]:
    task, inside, scores = _task(cell), 0, []
    start = process_time()
    for k in range(cell["first"], cell["first"] + cell["count"]):
        x, y = task.draw(cell["rows"], np.random.default_rng(3_000 + k))
        model = eq.MutualInformation(random_state=k).fit(x, y)
        inside += model.interval_[0] <= task.nats <= model.interval_[1]
        scores.append((model.value_ - task.nats) / model.se_)
    return {"inside": inside, "of": cell["count"], "z": scores, "cpu": process_time() - start}


def halves(cell: Cell) -> dict[str, Any]:
    """Two halves of one table: KL 0 within two standard errors."""
    within = []
    for k in range(cell["count"]):
        rng = np.random.default_rng(4_000 + k)
        rows = rng.standard_normal((2_000, 4)) @ rng.standard_normal((4, 4))
        found = eq.DensityRatio(random_state=k).fit(rows[::2], rows[1::2]).divergence("kl")
        within.append([found.value, found.se])
    return {"kl": within}


def scale(cell: Cell) -> dict[str, Any]:
    """A large pair, with defaults: seconds, and the memory above the import's and the data's."""
    from time import perf_counter

    rng = np.random.default_rng(0)
    n, d = cell["rows"], cell["columns"]
    num, den = rng.standard_normal((n, d)) + 0.2, np.sinh(rng.standard_normal((n, d)))
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, perf_counter()
    model = eq.DensityRatio(random_state=0).fit(num, den)
    seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"wall": seconds, "peak_gib": peak / 2**20, "before_gib": before / 2**20, "score": model.score_}


def _task(cell: Cell) -> Any:
    return next(task for task in tasks() if task.name == cell["task"])
