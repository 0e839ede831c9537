"""A density from a table, without a single option: fitted bases, surfaces pushed for what they leave over, and a stack.

    p(x) = Σ_j w_j·p_j(x),   p_j a base, or base·R(u)/Z with a pushed surface u

Held-out rows choose: which bases, whether a surface earns weight, and how much. Where none does, the bases are the
answer, and ``selection_`` and ``warnings_`` say so.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from equipoise import catalog
from equipoise.bases import Rescaled
from equipoise.estimators import density_file
from equipoise.estimators.columns_in import columns_of
from equipoise.estimators.density_fit import Fitted, fit_density
from equipoise.estimators.density_settings import Settings
from equipoise.io.tables import Missing, to_table
from equipoise.plots.accessor import Plotter

Array = NDArray[np.float64]

_CHUNK = 16_384


class Density(BaseEstimator):
    """A probability density, fitted to a table.

    Arguments:
        instance: ``"auto"``, a catalogue name, or an Instance, for the pushes.
        base: ``"auto"`` (several compete on held-out rows), a name such as ``"uniform"``, a base, or a
            ``torch.distributions.Distribution`` in the table's units.
        surface: ``"auto"`` or a module from standardised rows (n, d) to heights (n,).
        budget: ``"auto"``, steps of each push (0 for bases alone), or a time such as ``"90s"`` for all of them, which
            is turned into steps once.
        validation_fraction: The share of rows that choose and are not pushed.
        random_state: Seeds everything.
        device: ``"auto"``, ``"cpu"`` or a torch device, where surfaces are pushed.
        verbose: 1 draws a progress line.
        bounds: (low, high), numbers or one per column, in the table's units: outside, the density is zero.
        jitter: Whether columns on a lattice (integers, rounded numbers) are spread evenly over its steps: ``"auto"``,
            True, False, or the width in the table's units.
        missing: ``"error"``, or ``"drop"`` for fitting to complete rows alone.

    Attributes:
        selection_: Every candidate with its held-out score, its standard error, and its weight in the stack.
        base_, surface_, instance_: Of the stack's strongest pushed member; ``surface_`` is None, and ``base_`` the
            whole stack, where no surface earned weight.
        log_normalizer_, log_normalizer_se_: log Z of that surface over its base, and its standard error.
        sampling_: How rows of each member are drawn, and which share of its base's rows carries the weight.
        history_: What its push saw.
        warnings_: What was found about the table and the fit, in sentences.
        n_features_in_, feature_names_in_, n_samples_, n_selecting_: Columns, their names, rows, and rows that chose.

    Example:
        >>> density = Density(random_state=0).fit(X)
        >>> density.score_samples(X[:3])
    """

    kind = "density"

    def __init__(
        self,
        instance: Any = "auto",  # noqa: ANN401
        base: Any = "auto",  # noqa: ANN401
        surface: Any = "auto",  # noqa: ANN401
        budget: int | str = "auto",
        validation_fraction: float = 0.1,
        random_state: Any = None,  # noqa: ANN401
        device: str = "auto",
        verbose: int = 0,
        bounds: Any = None,  # noqa: ANN401
        jitter: Any = "auto",  # noqa: ANN401
        missing: Missing = "error",
    ) -> None:
        self.instance = instance
        self.base = base
        self.surface = surface
        self.budget = budget
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device
        self.verbose = verbose
        self.bounds = bounds
        self.jitter = jitter
        self.missing = missing

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ANN401
        """Fit to rows X, (n, d)."""
        table = to_table(X, missing=self.missing)
        fitted = fit_density(table.values, sample_weight, Settings.of(self, seed_of(self.random_state)), table.names)
        self._adopt(fitted, table.names)
        return self

    def score_samples(self, X: Any) -> Array:  # noqa: ANN401
        """The log density of every row, normalised; −∞ only outside bounds that the user gave or the base states."""
        result: Array = self._log_prob(self._rows(X)).numpy()
        return result

    def height(self, X: Any) -> Array:  # noqa: ANN401
        """The paper's height f of every row, not normalised: of a stack, that of one surface over ``base_`` like it."""
        rows = self._rows(X)
        log_base = torch.cat([self.base_.log_prob(part) for part in rows.split(_CHUNK)])
        strongest = self.stack_.strongest
        if strongest is not None and len(self.stack_.members) == 1:  # as the surface has it, without a detour
            u = strongest.heights(self._standard(rows)).double()
        else:
            whole = self._log_prob(rows) + self.log_normalizer_
            log_base = torch.where(torch.isneginf(log_base), whole, log_base)  # where there is no base, u = T(1)
            u = self.instance_.target(torch.exp((whole - log_base).nan_to_num(nan=0.0)))
        result: Array = self.instance_.height(u, log_base).numpy()
        return result

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ANN401
        """The mean log density of rows."""
        return float(self.score_samples(X).mean())

    def sample(self, n: int = 1, random_state: Any = None) -> Array:  # noqa: ANN401
        """Draw n rows; ``sampling_`` says how, and how well."""
        check_is_fitted(self)
        if not isinstance(n, Integral) or n < 1:
            message = f"n must be at least 1, an integer, got {n!r}"
            raise ValueError(message)
        rows = self.stack_.sample(int(n), torch.Generator().manual_seed(seed_of(random_state)))
        result: Array = (self.shift_ + self.scale_ * rows).numpy()
        return result

    @property
    def plot(self) -> Plotter:
        """Pictures of the fitted density: ``marginals()``, ``pair()``, ``history()``, ``calibration(X)``."""
        check_is_fitted(self)
        return Plotter(self)

    def to_document(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """What :func:`equipoise.save` writes."""
        check_is_fitted(self)
        return density_file.to_document(self)

    @classmethod
    def from_document(cls, document: dict[str, Any], tensors: dict[str, Tensor]) -> Self:
        """What :func:`equipoise.load` reads."""
        model = cls()
        model._adopt(*density_file.from_document(document, tensors))
        return model

    def _adopt(self, fitted: Fitted, names: tuple[str, ...]) -> None:
        self.stack_ = fitted.stack
        self.shift_, self.scale_ = fitted.shift, fitted.scale
        strongest = fitted.stack.strongest
        self.instance_ = fitted.instance or (catalog.nce if strongest is None else strongest.instance)
        self.surface_: nn.Module | None = None if strongest is None else strongest.surface
        base = fitted.stack.alone if strongest is None else strongest.base
        self.base_ = Rescaled(base, fitted.shift, fitted.scale)
        self.log_normalizer_: float = 0.0 if strongest is None else strongest.normalizer.log_z
        self.log_normalizer_se_: float = 0.0 if strongest is None else strongest.normalizer.se
        self.selection_, self.history_ = fitted.selection, fitted.history
        self.sampling_, self.warnings_ = fitted.stack.sampling(), fitted.warnings
        self.n_features_in_ = fitted.stack.features
        self.n_samples_, self.n_selecting_ = fitted.n_samples, fitted.n_selecting
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _rows(self, X: Any) -> Tensor:  # noqa: ANN401
        check_is_fitted(self)
        return torch.from_numpy(columns_of(self, to_table(X)).values)

    def _standard(self, rows: Tensor) -> Tensor:
        return (rows - self.shift_) / self.scale_

    def _log_prob(self, rows: Tensor) -> Tensor:
        units = torch.log(self.scale_).sum()
        return torch.cat([self.stack_.log_prob(self._standard(part)) for part in rows.split(_CHUNK)]) - units


def seed_of(random_state: Any) -> int:  # noqa: ANN401
    """A seed from scikit-learn's random_state: an integer, None, or a RandomState that moves on."""
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))
