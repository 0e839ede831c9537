"""Cells become float64 in one copy, and those that are no numbers are counted by column.

array, list, mapping of columns   →   (values (n, d), rows dropped)

Large tables are walked in blocks of rows, so that nothing of their size is made beside the one copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Missing = Literal["error", "drop"]
Array = NDArray[np.float64]

_BLOCK = 1 << 18  # cells


def check_missing(missing: str) -> None:
    """Refuse a word that is no choice."""
    if missing not in ("error", "drop"):
        message = f"missing must be 'error' or 'drop', got {missing!r}"
        raise ValueError(message)


def to_float(rows: Any, name: str) -> tuple[Array, str]:  # noqa: ANN401  # whatever numpy reads
    """A float64 array of its own, (n, d), and the type that it had."""
    try:
        array = np.asarray(rows)
        kind = array.dtype.kind
        if kind in "cmM":
            message = f"{'Complex' if kind == 'c' else 'Date and time'} data not supported: rows must be real numbers"
            raise ValueError(message)
        if kind in "SU":
            message = f"got text such as {str(array.flat[0])[:40]!r}" if array.size else "got text"
            raise ValueError(message)
        own = isinstance(rows, list | tuple)  # numpy made this array, nobody else holds it
        with np.errstate(over="ignore", invalid="ignore"):  # what float64 cannot hold is found as an infinity
            values = array.astype(np.float64, order="C", copy=not own)
    except (TypeError, ValueError) as error:
        message = f"{name} must hold numbers: {error}"
        raise type(error)(message) from None
    if values.ndim != 2:
        message = (
            f"{name} must be a table of rows and columns, got shape {values.shape}. "
            "Reshape your data: X.reshape(-1, 1) for a single column, X.reshape(1, -1) for a single row"
        )
        raise ValueError(message)
    return values, array.dtype.name


def from_columns(columns: Mapping[str, Any], name: str) -> tuple[Array, tuple[str, ...]]:
    """A float64 array from one-dimensional columns, and the type of each."""
    arrays = {key: np.asarray(column) for key, column in columns.items()}
    arrays = {key: a[:, 0] if a.ndim == 2 and a.shape[1] == 1 else a for key, a in arrays.items()}
    if len({a.shape for a in arrays.values()}) != 1 or next(iter(arrays.values())).ndim != 1:
        shapes = ", ".join(f"{key!r}: {a.shape}" for key, a in arrays.items())
        message = f"{name}: columns must be one-dimensional and of one length, got {shapes or 'none'}"
        raise ValueError(message)
    values = np.empty((len(next(iter(arrays.values()))), len(arrays)))
    types = []
    for i, (key, column) in enumerate(arrays.items()):
        filled, kind = to_float(column[:, None], f"{name}: column {key!r}")
        values[:, i] = filled[:, 0]
        types.append(kind)
    return values, tuple(types)


def clean(values: Array, name: str, names: tuple[str, ...], missing: str) -> tuple[Array, int]:
    """Only finite rows, in place, and how many were dropped; or an error that counts what is wrong by column."""
    if 0 in values.shape:
        kind = "sample" if values.shape[0] == 0 else "feature"
        message = f"{name}: Found array with 0 {kind}(s) (shape={values.shape}) while a minimum of 1 is required."
        raise ValueError(message)
    lacking, infinite, rows = _count(values)
    labels = [repr(label) for label in (names or range(values.shape[1]))]
    if infinite.any():
        where = _where(labels, infinite)
        message = f"{name} contains infinity (by column, {where}); leave those rows out or bound the values"
        raise ValueError(message)
    if not rows:
        return values, 0
    if missing == "error":
        message = (
            f"{name} has missing values or NaN in {rows:,} of {len(values):,} rows "
            f"(by column, {_where(labels, lacking)}); fill them, or leave those rows out with missing='drop'"
        )
        raise ValueError(message)
    if rows == len(values):
        message = f"{name} has missing values in every row (by column, {_where(labels, lacking)}): none is left"
        raise ValueError(message)
    return _without_missing(values), rows


def _count(values: Array) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """NaN and infinite cells by column, and rows with NaN."""
    lacking, infinite = (np.zeros(values.shape[1], dtype=np.int64) for _ in range(2))
    rows = 0
    for block in _blocks(values):
        if np.isfinite(block).all():
            continue
        nan = np.isnan(block)
        lacking += nan.sum(axis=0)
        infinite += np.isinf(block).sum(axis=0)
        rows += int(nan.any(axis=1).sum())
    return lacking, infinite, rows


def _without_missing(values: Array) -> Array:
    end = 0
    for block in _blocks(values):
        kept = block[~np.isnan(block).any(axis=1)]
        values[end : end + len(kept)] = kept
        end += len(kept)
    return values[:end] if 2 * end > len(values) else values[:end].copy()


def _blocks(values: Array) -> Iterator[Array]:
    step = max(1, _BLOCK // values.shape[1])
    return (values[start : start + step] for start in range(0, len(values), step))


def _where(labels: list[str], counts: NDArray[np.int64]) -> str:
    return ", ".join(f"{label}: {count:,}" for label, count in zip(labels, counts, strict=True) if count)
