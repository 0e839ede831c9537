"""A mixture of bases.

    p(x) = Σ_j w_j·p_j(x)

What a stack of fitted bases is once its weights are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import torch
from torch import Generator, Tensor

from equipoise.bases.base import Base
from equipoise.bases.fitted import are_shares


class Mixture(Base):
    """A mixture of bases.

    Arguments:
        parts: The bases; fitted where weights are given.
        weights: One non-negative weight per part; equal where they are not given.
    """

    fitted: ClassVar[tuple[str, ...]] = ("weights_",)

    def __init__(self, parts: Sequence[Base], weights: Any = None) -> None:  # noqa: ANN401
        if not parts:
            message = "a mixture needs at least one part"
            raise ValueError(message)
        self.parts = list(parts)
        share = torch.ones(len(self.parts)) if weights is None else torch.as_tensor(weights)
        if share.shape != (len(self.parts),) or not bool((share >= 0).all()) or not bool(share.sum() > 0):
            message = f"weights must be {len(self.parts)} non-negative numbers, one per part; got {weights!r}"
            raise ValueError(message)
        self.weights_ = share.to(torch.float64) / share.sum().to(torch.float64)

    @property
    def features(self) -> int:
        """Columns of a row."""
        return self.parts[0].features

    @property
    def is_fitted(self) -> bool:
        """Whether all parts know their densities."""
        return all(part.is_fitted for part in self.parts)

    def state(self) -> dict[str, Tensor]:
        """The fitted tensors of all parts, each under its number, and the weights."""
        self._require_fit()
        parts = {f"{i}.{name}": value for i, part in enumerate(self.parts) for name, value in part.state().items()}
        return {"weights_": self.weights_, **parts}

    def load_state(self, state: dict[str, Tensor]) -> Self:
        """Take fitted tensors over from :meth:`state`."""
        for i, part in enumerate(self.parts):
            prefix = f"{i}."
            part.load_state({k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})
        return super().load_state(state)

    def _fit(self, rows: Tensor, share: Tensor) -> None:
        for part in self.parts:
            part.fit(rows, share)

    def _is_density(self) -> bool:
        agree = len({part.features for part in self.parts}) == 1
        return agree and self.weights_.shape == (len(self.parts),) and are_shares(self.weights_)

    def _support(self) -> tuple[Tensor, Tensor]:
        lows, highs = zip(*(part.support for part in self._weighted()), strict=True)
        return torch.stack(lows).amin(dim=0), torch.stack(highs).amax(dim=0)

    def _weighted(self) -> list[Base]:
        return [part for part, weight in zip(self.parts, self.weights_, strict=True) if weight > 0]

    def _sample(self, n: int, generator: Generator | None, dtype: torch.dtype) -> Tensor:
        which = torch.multinomial(self.weights_, n, replacement=True, generator=generator)
        rows = torch.empty(n, self.features, dtype=dtype)
        for i, part in enumerate(self.parts):
            chosen = torch.nonzero(which == i).flatten()
            if len(chosen):
                rows[chosen] = part.sample(len(chosen), generator, dtype)
        return rows

    def _log_prob(self, x: Tensor) -> Tensor:
        weights = self.weights_[self.weights_ > 0].to(x)
        parts = torch.stack([part.log_prob(x) for part in self._weighted()])
        return torch.logsumexp(parts + torch.log(weights).unsqueeze(1), dim=0)
