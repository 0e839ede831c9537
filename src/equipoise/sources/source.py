"""A source: anything that can write rows of one density into a buffer.

    draw(out, generator)      fills out, (n, d), and returns the rows' sample weights where there are any

Drawing into the caller's buffer keeps the training loop free of allocation.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from torch import Generator, Tensor

from equipoise.sources.table import as_rows

__all__ = ["Source", "as_rows", "as_source"]


@runtime_checkable
class Source(Protocol):
    """Rows of one density; :attr:`log_prob` is None where the density is not known."""

    features: int

    @property
    def log_prob(self) -> Any:  # noqa: ANN401  # a callable (n, d) → (n,), or None
        """The log density as a function of rows, where it is known."""

    def draw(self, out: Tensor, generator: Generator) -> Tensor | None:
        """Fill ``out`` with rows; return their weights, or None where all count alike."""


def as_source(thing: Any) -> Source:  # noqa: ANN401  # whatever a user may hand in
    """A source from a source, an array or tensor of rows, or a density that can be sampled."""
    from equipoise.sources.known import Known
    from equipoise.sources.rows import Rows

    if isinstance(thing, Source):
        return thing
    if hasattr(thing, "__array__"):  # tensors, arrays and frames; a frame can be sampled too, but means its rows
        return Rows(thing)
    if hasattr(thing, "sample"):
        return Known(thing)
    message = (
        f"cannot draw rows from a {type(thing).__name__}: expected an (n, d) array or tensor, "
        "a density with sample and log_prob, or a source such as sources.Rows"
    )
    raise TypeError(message)
