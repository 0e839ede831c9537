"""A base: a density with fit, sample and log_prob, whose fitted state is a handful of tensors.

    fit(X) → self,   sample(n) → (n, d),   log_prob(x) → (n,),   support → the box outside of which log_prob is −∞

A base holds its state in float64 and answers in the precision it is asked in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import sqrt
from typing import Any, ClassVar, Self

import torch
from torch import Generator, Tensor

from equipoise.bases.fitted import are_finite
from equipoise.sources.rows import as_weights
from equipoise.sources.source import as_rows

_MOST_REPEATS = 1000


class Base(ABC):
    """What all bases share; a base itself is the three functions that follow from its formula.

    A subclass names its fitted tensors in ``fitted`` and writes ``_fit``, ``_sample`` and ``_log_prob``.
    """

    fitted: ClassVar[tuple[str, ...]] = ()

    @property
    def features(self) -> int:
        """Columns of a row."""
        first: Tensor = self._state(self.fitted[0])
        return first.shape[-1]

    @property
    def is_fitted(self) -> bool:
        """Whether the base knows its density."""
        return hasattr(self, self.fitted[0])

    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {}

    def fit(self, X: Any, sample_weight: Any = None) -> Self:  # noqa: ANN401  # arrays and tensors alike
        """Fit to rows (n, d)."""
        rows = as_rows(X).to(torch.float64)
        weight = (
            torch.ones(len(rows), dtype=torch.float64) if sample_weight is None else as_weights(sample_weight, rows)
        )
        self._fit(rows, weight / weight.sum())
        for name in self.fitted:  # laid out as a file gives it back: sums round by the order of memory
            setattr(self, name, self._state(name).contiguous())
        return self

    @property
    def support(self) -> tuple[Tensor, Tensor]:
        """The lower and the upper corner, (d,) each, of the box that holds the density; ±∞ where it has no end."""
        self._require_fit()
        return self._support()

    def sample(self, n: int, generator: Generator | None = None, dtype: torch.dtype | None = None) -> Tensor:
        """Draw n independent rows."""
        self._require_fit()
        return self._sample(n, generator, dtype or torch.get_default_dtype())

    def draw(self, out: Tensor, generator: Generator | None = None) -> None:
        """Fill ``out``, (n, d), with independent rows."""
        self._require_fit()
        self._draw(out, generator)

    def log_prob(self, x: Any) -> Tensor:  # noqa: ANN401
        """The log density of rows (n, d); −∞ only outside a support that the base states."""
        self._require_fit()
        rows = x if isinstance(x, Tensor) else as_rows(x)
        if rows.dim() != 2 or rows.shape[1] != self.features:
            message = f"this base has {self.features} columns, got rows of shape {tuple(rows.shape)}"
            raise ValueError(message)
        return self._log_prob(rows)

    def state(self) -> dict[str, Tensor]:
        """The fitted tensors by name."""
        self._require_fit()
        return {name: self._state(name) for name in self.fitted}

    def load_state(self, state: dict[str, Tensor]) -> Self:
        """Take fitted tensors over from :meth:`state`; those that make no density are refused."""
        for name in self.fitted:
            setattr(self, name, state[name].to(torch.float64))
        if not (are_finite(*map(self._state, self.fitted)) and self._is_density()):
            message = f"the tensors of a fitted {type(self).__name__} do not fit together: they make no density"
            raise ValueError(message)
        return self

    def _state(self, name: str) -> Tensor:
        value: Tensor = getattr(self, name)
        return value

    def _is_density(self) -> bool:
        """Whether the fitted tensors, all finite, make a density."""
        return True

    def _require_fit(self) -> None:
        if not self.is_fitted:
            message = f"this {type(self).__name__} is not fitted: call fit(X) first"
            raise ValueError(message)

    def _support(self) -> tuple[Tensor, Tensor]:
        ends = torch.full((self.features,), torch.inf, dtype=torch.float64)
        return -ends, ends

    def _draw(self, out: Tensor, generator: Generator | None) -> None:
        out.copy_(self._sample(out.shape[0], generator, out.dtype))

    @abstractmethod
    def _fit(self, rows: Tensor, share: Tensor) -> None:
        """Fit to rows (n, d) in float64, each with its share of the total weight (shares sum to one)."""

    @abstractmethod
    def _sample(self, n: int, generator: Generator | None, dtype: torch.dtype) -> Tensor:
        """Draw rows in the precision asked for."""

    @abstractmethod
    def _log_prob(self, x: Tensor) -> Tensor:
        """Evaluate rows in their own precision."""


def refuse_constant(varies: Tensor) -> None:
    """Name the columns (d,) that hold one value only."""
    if not bool(varies.all()):
        constant = torch.nonzero(~varies).flatten().tolist()
        message = f"columns {constant} are constant and have no density: drop them"
        raise ValueError(message)


def squarable(x: Tensor) -> Tensor:
    """Rows (n, d) with entries drawn in to where their squares end: infinities of both signs would add up to NaN."""
    most = sqrt(torch.finfo(x.dtype).max)
    return x.clamp(-most, most)


def row_count(share: Tensor) -> float:
    """How many rows the shares (n,) speak for.

    Weights that are whole multiples of the smallest count as repetitions, so that weight two and a row twice are the
    same. Of others no row counts for more than one: 1/max share.
    """
    positive = share[share > 0]
    times = positive / positive.min()
    whole = torch.round(times)
    if bool(((times - whole).abs() < 1e-6 * times).all()) and times.max().item() <= _MOST_REPEATS:
        return whole.sum().item()
    return 1.0 / positive.max().item()
