"""Level and power of the two-sample test: what is drawn, what is compared, and what one cell does.

    level   the share of null pairs that are rejected at 5 %     power   that of pairs that differ

All methods are calibrated alike: the share of as many permutations whose statistic is at least the true one's.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import equipoise as eq

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], tuple[Array, Array]]
Result = dict[str, Any]

# Everything that decides a figure is fixed here, before a run.
ROWS, LEVEL, PERMUTATIONS = 200, 0.05, 298  # as many as ours takes by default, for everyone
DIMENSIONS, LEVEL_REPEATS, POWER_REPEATS, A_CELL = (2, 10, 30), 1_000, 400, 100
METHODS = ("ours", "mmd", "energy", "logistic")


def normal(rng: np.random.Generator, n: int, d: int) -> Array:
    return rng.normal(size=(n, d))


def null(rng: np.random.Generator, n: int, d: int) -> tuple[Array, Array]:
    """Two samples of one density: correlated columns, half of them skewed, every tenth of whole numbers."""
    mixing = np.eye(d) + 0.3 * rng.normal(size=(d, d)) / np.sqrt(d)
    both = normal(rng, 2 * n, d) @ mixing
    both[:, 1::2] = np.exp(both[:, 1::2])
    both[:, 9::10] = np.floor(both[:, 9::10])
    return both[:n], both[n:]


def changed(change: Callable[[np.random.Generator, Array], Array]) -> Draw:
    """Normal columns, changed in the second sample."""
    return lambda rng, n, d: (normal(rng, n, d), change(rng, normal(rng, n, d)))


def first(rng: np.random.Generator, y: Array, column: Array) -> Array:
    return np.column_stack([column, y[:, 1:]])


def two_humps(rng: np.random.Generator, y: Array, at: float = 0.85) -> Array:
    """Every column an even mixture of two normals, mean 0 and variance 1 like the first sample's."""
    return at * rng.choice([-1.0, 1.0], y.shape) + np.sqrt(1.0 - at**2) * y


def parabola(rng: np.random.Generator, n: int, d: int, share: float = 0.6) -> tuple[Array, Array]:
    """Both samples have the same columns; in the second, one follows the square of another."""
    x, y = normal(rng, n, d), normal(rng, n, d)
    for z, cause in ((x, rng.normal(size=n)), (y, y[:, 0])):
        z[:, 1] = share * (cause**2 - 1.0) / np.sqrt(2.0) + np.sqrt(1.0 - share**2) * z[:, 1]
    return x, y


def ring(rng: np.random.Generator, y: Array, share: float = 0.5) -> Array:
    """In some rows the second column is the first or its opposite: no correlation, and still normal columns."""
    some = rng.random(len(y)) < share
    y[some, 1] = y[some, 0] * rng.choice([-1.0, 1.0], some.sum())
    return y


# name: (columns, draw); the six of the claim, and then some where others might do better
SIX: dict[str, tuple[int, Draw]] = {
    "mean shift in one column": (10, changed(lambda r, y: first(r, y, y[:, 0] + 0.35))),
    "scale of one column": (10, changed(lambda r, y: first(r, y, 1.35 * y[:, 0]))),
    "correlation of one pair": (10, changed(lambda r, y: first(r, y, 0.4 * y[:, 1] + np.sqrt(0.84) * y[:, 0]))),
    "mixture with normal's moments": (2, changed(two_humps)),
    "heavy tails": (5, changed(lambda r, y: r.standard_t(4, y.shape) / np.sqrt(2.0))),
    "nonlinear dependence": (5, parabola),
}
MORE: dict[str, tuple[int, Draw]] = {
    "mean shift in one of two": (2, changed(lambda r, y: first(r, y, y[:, 0] + 0.3))),
    "mean shift in one of thirty": (30, changed(lambda r, y: first(r, y, y[:, 0] + 0.4))),
    "mean shift in all columns": (10, changed(lambda r, y: y + 0.1)),
    "mean shift in all columns, up and down": (10, changed(lambda r, y: y + np.resize([0.1, -0.1], y.shape[1]))),
    "scale of all columns": (30, changed(lambda r, y: 1.06 * y)),
    "correlation of all pairs": (
        10,
        changed(lambda r, y: np.sqrt(0.88) * y + np.sqrt(0.12) * r.normal(size=(len(y), 1))),
    ),
    "one radius for all columns": (10, changed(lambda r, y: y / np.sqrt(r.chisquare(8, (len(y), 1)) / 6.0))),
    "a ring": (5, changed(ring)),
}
ALTERNATIVES = {**SIX, **MORE}


def p_values(method: str, x: Array, y: Array, seed: int) -> float:
    """The p-value of one method."""
    if method == "ours":
        return float(eq.TwoSampleTest(permutations=PERMUTATIONS, random_state=seed).fit(x, y).pvalue_)
    rng = np.random.default_rng([seed, 1])
    if method == "logistic":
        return _logistic(x, y, rng)
    from scipy.spatial.distance import pdist, squareform

    apart = squareform(pdist(np.concatenate([x, y])))
    if method == "mmd":
        kernel = np.exp(-0.5 * (apart / np.median(apart[np.triu_indices(len(apart), 1)])) ** 2)
    else:
        kernel = -apart
    forces = _forces(len(x), len(y), rng)
    return _share(((forces @ kernel) * forces).sum(axis=1))


def _logistic(x: Array, y: Array, rng: np.random.Generator) -> float:
    """A logistic classifier of one half of the rows, its mean log odds at the other half."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = rng.permutation(x), rng.permutation(y)
    n, m = len(x) // 2, len(y) // 2
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit(np.concatenate([x[:n], y[:m]]), np.arange(n + m) < n)
    odds = model.decision_function(np.concatenate([x[n:], y[m:]]))
    return _share(_forces(len(x) - n, len(y) - m, rng) @ odds)


def _forces(n: int, m: int, rng: np.random.Generator) -> Array:
    forces = np.tile(np.r_[np.full(n, 1.0 / n), np.full(m, -1.0 / m)], (PERMUTATIONS + 1, 1))
    rng.permuted(forces[1:], axis=1, out=forces[1:])
    return forces


def _share(values: Array) -> float:
    return float((values >= values[0] - 1e-12).mean())


def level(cell: Result) -> Result:
    """How many of some null pairs ours rejects."""
    found = []
    for repeat in range(cell["first"], cell["first"] + cell["count"]):
        x, y = null(np.random.default_rng([repeat, cell["columns"]]), ROWS, cell["columns"])
        found.append(p_values("ours", x, y, repeat))
    return {"rejected": int((np.array(found) <= LEVEL).sum()), "mean": float(np.mean(found))}


def power(cell: Result) -> Result:
    """How many of some pairs that differ every method rejects, and how long each takes."""
    columns, draw = ALTERNATIVES[cell["alternative"]]
    rejected, seconds = dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0.0)
    for repeat in range(cell["first"], cell["first"] + cell["count"]):
        x, y = draw(np.random.default_rng([repeat, columns, 7]), ROWS, columns)
        for method in METHODS:
            start = perf_counter()
            rejected[method] += p_values(method, x, y, repeat) <= LEVEL
            seconds[method] += perf_counter() - start
    return {"rejected": rejected, "milliseconds": {k: round(1e3 * s / cell["count"], 1) for k, s in seconds.items()}}


def scale(cell: Result) -> Result:
    """Seconds and memory that defaults take on a large pair."""
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(cell["rows"], cell["columns"])) for _ in range(2))
    y[:, 3] += 0.02
    before, start = _gigabytes(), perf_counter()
    test = eq.TwoSampleTest(random_state=0).fit(x, y)
    fitted = perf_counter() - start
    named = [column.name for column in test.drift_ if column.alone <= LEVEL]
    whole = perf_counter() - start
    return {
        "pvalue": test.pvalue_,
        "named": named,
        "fit_seconds": round(fitted, 1),
        "with_columns_seconds": round(whole, 1),
        "gigabytes": round(_gigabytes(), 2),
        "gigabytes_before": round(before, 2),
    }


def _gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


SECTIONS: dict[str, Callable[[Result], Result]] = {"level": level, "power": power, "test_scale": scale}


def cells() -> Iterator[Result]:
    """All cells: those of one thread, then the one that needs the whole machine."""
    for start in range(0, LEVEL_REPEATS, A_CELL):
        for columns in DIMENSIONS:
            yield {"section": "level", "columns": columns, "first": start, "count": A_CELL, "limit": 900}
    for start in range(0, POWER_REPEATS, A_CELL):
        for name in ALTERNATIVES:
            yield {"section": "power", "alternative": name, "first": start, "count": A_CELL, "limit": 900}
    yield {"section": "test_scale", "rows": 100_000, "columns": 20, "threads": 2, "limit": 900}


def work(cell: Result) -> Result:
    """Do a cell."""
    return SECTIONS[cell["section"]](cell)
