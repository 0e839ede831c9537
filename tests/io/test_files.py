"""Files become tables; what is none becomes one sentence with the file in it."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pyarrow import feather

from equipoise.io import read_table


def csv(folder, text, name="rows.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "values", "names"),
    [
        ("a,b\n1,2\n3,4\n", [[1, 2], [3, 4]], ("a", "b")),
        ("1,2\n3,4\n", [[1, 2], [3, 4]], ()),
        ("1.5,2\n", [[1.5, 2]], ()),
        ("1,1\n2,3\n", [[1, 1], [2, 3]], ()),
        ("7\n8\n", [[7], [8]], ()),
        ("1e5,-.5\n+3,4\n", [[1e5, -0.5], [3, 4]], ()),
        ("a, b\r\n1, 2\r\n", [[1, 2]], ("a", "b")),
        ("\ufeffa,b\n1,2", [[1, 2]], ("a", "b")),
        ('"a, ""x""",b\n1,2\n', [[1, 2]], ('a, "x"', "b")),
        ("a,b\ntrue,2\nfalse,3\n", [[1, 2], [0, 3]], ("a", "b")),
        (",b\n1,2\n", [[1, 2]], ("", "b")),
        ("id,2019\n1,2\n", [[1, 2]], ("id", "2019")),
        ("a;b\n1;2\n", [[1, 2]], ("a", "b")),
        ("a\tb\n1\t2\n", [[1, 2]], ("a", "b")),
        ('"a;b;c",d\n1,2\n', [[1, 2]], ("a;b;c", "d")),
        ("\n\na,b\n1,2\n", [[1, 2]], ("a", "b")),
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
        "years",
        "semicolons",
        "tabs",
        "semicolons in a name",
        "blank lines",
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
        ("a;b\n1,5;2\n", r"not numbers in column 'a' \('1,5'\)"),
        ("a,b\n1,\n2,3\n,4\n,\n", r"missing values or NaN in 3 of 4 rows \(by column, 'a': 2, 'b': 2\)"),
        ("a,b\n1,\n2,\n", r"in 2 of 2 rows \(by column, 'b': 2\)"),
        ("a,b\n1,nan\n2,3\n", r"in 1 of 2 rows \(by column, 'b': 1\)"),
        ("a,b\n1,inf\n2,-inf\n", r"contains infinity \(by column, 'b': 2\)"),
        ("1,,3\n4,5,6\n", r"in 1 of 2 rows \(by column, 1: 1\)"),
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
        (tmp_path, "a folder, not a file"),
        (csv(tmp_path, "1", "rows.txt"), r"ends in \.csv, .*\.npz, got \.txt"),
        (csv(tmp_path, "1", "rows"), "got no ending"),
    ):
        with pytest.raises(ValueError, match=words):
            read_table(path)
        with pytest.raises(ValueError, match=words):
            read_table(str(path))


VALUES = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, -6.5]])


def saved(folder, kind, values=VALUES, names=("a", "b")):
    path = folder / f"rows.{kind}"
    frame = pd.DataFrame(values, columns=list(names))
    write = {
        "csv": lambda: frame.to_csv(path, index=False),
        "tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
        "parquet": lambda: frame.to_parquet(path),
        "feather": lambda: frame.to_feather(path),
        "arrow": lambda: pl.DataFrame(frame.to_dict("list")).write_ipc(path),
        "npy": lambda: np.save(path, values),
        "npz": lambda: np.savez(path, **dict(zip(names, values.T, strict=True))),
    }
    write[kind]()
    return path


KINDS = ["csv", "tsv", "parquet", "feather", "arrow", "npy", "npz"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_same_numbers_and_names(tmp_path, kind):
    table = read_table(saved(tmp_path, kind))
    np.testing.assert_array_equal(table.values, VALUES)
    assert table.values.dtype == np.float64
    assert table.values.flags.writeable
    assert table.names == (() if kind == "npy" else ("a", "b"))
    assert table.types == ("float64", "float64")


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_chosen_while_reading(tmp_path, kind):
    path = saved(tmp_path, kind)
    assert read_table(path, [1]).values.tolist() == VALUES[:, [1]].tolist()
    if kind == "npy":
        with pytest.raises(ValueError, match="no column 'b'; columns have no names"):
            read_table(path, ["b"])
    else:
        assert read_table(path, ["b", "a"]).names == ("b", "a")
        assert read_table(path, ["b", "a"]).values.tolist() == VALUES[:, ::-1].tolist()
        with pytest.raises(ValueError, match="no column 'c'; there are a, b"):
            read_table(path, ["c"])


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_are_counted_or_dropped(tmp_path, kind):
    path = saved(tmp_path, kind, np.where(VALUES == 3.0, np.nan, VALUES))
    with pytest.raises(ValueError, match=r"in 1 of 3 rows \(by column, ('a'|0): 1\).*missing='drop'"):
        read_table(path)
    table = read_table(path, missing="drop")
    assert (table.values.tolist(), table.dropped) == ([[1.0, 2.0], [5.0, -6.5]], 1)
    with pytest.raises(ValueError, match="missing must be 'error' or 'drop'"):
        read_table(path, missing="mean")


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in {"csv", "tsv"}])
def test_damaged_files_are_one_sentence(tmp_path, kind):
    whole = saved(tmp_path, kind).read_bytes()
    other = saved(tmp_path, "npz" if kind == "npy" else "npy").read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"a,b\n1,2\n", other):
        path = tmp_path / f"damaged.{kind}"
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a") as error:
            read_table(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)


def test_text_in_columns_that_were_not_asked_for_does_no_harm(tmp_path):
    path = csv(tmp_path, "name,a\nu,1\nv,2\n")
    assert read_table(path, ["a"]).values.tolist() == [[1.0], [2.0]]
    with pytest.raises(ValueError, match=r"not numbers in column 'name' \('u'\)"):
        read_table(path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_choice_may_depend_on_the_names_there(tmp_path, kind):
    path = saved(tmp_path, kind)
    seen = []
    assert read_table(path, lambda names: seen.append(tuple(names))).shape == (3, 2)
    assert seen == [() if kind == "npy" else ("a", "b")]
    if kind != "npy":
        assert read_table(path, lambda names: names[1:]).names == ("b",)


def test_columns_without_names_are_chosen_by_position(tmp_path):
    plain = csv(tmp_path, "1,5,2\n3,6,4\n", "plain.csv")
    assert read_table(plain, [2, 0]).values.tolist() == [[2.0, 1.0], [4.0, 3.0]]
    assert read_table(plain, [2, 0]).names == ()


def test_a_number_that_comes_late_still_counts(tmp_path):
    lines = ["a,b", *["1,2"] * 400_000, "1.5,2"]  # more than one of the reader's blocks
    table = read_table(csv(tmp_path, "\n".join(lines)))
    assert table.shape == (400_001, 2)
    assert table.values[-1].tolist() == [1.5, 2.0]


def test_a_vector_is_a_column_and_fields_are_columns(tmp_path):
    np.save(tmp_path / "v.npy", np.arange(3, dtype=np.int16))
    assert read_table(tmp_path / "v.npy").values.tolist() == [[0.0], [1.0], [2.0]]
    np.save(tmp_path / "f.npy", np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i4"), ("b", "f4")]))
    table = read_table(tmp_path / "f.npy")
    assert (table.names, table.types, table.values.tolist()) == (("a", "b"), ("int32", "float32"), [[1, 2.5], [3, 4.5]])
    np.savez(tmp_path / "one.npz", VALUES)
    assert read_table(tmp_path / "one.npz").values.tolist() == VALUES.tolist()
    assert read_table(tmp_path / "one.npz").names == ()


def test_nothing_pickled_is_read(tmp_path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a file ran code",))

    (tmp_path / "pickle.npy").write_bytes(pickle.dumps(Trap()))
    np.save(tmp_path / "objects.npy", np.array([[Trap()]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "objects.npz", a=np.array([Trap()], dtype=object), b=np.ones(1))
    for path in tmp_path.iterdir():
        with pytest.raises(ValueError, match="not an ar"):
            read_table(path)


def test_archives_of_arrays_that_are_no_columns(tmp_path):
    np.savez(tmp_path / "odd.npz", a=np.ones(3), b=np.ones(4))
    with pytest.raises(ValueError, match=r"of one length, got 'a': \(3,\), 'b': \(4,\)"):
        read_table(tmp_path / "odd.npz")
    np.save(tmp_path / "cube.npy", np.ones((2, 2, 2)))
    with pytest.raises(ValueError, match=r"cube\.npy must be a table of rows and columns, got shape \(2, 2, 2\)"):
        read_table(tmp_path / "cube.npy")


def test_endings_in_capitals_are_endings(tmp_path):
    assert read_table(csv(tmp_path, "a\n1\n", "ROWS.CSV")).values.tolist() == [[1.0]]


def test_compressed_feather(tmp_path):
    feather.write_feather(pd.DataFrame(VALUES, columns=["a", "b"]), tmp_path / "z.feather", compression="zstd")
    np.testing.assert_array_equal(read_table(tmp_path / "z.feather").values, VALUES)
