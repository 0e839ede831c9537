"""A first-order surface: one piecewise linear function per column.

    u(x) = Σ_i s_i(x_i),   s_i linear between knots and constant beyond the outermost

Each row touches two weights a column, so that a surface of thousands of knots costs no more than one of ten. Beside a
network it takes the sharp one-dimensional detail (jumps, spikes) off the network's hands.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from equipoise.surfaces.blueprint import saved_as
from equipoise.surfaces.field import COUNT
from equipoise.surfaces.knots import Knots
from equipoise.surfaces.laying import lay
from equipoise.surfaces.rows import check_rows


@saved_as("additive", features=COUNT, knots=COUNT)
class Additive(nn.Module):
    """A sum of linear splines, flat at zero to begin with.

    Arguments:
        knots: Positions, (d, K), increasing along every row; K at least 2.
    """

    knots: Tensor

    def __init__(self, knots: Any) -> None:  # noqa: ANN401  # anything torch takes
        super().__init__()
        at = torch.as_tensor(knots, dtype=torch.get_default_dtype())
        if at.dim() != 2 or at.shape[1] < 2 or not bool((torch.diff(at, dim=1) > 0).all()):
            message = f"knots must be (d, K) with K >= 2, increasing along every row; got {tuple(at.shape)}"
            raise ValueError(message)
        self.register_buffer("knots", at.contiguous())
        self.values = nn.Parameter(torch.zeros_like(self.knots))
        self._prepared: tuple[int, Knots] | None = None

    @classmethod
    def on_rows(cls, rows: Tensor, knots: int = 64, *, at: str = "quantiles", jumps: bool = False) -> Additive:
        """Lay knots over rows (n, d).

        Arguments:
            rows: The rows whose range the knots cover.
            knots: How many per column; where values repeat, coinciding knots stand a hair apart, as at a jump.
            at: ``"quantiles"``, as many rows between any two knots, or ``"equal"`` distances, which are found faster.
            jumps: Whether two of the knots go to either side of wherever the rows' density jumps.
        """
        if at not in ("quantiles", "equal"):
            message = f"at must be 'quantiles' or 'equal', got {at!r}"
            raise ValueError(message)
        if knots < 2:
            message = f"a spline needs at least 2 knots, got {knots}"
            raise ValueError(message)
        wide = rows.detach().double()
        low, high = wide.amin(dim=0), wide.amax(dim=0)
        if not bool((low < high).all()):
            constant = torch.nonzero(~(low < high)).flatten().tolist()
            message = f"columns {constant} hold one value only: there is no range to lay knots over"
            raise ValueError(message)
        return cls(lay(wide, knots, at, jumps=jumps, like=torch.empty(0)))

    @property
    def spec(self) -> dict[str, object]:
        """How many columns, and knots on each."""
        features, knots = self.knots.shape
        return {"features": features, "knots": knots}

    @classmethod
    def blank(cls, features: int, knots: int) -> Additive:
        """Knots from 0 to 1 on every column."""
        return cls(torch.linspace(0.0, 1.0, knots).repeat(features, 1))

    @staticmethod
    def numbers(*, features: int, knots: int) -> int:
        """A position and a height per knot."""
        return 2 * features * knots

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        check_rows(x, len(self.knots), self.values)
        index, share = self._placed().place(x.T.contiguous())  # (d, n)
        left, right = self.values.gather(1, index), self.values[:, 1:].gather(1, index)
        return torch.lerp(left, right, share).sum(dim=0)

    def _placed(self) -> Knots:
        """The knots with what finding needs, prepared again where they have changed."""
        version = -1 if self.knots.is_inference() else self.knots._version
        if self._prepared is None or self._prepared[0] != version or self._prepared[1].at is not self.knots:
            self._prepared = version, Knots.of(self.knots)
        return self._prepared[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": None}  # a copy's versions count from zero
