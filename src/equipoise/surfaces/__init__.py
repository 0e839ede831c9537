"""Surfaces: modules from rows (n, d) to heights (n,), or (n, C) for several surfaces at once, and wrappers of them."""

from __future__ import annotations

from equipoise.surfaces.additive import Additive
from equipoise.surfaces.affine import Affine
from equipoise.surfaces.block_diagonal import BlockDiagonal
from equipoise.surfaces.blueprint import build, describe, size
from equipoise.surfaces.engine import backend
from equipoise.surfaces.fully_connected import FullyConnected
from equipoise.surfaces.in_range import InRange, heights_of
from equipoise.surfaces.kernel import Kernel
from equipoise.surfaces.on_scores import OnScores
from equipoise.surfaces.quadratic import Quadratic
from equipoise.surfaces.random_features import RandomFeatures
from equipoise.surfaces.standardise import Standardise
from equipoise.surfaces.total import Sum

__all__ = [
    "Additive",
    "Affine",
    "BlockDiagonal",
    "FullyConnected",
    "InRange",
    "Kernel",
    "OnScores",
    "Quadratic",
    "RandomFeatures",
    "Standardise",
    "Sum",
    "backend",
    "build",
    "describe",
    "heights_of",
    "size",
]
