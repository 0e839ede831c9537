"""A sum of surfaces.

    u(x) = Σ_k u_k(x)

An additive term beside a network is the case that pays most; the parts are trained together.
"""

from __future__ import annotations

from torch import Tensor, nn

from equipoise.surfaces.blueprint import PARTS, saved_as
from equipoise.surfaces.in_range import heights_of


@saved_as("sum", parts=PARTS)
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

    @property
    def spec(self) -> dict[str, object]:
        """The parts."""
        return {"parts": list(self.parts)}

    @classmethod
    def blank(cls, parts: list[nn.Module]) -> Sum:
        """The sum of a list."""
        return cls(*parts)

    @staticmethod
    def numbers() -> int:
        """A sum adds no numbers to those of its parts."""
        return 0

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        first, *others = self.parts
        u: Tensor = first(x)
        for part in others:
            more: Tensor = part(x)
            if more.shape != u.shape:  # (n,) and (n, 1) would add up to (n, n)
                message = (
                    f"the parts of a sum must agree in shape; got heights {tuple(u.shape)} and {tuple(more.shape)}"
                )
                raise ValueError(message)
            u = u + more
        return u
