"""The scikit-learn face: estimators that fit, score and sample, and hide the push behind them."""

from __future__ import annotations

from equipoise.estimators.density import Density

__all__ = ["Density"]
