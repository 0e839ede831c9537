"""A table as a source sees it: rows in memory or in a mapped file, gathered by number into a buffer.

    gather(index, out)      out_i = table[index_i]

A table in memory is converted to the precision that is asked for once. A mapped file is never copied as a whole.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import torch
from torch import Tensor

from equipoise.sources.buffer import Buffer

_CHUNK = 65_536  # rows looked at together, so that checking a table takes no second one

Array = np.ndarray[Any, Any]


class Table:
    """Rows that can be gathered.

    Arguments:
        rows: An (n, d) table of finite numbers: an array, a tensor, or a ``np.memmap``.
        name: How errors speak of it.
    """

    def __init__(self, rows: Any, name: str = "rows") -> None:  # noqa: ANN401  # arrays and tensors alike
        self._mapped = _mapped(rows, name) if isinstance(rows, np.memmap) else None
        self._rows = as_rows(rows, name) if self._mapped is None else None
        self._converted = self._rows
        self._buffer, self._scratch = Buffer(), np.empty((0, 0))
        self.shape: tuple[int, int] = (self.rows.shape[0], self.rows.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def rows(self) -> Tensor | Array:
        """The table itself: a tensor, or the mapped array."""
        return self._rows if self._mapped is None else self._mapped  # type: ignore[return-value]

    @property
    def dtype(self) -> torch.dtype:
        """The precision of a tensor that would hold the table as it is."""
        if self._rows is not None:
            return self._rows.dtype
        return torch.float32 if self._mapped is not None and self._mapped.dtype == np.float32 else torch.float64

    def gather(self, index: Tensor, out: Tensor) -> None:
        """Fill ``out``, (k, d), with the rows numbered by ``index``, (k,)."""
        if self._mapped is not None:
            out.copy_(self._from_map(self._mapped, index))
            return
        rows = self._as(out.dtype)
        index = index.to(rows.device)
        if out.is_contiguous() and rows.device == out.device:
            torch.index_select(rows, 0, index, out=out)
            return
        room = self._buffer.rows(len(index), self.shape[1], rows)
        torch.index_select(rows, 0, index, out=room)
        out.copy_(room)

    def outline(self) -> str:
        """The table's shape, and a digest of some of its rows, by which another table of that shape is told apart."""
        some = torch.linspace(0, len(self) - 1, min(len(self), 64), dtype=torch.float64).long()
        out = torch.empty(len(some), self.shape[1], dtype=self.dtype)
        self.gather(some, out)
        return f"{self.shape} {digest(out)}"

    def _as(self, dtype: torch.dtype) -> Tensor:
        """The whole table in that precision; the latest conversion is kept."""
        if self._converted is None or self._converted.dtype != dtype:
            self._converted = self._rows.to(dtype)  # type: ignore[union-attr]  # in memory, or it would be mapped
        return self._converted

    def _from_map(self, mapped: Array, index: Tensor) -> Tensor:
        """Rows of the file, by way of a kept array of its type; torch itself would warn of memory it cannot write."""
        shape = (len(index), self.shape[1])
        if self._scratch.shape != shape or self._scratch.dtype != mapped.dtype:
            self._scratch = np.empty(shape, dtype=mapped.dtype)
        np.take(mapped, index.numpy(), axis=0, out=self._scratch, mode="clip")
        known = self._scratch.dtype.isnative and self._scratch.dtype != np.longdouble  # to torch
        return torch.from_numpy(self._scratch if known else self._scratch.astype(np.float64))


def digest(values: Tensor) -> str:
    """A short word for numbers, the same for the same numbers."""
    return hashlib.sha256(values.double().cpu().contiguous().numpy().tobytes()).hexdigest()[:8]


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
    _check_shape(tuple(table.shape), name)
    _check_finite(sum(int((~torch.isfinite(part)).any(dim=1).sum()) for part in table.split(_CHUNK)), len(table), name)
    return table


def _from_array(array: Array, name: str) -> Tensor:
    """A tensor over the array's own memory where torch can use it, over a copy where it cannot."""
    _check_kind(array, name)
    if array.dtype == np.longdouble:
        array = array.astype(np.float64)
    usable = array.flags.writeable and array.dtype.isnative and all(stride >= 0 for stride in array.strides)
    return torch.from_numpy(array if usable else np.array(array, dtype=array.dtype.newbyteorder("="), order="C"))


def _mapped(rows: np.memmap[Any, Any], name: str) -> Array:
    """A mapped file as an (n, d) array over the same memory, looked through once."""
    array = np.asarray(rows)
    _check_kind(array, name)
    if array.dtype.kind == "c":
        message = f"{name} must hold real numbers, got {array.dtype}"
        raise TypeError(message)
    array = array[:, None] if array.ndim == 1 else array
    _check_shape(array.shape, name)
    parts = (array[start : start + _CHUNK] for start in range(0, len(array), _CHUNK))
    _check_finite(sum(int((~np.isfinite(part)).any(axis=1).sum()) for part in parts), len(array), name)
    return array


def _check_kind(array: Array, name: str) -> None:
    if array.dtype.kind not in "biufc":
        message = f"{name} must hold numbers, got an array of {array.dtype}"
        raise TypeError(message)


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2 or 0 in shape:
        message = f"{name} must be a table of shape (n, d) with n, d >= 1; got {shape}"
        raise ValueError(message)


def _check_finite(bad: int, n: int, name: str) -> None:
    if bad:
        message = f"{name} must be finite: {bad} of {n} rows have NaN or infinity"
        raise ValueError(message)
