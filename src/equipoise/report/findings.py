"""What the page says, as numbers: computed once from a fitted density and the rows given, before anything is written.

gain = mean(log p − log p_base) over rows,     1 = E_base[p / p_base]
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from equipoise.io.table import Table
from equipoise.io.tables import to_table
from equipoise.plots.calibration import Calibration, measure
from equipoise.plots.marginals import Marginal, compare
from equipoise.plots.source import SAMPLES, rows_of

Array = NDArray[np.float64]

_CHUNK = 65_536
_CHECKED = 20_000


@dataclass(frozen=True)
class Scores:
    """Mean log densities over rows.

    Arguments:
        n: How many rows.
        impossible: How many the model calls impossible; they are left out of the means.
        mean, se: Of the model's log p.
        base, base_se: Of the base's log p; not known where it is −∞ somewhere.
        gain, gain_se: Of their difference, row by row.
    """

    n: int
    impossible: int
    mean: float
    se: float
    base: float
    base_se: float
    gain: float
    gain_se: float


@dataclass(frozen=True)
class Check:
    """The normaliser seen from fresh rows of the base: the mean of p/p_base there, which should be 1."""

    mean: float
    se: float
    ess: float
    n: int


@dataclass(frozen=True)
class Findings:
    """All numbers of a report.

    Arguments:
        model: The fitted density.
        given: The rows given as X; None where there were none.
        test: The untouched rows; None where there were none.
        scores: On untouched rows.
        check: Of the normaliser; None where there is nothing to normalise.
        samples: Rows of the model.
        distinct: The share of these that occur once or first.
        marginals: One per column, compared with the test rows, or else with X.
        calibration: On the same rows; None without any.
    """

    model: Any
    given: Table | None
    test: Table | None
    scores: Scores | None
    check: Check | None
    samples: Array
    distinct: float
    marginals: list[Marginal]
    calibration: Calibration | None

    @property
    def compared(self) -> Table | None:
        """The rows that pictures compare the model with."""
        return self.given if self.test is None else self.test

    @property
    def untouched(self) -> bool:
        """Whether these are rows that neither fitted nor chose."""
        return self.test is not None


def find(model: Any, X: Any = None, test: Any = None) -> Findings:  # noqa: ANN401
    """Compute everything."""
    given = None if X is None else _read(model, X, "X")
    fresh = None if test is None else _read(model, test, "test")
    rows = given if fresh is None else fresh
    values = None if rows is None else rows.values
    samples = model.sample(SAMPLES, random_state=0)
    return Findings(
        model,
        given,
        fresh,
        None if fresh is None else score(model, fresh.values),
        check_normaliser(model),
        samples,
        len(np.unique(samples, axis=0)) / len(samples),
        compare(model, values, samples=samples),
        None if values is None else measure(model, values, samples=samples),
    )


def _read(model: Any, X: Any, name: str) -> Table:  # noqa: ANN401
    """The rows as a table, its columns in the model's order."""
    table = to_table(X, name)
    names = tuple(str(n) for n in getattr(model, "feature_names_in_", ()))
    if names and table.names and names != table.names:
        return table.select(names)
    rows_of(model, table)
    return table


def score(model: Any, rows: Array) -> Scores:  # noqa: ANN401
    """Log densities of the model and of its base, row by row."""
    log_p = model.score_samples(rows)
    possible = np.isfinite(log_p)
    mean, se = _mean(log_p[possible])
    log_base = _log_base(model, rows)
    if log_base is None:
        return Scores(len(rows), int((~possible).sum()), mean, se, nan, nan, nan, nan)
    both = possible & np.isfinite(log_base)
    base, base_se = _mean(log_base) if np.isfinite(log_base).all() else (-np.inf, np.inf)
    return Scores(len(rows), int((~possible).sum()), mean, se, base, base_se, *_mean((log_p - log_base)[both]))


def check_normaliser(model: Any) -> Check | None:  # noqa: ANN401
    """Weigh fresh rows of the base by p/p_base; None where the model is its base, or has none."""
    base = getattr(model, "base_", None)
    if base is None or getattr(model, "surface_", None) is None:
        return None
    rows = base.sample(_CHECKED, generator=torch.Generator().manual_seed(1), dtype=torch.float64).numpy()
    log_base = _log_base(model, rows)
    weight = np.exp(model.score_samples(rows) - log_base)
    mean, se = _mean(weight)
    return Check(mean, se, float(weight.sum() ** 2 / (weight**2).sum()), len(rows))


def _log_base(model: Any, rows: Array) -> Array | None:  # noqa: ANN401
    base = getattr(model, "base_", None)
    if base is None:
        return None
    parts = [base.log_prob(part) for part in torch.from_numpy(np.ascontiguousarray(rows)).split(_CHUNK)]
    result: Array = torch.cat(parts).to(torch.float64).numpy()
    return result


def _mean(values: Array) -> tuple[float, float]:
    if not len(values):
        return nan, nan
    return float(values.mean()), float(values.std(ddof=1)) / sqrt(len(values)) if len(values) > 1 else nan
