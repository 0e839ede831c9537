"""A mixture of sources: each row comes from one part, chosen at random.

p(x) = Σ_k w_k·p_k(x),   known only where every part is known
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Generator, Tensor

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

    @property
    def log_prob(self) -> Callable[[Tensor], Tensor] | None:
        """The mixture's log density, where every part has one."""
        if any(part.log_prob is None for part in self.parts):
            return None
        return self._log_prob

    def draw(self, out: Tensor, generator: Generator) -> None:
        """Fill ``out``: multinomial counts per part, then a shuffle so that no position belongs to a part."""
        which = torch.multinomial(self.shares, out.shape[0], replacement=True, generator=generator)
        for k, part in enumerate(self.parts):
            index = torch.nonzero(which == k).flatten()
            rows = out.new_empty(len(index), self.features)
            if len(index) and part.draw(rows, generator) is not None:
                message = "a part with sample weights cannot be mixed: draw it with replacement by its weights instead"
                raise ValueError(message)
            out[index] = rows

    def _log_prob(self, x: Tensor) -> Tensor:
        terms = torch.stack([part.log_prob(x) for part in self.parts])  # (k, n)
        return torch.logsumexp(terms + torch.log(self.shares).to(terms).unsqueeze(1), dim=0)
