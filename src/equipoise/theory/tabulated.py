"""R = T⁻¹ fast enough to train with, where only T is known: a table of T, and a few secant steps from it.

    R(u) = exp t,   sign·T(exp t) = sign·u        t in [−700, 700]

:func:`equipoise.inversion.invert` does the same in ninety halvings; the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log

import numpy as np
import torch
from torch import Tensor

from equipoise.interval import Interval

Function = Callable[[Tensor], Tensor]

_REACH = 700.0  # exp of it is nearly the largest float64
_STEPS = 14
_NEEDED = log(1e4)  # |log z| within which T must be strictly monotone in float64
_SLOW = 0.05  # T that still moves by this share over the outer half of the table goes on to infinity


@dataclass(frozen=True, eq=False)
class TabulatedRatio:
    """R, inverted from a strictly monotone and continuous T; 0 and ∞ where heights leave T's range.

    Arguments:
        target: T(z).
        sign: +1 where T increases, −1 where it decreases.
        log_ratios: Nodes t, increasing.
        heights: sign·T(exp t) there, strictly increasing.
    """

    target: Function
    sign: int
    log_ratios: Tensor
    heights: Tensor

    @classmethod
    def of(cls, target: Function) -> TabulatedRatio:
        """Tabulate T, and refuse one that is not strictly monotone."""
        t = _nodes()
        values = evaluate(target, torch.exp(t))
        sign = 1 if values[_at(t, 1.0)] > values[_at(t, -1.0)] else -1
        first, last = _monotone_stretch(sign * values, t)
        _refuse_jumps(target, t[first : last + 1], values[first : last + 1])
        return cls(target, sign, t[first : last + 1], sign * values[first : last + 1])

    def __call__(self, u: Tensor) -> Tensor:
        """The density ratio at which T is u."""
        wanted = self.sign * u.detach().to(device=self.heights.device, dtype=torch.float64)
        # numpy's search: torch's starts threads for a few hundred heights, and waits for them where cores are shared
        right = torch.from_numpy(np.searchsorted(self.heights.numpy(), wanted.numpy())).clamp(1, len(self.heights) - 1)
        t = self._refine(wanted, right)
        z = torch.where(wanted < self.heights[0], 0.0, torch.where(wanted > self.heights[-1], inf, torch.exp(t)))
        return torch.where(torch.isnan(wanted), wanted, z).to(dtype=u.dtype, device=u.device)

    def _refine(self, wanted: Tensor, right: Tensor) -> Tensor:
        """Regula falsi in Illinois' manner (an end that stays put counts half), with a halving where it is slow."""
        low, high = self.log_ratios[right - 1], self.log_ratios[right]
        below, above = self.heights[right - 1] - wanted, self.heights[right] - wanted
        moved, slow = torch.zeros_like(wanted), torch.zeros_like(wanted, dtype=torch.bool)
        best, nearest = low, torch.abs(below)
        for _ in range(_STEPS):
            width = high - low
            t = torch.where(slow, 0.5 * (low + high), _secant(low, high, below, above))
            error = self.sign * self.target(torch.exp(t)) - wanted
            better = torch.abs(error) <= nearest
            best, nearest = torch.where(better, t, best), torch.where(better, torch.abs(error), nearest)
            side = torch.sign(error)
            again = torch.where(side == moved, 0.5, 1.0)
            below, above = torch.where(side < 0, error, again * below), torch.where(side < 0, again * above, error)
            low, high = torch.where(side < 0, t, low), torch.where(side < 0, high, t)
            moved, slow = side, (high - low > 0.5 * width) & (side == moved) & ~slow
        return best


def range_of(target: Function) -> Interval:
    """K, the range of T over (0, ∞), from T's last finite values and from how fast they still move."""
    ends = sorted(_limit(target, side) for side in (-1.0, 1.0))
    if not ends[0] < ends[1]:
        message = f"T must be strictly monotone over z in (0, ∞), but tends to {ends[0]:g} at both ends"
        raise ValueError(message)
    return Interval(*ends)


def evaluate(target: Function, z: Tensor) -> Tensor:
    """T on a vector of ratios, checked for its shape."""
    values = target(z)
    if not isinstance(values, Tensor) or values.shape != z.shape:
        came = tuple(values.shape) if isinstance(values, Tensor) else type(values).__name__
        message = f"a target must return one value per ratio: got {came} for z of {tuple(z.shape)}"
        raise ValueError(message)
    return values.detach().to(torch.float64)


def _limit(target: Function, side: float) -> float:
    t = side * torch.linspace(0.0, _REACH, 1401, dtype=torch.float64)
    values = evaluate(target, torch.exp(t))
    known = int(torch.nonzero(~torch.isnan(values)).flatten()[-1])
    far, near = values[known].item(), values[known // 2].item()
    if abs(far) == inf or abs(far - near) > _SLOW * (1.0 + abs(far)):
        return inf if far > near or far == inf else -inf
    end = 2.0 * far - near  # a value that moves like 1/log z has half of its way still before it
    return 0.0 if abs(end) < 1e-30 or end * far < 0 else end


def _nodes() -> Tensor:
    near = torch.linspace(-30.0, 30.0, 6001, dtype=torch.float64)
    far = torch.linspace(30.0, _REACH, 1341, dtype=torch.float64)
    nodes: Tensor = torch.unique(torch.cat([-far, near, far]))
    return nodes


def _at(t: Tensor, value: float) -> int:
    return int(torch.argmin(torch.abs(t - value)))


def _monotone_stretch(values: Tensor, t: Tensor) -> tuple[int, int]:
    """The nodes around z = 1 on which T rises; flat or infinite ends far out are float64's, anything else is T's."""
    rises = torch.isfinite(values[1:]) & torch.isfinite(values[:-1]) & (torch.diff(values) > 0)
    falls = torch.diff(values) < -1e-9 * (1.0 + torch.abs(values[1:]))
    middle = _at(t, 0.0)
    stops = torch.nonzero(~rises).flatten()
    last = int(torch.cat([stops[stops >= middle], torch.tensor([len(t) - 1])])[0])
    first = int(torch.cat([torch.tensor([0]), stops[stops < middle] + 1])[-1])
    bad = torch.nonzero(falls).flatten().tolist()
    for node, reach in ((last, _NEEDED - t[last].item()), (first, _NEEDED + t[first].item())):
        if reach > 1e-9:
            bad.append(node)
    if bad:
        where = min(bad, key=lambda node: abs(t[node].item()))
        message = (
            "T must be continuous and strictly monotone over z in (0, ∞), and from 1e-4 to 1e4 to float64's precision; "
            f"it turns, is flat or is no number near z = {torch.exp(t[where]).item():.4g}"
        )
        raise ValueError(message)
    return first, last


def _refuse_jumps(target: Function, t: Tensor, values: Tensor) -> None:
    """Halve the steps of the table that stand out among their neighbours; one that stays wide is a jump."""
    steps = torch.abs(torch.diff(values))
    around = steps[2:] + steps[:-2]
    worst = 1 + torch.topk(steps[1:-1] / around, 32).indices
    low, high = t[worst], t[worst + 1]
    for _ in range(45):
        middle = 0.5 * (low + high)
        left, centre, right = (target(torch.exp(at)).to(torch.float64) for at in (low, middle, high))
        to_left = torch.abs(centre - left) > torch.abs(right - centre)
        low, high = torch.where(to_left, low, middle), torch.where(to_left, middle, high)
    gap = torch.abs(target(torch.exp(high)) - target(torch.exp(low)))
    jumps = torch.nonzero(gap > 1e-4 * (1.0 + torch.abs(target(torch.exp(low))))).flatten()
    if len(jumps):
        message = f"T must be continuous over z in (0, ∞), but jumps at z = {torch.exp(low[jumps[0]]).item():.4g}"
        raise ValueError(message)


def _secant(low: Tensor, high: Tensor, below: Tensor, above: Tensor) -> Tensor:
    share = below / (below - above)
    t = low + (high - low) * torch.where(torch.isfinite(share), share.clamp(0.0, 1.0), 0.5)
    return torch.where(below == 0, low, torch.where(above == 0, high, t))
