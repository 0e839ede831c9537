# ruff: noqa: INP001, T201  (a script of the documentation)
"""Covariate shift: labelled rows are old, the rows to predict are new, and both obey one law.

    p_new(y | x) = p_old(y | x),     E_new loss = E_old r·loss,     r(x) = p_new(x) / p_old(x)

Old rows are plain; new ones passed a selection that neither side's mean and covariance describe. Prints the errors of
two models on fresh new rows: trained on old rows as they are, on old rows weighted, and on labelled new rows, which in
earnest nobody has.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

import equipoise as eq

Array = NDArray[np.float64]

NOISE = 0.3


def rows(n: int, rng: np.random.Generator, *, new: bool) -> Array:
    """Rows (n, 3): old ones, or those of them that are selected."""
    X = rng.multivariate_normal([0.0, 0.0, 0.0], [[1.0, 0.0, 0.6], [0.0, 1.0, 0.0], [0.6, 0.0, 1.0]], 10 * n)
    return (X[rng.uniform(size=len(X)) < selected(X)] if new else X)[:n]


def selected(X: Array) -> Array:
    """The probability that a row is among the new ones: the exact ratio, up to a factor."""
    chance: Array = expit(3.0 * np.sin(2.0 * X[:, 0]) + 2.0 * X[:, 0] * X[:, 1] - 2.0)
    return chance


def labels(X: Array, rng: np.random.Generator) -> Array:
    """What is to be predicted: no linear function of the rows."""
    law = np.sin(2.0 * X[:, 0]) + X[:, 0] * X[:, 1] + 0.5 * X[:, 2]
    noisy: Array = law + NOISE * rng.standard_normal(len(X))
    return noisy


def errors(
    models: dict[str, BaseEstimator], n: int = 1000, seed: int = 0, budget: int | str = "auto"
) -> tuple[float, dict[str, list[float]]]:
    """How many old rows carry the weight, and each model's mean squared errors on fresh new rows."""
    rng = np.random.default_rng(seed)
    X_old, X_new, fresh = rows(n, rng, new=False), rows(n, rng, new=True), rows(20 * n, rng, new=True)
    y_old, y_new, y_fresh = (labels(X, rng) for X in (X_old, X_new, fresh))

    ratio = eq.DensityRatio(budget=budget, random_state=seed).fit(X_new, X_old)
    weight = ratio.weights(X_old)
    effective = weight.sum() ** 2 / (weight**2).sum()

    def error(model: BaseEstimator, X: Array, y: Array, sample_weight: Array | None) -> float:
        predicted = model.fit(X, y, sample_weight=sample_weight).predict(fresh)
        return float(np.mean((predicted - y_fresh) ** 2))

    old = (None, weight, selected(X_old))
    return effective, {
        name: [*(error(model, X_old, y_old, chosen) for chosen in old), error(model, X_new, y_new, None)]
        for name, model in models.items()
    }


MODELS = {"ridge regression": Ridge(), "random forest": RandomForestRegressor(min_samples_leaf=3, random_state=0)}
HEADINGS = ("old rows", "weighted", "exactly weighted", "labelled new rows")


def main() -> None:
    """Print a table."""
    effective, found = errors(MODELS)
    print(f"effective sample size: {effective:.0f} of 1,000 old rows carry the weight")
    print(f"mean squared error on 20,000 fresh new rows, {NOISE**2:.2f} of it noise:\n")
    print(" ".join(f"{word:>17s}" for word in ("trained on", *HEADINGS)))
    for name, values in found.items():
        print(" ".join([f"{name:>17s}", *(f"{value:17.3f}" for value in values)]))


if __name__ == "__main__":
    main()
