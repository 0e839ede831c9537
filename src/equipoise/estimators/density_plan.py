"""What is worth trying on a table of n rows and d columns: over which bases, with which surface, for how many steps.

    a smooth surface over the strongest base, for what it leaves over
    a sharp one over the independent columns, for edges and stripes that no smooth base can have
    one over normal scores, for the dependence of columns whatever their own shapes

The surface's weights |θ| grow with n (pso.tex 6395-6441). Every number here was chosen on the targets of
``benchmarks/density.py``, never on their untouched rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from equipoise import catalog
from equipoise.estimators.density_settings import Settings
from equipoise.instance import Instance
from equipoise.surfaces import FullyConnected, InRange, heights_of

FEWEST_ROWS = 200  # below, a surface has too little to learn from, and the bases alone compete
PRODUCTS = ("uniform", "marginals", "independent")  # a base like these leaves no dependence over
COPULAS = ("copula", "copula_mixture")
FLOWS = ("flow", "copula_flow")  # what a good flow leaves over are rare blunders, which a push does not find


@dataclass(frozen=True)
class Recipe:
    """One push.

    Arguments:
        name: What the surface is called.
        over: The base's name.
        instance: The magnitudes.
        build: Makes the surface for rows (n, d).
        steps: How many steps.
        learning_rate: The largest learning rate.
        n_up: Up rows a step; as many down rows.
        scores: Whether the surface sees normal scores, which the base must then have.
        noise: Standard deviation of noise on up rows, in the units the surface sees.
        average: Decay of the moving average of the weights, or None.
        of: How many pushes share a budget of time.
    """

    name: str
    over: str
    instance: Instance
    build: Callable[[Tensor], nn.Module]
    steps: int = 1000
    learning_rate: float = 0.005
    n_up: int = 1000
    scores: bool = False
    noise: float = 0.0
    average: float | None = 0.99
    of: int = 1


def plan(rows: Tensor, settings: Settings, bases: list[str]) -> list[Recipe]:
    """The pushes to make over rows (n, d), given the names of the bases, the strongest first."""
    n, d = rows.shape
    if settings.budget == 0 or (n < FEWEST_ROWS and settings.base is None):
        return []
    instance = settings.instance or catalog.get("pso_lde", alpha=0.25)
    steps = settings.budget if isinstance(settings.budget, int) else _steps(n)

    def recipe(over: str, surface: nn.Module | Callable[[Tensor], nn.Module], name: str, **rest: object) -> Recipe:
        build = surface if callable(surface) and not isinstance(surface, nn.Module) else lambda _: surface
        return Recipe(f"{instance.label}, {name}", over, instance, build, steps, n_up=min(n, 1000), **rest)  # type: ignore[arg-type]

    if settings.surface is not None:
        return [recipe(bases[0], settings.surface, type(settings.surface).__name__)]
    if settings.base is not None:
        on_scores = bases[0] in COPULAS
        return [recipe(bases[0], _network(n, d, instance, 4.0 if d <= 2 else 1.0), "network", scores=on_scores)]
    choices = _choices(d, bases)
    return [
        recipe(over, _network(n, d, instance, gain), name, scores=scores, of=len(choices))
        for over, gain, name, scores in choices
    ]


def _choices(d: int, bases: list[str]) -> list[tuple[str, float, str, bool]]:
    """Base, gain, name, and whether on scores."""
    grown = [name for name in bases if name not in FLOWS]
    sharp = 4.0 if d <= 2 else 2.0  # gain of a surface that must bend often
    if grown[0] in PRODUCTS or d == 1:
        return [(grown[0], sharp, "network", False)]
    edges = ("marginals", sharp, "sharp", False)
    if joined_on_scores(grown):
        return [*((name, 1.0, "on scores", True) for name in COPULAS if name in bases), edges]
    smooth = next(name for name in grown if name not in (*PRODUCTS, *COPULAS))
    return [(smooth, sharp if d <= 2 else 1.0, "smooth", False), edges]


def joined_on_scores(bases: list[str]) -> bool:
    """Whether dependence is better seen in normal scores, by the best of the bases that can have any."""
    dependent = [name for name in bases if name not in (*PRODUCTS, *FLOWS)]
    return bool(dependent) and dependent[0] in COPULAS


def _network(n: int, d: int, instance: Instance, gain: float) -> Callable[[Tensor], nn.Module]:
    width, layers = _size(n)
    return lambda _: within(instance, FullyConnected(d, width, layers, activation="silu", gain=gain))


def within(instance: Instance, surface: nn.Module) -> nn.Module:
    """The surface, with its heights kept where the instance needs them."""
    if instance.heights.covers(heights_of(surface)):
        return surface
    return InRange(surface, instance.interval)


def _steps(n: int) -> int:
    """From 700 on the smallest tables to 5,000 on the largest."""
    return int(min(5000.0, 50.0 * n**0.5))


def _size(n: int) -> tuple[int, int]:
    """Width and layers."""
    if n < 2_000:
        return 32, 3
    return (64, 3) if n < 30_000 else (128, 3)
