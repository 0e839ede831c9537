"""The sections of numbers: what was read, what was tried and chosen, how good it is, and the normaliser."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from equipoise.io.table import Table
from equipoise.report.findings import Findings
from equipoise.report.markup import Html, paragraph, table, tag, together
from equipoise.report.words import general, number, plus_minus

_COLUMNS_SHOWN = 30
_RIGHT = (1, 2, 3, 4, 5)


def read(found: Findings) -> Html:
    """What was read: rows, columns and types, and each column's range."""
    said = [(words, t) for words, t in (("Rows given", found.given), ("Untouched rows", found.test)) if t is not None]
    rows = getattr(found.model, "n_samples_", None)
    lines = [paragraph(f"The model was fitted to {rows:,} rows.")] if rows is not None else []
    lines += [paragraph(tag("b", f"{words}: "), f"{t.said}.") for words, t in said]
    shown = found.test if found.given is None else found.given
    if shown is None:
        lines.append(
            paragraph("No rows were given, so nothing here is compared with data; the model is shown by itself.")
        )
    else:
        lines.append(_columns(found, shown))
    return together([tag("h2", "What was read"), *lines])


def _columns(found: Findings, shown: Table) -> Html:
    names = shown.names or tuple(marginal_names(found))
    values = shown.values[:, :_COLUMNS_SHOWN]
    low, middle, high = np.quantile(values, [0.0, 0.5, 1.0], axis=0)
    types = shown.types or ("",) * len(names)
    rows = [
        (names[i], general(low[i]), general(middle[i]), general(high[i]), f"{len(np.unique(values[:, i])):,}", types[i])
        for i in range(values.shape[1])
    ]
    more = len(names) - len(rows)
    heads = ("column", "least", "median", "most", "distinct", "type")
    return together([table(heads, rows, (1, 2, 3, 4)), paragraph(f"And {more:,} more.") if more else Html()])


def marginal_names(found: Findings) -> list[str]:
    """The columns' names, whole, in the model's order."""
    names = getattr(found.model, "feature_names_in_", None)
    return [f"column {i}" for i in range(found.model.n_features_in_)] if names is None else [str(n) for n in names]


def tried(found: Findings) -> Html:
    """Every candidate with its held-out score and its weight, the best first."""
    selection = sorted(getattr(found.model, "selection_", None) or [], key=lambda row: -row["score"])
    if not selection:
        return Html()
    scale = _scale(selection)
    rows = [
        (row["name"], plus_minus(row["score"], row["se"]), _whisker(row, scale), _weight(row["weight"]))
        for row in selection
    ]
    faint = [i for i, row in enumerate(selection) if not row["weight"] > 0.0]
    return together(
        [
            tag("h2", "What was tried, and what was chosen"),
            tag("span", "chosen on these rows", class_="mark"),
            paragraph(
                "Mean log p of held-out rows, in nats a row; higher is better. What has no weight was not kept. "
                "Rows that choose among candidates flatter the best of them a little."
            ),
            table(("candidate", "held-out log p ± SE", "", "weight"), rows, (1, 3), faint),
        ]
    )


def chosen(found: Findings) -> str:
    """What the model is made of, in a sentence."""
    kept = [row for row in getattr(found.model, "selection_", None) or [] if row["weight"] > 0.0]
    if getattr(found.model, "surface_", None) is None:
        what = "a base" if len(kept) < 2 else f"a mixture of {len(kept)} bases"
        return f"No surface earned weight over the bases: what is returned is {what}."
    if len(kept) == 1:
        return f"One candidate was kept: {kept[0]['name']}."
    return f"The model is a mixture of {len(kept)} candidates, with the weights below."


def _weight(weight: float) -> str:
    return number(weight, 2 if 0.005 <= weight < 0.995 else 0 if weight in (0.0, 1.0) else 3) if weight > 0.0 else "–"


def _scale(selection: list[dict[str, Any]]) -> tuple[float, float]:
    """Ends of the axis for the whiskers; candidates far behind are left at its foot."""
    ends = [
        (r["score"] - r["se"], r["score"] + r["se"]) for r in selection if isfinite(r["score"]) and isfinite(r["se"])
    ]
    if not ends:
        return 0.0, 1.0
    high = max(end for _, end in ends)
    behind = sorted(high - low for low, _ in ends)
    return high - min(behind[-1], 4.0 * behind[len(behind) // 2]) or high - 1.0, high


def _whisker(row: dict[str, Any], scale: tuple[float, float]) -> Html:
    """The score as a dot and its standard error as a line."""
    low, high = scale
    if not isfinite(row["score"]):
        return Html()
    at = [
        4.0 + 112.0 * (v - low) / max(high - low, 1e-300)
        for v in (row["score"] - row["se"], row["score"], row["score"] + row["se"])
    ]
    colour = "var(--model)" if row["weight"] > 0.0 else "var(--faint)"
    if at[1] < 0.0:
        return tag(
            "svg", tag("text", "‹", x=0, y=12, fill=colour), class_="whisker", viewBox="0 0 120 16", aria_hidden="true"
        )
    line = tag("line", x1=f"{max(at[0], 0.0):.1f}", x2=f"{at[2]:.1f}", y1=8, y2=8, stroke=colour, stroke_width="1.6")
    dot = tag("circle", cx=f"{at[1]:.1f}", cy=8, r=3.6, fill=colour)
    return tag("svg", line, dot, class_="whisker", viewBox="0 0 120 16", aria_hidden="true")


def good(found: Findings) -> Html:
    """The model beside its base: on untouched rows where there are any."""
    head = tag("h2", "How good it is")
    scores = found.scores
    if scores is None:
        words = (
            "No untouched rows were given, so the only scores are those that chose the model, above. "
            "To measure it, score rows that were kept away from the fit: the test table of this report."
        )
        return together([head, tag("span", "chosen on the held-out rows", class_="mark"), paragraph(words)])
    rows = [("the model", plus_minus(scores.mean, scores.se), plus_minus(scores.gain, scores.gain_se))]
    rows += [("its base, nothing pushed", plus_minus(scores.base, scores.base_se), "")]
    if scores.gain_se == 0.0 and scores.gain == 0.0:
        rows = [("the model, which is its base", plus_minus(scores.mean, scores.se), "")]
    return together(
        [
            head,
            tag("span", f"measured on {scores.n:,} untouched rows", class_="mark good"),
            paragraph(
                "Mean log p in nats a row; the difference is taken row by row, which makes it surer than either."
            ),
            table(("density", "log p ± SE", "above its base ± SE"), rows, (1, 2)),
            paragraph(f"{scores.impossible:,} of {scores.n:,} rows have log p = −∞ under the model."),
        ]
    )


def normaliser(found: Findings) -> Html:
    """Log Z, its standard error, the effective sample size, and the check on fresh rows."""
    model, check = found.model, found.check
    head = tag("h2", "The normaliser")
    log_z, se = getattr(model, "log_normalizer_", None), getattr(model, "log_normalizer_se_", None)
    if check is None or log_z is None:
        return together(
            [
                head,
                paragraph("The model is made of bases, whose densities integrate to one by their formulas: log Z = 0."),
            ]
        )
    rows = [("log Z", plus_minus(log_z, se) if se else number(log_z))]
    own = getattr(model, "log_normalizer_ess_", None)
    if own is not None:
        rows.append(("effective sample size of its estimate", number(own, 0)))
    rows.append((f"effective sample size of {check.n:,} fresh rows of the base", number(check.ess, 0)))
    rows.append(("mean of p / base over them, which should be 1", plus_minus(check.mean, check.se)))
    words = "Scores are normalised: log p = log base + log R(u) − log Z. Z is estimated by weighing rows of the base."
    return together([head, paragraph(words), table(("what", "value"), rows, (1,))])
