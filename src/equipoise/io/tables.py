"""Tables at the door: files and frames become float64 arrays with column names, or one clear sentence.

CSV, arrays, tensors, pandas, polars, pyarrow   →   Table(values (n, d), names)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FILES = (".csv",)


@dataclass(frozen=True)
class Table:
    """Rows of numbers.

    Arguments:
        values: The rows, (n, d), float64.
        names: One per column where the source had names; empty otherwise.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.values.shape[0], self.values.shape[1]

    def select(self, names: tuple[str, ...]) -> Table:
        """The named columns, in the order asked for."""
        missing = [name for name in names if name not in self.names]
        if missing:
            message = f"no column {', '.join(map(repr, missing))}; there are {', '.join(self.names)}"
            raise ValueError(message)
        return Table(self.values[:, [self.names.index(name) for name in names]], names)


def to_table(X: Any, name: str = "X") -> Table:  # noqa: ANN401  # whatever a user has
    """A table from an array, a tensor, or a frame of pandas, polars or pyarrow."""
    if isinstance(X, Table):
        return X
    if hasattr(X, "detach"):
        tensor = X.detach().cpu()
        return Table(_numbers((tensor if tensor.is_complex() else tensor.double()).numpy(), name))
    if hasattr(X, "toarray"):
        message = f"{name} is a sparse matrix of shape {X.shape}; pass X.toarray() if it fits into memory"
        raise TypeError(message)
    if hasattr(X, "collect"):
        message = f"{name} is a lazy frame; pass {name}.collect()"
        raise TypeError(message)
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        return _from_frame(X, name)
    if np.ma.isMaskedArray(X):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    return Table(_numbers(X, name))


def read_table(path: str | Path) -> Table:
    """A table from a CSV file, with or without a line of names."""
    file = Path(path)
    if not file.is_file():
        message = f"{file}: no such file"
        raise ValueError(message)
    if file.suffix.lower() not in _FILES:
        message = f"{file}: expected a file that ends in {', '.join(_FILES)}, got {file.suffix or 'no ending'}"
        raise ValueError(message)
    from pyarrow import ArrowInvalid, csv

    try:
        frame = csv.read_csv(file)
        names = [column.strip() for column in frame.column_names]
        if any(map(_is_number, names)) and all(_is_number(name) or not name for name in names):
            frame = csv.read_csv(file, read_options=csv.ReadOptions(autogenerate_column_names=True))  # a line of data
        else:
            frame = frame.rename_columns(names)
    except (ArrowInvalid, UnicodeDecodeError) as error:
        message = f"{file}: not a CSV table ({str(error).splitlines()[0]})"
        raise ValueError(message) from None
    return _from_frame(frame, str(file))


def _from_frame(frame: Any, name: str) -> Table:  # noqa: ANN401
    import narwhals as nw

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
    empty = [c for c, s in series.items() if s.null_count() == len(s)]
    text = [c for c, s in series.items() if not (s.dtype.is_numeric() or s.dtype == nw.Boolean) and c not in empty]
    if text:
        examples = ", ".join(f"{c!r} ({_first_text(series[c])!r})" for c in text)
        message = f"{name}: not numbers in column {examples}; leave such columns out or encode them"
        raise ValueError(message)
    missing = {c: int(s.null_count()) for c, s in series.items() if s.null_count()}
    if missing:
        counts = ", ".join(f"{c!r}: {count}" for c, count in missing.items())
        message = f"{name}: missing cells (by column, {counts}); fill or drop those rows"
        raise ValueError(message)
    values = np.column_stack([s.cast(nw.Float64).to_numpy() for s in series.values()])
    names = tuple(given) if all(isinstance(column, str) for column in given) else ()  # numbers only count columns
    return Table(_numbers(values, name, names), names)


def _numbers(rows: Any, name: str, names: tuple[str, ...] = ()) -> NDArray[np.float64]:  # noqa: ANN401
    try:
        array = np.asarray(rows)
        if array.dtype.kind in "cmM":
            kind = "Complex" if array.dtype.kind == "c" else "Date and time"
            message = f"{kind} data not supported: rows must be real numbers"
            raise ValueError(message)
        values = np.array(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        message = f"{name} must hold numbers: {error}"
        raise type(error)(message) from None
    if values.ndim != 2:
        message = (
            f"{name} must be a table of rows and columns, got shape {values.shape}. "
            "Reshape your data: X.reshape(-1, 1) for a single column, X.reshape(1, -1) for a single row"
        )
        raise ValueError(message)
    if 0 in values.shape:
        kind = "sample" if values.shape[0] == 0 else "feature"
        message = f"{name}: Found array with 0 {kind}(s) (shape={values.shape}) while a minimum of 1 is required."
        raise ValueError(message)
    bad = ~np.isfinite(values)
    if bad.any():
        counts = bad.sum(axis=0)
        where = ", ".join(f"{names[i] if names else int(i)!r}: {counts[i]}" for i in np.flatnonzero(counts))
        message = f"{name} contains NaN or infinity (by column, {where}); fill or drop those rows"
        raise ValueError(message)
    return values


def _first_text(column: Any) -> str:  # noqa: ANN401
    cells = [str(cell) for cell in column.drop_nulls()]
    return next((cell for cell in cells if not _is_number(cell)), cells[0])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
