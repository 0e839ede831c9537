"""What a two-sample test has to say: facts for machines, and the same facts in words.

print(test.report_)      test.report_.facts, ready for JSON
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from equipoise.discrepancy.relabelling import p_value

_SHOWN = 20


@dataclass(frozen=True)
class DriftReport:
    """A test's findings.

    Arguments:
        facts: Everything, as numbers, words, lists and dictionaries.
    """

    facts: dict[str, Any]

    @classmethod
    def of(cls, test: Any) -> DriftReport:  # noqa: ANN401  # a fitted TwoSampleTest
        """Gather the facts."""
        names = [str(name) for name in getattr(test, "feature_names_in_", range(test.n_features_in_))]
        questions = [
            {
                "name": answer.family.name,
                "weight": answer.family.weight,
                "pvalue": p_value(answer.score),
                "strongest": answer.strongest.called(names),
            }
            for answer in test.answers_
        ]
        columns = [
            {
                "name": column.name,
                "median_x": column.medians[0],
                "median_y": column.medians[1],
                "spread_x": column.spreads[0],
                "spread_y": column.spreads[1],
                "distance": column.distance,
                "pvalue_alone": column.alone,
                "pvalue_given_others": column.given_others,
            }
            for column in test.drift_
        ]
        pair = test.pair_
        return cls(
            {
                "pvalue": test.pvalue_,
                "rejected": test.rejected_,
                "level": test.level,
                "statistic": test.statistic_,
                "strongest": test.strongest_,
                "permutations": test.permutations_,
                "rows_x": test.n_samples_[0],
                "rows_y": test.n_samples_[1],
                "questions": questions,
                "columns": columns,
                "pair": None if pair is None else {"names": list(pair.names), "pvalue": pair.pvalue},
                "warnings": list(test.warnings_),
            }
        )

    @property
    def verdict(self) -> str:
        """The answer in a sentence."""
        facts = self.facts
        p = f"p = {probability(facts['pvalue'])}"
        if facts["rejected"]:
            return f"The two samples differ ({p}, level {facts['level']:g})."
        return f"No difference was found ({p}, level {facts['level']:g}); that is no proof that there is none."

    @property
    def columns_said(self) -> str:
        """Which columns differ, in a sentence."""
        level, columns = self.facts["level"], self.facts["columns"]
        alone = [c["name"] for c in columns if c["pvalue_alone"] <= level]
        given = [
            c["name"] for c in columns if c["pvalue_given_others"] is not None and c["pvalue_given_others"] <= level
        ]
        said = f"Alone, {_listed(alone)}."
        if all(c["pvalue_given_others"] is None for c in columns):
            return said
        return f"{said} Given the others, {_listed(given)}."

    @property
    def pair_said(self) -> str:
        """Which two columns depend on each other differently, in a sentence; nothing where none do."""
        pair = self.facts["pair"]
        if pair is None or pair["pvalue"] > self.facts["level"]:
            return ""
        names = " and ".join(pair["names"])
        return f"Of pairs, {names} differ most in how they depend on each other (p = {probability(pair['pvalue'])})."

    def __str__(self) -> str:
        facts = self.facts
        lines = [self.verdict, f"Strongest: {facts['strongest']}.", "", _questions(facts["questions"]), ""]
        lines += [_columns(facts["columns"]), self.columns_said]
        lines += [self.pair_said] if self.pair_said else []
        lines += [f"note     {sentence}" for sentence in facts["warnings"]]
        return "\n".join(lines)


def probability(p: float | None) -> str:
    """A p-value with two figures."""
    if p is None:
        return "not asked"
    return f"{p:.2f}" if p >= 0.1 else f"{p:.2g}"


def _listed(names: list[str]) -> str:
    if not names:
        return "no column differs"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"{', '.join(names[:8])}{more} {'differ' if len(names) > 1 else 'differs'}"


def _questions(questions: list[dict[str, Any]]) -> str:
    rows = [(q["name"], probability(q["pvalue"]), f"{q['weight']:g}", q["strongest"]) for q in questions]
    return _view(("question", "p", "weight", "strongest statistic"), rows, {1, 2})


def _columns(columns: list[dict[str, Any]]) -> str:
    rows = [
        (
            c["name"],
            f"{c['median_x']:.4g}",
            f"{c['median_y']:.4g}",
            f"{c['distance']:.3f}",
            probability(c["pvalue_alone"]),
            probability(c["pvalue_given_others"]),
        )
        for c in columns[:_SHOWN]
    ]
    more = f"\n… and {len(columns) - _SHOWN} more columns" if len(columns) > _SHOWN else ""
    heads = ("column", "median X", "median Y", "distance", "p alone", "p given the others")
    return _view(heads, rows, {1, 2, 3, 4, 5}) + more


def _view(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: set[int]) -> str:
    from rich.console import Console
    from rich.table import Table as View
    from rich.text import Text

    view = View(box=None, pad_edge=False)
    for i, head in enumerate(heads):
        view.add_column(head, justify="right" if i in right else "left")
    for row in rows:
        view.add_row(*(Text(cell) for cell in row))  # names from data are no markup
    text = StringIO()
    Console(file=text, width=120).print(view)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())
