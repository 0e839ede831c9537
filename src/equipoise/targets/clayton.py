"""A Clayton copula with gamma marginals: columns that are small together, and nearly free where they are large.

    c(w) = Π_{k=1}^{d−1} (1 + k·θ) · Π_i w_i^(−θ−1) · S^(−d−1/θ),   S = Σ_i w_i^(−θ) − d + 1,   w_i = P(a_i, x_i)

P is the regularised incomplete gamma function. With θ = 2 the copula's frailty is half a squared normal number, so that
sampling (Marshall and Olkin) needs no gamma generator: w_i = (1 + E_i/V)^(−1/θ), V ~ Γ(1/θ), E_i exponential.
"""

from __future__ import annotations

from math import log1p

import torch
from torch import Generator, Tensor

from equipoise.targets.target import Target, normal, uniform

_THETA = 2.0
_SMALL = 1e-10  # below, P(a, x) is its first term to the last digit; and it does not underflow in logarithms


class Clayton(Target):
    """Twelve gamma columns of shapes 1.5, 2, 2.5, …, 7 and scale 1, joined by a Clayton copula of θ = 2."""

    features = 12

    def __init__(self) -> None:
        self.shapes = 1.5 + 0.5 * torch.arange(self.features, dtype=torch.float64)

    def _sample(self, n: int, generator: Generator | None) -> Tensor:
        from scipy.special import gammainccinv, gammaincinv

        frailty = 0.5 * normal(n, 1, generator).square()
        wait = -torch.log1p(-uniform(n, self.features, generator))
        log_w = -torch.log1p(wait / frailty) / _THETA
        w, rest = torch.exp(log_w).numpy(), -torch.expm1(log_w).numpy()
        a = self.shapes.expand(n, -1).numpy()
        return torch.where(log_w < -0.5, torch.from_numpy(gammaincinv(a, w)), torch.from_numpy(gammainccinv(a, rest)))

    def _log_prob(self, x: Tensor) -> Tensor:
        inside = (x > 0.0).all(dim=1)
        rows = torch.where(inside.unsqueeze(1), x, 1.0)
        a = self.shapes.expand_as(rows)
        log_marginals = ((a - 1.0) * torch.log(rows) - rows - torch.lgamma(a)).sum(dim=1)
        return (log_marginals + log_clayton(_log_gamma_cdf(a, rows), _THETA)).masked_fill(~inside, -torch.inf)


def log_clayton(log_w: Tensor, theta: float) -> Tensor:
    """The log density of a Clayton copula at log w, (n, d)."""
    d = log_w.shape[1]
    constant = sum(log1p(k * theta) for k in range(1, d))
    power = -theta * log_w  # (n, d), not negative
    top = power.amax(dim=1).detach()
    near = torch.log1p(torch.expm1(power.clamp(max=1.0)).sum(dim=1))  # exact where all w are near one
    scaled = torch.exp(power - top.unsqueeze(1)).sum(dim=1) - (d - 1) * torch.exp(-top)
    far = top + torch.log(torch.where(top > 1.0, scaled, 1.0))
    log_s = torch.where(top > 1.0, far, near)
    return constant - (theta + 1.0) * log_w.sum(dim=1) - (d + 1.0 / theta) * log_s


def _log_gamma_cdf(a: Tensor, x: Tensor) -> Tensor:
    """Log P(a, x), accurate at both ends."""
    tiny, large = x < _SMALL, x > a
    first_term = a * torch.log(x) - torch.lgamma(a + 1.0)
    lower = torch.log(torch.special.gammainc(a, torch.where(tiny | large, a, x)))
    upper = torch.log1p(-torch.special.gammaincc(a, torch.where(large, x, a)))
    return torch.where(tiny, first_term, torch.where(large, upper, lower))
