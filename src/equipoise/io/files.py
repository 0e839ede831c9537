"""Files become tables: CSV, Parquet, Feather, .npy and .npz.

Nothing in a file is run: .npy and .npz are read without pickle, and large ones through a memory map.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from equipoise.io.cells import Missing, check_missing, clean, from_columns, to_float
from equipoise.io.frames import from_frame, is_number
from equipoise.io.table import Choice, Table, chosen

_ABSENT = {"", "na", "n/a", "nan", "null", "none"}
_DELIMITERS = ",;\t|"


def read_table(path: str | Path, columns: Choice = None, missing: Missing = "error") -> Table:
    """A table from a file.

    Arguments:
        path: A file that ends in .csv, .tsv, .parquet, .feather, .arrow, .npy or .npz. A text file may begin with a
            line of names, and may separate cells by commas, semicolons, tabs or bars.
        columns: The columns to take, by name or position; all where it is None. Or a function from the file's names
            to such a choice.
        missing: ``"error"`` counts missing values by column, ``"drop"`` leaves their rows out.
    """
    check_missing(missing)
    file = Path(path)
    if not file.is_file():
        message = f"{file}: {'a folder, not a file' if file.is_dir() else 'no such file'}"
        raise ValueError(message)
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        message = f"{file}: expected a file that ends in {', '.join(_READERS)}, got {file.suffix or 'no ending'}"
        raise ValueError(message)
    return reader(file, columns, missing)


def _text(file: Path, columns: Choice, missing: str) -> Table:
    from pyarrow import ArrowInvalid, csv as arrow

    try:
        first, delimiter = _first_line(file)
        numbers = [cell for cell in first if cell.lower() not in _ABSENT]
        named = not numbers or not all(map(is_number, numbers))
        frame = arrow.read_csv(
            file,
            read_options=arrow.ReadOptions(autogenerate_column_names=not named),
            parse_options=arrow.ParseOptions(delimiter=delimiter),
        )
    except (ArrowInvalid, UnicodeDecodeError, csv.Error) as error:
        message = f"{file}: not a CSV table ({str(error).splitlines()[0]})"
        raise ValueError(message) from None
    names = [column.strip() for column in frame.column_names] if named else [str(i) for i in range(frame.num_columns)]
    return _from_arrow(frame.rename_columns(names), file, columns, missing, named=named)


def _first_line(file: Path) -> tuple[list[str], str]:
    """The cells of the first line that holds any, and what stands between them."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        line = next((line for line in lines if line.strip()), "")
    delimiter = max(_DELIMITERS, key=re.sub('"[^"]*"', "", line).count)
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])], delimiter


def _parquet(file: Path, columns: Choice, missing: str) -> Table:
    from pyarrow import parquet

    return _from_arrow(_arrow(file, parquet.read_table), file, columns, missing)


def _feather(file: Path, columns: Choice, missing: str) -> Table:
    from pyarrow import feather

    return _from_arrow(_arrow(file, feather.read_table), file, columns, missing)


def _arrow(file: Path, read: Callable[[Path], Any]) -> Any:  # noqa: ANN401
    from pyarrow import ArrowException

    try:
        return read(file)
    except (ArrowException, OSError) as error:
        message = f"{file}: not a {file.suffix[1:].capitalize()} table ({str(error).splitlines()[0]})"
        raise ValueError(message) from None


def _from_arrow(
    frame: Any,  # noqa: ANN401
    file: Path,
    columns: Choice,
    missing: str,
    *,
    named: bool = True,
) -> Table:
    """Only the columns asked for are looked at, so that text elsewhere does no harm."""
    if len(set(frame.column_names)) == frame.num_columns:
        at = chosen(columns, frame.column_names if named else (), frame.num_columns)
        frame = frame if at is None else frame.select(at)
    return from_frame(frame, str(file), missing, named=named)


def _npy(file: Path, columns: Choice, missing: str) -> Table:
    try:
        array = np.load(file, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        message = f"{file}: not an array of numbers ({str(error).splitlines()[0]})"
        raise ValueError(message) from None
    if not isinstance(array, np.ndarray):
        array.close()
        message = f"{file}: not an array but an archive of arrays; call it .npz"
        raise ValueError(message)
    return _from_numpy(array, file, columns, missing)


def _npz(file: Path, columns: Choice, missing: str) -> Table:
    try:
        with file.open("rb") as content, ZipFile(content):
            archive = np.load(content, allow_pickle=False)
            arrays = {key: archive[key] for key in archive.files}
    except (ValueError, BadZipFile, EOFError, OSError) as error:
        message = f"{file}: not an archive of arrays ({str(error).splitlines()[0]})"
        raise ValueError(message) from None
    strange = [key for key, array in arrays.items() if not isinstance(array, np.ndarray)]
    if strange or not arrays:
        message = f"{file}: not an archive of arrays ({', '.join(strange) or 'nothing'} in it)"
        raise ValueError(message)
    if len(arrays) == 1:
        return _from_numpy(next(iter(arrays.values())), file, columns, missing)
    return _of_columns(arrays, file, columns, missing)


def _from_numpy(array: Any, file: Path, columns: Choice, missing: str) -> Table:  # noqa: ANN401
    """One array is a table, or a column where it has one dimension, or named columns where it has fields."""
    if array.dtype.names:
        return _of_columns({name: array[name] for name in array.dtype.names}, file, columns, missing)
    values, kind = to_float(array[:, None] if array.ndim == 1 else array, str(file))
    table = Table(values, (), (kind,) * values.shape[1])
    at = chosen(columns, (), table.shape[1])
    return _cleaned(table if at is None else table.select(at), file, missing)


def _of_columns(arrays: dict[str, Any], file: Path, columns: Choice, missing: str) -> Table:
    names = tuple(arrays)
    at = chosen(columns, names, len(names))
    names = names if at is None else tuple(names[i] for i in at)
    values, types = from_columns({name: arrays[name] for name in names}, str(file))
    return _cleaned(Table(values, names, types), file, missing)


def _cleaned(table: Table, file: Path, missing: str) -> Table:
    values, dropped = clean(table.values, str(file), table.names, missing)
    return Table(values, table.names, table.types, dropped)


_READERS: dict[str, Callable[[Path, Choice, str], Table]] = {
    ".csv": _text,
    ".tsv": _text,
    ".parquet": _parquet,
    ".feather": _feather,
    ".arrow": _feather,
    ".npy": _npy,
    ".npz": _npz,
}
