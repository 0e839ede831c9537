"""Labelled tables: classes in order, priors as in the table, weights beside their rows."""

import numpy as np
import pytest
import torch

from equipoise.sources import Labelled

X = np.arange(20.0).reshape(10, 2)
Y = np.array(["dog", "cat", "cat", "eel", "dog", "cat", "cat", "eel", "cat", "cat"])


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_classes_are_sorted_and_codes_follow_their_rows():
    source = Labelled(X, Y)
    assert source.classes.tolist() == ["cat", "dog", "eel"]
    batch = source.draw(6, 6, generator())
    index = (batch.x[:, 0] / 2).long().numpy()
    assert source.classes[batch.labels.numpy()].tolist() == Y[index].tolist()
    assert batch.labels.dtype == torch.int64


def test_a_batch_has_no_sides():
    batch = Labelled(X, Y).draw(6, 4, generator())
    assert (batch.n_up, batch.n_down, len(batch.x)) == (10, 0, 10)


def test_priors_are_the_shares_of_the_labels():
    """Exactly, over whole epochs."""
    batch = Labelled(X, Y).draw(15, 15, generator())
    assert torch.bincount(batch.labels).tolist() == [18, 6, 6]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [([3, 1, 2, 1], [1, 2, 3]), ([True, False, True, True], [False, True]), ([0.5, -1.0, 0.5, 0.5], [-1.0, 0.5])],
)
def test_labels_may_be_anything_that_sorts(labels, classes):
    assert Labelled(X[:4], labels).classes.tolist() == classes


def test_rows_arrive_as_the_surface_wants_them():
    batch = Labelled(X, Y, np.arange(10)).draw(5, 5, generator(), like=torch.empty(0, dtype=torch.float32))
    assert batch.x.dtype == batch.weight.dtype == torch.float32
    assert batch.weight.tolist() == (batch.x[:, 0] / 2).tolist()
    assert Labelled(X, Y).draw(5, 5, generator()).x.dtype == torch.float64


@pytest.mark.parametrize("replace", [False, True])
def test_a_seed_repeats_the_draw(replace):
    first, again, other = (Labelled(X, Y, replace=replace).draw(4, 4, generator(seed)).x for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (Y[:-1], r"expected \(10,\), got \(9,\)"),
        (np.zeros((10, 1)), r"got \(10, 1\)"),
        (["cat"] * 10, r"two classes, got only \['cat'\]"),
        ([1.0, 2.0] * 4 + [np.nan, 1.0], "labels must not be NaN, and 1 are"),
    ],
)
def test_what_labels_no_rows_is_refused(labels, words):
    with pytest.raises(ValueError, match=words):
        Labelled(X, labels)


def test_a_wrong_weight_is_refused():
    with pytest.raises(ValueError, match="one number per row"):
        Labelled(X, Y, np.ones(3))


def test_labelled_rows_have_no_base():
    with pytest.raises(ValueError, match="labelled rows have no base"):
        Labelled(X, Y).draw(3, 3, generator(), log_base=True)
