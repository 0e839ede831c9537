"""A density from a table: a fitted base, a surface pushed for what it leaves over, and the normaliser of both.

    log p(x) = log p_base(x) + log R(u(x)) − log Z

The base is chosen on held-out rows, the surface keeps the weights that scored best there, and where it does not beat
the base by a standard error, the base alone is the answer.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from equipoise.bases import Rescaled
from equipoise.estimators import density_file
from equipoise.estimators.density_fit import Settings, fit_density
from equipoise.io.tables import Table, to_table
from equipoise.plots.accessor import Plotter

Array = NDArray[np.float64]

_CHUNK = 65_536
_FAR = 1e12  # deviations; beyond, the base alone decides, and a surface's sums would overflow


class Density(BaseEstimator):
    """A probability density, fitted to a table.

    Arguments:
        instance: ``"auto"`` (PSO-LDE with alpha 1/4), a catalogue name, or an Instance.
        base: ``"auto"`` (the best on held-out rows), ``"uniform"``, ``"gaussian"``, ``"gaussian_mixture"``, a base, or
            a ``torch.distributions.Distribution`` in the table's units.
        surface: ``"auto"`` or a module from standardised rows (n, d) to heights (n,).
        budget: ``"auto"``, a number of steps, or a time such as ``"90s"``; a time is turned into steps once.
        validation_fraction: The share of rows that choose and are not pushed.
        random_state: Seeds everything.
        device: ``"auto"``, ``"cpu"`` or a torch device, where the surface is pushed.
        verbose: 1 draws a progress line.

    Attributes:
        log_normalizer_, log_normalizer_se_: log Z of the surface over the base, and its standard error.
        base_: The base, in the table's units.
        surface_: The pushed surface over standardised rows; None where the base alone was kept.
        selection_: Every candidate with its held-out score; the kept one has weight 1.
        history_: What the push saw.
        n_features_in_, feature_names_in_: The table's columns.

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
    ) -> None:
        self.instance = instance
        self.base = base
        self.surface = surface
        self.budget = budget
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ANN401
        """Fit to rows X, (n, d)."""
        table = to_table(X)
        fitted = fit_density(table.values, sample_weight, Settings.of(self))
        self._adopt(fitted, table.shape[1], table.names)
        return self

    def score_samples(self, X: Any) -> Array:  # noqa: ANN401
        """The log density of every row; −∞ only outside bounds that the base states."""
        log_base, log_ratio = self._evaluate(X)[:2]
        result: Array = (log_base + log_ratio - self.log_normalizer_).numpy()
        return result

    def height(self, X: Any) -> Array:  # noqa: ANN401
        """The paper's height f of every row, not normalised."""
        log_base, _, u = self._evaluate(X)
        result: Array = self.instance_.height(u, log_base).numpy()
        return result

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ANN401
        """The mean log density of rows."""
        return float(self.score_samples(X).mean())

    def sample(self, n: int = 1, random_state: Any = None) -> Array:  # noqa: ANN401
        """Draw n rows: rows of the base, resampled by how much the surface favours them."""
        check_is_fitted(self)
        if not n >= 1:
            message = f"n must be at least 1, got {n!r}"
            raise ValueError(message)
        generator = torch.Generator().manual_seed(seed_of(random_state))
        if self.surface_ is None:
            rows = self.base_.sample(n, generator=generator, dtype=torch.float64)
        else:
            parts = [min(_CHUNK, n - start) for start in range(0, n, _CHUNK)]
            rows = torch.cat([self._resampled(part, generator) for part in parts])
        result: Array = rows.numpy()
        return result

    def _resampled(self, n: int, generator: torch.Generator) -> Tensor:
        pool = self.base_.sample(max(20 * n, 20_000), generator=generator, dtype=torch.float64)
        weight = torch.softmax(torch.cat([self._log_ratio(part)[0] for part in pool.split(_CHUNK)]), dim=0)
        return pool[torch.multinomial(weight, n, replacement=True, generator=generator)]

    @property
    def plot(self) -> Plotter:
        """Pictures of the fitted density: ``plot.marginals()``, ``plot.pair()``, ``plot.history()``."""
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

    def _adopt(self, fitted: Any, features: int, names: tuple[str, ...]) -> None:  # noqa: ANN401
        self.instance_ = fitted.instance
        self.surface_: nn.Module | None = fitted.surface
        self.shift_, self.scale_ = fitted.shift, fitted.scale
        self.standard_base_ = fitted.base
        self.base_ = Rescaled(fitted.base, fitted.shift, fitted.scale)
        self.log_normalizer_: float = fitted.normalizer.log_z
        self.log_normalizer_se_: float = fitted.normalizer.se
        self.selection_ = fitted.selection
        self.history_ = fitted.history
        self.n_features_in_ = features
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _evaluate(self, X: Any) -> tuple[Tensor, Tensor, Tensor]:  # noqa: ANN401
        check_is_fitted(self)
        rows = torch.from_numpy(self._columns(to_table(X)).values)
        parts = [(self.base_.log_prob(part), *self._log_ratio(part)) for part in rows.split(_CHUNK)]
        log_base, log_ratio, u = (torch.cat(column) for column in zip(*parts, strict=True))
        return log_base, log_ratio, u

    def _log_ratio(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Log R(u) and u at rows in the table's units; the base alone is the surface u = T(1)."""
        if self.surface_ is None:
            u = self.instance_.target(torch.ones(len(rows), dtype=torch.float64))
            return torch.zeros_like(u), u
        with torch.no_grad():
            u = self.surface_(torch.clamp((rows - self.shift_) / self.scale_, -_FAR, _FAR))
        return self.instance_.log_ratio(u), u

    def _columns(self, table: Table) -> Table:
        names = tuple(getattr(self, "feature_names_in_", ()))
        if names and table.names and names != table.names:
            if len(table.names) != len(names):
                message = f"X has columns {', '.join(table.names)}; Density was fitted on {', '.join(names)}"
                raise ValueError(message)
            table = table.select(names)
        if table.shape[1] != self.n_features_in_:
            message = (
                f"X has {table.shape[1]} features, but Density is expecting {self.n_features_in_} features as input"
            )
            raise ValueError(message)
        return table


def seed_of(random_state: Any) -> int:  # noqa: ANN401
    """A seed from scikit-learn's random_state: an integer, None, or a RandomState that moves on."""
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))
