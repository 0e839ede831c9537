"""A mixture of sources: each row comes from one part, chosen at random.

p(x) = Σ_k w_k·p_k(x),   known only where every part is known
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Generator, Tensor

from equipoise.sources.buffer import Buffer
from equipoise.sources.position import outline, position_of, seek
from equipoise.sources.source import as_source


class Mixture:
    """Several sources as one.

    Arguments:
        parts: Sources, or anything that a source can be made of.
        weights: The parts' shares; equal where None, scaled to sum to one.
    """

    def __init__(self, parts: Sequence[Any], weights: Sequence[float] | None = None) -> None:
        self.parts = [as_source(part) for part in parts]
        if not self.parts:
            message = "a mixture needs at least one part"
            raise ValueError(message)
        self.features = self.parts[0].features
        if any(part.features != self.features for part in self.parts):
            message = f"a mixture's parts need equally many columns, got {[part.features for part in self.parts]}"
            raise ValueError(message)
        shares = torch.ones(len(self.parts)) if weights is None else torch.as_tensor(weights)
        valid = shares.shape == (len(self.parts),) and bool(torch.isfinite(shares).all() & (shares >= 0).all())
        if not valid or not bool(shares.sum() > 0):
            message = f"weights must hold one non-negative number per part ({len(self.parts)}), got {weights!r}"
            raise ValueError(message)
        self.shares = shares.to(torch.float64) / shares.sum()
        self._buffer = Buffer()

    @property
    def log_prob(self) -> Callable[[Tensor], Tensor] | None:
        """The mixture's log density, where every part has one."""
        if any(part.log_prob is None for part in self.parts):
            return None
        return self._log_prob

    def draw(self, out: Tensor, generator: Generator) -> None:
        """Fill ``out``: a part for every row, then the rows of one part after another."""
        which = torch.multinomial(self.shares, out.shape[0], replacement=True, generator=generator).to(out.device)
        for k, part in enumerate(self.parts):
            index = torch.nonzero(which == k).flatten()
            rows = self._buffer.rows(len(index), self.features, out)
            if len(index) and part.draw(rows, generator) is not None:
                message = "a part with sample weights cannot be mixed: draw it with replacement by its weights instead"
                raise ValueError(message)
            out.index_copy_(0, index, rows)

    def position(self) -> dict[str, Any]:
        """Where the parts stand."""
        return {"parts": [position_of(part) for part in self.parts]}

    def seek(self, position: dict[str, Any], generator: Generator) -> None:
        """Go to a position."""
        for part, stands in zip(self.parts, position["parts"], strict=True):
            seek(part, stands, generator)

    def outline(self) -> str:
        """What this is, in short."""
        return f"Mixture of {', '.join(outline(part) for part in self.parts)} by {self.shares.tolist()}"

    def _log_prob(self, x: Tensor) -> Tensor:
        terms = torch.stack([part.log_prob(x) for part in self.parts])  # (k, n)
        return torch.logsumexp(terms + torch.log(self.shares).to(terms).unsqueeze(1), dim=0)
