"""Log ratios of two densities: cheap starts, surfaces over them, bridges between far ones, pools of several."""

from __future__ import annotations

from equipoise.ratios.bridge import Bridge
from equipoise.ratios.divergence import KINDS, Divergence, divergence
from equipoise.ratios.over import Over
from equipoise.ratios.pooled import Folds, Pool
from equipoise.ratios.sides import Side, Sides
from equipoise.ratios.starts import Difference, Discriminant

__all__ = [
    "KINDS",
    "Bridge",
    "Difference",
    "Discriminant",
    "Divergence",
    "Folds",
    "Over",
    "Pool",
    "Side",
    "Sides",
    "divergence",
]
