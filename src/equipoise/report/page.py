"""A density's page: summary, warnings and sections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from equipoise.io.table import counted
from equipoise.report import figures, numbers
from equipoise.report.cautions import cautions_of
from equipoise.report.document import cautions, document, header
from equipoise.report.findings import Findings
from equipoise.report.words import number, plus_minus

_NAMES_SHOWN = 6


def page(found: Findings, title: str | None = None) -> str:
    """The document."""
    heading = title or _title(found)
    parts = [
        header(heading, f"{_method(found.model)} {numbers.chosen(found)}", _facts(found)),
        cautions(cautions_of(found)),
        numbers.read(found),
        numbers.tried(found),
        numbers.good(found),
        numbers.normaliser(found),
        figures.training(found),
        figures.marginals(found),
        figures.pairs(found),
        figures.calibration(found),
    ]
    return document(heading, parts)


def _title(found: Findings) -> str:
    names = getattr(found.model, "feature_names_in_", None)
    if names is None:
        return f"A density of {counted(found.model.n_features_in_, 'column')}"
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return f"The density of {', '.join(str(name) for name in names[:_NAMES_SHOWN])}{more}"


def _method(model: Any) -> str:  # noqa: ANN401
    pushed = getattr(model, "surface_", None) is not None
    return f"A surface pushed by {model.instance_.label} until its forces balance." if pushed else ""


def _facts(found: Findings) -> Iterable[tuple[str, str, str]]:
    """The few numbers that most readers come for."""
    model, scores = found.model, found.scores
    if scores is not None:
        yield "log p of untouched rows", plus_minus(scores.mean, scores.se), f"nats a row, {scores.n:,} rows"
        if scores.gain != 0.0:
            yield "above its base", plus_minus(scores.gain, scores.gain_se), "nats a row, on the same rows"
    else:
        best = [row for row in getattr(model, "selection_", None) or [] if row["weight"] > 0.0]
        if best:
            top = max(best, key=lambda row: row["weight"])
            yield "held-out log p", plus_minus(top["score"], top["se"]), "nats a row, chosen on these rows"
    if found.check is not None:
        yield "log Z", plus_minus(model.log_normalizer_, model.log_normalizer_se_), "of the surface over its base"
    if found.calibration is not None:
        share = f"{number(100.0 * (1.0 - found.calibration.astray), 0)} %"
        yield "calibrated quantiles", share, "of log p inside their band"
