"""Distances that come with a loss: from a surface to its optimum, and from the up density to the down density.

    D_PSO(f*, f) = −E_up ∫_{f*}^{f} M_up + E_down ∫_{f*}^{f} M_down                                  (Eq. PSODiv, 2594)
    D_φ(q, p)    = ∫ φ(q) − φ(p) − φ′(p)·(q − p)                                                    (U-divergence, 2620)
    D_φ(up, down) = −L(f*) − β,   β = E_down α                                                       (Eq. 3028)

and L(f) = D_PSO(f*, f) − D_φ(up, down) − β ties them together (line 3048).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from equipoise.catalog.generators import Potential, Scalar, potential
from equipoise.frame import LogBase
from equipoise.instance import Instance

__all__ = ["Estimate", "f_divergence", "pso_divergence", "u_divergence"]

_TWO_SIDED_95 = 1.959963984540054


@dataclass(frozen=True)
class Estimate:
    """A mean over samples, with its standard error.

    Arguments:
        value: The estimate.
        se: Its standard error, from the spread over rows; what a trained surface misses is not in it.
    """

    value: float
    se: float

    @property
    def interval(self) -> tuple[float, float]:
        """The normal 95 % interval."""
        return self.value - _TWO_SIDED_95 * self.se, self.value + _TWO_SIDED_95 * self.se


def pso_divergence(
    inst: Instance,
    up: tuple[Tensor, Tensor],
    down: tuple[Tensor, Tensor],
    up_base: LogBase = None,
    down_base: LogBase = None,
) -> Estimate:
    """How far a surface is from its optimum, in the loss of an instance: never negative in the mean, zero at f*.

    Arguments:
        inst: The instance.
        up: The surface's heights and the optimal ones, T(z), at rows of the up density; (n,) each.
        down: The same at rows of the down density.
        up_base: log_base at the up rows, for magnitudes that need it.
        down_base: log_base at the down rows.

    Example:
        >>> from equipoise import catalog
        >>> at = torch.zeros(5), torch.zeros(5)
        >>> pso_divergence(catalog.get("logistic"), at, at).value
        0.0
    """
    rise = _difference(inst, "up", up, up_base)
    fall = _difference(inst, "down", down, down_base)
    return _two_means(-rise, fall)


def f_divergence(
    inst: Instance, u_up: Tensor, u_down: Tensor, up_base: LogBase = None, down_base: LogBase = None
) -> Estimate:
    """The f-divergence that an instance's loss estimates, −L − β: exact in the mean at the optimum, below it elsewhere.

    φ is the instance's own, with φ(1) = 0: twice Jensen-Shannon for ``logistic`` and ``nce``, half Pearson's ∫(num −
    den)²/den for ``ulsif``, the named divergence for ``f_divergence(kind)``. Constants in the primitives cancel row by
    row, even those that depend on the base, since M̃(T(1)) is taken off each side at its own rows.

    Arguments:
        inst: The instance.
        u_up: Heights at rows of the up density (num), (n,).
        u_down: Heights at rows of the down density (den), (m,).
        up_base: log_base at the up rows, for magnitudes that need it.
        down_base: log_base at the down rows.
    """
    rise = _difference(inst, "up", (u_up, _at_balance(inst, u_up, up_base)), up_base)
    fall = _difference(inst, "down", (u_down, _at_balance(inst, u_down, down_base)), down_base)
    return _two_means(rise, -fall)


def u_divergence(phi: str | Potential | Scalar, q: Tensor, p: Tensor, weights: Tensor | float) -> float:
    """The separable Bregman divergence D_φ(q, p) of two non-negative functions, given by their values at points.

    Arguments:
        phi: ``"kl"``, ``"squared"``, ``"itakura_saito"``, a Potential, or any strictly convex function of one tensor.
        q: Values of q at the points, (n,); the unknown density.
        p: Values of p there; the model, which need not be normalised.
        weights: The volume that each point stands for: the cell of a grid, or 1/(n·density) of points sampled.

    Example:
        >>> u_divergence("squared", torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0]), 0.5)
        0.25
    """
    if q.shape != p.shape:
        message = f"q and p must be values at the same points, got shapes {tuple(q.shape)} and {tuple(p.shape)}"
        raise ValueError(message)
    if bool((q < 0).any()) or bool((p < 0).any()):
        message = "a U-divergence compares non-negative functions, got a negative value"
        raise ValueError(message)
    convex, q, p = potential(phi), q.double(), p.double()
    same = q == p  # also where both are zero, and slopes may be infinite
    gap = convex.phi(q) - convex.phi(p) - convex.slope(p) * (q - p)
    return (torch.where(same, 0.0, gap) * weights).sum().item()


def _difference(inst: Instance, side: str, heights: tuple[Tensor, Tensor], log_base: LogBase) -> Tensor:
    """∫ M from the second height to the first, row by row."""
    primitive = inst.up_primitive if side == "up" else inst.down_primitive
    u, start = heights
    if u.shape != start.shape or u.dim() != 1 or len(u) == 0:
        message = (
            f"heights at {side} rows must be two vectors of one length, got {tuple(u.shape)}, {tuple(start.shape)}"
        )
        raise ValueError(message)
    base = log_base.double() if isinstance(log_base, Tensor) else log_base
    moved: Tensor = primitive(u.double(), base) - primitive(start.double(), base)
    return torch.where(u == start, 0.0, moved)


def _at_balance(inst: Instance, u: Tensor, log_base: LogBase) -> Tensor:
    """T(1) at each row."""
    base = log_base.double() if isinstance(log_base, Tensor) else log_base
    one: Tensor = inst.target(torch.ones_like(u, dtype=torch.float64), base)
    return one


def _two_means(a: Tensor, b: Tensor) -> Estimate:
    variance = sum(side.var(unbiased=True) / len(side) if len(side) > 1 else torch.nan for side in (a, b))
    return Estimate((a.mean() + b.mean()).item(), float(variance) ** 0.5)
