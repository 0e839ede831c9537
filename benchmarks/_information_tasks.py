"""Pairs of tables whose mutual information is known: by a formula, or by one integral.

    normals of several sizes and patterns, uniform noise, Student-t, monotone and rolled-up columns, independence

Each task draws rows (x, y) and states its information in nats; monotone maps of single columns, and maps of x or y
alone that can be undone, change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, pi

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

Array = NDArray[np.float64]
Draw = Callable[[int, np.random.Generator], tuple[Array, Array]]


@dataclass(frozen=True)
class Task:
    """Two tables.

    Arguments:
        name: What it is called.
        draw: Rows (x, y), as draw(n, generator).
        nats: The mutual information.
        columns: Of x and y together.
    """

    name: str
    draw: Draw
    nats: float
    columns: int


def _joint_normal(correlation: Array, left: int) -> tuple[Draw, float]:
    factor = np.linalg.cholesky(correlation)

    def draw(n: int, generator: np.random.Generator) -> tuple[Array, Array]:
        z = generator.standard_normal((n, len(correlation))) @ factor.T
        return z[:, :left], z[:, left:]

    return draw, _normal_nats(correlation, left)


def _normal_nats(correlation: Array, left: int) -> float:
    blocks = (correlation[:left, :left], correlation[left:, left:])
    return 0.5 * float(sum(np.linalg.slogdet(block)[1] for block in blocks) - np.linalg.slogdet(correlation)[1])


def _pairs(d: int, rho: float, paired: int) -> Array:
    """Correlation of d + d columns: the first ``paired`` of either side belong together."""
    correlation = np.eye(2 * d)
    for i in range(paired):
        correlation[i, d + i] = correlation[d + i, i] = rho
    return correlation


def _dense(left: int, right: int, rho: float) -> Array:
    return np.full((left + right, left + right), rho) + (1.0 - rho) * np.eye(left + right)


def _student(d: int, dof: float, rho: float) -> tuple[Draw, float]:
    """A joint t: its information is the normal's, and what the common scale of all columns tells."""
    correlation = _pairs(d, rho, d)
    draw, nats = _joint_normal(correlation, d)

    def heavy(n: int, generator: np.random.Generator) -> tuple[Array, Array]:
        x, y = draw(n, generator)
        scale = np.sqrt(dof / generator.chisquare(dof, (n, 1)))
        return x * scale, y * scale

    def entropy_of_scale(k: int) -> float:  # of a k-dimensional t, but for its correlation
        return float(
            gammaln(0.5 * dof)
            - gammaln(0.5 * (dof + k))
            + 0.5 * k * log(dof * pi)
            + 0.5 * (dof + k) * (digamma(0.5 * (dof + k)) - digamma(0.5 * dof))
        )

    return heavy, nats + 2.0 * entropy_of_scale(d) - entropy_of_scale(2 * d)


def _uniform_noise(width: float) -> tuple[Draw, float]:
    """Y = X + N, X uniform on (0, 1), N uniform on (−width, width)."""

    def draw(n: int, generator: np.random.Generator) -> tuple[Array, Array]:
        x = generator.random((n, 1))
        return x, x + generator.uniform(-width, width, (n, 1))

    return draw, 1.0 / (4.0 * width) if width > 0.5 else width - log(2.0 * width)


def _mapped(
    base: tuple[Draw, float], left: Callable[[Array], Array], right: Callable[[Array], Array]
) -> tuple[Draw, float]:
    def draw(n: int, generator: np.random.Generator) -> tuple[Array, Array]:
        x, y = base[0](n, generator)
        return left(x), right(y)

    return draw, base[1]


def _roll(x: Array) -> Array:
    """One column as a strip rolled up in the plane, from its normal scores."""
    from scipy.special import ndtr

    t = 1.5 * pi * (1.0 + 2.0 * ndtr(x[:, :1]))
    return np.concatenate([t * np.cos(t) / 21.0, t * np.sin(t) / 21.0], axis=1)


def _independent(d: int) -> tuple[Draw, float]:
    def draw(n: int, generator: np.random.Generator) -> tuple[Array, Array]:
        return generator.standard_normal((n, d)), np.exp(generator.standard_normal((n, d)))

    return draw, 0.0


def _half_cube(x: Array) -> Array:
    return np.sign(x) * np.abs(x) ** 1.5


def _same(x: Array) -> Array:
    return x


def _uniform_scores(x: Array) -> Array:
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


def _turned(seed: int) -> Callable[[Array], Array]:
    """A rotation by an angle that depends on the radius: it can be undone, and no column stays what it was."""

    def turn(x: Array) -> Array:
        out = x.copy()
        angle = 0.9 * np.sqrt((x[:, :2] ** 2).sum(axis=1)) + seed
        cos, sin = np.cos(angle), np.sin(angle)
        out[:, 0], out[:, 1] = cos * x[:, 0] - sin * x[:, 1], sin * x[:, 0] + cos * x[:, 1]
        return out

    return turn


def tasks() -> list[Task]:
    """All twenty."""
    found: dict[str, tuple[int, tuple[Draw, float]]] = {
        "normal 1x1, 0.75": (2, _joint_normal(_pairs(1, 0.75, 1), 1)),
        "normal 1x1, 0.2": (2, _joint_normal(_pairs(1, 0.2, 1), 1)),
        "normal 2x2, 0.8": (4, _joint_normal(_pairs(2, 0.8, 2), 2)),
        "normal 3x3, dense 0.5": (6, _joint_normal(_dense(3, 3, 0.5), 3)),
        "normal 5x5, 2 pairs": (10, _joint_normal(_pairs(5, 0.8, 2), 5)),
        "normal 10x10, dense 0.3": (20, _joint_normal(_dense(10, 10, 0.3), 10)),
        "normal 25x25, 2 pairs": (50, _joint_normal(_pairs(25, 0.8, 2), 25)),
        "normal 25x25, dense 0.5": (50, _joint_normal(_dense(25, 25, 0.5), 25)),
        "uniform noise, 0.1": (2, _uniform_noise(0.1)),
        "uniform noise, 0.75": (2, _uniform_noise(0.75)),
        "student 1x1, dof 1": (2, _student(1, 1.0, 0.0)),
        "student 2x2, dof 2": (4, _student(2, 2.0, 0.5)),
        "student 3x3, dof 3": (6, _student(3, 3.0, 0.0)),
        "student 5x5, dof 3": (10, _student(5, 3.0, 0.3)),
        "half-cube of normal 1x1, 0.75": (2, _mapped(_joint_normal(_pairs(1, 0.75, 1), 1), _half_cube, _half_cube)),
        "uniform scores of normal 3x3, 2 pairs": (
            6,
            _mapped(_joint_normal(_pairs(3, 0.8, 2), 3), _uniform_scores, _same),
        ),
        "swiss roll of normal 1x1, 0.75": (3, _mapped(_joint_normal(_pairs(1, 0.75, 1), 1), _roll, _same)),
        "turned normal 3x3, 2 pairs": (6, _mapped(_joint_normal(_pairs(3, 0.8, 2), 3), _turned(0), _turned(1))),
        "independent 1x1": (2, _independent(1)),
        "independent 5x5": (10, _independent(5)),
    }
    return [Task(name, draw, nats, columns) for name, (columns, (draw, nats)) in found.items()]


def ksg(x: Array, y: Array, k: int = 3) -> float:
    """The k-nearest-neighbour estimate of Kraskov, Stögbauer and Grassberger, on standardised columns."""
    from scipy.spatial import cKDTree

    x, y = ((t - t.mean(axis=0)) / t.std(axis=0) for t in (x, y))
    joint = np.concatenate([x, y], axis=1)
    radius = cKDTree(joint).query(joint, k + 1, p=np.inf, workers=1)[0][:, -1] * (1.0 - 1e-12)
    counts = [cKDTree(t).query_ball_point(t, radius, p=np.inf, return_length=True, workers=1) for t in (x, y)]
    return float(digamma(k) + digamma(len(x)) - sum(digamma(np.maximum(c, 1)).mean() for c in counts))
