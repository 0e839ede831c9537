"""What mutual information has to say for itself: facts for machines, and the same facts in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from equipoise.cli import summary
from equipoise.cli.ratio_summary import valued

if TYPE_CHECKING:
    from equipoise.io.table import Table

Facts = dict[str, Any]

_SHOWN = 20


def of(model: Any, rows: Table, sides: dict[str, list[str | int]], files: dict[str, str]) -> Facts:  # noqa: ANN401
    """The facts of one information."""
    return {
        "rows": rows.shape[0],
        "dropped": rows.dropped,
        **{side: sides.get(side) for side in "xyz"},
        "value": model.value_,
        "se": model.se_,
        "interval": list(model.interval_),
        "candidates": [dict(row) for row in model.selection_],
        "warnings": list(model.warnings_),
        "files": files,
    }


def words(facts: Facts) -> str:
    """The facts as a few lines."""
    x, y, z = (", ".join(map(str, facts[side] or ())) for side in "xyz")
    value, interval = valued(facts)
    lines = [
        summary.candidates(facts["candidates"], "held-out score ± SE"),
        f"I({x}; {y}{f' | {z}' if z else ''}) = {value} nats, with 95 % {interval}",
    ]
    return "\n".join(lines + _ends(facts))


def of_pairs(found: Any, rows: Table, files: dict[str, str]) -> Facts:  # noqa: ANN401  # an InformationMatrix
    """The facts of every pair, the most informative first."""
    from equipoise.theory.divergence import Estimate

    pairs = [
        {"x": x, "y": y, "value": value, "se": se, "interval": list(Estimate(value, se).interval)}
        for x, y, value, se in found.strongest()
    ]
    return {
        "rows": rows.shape[0],
        "dropped": rows.dropped,
        "names": list(found.names),
        "pairs": pairs,
        "warnings": list(found.notes),
        "files": files,
    }


def pairs(facts: Facts) -> str:
    """The strongest pairs as a table."""
    shown = facts["pairs"][:_SHOWN]
    rows = [(f"{pair['x']} ~ {pair['y']}", *valued(pair)) for pair in shown]
    lines = [summary.table(("pair", "nats ± SE", "95 %"), rows)]
    if len(facts["pairs"]) > _SHOWN:
        lines.append(f"and {len(facts['pairs']) - _SHOWN:,} weaker pairs; --out writes them all")
    return "\n".join(lines + _ends(facts))


def columns(found: list[Facts]) -> dict[str, list[Any]]:
    """Every pair as a row of a table."""
    low, high = ([pair["interval"][end] for pair in found] for end in (0, 1))
    plain = {key: [pair[key] for pair in found] for key in ("x", "y", "value", "se")}
    return {**plain, "low": low, "high": high}


def _ends(facts: Facts) -> list[str]:
    notes = [f"note     {sentence}" for sentence in facts["warnings"]]
    return notes + [f"{word:9s}{path}" for word, path in facts["files"].items()]
