"""Pictures as files, drawn where there is no screen: whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_ENDINGS = (".png", ".pdf", ".svg")


def check(path: Path | None) -> None:
    """Refuse an ending that is not ours, before the work whose picture it is to be."""
    if path is not None and path.suffix.lower() not in _ENDINGS:
        message = f"{path}: expected a picture that ends in {', '.join(_ENDINGS)}, got {path.suffix or 'no ending'}"
        raise ValueError(message)


def save(draw: Callable[[], Any], path: Path) -> None:
    """Write what ``draw`` returns, axes or an array of them, to a file."""
    import matplotlib as mpl

    mpl.use("Agg")
    from equipoise.io.atomic import appearing

    first = np.ravel(draw())[0]
    with appearing(path) as beside:
        first.figure.savefig(beside, dpi=150, format=path.suffix.lower()[1:])
