"""Data frames of pandas, polars and pyarrow become tables, column by column into one array."""

from __future__ import annotations

from typing import Any

import numpy as np

from equipoise.io.cells import Array, clean
from equipoise.io.table import Table


def is_frame(X: Any) -> bool:  # noqa: ANN401
    """Whether X has columns with names."""
    return hasattr(X, "columns") or hasattr(X, "column_names")


def from_frame(frame: Any, name: str, missing: str = "error", *, named: bool = True) -> Table:  # noqa: ANN401
    """A table from a frame; one sentence where it holds text, repeats a name, is empty or lacks values.

    Names are left out where named is False, and where all of them are numbers: such names only count the columns.
    """
    import narwhals as nw

    frame = _dense(frame)
    given = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    if len(set(given)) < len(given):
        repeated = sorted({str(column) for column in given if given.count(column) > 1})
        message = f"{name}: column names must differ, but {', '.join(map(repr, repeated))} stands more than once"
        raise ValueError(message)
    columns = nw.from_native(frame, eager_only=True)
    if 0 in columns.shape:
        message = f"{name} is empty: {columns.shape[0]} rows, {columns.shape[1]} columns"
        raise ValueError(message)
    series = dict(zip(given, columns.iter_columns(), strict=True))
    text = {c: _first_text(s) for c, s in series.items() if not _is_numeric(s)}
    if text:
        examples = ", ".join(f"{c!r} ({example!r})" for c, example in text.items())
        message = f"{name}: not numbers in column {examples}; leave such columns out or encode them"
        raise ValueError(message)
    values = np.empty(columns.shape)
    for i, column in enumerate(series.values()):
        values[:, i] = _floats(column)
    names = tuple(map(str, given)) if named and any(isinstance(c, str) for c in given) else ()
    values, dropped = clean(values, name, names, missing)
    return Table(values, names, tuple(str(s.dtype).lower() for s in series.values()), dropped)


def _dense(frame: Any) -> Any:  # noqa: ANN401
    """The frame with pandas' sparse columns written out; narwhals knows no such type."""
    types: Any = getattr(frame, "dtypes", None)
    if not hasattr(types, "items") or frame.columns.has_duplicates:
        return frame
    sparse = {column: kind.subtype for column, kind in types.items() if str(kind).startswith("Sparse")}
    return frame.astype(sparse) if sparse else frame


def _is_numeric(column: Any) -> bool:  # noqa: ANN401  # a narwhals series
    import narwhals as nw

    if column.dtype.is_numeric() or column.dtype == nw.Boolean or column.null_count() == len(column):
        return True
    return bool(column.dtype == nw.Object) and all(_is_real(cell) for cell in column.to_list())


def _is_real(cell: Any) -> bool:  # noqa: ANN401
    """Whether a cell of a column of objects is a number or missing."""
    from decimal import Decimal
    from numbers import Real

    return cell is None or isinstance(cell, Real | Decimal | np.bool_) or str(cell) == "<NA>"


def _floats(column: Any) -> Array:  # noqa: ANN401
    """A narwhals series as float64, NaN where it lacks a value."""
    import narwhals as nw

    if column.dtype == nw.Object or column.null_count() == len(column):
        cells = (np.nan if cell is None or str(cell) == "<NA>" else float(cell) for cell in column.to_list())
        return np.fromiter(cells, dtype=np.float64, count=len(column))
    wide = column.cast(nw.Float64)
    filled = wide.fill_null(float("nan")) if wide.null_count() else wide
    return np.asarray(filled.to_numpy(), dtype=np.float64)


def _first_text(column: Any) -> str:  # noqa: ANN401
    cells = [str(cell) for cell in column.drop_nulls().head(10_000).to_list()]
    return next((cell for cell in cells if not is_number(cell)), cells[0])[:40]


def is_number(text: str) -> bool:
    """Whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
