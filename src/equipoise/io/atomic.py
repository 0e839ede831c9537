"""A file appears whole or not at all: it is written beside its place and moved there at the end."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def appearing(path: str | Path) -> Iterator[Path]:
    """Yield a path to write to; what is there at the end replaces the file at path."""
    target = Path(path)
    if not target.parent.is_dir():
        message = f"{target}: there is no folder {target.parent}"
        raise ValueError(message)
    if target.is_dir():
        message = f"{target}: a folder, not a file"
        raise ValueError(message)
    beside = target.with_name(f".{secrets.token_hex(4)}.{target.name}")
    try:
        yield beside
        with beside.open("rb+") as file:
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8."""
    with appearing(path) as beside:
        beside.write_text(text, encoding="utf-8")
