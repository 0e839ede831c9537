"""A surface over the normal scores of columns.

    u(x) = surface(z(x)),   z_i = Φ⁻¹(F_i(x_i)),   F_i a column's fitted distribution function

Whatever the columns' units, tails and spikes, their scores look alike; what is left to learn is their dependence.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from equipoise.bases.columns import Columns
from equipoise.interval import Interval
from equipoise.surfaces.blueprint import PART, saved_as
from equipoise.surfaces.field import COUNT
from equipoise.surfaces.in_range import heights_of
from equipoise.surfaces.rows import check_rows

_NAMES = ("centre", "spread", "low", "high", "tails", "mass")


@saved_as("on_scores", surface=PART, features=COUNT, bins=COUNT)
class OnScores(nn.Module):
    """A surface that sees every column as a standard normal one.

    Arguments:
        surface: The surface to wrap.
        columns: The columns' fitted densities: ``Marginals.columns`` of a base.
    """

    mass: Tensor

    def __init__(self, surface: nn.Module, columns: Columns) -> None:
        super().__init__()
        self.surface = surface
        for name in _NAMES:
            self.register_buffer(name, getattr(columns, name).clone())
        self._prepared: tuple[int, Tensor, Columns] | None = None

    @property
    def spec(self) -> dict[str, object]:
        """The surface inside, and how many columns and bins."""
        features, bins = self.mass.shape
        return {"surface": self.surface, "features": features, "bins": bins}

    @classmethod
    def blank(cls, surface: nn.Module, features: int, bins: int) -> OnScores:
        """Uniform columns from −1 to 1."""
        one, tails = torch.ones(features, dtype=torch.float64), torch.full((2, features), 0.01, dtype=torch.float64)
        mass = torch.full((features, bins), 0.98 / bins, dtype=torch.float64)
        return cls(surface, Columns(0.0 * one, one, -one, one, tails, mass))

    @staticmethod
    def numbers(*, features: int, bins: int) -> int:
        """Six numbers per column, and one per bin."""
        return features * (bins + 6)

    @property
    def heights(self) -> Interval:
        """The heights that the wrapped surface can take."""
        return heights_of(self.surface)

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        check_rows(x, len(self.mass), x)
        u: Tensor = self.surface(self._columns().scores(x.to(torch.float64)).to(x))
        return u

    def _columns(self) -> Columns:
        """The densities with what finding needs, prepared again where they have changed."""
        version = -1 if self.mass.is_inference() else self.mass._version
        if self._prepared is None or self._prepared[0] != version or self._prepared[1] is not self.mass:
            columns = Columns(*(getattr(self, name).to(torch.float64) for name in _NAMES))
            self._prepared = version, self.mass, columns
        return self._prepared[2]

    def _load_from_state_dict(self, *given: Any) -> None:  # torch's, which gathers what is wrong
        errors: list[str] = given[-1]
        super()._load_from_state_dict(*given)
        if not errors and not self._columns().are_densities:
            errors.append("the columns' numbers do not fit together: they make no densities")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": None}  # a copy's versions count from zero
