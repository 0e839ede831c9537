"""Independent components: rows are unmixed by a linear map, and every component has a density of its own.

    p(x) = |det W|·Π_i p_i(y_i),   y = W·(x − mean)

Rows are made white and rotated. Of the rotations that independent component analysis finds, and none at all, the one
is kept under which the components' densities score best on rows held out; Newton's steps on the likelihood sharpen it
while they help.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Generator, Tensor

from equipoise.bases.base import Base, refuse_constant, row_count, squarable
from equipoise.bases.columns import Columns
from equipoise.bases.fitted import are_finite
from equipoise.bases.gaussian import factor
from equipoise.bases.marginals import Marginals
from equipoise.bases.unmixing import cube, newton, rotation, tanh

_SEARCH_ROWS = 200_000
_FEWEST_ROWS_A_COLUMN = 10  # below, whitening is all that rows can tell
_RESOLUTIONS = (0.1, 0.05, 0.03, 0.02, 0.02, 0.01, 0.01, 0.007, 0.005, 0.005, 0.003, 0.003)  # deviations; a step each
_BINS = 1024


class Independent(Base):
    """Linear unmixing, then marginals.

    Arguments:
        seed: Seeds the search for the rotation.
    """

    fitted: ClassVar[tuple[str, ...]] = ("mean_", "unmix_")

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.marginals = Marginals()
        self.converged = False

    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {"seed": self.seed}

    def state(self) -> dict[str, Tensor]:
        """The unmixing, and the fitted tensors of the components' densities."""
        return super().state() | {f"marginals.{name}": value for name, value in self.marginals.state().items()}

    def load_state(self, state: dict[str, Tensor]) -> Self:
        """Take fitted tensors over from :meth:`state`."""
        mark = "marginals."
        self.marginals.load_state({k.removeprefix(mark): v for k, v in state.items() if k.startswith(mark)})
        return super().load_state(state)

    def _fit(self, rows: Tensor, share: Tensor) -> None:
        rows, share = rows[share > 0], share[share > 0]
        refuse_constant(rows.amax(dim=0) > rows.amin(dim=0))
        self.mean_ = share @ rows
        centred = rows - self.mean_
        d, n = rows.shape[1], row_count(share)
        lower = factor(
            centred.T @ (share.unsqueeze(1) * centred), d / (n + d) if n < _FEWEST_ROWS_A_COLUMN * d else 0.0
        )
        whiten = torch.linalg.solve_triangular(lower, torch.eye(d, dtype=torch.float64), upper=False)
        white = centred @ whiten.T
        self.unmix_ = self._rotated(white, share) @ whiten
        self.marginals.fit(centred @ self.unmix_.T, share)

    def _rotated(self, white: Tensor, share: Tensor) -> Tensor:
        """The best rotation of white rows, (d, d)."""
        d = white.shape[1]
        still = torch.eye(d, dtype=torch.float64)
        if d == 1 or len(white) < _FEWEST_ROWS_A_COLUMN * d:
            return still
        generator = torch.Generator().manual_seed(self.seed)
        order = torch.randperm(len(white), generator=generator)[:_SEARCH_ROWS]
        some, weight = white[order], share[order]
        single = some.to(torch.float32)
        found = [rotation(single, weight / weight.sum(), g, generator) for g in (cube, tanh)]
        turns = [still, *(turn for turn in found if turn is not None)]
        self.converged = len(turns) > 1
        trials = [_Trial.of(some, weight, turn) for turn in turns]
        best = max(trials, key=lambda trial: trial.score)
        return still if best is trials[0] else _sharpened(some, weight, best).map

    def _is_density(self) -> bool:
        d = self.mean_.shape
        fits = len(d) == 1 and self.unmix_.shape == (*d, *d) and self.marginals.features == len(self.mean_)
        return fits and are_finite(torch.linalg.slogdet(self.unmix_)[1])

    def _sample(self, n: int, generator: Generator | None, dtype: torch.dtype) -> Tensor:
        y = self.marginals.sample(n, generator, torch.float64)
        x: Tensor = self.mean_ + torch.linalg.solve(self.unmix_, y.T).T
        return x.to(dtype)

    def _log_prob(self, x: Tensor) -> Tensor:
        y = (squarable(x.to(torch.float64)) - self.mean_) @ self.unmix_.T
        log_volume: Tensor = torch.linalg.slogdet(self.unmix_)[1]
        return (self.marginals.log_prob(y) + log_volume).to(x.dtype)


@dataclass(frozen=True)
class _Trial:
    """A map of white rows, the components' densities under it, and the score of rows that those have not seen."""

    map: Tensor
    columns: Columns
    score: float

    @classmethod
    def of(cls, white: Tensor, weight: Tensor, map_: Tensor) -> _Trial:
        y, cut = white @ map_.T, len(white) // 5
        marginals = Marginals(bins=_BINS).fit(y[cut:], weight[cut:])
        score = (weight[:cut] @ marginals.log_prob(y[:cut]) / weight[:cut].sum()).item()
        return cls(map_, marginals.columns, score + torch.linalg.slogdet(map_)[1].item())


def _sharpened(white: Tensor, weight: Tensor, trial: _Trial) -> _Trial:
    """Steps of maximum likelihood, each under the marginals of the one before, ever finer."""
    share = weight / weight.sum()
    for resolution in _RESOLUTIONS:
        y = white @ trial.map.T
        slope = trial.columns.log_prob(y - resolution).sub_(trial.columns.log_prob(y + resolution))
        after = _Trial.of(white, weight, newton(y, slope / (2.0 * resolution), share) @ trial.map)
        trial = after if after.score > trial.score else trial
    return trial
