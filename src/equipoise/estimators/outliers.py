"""Outliers: rows where a table's density is low, or that are unlike a reference.

    decision(x) = s(x) − offset,      −1 below zero, +1 from zero on

The score s is a log density, or the log ratio of a reference to the table; the offset leaves the share of the table's
rows below it that was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from equipoise.estimators import outliers_file
from equipoise.estimators.columns_in import columns_of
from equipoise.estimators.density import Density, seed_of
from equipoise.estimators.outliers_fit import Judge, by_density, by_ratio, scores_of
from equipoise.io.table import Table
from equipoise.io.tables import Missing, to_table

Array = NDArray[np.float64]


class Outliers(OutlierMixin, BaseEstimator):
    """Rows that do not belong.

    Halves of the table judge each other first, and the rows that come out last are kept from the density that is the
    answer: no outlier vouches for itself. The offset is then set so that the share ``contamination`` of the table's
    rows falls below it. A clump of like rows is dense, and by a density no outlier: give a reference without it.

    Arguments:
        contamination: The share of rows to call outliers, above 0 and at most 0.5.
        density: What judges without a reference: an unfitted ``eq.Density``, or any estimator with ``fit`` and
            ``score_samples``; bases alone, ``eq.Density(budget=0)``, where it is None.
        ratio: What judges by a reference: an unfitted ``eq.DensityRatio``; one of defaults where it is None.
        random_state: Seeds everything but a density or ratio that was given.
        missing: ``"error"``, or ``"drop"`` for fitting to complete rows alone.

    Attributes:
        offset_: The score below which a row is an outlier.
        unseen_share_: The share of held-out rows below an offset set without them: what to expect of new rows. NaN
            where rows were too few for halves, and for a ratio, whose folds leave out other rows each.
        density_, ratio_: The fitted judge; the other is None.
        warnings_: What was found about the table and the fit, in sentences.
        n_features_in_, feature_names_in_, n_samples_: Columns, their names, and rows.

    Example:
        >>> outliers = Outliers(contamination=0.01, random_state=0).fit(X)
        >>> X[outliers.predict(X) == -1]
        >>> Outliers(random_state=0).fit(X, reference=clean).score_samples(X)
    """

    kind = "outliers"

    def __init__(
        self,
        contamination: float = 0.05,
        density: Any = None,  # noqa: ANN401
        ratio: Any = None,  # noqa: ANN401
        random_state: Any = None,  # noqa: ANN401
        missing: Missing = "error",
    ) -> None:
        self.contamination = contamination
        self.density = density
        self.ratio = ratio
        self.random_state = random_state
        self.missing = missing

    def fit(self, X: Any, y: Any = None, reference: Any = None) -> Self:  # noqa: ANN401
        """Fit to rows X, (n, d), among them outliers, and where there are any to rows of a reference, without them."""
        _refuse_table(y)
        share = _share(self.contamination)
        table = to_table(X, missing=self.missing)
        seed = seed_of(self.random_state)
        if reference is None:
            density = Density(budget=0, random_state=seed) if self.density is None else self.density
            judge = by_density(table, density, share, seed)
        else:
            judge = by_ratio(table, reference, _ratio(self.ratio, seed), share)
        names = table.names or tuple(getattr(judge.model, "feature_names_in_", ()))
        self._adopt(judge, names, table.shape)
        return self

    def score_samples(self, X: Any) -> Array:  # noqa: ANN401
        """How normal every row is: its log density, or its log ratio, reference over table."""
        check_is_fitted(self)
        table = columns_of(self, to_table(X))
        names = tuple(getattr(self, "feature_names_in_", ()))
        return scores_of(self._judge, replace(table, names=names))

    def decision_function(self, X: Any) -> Array:  # noqa: ANN401
        """The score less the offset: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:  # noqa: ANN401
        """−1 for outliers, +1 for all others."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    def to_document(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """What :func:`equipoise.save` writes."""
        check_is_fitted(self)
        return outliers_file.to_document(self)

    @classmethod
    def from_document(cls, document: dict[str, Any], tensors: dict[str, Tensor]) -> Self:
        """What :func:`equipoise.load` reads."""
        judge, names, shape, contamination = outliers_file.from_document(document, tensors)
        model = cls(contamination=contamination)
        model._adopt(judge, names, shape)
        return model

    @property
    def _judge(self) -> Any:  # noqa: ANN401
        return self.ratio_ if self.density_ is None else self.density_

    def _adopt(self, judge: Judge, names: tuple[str, ...], shape: tuple[int, int]) -> None:
        by_reference = hasattr(judge.model, "log_ratio")
        self.density_: Any = None if by_reference else judge.model
        self.ratio_: Any = judge.model if by_reference else None
        self.offset_, self.unseen_share_, self.warnings_ = judge.offset, judge.unseen_share, judge.warnings
        self.n_samples_, self.n_features_in_ = shape
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)


def _share(contamination: Any) -> float:  # noqa: ANN401
    is_number = isinstance(contamination, Real) and not isinstance(contamination, bool)
    if not (is_number and 0.0 < float(contamination) <= 0.5):
        message = (
            f"contamination must be the share of rows to call outliers, above 0 and at most 0.5; got {contamination!r}"
        )
        raise ValueError(message)
    return float(contamination)


def _refuse_table(y: Any) -> None:  # noqa: ANN401
    """Labels are ignored, as scikit-learn asks; a table in their place is a reference in the wrong place."""
    if isinstance(y, Table | Mapping) or (y is not None and np.asarray(y).ndim == 2):
        message = "fit(X, y) takes no table in the place of y, which it ignores: pass it as reference=..."
        raise TypeError(message)


def _ratio(given: Any, seed: int) -> Any:  # noqa: ANN401
    from equipoise.estimators.ratio import DensityRatio

    if given is not None and not isinstance(given, DensityRatio):
        message = f"ratio must be an eq.DensityRatio or None, got {given!r}"
        raise TypeError(message)
    return DensityRatio(random_state=seed) if given is None else given
