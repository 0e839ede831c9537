"""The history of a push as TensorBoard draws it: one scalar per quantity and recorded step."""

from __future__ import annotations

from os import PathLike
from types import TracebackType
from typing import Any, Self

from torch import nn

from equipoise.training.history import History

_SERIES = ("up_height", "down_height", "up_force", "down_force", "balance", "learning_rate", "gradient_norm")


class TensorBoard:
    """A callback of push that writes its history to a folder; a context manager, so that the last of it is written.

    Arguments:
        folder: Where TensorBoard finds it: ``tensorboard --logdir folder``.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            message = "TensorBoard is an extra of equipoise: pip install 'equipoise[tensorboard]'"
            raise ImportError(message) from error
        self._writer: Any = SummaryWriter(str(folder))
        self._scored = 0

    def __call__(self, step: int, surface: nn.Module, history: History) -> None:
        """Write the latest record, and the scores since the one before."""
        for name in _SERIES:
            self._writer.add_scalar(f"push/{name}", getattr(history, name)[-1], step)
        for at, score in list(zip(history.scored, history.score, strict=True))[self._scored :]:
            self._writer.add_scalar("held_out/score", score, at)
        self._scored = len(history.scored)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.flush()
