"""Labelled rows in parts: every class in its share, no row in two, and none lost to those that teach."""

import pytest
import torch

from equipoise.estimators.class_rows import ClassRows, deal, folds


def labels(*counts, seed=0):
    every = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    return every[torch.randperm(len(every), generator=torch.Generator().manual_seed(seed))]


@pytest.mark.parametrize("parts", [3, 10])
def test_every_class_has_its_share_of_every_part(parts):
    y = labels(600, 90, 31)
    part = deal(y, parts, seed=0)
    for k in range(3):
        counts = torch.bincount(part[y == k], minlength=parts)
        assert counts.max() - counts.min() <= 1


def test_who_is_where_depends_on_the_seed_alone():
    y = labels(100, 50)
    assert torch.equal(deal(y, 5, 1), deal(y, 5, 1))
    assert not torch.equal(deal(y, 5, 1), deal(y, 5, 2))


@pytest.mark.parametrize("parts", [3, 10])
@pytest.mark.parametrize("counts", [(60, 3, 3), (55, 2, 1), (30, 30)])
def test_every_class_teaches_in_every_fold(parts, counts):
    y = labels(*counts)
    for fold in folds(y, parts, parts, seed=0):
        assert set(y[fold.teach].tolist()) == set(range(len(counts)))
        whole = torch.cat([fold.teach, fold.watch, fold.judge])
        assert torch.equal(whole.sort().values, torch.arange(len(y)))
        assert min(len(fold.watch), len(fold.judge)) > 0


def test_no_row_judges_twice():
    judges = torch.cat([fold.judge for fold in folds(labels(80, 40), 10, 5, seed=0)])
    assert len(judges.unique()) == len(judges) == 60


def test_teaching_rows_come_in_no_order():
    teach = folds(labels(500, 500), 10, 1, seed=0)[0].teach
    assert not torch.equal(teach, teach.sort().values)
    assert abs(teach[:400].double().mean().item() - 500.0) < 60.0


def test_shares_are_of_weights():
    table = ClassRows(torch.zeros(4, 1), torch.tensor([0, 2, 2, 1]), torch.tensor([1.0, 1.0, 2.0, 4.0]).double(), 3)
    assert table.shares.tolist() == [0.125, 0.5, 0.375]
    assert table[torch.tensor([1, 2])].shares.tolist() == [0.0, 0.0, 1.0]
