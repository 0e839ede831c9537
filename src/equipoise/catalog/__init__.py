"""Every method of the paper, one literal each, and the look-ups over them.

    catalog.nce                             a method
    catalog.pso_lde(0.25)                   a member of a family
    catalog.get("pso_lde", alpha=0.2)       the same by name
    catalog.all(), catalog.table(3), catalog.search(estimand="log_ratio", bounded=True)

The literature they cite is in :mod:`equipoise.catalog.bibliography`.
"""

from __future__ import annotations

from typing import Any

from equipoise.catalog import bibliography, by_name, classification, conditional, critic, density, log_pdf, ratio
from equipoise.catalog.registry import (
    UnknownInstanceError,
    all,  # noqa: A004  # the fixed public name
    entries,
    families,
    get,
    names,
    search,
    table,
)

__all__ = [
    "UnknownInstanceError",
    "all",
    "bibliography",
    "by_name",
    "classification",
    "conditional",
    "critic",
    "density",
    "entries",
    "families",
    "get",
    "log_pdf",
    "names",
    "ratio",
    "search",
    "table",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # a method or a family
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return entries()[name]
    except KeyError:
        raise AttributeError(str(UnknownInstanceError(name))) from None


def __dir__() -> list[str]:
    return sorted([*__all__, *names()])
