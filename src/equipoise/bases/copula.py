"""A copula: the columns' own densities, joined in normal scores.

    p(x) = Π_i p_i(x_i) · q(z)/Π_i φ(z_i),      z_i = Φ⁻¹(F_i(x_i)),   q a Gaussian or a mixture of Gaussians

Marginals take what single columns are like, and q what they have to do with each other. Scores beyond those of the rows
are pulled towards a Gaussian's by a share of the independent columns, which keeps the tails in bounds.
"""

from __future__ import annotations

from math import log, pi
from typing import Any, ClassVar, Self

import torch
from torch import Generator, Tensor

from equipoise.bases.base import Base, row_count
from equipoise.bases.gaussian import Gaussian
from equipoise.bases.gaussian_mixture import GaussianMixture
from equipoise.bases.marginals import Marginals

_CHUNK = 8192
_LEAST = 1e-300  # of a probability, before it becomes a score


class Copula(Base):
    """Fitted marginals joined by a Gaussian, or by a mixture of Gaussians, in normal scores.

    Arguments:
        components: 1 joins them by a Gaussian; more by a mixture; a number chosen on held-out rows where it is None.
        seed: Seeds the mixture's initialisation.
    """

    fitted: ClassVar[tuple[str, ...]] = ("independent_",)

    def __init__(self, components: int | None = 1, seed: int = 0) -> None:
        self.components = components
        self.seed = seed
        self.marginals = Marginals()
        self.scores: Gaussian | GaussianMixture = Gaussian() if components == 1 else GaussianMixture(components, seed)

    @property
    def features(self) -> int:
        """Columns of a row."""
        return self.marginals.features

    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {"components": self.components, "seed": self.seed}

    def state(self) -> dict[str, Tensor]:
        """The fitted tensors of the marginals and of the scores."""
        self._require_fit()
        parts = {"marginals": self.marginals.state(), "scores": self.scores.state()}
        inner = {f"{part}.{name}": value for part, state in parts.items() for name, value in state.items()}
        return {"independent_": self.independent_, **inner}

    def load_state(self, state: dict[str, Tensor]) -> Self:
        """Take fitted tensors over from :meth:`state`."""
        for name, part in (("marginals.", self.marginals), ("scores.", self.scores)):
            part.load_state({key.removeprefix(name): value for key, value in state.items() if key.startswith(name)})
        return super().load_state(state)

    def _support(self) -> tuple[Tensor, Tensor]:
        return self.marginals.support

    def _fit(self, rows: Tensor, share: Tensor) -> None:
        self.marginals.fit(rows, share)
        self.scores.fit(torch.cat([self._scores(part) for part in rows.split(_CHUNK)]), share)
        self.independent_ = torch.tensor(1.0 / (row_count(share) + 2.0), dtype=torch.float64)

    def _scores(self, rows: Tensor) -> Tensor:
        """Normal scores, each from the nearer end of its distribution."""
        below, above = self.marginals.columns.cdf(rows)
        nearer = torch.special.ndtri(torch.minimum(below, above).clamp(min=_LEAST))
        return torch.where(below < above, nearer, -nearer)

    def _sample(self, n: int, generator: Generator | None, dtype: torch.dtype) -> Tensor:
        z = self.scores.sample(n, generator, torch.float64)
        alone = torch.rand(n, generator=generator, dtype=torch.float64) < self.independent_
        z[alone] = torch.randn(int(alone.sum()), self.features, generator=generator, dtype=torch.float64)
        return self.marginals.columns.quantile(torch.special.ndtr(z), torch.special.ndtr(-z)).to(dtype)

    def _log_prob(self, x: Tensor) -> Tensor:
        return torch.cat([self._joined(part.to(torch.float64)) for part in x.split(_CHUNK)]).to(x.dtype)

    def _joined(self, x: Tensor) -> Tensor:
        alone = self.marginals.log_prob(x)
        z = self._scores(x)
        together = self.scores.log_prob(z) + (0.5 * z**2 + 0.5 * log(2.0 * pi)).sum(dim=1)
        ratio = torch.logaddexp(together + torch.log1p(-self.independent_), torch.log(self.independent_))
        return alone + ratio


class CopulaMixture(Copula):
    """A copula whose number of components is chosen on held-out rows.

    Arguments:
        components: How many; chosen where it is None.
        seed: Seeds the mixture's initialisation.
    """

    def __init__(self, components: int | None = None, seed: int = 0) -> None:
        super().__init__(components, seed)
