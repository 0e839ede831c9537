"""What a fitted ratio has to say for itself: facts for machines, and the same facts in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from equipoise.cli import summary

if TYPE_CHECKING:
    from equipoise.io.table import Table

Facts = dict[str, Any]

_SAID = {"kl": "KL(num‖den)", "reverse_kl": "KL(den‖num)", "js": "JS"}


def of(model: Any, tables: tuple[Table, Table], notes: list[str], files: dict[str, str]) -> Facts:  # noqa: ANN401
    """The facts of a fit."""
    num, den = ({"rows": table.shape[0], "dropped": table.dropped} for table in tables)
    divergences = {kind: model.divergence(kind) for kind in _SAID}
    return {
        "num": num,
        "den": den,
        "columns": tables[0].shape[1],
        "names": list(tables[0].names),
        "instance": model.instance_.label,
        "candidates": [dict(row) for row in model.selection_],
        "score": model.score_,
        "score_se": model.score_se_,
        "divergences": {kind: _of_divergence(found) for kind, found in divergences.items()},
        "effective_sample_size": model.effective_sample_size_,
        "bridged": model.bridged_,
        "checks": model.checks_,
        "warnings": [*notes, *model.warnings_],
        "files": files,
    }


def words(facts: Facts) -> str:
    """The facts as a few lines."""
    from equipoise.report.words import plus_minus

    rows = facts["den"]["rows"]
    lines = [
        summary.candidates(facts["candidates"], "held-out score ± SE"),
        f"score    {plus_minus(facts['score'], facts['score_se'])} on rows not seen; knowing nothing scores −0.6931",
        *_divergences(facts["divergences"]),
        f"rows     {facts['effective_sample_size']:,.1f} of {rows:,} of the denominator carry its weight "
        "(effective sample size)",
        *(f"note     {sentence}" for sentence in facts["warnings"]),
        *(f"{word:9s}{path}" for word, path in facts["files"].items()),
    ]
    return "\n".join(lines)


def _divergences(found: Facts) -> list[str]:
    """Each with its error and interval; what holds of all of them once, and of one beside it."""
    rows = [(_SAID[kind], *valued(facts)) for kind, facts in found.items()]
    bounds, means = (
        [_SAID[kind] for kind, facts in found.items() if facts["is_bound"] == is_bound] for is_bound in (True, False)
    )
    return [
        summary.table(("nats", "value ± SE", "95 %"), rows),
        *([f"Lower bounds in the mean, exact where the ratio is: {', '.join(bounds)}."] if bounds else []),
        *([f"Mean log ratios over rows of one side, and no bounds: {', '.join(means)}."] if means else []),
    ]


def valued(facts: Facts) -> tuple[str, str]:
    """A value with its standard error, and its interval."""
    from equipoise.report.words import decimals, number, plus_minus

    low, high = (number(end, decimals(facts["se"])) for end in facts["interval"])
    return plus_minus(facts["value"], facts["se"]), f"{low} to {high}"


def _of_divergence(found: Any) -> Facts:  # noqa: ANN401
    return {
        "value": found.value,
        "se": found.se,
        "interval": list(found.interval),
        "is_bound": found.is_bound,
        "words": found.words,
    }
