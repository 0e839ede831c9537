"""The push and what hangs on it."""

from __future__ import annotations

from equipoise.training.history import History
from equipoise.training.push import PushDivergedError, push

__all__ = ["History", "PushDivergedError", "push"]
