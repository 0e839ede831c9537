"""Fitted models whose density is known, for pictures and reports: no training, and every drawn value has a truth."""

from types import SimpleNamespace

import numpy as np
from scipy import stats


class Known:
    """A density as pictures and reports see it: independent columns, each a frozen scipy distribution."""

    def __init__(self, *columns, names=None, **attributes):
        self.columns, self.n_features_in_ = columns, len(columns)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self.drawn = 0
        self.__dict__.update(attributes)

    def sample(self, n=1, random_state=None):
        self.drawn += n
        rng = np.random.default_rng(random_state)
        return np.column_stack([c.rvs(n, random_state=rng) for c in self.columns]).astype(float)

    def score_samples(self, X):
        X = np.asarray(getattr(X, "values", X), dtype=float)
        return sum(
            (c.logpmf(x) if hasattr(c.dist, "logpmf") else c.logpdf(x)) for c, x in zip(self.columns, X.T, strict=True)
        )


def normal(d=1, **attributes):
    return Known(*[stats.norm(i, 1.0 + i) for i in range(d)], **attributes)


def rows(model, n, seed=1):
    return model.sample(n, random_state=seed)


def record(steps=6):
    """A history as a push leaves it."""
    at = [50 * i for i in range(steps)]
    return SimpleNamespace(
        step=at,
        up_force=[0.5 + 0.01 * i for i in range(steps)],
        down_force=[0.6 - 0.01 * i for i in range(steps)],
        scored=at,
        score=[0.0, 0.3, 0.5, 0.45, 0.4, float("-inf")][:steps],
        score_se=[0.1] * (steps - 1) + [float("inf")],
        best_step=100,
    )
