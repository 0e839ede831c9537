"""A surface as data and back: what a model file needs to build it again without running anyone's code.

    describe(surface) → JSON,   size(JSON) → how many numbers it holds,   build(JSON) → surface with fresh weights

A class joins by saying its name and its fields, and how many numbers it holds. Nothing else needs to change:

    @saved_as("block_diagonal", features=COUNT, blocks=COUNT, width=COUNT, layers=DEPTH,
              residual=FLAG, activation=one_of(ACTIVATIONS), slope=NUMBER, gain=NUMBER)
    class BlockDiagonal(nn.Module):
        def __init__(self, features, blocks, ...):
            self.spec = {"features": features, "blocks": blocks, ...}  # every field, as the constructor takes it

        @staticmethod
        def numbers(*, features: int, blocks: int, width: int, layers: int, **_: object) -> int:
            return ...  # of all parameters and buffers in its state_dict; surfaces inside count themselves

``spec`` may be a property. Where the constructor takes something else than the fields, a classmethod
``blank(**fields)`` makes the surface instead, with any numbers, for ``load_state_dict`` to fill.

A blueprint may come from anywhere: every field is checked, and ``size`` builds nothing, so that a file that holds fewer
numbers than its blueprint asks for can be turned away before anything is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from torch import nn

from equipoise.surfaces.field import Field, short

Blueprint = dict[str, Any]
Class = TypeVar("Class", bound=type[nn.Module])

MOST_NESTED, MOST_PARTS = 16, 256


@dataclass(frozen=True)
class Kind:
    """A class of surfaces as blueprints know it."""

    name: str
    numbers: Callable[..., int]
    make: Callable[..., nn.Module]
    fields: dict[str, Field]


_KINDS: dict[str, Kind] = {}
_NAMES: dict[type[nn.Module], str] = {}


def saved_as(name: str, **fields: Field) -> Callable[[Class], Class]:
    """Let a class of surfaces go into model files.

    Arguments:
        name: What the file calls it; no two classes share one.
        **fields: The class's ``spec``, one field a key.
    """

    def register(surface: Class) -> Class:
        if name in _KINDS:
            message = f"two surfaces are called {name!r}"
            raise ValueError(message)
        make = getattr(surface, "blank", surface)
        _KINDS[name] = Kind(name, surface.numbers, make, fields)  # type: ignore[attr-defined]  # see the module
        _NAMES[surface] = name
        return surface

    return register


def known() -> tuple[str, ...]:
    """The names of all surfaces that a model file can hold."""
    return tuple(_KINDS)


def describe(surface: nn.Module) -> Blueprint:
    """The blueprint of one of our surfaces."""
    if type(surface) not in _NAMES:
        message = (
            f"a {type(surface).__name__} cannot go into a model file, which holds no code: "
            "use one of eq.surfaces, or save surface.state_dict() yourself"
        )
        raise TypeError(message)
    kind = _KINDS[_NAMES[type(surface)]]
    spec: Any = surface.spec
    return {"type": kind.name, **{key: field.write(spec[key]) for key, field in kind.fields.items()}}


def size(blueprint: Blueprint) -> int:
    """How many numbers the surface will hold, known before it is built: a file cannot ask for more than it brings."""
    _check_nesting(blueprint)
    return _size(blueprint)


def build(blueprint: Blueprint) -> nn.Module:
    """The surface of a blueprint, with fresh weights."""
    _check_nesting(blueprint)
    return _build(blueprint)


def _size(blueprint: Any) -> int:  # noqa: ANN401  # from a file
    kind = _kind(blueprint)
    within = sum(field.numbers(blueprint[key]) for key, field in kind.fields.items())
    plain = {key: field.read(blueprint[key]) for key, field in kind.fields.items() if not field.nested}
    return within + kind.numbers(**plain)


def _build(blueprint: Any) -> nn.Module:  # noqa: ANN401
    kind = _kind(blueprint)
    return kind.make(**{key: field.read(blueprint[key]) for key, field in kind.fields.items()})


def _kind(blueprint: Any) -> Kind:  # noqa: ANN401
    """The class that a blueprint names, its fields all there and no others."""
    if not isinstance(blueprint, dict):
        message = f"a surface's blueprint must be a mapping, got {type(blueprint).__name__}"
        raise TypeError(message)
    name = blueprint.get("type")
    if not isinstance(name, str) or name not in _KINDS:
        message = f"unknown surface {short(name)}; known are {', '.join(_KINDS)}"
        raise ValueError(message)
    expected = {"type", *_KINDS[name].fields}
    if blueprint.keys() != expected:
        missing, unknown = sorted(expected - blueprint.keys()), sorted(map(short, blueprint.keys() - expected))
        message = (
            f"the blueprint of a {name} lacks {missing}, and has unknown fields {', '.join(unknown[:5]) or 'none'}"
        )
        raise ValueError(message)
    return _KINDS[name]


def _check_nesting(blueprint: Any) -> None:  # noqa: ANN401
    """Refuse a blueprint that no one would write by hand, before walking it by recursion."""
    level: list[Any] = [blueprint]
    for _ in range(2 * MOST_NESTED):  # a list of parts is a level of its own
        level = [inner for outer in level if isinstance(outer, dict | list) for inner in _inside(outer)]
        if not level:
            return
    message = f"a surface inside more than {MOST_NESTED} others"
    raise ValueError(message)


def _inside(outer: dict[Any, Any] | list[Any]) -> Iterable[Any]:
    return outer.values() if isinstance(outer, dict) else outer


def _parts(value: Any) -> list[Any]:  # noqa: ANN401
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_PARTS:
        message = f"parts must be a list of 1 to {MOST_PARTS} surfaces"
        raise ValueError(message)
    return value


PART = Field(read=_build, write=describe, numbers=_size, nested=True)
PARTS = Field(
    read=lambda value: [_build(part) for part in _parts(value)],
    write=lambda parts: [describe(part) for part in parts],
    numbers=lambda value: sum(_size(part) for part in _parts(value)),
    nested=True,
)
