"""Densities with known truth, to measure estimators by: the paper's own, and six with real dependence.

for name, target in targets.all().items(): ...        targets.dependent()
"""

from __future__ import annotations

from equipoise.targets.clayton import Clayton
from equipoise.targets.columns import Columns
from equipoise.targets.funnel import Funnel
from equipoise.targets.hole import UniformWithHole
from equipoise.targets.image import ImageDensity
from equipoise.targets.mixtures import FullMixture, TwoSpirals
from equipoise.targets.registry import all, dependent, get  # noqa: A004  # named as the catalogue's
from equipoise.targets.ridge import CurvedRidge
from equipoise.targets.stripes import Stripes
from equipoise.targets.target import Target
from equipoise.targets.transformed_columns import TransformedColumns

__all__ = [
    "Clayton",
    "Columns",
    "CurvedRidge",
    "FullMixture",
    "Funnel",
    "ImageDensity",
    "Stripes",
    "Target",
    "TransformedColumns",
    "TwoSpirals",
    "UniformWithHole",
    "all",
    "dependent",
    "get",
]
