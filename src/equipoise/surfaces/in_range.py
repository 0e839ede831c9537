"""A surface whose heights stay in an interval: the remedy where an instance's range must be K (line 3797).

u(x) = K.from_real(s(x)),   s an unrestricted surface
"""

from __future__ import annotations

from torch import Tensor, nn

from equipoise.interval import REALS, Interval


class InRange(nn.Module):
    """A surface mapped smoothly into an interval.

    Arguments:
        surface: The surface to wrap, with heights in ℝ.
        interval: Where its heights shall stay, such as ``instance.interval``; or a pair (low, high).
    """

    def __init__(self, surface: nn.Module, interval: Interval | tuple[float, float]) -> None:
        super().__init__()
        self.surface = surface
        self.heights = interval if isinstance(interval, Interval) else Interval(*interval)

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d), all inside the interval."""
        return self.heights.from_real(self.surface(x))


def heights_of(surface: nn.Module) -> Interval:
    """The heights that a surface can take: those of a wrapper that restricts them, all of ℝ otherwise."""
    heights = getattr(surface, "heights", REALS)
    return heights if isinstance(heights, Interval) else REALS
