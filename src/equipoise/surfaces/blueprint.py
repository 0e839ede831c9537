"""A surface as data and back: what a model file needs to build it again without running anyone's code.

describe(surface) → JSON,   size(JSON) → how many numbers it holds,   build(JSON) → surface
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite
from typing import Any

from torch import nn

from equipoise.interval import Interval
from equipoise.surfaces.fully_connected import FullyConnected
from equipoise.surfaces.in_range import InRange
from equipoise.surfaces.standardise import Standardise

Blueprint = dict[str, Any]


def describe(surface: nn.Module) -> Blueprint:
    """The blueprint of one of our surfaces."""
    if isinstance(surface, FullyConnected):
        return {"type": "fully_connected", **surface.spec}
    if isinstance(surface, InRange):
        ends = [end if isfinite(end) else None for end in (surface.heights.low, surface.heights.high)]
        return {"type": "in_range", "surface": describe(surface.surface), "interval": ends}
    if isinstance(surface, Standardise):
        return {"type": "standardise", "surface": describe(surface.surface), "features": surface.mean.numel()}
    message = (
        f"a {type(surface).__name__} cannot go into a model file, which holds no code: "
        "use one of eq.surfaces, or save surface.state_dict() yourself"
    )
    raise TypeError(message)


def build(blueprint: Blueprint) -> nn.Module:
    """The surface of a blueprint, with fresh weights."""
    kind = blueprint.get("type")
    if kind not in _BUILDERS:
        message = f"unknown surface {kind!r}; known are {', '.join(_BUILDERS)}"
        raise ValueError(message)
    return _BUILDERS[kind](blueprint)


def size(blueprint: Blueprint) -> int:
    """How many numbers the surface will hold, known before it is built: a file cannot ask for more than it brings."""
    kind = blueprint.get("type")
    if kind == "in_range":
        return size(blueprint["surface"])
    if kind == "standardise":
        return size(blueprint["surface"]) + 2 * _count(blueprint["features"])
    features, width, layers, outputs = (_count(blueprint[key]) for key in ("features", "width", "layers", "outputs"))
    return (features + 1) * width + (layers - 1) * (width + 1) * width + (width + 1) * outputs


def _count(value: Any) -> int:  # noqa: ANN401
    if not isinstance(value, int) or value < 1:
        message = f"a surface is counted in positive integers, got {value!r}"
        raise ValueError(message)
    return value


def _fully_connected(blueprint: Blueprint) -> nn.Module:
    return FullyConnected(**{key: value for key, value in blueprint.items() if key != "type"})


def _in_range(blueprint: Blueprint) -> nn.Module:
    low, high = blueprint["interval"]
    return InRange(build(blueprint["surface"]), Interval(-inf if low is None else low, inf if high is None else high))


def _standardise(blueprint: Blueprint) -> nn.Module:
    features = blueprint["features"]
    return Standardise(build(blueprint["surface"]), [0.0] * features, [1.0] * features)


_BUILDERS: dict[str, Callable[[Blueprint], nn.Module]] = {
    "fully_connected": _fully_connected,
    "in_range": _in_range,
    "standardise": _standardise,
}
