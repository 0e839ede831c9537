"""What a fit has to say for itself: facts for machines, and the same facts in words."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equipoise.io.table import Table

Facts = dict[str, Any]


def of(model: Any, rows: Table, fresh: Table | None, files: dict[str, str]) -> Facts:  # noqa: ANN401
    """The facts of a fit."""
    history = getattr(model, "history_", None)
    steps = list(getattr(history, "step", ()))
    return {
        "rows": rows.shape[0],
        "columns": rows.shape[1],
        "names": list(rows.names),
        "dropped": rows.dropped,
        "instance": model.instance_.label,
        "candidates": [dict(row) for row in model.selection_],
        "surface": model.surface_ is not None,
        "log_normalizer": model.log_normalizer_,
        "log_normalizer_se": model.log_normalizer_se_,
        "steps": steps[-1] + 1 if steps else 0,
        "untouched": None if fresh is None else measured(model, fresh),
        "warnings": [str(words) for words in getattr(model, "warnings_", None) or ()],
        "files": files,
    }


def measured(model: Any, fresh: Table) -> Facts:  # noqa: ANN401
    """Scores on untouched rows, the base's beside the model's."""
    from equipoise.report.findings import score

    scores = score(model, fresh.values)
    return {
        "rows": scores.n,
        "impossible": scores.impossible,
        "score": scores.mean,
        "se": scores.se,
        "base": scores.base,
        "base_se": scores.base_se,
        "gain": scores.gain,
        "gain_se": scores.gain_se,
    }


def words(facts: Facts) -> str:
    """The facts as a few lines."""
    from equipoise.report.words import plus_minus

    lines = [candidates(facts["candidates"])]
    if facts["surface"]:
        lines.append(f"log Z    {plus_minus(facts['log_normalizer'], facts['log_normalizer_se'])}")
    else:
        lines.append("the base alone was kept: no surface earned weight on held-out rows")
    lines += _untouched(facts["untouched"])
    lines += [f"note     {sentence}" for sentence in facts["warnings"]]
    lines += [f"{word:9s}{path}" for word, path in facts["files"].items()]
    return "\n".join(lines)


def _untouched(facts: Facts | None) -> list[str]:
    from equipoise.report.words import plus_minus

    if facts is None:
        return []
    lines = [f"measured on {facts['rows']:,} untouched rows: {plus_minus(facts['score'], facts['se'])} nats a row"]
    if facts["gain_se"] > 0.0:
        lines[0] += f", {plus_minus(facts['gain'], facts['gain_se'])} above its base"
    if facts["impossible"]:
        lines.append(f"{facts['impossible']:,} of them have log p = −∞ and are left out of these means")
    return lines


def candidates(selection: list[Facts], score: str = "held-out log p ± SE") -> str:
    """Everything that was tried, the best first."""
    from equipoise.report.words import plus_minus

    rows = [
        (row["name"], plus_minus(row["score"], row["se"]), f"{row['weight']:.3g}" if row["weight"] > 0.0 else "")
        for row in sorted(selection, key=lambda row: -row["score"])
    ]
    return table(("candidate", score, "weight"), rows)


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Columns of words, the first to the left and the others, numbers, to the right."""
    from rich.console import Console
    from rich.table import Table as View
    from rich.text import Text

    view = View(box=None, pad_edge=False)
    for i, heading in enumerate(headings):
        view.add_column(heading, justify="right" if i else "left")
    for row in rows:
        view.add_row(*map(Text, row))  # taken literally: a name may have square brackets
    text = StringIO()
    Console(file=text, width=120).print(view)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())
