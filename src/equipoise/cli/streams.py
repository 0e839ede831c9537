"""What commands say beside their results, on standard error, and long work in parts with a line of progress."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from equipoise.io.table import Choice, Table

Array = NDArray[np.float64]

PART = 65_536


def read(path: Path, columns: Choice = None, missing: str = "error", word: str = "read") -> Table:
    """Read a table and say what it holds."""
    from equipoise.io.tables import read_table

    with waiting(f"reading {path}"):
        table = read_table(path, columns, "drop" if missing == "drop" else "error")
    say(word, f"{path}: {table.said}")
    return table


def read_for(model: Any, path: Path, missing: str = "error") -> Table:  # noqa: ANN401
    """Read a table for a fitted model: the model's columns by name, where the table has them."""
    wanted = [str(name) for name in getattr(model, "feature_names_in_", ())]
    return read(path, lambda names: wanted if wanted and set(wanted) <= set(names) else None, missing)


def load(path: Path, *wanted: str) -> Any:  # noqa: ANN401  # a fitted estimator
    """Read a fitted model of one of the kinds that a command is for."""
    import equipoise as eq

    model = eq.load(path)
    found = type(model).__name__
    if found not in wanted:
        message = f"{path}: holds a {found}; this command takes a {' or a '.join(wanted)}"
        raise ValueError(message)
    return model


def say(word: str, words: str) -> None:
    """A line on standard error."""
    click.echo(f"{word:9s}{words}", err=True)


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """A sign of life on a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        yield


@contextmanager
def at_once() -> Iterator[None]:
    """Ctrl-C ends work made of many pushes; each by itself would only end the one that it falls into."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def in_parts(total: int, words: str, work: Callable[[int, int], Array]) -> Array:
    """Join work(start, stop) over parts of so many rows, with progress on a terminal where there are several."""
    starts = range(0, total, PART)
    if len(starts) <= 1:
        return work(0, total)
    from rich.console import Console
    from rich.progress import track

    console, hidden = Console(stderr=True), not sys.stderr.isatty()
    return np.concatenate(
        [
            work(start, min(start + PART, total))
            for start in track(starts, words, console=console, transient=True, disable=hidden)
        ]
    )


def as_json(document: Any) -> str:  # noqa: ANN401
    """JSON; what it cannot hold, NaN and infinities, becomes null."""
    return json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not isfinite(value) else value
