"""A copula: the columns' own densities, joined in normal scores.

    p(x) = Π_i p_i(x_i) · q(z)/Π_i φ(z_i),      z_i = Φ⁻¹(F_i(x_i)),   q a Gaussian, a mixture of them, or a flow

Marginals take what single columns are like, and q what they have to do with each other. Scores beyond those of the rows
are pulled towards a Gaussian's by a share of the independent columns, which keeps the tails in bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Any, ClassVar, Self

import torch
from torch import Generator, Tensor

from equipoise.bases.base import Base, row_count
from equipoise.bases.fitted import is_share
from equipoise.bases.flow import Flow
from equipoise.bases.gaussian import Gaussian
from equipoise.bases.gaussian_mixture import GaussianMixture
from equipoise.bases.marginals import Marginals

_CHUNK = 8192


@dataclass(frozen=True)
class Scores:
    """The density of normal scores: what joins them, and a share of the independent ones.

    Arguments:
        joined: A fitted base of scores.
        independent: The share of a standard Gaussian.
    """

    joined: Base
    independent: Tensor

    @property
    def features(self) -> int:
        """Columns of a row."""
        return self.joined.features

    def sample(self, n: int, generator: Generator | None = None, dtype: torch.dtype | None = None) -> Tensor:
        """Draw n rows of scores."""
        z = self.joined.sample(n, generator, dtype)
        alone = torch.rand(n, generator=generator, dtype=torch.float64) < self.independent
        z[alone] = torch.randn(int(alone.sum()), self.features, generator=generator, dtype=z.dtype)
        return z

    def log_prob(self, z: Tensor) -> Tensor:
        """The log density of scores (n, d)."""
        independent = self.independent.to(z)
        joined = self.joined.log_prob(z) + torch.log1p(-independent)
        return torch.logaddexp(joined, normal(z) + torch.log(independent))


def normal(z: Tensor) -> Tensor:
    """Log Π_i φ(z_i) of scores (n, d)."""
    return -(0.5 * z**2 + 0.5 * log(2.0 * pi)).sum(dim=1)


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
        self.scores: Base = Gaussian() if components == 1 else GaussianMixture(components, seed)

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

    def _is_density(self) -> bool:
        return self.scores.features == self.marginals.features and is_share(self.independent_)

    def _support(self) -> tuple[Tensor, Tensor]:
        return self.marginals.support

    @property
    def density_of_scores(self) -> Scores:
        """The density of the rows' normal scores."""
        return Scores(self.scores, self.independent_)

    def scores_of(self, rows: Tensor) -> Tensor:
        """The normal scores of rows (n, d), in float64."""
        return torch.cat([self.marginals.columns.scores(part.to(torch.float64)) for part in rows.split(_CHUNK)])

    def _fit(self, rows: Tensor, share: Tensor) -> None:
        self.marginals.fit(rows, share)
        self.scores.fit(self.scores_of(rows), share)
        self.independent_ = torch.tensor(1.0 / (row_count(share) + 2.0), dtype=torch.float64)

    def _sample(self, n: int, generator: Generator | None, dtype: torch.dtype) -> Tensor:
        z = self.density_of_scores.sample(n, generator, torch.float64)
        return self.marginals.columns.quantile(*(0.5 * torch.special.erfc(s * z / sqrt(2.0)) for s in (-1, 1))).to(
            dtype
        )

    def _log_prob(self, x: Tensor) -> Tensor:
        return torch.cat([self._joined(part.to(torch.float64)) for part in x.split(_CHUNK)]).to(x.dtype)

    def _joined(self, x: Tensor) -> Tensor:
        z = self.marginals.columns.scores(x)
        return self.marginals.log_prob(x) + self.density_of_scores.log_prob(z) - normal(z)


class CopulaMixture(Copula):
    """A copula whose number of components is chosen on held-out rows.

    Arguments:
        components: How many; chosen where it is None.
        seed: Seeds the mixture's initialisation.
    """

    def __init__(self, components: int | None = None, seed: int = 0) -> None:
        super().__init__(components, seed)


class CopulaFlow(Copula):
    """A copula whose scores a normalising flow joins. Needs ``pip install "equipoise[flow]"``.

    Arguments:
        kind, transforms, width, steps, seed: Of the flow.
    """

    def __init__(
        self, kind: str = "maf", transforms: int = 5, width: int = 128, *, steps: int | None = None, seed: int = 0
    ) -> None:
        super().__init__(1, seed)
        self.scores = Flow(kind, transforms, width, steps=steps, seed=seed)

    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {key: getattr(self.scores, key) for key in ("kind", "transforms", "width", "steps", "seed")}
