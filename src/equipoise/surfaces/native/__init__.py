"""The fused kernel of block-diagonal surfaces: compiled once, for this machine, and called on raw memory.

library() → the loaded kernel, or None and a reason; surfaces then run on torch, with the same numbers
"""

from __future__ import annotations

from equipoise.surfaces.native.kernel import Kernel, library, unavailable

__all__ = ["Kernel", "library", "unavailable"]
