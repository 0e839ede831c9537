"""Rows with labels, and how they are dealt into parts in which every class has its share.

part = 0 1 2 … P−1 0 1 2 …   along rows sorted by class, at random within a class
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_FEWEST = 3  # rows of a class of which some may be held out; two parts are, so that one row at least teaches


@dataclass(frozen=True)
class ClassRows:
    """Labelled rows of C classes.

    Arguments:
        rows: (n, d), float64.
        labels: Classes 0 … C−1, (n,).
        weight: Sample weights, positive, (n,).
        classes: C.
    """

    rows: Tensor
    labels: Tensor
    weight: Tensor
    classes: int

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Tensor) -> ClassRows:
        return ClassRows(self.rows[index], self.labels[index], self.weight[index], self.classes)

    @property
    def share(self) -> Tensor:
        """Every row's share of the whole, (n,)."""
        return self.weight / self.weight.sum()

    @property
    def spare(self) -> int:
        """How many rows are of classes of which some may be held out."""
        return int((_size_of_class(self.labels) >= _FEWEST).sum())

    @property
    def shares(self) -> Tensor:
        """Every class's share of the whole, (C,)."""
        return torch.zeros(self.classes, dtype=torch.float64).index_add_(0, self.labels, self.share)


@dataclass(frozen=True)
class Fold:
    """Positions of rows that teach, in no order, of rows that end a push, and of rows that judge it."""

    teach: Tensor
    watch: Tensor
    judge: Tensor


def folds(labels: Tensor, parts: int, count: int, seed: int) -> list[Fold]:
    """So many folds: part k ends the k-th push, and the next part judges it."""
    part = deal(labels, parts, seed)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed + 1))
    shuffled = part[order]
    found = []
    for k in range(count):
        after = (k + 1) % parts
        at = (shuffled != k) & (shuffled != after), shuffled == k, shuffled == after
        found.append(Fold(*(order[chosen] for chosen in at)))
    return found


def deal(labels: Tensor, parts: int, seed: int) -> Tensor:
    """The part of every row, (n,); −1 for rows of classes so small that they can only teach."""
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    order = order[torch.argsort(labels[order], stable=True)]
    part = torch.empty_like(labels)
    part[order] = torch.arange(len(labels)) % parts
    return torch.where(_size_of_class(labels) < _FEWEST, -1, part)


def _size_of_class(labels: Tensor) -> Tensor:
    """How many rows are of a row's class, (n,)."""
    return torch.bincount(labels)[labels]
