"""The targets by name, each at its defaults: what tests and benchmarks walk."""

from __future__ import annotations

from collections.abc import Callable

from equipoise.targets.clayton import Clayton
from equipoise.targets.columns import Columns
from equipoise.targets.funnel import Funnel
from equipoise.targets.hole import UniformWithHole
from equipoise.targets.image import ImageDensity
from equipoise.targets.mixtures import FullMixture, TwoSpirals
from equipoise.targets.ridge import CurvedRidge
from equipoise.targets.stripes import Stripes
from equipoise.targets.target import Target
from equipoise.targets.transformed_columns import TransformedColumns

_PAPER: dict[str, Callable[[], Target]] = {
    "columns": Columns,
    "transformed_columns": TransformedColumns,
    "image_density": ImageDensity,
    "uniform_with_hole": UniformWithHole,
}
_DEPENDENT: dict[str, Callable[[], Target]] = {
    "two_spirals": TwoSpirals,
    "stripes": Stripes,
    "full_mixture": FullMixture,
    "funnel": Funnel,
    "clayton": Clayton,
    "curved_ridge": CurvedRidge,
}


def all() -> dict[str, Target]:  # noqa: A001  # named as the catalogue's
    """Every target, by name."""
    return {name: build() for name, build in (_PAPER | _DEPENDENT).items()}


def dependent() -> dict[str, Target]:
    """The six whose columns depend on each other in ways of their own."""
    return {name: build() for name, build in _DEPENDENT.items()}


def get(name: str) -> Target:
    """The target of a name."""
    known = _PAPER | _DEPENDENT
    if name not in known:
        message = f"there is no target {name!r}; there are {', '.join(known)}"
        raise KeyError(message)
    return known[name]()
