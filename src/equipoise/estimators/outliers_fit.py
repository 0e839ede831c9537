"""What an outlier is judged by: a density that it had no part in, or the ratio of a reference to its table.

    density    s(x) = log p̂(x),                    p̂ fitted to rows that no other half of the table finds unlikely
    ratio      s(x) = log p_reference(x) − log p_X(x)

A row vouches for itself where a density has seen it, and an outlier most of all. So halves judge each other first, and
the rows that come out last, as many as there shall be outliers, are kept from the density that is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from equipoise.io.table import Table

Array = NDArray[np.float64]

_FEWEST = 50  # rows; below, a half is no judge
_CLEAR = 2.0  # standard errors from which a share is said to be another


@dataclass(frozen=True)
class Judge:
    """A fitted model and the height below which a row is an outlier.

    Arguments:
        model: What scores rows.
        offset: The score that as many rows of the table fall below as there shall be outliers.
        unseen_share: The share of rows below an offset set without them; NaN where that was not tried.
        warnings: Sentences.
    """

    model: Any
    offset: float
    unseen_share: float = float("nan")
    warnings: list[str] = field(default_factory=list)


def scores_of(model: Any, table: Table) -> Array:  # noqa: ANN401  # a density, or a ratio
    """How normal a model finds rows: its log density, or its log ratio."""
    ask = getattr(model, "log_ratio", None) or model.score_samples
    own = type(model).__module__.startswith("equipoise.")  # takes tables as they are
    scores: Array = np.asarray(ask(table if own else table.values), dtype=np.float64)
    return scores


def by_density(table: Table, density: Any, contamination: float, seed: int) -> Judge:  # noqa: ANN401
    """Fit a density to the rows that the other half of the table does not find unlikely."""
    halves = _halves(table, seed)
    if halves is None:
        model = _fitted(clone(density), table)
        note = "Every row was judged by a density that has seen it: halves of the table were too few rows, or constant."
        return Judge(model, _offset(scores_of(model, table), contamination), warnings=[*_warnings(model), note])
    scores, fallen = np.empty(len(table.values)), 0
    for own, other in (halves, halves[::-1]):
        judge = _fitted(_quick(density), _rows(table, other))
        scores[own] = scores_of(judge, _rows(table, own))
        fallen += int((scores[own] < _offset(scores_of(judge, _rows(table, other)), contamination)).sum())
    normal = scores >= _offset(scores, contamination)
    kept = normal if not _constant(table.values[normal]) else np.ones_like(normal)
    model = _fitted(clone(density), _rows(table, np.flatnonzero(kept)))
    share = fallen / len(scores)
    said = [*_warnings(model), *_said(share, contamination, len(scores))]
    return Judge(model, _offset(scores_of(model, table), contamination), share, said)


def by_ratio(table: Table, reference: Any, ratio: Any, contamination: float) -> Judge:  # noqa: ANN401
    """Fit the ratio of a reference to a table: a mean over folds, each of which has left out other rows."""
    model = clone(ratio).fit(reference, table)
    return Judge(model, _offset(scores_of(model, table), contamination), warnings=_warnings(model))


def _halves(table: Table, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Two halves of the rows at random; None where they are too few, or a column is constant in one of them."""
    order = np.random.default_rng(seed).permutation(len(table.values))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    useless = len(order) < _FEWEST or any(_constant(table.values[half]) for half in halves)
    return None if useless else halves


def _constant(rows: Array) -> bool:
    return bool((rows.min(axis=0) == rows.max(axis=0)).any())


def _quick(density: Any) -> Any:  # noqa: ANN401
    """The same density without pushes, where it is one of ours."""
    model = clone(density)
    return model.set_params(budget=0) if "budget" in model.get_params() else model


def _fitted(density: Any, table: Table) -> Any:  # noqa: ANN401
    own = type(density).__module__.startswith("equipoise.")
    return density.fit(table if own else table.values)


def _warnings(model: Any) -> list[str]:  # noqa: ANN401
    """What one of our models has found about its table."""
    return list(getattr(model, "warnings_", []))


def _rows(table: Table, at: NDArray[np.intp]) -> Table:
    return replace(table, values=table.values[at], dropped=0)


def _offset(scores: Array, contamination: float) -> float:
    """A row's score that the share of all rows falls below; the least finite one where more are impossible."""
    finite = scores[np.isfinite(scores)]
    return float(max(np.quantile(scores, contamination, method="higher"), finite.min()))


def _said(share: float, contamination: float, n: int) -> list[str]:
    """Whether rows that were not seen fall below an offset more often than those that were."""
    if share <= contamination + _CLEAR * sqrt(contamination * (1.0 - contamination) / n):
        return []
    return [
        f"Of rows that were held out {share:.1%} fell below the offset, not {contamination:.1%}: "
        "new rows will be called outliers more often than the table's own."
    ]
