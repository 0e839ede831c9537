"""A classifier: one surface for each class, on which its rows push up and all others down, until the forces balance.

    P(class j | x) = exp(u_j) / Σ_k exp(u_k),      log P(j | x) shifts by log(prior_j / share_j)

Softmax cross-entropy is the instance at norm 1, where the push is its gradient; every other norm bounds the magnitudes
otherwise, and has the same balance (lines 9279, 9554). Held-out rows choose, here as everywhere.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from equipoise.estimators import classifier_file
from equipoise.estimators.class_rows import ClassRows
from equipoise.estimators.class_units import ClassUnits
from equipoise.estimators.classifier_fit import FittedClassifier, fit_classifier
from equipoise.estimators.classifier_plan import ClassifierSettings
from equipoise.estimators.columns_in import columns_of
from equipoise.estimators.density import seed_of
from equipoise.estimators.labels import Classes, Labels, priors_of
from equipoise.instance import Instance
from equipoise.io.tables import to_table
from equipoise.sources.rows import as_weights

Array = NDArray[np.float64]

_CHUNK = 16_384


class Classifier(ClassifierMixin, BaseEstimator):
    """Class probabilities, fitted to a table with labels.

    Planes (logistic regression) on columns and on their normal scores compete first; networks are pushed for what the
    best of them leaves over, each ended by rows of its own and judged by others; the simplest within one standard error
    of the best is the answer. Below 50 rows it is planes, below 200 there are no networks.

    Arguments:
        norm: The p of the L-p norm in the magnitudes' denominator, at least 1, ``inf`` allowed; 1 is cross-entropy.
        surface: ``"auto"``, or a module from standardised rows (n, d), columns of one value left out, to what it adds
            to the start's heights, (n, C).
        budget: ``"auto"``, steps of each push (0 for planes alone), or a time such as ``"90s"`` for all of them, which
            is turned into steps once.
        validation_fraction: The share of rows that ends a push, and of others that judges it; at most 1/3.
        priors: The classes' shares where the classifier is to be used, where these are known and differ from the
            table's: a mapping from classes, or a sequence in the order of ``classes_``.
        random_state: Seeds everything.
        device: ``"auto"``, ``"cpu"`` or a torch device, where surfaces are pushed.
        verbose: 1 draws a progress line.

    Attributes:
        classes_: The classes, sorted: the order of columns in what is predicted.
        class_prior_: Their shares of the table.
        surface_: From standardised rows to heights (n, C).
        selection_: Every candidate with its held-out score (the mean log probability of the right class), its standard
            error, and weight 1 for the one that was kept.
        history_: What the first push saw.
        warnings_: What was found about the table and the fit, in sentences.
        n_features_in_, feature_names_in_, n_samples_, n_selecting_: Columns, their names, rows, and rows that chose.

    Example:
        >>> classifier = Classifier(random_state=0).fit(X, y)
        >>> classifier.predict_proba(X[:3])
    """

    kind = "classifier"

    def __init__(
        self,
        norm: float = 1.0,
        surface: Any = "auto",  # noqa: ANN401
        budget: int | str = "auto",
        validation_fraction: float = 0.1,
        priors: Any = None,  # noqa: ANN401
        random_state: Any = None,  # noqa: ANN401
        device: str = "auto",
        verbose: int = 0,
    ) -> None:
        self.norm = norm
        self.surface = surface
        self.budget = budget
        self.validation_fraction = validation_fraction
        self.priors = priors
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: ANN401
        """Fit to rows X, (n, d), and their labels y, (n,); a row of weight two counts like one that stands there twice.

        Rows of weight zero are left out, and with them a class that has no others.
        """
        settings = ClassifierSettings.of(self, seed_of(self.random_state))
        table = to_table(X)
        rows = torch.from_numpy(table.values)
        weight = (
            torch.ones(len(rows), dtype=torch.float64) if sample_weight is None else as_weights(sample_weight, rows)
        )
        counts = weight > 0
        labels = Labels.read(y, len(rows), counts)
        rows, weight = rows[counts], weight[counts]
        units = ClassUnits.of(rows, weight / weight.sum(), table.names)
        labelled = ClassRows(units.standard(rows), labels.codes, weight, len(labels.classes))
        known = Classes(labels.classes, labelled.shares, priors_of(self.priors, labels.classes))
        fitted = fit_classifier(labelled, settings)
        self._adopt(fitted, settings.instance, known, units, table.names, len(rows))
        self.warnings_ = [*units.notes, *fitted.warnings]
        return self

    def predict_log_proba(self, X: Any) -> Array:  # noqa: ANN401
        """The log probability of every class, (n, C)."""
        result: Array = self._log_proba(X).numpy()
        return result

    def predict_proba(self, X: Any) -> Array:  # noqa: ANN401
        """The probability of every class, (n, C)."""
        result: Array = torch.softmax(self._log_proba(X), dim=1).numpy()
        return result

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: ANN401
        """The likeliest class of every row."""
        likeliest = self._log_proba(X).argmax(dim=1).numpy()
        classes: NDArray[Any] = self.classes_[likeliest]
        return classes

    def decision_function(self, X: Any) -> Array:  # noqa: ANN401
        """Of two classes the log odds of the second, (n,); of more their log probabilities less their mean, (n, C)."""
        log_proba = self._log_proba(X)
        if log_proba.shape[1] == 2:
            odds: Array = (log_proba[:, 1] - log_proba[:, 0]).numpy()
            return odds
        centred: Array = (log_proba - log_proba.mean(dim=1, keepdim=True)).numpy()
        return centred

    def to_document(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """What :func:`equipoise.save` writes."""
        check_is_fitted(self)
        return classifier_file.to_document(self)

    @classmethod
    def from_document(cls, document: dict[str, Any], tensors: dict[str, Tensor]) -> Self:
        """What :func:`equipoise.load` reads."""
        found = classifier_file.from_document(document, tensors)
        model = cls(norm=found[1].parameters["norm"])
        model._adopt(*found)
        return model

    def _adopt(
        self,
        fitted: FittedClassifier,
        instance: Instance,
        known: Classes,
        units: ClassUnits,
        names: tuple[str, ...],
        n: int,
    ) -> None:
        self.surface_, self.selection_, self.history_ = fitted.surface, fitted.selection, fitted.history
        self.instance_, self.units_, self.known_ = instance, units, known
        self.classes_, self.class_prior_ = known.names, known.shares.numpy()
        self.n_features_in_ = len(units.shift)
        self.n_samples_, self.n_selecting_ = n, fitted.n_selecting
        self.warnings_ = fitted.warnings
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _log_proba(self, X: Any) -> Tensor:  # noqa: ANN401
        check_is_fitted(self)
        rows = self.units_.standard(torch.from_numpy(columns_of(self, to_table(X)).values))
        heights = torch.cat([self.surface_(part) for part in rows.split(_CHUNK)])
        return torch.log_softmax(heights + self.known_.shift, dim=1)
