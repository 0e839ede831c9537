"""What one cell of the density benchmark does: fit, score untouched rows, and say what it measured.

    work(cell) → result, a JSON document

All methods are given the same rows, and judged on the same untouched ones.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from time import perf_counter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import equipoise as eq

Array = NDArray[np.float64]
Result = dict[str, Any]

TEST_ROWS = 20_000
_TEST_SEED = 1_000_000


def rows_of(target: eq.targets.Target, n: int, seed: int) -> Array:
    """Rows in float64 from a seed."""
    return target.sample(n, torch.Generator().manual_seed(seed), torch.float64).numpy()


def figures(log_truth: Array | None, log_model: Array) -> Result:
    """LSQR, KL and log-likelihood with standard errors. NaN counts as −∞: the model has no answer there."""
    model = np.where(np.isnan(log_model), -np.inf, log_model)
    result = {"log_likelihood": _pair(eq.metrics.log_likelihood(model)), "failed": int(np.isneginf(model).sum())}
    if log_truth is not None:
        result["lsqr"] = _pair(eq.metrics.lsqr(log_truth, model))
        result["kl"] = _pair(eq.metrics.kl(log_truth, model))
    return result


def _pair(measured: eq.metrics.Measured) -> list[float | None]:
    return [value if isfinite(value) else None for value in (measured.value, measured.se)]


def fit_ours(X: Array, seed: int, **options: Any) -> tuple[Any, float]:
    """A Density and the seconds it took."""
    start = perf_counter()
    density = eq.Density(random_state=seed, **options).fit(X)
    return density, perf_counter() - start


def describe(density: Any) -> list[Result]:
    """The candidates that carry weight."""
    keep = ("name", "score", "se", "weight")
    return [{k: entry.get(k) for k in keep} for entry in density.selection_ if entry.get("weight", 0.0) > 0.0]


def base_alone(density: Any, rows: Array) -> Array:
    """The log density of the base under the surface."""
    return density.base_.log_prob(torch.from_numpy(rows)).numpy()


def fit_and_score(method: str, train: Array, test: Array, log_truth: Array | None, cell: Result) -> Result:
    """Any method of the comparison on any table."""
    seed = cell["seed"]
    if method in ("ours", "base_only"):
        density, seconds = fit_ours(train, seed, **({"budget": 0} if method == "base_only" else {}))
        result = {**figures(log_truth, density.score_samples(test)), "chosen": describe(density)}
        result["base"] = figures(log_truth, base_alone(density, test))
        scores = density.score_samples(test)
    else:
        from _peers import fit_peer

        start = perf_counter()
        score, chosen = fit_peer(method, train, cell["seconds"], seed)
        seconds = perf_counter() - start
        scores = score(test)
        result = {**figures(log_truth, scores), "chosen": chosen}
    if log_truth is None:
        result["scores"] = [round(float(s), 5) if isfinite(s) else None for s in scores]  # for paired differences
    return {**result, "fit_seconds": round(seconds, 2)}


def dependent(cell: Result) -> Result:
    """One of the six dependent targets, n rows, one method."""
    target = eq.targets.get(cell["target"])
    train = rows_of(target, cell["n"], cell["seed"])
    test = rows_of(target, TEST_ROWS, _TEST_SEED + cell["seed"])
    return fit_and_score(cell["method"], train, test, target.log_prob(test).numpy(), cell)


def table(cell: Result) -> Result:
    """A real table, one method: log-likelihood of untouched rows."""
    from _tables import load

    train, test = load(cell["table"], cell["seed"])
    return {**fit_and_score(cell["method"], train, test, None, cell), "shape": list(train.shape)}


def columns(cell: Result) -> Result:
    """Columns or Transformed Columns: rows of a table under defaults, or samples without end under a given base."""
    target = eq.targets.get(cell["target"])
    test = rows_of(target, 100_000, _TEST_SEED + cell["seed"])
    log_truth = target.log_prob(test).numpy()
    if cell["rows"] is not None:
        return fit_and_score("ours", rows_of(target, cell["rows"], cell["seed"]), test, log_truth, cell)
    from _recipes import recipe_unlimited

    start = perf_counter()
    log_density, log_base = recipe_unlimited(target, cell["base"], cell["seconds"], cell["seed"])
    seconds = perf_counter() - start
    result = figures(log_truth, log_density(test))
    return {**result, "base": figures(log_truth, log_base(test)), "fit_seconds": round(seconds, 2)}


def never_worse(cell: Result) -> Result:
    """Small random tables: the difference to the bases alone (no budget to train) on untouched rows, with its error."""
    from _random_tables import random_target

    fits = []
    for number in range(cell["first"], cell["first"] + cell["count"]):
        target, n = random_target(number)
        train, test = rows_of(target, n, number), rows_of(target, 4_000, _TEST_SEED + number)
        density, seconds = fit_ours(train, number)
        alone, _ = fit_ours(train, number, budget=0)
        difference = density.score_samples(test) - alone.score_samples(test)
        se = difference.std() / np.sqrt(len(difference))
        fits.append(
            {
                "n": n,
                "features": target.features,
                "difference": float(difference.mean()),
                "se": float(se),
                "seconds": round(seconds, 3),
                "pushed": density.surface_ is not None,
            }
        )
    return {"fits": fits}


def normaliser(cell: Result) -> Result:
    """Tiny fits: log Z of the pushed member with its standard error, against quadrature of base·R(u)."""
    from _random_tables import log_integral, random_target

    fits = []
    for number in range(cell["first"], cell["first"] + cell["count"]):
        target, _ = random_target(number, features=1 + number % 3)
        density, seconds = fit_ours(rows_of(target, 300, number), number, base="gaussian", budget=cell["steps"])
        fit = {"features": target.features, "pushed": density.surface_ is not None, "seconds": round(seconds, 3)}
        if fit["pushed"]:
            fit["log_z"], fit["se"] = density.log_normalizer_, density.log_normalizer_se_
            member = density.stack_.strongest
            fit["truth"] = log_integral(lambda x, m=member: m.base.log_prob(x) + m.log_weight(x), member.base)
        fits.append(fit)
    return {"fits": fits}


def scoring(cell: Result) -> Result:
    """Rows a second of a model of 10^5 × 20, beside scikit-learn's kernel density of the same rows; interleaved."""
    from sklearn.neighbors import KernelDensity

    target = eq.targets.Columns()
    train, test = rows_of(target, cell["n"], cell["seed"]), rows_of(target, cell["n"], _TEST_SEED)
    density, fit_seconds = fit_ours(train, cell["seed"])
    kernel = KernelDensity(bandwidth=0.5).fit(train)
    ours, theirs = [], []
    for repeat in range(5):
        part = test[200 * repeat : 200 * (repeat + 1)]
        ours.append(_seconds(lambda: density.score_samples(test)))
        theirs.append(_seconds(lambda part=part: kernel.score_samples(part)) * len(test) / len(part))
    own, kde = float(np.median(ours)), float(np.median(theirs))
    return {"ours": own, "kde": kde, "ratio": kde / own, "fit_seconds": round(fit_seconds, 2)}


def wall_time(cell: Result) -> Result:
    """Seconds that a fit by default takes."""
    from _random_tables import random_table

    density, seconds = fit_ours(random_table(cell["n"], cell["features"], cell["seed"]), cell["seed"])
    return {"fit_seconds": round(seconds, 2), "chosen": describe(density)}


def _seconds(action: Callable[[], Any]) -> float:
    start = perf_counter()
    action()
    return perf_counter() - start


SECTIONS: dict[str, Callable[[Result], Result]] = {
    "columns": columns,
    "dependent": dependent,
    "table": table,
    "never_worse": never_worse,
    "normaliser": normaliser,
    "scoring": scoring,
    "wall_time": wall_time,
}


def work(cell: Result) -> Result:
    """Do a cell."""
    return SECTIONS[cell["section"]](cell)
