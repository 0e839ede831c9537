"""Pairs of densities with an exact log ratio, at a stated distance in nats.

    warped     two Gaussians through one nonlinear invertible map: the ratio is theirs, no discriminant is quadratic
    mixtures   three full-covariance components a side, at other places
    tails      Student's t with 4 degrees of freedom, moved and stretched

Each family has one number that grows with the distance; it is set once, by bisection on KL(num‖den) over fixed rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import lgamma, log, pi

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_ROWS = 20_000
FAMILIES = ("warped", "mixtures", "tails")


@dataclass(frozen=True)
class Pair:
    """Two densities.

    Arguments:
        draw: Rows of the numerator (True) or the denominator (False), as draw(side, n, generator).
        log_ratio: The exact log ratio at rows, num over den.
        kl: KL(num‖den), over many rows.
    """

    draw: Callable[[bool, int, np.random.Generator], Array]
    log_ratio: Callable[[Array], Array]
    kl: float


def pair(family: str, d: int, nats: float) -> Pair:
    """A pair by name, so many nats apart."""
    make = {"warped": _gaussians, "mixtures": _mixtures, "tails": _tails}[family]
    low, high = 0.0, 1.0
    while _kl(*make(d, high), _ROWS) < nats:
        low, high = high, 2.0 * high
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _kl(*make(d, middle), _ROWS) < nats else (low, middle)
    draw, log_ratio = make(d, high)
    kl = _kl(draw, log_ratio, 2_000_000 // d)
    if family != "warped":
        return Pair(draw, log_ratio, kl)
    map_ = Warp(d)
    return Pair(lambda *given: map_.there(draw(*given)), lambda x: log_ratio(map_.back(x)), kl)


def _kl(draw: Callable[..., Array], log_ratio: Callable[[Array], Array], n: int) -> float:
    return float(log_ratio(draw(True, n, np.random.default_rng(1))).mean())


class Warp:
    """A rotation, then z ↦ z/2 + sinh(0.9·tanh z) + z³/20 of each column; and this once more."""

    def __init__(self, d: int) -> None:
        rng = np.random.default_rng(300 + d)
        self.turns = [np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(2)]

    def there(self, z: Array) -> Array:
        for turn in self.turns:
            z = _bend(z @ turn)
        return z

    def back(self, x: Array) -> Array:
        for turn in reversed(self.turns):
            x = _inverted(_bend, x) @ turn.T
        return x


def _bend(z: Array) -> Array:
    return 0.5 * z + np.sinh(0.9 * np.tanh(z)) + 0.05 * z**3


def _gaussians(d: int, far: float) -> tuple[Callable[..., Array], Callable[[Array], Array]]:
    """N(μ, Σ) against N(0, I)."""
    rng = np.random.default_rng(d)
    direction = rng.standard_normal(d)
    mean = far * direction / np.linalg.norm(direction)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    deviations = np.exp(0.25 * np.tanh(far) * rng.uniform(-1.0, 1.0, d))

    def draw(num: bool, n: int, generator: np.random.Generator) -> Array:
        z = generator.standard_normal((n, d))
        return mean + (z * deviations) @ turn.T if num else z

    def log_ratio(z: Array) -> Array:
        white = ((z - mean) @ turn) / deviations
        return np.asarray(0.5 * (z**2).sum(axis=1) - 0.5 * (white**2).sum(axis=1) - np.log(deviations).sum())

    return draw, log_ratio


def _inverted(function: Callable[[Array], Array], y: Array) -> Array:
    """The inverse of an increasing odd function whose slope is at least a half, by bisection."""
    low, high = -2.0 * np.abs(y), 2.0 * np.abs(y)
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = function(middle) < y
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


def _mixtures(d: int, far: float) -> tuple[Callable[..., Array], Callable[[Array], Array]]:
    """Three components a side; ``far`` scales where they are."""
    rng = np.random.default_rng(100 + d)
    sides = []
    unlike = min(1.0, 6.0 / d)  # so that covariances alone are not far apart
    for _ in range(2):
        means = far * rng.standard_normal((3, d)) / np.sqrt(d)
        factors = [
            np.tril(0.3 * unlike * rng.standard_normal((d, d)) / np.sqrt(d), -1)
            + np.diag(rng.uniform(1.0 - 0.3 * unlike, 1.0 + 0.3 * unlike, d))
            for _ in range(3)
        ]
        sides.append((rng.dirichlet([5.0] * 3), means, np.stack(factors)))

    def draw(num: bool, n: int, generator: np.random.Generator) -> Array:
        weights, means, factors = sides[0 if num else 1]
        which = generator.choice(3, n, p=weights)
        z = generator.standard_normal((n, d))
        x = means[which]
        for k in range(3):
            x[which == k] += z[which == k] @ factors[k].T
        return x

    def log_prob(side: int, x: Array) -> Array:
        weights, means, factors = sides[side]
        terms = []
        for k in range(3):
            white = np.linalg.solve(factors[k], (x - means[k]).T)
            log_det = np.log(np.diagonal(factors[k])).sum()
            terms.append(log(weights[k]) - 0.5 * (white**2).sum(axis=0) - log_det)
        return np.asarray(np.logaddexp.reduce(terms, axis=0))

    return draw, lambda x: log_prob(0, x) - log_prob(1, x)


def _tails(d: int, far: float) -> tuple[Callable[..., Array], Callable[[Array], Array]]:
    """Elliptical t densities: the numerator moved along one direction and stretched along others."""
    rng = np.random.default_rng(200 + d)
    nu = 4.0
    direction = rng.standard_normal(d)
    mean = far * direction / np.linalg.norm(direction)
    scales = np.exp(np.minimum(far, 1.0) * 0.4 * rng.uniform(-1.0, 1.0, d))
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]

    def draw(num: bool, n: int, generator: np.random.Generator) -> Array:
        z = generator.standard_normal((n, d)) / np.sqrt(generator.chisquare(nu, (n, 1)) / nu)
        return mean + (z * scales) @ turn.T if num else z

    def log_t(squared: Array) -> Array:
        return (
            lgamma(0.5 * (nu + d)) - lgamma(0.5 * nu) - 0.5 * d * log(nu * pi) - 0.5 * (nu + d) * np.log1p(squared / nu)
        )

    def log_ratio(x: Array) -> Array:
        white = ((x - mean) @ turn) / scales
        return log_t((white**2).sum(axis=1)) - np.log(scales).sum() - log_t((x**2).sum(axis=1))

    return draw, log_ratio
