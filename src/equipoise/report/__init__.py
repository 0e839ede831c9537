"""Reports: one self-contained HTML page for a fitted model, to be read, mailed and kept.

density(model, X, test) → page          write(path, model, X, test) → file
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["density", "write"]


def density(model: Any, X: Any = None, test: Any = None, *, title: str | None = None) -> str:  # noqa: ANN401
    """A page on a fitted density.

    Arguments:
        model: A fitted Density.
        X: Rows to compare with; they may have been fitted to, and the page says so.
        test: Rows that neither fitted nor chose the model: what the page claims is measured on them.
        title: The heading; the columns' names where it is None.
    """
    from equipoise.report.findings import find
    from equipoise.report.page import page

    return page(find(model, X, test), title)


def write(path: str | Path, model: Any, X: Any = None, test: Any = None, *, title: str | None = None) -> None:  # noqa: ANN401
    """Write the page of :func:`density` to a file, whole or not at all."""
    from equipoise.io.atomic import write_text

    write_text(path, density(model, X, test, title=title))
