"""The page on a two-sample test: verdict, questions, columns, and pictures of both samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.estimators.two_sample_report import probability
from equipoise.plots import drift as pictures
from equipoise.plots.bins import Array
from equipoise.report.document import cautions, document, header
from equipoise.report.markup import Html, figure, paragraph, table, tag, together
from equipoise.report.pictures import drawn
from equipoise.report.words import general, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from equipoise.estimators.two_sample_test import TwoSampleTest

_COLUMNS_SHOWN, _PANELS = 40, 12


def page(test: TwoSampleTest, title: str | None = None, names: tuple[str, str] = ("X", "Y")) -> str:
    """The document."""
    report, heading = test.report_, title or "Two samples"
    facts = report.facts
    parts = [
        header(heading, f"{report.verdict} {report.columns_said} {report.pair_said}", _facts(facts)),
        cautions(facts["warnings"]),
        _questions(test, facts),
        _columns(facts),
        _each_column(test, names),
        _pair(test),
        _witness(test, facts),
    ]
    return document(heading, parts)


def _facts(facts: dict[str, Any]) -> list[tuple[str, str, str]]:
    rejected = "the samples differ" if facts["rejected"] else "no difference was found"
    return [
        ("p-value", probability(facts["pvalue"]), f"at level {facts['level']:g} {rejected}"),
        ("rows of X and of Y", f"{facts['rows_x']:,}, {facts['rows_y']:,}", f"{len(facts['columns']):,} columns"),
        ("labellings", f"{facts['permutations']:,}", "at random, beside the true one"),
    ]


def _questions(test: TwoSampleTest, facts: dict[str, Any]) -> Html:
    weight = sum(question["weight"] for question in facts["questions"])
    words = (
        "Every statistic is computed under the true labels and under random ones; its p-value is the share of "
        "labellings under which it is at least as large. The answer is the smallest p-value over the questions, "
        "each with its weight, compared with the smallest under every labelling, so that asking several is no cheating."
    )
    asked = [
        (q["name"], probability(q["pvalue"]), f"{number(100.0 * q['weight'] / weight, 0)} %", q["strongest"])
        for q in facts["questions"]
    ]
    every = [(s["name"], s["question"], general(s["value"]), probability(s["pvalue"])) for s in test.selection_]
    return together(
        [
            tag("h2", "What was asked"),
            paragraph(words),
            table(("question", "p", "weight", "strongest statistic"), asked, (1, 2)),
            table(("statistic", "question", "value", "p by itself"), every, (2, 3)),
        ]
    )


def _columns(facts: dict[str, Any]) -> Html:
    rows = [
        (
            c["name"],
            general(c["median_x"]),
            general(c["median_y"]),
            general(c["spread_x"]),
            general(c["spread_y"]),
            number(c["distance"], 3),
            probability(c["pvalue_alone"]),
            probability(c["pvalue_given_others"]),
        )
        for c in facts["columns"][:_COLUMNS_SHOWN]
    ]
    level = facts["level"]
    quiet = [
        i
        for i, c in enumerate(facts["columns"][:_COLUMNS_SHOWN])
        if c["pvalue_alone"] > level and (c["pvalue_given_others"] is None or c["pvalue_given_others"] > level)
    ]
    words = (
        "Alone: whether the column's own distribution differs. Given the others: whether it differs beyond what the "
        "other columns explain, so that a column which only follows another is not blamed for it. Both p-values are "
        "adjusted for looking at every column. Distance is the largest gap between the two distribution functions, "
        "spread the distance between the quartiles."
    )
    heads = ("column", "median X", "median Y", "spread X", "spread Y", "distance", "p alone", "p given the others")
    more = len(facts["columns"]) - len(rows)
    return together(
        [
            tag("h2", "Which columns differ"),
            paragraph(words),
            table(heads, rows, range(1, 8), quiet),
            paragraph(f"And {more:,} more.") if more else Html(),
        ]
    )


def _each_column(test: TwoSampleTest, names: tuple[str, str]) -> Html:
    x, y = test.rows_
    shown = test.drift_[:_PANELS]
    more = f" Shown are the {len(shown)} that differ most." if len(test.drift_) > len(shown) else ""
    panels = [
        figure(drawn(_panel(x[:, c.position], y[:, c.position], c.name), f"Column {k} of both samples: {c.name}"))
        for k, c in enumerate(shown)
    ]
    return together(
        [
            tag("h2", "Columns of both samples"),
            paragraph(f"Each column by itself.{more}"),
            _key(test, names),
            tag("div", *panels, class_="figures"),
        ]
    )


def _panel(x: Array, y: Array, name: str) -> Callable[[Axes], None]:
    return lambda ax: pictures.draw_column(ax, x, y, name)


def _pair(test: TwoSampleTest) -> Html:
    """The two columns whose dependence differs most."""
    pair = test.pair_
    if pair is None:
        return Html()
    x, y = (rows[:, list(pair.positions)] for rows in test.rows_)
    name = f"Rows of both samples: {pair.names[0]} and {pair.names[1]}"
    picture = drawn(lambda ax: pictures.draw_pair(ax, x, y, pair.names), name, width=4.3, height=4.0)
    words = (
        "Of all pairs, the two columns whose dependence differs most between the samples "
        f"(p = {probability(pair.pvalue)}, adjusted for looking at every pair). As many rows of either are shown."
    )
    return together([tag("h2", "A pair of columns"), paragraph(words), tag("div", figure(picture), class_="single")])


def _witness(test: TwoSampleTest, facts: dict[str, Any]) -> Html:
    heights = [test.witness(rows) for rows in test.rows_]
    words = (
        f"The witness of the strongest statistic ({facts['strongest']}): positive where rows of X are denser, negative "
        "where rows of Y are. The rows shown are those compared, which flatters the difference a little."
    )
    if np.ptp(np.concatenate(heights)) == 0.0:
        return Html()
    name = "The witness at rows of both samples"
    picture = drawn(_panel(heights[0], heights[1], "witness"), name, width=4.3, height=2.6)
    return together([tag("h2", "Where they differ"), paragraph(words), tag("div", figure(picture), class_="single")])


def _key(test: TwoSampleTest, names: tuple[str, str]) -> Html:
    entries = []
    for letter, name, rows, colour in zip("XY", names, test.rows_, ("var(--model)", "var(--other)"), strict=True):
        called = letter if name == letter else f"{letter}, {name}"
        box = tag("i", class_="box", style=f"background: {colour}; opacity: 0.6")
        entries.append(tag("span", box, f"{called}, {len(rows):,} rows"))
    return paragraph(*entries, class_="key")
