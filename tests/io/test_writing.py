"""What is written is read again, number for number; a file appears whole or not at all."""

import numpy as np
import pytest

from equipoise.io import read_table, write_table
from equipoise.io.atomic import appearing, write_text
from equipoise.io.writing import check_writable, csv_text

KINDS = ["csv", "tsv", "parquet", "feather", "arrow", "npy", "npz"]
COLUMNS = {
    "log_density": np.array([-1.0 / 3.0, 1e-300, -745.25]),
    'odd, "name"': np.array([1e12, np.nextafter(1.0, 2.0), -0.0]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_read_again(tmp_path, kind):
    path = tmp_path / f"scores.{kind}"
    write_table(path, COLUMNS)
    table = read_table(path)
    np.testing.assert_array_equal(table.values, np.column_stack(list(COLUMNS.values())))
    assert table.names == (() if kind == "npy" else tuple(COLUMNS))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("kind", KINDS)
def test_an_older_file_is_replaced_or_left_alone(tmp_path, kind):
    path = tmp_path / f"scores.{kind}"
    path.write_text("old")
    with pytest.raises(ValueError, match=r"of one length, got 'a': \(1,\), 'b': \(2,\)"):
        write_table(path, {"a": [1.0], "b": [1.0, 2.0]})
    assert path.read_text() == "old"
    write_table(path, {"a": [1.0]})
    assert read_table(path).values.tolist() == [[1.0]]


def test_one_column_is_a_vector_in_npy(tmp_path):
    write_table(tmp_path / "v.npy", {"log_density": [1.0, 2.0]})
    assert np.load(tmp_path / "v.npy").tolist() == [1.0, 2.0]


def test_infinities_and_integers_survive(tmp_path):
    write_table(tmp_path / "v.csv", {"a": np.array([-np.inf, 1.5]), "n": np.array([1, 2])})
    assert (tmp_path / "v.csv").read_text() == "a,n\n-inf,1\n1.5,2\n"
    assert csv_text({"a": np.array([-np.inf, 1.5])}) == "a\n-inf\n1.5\n"


def test_a_column_may_be_called_file(tmp_path):
    write_table(tmp_path / "v.npz", {"file": [1.0], "a": [2.0]})
    assert read_table(tmp_path / "v.npz").names == ("file", "a")


def test_where_nothing_can_be_written_is_said(tmp_path):
    for path, words in (
        (tmp_path / "rows.xlsx", r"ends in \.csv, .*\.npz, got \.xlsx"),
        (tmp_path / "rows", "got no ending"),
        (tmp_path / "none" / "rows.csv", "there is no folder"),
    ):
        with pytest.raises(ValueError, match=words):
            write_table(path, {"a": [1.0]})
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match="a folder, not a file"):
        write_table(tmp_path / "folder.csv", {"a": [1.0]})
    with pytest.raises(ValueError, match="of one length, got none"):
        write_table(tmp_path / "rows.csv", {})
    with pytest.raises(ValueError, match=r"got \.txt"):
        check_writable("rows.txt")
    assert [file.name for file in tmp_path.iterdir()] == ["folder.csv"]


def test_an_interruption_leaves_nothing_behind(tmp_path):
    (tmp_path / "page.html").write_text("old")

    def interrupted():
        with appearing(tmp_path / "page.html") as beside:
            beside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]
    write_text(tmp_path / "page.html", "neu ± ü")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "neu ± ü"
