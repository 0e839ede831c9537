"""A progress line for a push: the step, the time left, the held-out score, and how near the forces are to balance."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress as Bar, TextColumn, TimeRemainingColumn
from torch import nn

from equipoise.training.history import History


class Progress:
    """A callback of push that draws a line on standard error; a context manager, so that it always ends.

    Arguments:
        steps: How many steps the push will make; what its history says where it is None.
        visible: Whether to draw at all.
    """

    def __init__(self, steps: int | None = None, *, visible: bool = True) -> None:
        columns = (TextColumn("pushing"), BarColumn(), TextColumn("{task.completed}/{task.total} steps"))
        self._bar = Bar(
            *columns,
            TextColumn("{task.fields[score]}balance {task.fields[balance]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not visible,
        )
        self._total = steps
        self._task = self._bar.add_task("push", total=steps, balance="", score="")

    def __call__(self, step: int, surface: nn.Module, history: History) -> None:
        """Move the line on."""
        total = self._total or history.steps or None
        score = f"score {history.score[-1]:.4g} " if history.score else ""
        balance = f"{history.balance[-1]:+.1e}"
        self._bar.update(self._task, completed=step + 1, total=total, balance=balance, score=score)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
