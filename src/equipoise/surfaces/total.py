"""A sum of surfaces.

    u(x) = Σ_k u_k(x)

An additive term beside a network is the case that pays most; the parts are trained together.
"""

from __future__ import annotations

from torch import Tensor, nn

from equipoise.surfaces.in_range import heights_of


class Sum(nn.Module):
    """Several surfaces as one.

    Arguments:
        parts: Surfaces over the same rows, each free in its heights; wrap the sum in InRange where K asks for it.
    """

    def __init__(self, *parts: nn.Module) -> None:
        super().__init__()
        if not parts:
            message = "a sum needs at least one surface"
            raise ValueError(message)
        limited = [type(part).__name__ for part in parts if not heights_of(part).is_real_line]
        if limited:
            message = f"{', '.join(limited)} keeps its heights in a range, which a sum leaves: wrap the sum instead"
            raise ValueError(message)
        self.parts = nn.ModuleList(parts)

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        first, *others = self.parts
        u: Tensor = first(x)
        for part in others:
            u = u + part(x)
        return u
