"""What rows that were not seen say of a ratio: where the samples overlap, and whether the ratio means what it says."""

from __future__ import annotations

from typing import Any

from equipoise.plots import style
from equipoise.plots.overlap import Compared, overlap
from equipoise.plots.reliability import reliability


def held_out(model: Compared) -> Any:  # noqa: ANN401  # an array of two axes
    """Draw both, side by side; returns the two axes."""
    both = style.panels(2, width=4.4, height=3.8)
    overlap(model, ax=both[0])
    reliability(model, ax=both[1])
    return both
