"""Primitives and f-divergences, one in terms of the other (Section 2794; the map of line 2931).

    M̃_up = G(s),   M̃_down = φᶜ(G(s))                                          from {φᶜ, G} to primitives
    G = M̃_up,      φᶜ(t) = M̃_down(G⁻¹(t)) + α                                 and back
    α = M̃_up(T(1)) − M̃_down(T(1)),  so that φᶜ(φ′(1)) = φ′(1) and φ(1) = 0

G bends the height, φ names the divergence. With G the identity this is the variational f-divergence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from equipoise.frame import LogBase
from equipoise.instance import DERIVE, Instance
from equipoise.interval import Interval
from equipoise.inversion import invert
from equipoise.magnitude import Magnitude

__all__ = ["Conjugate", "from_conjugate", "to_conjugate"]


@dataclass(frozen=True)
class Conjugate:
    """An instance's pair {φᶜ, G}, functions of one argument, or of (argument, log_base) where the magnitudes are.

    Arguments:
        conjugate: φᶜ(t), normalised so that φ(1) = 0.
        transform: G(u).
        alpha: α, a function of log_base alone.
    """

    conjugate: Callable[..., Tensor]
    transform: Callable[..., Tensor]
    alpha: Callable[..., Tensor]


def to_conjugate(inst: Instance) -> Conjugate:
    """The pair {φᶜ, G} of an instance's primitives; G is inverted numerically over K.

    Example:
        >>> from equipoise import catalog
        >>> pearson = to_conjugate(catalog.get("f_divergence", kind="pearson"))
        >>> pearson.conjugate(torch.tensor([2.0])).round(decimals=4).tolist()  # s + s²/4
        [3.0]
    """

    def alpha(log_base: LogBase = None) -> Tensor:
        one = inst.target(_ones(log_base), log_base)
        value: Tensor = inst.up_primitive(one, log_base) - inst.down_primitive(one, log_base)
        return value

    def conjugate(t: Tensor, log_base: LogBase = None) -> Tensor:
        u = invert(lambda height: inst.up_primitive(height, log_base), t.double(), inst.interval, inst.sign)
        value: Tensor = inst.down_primitive(u, log_base) + alpha(log_base)
        return value.to(t.dtype)

    return Conjugate(conjugate, inst.up_primitive, alpha)


def from_conjugate(
    conjugate: Callable[..., Any],
    transform: Callable[..., Any] | None = None,
    interval: Interval | tuple[float, float] | None = None,
    name: str = "from_conjugate",
) -> Instance:
    """The instance whose primitives are G and φᶜ∘G; its magnitudes are G′ and φᶜ′(G)·G′, by autograd.

    Arguments:
        conjugate: φᶜ, of (t) or (t, log_base), differentiable in torch.
        transform: G, of (u) or (u, log_base); the identity where it is None.
        interval: K, found from R where it is None.
        name: The name of the instance.
    """
    outer = Magnitude.of(conjugate, f"φᶜ of {name}")
    inner = Magnitude.of(transform or (lambda u: u), f"G of {name}")

    def composed(u: Tensor, log_base: LogBase) -> Tensor:
        return outer(inner(u, log_base), log_base)

    def ratio(u: Tensor, log_base: LogBase) -> Tensor:
        return _slope(outer)(inner(u, log_base), log_base)

    needs_base = inner.needs_base or outer.needs_base
    up, down, down_primitive, R = (
        function if needs_base else _without_base(function)
        for function in (_slope(inner), _slope(composed), composed, ratio)
    )
    K = Interval.of(interval) or DERIVE
    return Instance(name, up, down, K, ratio=R, up_primitive=inner, down_primitive=down_primitive)


def _slope(function: Callable[[Tensor, LogBase], Tensor]) -> Callable[[Tensor, LogBase], Tensor]:
    def slope(u: Tensor, log_base: LogBase) -> Tensor:
        with torch.enable_grad():
            at = u.detach().clone().requires_grad_()
            return torch.autograd.grad(function(at, log_base).sum(), at, materialize_grads=True)[0]

    return slope


def _without_base(function: Callable[[Tensor, LogBase], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda u: function(u, None)


def _ones(log_base: LogBase) -> Tensor:
    if isinstance(log_base, Tensor):
        return torch.ones_like(log_base, dtype=torch.float64)
    return torch.ones((), dtype=torch.float64)
