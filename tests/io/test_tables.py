"""Tables at the door: numbers with names, or one sentence that says what is wrong and what to do."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import sparse

from equipoise.io import Table, to_table

VALUES = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.mark.parametrize(
    ("X", "names"),
    [
        (VALUES, ()),
        (VALUES.tolist(), ()),
        (VALUES.astype(np.int8), ()),
        (VALUES.astype(np.float16), ()),
        (VALUES.astype(">f4"), ()),
        (VALUES.astype(object), ()),
        (VALUES[::-1][::-1], ()),
        (torch.from_numpy(VALUES).float().requires_grad_(), ()),
        (torch.from_numpy(VALUES).bfloat16(), ()),
        (torch.from_numpy(VALUES).long(), ()),
        (pd.DataFrame(VALUES, columns=["a", "b"], index=[7, 7, 9]), ("a", "b")),
        (pd.DataFrame(VALUES), ()),
        (pd.DataFrame({"a": pd.array([1, 3, 5], dtype="Int64"), "b": [2, 4, 6]}), ("a", "b")),
        (pl.DataFrame({"a": [1, 3, 5], "b": [2.0, 4.0, 6.0]}), ("a", "b")),
        (pa.table({"a": [1, 3, 5], "b": [2.0, 4.0, 6.0]}), ("a", "b")),
        (pd.DataFrame({"a": pd.Series([1, 3.0, np.int8(5)], dtype=object), "b": [2, 4, 6]}), ("a", "b")),
        (pd.DataFrame({"a": pd.arrays.SparseArray([1.0, 3.0, 5.0]), "b": [2, 4, 6]}), ("a", "b")),
        (pa.table({"a": pa.array([1, 3, 5], pa.decimal128(5, 2)), "b": pa.array([2, 4, 6], pa.uint8())}), ("a", "b")),
        (pl.DataFrame({"a": [1, 3, 5], "b": [2.0, 4.0, 6.0]}, schema={"a": pl.UInt64, "b": pl.Float32}), ("a", "b")),
        ({"a": [1, 3, 5], "b": VALUES[:, 1:]}, ("a", "b")),
        (np.array([(1, 2.0), (3, 4.0), (5, 6.0)], dtype=[("a", "i4"), ("b", "f8")]), ("a", "b")),
        (Table(VALUES, ("a", "b")), ("a", "b")),
    ],
    ids=[
        "array", "list", "integers", "half", "big-endian", "objects", "strided", "tensor", "bfloat16", "long", "pandas",
        "pandas without names", "nullable", "polars", "arrow", "objects in pandas", "sparse columns", "decimals",
        "polars types", "mapping", "fields", "table",
    ],
)  # fmt: skip
def test_all_tables_are_the_same_table(X, names):
    table = to_table(X)
    assert table.names == names
    assert table.shape == (3, 2)
    assert table.values.dtype == np.float64
    np.testing.assert_array_equal(table.values, VALUES)


def test_booleans_are_zero_and_one():
    flags = np.array([[True, False]])
    for X in (flags, torch.from_numpy(flags), pd.DataFrame(flags), pl.DataFrame(flags)):
        assert to_table(X).values.tolist() == [[1.0, 0.0]]


def test_the_callers_array_is_copied():
    X = VALUES.copy()
    table = to_table(X)
    table.values[0, 0] = 99.0
    assert X[0, 0] == 1.0


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        ([[1.0, np.nan], [np.inf, np.nan]], ValueError, r"X contains infinity \(by column, 0: 1\)"),
        (pd.DataFrame({"a": [1.0, np.inf]}), ValueError, r"by column, 'a': 1"),
        (pl.DataFrame({"a": [1.0, np.nan]}), ValueError, r"by column, 'a': 1"),
        (
            pd.DataFrame({"a": [1.0, None], "b": [1, 2]}),
            ValueError,
            r"NaN in 1 of 2 rows \(by column, 'a': 1\)",
        ),
        (pl.DataFrame({"a": [1.0, None]}), ValueError, r"NaN in 1 of 2 rows \(by column, 'a': 1\)"),
        (np.ma.masked_array([[1.0, 2.0]], [[True, False]]), ValueError, r"by column, 0: 1"),
        (VALUES[:, 0], ValueError, r"got shape \(3,\)\. Reshape your data: X\.reshape\(-1, 1\)"),
        (pd.Series([1.0, 2.0]), ValueError, "Reshape your data"),
        (3.0, ValueError, r"got shape \(\)"),
        (np.zeros((2, 2, 2)), ValueError, r"got shape \(2, 2, 2\)"),
        (np.empty((0, 2)), ValueError, r"0 sample\(s\)"),
        (np.empty((2, 0)), ValueError, r"0 feature\(s\)"),
        (pd.DataFrame({"a": []}), ValueError, "is empty: 0 rows, 1 columns"),
        (sparse.eye_array(3), TypeError, r"sparse matrix of shape \(3, 3\); pass X\.toarray\(\)"),
        (VALUES.astype(complex), ValueError, "Complex data not supported"),
        (torch.ones(2, 2, dtype=torch.complex64), ValueError, "Complex data not supported"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), ValueError, "Date and time data not supported"),
        (np.array([[1.0, {}]], dtype=object), TypeError, "must hold numbers"),
        ([["a", "b"]], ValueError, "must hold numbers"),
        ([[1.0, 2.0], [3.0]], ValueError, "must hold numbers"),
        ("rows.csv", ValueError, "must hold numbers: got text such as 'rows.csv'"),
        ([["1", "2"]], ValueError, "must hold numbers: got text such as '1'"),
        ([[1.0, np.nan], [3.0, np.nan]], ValueError, r"in 2 of 2 rows \(by column, 1: 2\)"),
        ({"a": [1.0], "b": [1.0, 2.0]}, ValueError, r"of one length, got 'a': \(1,\), 'b': \(2,\)"),
        ({"a": [1.0], "b": ["u"]}, ValueError, "X: column 'b' must hold numbers: got text such as 'u'"),
        ({}, ValueError, "of one length, got none"),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), ValueError, "not numbers in column 'a'"),
        (pd.DataFrame({"a": pd.Categorical(["u", "v"])}), ValueError, r"column 'a' \('u'\)"),
        (pl.DataFrame({"a": [[1.0]]}), ValueError, "not numbers in column 'a'"),
        (pd.DataFrame(), ValueError, "is empty: 0 rows, 0 columns"),
        (np.array([[np.longdouble("1e4000")]]), ValueError, "contains infinity"),
        (pd.DataFrame({"a": ["u", "1"]}), ValueError, r"not numbers in column 'a' \('u'\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "'a' stands more than once"),
        (pa.table([[1], [2]], names=["a", "a"]), ValueError, "'a' stands more than once"),
        (pl.LazyFrame({"a": [1.0]}), TypeError, r"pass X\.collect\(\)"),
    ],
)
def test_what_is_no_table_is_refused(X, error, words):
    with pytest.raises(error, match=words):
        to_table(X)


def test_the_name_of_what_came_is_said():
    with pytest.raises(ValueError, match=r"^X_num must be a table"):
        to_table([1.0, 2.0], "X_num")


def test_columns_are_chosen_by_name():
    table = Table(VALUES, ("a", "b"))
    chosen = table.select(("b",))
    assert (chosen.names, chosen.values.tolist()) == (("b",), [[2.0], [4.0], [6.0]])
    assert table.select(("b", "a")).values.tolist() == VALUES[:, ::-1].tolist()
    with pytest.raises(ValueError, match="no column 'c', 'd'; there are a, b"):
        table.select(("c", "a", "d"))
    assert table.select((1,)).names == ("b",)
    assert Table(VALUES, types=("int64", "float64")).select([1]).types == ("float64",)
    for columns, words in (
        (("a", 0), "asked for once"),
        ((), "no columns were asked for"),
        ((2,), "no column 2; there are a, b"),
        ((-1,), "no column -1"),
    ):
        with pytest.raises(ValueError, match=words):
            table.select(columns)
    with pytest.raises(ValueError, match="columns have no names, only positions 0 to 1"):
        Table(VALUES).select(["a"])


def test_a_part_is_a_view_of_some_rows():
    part = Table(VALUES, ("a", "b"), dropped=2).part(1, 3)
    assert np.shares_memory(part.values, VALUES)
    assert (part.names, part.values.tolist(), part.dropped) == (("a", "b"), VALUES[1:].tolist(), 0)


NAN = float("nan")


@pytest.mark.parametrize(
    "X",
    [
        [[1.0, 2.0], [NAN, 3.0], [4.0, 5.0], [6.0, NAN], [NAN, NAN]],
        torch.tensor([[1.0, 2.0], [NAN, 3.0], [4.0, 5.0], [6.0, NAN], [NAN, NAN]]),
        pd.DataFrame({"a": [1.0, None, 4.0, 6.0, NAN], "b": [2.0, 3.0, 5.0, None, None]}),
        pd.DataFrame({"a": pd.array([1, None, 4, 6, None], dtype="Int64"), "b": [2.0, 3.0, 5.0, NAN, NAN]}),
        pd.DataFrame({"a": pd.Series([1, None, 4, 6, pd.NA], dtype=object), "b": [2.0, 3.0, 5.0, NAN, NAN]}),
        pl.DataFrame({"a": [1.0, None, 4.0, 6.0, NAN], "b": [2.0, 3.0, 5.0, NAN, None]}),
        pa.table({"a": [1, None, 4, 6, None], "b": [2.0, 3.0, 5.0, NAN, None]}),
        np.ma.masked_invalid([[1.0, 2.0], [NAN, 3.0], [4.0, 5.0], [6.0, NAN], [NAN, NAN]]),
    ],
    ids=["list", "tensor", "pandas", "nullable", "objects", "polars", "arrow", "masked"],
)
def test_rows_with_missing_values_are_dropped_where_asked_and_counted(X):
    table = to_table(X, missing="drop")
    assert table.values.tolist() == [[1.0, 2.0], [4.0, 5.0]]
    assert table.dropped == 3
    assert "3 rows with missing values left out" in table.said
    with pytest.raises(ValueError, match=r"missing values or NaN in 3 of 5 rows \(by column, ('a'|0): 2, ('b'|1): 2\)"):
        to_table(X)


def test_dropping_never_drops_infinities_or_every_row():
    with pytest.raises(ValueError, match=r"infinity \(by column, 1: 1\)"):
        to_table([[1.0, np.inf], [np.nan, 1.0]], missing="drop")
    with pytest.raises(ValueError, match=r"in every row \(by column, 0: 1, 1: 1\): none is left"):
        to_table([[1.0, np.nan], [np.nan, 1.0]], missing="drop")
    with pytest.raises(ValueError, match="missing must be 'error' or 'drop', got 'fill'"):
        to_table(VALUES, missing="fill")


def test_dropping_works_across_blocks_of_rows():
    rows = np.arange(300_000.0).reshape(-1, 2)
    rows[[0, 131_071, 131_072, 149_999], [0, 1, 0, 1]] = np.nan  # 2^18 cells, so 2^17 rows a block
    table = to_table(rows, missing="drop")
    np.testing.assert_array_equal(table.values, rows[~np.isnan(rows).any(axis=1)])
    assert table.dropped == 4


def test_what_was_read_is_said():
    assert to_table(VALUES).said == "3 rows, 2 columns without names, float64"
    assert to_table(pl.DataFrame({"a": [1], "b": [2.0]})).said == "1 row, 2 columns (a, b), 1 int64, 1 float64"
    wide = pd.DataFrame(np.ones((2, 9), dtype=np.float32), columns=list("abcdefghi"))
    assert to_table(wide).said == "2 rows, 9 columns (a, b, c, d, e, f, g, h, …), float32"


def test_scales_far_apart_are_kept_exactly():
    rows = np.array([[1e12, 1e-12], [3e12, -2e-12], [5e-324, 1e308]])
    for X in (rows, torch.from_numpy(rows), pd.DataFrame(rows), pl.DataFrame(rows)):
        np.testing.assert_array_equal(to_table(X).values, rows)


def test_a_read_only_memory_map_becomes_an_array_that_can_be_written_to(tmp_path):
    np.save(tmp_path / "rows.npy", VALUES.astype(np.float32))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    table = to_table(mapped)
    assert table.values.flags.writeable
    assert type(table.values) is np.ndarray
    np.testing.assert_array_equal(table.values, VALUES)


@pytest.mark.parametrize("kind", ["array", "tensor", "pandas", "polars", "arrow", "drop"])
def test_a_large_table_is_copied_once(kind):
    rows = np.ones((400_000, 8), dtype=np.float32)
    if kind == "drop":
        rows[::1000] = np.nan
    columns = {f"x{i}": rows[:, i].copy() for i in range(8)}
    X = {
        "array": lambda: rows,
        "drop": lambda: rows,
        "tensor": lambda: torch.from_numpy(rows),
        "pandas": lambda: pd.DataFrame(columns),
        "polars": lambda: pl.DataFrame(columns),
        "arrow": lambda: pa.table(columns),
    }[kind]()
    to_table(X, missing="drop")  # imports allocate too
    tracemalloc.start()
    try:
        values = to_table(X, missing="drop").values
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert values.nbytes <= peak < 1.3 * values.nbytes
