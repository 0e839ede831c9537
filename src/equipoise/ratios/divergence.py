"""Divergences of two samples from the log ratio at rows that it has not seen.

    D_f(num, den) = E_den f(r) ≥ E_num f′(r̂) + E_den [f(r̂) − r̂·f′(r̂)]       with equality at r̂ = r      (line 2811)

The right side is what the PSO loss of ``f_divergence(kind)`` estimates. In the mean it never exceeds the truth, and an
error of the log ratio enters it by its square alone. Every term is written in L = log r̂, so that nothing cancels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import hypot

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, softplus

from equipoise.bases.stacking import weighted_mean
from equipoise.ratios.score import LogRatios
from equipoise.theory.divergence import Estimate

_FAR = 300.0  # nats; e^(2·300) is still a number


@dataclass(frozen=True)
class Kind:
    """A divergence as two means.

    Arguments:
        words: What it is.
        num: f′(r) at rows of the numerator, as a function of log r.
        den: f(r) − r·f′(r) at rows of the denominator, likewise.
        most: The largest value it can have.
        weighs: Whether r itself is averaged over rows of the denominator (+1), 1/r over rows of the numerator (−1), or
            neither (0): rows that are too few decide these.
    """

    words: str
    num: Callable[[Tensor], Tensor]
    den: Callable[[Tensor], Tensor]
    most: float = torch.inf
    weighs: int = 0


_LOG_2 = 0.6931471805599453

KINDS: dict[str, Kind] = {
    "kl": Kind("KL(num‖den)", lambda L: L + 1.0, lambda L: -torch.exp(L), weighs=1),
    "reverse_kl": Kind("KL(den‖num)", lambda L: -torch.exp(-L), lambda L: 1.0 - L, weighs=-1),
    "js": Kind(
        "Jensen-Shannon divergence in nats, at most log 2",
        lambda L: 0.5 * (_LOG_2 + logsigmoid(L)),
        lambda L: 0.5 * (_LOG_2 - softplus(L)),
        most=_LOG_2,
    ),
    "pearson": Kind("∫(num − den)²/den", lambda L: 2.0 * torch.expm1(L), lambda L: -torch.expm1(2.0 * L), weighs=1),
    "neyman": Kind("∫(num − den)²/num", lambda L: -torch.expm1(-2.0 * L), lambda L: 2.0 * torch.expm1(-L), weighs=-1),
    "hellinger": Kind(
        "1 − ∫√(num·den)",
        lambda L: -0.5 * torch.exp(-0.5 * L),
        lambda L: 1.0 - 0.5 * torch.exp(0.5 * L),
        most=1.0,
    ),
    "total_variation": Kind("½∫|num − den|", lambda L: 0.5 * torch.sign(L), lambda L: -0.5 * torch.sign(L), most=1.0),
}


@dataclass(frozen=True)
class Divergence(Estimate):
    """A divergence between two samples.

    Arguments:
        value: The estimate.
        se: Its standard error, from the spread over held-out rows.
        kind: Which divergence.
        is_bound: Whether the value is, in the mean, a lower bound of the divergence.
        words: What it is, and what to know about it.
    """

    kind: str = ""
    is_bound: bool = True
    words: str = ""


def divergence(kind: str, at: LogRatios, trusted: bool = True, different: bool = True) -> Divergence:
    """A divergence from log ratios at held-out rows; its error is never smaller than one part in their number.

    Arguments:
        kind: One of ``KINDS``.
        at: The log ratios.
        different: Whether the sides are told apart at all; where they are not, the value is 0, with the error it has.
        trusted: Whether rows of one side reach where the other's are. Where they do not, the mean of r says nothing,
            and KL is the mean log ratio alone.
    """
    if kind not in KINDS:
        message = f"kind must be one of {', '.join(KINDS)}; got {kind!r}"
        raise ValueError(message)
    chosen = KINDS[kind]
    if not trusted and different and kind in _PLAIN:
        return _plain(kind, at)
    parts = [
        weighted_mean(function(values.double().clamp(-_FAR, _FAR)), weight)
        for function, values, weight in (
            (chosen.num, at.num, at.num_weight),
            (chosen.den, at.den, at.den_weight),
        )
    ]
    (num, num_se), (den, den_se) = parts
    words = f"{chosen.words}: a lower bound in the mean, exact where the ratio is"
    if not trusted and chosen.weighs:
        words += "; the samples hardly overlap: rows that decide it may be missing, and its standard error is too small"
    se = max(hypot(num_se, den_se), 1.0 / min(len(at.num), len(at.den)))
    if not different:
        words = f"{chosen.words}: the samples could not be told apart"
    return Divergence(num + den if different else 0.0, se, kind, True, words)


_PLAIN: dict[str, tuple[str, float]] = {"kl": ("num", 1.0), "reverse_kl": ("den", -1.0)}


def _plain(kind: str, at: LogRatios) -> Divergence:
    side, sign = _PLAIN[kind]
    value, se = weighted_mean(sign * getattr(at, side).double(), getattr(at, f"{side}_weight"))
    words = (
        f"{KINDS[kind].words}: the mean log ratio over rows of one side alone, and no bound. "
        "The samples hardly overlap: it rests on how the log ratio goes on where neither has rows, "
        "and the standard error does not know of that"
    )
    return Divergence(value, se, kind, False, words)
