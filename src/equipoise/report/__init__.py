"""Reports: one self-contained HTML page for a fitted model, to be read, mailed and kept.

density(model, X, test) → page     two_samples(test) → page     write(path, model, ...) → file
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["density", "two_samples", "write"]


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


def two_samples(test: Any, *, title: str | None = None, names: tuple[str, str] = ("X", "Y")) -> str:  # noqa: ANN401
    """A page on a fitted two-sample test.

    Arguments:
        test: A fitted TwoSampleTest.
        title: The heading.
        names: What the two samples are called.
    """
    from equipoise.report.two_samples_page import page

    return page(test, title, names)


def write(path: str | Path, model: Any, X: Any = None, test: Any = None, *, title: str | None = None) -> None:  # noqa: ANN401
    """Write the page of :func:`density`, or of :func:`two_samples` for such a test, to a file, whole or not at all."""
    from equipoise.estimators.two_sample_test import TwoSampleTest
    from equipoise.io.atomic import write_text

    if isinstance(model, TwoSampleTest):
        write_text(path, two_samples(model, title=title))
    else:
        write_text(path, density(model, X, test, title=title))
