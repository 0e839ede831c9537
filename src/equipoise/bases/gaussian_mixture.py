"""A mixture of Gaussians, its size chosen by BIC.

    p(x) = Σ_k w_k·N(x; μ_k, Σ_k)

Weights count as repeated rows do: the fit resamples the table by them before EM.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from equipoise.bases.base import Base, refuse_constant
from equipoise.bases.gaussian import factor, gaussian_log_prob

_SIZES = (1, 2, 3, 4, 6, 8, 12)
_MOST_ROWS = 20_000


class GaussianMixture(Base):
    """A mixture of full-covariance Gaussians.

    Arguments:
        components: How many; chosen by BIC among 1 to 12 where it is None.
        seed: Seeds the initialisation of EM.
    """

    fitted: ClassVar[tuple[str, ...]] = ("means_", "factors_", "shares_")

    def __init__(self, components: int | None = None, seed: int = 0) -> None:
        if components is not None and components < 1:
            message = f"components must be at least 1, got {components!r}"
            raise ValueError(message)
        self.components = components
        self.seed = seed

    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {"components": self.components, "seed": self.seed}

    def _fit(self, rows: Tensor, share: Tensor) -> None:
        rows, share = rows[share > 0], share[share > 0]
        refuse_constant(rows.amax(dim=0) > rows.amin(dim=0))
        shift = share @ rows
        scale = torch.sqrt(share @ (rows - shift) ** 2)
        table = ((self._resampled(rows, share) - shift) / scale).numpy()
        sizes = [self.components] if self.components else [k for k in _SIZES if k * (2 + rows.shape[1]) <= len(table)]
        fits = [_fit_em(table, k, self.seed) for k in (sizes or [1])]
        best = min(fits, key=lambda model: model.bic(table))
        self.means_ = torch.from_numpy(best.means_) * scale + shift
        covariances = torch.from_numpy(best.covariances_) * torch.outer(scale, scale)
        self.factors_ = torch.stack([factor(covariance, 0.0) for covariance in covariances])
        self.shares_ = torch.from_numpy(best.weights_)

    def _resampled(self, rows: Tensor, share: Tensor) -> Tensor:
        uniform = bool((share == share[0]).all())
        if uniform and len(rows) <= _MOST_ROWS:
            return rows
        generator = torch.Generator().manual_seed(self.seed)
        n = min(len(rows), _MOST_ROWS)
        return rows[torch.multinomial(share, n, replacement=not uniform, generator=generator)]

    def _sample(self, n: int, generator: Generator | None, dtype: torch.dtype) -> Tensor:
        which = torch.multinomial(self.shares_, n, replacement=True, generator=generator)
        noise = torch.randn(n, self.features, generator=generator, dtype=dtype)
        return self.means_.to(dtype)[which] + torch.einsum("nij,nj->ni", self.factors_.to(dtype)[which], noise)

    def _log_prob(self, x: Tensor) -> Tensor:
        parts = [gaussian_log_prob(x, m.to(x), f.to(x)) for m, f in zip(self.means_, self.factors_, strict=True)]
        return torch.logsumexp(torch.stack(parts) + torch.log(self.shares_).to(x).unsqueeze(1), dim=0)


def _fit_em(table: Any, components: int, seed: int) -> Any:  # noqa: ANN401  # scikit-learn carries no types
    from sklearn import mixture
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with warnings.catch_warnings(), threadpool_limits(1):  # on so few rows a second thread only waits for the first
        warnings.simplefilter("ignore", ConvergenceWarning)  # BIC judges what EM reached, converged or not
        return mixture.GaussianMixture(components, reg_covar=1e-4, max_iter=100, random_state=seed).fit(table)
