"""Two tables agree on columns, by name where both have names, and say what it took."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from equipoise.estimators.shared_rows import shared_rows
from equipoise.estimators.two_tables import two_tables
from equipoise.io.table import Table

LEFT = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [5.0, 6.0]})


def test_equal_columns_need_no_words():
    left, right, notes = two_tables(LEFT, LEFT.iloc[:1])
    assert (left.names, right.names, notes) == (("a", "b", "c"), ("a", "b", "c"), [])
    assert (left.shape, right.shape) == ((2, 3), (1, 3))


def test_another_order_follows_the_first_with_a_note():
    left, right, notes = two_tables(LEFT, pl.DataFrame({"c": [9.0], "a": [7.0], "b": [8.0]}), ("old", "new"))
    np.testing.assert_array_equal(right.values, [[7.0, 8.0, 9.0]])
    assert right.names == left.names
    assert notes == ["new's columns were put into the order of old's, by name."]


def test_missing_columns_are_named_on_both_sides():
    with pytest.raises(ValueError, match=r"X has no column 'd'; Y has no column 'a', 'c'; .* both have: b$"):
        two_tables(LEFT, {"b": [1.0], "d": [2.0]})
    with pytest.raises(ValueError, match="no column in common"):
        two_tables(LEFT[["a"]], LEFT[["b"]])


@pytest.mark.parametrize("swap", [False, True])
def test_names_of_one_serve_both(swap):
    bare = torch.ones(4, 3)
    left, right, notes = two_tables(*((bare, LEFT) if swap else (LEFT, bare)))
    assert left.names == right.names == ("a", "b", "c")
    named, without = ("Y", "X") if swap else ("X", "Y")
    assert notes == [f"{without} has no column names: its columns were taken to stand in the order of {named}'s."]


def test_counts_must_agree_without_names():
    with pytest.raises(ValueError, match="X has 3 columns and Y has 2"):
        two_tables(LEFT, np.zeros((4, 2)))


def test_bad_tables_are_called_by_their_names():
    with pytest.raises(ValueError, match="den: Found array with 0 sample"):
        two_tables(LEFT, np.zeros((0, 3)), ("num", "den"))
    with pytest.raises(ValueError, match="den has missing values or NaN in 1 of 2 rows"):
        two_tables(LEFT, [[1.0, 2.0, np.nan], [1.0, 2.0, 3.0]], ("num", "den"))


def test_rows_with_missing_values_are_left_out_where_asked():
    _, right, notes = two_tables(LEFT, [[1.0, 2.0, np.nan], [1.0, 2.0, 3.0]], missing="drop")
    assert right.shape == (1, 3)
    assert notes[0] == "Y: 1 row with missing values left out."


def test_shared_rows_are_counted_as_python_would():
    rng = np.random.default_rng(0)
    x, y = (rng.integers(0, 4, (30, 2)).astype(float) for _ in range(2))
    x[0] = -0.0, 0.0
    found = shared_rows(Table(x), Table(y))
    xs, ys = ([tuple(row + 0.0) for row in rows] for rows in (x, y))
    assert found.left == sum(row in ys for row in xs)
    assert found.right == sum(row in xs for row in ys)
    assert found.within == (sum(xs.count(r) > 1 for r in xs) + sum(ys.count(r) > 1 for r in ys)) / 60
    assert not found.identical
    assert found.by_chance
    assert found.note() == ""


def test_the_same_rows_on_both_sides_are_said():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 3))
    y = np.concatenate([x[:7], rng.normal(size=(20, 3))])
    assert shared_rows(Table(x), Table(y)).note(("a", "b")).startswith("7 of a's 50 rows stand in b as well")
    assert shared_rows(Table(x), Table(rng.normal(size=(9, 3)))).note() == ""
    same = shared_rows(Table(x), Table(x[::-1]))
    assert same.identical
    assert "hold the same rows" in same.note()
