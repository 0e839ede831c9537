"""The ratio of two densities from two tables: cheap starts, a surface for what they leave over, and a pool of both.

    log r(x) = log p_num(x) − log p_den(x),     L = Σ_j w_j·L_j averaged over folds

Held-out rows choose, and every claim (divergences, self-checks) is made on rows that the claiming fold has not seen.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from equipoise.estimators import ratio_file
from equipoise.estimators.columns_in import columns_of
from equipoise.estimators.density import seed_of
from equipoise.estimators.ratio_checks import Checks
from equipoise.estimators.ratio_fit import FittedRatio, fit_ratio
from equipoise.estimators.ratio_plan import plan
from equipoise.estimators.ratio_settings import RatioSettings
from equipoise.estimators.shared_rows import shared_rows
from equipoise.estimators.two_tables import two_tables
from equipoise.estimators.units import Units
from equipoise.io.table import Table
from equipoise.io.tables import Missing, to_table
from equipoise.plots.accessor import RatioPlotter
from equipoise.ratios import Divergence, Side, Sides, divergence
from equipoise.ratios.score import LogRatios
from equipoise.ratios.sides import folds
from equipoise.sources.rows import as_weights

Array = NDArray[np.float64]

_CHUNK = 16_384
_HANDFUL = 10.0  # rows that carry the weight, below which it is said


class DensityRatio(BaseEstimator):
    """The ratio p_num / p_den, from rows of both.

    Arguments:
        instance: ``"auto"`` (logistic), a catalogue name, or an Instance that balances two samples, for the pushes.
        surface: ``"auto"``, or a module from standardised rows (n, d) to what it adds to the start's log ratio (n,).
        budget: ``"auto"``, steps of each push (0 for starts alone), or a time such as ``"90s"`` for all of them.
        validation_fraction: The share of rows a fold sees that are not pushed: half of them end pushes, half choose.
        random_state: Seeds everything.
        device: ``"auto"``, ``"cpu"`` or a torch device, where surfaces are pushed.
        verbose: 1 draws a progress line.
        missing: ``"error"``, or ``"drop"`` for complete rows alone.

    Attributes:
        selection_: Every candidate with its held-out score (logistic, at most 0), standard error and weight.
        score_, score_se_: The score of the answer on rows it has not seen; −log 2 says that the samples look alike.
        checks_: What must hold and how nearly it does: E_num[M_up] = E_den[M_down], E_den[ratio] = 1.
        different_: Whether the samples could be told apart at all, on rows not seen; where not, the ratio is 1.
        effective_sample_size_: How many rows of the denominator carry its weight once weighted by the ratio.
        history_: What the first push saw.
        warnings_: What was found about the tables and the fit, in sentences.
        n_features_in_, feature_names_in_: Columns and their names.

    Example:
        >>> ratio = DensityRatio(random_state=0).fit(X_new, X_old)
        >>> ratio.weights(X_old)        # old rows weighted so that they look like new ones
        >>> ratio.divergence("kl")
    """

    kind = "ratio"

    def __init__(
        self,
        instance: Any = "auto",  # noqa: ANN401
        surface: Any = "auto",  # noqa: ANN401
        budget: int | str = "auto",
        validation_fraction: float = 0.2,
        random_state: Any = None,  # noqa: ANN401
        device: str = "auto",
        verbose: int = 0,
        missing: Missing = "error",
    ) -> None:
        self.instance = instance
        self.surface = surface
        self.budget = budget
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device
        self.verbose = verbose
        self.missing = missing

    def fit(
        self,
        X_num: Any,  # noqa: ANN401
        X_den: Any,  # noqa: ANN401
        sample_weight_num: Any = None,  # noqa: ANN401
        sample_weight_den: Any = None,  # noqa: ANN401
    ) -> Self:
        """Fit to rows of the numerator's density and of the denominator's, (n, d) and (m, d)."""
        settings = RatioSettings.of(self, seed_of(self.random_state))
        left, right, notes = two_tables(X_num, X_den, ("X_num", "X_den"), self.missing)
        num, den = _side(left, sample_weight_num, "num"), _side(right, sample_weight_den, "den")
        units = Units.of(num, den, left.names)
        sides = Sides(num, den).map(units.standard)
        chosen = plan(sides.fewer, units.kept, settings.budget, self.validation_fraction)
        fitted = fit_ratio(folds(sides, chosen.folds, settings.seed), sides, settings, chosen)
        shared = shared_rows(left, right).note(("X_num", "X_den"))
        self._adopt(fitted, units, left.names, [*notes, *units.notes, *([shared] if shared else [])])
        return self

    def log_ratio(self, X: Any, return_se: bool = False) -> Any:  # noqa: ANN401  # scikit-learn's habit
        """The log ratio of every row, num over den; with ``return_se`` also how far the folds leave it open."""
        table = self._rows(X)
        rows = self.units_.standard(table)
        values: Array = torch.cat([self.folds_.log_ratio(part) for part in rows.split(_CHUNK)]).numpy()
        if not return_se:
            return values
        return values, torch.cat([self.folds_.spread(part) for part in rows.split(_CHUNK)]).numpy()

    def ratio(self, X: Any) -> Array:  # noqa: ANN401
        """The ratio of every row; the largest number where it is larger."""
        ratio: Array = np.exp(np.minimum(self.log_ratio(X), np.log(np.finfo(np.float64).max)))
        return ratio

    def weights(self, X: Any, normalize: str | None = "mean") -> Array:  # noqa: ANN401
        """Weights that make rows of the denominator look like the numerator's.

        Arguments:
            X: Rows, usually those of the denominator.
            normalize: ``"mean"`` for weights of mean 1, ``"sum"`` for weights of sum 1, None for the ratio itself.
        """
        if normalize not in ("mean", "sum", None):
            message = f"normalize must be 'mean', 'sum' or None, got {normalize!r}"
            raise ValueError(message)
        log_ratio = torch.from_numpy(self.log_ratio(X))
        total = torch.logsumexp(log_ratio, dim=0)
        carrying = torch.exp(2.0 * total - torch.logsumexp(2.0 * log_ratio, dim=0)).item()
        if carrying < min(_HANDFUL, 0.5 * len(log_ratio)):
            message = f"{carrying:.1f} of {len(log_ratio):,} rows carry the weight: averages with it are theirs alone"
            warnings.warn(message, UserWarning, stacklevel=2)
        if normalize is None:
            return self.ratio(X)
        log_weight = log_ratio - total + (np.log(len(log_ratio)) if normalize == "mean" else 0.0)
        result: Array = torch.exp(log_weight).numpy()
        return result

    def divergence(self, kind: str = "kl") -> Divergence:
        """A divergence of the two densities, with standard error and interval, from rows each fold has not seen.

        Arguments:
            kind: ``"kl"`` = KL(num‖den), ``"reverse_kl"`` = KL(den‖num), ``"js"`` (at most log 2), ``"pearson"`` =
                ∫(num − den)²/den, ``"neyman"`` = ∫(num − den)²/num, ``"hellinger"`` = 1 − ∫√(num·den), or
                ``"total_variation"`` = ½∫|num − den|.
        """
        check_is_fitted(self)
        return divergence(kind, self.unseen_, self.reaches_.get(kind, True), self.different_)

    def score(self, X_num: Any, X_den: Any) -> float:  # noqa: ANN401
        """How well the ratio tells rows apart that it has not seen: logistic, at most 0, −log 2 for knowing nothing."""
        num, den = (torch.from_numpy(self.log_ratio(X)) for X in (X_num, X_den))
        return LogRatios(num, den).score()[0]

    @property
    def plot(self) -> RatioPlotter:
        """Pictures of the fitted ratio on held-out rows: ``held_out()``, ``overlap()``, ``reliability()``."""
        check_is_fitted(self)
        return RatioPlotter(self)

    def to_document(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """What :func:`equipoise.save` writes."""
        check_is_fitted(self)
        return ratio_file.to_document(self)

    @classmethod
    def from_document(cls, document: dict[str, Any], tensors: dict[str, Tensor]) -> Self:
        """What :func:`equipoise.load` reads."""
        model = cls()
        model._adopt(*ratio_file.from_document(document, tensors))
        return model

    def _adopt(self, fitted: FittedRatio, units: Units, names: tuple[str, ...], notes: list[str]) -> None:
        self.folds_, self.unseen_, self.units_ = fitted.folds, fitted.at, units
        self.instance_, self.selection_, self.history_ = fitted.instance, fitted.selection, fitted.history
        checks = Checks.of(fitted.at, fitted.instance)
        self.checks_, self.overlaps_, self.reaches_ = checks.facts, checks.overlaps, checks.reaches
        self.effective_sample_size_ = checks.effective
        self.score_, self.score_se_ = fitted.at.score()
        self.different_ = fitted.different
        self.bridged_ = fitted.bridged
        said = checks.sentences(fitted.bridged)
        self.warnings_ = [*notes, *(sentence for sentence in said if sentence not in notes)]
        self.n_features_in_ = len(units.shift)
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _rows(self, X: Any) -> Tensor:  # noqa: ANN401
        check_is_fitted(self)
        return torch.from_numpy(columns_of(self, to_table(X)).values)


def _side(table: Table, sample_weight: Any, word: str) -> Side:  # noqa: ANN401
    """A side's rows; those of weight zero are left out."""
    rows = torch.from_numpy(table.values)
    if len(rows) < 2:
        message = f"X_{word} has {len(rows)} rows: a ratio needs at least 2 on either side"
        raise ValueError(message)
    if sample_weight is None:
        return Side(rows)
    try:
        weight = as_weights(sample_weight, rows)
    except ValueError as error:
        message = f"sample_weight_{word}: {error}"
        raise ValueError(message) from None
    side = Side(rows[weight > 0], weight[weight > 0])
    if len(side) < 2:
        message = f"sample_weight_{word} leaves {len(side)} row: a ratio needs at least 2 on either side"
        raise ValueError(message)
    return side
