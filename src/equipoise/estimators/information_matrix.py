"""The mutual information of every pair of a table's columns.

values[i, j] = I(X_i; X_j) ± se[i, j]        the diagonal is left NaN: a column with a density tells all about itself
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.io.table import Table, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

_MOST_ROWS = 5_000  # of a table, for every pair
_STEPS = 400


@dataclass(frozen=True)
class InformationMatrix:
    """Information of pairs of columns in nats.

    Arguments:
        values: (d, d), symmetric; NaN on the diagonal.
        se: Their standard errors, (d, d).
        names: The columns' names, or their positions as text.
        notes: What was left out, in sentences.
    """

    values: Array
    se: Array
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def strongest(self) -> list[tuple[str, str, float, float]]:
        """Every pair once, the most informative first: names, value, standard error."""
        pairs = [
            (self.names[i], self.names[j], float(self.values[i, j]), float(self.se[i, j]))
            for i, j in combinations(range(len(self.names)), 2)
        ]
        return sorted(pairs, key=lambda pair: -pair[2])

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """A heat map of the pairs."""
        from equipoise.plots.information import information

        return information(self, ax=ax)


def matrix_of(information: Any, table: Table) -> InformationMatrix:  # noqa: ANN401  # a MutualInformation
    """Fit every pair of columns with the settings of an estimator; a budget left to us is a small one for each pair."""
    n, d = table.shape
    if d < 2:
        message = f"a matrix needs at least two columns, got {d}"
        raise ValueError(message)
    names = table.names or tuple(str(i) for i in range(d))
    notes, values = [], table.values
    if n > _MOST_ROWS:
        kept = np.random.default_rng(0).choice(n, _MOST_ROWS, replace=False)
        values = values[kept]
        notes.append(f"{_MOST_ROWS:,} of {counted(n, 'row')} were used, drawn at random.")
    varies = values.max(axis=0) > values.min(axis=0)
    if not varies.all():
        constant = [repr(name) for name, moves in zip(names, varies, strict=True) if not moves]
        notes.append(f"Columns of one value tell nothing about others: {', '.join(constant)}.")
    found, errors = np.full((d, d), np.nan), np.full((d, d), np.nan)
    budget = _STEPS if information.budget == "auto" else information.budget
    for i, j in combinations(range(d), 2):
        pair = 0.0, 0.0
        if varies[i] and varies[j]:
            fitted = deepcopy(information).set_params(budget=budget).fit(values[:, [i]], values[:, [j]])
            pair = fitted.value_, fitted.se_
        found[i, j], errors[i, j] = pair
        found[j, i], errors[j, i] = pair
    return InformationMatrix(found, errors, names, tuple(notes))
