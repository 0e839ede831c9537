"""What others would use for a log ratio; each tuned by its own held-out or cross-validated score.

fit(num, den, seed) → log_ratio(rows)

logistic    logistic regression on products of columns, its penalty by cross-validation
boosting    gradient-boosted trees, their settings on held-out rows, calibrated by Platt's line
rulsif      relative unconstrained least squares on Gaussian kernels, width and penalty by cross-validation
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LogRatio = Callable[[Array], Array]

_PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
_BOOSTING = [
    {"learning_rate": rate, "max_leaf_nodes": leaves, "max_iter": 400} for rate in (0.05, 0.1) for leaves in (8, 31)
]
_KERNELS, _ALPHA = 100, 0.1
_WIDTHS, _RIDGES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0), (1e-3, 1e-2, 1e-1, 1.0)
_LEAST = 1e-6


def logistic(num: Array, den: Array, seed: int) -> LogRatio:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    rows, labels = np.concatenate([num, den]), np.r_[np.ones(len(num)), np.zeros(len(den))]

    def made(c: float) -> object:
        return make_pipeline(
            StandardScaler(),
            PolynomialFeatures(2, include_bias=False),
            StandardScaler(),
            LogisticRegression(C=c, solver="newton-cholesky", max_iter=50),
        )

    folds = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(rows, labels))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # separable sides do not converge
        scores = []
        for c in _PENALTIES:
            losses = []
            for teach, judge in folds:
                model = made(c).fit(rows[teach], labels[teach])
                value = np.where(labels[judge] == 1, 1.0, -1.0) * model.decision_function(rows[judge])
                losses.append(np.logaddexp(0.0, -value).mean())
            scores.append(np.mean(losses))
        best = made(_PENALTIES[int(np.argmin(scores))]).fit(rows, labels)
    prior = np.log(len(num) / len(den))
    return lambda x: best.decision_function(x) - prior


def boosting(num: Array, den: Array, seed: int) -> LogRatio:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    rows, labels = np.concatenate([num, den]), np.r_[np.ones(len(num)), np.zeros(len(den))]
    order = np.random.default_rng(seed).permutation(len(rows))
    cut = len(rows) // 5
    judge, teach = order[:cut], order[cut:]
    best, least = None, np.inf
    for settings in _BOOSTING:
        model = HistGradientBoostingClassifier(
            **settings, early_stopping=True, validation_fraction=0.15, random_state=seed
        ).fit(rows[teach], labels[teach])
        value = np.where(labels[judge] == 1, 1.0, -1.0) * model.decision_function(rows[judge])
        loss = np.logaddexp(0.0, -value).mean()
        if loss < least:
            best, least = model, loss
    platt = LogisticRegression(C=1e3).fit(best.decision_function(rows[judge])[:, None], labels[judge])
    prior = np.log(len(num) / len(den))
    return lambda x: platt.decision_function(best.decision_function(x)[:, None]) - prior


def rulsif(num: Array, den: Array, seed: int) -> LogRatio:
    """θ = (H + λI)⁻¹h, H = α·mean φφᵀ over num + (1 − α)·mean φφᵀ over den, h = mean φ over num."""
    shift, scale = np.concatenate([num, den]).mean(axis=0), np.concatenate([num, den]).std(axis=0)
    num, den = (num - shift) / scale, (den - shift) / scale
    rng = np.random.default_rng(seed)
    centres = num[rng.choice(len(num), min(_KERNELS, len(num)), replace=False)]
    typical = np.sqrt(np.median(_squared(num[:500], centres)))

    def features(x: Array, width: float) -> Array:
        return np.exp(-0.5 * _squared(x, centres) / (width * typical) ** 2)

    folds = [np.array_split(rng.permutation(len(side)), 5) for side in (num, den)]
    best, least = (1.0, 0.1), np.inf
    for width in _WIDTHS:
        up, down = features(num, width), features(den, width)
        for ridge in _RIDGES:
            losses = []
            for k in range(5):
                held = folds[0][k], folds[1][k]
                theta = _solved(np.delete(up, held[0], axis=0), np.delete(down, held[1], axis=0), ridge)
                losses.append(_loss(up[held[0]] @ theta, down[held[1]] @ theta))
            if np.mean(losses) < least:
                best, least = (width, ridge), np.mean(losses)
    theta = _solved(features(num, best[0]), features(den, best[0]), best[1])

    def log_ratio(x: Array) -> Array:
        relative = np.clip(features((x - shift) / scale, best[0]) @ theta, _LEAST, 1.0 / _ALPHA - _LEAST)
        return np.log((1.0 - _ALPHA) * relative / (1.0 - _ALPHA * relative))

    return log_ratio


def _squared(x: Array, centres: Array) -> Array:
    return np.maximum((x**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2.0 * x @ centres.T, 0.0)


def _solved(up: Array, down: Array, ridge: float) -> Array:
    matrix = _ALPHA * up.T @ up / len(up) + (1.0 - _ALPHA) * down.T @ down / len(down)
    return np.linalg.solve(matrix + ridge * np.eye(len(matrix)), up.mean(axis=0))


def _loss(up: Array, down: Array) -> float:
    return float(0.5 * _ALPHA * (up**2).mean() + 0.5 * (1.0 - _ALPHA) * (down**2).mean() - up.mean())


PEERS: dict[str, Callable[[Array, Array, int], LogRatio]] = {
    "logistic": logistic,
    "boosting": boosting,
    "rulsif": rulsif,
}
