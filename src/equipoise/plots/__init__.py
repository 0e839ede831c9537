"""Pictures: pure functions from results to matplotlib axes, which they return and never show.

The modules here import matplotlib when they draw and not before, so that this package stays as light as the rest.
"""

from __future__ import annotations

from equipoise.plots.polar import polar

__all__ = ["polar"]
