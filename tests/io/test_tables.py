"""Tables at the door: numbers with names, or one sentence that says what is wrong and what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import sparse

from equipoise.io import Table, read_table, to_table


def csv(folder, text, name="rows.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "values", "names"),
    [
        ("a,b\n1,2\n3,4\n", [[1, 2], [3, 4]], ("a", "b")),
        ("1,2\n3,4\n", [[1, 2], [3, 4]], ("f0", "f1")),
        ("1.5,2\n", [[1.5, 2]], ("f0", "f1")),
        ("1,1\n2,3\n", [[1, 1], [2, 3]], ("f0", "f1")),
        ("7\n8\n", [[7], [8]], ("f0",)),
        ("1e5,-.5\n+3,4\n", [[1e5, -0.5], [3, 4]], ("f0", "f1")),
        ("a, b\r\n1, 2\r\n", [[1, 2]], ("a", "b")),
        ("\ufeffa,b\n1,2", [[1, 2]], ("a", "b")),
        ('"a, ""x""",b\n1,2\n', [[1, 2]], ('a, "x"', "b")),
        ("a,b\ntrue,2\nfalse,3\n", [[1, 2], [0, 3]], ("a", "b")),
        (",b\n1,2\n", [[1, 2]], ("", "b")),
    ],
    ids=[
        "names",
        "no names",
        "one line",
        "equal numbers",
        "column",
        "signs",
        "windows",
        "mark",
        "quotes",
        "flags",
        "index",
    ],
)
def test_csv_with_and_without_a_line_of_names(tmp_path, text, values, names):
    table = read_table(csv(tmp_path, text))
    assert table.names == names
    assert table.values.dtype == np.float64
    np.testing.assert_array_equal(table.values, values)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,x\n2,3\n", r"not numbers in column 'b' \('x'\)"),
        ("a,b\n2020-01-01,3\n", r"not numbers in column 'a' \('2020-01-01'\)"),
        ("a;b\n1;2\n", r"not numbers in column 'a;b' \('1;2'\)"),
        ("a,b\n1,\n2,3\n,4\n,\n", r"missing cells \(by column, 'a': 2, 'b': 2\)"),
        ("a,b\n1,\n2,\n", r"missing cells \(by column, 'b': 2\)"),
        ("a,b\n1,nan\n2,3\n", r"missing cells \(by column, 'b': 1\)"),
        ("a,b\n1,inf\n2,-inf\n", r"NaN or infinity \(by column, 'b': 2\)"),
        ("1,,3\n4,5,6\n", r"missing cells \(by column, 'f1': 1\)"),
        ("", "not a CSV table"),
        ("\n\n", "not a CSV table"),
        ("a,b\n", "is empty: 0 rows, 2 columns"),
        ("a,b,a\n1,2,3\n", "column names must differ, but 'a' stands more than once"),
        ("a,b\n1,2\n3\n", "not a CSV table"),
        (bytes(range(256)) * 4, "not a CSV table"),
        ("é,b\n1,2\n".encode("latin-1"), "not a CSV table"),
    ],
    ids=[
        "text", "dates", "semicolons", "missing", "all missing", "nan", "infinite", "hole in the first line", "empty",
        "blank", "only names", "repeated", "ragged", "binary", "latin",
    ],
)  # fmt: skip
def test_what_is_no_table_is_one_sentence_with_the_file_in_it(tmp_path, text, words):
    path = csv(tmp_path, text)
    with pytest.raises(ValueError, match=words) as error:
        read_table(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_are_not_there_or_not_tables(tmp_path):
    for path, words in (
        (tmp_path / "none.csv", "no such file"),
        (tmp_path, "no such file"),
        (csv(tmp_path, "1", "rows.txt"), r"ends in \.csv, got \.txt"),
        (csv(tmp_path, "1", "rows"), "got no ending"),
    ):
        with pytest.raises(ValueError, match=words):
            read_table(path)
        with pytest.raises(ValueError, match=words):
            read_table(str(path))


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
        (Table(VALUES, ("a", "b")), ("a", "b")),
    ],
    ids=[
        "array", "list", "integers", "half", "big-endian", "objects", "strided", "tensor", "bfloat16", "long", "pandas",
        "pandas without names", "nullable", "polars", "arrow", "table",
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
        ([[1.0, np.nan], [np.inf, np.nan]], ValueError, r"NaN or infinity \(by column, 0: 1, 1: 2\)"),
        (pd.DataFrame({"a": [1.0, np.inf]}), ValueError, r"by column, 'a': 1"),
        (pl.DataFrame({"a": [1.0, np.nan]}), ValueError, r"by column, 'a': 1"),
        (pd.DataFrame({"a": [1.0, None], "b": [1, 2]}), ValueError, r"missing cells \(by column, 'a': 1\)"),
        (pl.DataFrame({"a": [1.0, None]}), ValueError, r"missing cells \(by column, 'a': 1\)"),
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
        ("rows.csv", ValueError, "must hold numbers"),
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
