"""A valid instance from the function wanted: Theorems 1118 (convergence), 4338 and 4645 (conditional ones).

    M_up = sign/(1 + R/b),   M_down = sign·(R/b)/(1 + R/b)       R = T⁻¹,   b = 1 for ratios, b = p_down for densities

Both are bounded by one. Below and above K the ratio is continued by its limits, 0 and ∞, so that one magnitude is ±1
and the other 0: Theorem 1174 holds by construction, and the surface needs no restricted range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

import torch
from torch import Tensor

from equipoise.catalog import pairings
from equipoise.conditions import Condition, examine
from equipoise.discovery import find_interval
from equipoise.estimand import Estimand
from equipoise.instance import Instance, Reference
from equipoise.interval import Interval
from equipoise.inversion import invert
from equipoise.pairing import TWO_SIDED, Pairing
from equipoise.theory.tabulated import TabulatedRatio, evaluate, range_of

__all__ = ["derive"]

Function = Callable[[Tensor], Tensor]

_WORDS: dict[str, tuple[str, str, Pairing, str]] = {
    "ratio": ("the density ratio", r"T\big(\mathbb{P}^U(X) / \mathbb{P}^D(X)\big)", TWO_SIDED, "Theorem 1118"),
    "density": ("the up density", r"T\big(\mathbb{P}^U(X)\big)", TWO_SIDED, "Theorem 1118"),
    "conditional_density": (
        "the conditional density",
        r"T\big(\mathbb{P}^U(X\,|\,Y)\big)",
        pairings.CONDITIONAL,
        "Theorem 4338",
    ),
    "conditional_ratio": (
        "the ratio of the data's conditional density to the generator's",
        r"T\big(\mathbb{P}^U(X\,|\,Y) / \mathbb{P}^D_\phi(X\,|\,Y)\big)",
        pairings.CONDITIONAL_GENERATED,
        "Theorem 4645",
    ),
}
_AGREES = 1e-4  # relative error of R(T(z)), for functions written down in float32 or with rounded constants


def derive(
    ratio: Function | None = None,
    target: Function | None = None,
    interval: Interval | tuple[float, float] | None = None,
    of: str = "ratio",
    name: str = "derived",
) -> Instance:
    """Derive an instance whose surface learns T, with bounded magnitudes that need no restricted range.

    Arguments:
        ratio: R(u), the inverse of T; found from T where it is None.
        target: T(z), strictly monotone and continuous; found from R where it is None.
        interval: K, the range of T; found where it is None.
        of: What T is a function of: ``"ratio"``, ``"density"``, ``"conditional_density"`` or ``"conditional_ratio"``.
            For the densities z is the density itself, the surface holds the height f = T(density), and the magnitudes
            take log_base.
        name: The name of the instance.

    Example:
        >>> contrast = derive(target=lambda z: (z - 1) / (z + 1), name="contrast")
        >>> contrast.interval.low, contrast.interval.high, contrast.range
        (-1.0, 1.0, 'any range')
    """
    if of not in _WORDS:
        message = f"of must be one of {', '.join(_WORDS)}, got {of!r}"
        raise ValueError(message)
    interval = Interval.of(interval)
    for given, words in ((ratio, "ratio=R"), (target, "target=T")):
        if given is not None and not callable(given):
            message = f"{words} must be a function of a tensor, got {given!r}"
            raise TypeError(message)
    if ratio is not None:
        sign, K = _sign_and_interval(ratio, interval or (None if target is None else range_of(target)), name)
    elif target is not None:
        ratio = table = TabulatedRatio.of(target)
        sign, K = table.sign, _agreed(range_of(target), interval, name)
    else:
        message = "derive needs the function wanted: ratio=R, target=T, or both"
        raise ValueError(message)
    bounded = _continued(ratio, K, sign)
    target = target or (lambda z: invert(bounded, z, K, sign))
    _refuse_unless_inverse(bounded, target, name)
    return _instance(bounded, target, K, sign, of, name)


def _instance(ratio: Function, target: Function, K: Interval, sign: int, of: str, name: str) -> Instance:
    words, tex, pairing, place = _WORDS[of]
    against_base = of.endswith("density")
    up, down = _density_magnitudes(ratio, sign) if against_base else _magnitudes(ratio, sign)
    return Instance(
        name,
        up=up,
        down=down,
        interval=K,
        ratio=(lambda u, log_base: torch.exp(_against(ratio, u, log_base)).to(u.dtype)) if against_base else ratio,
        target=(lambda z, log_base: target(z * torch.exp(log_base))) if against_base else target,
        estimand=Estimand(name, f"a function of {words}", tex, interval=K),
        pairings=(pairing,),
        reference=Reference((), place),
    )


def _magnitudes(ratio: Function, sign: int) -> tuple[Function, Function]:
    return lambda u: sign / (1.0 + ratio(u)), lambda u: sign / (1.0 + 1.0 / ratio(u))


def _density_magnitudes(ratio: Function, sign: int) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    def up(u: Tensor, log_base: Tensor) -> Tensor:
        return sign * torch.sigmoid(-_against(ratio, u, log_base)).to(u.dtype)

    def down(u: Tensor, log_base: Tensor) -> Tensor:
        return sign * torch.sigmoid(_against(ratio, u, log_base)).to(u.dtype)

    return up, down


def _against(ratio: Function, u: Tensor, log_base: Tensor) -> Tensor:
    """log(R/p), in float64: densities in many dimensions leave float32, and beyond K the base has no say."""
    log_density = torch.log(ratio(u.to(torch.float64)))
    return torch.where(torch.isinf(log_density), log_density, log_density - log_base)


def _continued(ratio: Function, K: Interval, sign: int) -> Function:
    """R with its limits beyond K, and in K where its formula runs out of numbers."""
    middle = K.from_real(torch.zeros((), dtype=torch.float64)).item()
    at_low, at_high = (0.0, inf) if sign > 0 else (inf, 0.0)

    def continued(u: Tensor) -> Tensor:
        inside = K.contains(u)
        value = ratio(torch.where(inside, u, middle))
        limit = torch.where(u < middle, at_low, at_high).to(u.dtype)
        return torch.where(torch.isnan(u), u, torch.where(inside & ~torch.isnan(value), value, limit))

    return continued


def _sign_and_interval(ratio: Function, interval: Interval | None, name: str) -> tuple[int, Interval]:
    """Whether R rises or falls, on the K given or on the first one that bears a balance."""
    failures: list[Condition] = []
    for sign in (1, -1):
        pair = _magnitudes(ratio, sign)
        K = interval or find_interval(*pair)
        failed = [condition for condition in examine(*pair, K).balance if not condition.holds]
        if not failed:
            return sign, K
        failures = failures or failed
    if interval is not None:
        _refuse_values(ratio, interval, name)
        message = f"R of {name} is not the inverse of a monotone T on K = {interval}: {_listed(failures)}"
        raise ValueError(message)
    message = (
        f"found no interval on which R of {name} is monotone and onto (0, ∞); pass interval=K ({_listed(failures)})"
    )
    raise ValueError(message)


def _refuse_values(ratio: Function, K: Interval, name: str) -> None:
    u = K.grid(1201)
    values = ratio(u)
    negative = u[values < 0]
    if len(negative):
        where = negative[torch.argmin(torch.abs(negative))].item()
        message = f"R of {name} must be positive on K = {K}, but is negative at u = {where:.6g}"
        raise ValueError(message)
    known = values[~torch.isnan(values)]
    if len(known) and (known.min() > 1e-4 or known.max() < 1e4):
        reached = f"({known.min().item():.4g}, {known.max().item():.4g})"
        message = f"R of {name} must take every value in (0, ∞) on K = {K}, but stays within {reached}"
        raise ValueError(message)


def _agreed(found: Interval, given: Interval | None, name: str) -> Interval:
    if given is None:
        return found
    for one, other in ((found.low, given.low), (found.high, given.high)):
        if one != other and not abs(one - other) <= 1e-2 * (1.0 + abs(other)):
            message = f"T of {name} maps (0, ∞) onto {found}, but the interval given is {given}"
            raise ValueError(message)
    return given


def _refuse_unless_inverse(ratio: Function, target: Function, name: str) -> None:
    z = torch.logspace(-4.0, 4.0, 401, dtype=torch.float64)
    back = ratio(evaluate(target, z))
    wrong = ~(torch.abs(back / z - 1.0) <= _AGREES)
    if bool(wrong.any()):
        worst = z[wrong][torch.argmin(torch.abs(torch.log(z[wrong])))].item()
        came = back[wrong][torch.argmin(torch.abs(torch.log(z[wrong])))].item()
        message = f"R and T of {name} are not inverse of each other: R(T(z)) = {came:.6g} at z = {worst:.6g}"
        raise ValueError(message)


def _listed(conditions: Sequence[Condition]) -> str:
    return "; ".join(" ".join(str(condition).split()) for condition in conditions)
