"""Surfaces: modules from rows (n, d) to heights (n,), or (n, C) for several surfaces at once, and wrappers of them."""

from __future__ import annotations

from equipoise.surfaces.blueprint import build, describe, size
from equipoise.surfaces.fully_connected import FullyConnected
from equipoise.surfaces.in_range import InRange, heights_of
from equipoise.surfaces.standardise import Standardise

__all__ = ["FullyConnected", "InRange", "Standardise", "build", "describe", "heights_of", "size"]
