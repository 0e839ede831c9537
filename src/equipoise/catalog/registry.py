"""The registry of methods: the docs, the command line and the tests walk it, so an entry needs no second place.

A method is an :class:`Instance`; a family is a function that returns one and whose arguments all have defaults.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from typing import Any, overload

from equipoise.instance import Instance

Family = Callable[..., Instance]

_ENTRIES: dict[str, Instance | Family] = {}


class UnknownInstanceError(ValueError, KeyError):
    """A name that the catalogue does not have, with the nearest ones."""

    def __init__(self, name: str) -> None:
        near = get_close_matches(str(name).lower(), list(_ENTRIES), n=3, cutoff=0.4)
        hint = f"did you mean {', '.join(near)}?" if near else "catalog.names() lists them all"
        self.message = f"the catalogue has no {name!r}; {hint}"
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


@overload
def register(entry: Instance) -> Instance: ...
@overload
def register(entry: Family) -> Family: ...
def register(entry: Instance | Family) -> Instance | Family:
    """Enter a method or a family under its name; a family's members remember their parameters."""
    if isinstance(entry, Instance):
        _ENTRIES[entry.name] = entry
        return entry
    _ENTRIES[entry.__name__] = entry
    return entry


def entries() -> dict[str, Instance | Family]:
    """Methods and families by name, in the paper's order."""
    return {name: _ENTRIES[name] for name in sorted(_ENTRIES, key=_position)}


def names() -> list[str]:
    """All names, in the paper's order."""
    return list(entries())


def families() -> list[str]:
    """The names that take parameters."""
    return [name for name, entry in entries().items() if not isinstance(entry, Instance)]


def get(name: str | Instance, **parameters: Any) -> Instance:
    """A method by name; a family's member by its parameters (its defaults where none are given).

    Example:
        >>> get("pso_lde", alpha=0.2).label
        'pso_lde(alpha=0.2)'
    """
    if isinstance(name, Instance):
        if parameters:
            message = f"{name.label} is an instance already and takes no parameters, got {', '.join(parameters)}"
            raise TypeError(message)
        return name
    if not isinstance(name, str):
        message = f"expected an Instance or the name of a method, got a {type(name).__name__}"
        raise TypeError(message)
    if name not in _ENTRIES:
        raise UnknownInstanceError(name)
    entry = _ENTRIES[name]
    if isinstance(entry, Instance):
        if parameters:
            message = f"{name} takes no parameters, got {', '.join(parameters)}"
            raise TypeError(message)
        return entry
    known = inspect.signature(entry).parameters
    if unknown := set(parameters) - set(known):
        message = f"{name} takes {', '.join(known)}, got {', '.join(sorted(unknown))}"
        raise TypeError(message)
    return entry(**parameters)


def all() -> list[Instance]:  # noqa: A001  # the fixed public name
    """Every method, families at their defaults."""
    return [get(name) for name in names()]


def table(number: int) -> list[Instance]:
    """The rows of one of the paper's instance tables, 1 to 6."""
    rows = [instance for instance in all() if number in instance.tables]
    if not rows:
        message = f"the paper's instance tables are 1 to 6, got {number!r}"
        raise ValueError(message)
    return rows


def search(**wanted: Any) -> list[Instance]:
    """Methods whose attributes have these values; ``estimand`` and ``pairing`` go by name, ``tables`` by one of them.

    Example:
        >>> [instance.name for instance in search(estimand="log_ratio", bounded=True)]
        ['logistic']
    """
    return [instance for instance in all() if _matches(instance, wanted)]


def _matches(instance: Instance, wanted: dict[str, Any]) -> bool:
    for key, value in wanted.items():
        if not hasattr(type(instance), key) and key not in instance.__dict__:
            message = f"an instance has no attribute {key!r} to search by; try estimand, bounded, has_loss, range, sign"
            raise TypeError(message)
        found = getattr(instance, key)
        if isinstance(found, tuple) and not isinstance(value, tuple):
            if value not in found:
                return False
        elif getattr(found, "name", found) != value:
            return False
    return True


@cache
def _position(name: str) -> tuple[int, int]:
    """Table and line of the paper where a method stands; those that no table lists come last."""
    reference = get(name).reference
    line = re.search(r"\d{3,}", reference.place)
    return min(reference.tables, default=7), int(line.group()) if line else 0
