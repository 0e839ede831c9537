"""What a surface learns: T and its inverse R, shared by all instances that learn the same (the paper's PSO-CM sets).

    f* = T(p_up / p_down),    R = T⁻¹,    K = { T(z) : z > 0 }

The frame says how heights follow from relative heights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from equipoise.frame import RATIO, Frame
from equipoise.interval import Interval


@dataclass(frozen=True)
class Estimand:
    """What the surface learns, in relative heights.

    Arguments:
        name: A word to search for, such as ``"log_ratio"``.
        words: The estimand in words.
        tex: The estimand in TeX.
        target: T(z), the relative height at density ratio z.
        ratio: R(u), the density ratio at relative height u.
        interval: K.
        log_ratio: log R(u), where it is better had without R, which may overflow.
        frame: How the paper's height follows from the relative height.
    """

    name: str
    words: str
    tex: str
    target: Callable[[Tensor], Tensor] | None = None
    ratio: Callable[[Tensor], Tensor] | None = None
    interval: Interval | None = None
    log_ratio: Callable[[Tensor], Tensor] | None = None
    frame: Frame = RATIO


CUSTOM = Estimand("custom", "a function of the density ratio", r"T\big(\mathbb{P}^U / \mathbb{P}^D\big)")
