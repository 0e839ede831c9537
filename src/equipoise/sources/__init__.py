"""Where rows come from: tables, known densities, mixtures of sources, labelled tables, and pairs of them."""

from __future__ import annotations

from equipoise.sources.known import Known
from equipoise.sources.labelled import Labelled
from equipoise.sources.mixture import Mixture
from equipoise.sources.pair import Pair
from equipoise.sources.rows import Rows
from equipoise.sources.source import Source, as_source

__all__ = ["Known", "Labelled", "Mixture", "Pair", "Rows", "Source", "as_source"]
