"""A surface whose heights stay in an interval: the remedy where an instance's range must be K (line 3797).

    u(x) = map(s(x)),   s an unrestricted surface,   map : ℝ → (low, high) smooth and increasing

On a half-line the map is a softplus. On a bounded interval of half width h around m there is a choice:

    sigmoid  m + h·(2σ(s) − 1)    tanh  m + h·tanh(s)    erf  m + h·erf(s)    arctan  m + h·(2/π)·arctan(s)

The tails decide: near an end, erf's slope falls as exp(−s²), tanh's and sigmoid's as exp(−2|s|) and exp(−|s|), and
arctan's as 1/s², so that it is never stuck.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite, pi

import torch
from torch import Tensor, nn

from equipoise.interval import REALS, Interval
from equipoise.surfaces.blueprint import PART, saved_as
from equipoise.surfaces.field import INTERVAL, one_of

AUTO = "auto"

# ℝ onto (−1, 1)
MAPS: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": lambda s: torch.tanh(0.5 * s),
    "tanh": torch.tanh,
    "erf": torch.erf,
    "arctan": lambda s: (2.0 / pi) * torch.atan(s),
}


@saved_as("in_range", surface=PART, interval=INTERVAL, map=one_of([AUTO, *MAPS]))
class InRange(nn.Module):
    """A surface mapped smoothly into an interval.

    Arguments:
        surface: The surface to wrap, with heights in ℝ.
        interval: Where its heights shall stay, such as ``instance.interval``; or a pair (low, high).
        map: ``"auto"``, a softplus on half-lines and a sigmoid on bounded intervals; or for these ``"sigmoid"``,
            ``"tanh"``, ``"erf"`` or ``"arctan"``.
    """

    def __init__(
        self,
        surface: nn.Module,
        interval: Interval | tuple[float, float],
        map: str = AUTO,  # noqa: A002  # the word for it
    ) -> None:
        super().__init__()
        self.surface = surface
        self.heights = interval if isinstance(interval, Interval) else Interval(*interval)
        self.map = map
        if map not in {AUTO, *MAPS}:
            message = f"map must be one of {', '.join([AUTO, *MAPS])}, got {map!r}"
            raise ValueError(message)
        if map != AUTO and not (isfinite(self.heights.low) and isfinite(self.heights.high)):
            message = f"{map} maps into bounded intervals, and {self.heights} has no end: leave the map to 'auto'"
            raise ValueError(message)

    @property
    def spec(self) -> dict[str, object]:
        """The surface inside, its interval and the map into it."""
        return {"surface": self.surface, "interval": self.heights, "map": self.map}

    @staticmethod
    def numbers(**_: object) -> int:
        """A range adds no numbers to those of its surface."""
        return 0

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d), all inside the interval."""
        s = self.surface(x)
        return self.heights.from_real(s) if self.map == AUTO else _bounded(MAPS[self.map](s), self.heights)


def heights_of(surface: nn.Module) -> Interval:
    """The heights that a surface can take: those of a wrapper that restricts them, all of ℝ otherwise."""
    heights = getattr(surface, "heights", REALS)
    return heights if isinstance(heights, Interval) else REALS


def _bounded(share: Tensor, interval: Interval) -> Tensor:
    """From (−1, 1) into an interval; rounding never leaves it."""
    half, middle = 0.5 * interval.high - 0.5 * interval.low, 0.5 * interval.high + 0.5 * interval.low
    return torch.clamp(middle + half * share, _next(interval.low, inf, share), _next(interval.high, -inf, share))


def _next(end: float, towards: float, like: Tensor) -> float:
    """The last number of ``like``'s precision before an end, seen from inside; zero is left by a normal number."""
    tiny = torch.finfo(like.dtype).tiny
    if end == 0.0:
        return tiny if towards > 0 else -tiny
    last = torch.tensor([end, towards], dtype=like.dtype)
    return float(torch.nextafter(last[0], last[1]))
