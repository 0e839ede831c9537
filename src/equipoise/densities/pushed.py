"""A surface over a base, normalised: a density like any other, and so a base for the next one.

log p(x) = log p_base(x) + max(log R(u(x)), least) − log Z

From n rows nobody can tell that something is rarer than 1/(n + 2): there the surface leaves the base a floor. It is the
paper's proxy (line 3854) for surfaces that end below zero, but that no row becomes impossible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any, Self

import torch
from torch import Generator, Tensor, nn

from equipoise.densities.sampling import Quality, draw
from equipoise.instance import Instance
from equipoise.normalizer import Normalizer, until
from equipoise.surfaces.in_range import heights_of

UNKNOWN = Normalizer(0.0, inf, 0.0, 0)

_CHUNK = 16_384
_FAR = 1e12  # deviations; beyond, the base alone decides, and a surface's sums would overflow
_FIRST, _MOST = 65_536, 2_097_152  # rows of the base that the normaliser is estimated from
_DRAWN = 131_072  # of them at a time
_PRECISION = 0.005
_ROUNDING = 1e-4  # nats by which weights in single precision may pass their bound
_FARTHEST = (
    1e4  # nats that a surface may stand above or below its base; at the ends of K it may have no limit of its own
)


@dataclass(frozen=True)
class Pushed:
    """The density of a pushed surface.

    Arguments:
        base: The down density.
        instance: Whose heights the surface holds.
        surface: The surface, in evaluation mode.
        normalizer: log Z, with what is known about it.
        least: The floor of log R.
    """

    base: Any
    instance: Instance
    surface: nn.Module
    normalizer: Normalizer = UNKNOWN
    least: float = -_FARTHEST

    @property
    def features(self) -> int:
        """Columns of a row."""
        features: int = self.base.features
        return features

    @property
    def log_bound(self) -> float:
        """What no log weight exceeds: log R at the end of the surface's heights, infinite where they have none."""
        heights = heights_of(self.surface)
        end = torch.tensor([heights.high if self.instance.sign > 0 else heights.low], dtype=torch.float64)
        known = bool(self.instance.interval.contains(end) & torch.isfinite(end))
        return self.instance.log_ratio(end).item() + _ROUNDING if known else inf

    def heights(self, x: Tensor) -> Tensor:
        """U at rows (n, d), in the surface's precision."""
        like = next(self.surface.parameters(), x)
        with torch.no_grad():
            rows = torch.clamp(x, -_FAR, _FAR).to(like)
            return torch.cat([self.surface(part) for part in rows.split(_CHUNK)])

    def log_weight(self, x: Tensor) -> Tensor:
        """Log R(u) at rows (n, d): the log ratio to the base, not normalised."""
        return self.instance.log_ratio(self.heights(x)).clamp(self.least, _FARTHEST).to(x.dtype)

    def log_prob(self, x: Tensor) -> Tensor:
        """The log density of rows (n, d)."""
        log_prob: Tensor = self.base.log_prob(x) + self.log_weight(x) - self.normalizer.log_z
        return log_prob

    def differentiable_log_prob(self, x: Tensor) -> Tensor:
        """The same as a function that torch can differentiate in the rows."""
        like = next(self.surface.parameters(), x)
        u = self.surface(torch.clamp(x, -_FAR, _FAR).to(like))
        log_weight = self.instance.log_ratio(u).clamp(self.least, _FARTHEST).to(x.dtype)
        log_prob: Tensor = self.base.log_prob(x) + log_weight - self.normalizer.log_z
        return log_prob

    def sample(self, n: int, generator: Generator | None = None, dtype: torch.dtype | None = None) -> Tensor:
        """Draw n rows."""
        return draw(self, n, generator or torch.Generator().manual_seed(torch.seed()))[0].to(
            dtype or torch.get_default_dtype()
        )

    def quality(self) -> Quality:
        """How rows are drawn, and how well."""
        return Quality.of(self.normalizer, self.log_bound)

    def normalised(self, seed: int, precision: float = _PRECISION) -> Self:
        """The same density with log Z estimated: from more and more rows of the base, until it is known well enough."""
        generator = torch.Generator().manual_seed(seed)

        def weights(count: int) -> Tensor:
            sizes = [min(_DRAWN, count - start) for start in range(0, count, _DRAWN)]
            rows = (self.base.sample(size, generator=generator, dtype=torch.float32) for size in sizes)
            return torch.cat([self.log_weight(part).double() for part in rows])

        return replace(self, normalizer=until(precision, weights, first=_FIRST, most=_MOST))
