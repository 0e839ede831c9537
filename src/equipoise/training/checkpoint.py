"""A push on disk: written now and then as a whole, read to go on as if nothing had happened.

    settings + run.state()   →   one file, replaced at once

Going on is bit-identical to not having stopped, at the same number of threads. A file of another push is refused.
"""

from __future__ import annotations

import warnings
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from equipoise.training import archive, budget
from equipoise.training.run import Run

_FORMAT = 1

Settings = dict[str, Any]


class CheckpointError(ValueError):
    """A checkpoint that cannot be read, or that is of another push."""


class Checkpoint:
    """Where and how often a push is written.

    Arguments:
        path: The file; where it exists, the push goes on from it.
        every: Steps between writes, or a time such as ``"60s"``; it is written at the end in any case.
    """

    def __init__(self, path: str | PathLike[str], every: int | str = "60s") -> None:
        self.path, self.every = Path(path), every
        interval = budget.read(every)
        if not interval:
            message = f"every must be a number of steps of at least 1, or a time such as '60s'; got {every!r}"
            raise ValueError(message)
        if not self.path.parent.is_dir():
            message = f"{self.path}: there is no folder {self.path.parent} to write a checkpoint to"
            raise ValueError(message)
        self._steps, self._seconds = (interval, 0.0) if isinstance(interval, int) else (0, interval)
        self._written = perf_counter()

    def read(self, settings: Settings) -> dict[str, Any] | None:
        """The run's state, if there is one; it must be of a push of these settings."""
        if not self.path.exists():
            return None
        try:
            tree = archive.read(self.path)
            kept, run, form = tree["settings"], tree["run"], tree["format"]
            threads = int(tree["threads"])
        except (archive.ArchiveError, KeyError, TypeError, ValueError) as error:
            message = f"cannot go on from this checkpoint: {error}. Delete it, or give another path"
            raise CheckpointError(message) from None
        differing = [key for key in {**kept, **settings} if kept.get(key) != settings.get(key)]
        if form != _FORMAT or differing:
            others = [f"{key} was {kept.get(key)!r} and is {settings.get(key)!r}" for key in differing[:3]]
            message = f"{self.path}: a checkpoint of another push: {'; '.join(others) or f'format {form}'}. "
            message += "Give another path, or delete it"
            raise CheckpointError(message)
        if threads != torch.get_num_threads():
            words = f"{self.path} was written with {threads} threads, and there are {torch.get_num_threads()} now: "
            warnings.warn(words + "the push goes on, but not bit for bit", stacklevel=3)
        return dict(run)

    def write(self, run: Run, settings: Settings) -> None:
        """Write the run as it is."""
        tree = {"format": _FORMAT, "settings": settings, "threads": torch.get_num_threads(), "run": run.state()}
        archive.write(self.path, tree)
        self._written = perf_counter()

    def due(self, step: int) -> bool:
        """Whether the run should be written after this step."""
        if self._steps:
            return (step + 1) % self._steps == 0
        return perf_counter() - self._written >= self._seconds


def restore(run: Run, state: dict[str, Any] | None) -> None:
    """Take the run to where a checkpoint was written, if there is one."""
    if state is None:
        return
    try:
        run.load_state(state)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RuntimeError) as error:
        message = f"the checkpoint is damaged ({type(error).__name__}: {' '.join(str(error).split())[:200]}): delete it"
        raise CheckpointError(message) from None


def as_checkpoint(given: str | PathLike[str] | Checkpoint | None) -> Checkpoint | None:
    """A checkpoint from a path."""
    return given if given is None or isinstance(given, Checkpoint) else Checkpoint(given)
