"""Results become files: named columns as CSV, Parquet, Feather, .npy or .npz; whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from csv import writer
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.io.atomic import appearing

Columns = dict[str, NDArray[Any]]


def write_table(path: str | Path, columns: Mapping[str, ArrayLike]) -> None:
    """Write columns of one length to a file.

    Arguments:
        path: Ends in .csv, .tsv, .parquet, .feather, .arrow, .npy (one column as a vector, several as a matrix
            without names) or .npz (named columns).
        columns: Names and values. Numbers are written so that reading gives the same ones.
    """
    target = Path(path)
    check_writable(target)
    with appearing(target) as beside:
        _WRITERS[target.suffix.lower()](beside, _arrays(columns))


def check_writable(path: str | Path) -> None:
    """Refuse an ending that is not ours, before the work whose result is to go there."""
    suffix = Path(path).suffix
    if suffix.lower() not in _WRITERS:
        message = f"{path}: expected a file that ends in {', '.join(_WRITERS)}, got {suffix or 'no ending'}"
        raise ValueError(message)


def csv_text(columns: Mapping[str, ArrayLike]) -> str:
    """The columns as CSV, for a stream."""
    buffer = BytesIO()
    _csv(buffer, _arrays(columns))
    return buffer.getvalue().decode()


def _arrays(columns: Mapping[str, ArrayLike]) -> Columns:
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    if not arrays or len({a.shape for a in arrays.values()}) != 1 or next(iter(arrays.values())).ndim != 1:
        shapes = ", ".join(f"{name!r}: {a.shape}" for name, a in arrays.items())
        message = f"columns must be one-dimensional and of one length, got {shapes or 'none'}"
        raise ValueError(message)
    return arrays


def _csv(target: Any, columns: Columns, delimiter: str = ",") -> None:  # noqa: ANN401
    import pyarrow as pa
    from pyarrow import csv

    names = StringIO()
    writer(names, delimiter=delimiter, lineterminator="\n").writerow(columns)  # pyarrow would quote them all
    with target.open("wb") if isinstance(target, Path) else nullcontext(target) as stream:
        stream.write(names.getvalue().encode())
        csv.write_csv(pa.table(columns), stream, csv.WriteOptions(delimiter=delimiter, include_header=False))


def _tsv(target: Path, columns: Columns) -> None:
    _csv(target, columns, "\t")


def _parquet(target: Path, columns: Columns) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(columns), target)


def _feather(target: Path, columns: Columns) -> None:
    import pyarrow as pa
    from pyarrow import feather

    feather.write_feather(pa.table(columns), str(target))


def _npy(target: Path, columns: Columns) -> None:
    arrays = list(columns.values())
    with target.open("wb") as file:
        np.save(file, arrays[0] if len(arrays) == 1 else np.column_stack(arrays), allow_pickle=False)


def _npz(target: Path, columns: Columns) -> None:
    from zipfile import ZipFile

    with ZipFile(target, "w") as archive:  # np.savez would take a column called "file" for its own argument
        for name, values in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, values, allow_pickle=False)


_WRITERS: dict[str, Callable[[Path, Columns], None]] = {
    ".csv": _csv,
    ".tsv": _tsv,
    ".parquet": _parquet,
    ".feather": _feather,
    ".arrow": _feather,
    ".npy": _npy,
    ".npz": _npz,
}
