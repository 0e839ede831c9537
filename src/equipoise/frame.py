"""How the paper's height f follows from the relative height u that a surface holds, and from the base p_down.

    ratio  f = u        log density  f = u + log p        density  f = u·p        root density  f = u·p^(1/d)

The base is added back once, here, so that heights stay of order one in any dimension and no base is ever
subtracted from itself (the paper's height bias, made structural).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

LogBase = Tensor | float | None


@dataclass(frozen=True)
class Frame:
    """A frame of reference for heights.

    Arguments:
        name: What the frame is called in reports.
        formula: f as text, in u and the base p.
        of: f from (u, log p).
        slope: df/du at (u, log p), by which magnitudes in f become magnitudes in u.
        relative: u from (f, log p), the inverse of ``of``.
        needs_base: Whether f depends on the base at all.
    """

    name: str
    formula: str
    of: Callable[[Tensor, Tensor], Tensor]
    slope: Callable[[Tensor, Tensor], Tensor]
    relative: Callable[[Tensor, Tensor], Tensor]
    needs_base: bool = True

    def height(self, u: Tensor, log_base: LogBase = None) -> Tensor:
        """The paper's height f."""
        return self.of(u, self.base_like(u, log_base))

    def base_like(self, u: Tensor, log_base: LogBase) -> Tensor:
        """``log_base`` as a tensor beside u; zero where this frame does without."""
        if log_base is None:
            if self.needs_base:
                message = f"the height f = {self.formula} needs log_base, the log density of the base at each row"
                raise ValueError(message)
            return torch.zeros_like(u)
        return torch.as_tensor(log_base, dtype=u.dtype, device=u.device)


RATIO = Frame(
    "ratio",
    "u",
    of=lambda u, _: u,
    slope=lambda u, _: torch.ones_like(u),
    relative=lambda f, _: f,
    needs_base=False,
)
LOG_DENSITY = Frame(
    "log density",
    "u + log p",
    of=lambda u, log_base: u + log_base,
    slope=lambda u, _: torch.ones_like(u),
    relative=lambda f, log_base: f - log_base,
)
DENSITY = Frame(
    "density",
    "u·p",
    of=lambda u, log_base: u * torch.exp(log_base),
    slope=lambda u, log_base: torch.exp(log_base).expand_as(u),
    relative=lambda f, log_base: f * torch.exp(-log_base),
)


def root(degree: float) -> Frame:
    """The frame of a density's root, f = u·p^(1/degree)."""
    return Frame(
        f"root density (degree {degree:g})",
        f"u·p^(1/{degree:g})",
        of=lambda u, log_base: u * torch.exp(log_base / degree),
        slope=lambda u, log_base: torch.exp(log_base / degree).expand_as(u),
        relative=lambda f, log_base: f * torch.exp(-log_base / degree),
    )
