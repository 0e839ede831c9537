"""Antiderivatives of magnitudes that have no closed form, for evaluation only: training needs none.

    M̃(u) = ∫_{c}^{u} M(t) dt

Composite Gauss-Legendre in float64.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

_ORDER = 16
_PANELS = 64


def antiderivative(
    function: Callable[[Tensor, Tensor | None], Tensor], u: Tensor, start: float, log_base: Tensor | None = None
) -> Tensor:
    """Integrate ``function`` from ``start`` to each u; panels crowd towards both ends, where magnitudes bend most."""
    points, weights = _rule()
    upper = u.to(torch.float64).unsqueeze(-1)
    t = start + (upper - start) * points
    base = None if log_base is None else log_base.to(torch.float64).expand_as(u).unsqueeze(-1).expand_as(t)
    values = function(t, base)
    return ((upper.squeeze(-1) - start) * (values * weights).sum(-1)).to(u.dtype)


def _rule() -> tuple[Tensor, Tensor]:
    nodes, weights = np.polynomial.legendre.leggauss(_ORDER)
    edges = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, _PANELS + 1))
    half = 0.5 * np.diff(edges)[:, None]
    points = (edges[:-1, None] + half + half * nodes).ravel()
    return torch.from_numpy(points), torch.from_numpy((half * weights).ravel())
