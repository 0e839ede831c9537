"""Pictures: pure functions from results to matplotlib axes, which they return and never show.

The modules here import matplotlib when they draw and not before, so that this package stays as light as the rest.
"""

from __future__ import annotations

from equipoise.plots.calibration import calibration
from equipoise.plots.held_out import held_out
from equipoise.plots.history import history
from equipoise.plots.information import information
from equipoise.plots.marginals import marginals
from equipoise.plots.overlap import overlap
from equipoise.plots.pair import pair
from equipoise.plots.polar import polar
from equipoise.plots.reliability import reliability

__all__ = [
    "calibration",
    "held_out",
    "history",
    "information",
    "marginals",
    "overlap",
    "pair",
    "polar",
    "reliability",
]
