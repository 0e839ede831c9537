"""Where numbers run out before a function does: heights at which float64 can no longer say what a magnitude is.

    exp(−u) is 0 from u = 745,   exp(u)/(1 + exp(u)) is ∞/∞ from 710,   1 − tanh(u) is 0 from 19

A theorem speaks of the functions, so such heights are told apart from those at which a magnitude really ends.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Curve = Callable[[Tensor], Tensor]

FLOOR = 1e-100  # a magnitude that fades below this is about to underflow
FAR = 30.0  # heights beyond which exponentials may run out of numbers
NOISE = 2.0**-52
_GONE = 500.0  # |log R| beyond which a pair of magnitudes has nothing more to show


def in_reach(up: Curve, down: Curve, u: Tensor) -> Tensor:
    """Heights without the outer stretches at which R has long gone its way, where textbook forms give ∞/∞ and 0/0."""
    log_ratio = torch.abs(torch.log(torch.abs(down(u))) - torch.log(torch.abs(up(u))))
    near = torch.nonzero(log_ratio <= _GONE).flatten()
    if len(near) == 0:
        return u
    first, last = int(near[0]), int(near[-1])
    if not (first > 0 and bool((log_ratio[first - 1] > _GONE) & (u[first] < -FAR))):
        first = 0
    if not (last + 1 < len(u) and bool((log_ratio[last + 1] > _GONE) & (u[last] > FAR))):
        last = len(u) - 1
    return u[first : last + 1]


def faded(a: Tensor, b: Tensor, u: Tensor) -> Tensor:
    """Outer heights at which a magnitude is 0 or ∞ only because float64 ends there (exp underflows before it is 0)."""
    alive = torch.nonzero((a > 0) & (b > 0) & torch.isfinite(a) & torch.isfinite(b)).flatten()
    outer_heights = torch.zeros_like(a, dtype=torch.bool)
    if len(alive) == 0:
        return outer_heights
    for edge, outer in ((alive[0], slice(0, int(alive[0]))), (alive[-1], slice(int(alive[-1]) + 1, None))):
        sizes = torch.stack([a[edge], b[edge]])
        if sizes.min().item() < FLOOR or sizes.max().item() > 1.0 / FLOOR or rounded_away(sizes, u[edge]):
            outer_heights[outer] = (a[outer] >= 0) & (b[outer] >= 0)
    return outer_heights


def rounded_away(sizes: Tensor, u: Tensor) -> bool:
    """Whether the smaller of two magnitudes has come to its last digit far out, as 1 − tanh(u) does near u = 19."""
    return sizes.min().item() <= 16.0 * NOISE * sizes.max().item() and abs(u.item()) > 5.0


def overflown(values: Tensor) -> Tensor:
    """Outer stretches of ∞ behind numbers that had almost reached it: they grew out of float64, and did not jump."""
    finite = torch.nonzero(torch.isfinite(values)).flatten()
    outer_heights = torch.zeros_like(values, dtype=torch.bool)
    if len(finite) == 0:
        return outer_heights
    for edge, outer in ((finite[0], slice(0, int(finite[0]))), (finite[-1], slice(int(finite[-1]) + 1, None))):
        outer_heights[outer] = bool(torch.abs(values[edge]) > 1.0 / FLOOR)
    return outer_heights
