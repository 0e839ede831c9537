"""A mixture of normalised densities, whatever they are: bases, and surfaces pushed over them.

    log p(x) = log Σ_j w_j·p_j(x)   inside the bounds, less the log of the mass that lies there

A mixture covers the blunders of one with the caution of another.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import torch
from torch import Generator, Tensor

from equipoise.densities.pushed import Pushed
from equipoise.densities.sampling import Quality

_LEAST_KEPT = 1e-4


@dataclass(frozen=True)
class Stacked:
    """Weighted members.

    Arguments:
        members: Normalised densities, the heaviest first.
        weights: One per member, positive, summing to one.
        names: What the members are called.
        low, high: Bounds that the user gave, (d,) each; ±∞ where there are none.
        inside: The mixture's mass between them.
    """

    members: tuple[Any, ...]
    weights: tuple[float, ...]
    names: tuple[str, ...]
    low: Tensor
    high: Tensor
    inside: float = 1.0

    @property
    def features(self) -> int:
        """Columns of a row."""
        return len(self.low)

    @property
    def strongest(self) -> Pushed | None:
        """The pushed member of the largest weight, if there is one."""
        return next((member for member in self.members if isinstance(member, Pushed)), None)

    @property
    def alone(self) -> Any:  # noqa: ANN401
        """The only member, where there is one and no bounds; the stack itself otherwise."""
        return self.members[0] if len(self.members) == 1 and not self.bounded else self

    @property
    def bounded(self) -> bool:
        """Whether the user gave any bound."""
        return bool(torch.isfinite(self.low).any() | torch.isfinite(self.high).any())

    def sampling(self) -> list[dict[str, Any]]:
        """How rows of each member are drawn, and how well."""
        qualities = [
            member.quality() if isinstance(member, Pushed) else Quality("its own rows", 1.0) for member in self.members
        ]
        return [
            {"name": name, "method": quality.method, "effective": quality.effective}
            for name, quality in zip(self.names, qualities, strict=True)
        ]

    def log_prob(self, x: Tensor) -> Tensor:
        """The log density of rows (n, d)."""
        parts = [member.log_prob(x) + log(weight) for member, weight in zip(self.members, self.weights, strict=True)]
        whole = parts[0] if len(parts) == 1 else torch.logsumexp(torch.stack(parts), dim=0)
        if not self.bounded:
            return whole
        within = ((x >= self.low.to(x)) & (x <= self.high.to(x))).all(dim=1)
        return (whole - log(self.inside)).masked_fill(~within, -torch.inf)

    def sample(self, n: int, generator: Generator, dtype: torch.dtype = torch.float64) -> Tensor:
        """Draw n rows; those out of bounds are drawn again."""
        if not self.bounded:
            return self._sample(n, generator).to(dtype)
        parts: list[Tensor] = []
        while (missing := n - sum(map(len, parts))) > 0:
            rows = self._sample(int(missing / self.inside * 1.1) + 16, generator)
            parts.append(rows[((rows >= self.low) & (rows <= self.high)).all(dim=1)][:missing])
        return torch.cat(parts).to(dtype)

    def _sample(self, n: int, generator: Generator) -> Tensor:
        shares = torch.tensor(self.weights, dtype=torch.float64)
        which = torch.multinomial(shares, n, replacement=True, generator=generator)
        rows = torch.empty(n, self.features, dtype=torch.float64)
        for i, member in enumerate(self.members):
            chosen = torch.nonzero(which == i).flatten()
            if len(chosen):
                rows[chosen] = member.sample(len(chosen), generator=generator, dtype=torch.float64)
        return rows


def stacked(
    members: list[Any], weights: list[float], names: list[str], low: Tensor, high: Tensor, seed: int
) -> Stacked:
    """A stack, the heaviest member first, with the mass inside the bounds estimated where there are any."""
    order = sorted((i for i, weight in enumerate(weights) if weight > 0), key=lambda i: -weights[i])
    total = sum(weights[i] for i in order)
    chosen = [tuple(values[i] for i in order) for values in (members, names)]
    stack = Stacked(chosen[0], tuple(weights[i] / total for i in order), chosen[1], low, high)
    if not stack.bounded:
        return stack
    rows = stack._sample(200_000, torch.Generator().manual_seed(seed))
    inside = ((rows >= low) & (rows <= high)).all(dim=1).double().mean().item()
    if inside < _LEAST_KEPT:
        message = f"bounds leave only {inside:.1e} of the density that the rows suggest: are they in the table's units?"
        raise ValueError(message)
    return Stacked(stack.members, stack.weights, stack.names, low, high, inside)
