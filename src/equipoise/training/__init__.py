"""The push and what hangs on it: schedules, held-out scores, checkpoints, progress."""

from __future__ import annotations

from equipoise.training.checkpoint import Checkpoint, CheckpointError
from equipoise.training.history import History
from equipoise.training.monitor import CrossEntropy, Gain, HeldOut, Importance, Logistic
from equipoise.training.optimizer import OPTIMIZERS
from equipoise.training.progress import Progress
from equipoise.training.push import PushDivergedError, push
from equipoise.training.schedule import SCHEDULES
from equipoise.training.tensorboard import TensorBoard
from equipoise.training.watch import Monitor, Watch

__all__ = [
    "OPTIMIZERS",
    "SCHEDULES",
    "Checkpoint",
    "CheckpointError",
    "CrossEntropy",
    "Gain",
    "HeldOut",
    "History",
    "Importance",
    "Logistic",
    "Monitor",
    "Progress",
    "PushDivergedError",
    "TensorBoard",
    "Watch",
    "push",
]
