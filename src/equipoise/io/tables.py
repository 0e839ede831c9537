"""Tables at the door: arrays, tensors and frames become float64 arrays with column names, or one clear sentence.

lists, numpy, torch, pandas, polars, pyarrow, mappings of columns   →   Table(values (n, d), names)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from equipoise.io.cells import Missing, check_missing, clean, from_columns, to_float
from equipoise.io.files import read_table
from equipoise.io.frames import from_frame, is_frame
from equipoise.io.table import Table

__all__ = ["Missing", "Table", "read_table", "to_table"]


def to_table(X: Any, name: str = "X", missing: Missing = "error") -> Table:  # noqa: ANN401  # whatever a user has
    """A table from what a user has.

    Arguments:
        X: Rows as a list, an array, a torch tensor, a frame of pandas, polars or pyarrow, a mapping of names to
            columns, or a table.
        name: What to call it in messages.
        missing: What to do about missing values and NaN: ``"error"`` counts them by column, ``"drop"`` leaves their
            rows out and says how many (``Table.dropped``).
    """
    check_missing(missing)
    if isinstance(X, Table):
        return X
    if hasattr(X, "detach"):
        return _from_array(_of_tensor(X), name, missing)
    if hasattr(X, "toarray"):
        message = f"{name} is a sparse matrix of shape {X.shape}; pass X.toarray() if it fits into memory"
        raise TypeError(message)
    if hasattr(X, "collect"):
        message = f"{name} is a lazy frame; pass {name}.collect()"
        raise TypeError(message)
    if is_frame(X):
        return from_frame(X, name, missing)
    if isinstance(X, Mapping) or getattr(getattr(X, "dtype", None), "names", None):
        return _from_columns(X if isinstance(X, Mapping) else {c: X[c] for c in X.dtype.names}, name, missing)
    if np.ma.isMaskedArray(X):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    return _from_array(X, name, missing)


def _from_array(rows: Any, name: str, missing: str) -> Table:  # noqa: ANN401
    values, kind = to_float(rows, name)
    values, dropped = clean(values, name, (), missing)
    return Table(values, (), (kind,) * values.shape[1], dropped)


def _from_columns(columns: Mapping[Any, Any], name: str, missing: str) -> Table:
    names = tuple(map(str, columns))
    values, types = from_columns(dict(zip(names, columns.values(), strict=True)), name)
    values, dropped = clean(values, name, names, missing)
    return Table(values, names, types, dropped)


def _of_tensor(tensor: Any) -> Any:  # noqa: ANN401
    """A numpy view of a tensor; numpy has no bfloat16, and a float32 holds every one of them."""
    import torch

    own = tensor.detach().cpu().resolve_conj().resolve_neg()
    return (own.float() if own.dtype == torch.bfloat16 else own).numpy()
