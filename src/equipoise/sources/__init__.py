"""Where rows come from: tables, known densities, mixtures, shuffled and conditional rows, labels; and pairs of them."""

from __future__ import annotations

from equipoise.sources.conditional import Conditional
from equipoise.sources.generated import Generated
from equipoise.sources.known import Known
from equipoise.sources.labelled import Labelled
from equipoise.sources.mixture import Mixture
from equipoise.sources.noisy import Noisy
from equipoise.sources.pair import Pair
from equipoise.sources.rows import Rows
from equipoise.sources.shuffled import Shuffled
from equipoise.sources.source import Source, as_source

__all__ = [
    "Conditional",
    "Generated",
    "Known",
    "Labelled",
    "Mixture",
    "Noisy",
    "Pair",
    "Rows",
    "Shuffled",
    "Source",
    "as_source",
]
