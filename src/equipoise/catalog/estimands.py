"""What the catalogue's methods learn: T, R and K once for all methods that learn the same.

ratio      T = z            R = u          K = (0, ∞)        (Table ClassicTransforms, line 2355)
log ratio  T = log z        R = exp u      K = ℝ
density and log density are the same two against a known base
"""

from __future__ import annotations

from dataclasses import replace
from math import log, pi

import torch
from torch import Tensor

from equipoise import frame
from equipoise.estimand import Estimand
from equipoise.interval import NEGATIVE, POSITIVE, REALS, UNIT, Interval

_U, _D = r"\mathbb{P}^U(X)", r"\mathbb{P}^D(X)"
_SUM = rf"{_U} + {_D}"


def identity(z: Tensor) -> Tensor:
    """Z itself."""
    return z


RATIO = Estimand("ratio", "the density ratio", rf"\frac{{{_U}}}{{{_D}}}", identity, identity, POSITIVE)

LOG_RATIO = Estimand(
    "log_ratio",
    "the log density ratio",
    rf"\log\frac{{{_U}}}{{{_D}}}",
    target=torch.log,
    ratio=torch.exp,
    interval=REALS,
    log_ratio=identity,
)

DENSITY = replace(RATIO, name="density", words="the up density", tex=_U, frame=frame.DENSITY)

LOG_DENSITY = replace(
    LOG_RATIO, name="log_density", words="the log of the up density", tex=rf"\log {_U}", frame=frame.LOG_DENSITY
)

HALF_LOG_RATIO = Estimand(
    "half_log_ratio",
    "half the log density ratio",
    rf"\tfrac12\log\frac{{{_U}}}{{{_D}}}",
    target=lambda z: 0.5 * torch.log(z),
    ratio=lambda u: torch.exp(2.0 * u),
    log_ratio=lambda u: 2.0 * u,
    interval=REALS,
)

POSTERIOR = Estimand(
    "posterior",
    "the probability that a row is an up row, were both sides equally many",
    rf"\frac{{{_U}}}{{{_SUM}}}",
    target=lambda z: 1.0 / (1.0 + 1.0 / z),  # 1, the end of K, where z is infinite
    ratio=lambda u: u / (1.0 - u),
    interval=UNIT,
)

LOG_POSTERIOR = Estimand(
    "log_posterior",
    "the log of the probability that a row is an up row, were both sides equally many",
    rf"\log\frac{{{_U}}}{{{_SUM}}}",
    target=lambda z: -torch.log1p(1.0 / z),
    ratio=lambda u: 1.0 / torch.expm1(-u),
    interval=NEGATIVE,
)

# The mixture's z is p_up / (½ p_up + ½ p_down): half of it is the posterior of the two original densities.
MIXTURE_POSTERIOR = replace(POSTERIOR, target=lambda z: 0.5 * z, ratio=lambda u: 2.0 * u, interval=POSITIVE)
MIXTURE_LOG_POSTERIOR = replace(
    LOG_POSTERIOR,
    target=lambda z: torch.log(0.5 * z),
    ratio=lambda u: 2.0 * torch.exp(u),
    log_ratio=lambda u: log(2.0) + u,
    interval=REALS,
)

CONTRAST = Estimand(
    "contrast",
    "the difference of the densities over their sum",
    rf"\frac{{{_U} - {_D}}}{{{_SUM}}}",
    target=lambda z: torch.tanh(0.5 * torch.log(z)),  # (z − 1)/(z + 1)
    ratio=lambda u: (1.0 + u) / (1.0 - u),
    interval=Interval(-1.0, 1.0),
)

SHIFTED_LOG_RATIO = Estimand(
    "shifted_log_ratio",
    "one plus the log density ratio",
    rf"1 + \log\frac{{{_U}}}{{{_D}}}",
    target=lambda z: 1.0 + torch.log(z),
    ratio=lambda u: torch.exp(u - 1.0),
    log_ratio=lambda u: u - 1.0,
    interval=REALS,
)

NEGATIVE_INVERSE_RATIO = Estimand(
    "negative_inverse_ratio",
    "minus the inverse density ratio",
    rf"-\frac{{{_D}}}{{{_U}}}",
    target=lambda z: -1.0 / z,
    ratio=lambda u: -1.0 / u,
    interval=NEGATIVE,
)

SINH_HALF_LOG_RATIO = Estimand(
    "sinh_half_log_ratio",
    "half the difference of the densities over their geometric mean",
    rf"\frac12\cdot\frac{{{_U} - {_D}}}{{\sqrt{{{_U}\cdot {_D}}}}}",
    target=lambda z: torch.sinh(0.5 * torch.log(z)),
    ratio=lambda u: torch.exp(2.0 * torch.asinh(u)),
    log_ratio=lambda u: 2.0 * torch.asinh(u),
    interval=REALS,
)

ATAN_LOG_RATIO = Estimand(
    "atan_log_ratio",
    "the arctangent of the log density ratio",
    rf"\arctan\log\frac{{{_U}}}{{{_D}}}",
    target=lambda z: torch.atan(torch.log(z)),
    ratio=lambda u: torch.exp(torch.tan(u)),
    log_ratio=torch.tan,
    interval=Interval(-0.5 * pi, 0.5 * pi),
)

TANH_LOG_RATIO = Estimand(
    "tanh_log_ratio",
    "the hyperbolic tangent of the log density ratio",
    rf"\tanh\log\frac{{{_U}}}{{{_D}}}",
    target=lambda z: torch.tanh(torch.log(z)),
    ratio=lambda u: torch.sqrt(torch.clamp(1.0 + u, min=0.0) / torch.clamp(1.0 - u, min=0.0)),
    interval=Interval(-1.0, 1.0),
)


def root_density(degree: float) -> Estimand:
    """The degree-th root of the up density."""
    return Estimand(
        "root_density",
        "a root of the up density",
        rf"\sqrt[d]{{{_U}}}",
        target=lambda z: z ** (1.0 / degree),
        ratio=lambda u: torch.sign(u) * torch.abs(u) ** degree,
        interval=POSITIVE,
        frame=frame.root(degree),
    )


def between(a: float, b: float) -> Estimand:
    """The mean label, where up rows are labelled b and down rows a."""
    return Estimand(
        "mean_label",
        "the mean label, with b on up rows and a on down rows",
        rf"\frac{{b\,{_U} + a\,{_D}}}{{{_SUM}}}",
        target=lambda z: b / (1.0 + 1.0 / z) + a / (1.0 + z),
        ratio=lambda u: (u - a) / (b - u),
        interval=Interval(min(a, b), max(a, b)),
    )


def log_odds(prior: float) -> Estimand:
    """The log odds of label 1, where its prior probability is known."""
    odds = prior / (1.0 - prior)
    return Estimand(
        "log_odds",
        "the log odds of label 1 given the row",
        r"\log\frac{\mathbb{P}(Y=1\,|\,X)}{\mathbb{P}(Y=0\,|\,X)}",
        target=lambda z: torch.log(odds * z),
        ratio=lambda u: torch.exp(u) / odds,
        log_ratio=lambda u: u - log(odds),
        interval=REALS,
    )
