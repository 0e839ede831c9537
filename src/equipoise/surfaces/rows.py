"""What every surface asks of the rows that it is given, said in one way."""

from __future__ import annotations

from torch import Tensor


def check_rows(x: Tensor, features: int, like: Tensor) -> None:
    """Refuse rows of another width, or of another precision than the surface's own numbers."""
    if x.dim() != 2 or x.shape[1] != features:
        message = f"this surface takes rows of {features} columns, got a tensor of shape {tuple(x.shape)}"
        raise ValueError(message)
    if x.dtype != like.dtype:
        message = f"the rows are {x.dtype} and the surface {like.dtype}: use rows.to(...) or surface.double()"
        raise TypeError(message)
