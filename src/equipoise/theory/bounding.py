"""The same balance with calmer forces: bounded magnitudes, and magnitudes that stop at a height.

    (M_up, M_down) / ‖(M_up, M_down)‖_p                          (Lemma 3277, Eq. BoundedFuncTransform 3290)
    M_up · cut_at(f, φ),   M_up · reverse_at(f, φ)               (Eqs. IHStopper 3736 and IHCutter 3776)

Dividing both magnitudes by one positive function keeps R, and with it T and K; a threshold keeps them below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf, isnan

import torch
from torch import Tensor

from equipoise import catalog
from equipoise.catalog.parameter import number
from equipoise.frame import LogBase
from equipoise.instance import DERIVE, Instance

__all__ = ["bound", "cut_at", "reverse_at"]

Pair = tuple[Tensor, Tensor]


def bound(inst: Instance | str, norm: float = 1.0) -> Instance:
    """Divide both magnitudes by their norm, so that neither exceeds one; T, R and K stay.

    Arguments:
        inst: The instance to bound, or its name.
        norm: p of the norm, from 1 (the paper's) to inf.

    Where both magnitudes overflow, or both underflow inside of K, their ratio comes from R. Where both are zero outside
    of K, they stay zero. Primitives in closed form are lost.

    Example:
        >>> from equipoise import catalog
        >>> bound(catalog.get("log_ratio")).up(torch.tensor([0.0, 1e4])).tolist()
        [0.5, 0.0]
    """
    norm = number(norm, "bound's norm")
    if not norm >= 1.0:
        message = f"a norm has p >= 1 (inf is allowed), got {norm!r}"
        raise ValueError(message)

    found = catalog.get(inst)

    def pair(u: Tensor, log_base: LogBase) -> Pair:
        return _normed(*_scaled(found, u, log_base), norm)

    return _changed(found, f"bound({found.label}, norm={norm:g})", found.needs_base, pair)


def cut_at(
    inst: Instance | str, upper: float | None = None, lower: float | None = None, of: str = "height"
) -> Instance:
    """Switch off the force that raises a surface above ``upper``, and the one that lowers it below ``lower``.

    Arguments:
        inst: The instance to limit, or its name.
        upper: No row raises the surface further where it is above; for positive magnitudes this stops M_up.
        lower: No row lowers the surface further where it is below; for positive magnitudes this stops M_down.
        of: What the thresholds are compared with: ``"height"``, the paper's f, or ``"relative"``, u itself.

    The surface lands at T(z) between the thresholds, and at the threshold where T(z) is beyond it.
    """
    return _limited(catalog.get(inst), upper, lower, of, "cut_at", 0.0)


def reverse_at(
    inst: Instance | str, upper: float | None = None, lower: float | None = None, of: str = "height"
) -> Instance:
    """Turn that force around instead, so that the surface oscillates about the threshold. See :func:`cut_at`."""
    return _limited(catalog.get(inst), upper, lower, of, "reverse_at", -1.0)


def _scaled(inst: Instance, u: Tensor, log_base: LogBase) -> Pair:
    """Both magnitudes over the larger of the two; from R where they are out of float's reach."""
    up, down = inst.up(u, log_base), inst.down(u, log_base)
    size, least = torch.maximum(torch.abs(up), torch.abs(down)), torch.minimum(torch.abs(up), torch.abs(down))
    tiny, inside = torch.finfo(u.dtype).tiny, inst.interval.contains(u)
    lost = ~torch.isfinite(size) | (size < tiny) | (inside & (least < tiny))
    if not bool(lost.any()):
        return up / size, down / size
    sizes = _from_ratio(inst, u, log_base)
    divisor = torch.where(lost, 1.0, size)
    pair = [
        torch.where(lost, _sign(side, inside, inst.sign) * share, side / divisor)
        for side, share in zip((up, down), sizes, strict=True)
    ]
    return torch.where(torch.isnan(u), u, pair[0]), torch.where(torch.isnan(u), u, pair[1])


def _sign(side: Tensor, inside: Tensor, sign: int) -> Tensor:
    """A magnitude's sign; that of K where the magnitude is zero only because it faded."""
    own = torch.nan_to_num(torch.sign(side))
    return torch.where(inside & (own == 0), torch.full_like(own, sign), own)


def _from_ratio(inst: Instance, u: Tensor, log_base: LogBase) -> Pair:
    """(1, |R|) over the larger of the two; where R is no number either, its limit on that side of K."""
    ratio = torch.abs(inst.ratio(u, log_base))
    middle = inst.interval.from_real(torch.zeros((), dtype=torch.float64)).item()
    limit = torch.where(inst.sign * (u - middle) > 0, inf, 0.0).to(u.dtype)
    ratio = torch.where(torch.isnan(ratio), limit, ratio)
    return torch.where(ratio > 1.0, 1.0 / ratio, 1.0), torch.where(ratio > 1.0, 1.0, ratio)


def _normed(up: Tensor, down: Tensor, norm: float) -> Pair:
    size = torch.linalg.vector_norm(torch.stack([up, down]), ord=norm, dim=0)
    size = torch.where(size > 0.0, size, 1.0)
    return up / size, down / size


def _limited(inst: Instance, upper: float | None, lower: float | None, of: str, word: str, beyond: float) -> Instance:
    upper, lower = (None if limit is None else number(limit, f"{word}'s threshold") for limit in (upper, lower))
    _refuse_thresholds(upper, lower, of, word)
    top, bottom = inf if upper is None else upper, -inf if lower is None else lower
    frame = inst.estimand.frame

    def height(u: Tensor, log_base: LogBase) -> Tensor:
        return u if of == "relative" else frame.height(u, log_base)

    def factors(u: Tensor, log_base: LogBase) -> Pair:
        f = height(u, log_base)
        rising, falling = (
            torch.where(f > top, beyond, 1.0).to(u.dtype),
            torch.where(f < bottom, beyond, 1.0).to(u.dtype),
        )
        return (rising, falling) if inst.sign > 0 else (falling, rising)

    def pair(u: Tensor, log_base: LogBase) -> Pair:
        on_up, on_down = factors(u, log_base)
        return inst.up(u, log_base) * on_up, inst.down(u, log_base) * on_down

    def ratio(u: Tensor, log_base: LogBase = None) -> Tensor:
        on_up, on_down = factors(u, log_base)
        return torch.where(on_up == 0, inf, inst.ratio(u, log_base) * on_down / on_up)

    def target(z: Tensor, log_base: LogBase = None) -> Tensor:
        f = torch.clamp(height(inst.target(z, log_base), log_base), bottom, top)
        return f if of == "relative" else frame.relative(f, frame.base_like(f, log_base))

    needs_base = inst.needs_base or (of == "height" and frame.needs_base)
    given = ", ".join(f"{side}={value:g}" for side, value in (("upper", upper), ("lower", lower)) if value is not None)
    limited = _changed(inst, f"{word}({inst.label}, {given})", needs_base, pair)
    return replace(limited, ratio=ratio, target=target)


def _refuse_thresholds(upper: float | None, lower: float | None, of: str, word: str) -> None:
    if of not in {"height", "relative"}:
        message = f"of must be 'height' (the paper's f) or 'relative' (u), got {of!r}"
        raise ValueError(message)
    if upper is None and lower is None:
        message = f"{word} needs a threshold: upper=, lower=, or both"
        raise ValueError(message)
    if any(limit is not None and isnan(limit) for limit in (upper, lower)):
        message = f"a threshold must be a number, got upper={upper!r} and lower={lower!r}"
        raise ValueError(message)
    if upper is not None and lower is not None and not upper > lower:
        message = f"{word} needs upper > lower, got upper={upper!r} and lower={lower!r}"
        raise ValueError(message)


def _changed(inst: Instance, name: str, needs_base: bool, pair: Callable[[Tensor, LogBase], Pair]) -> Instance:
    """The instance with other magnitudes; its interval, estimand and pairings stay."""

    def side(index: int) -> Callable[..., Tensor]:
        if needs_base:
            return lambda u, log_base: pair(u, log_base)[index]
        return lambda u: pair(u, None)[index]

    return replace(
        inst,
        name=name,
        up=side(0),
        down=side(1),
        ratio=inst.ratio,
        target=inst.target,
        up_primitive=DERIVE,
        down_primitive=DERIVE,
        parameters={},
        printed=None,
    )
