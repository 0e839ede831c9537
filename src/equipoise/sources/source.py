"""A source: anything that can write rows of one density into a buffer.

    draw(out, generator)      fills out, (n, d), and returns the rows' sample weights where there are any

Drawing into the caller's buffer keeps the training loop free of allocation.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Generator, Tensor


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


def as_rows(rows: Any, name: str = "rows") -> Tensor:  # noqa: ANN401  # arrays and tensors alike
    """Rows as an (n, d) floating-point tensor that owns no foreign memory it may write to."""
    table = rows.detach() if isinstance(rows, Tensor) else _from_array(np.asarray(rows), name)
    if table.is_complex():
        message = f"{name} must hold real numbers, got {table.dtype}"
        raise TypeError(message)
    if not table.is_floating_point():
        table = table.to(torch.get_default_dtype())
    if table.dim() == 1:
        table = table.unsqueeze(1)
    if table.dim() != 2 or 0 in table.shape:
        message = f"{name} must be a table of shape (n, d) with n, d >= 1; got {tuple(table.shape)}"
        raise ValueError(message)
    if not bool(torch.isfinite(table).all()):
        bad = int((~torch.isfinite(table)).any(dim=1).sum())
        message = f"{name} must be finite: {bad} of {table.shape[0]} rows have NaN or infinity"
        raise ValueError(message)
    return table


def _from_array(array: np.ndarray[Any, Any], name: str) -> Tensor:
    """A tensor over the array's own memory where torch can use it, over a copy where it cannot."""
    if array.dtype.kind not in "biufc":
        message = f"{name} must hold numbers, got an array of {array.dtype}"
        raise TypeError(message)
    if array.dtype == np.longdouble:
        array = array.astype(np.float64)
    usable = array.flags.writeable and array.dtype.isnative and all(stride >= 0 for stride in array.strides)
    return torch.from_numpy(array if usable else np.array(array, dtype=array.dtype.newbyteorder("="), order="C"))
