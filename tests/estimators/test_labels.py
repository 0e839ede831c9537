"""Labels: whatever sorts becomes classes, what measures is refused, and files give the same classes back."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.exceptions import DataConversionWarning

from equipoise.estimators.labels import Classes, Labels, classes_document, priors_of, to_classes

WORDS = ["dog", "cat", "cat", "eel"]


@pytest.mark.parametrize(
    "y",
    [
        WORDS,
        np.array(WORDS),
        np.array(WORDS, dtype=object),
        pd.Series(WORDS),
        pd.Series(WORDS, dtype="category"),
        pl.Series(WORDS),
    ],
    ids=["list", "array", "objects", "pandas", "categories", "polars"],
)
def test_words_are_classes(y):
    labels = Labels.read(y, 4)
    assert labels.classes.tolist() == ["cat", "dog", "eel"]
    assert labels.codes.tolist() == [1, 0, 0, 2]


@pytest.mark.parametrize(
    ("y", "classes"),
    [([3, 1, 2, 1], [1, 2, 3]), ([True, False, True, True], [False, True]), ([2.0, -1.0, 2.0, 2.0], [-1.0, 2.0])],
)
def test_numbers_that_name_are_classes(y, classes):
    for given in (y, np.array(y), torch.tensor(y)):
        labels = Labels.read(given, 4)
        assert labels.classes.tolist() == classes
        assert labels.classes[labels.codes.numpy()].tolist() == y


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (["a", "b", "a"], "one label per row: expected 4, got 3"),
        (["a"] * 4, "one class only: 'a'"),
        ([0.1, 0.2, 0.3, 0.4], "continuous"),
        ([1.0, np.nan, 2.0, 1.0], "no label .* in 1 of 4 rows"),
        (np.array(["a", None, "b", None], dtype=object), "no label .* in 2 of 4 rows"),
        (pd.Series(["a", pd.NA, "b", "a"]), "no label .* in 1 of 4 rows"),
        (np.eye(4), "1d array"),
    ],
)
def test_what_is_no_label_is_refused(y, words):
    with pytest.raises(ValueError, match=words):
        Labels.read(y, 4)


def test_a_column_is_read_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert Labels.read(np.array([[0], [1]]), 2).codes.tolist() == [0, 1]


def test_only_kept_rows_are_looked_at():
    keep = torch.tensor([True, True, False, True])
    labels = Labels.read(["b", "a", None, "b"], 4, keep)
    assert labels.codes.tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="one class only"):
        Labels.read(["a", "a", "b", "a"], 4, keep)


# --- priors -----------------------------------------------------------------------------------------------------------


def test_priors_go_by_class_or_by_order():
    classes = np.array(["cat", "dog"])
    assert priors_of(None, classes) is None
    assert priors_of({"dog": 0.25, "cat": 0.75}, classes).tolist() == [0.75, 0.25]
    assert priors_of([0.75, 0.25], classes).tolist() == [0.75, 0.25]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"dog": 0.25, "cow": 0.75}, r"priors name the classes \['cow', 'dog'\], and y has \['cat', 'dog'\]"),
        ([0.5, 0.4], "positive numbers that sum to 1"),
        ([1.0, 0.0], "positive"),
        ([0.2, 0.3, 0.5], "2 positive numbers"),
        ("equal", "priors must be one number per class"),
        ([0.5, np.nan], "positive"),
    ],
)
def test_what_are_no_priors_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        priors_of(given, np.array(["cat", "dog"]))


def test_priors_shift_log_probabilities_by_their_ratio():
    shares, priors = torch.tensor([0.25, 0.75]).double(), torch.tensor([0.5, 0.5]).double()
    assert Classes(np.arange(2), shares).shift.tolist() == [0.0, 0.0]
    assert torch.exp(Classes(np.arange(2), shares, priors).shift).tolist() == pytest.approx([2.0, 2.0 / 3.0])


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["cat", "dog"]),
        np.array(["cat", "dog"], dtype=object),
        np.array([1, 5], dtype=np.int32),
        np.array([0, 2**63], dtype=np.uint64),
        np.array([-1.5, 2.0], dtype=np.float32),
        np.array([False, True]),
    ],
    ids=str,
)
def test_classes_come_back(classes):
    again = to_classes(json.loads(json.dumps(classes_document(classes))))
    assert again.dtype == classes.dtype
    np.testing.assert_array_equal(again, classes)


@pytest.mark.parametrize(
    "document",
    [
        {"type": "text", "values": ["dog", "cat"]},
        {"type": "text", "values": ["cat", "cat"]},
        {"type": "text", "values": ["cat"]},
        {"type": "text", "values": ["cat", 1]},
        {"type": "int64", "values": [0, "os"]},
        {"type": "int8", "values": [0, 4096]},
        {"type": "int64", "values": [0, 2**80]},
        {"type": "int64", "values": 5},
        {"type": "object", "values": [["cat"], ["dog"]]},
        {"type": "system", "values": [0, 1]},
        {"type": "datetime64[s]", "values": [0, 1]},
    ],
    ids=str,
)
def test_what_are_no_classes_is_refused(document):
    with pytest.raises((ValueError, TypeError)):
        to_classes(document)


def test_classes_that_no_file_can_hold_are_refused():
    with pytest.raises(TypeError, match="cannot go into a model file: use strings or numbers"):
        classes_document(np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"))
