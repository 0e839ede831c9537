"""A first-order surface: one piecewise linear function per column.

    u(x) = Σ_i s_i(x_i),   s_i linear between knots and constant beyond the outermost

Each row touches two weights a column, so that a surface of thousands of knots costs no more than one of ten. Beside a
network it takes the sharp one-dimensional detail (jumps, spikes) off the network's hands.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Additive(nn.Module):
    """A sum of linear splines, flat at zero to begin with.

    Arguments:
        knots: Positions, (d, K), increasing along every row; K at least 2.
    """

    knots: Tensor

    def __init__(self, knots: Any) -> None:  # noqa: ANN401  # anything torch takes
        super().__init__()
        positions = torch.as_tensor(knots, dtype=torch.get_default_dtype())
        if positions.dim() != 2 or positions.shape[1] < 2 or not bool((torch.diff(positions, dim=1) > 0).all()):
            message = f"knots must be (d, K) with K >= 2, increasing along every row; got {tuple(positions.shape)}"
            raise ValueError(message)
        self.register_buffer("knots", positions.contiguous())
        self.values = nn.Parameter(torch.zeros_like(positions))

    @classmethod
    def on_rows(cls, rows: Tensor, knots: int = 64, *, at: str = "quantiles") -> Additive:
        """Lay knots over rows (n, d).

        Arguments:
            rows: The rows whose range the knots cover.
            knots: How many per column; where values repeat, coinciding knots stand a hair apart, as at a jump.
            at: ``"quantiles"``, as many rows between any two knots, or ``"equal"`` distances.
        """
        if at not in ("quantiles", "equal"):
            message = f"at must be 'quantiles' or 'equal', got {at!r}"
            raise ValueError(message)
        share = torch.linspace(0.0, 1.0, knots, dtype=torch.float64)
        low, high = rows.double().amin(dim=0), rows.double().amax(dim=0)
        if not bool((low < high).all()):
            constant = torch.nonzero(~(low < high)).flatten().tolist()
            message = f"columns {constant} hold one value only: there is no range to lay knots over"
            raise ValueError(message)
        equal = low.unsqueeze(1) + (high - low).unsqueeze(1) * share
        if at == "equal":
            return cls(equal)
        ordered = rows.double().sort(dim=0).values
        index = torch.round(share * (len(rows) - 1)).long()
        least = 1e-6 * (high - low).unsqueeze(1) / knots  # repeated values would lay knots on one another
        return cls(_spread(ordered[index].T, least, high))

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        columns = x.T.contiguous()  # (d, n)
        right = torch.searchsorted(self.knots, columns.detach()).clamp_(1, self.knots.shape[1] - 1)
        low, high = self.knots.gather(1, right - 1), self.knots.gather(1, right)
        share = ((columns - low) / (high - low)).clamp(0.0, 1.0)
        return torch.lerp(self.values.gather(1, right - 1), self.values.gather(1, right), share).sum(dim=0)


def _spread(knots: Tensor, least: Tensor, high: Tensor) -> Tensor:
    """Push coinciding knots apart by a hair, to the right, and back under the upper end."""
    steps = torch.arange(knots.shape[1], dtype=knots.dtype) * least
    risen = torch.cummax(knots - steps, dim=1).values + steps
    excess = torch.clamp(risen - (high.unsqueeze(1) - steps.flip(1)), min=0.0)
    return risen - excess
