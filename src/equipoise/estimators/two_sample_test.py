"""Whether two tables were drawn from one density: several statistics, one exact p-value, and where the tables differ.

    p-value = share of labellings, the true one among them, whose T is at least the true one's      (permutation test)

Several questions are asked of the same labellings, so that the smallest of their p-values can be taken and the answer
stays exact. Columns are compared by the normal scores of their pooled ranks: units and outliers do not matter.
"""

from __future__ import annotations

from functools import partial
from math import ceil
from numbers import Integral
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from equipoise.discrepancy.comparison import Comparison, Statistic
from equipoise.discrepancy.drift import ColumnDrift, PairDrift, drift, pair_drift
from equipoise.discrepancy.families import CHOICES, Answer, Family, ask, joined
from equipoise.discrepancy.pushed import as_test, pushed
from equipoise.discrepancy.relabelling import p_value
from equipoise.estimators.columns_in import columns_of
from equipoise.estimators.density import seed_of
from equipoise.estimators.density_settings import as_surface, is_auto
from equipoise.estimators.two_sample_checks import look
from equipoise.estimators.two_sample_report import DriftReport
from equipoise.estimators.two_tables import two_tables
from equipoise.instance import Instance
from equipoise.io.tables import Missing, to_table

Array = NDArray[np.float64]

# With B labellings equal samples are rejected ⌊level·(B + 1)⌋ times in B + 1: here 14 in 299, 4.7 % where 5 % are
# allowed. With B = 299 it would be 5 % exactly, and no room for whoever counts.
PERMUTATIONS = 298
_CHUNK = 16_384


class TwoSampleTest(BaseEstimator):
    """A test of whether two samples come from one density.

    Arguments:
        statistic: ``"auto"`` asks four questions (shift, shape of a column, dependence, anything) and takes the
            smallest p-value; ``"mmd"`` pushes a surface of an RKHS once with unit magnitudes, for several kernels;
            ``"energy"``; ``"classifier"``, linear and quadratic; ``"columns"``, each by itself; or a catalogue name or
            an Instance, which pushes a surface on half of the rows and tests its log ratios on the other half.
        level: How often two samples of one density may be called different.
        permutations: How many random labellings, ``"auto"`` for 298, or ten for each the level allows.
        surface: For an instance: ``"auto"``, or a module from scores (n, d) to heights (n,).
        random_state: Seeds everything.
        missing: ``"error"``, or ``"drop"`` for complete rows alone.

    Attributes:
        pvalue_, rejected_: The p-value, and whether it is at most the level.
        statistic_: −log of the smallest p-value over the questions, before it is calibrated: the larger, the farther.
        selection_: Every statistic with its question, weight, value and own p-value.
        strongest_: The name of the strongest, whose witness :meth:`witness` is.
        drift_: Every column, those that differ most first: alone, and given the others.
        pair_: The two columns whose dependence differs most.
        report_: All of this, to be printed or written as JSON.
        warnings_: What was found about the tables, in sentences.
        n_samples_, n_features_in_, feature_names_in_: Rows of X and Y, columns and their names.

    Example:
        >>> test = TwoSampleTest(random_state=0).fit(old, new)
        >>> test.pvalue_, test.drift_[0].name
        >>> print(test.report_)
    """

    def __init__(
        self,
        statistic: Any = "auto",  # noqa: ANN401
        level: float = 0.05,
        permutations: int | str = "auto",
        surface: Any = "auto",  # noqa: ANN401
        random_state: Any = None,  # noqa: ANN401
        missing: Missing = "error",
    ) -> None:
        self.statistic = statistic
        self.level = level
        self.permutations = permutations
        self.surface = surface
        self.random_state = random_state
        self.missing = missing

    def fit(self, X: Any, Y: Any) -> Self:  # noqa: ANN401
        """Compare rows X (n, d) with rows Y (m, d)."""
        families, count = self._families(), self._count()
        left, right, notes = two_tables(X, Y, missing=self.missing)
        notes += look(left, right, self.level)
        self._tables = left, right
        x, y = (torch.from_numpy(table.values) for table in self._tables)
        self.comparison_ = Comparison(x, y, count, seed_of(self.random_state))
        self.answers_ = ask(self.comparison_, families)
        together = joined(self.answers_)
        self.pvalue_, self.statistic_ = p_value(together), float(together[0])
        self.rejected_ = self.pvalue_ <= self.level
        self.permutations_, self.warnings_ = count, notes
        self.n_samples_, self.n_features_in_ = (len(x), len(y)), x.shape[1]
        for stale in ("feature_names_in_", "_drift"):  # of an earlier fit
            self.__dict__.pop(stale, None)
        if left.names:
            self.feature_names_in_ = np.array(left.names, dtype=object)
        self.selection_ = [
            self._facts(answer, statistic) for answer in self.answers_ for statistic in answer.statistics
        ]
        self._strongest = max(self.answers_, key=lambda answer: float(joined([answer])[0])).strongest
        self.strongest_ = self._strongest.called(self._names)
        return self

    def witness(self, X: Any) -> Array:  # noqa: ANN401
        """Where the samples differ, at rows X: positive where the first sample is denser, negative where the second.

        The height that the strongest statistic's unit forces give a surface. Rows that were compared are seen with
        their own force on them, fresh rows without.
        """
        check_is_fitted(self)
        rows = torch.from_numpy(columns_of(self, to_table(X)).values)
        pooled = self.comparison_.pooled
        heights = [self._strongest.witness(pooled.map(part)).double() for part in rows.split(_CHUNK)]
        result: Array = torch.cat(heights).numpy()
        return result

    @property
    def drift_(self) -> list[ColumnDrift]:
        """Every column, those that differ most first; found when first asked for."""
        check_is_fitted(self)
        if "_drift" not in self.__dict__:
            x, y = (torch.from_numpy(table.values) for table in self._tables)
            self._drift = drift(self.comparison_, x, y, self._names)
        return self._drift

    @property
    def rows_(self) -> tuple[Array, Array]:
        """The rows of X and of Y that were compared, their columns in one order."""
        check_is_fitted(self)
        return self._tables[0].values, self._tables[1].values

    @property
    def pair_(self) -> PairDrift | None:
        """The two columns whose dependence differs most; None where fewer than two vary."""
        check_is_fitted(self)
        return pair_drift(self.comparison_, self._names)

    @property
    def report_(self) -> DriftReport:
        """Verdict, questions and columns."""
        check_is_fitted(self)
        return DriftReport.of(self)

    @property
    def _names(self) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", range(self.n_features_in_))]

    def _facts(self, answer: Answer, statistic: Statistic) -> dict[str, Any]:
        return {
            "question": answer.family.name,
            "weight": answer.family.weight,
            "name": statistic.called(self._names),
            "value": float(statistic.values[0]),
            "pvalue": p_value(statistic.values),
        }

    def _families(self) -> tuple[Family, ...]:
        if not 0.0 < self.level < 1.0:
            message = f"level must lie between 0 and 1, got {self.level!r}"
            raise ValueError(message)
        surface = None if is_auto(self.surface) else as_surface(self.surface)
        if isinstance(self.statistic, str) and self.statistic in CHOICES:
            if surface is not None:
                message = f"a surface is for an instance to push, such as statistic='logistic'; got {self.statistic!r}"
                raise ValueError(message)
            return CHOICES[self.statistic]
        instance = as_test(_named(self.statistic))
        return (Family(instance.label, 1.0, (partial(pushed, instance=instance, surface=surface),)),)

    def _count(self) -> int:
        if is_auto(self.permutations):
            return max(PERMUTATIONS, ceil(10.0 / self.level))
        given, least = self.permutations, ceil(1.0 / self.level) - 1
        if isinstance(given, bool) or not isinstance(given, Integral) or given < least:
            message = (
                f"permutations must be 'auto' or a whole number, at least {least} for level {self.level:g} "
                f"to be reached at all; got {given!r}"
            )
            raise ValueError(message)
        return int(given)


def _named(given: Any) -> Any:  # noqa: ANN401
    from equipoise import catalog

    if isinstance(given, Instance):
        return given
    try:
        return catalog.get(given)
    except (KeyError, ValueError, TypeError) as error:
        words = ", ".join(map(repr, CHOICES))
        message = f"statistic must be {words}, an instance or the name of one, got {given!r} ({error})"
        raise ValueError(message) from None
