"""Steady state: a push allocates nothing large, faults no pages, and costs no memory as it goes on."""

import resource

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from equipoise import Pair, bases, push
from equipoise.sources import Labelled, Rows
from equipoise.surfaces import FullyConnected

ROWS, COLUMNS, BATCH = 20_000, 20, 1000  # a side of a batch is 80,000 bytes
TABLE = np.random.default_rng(0).normal(size=(ROWS, COLUMNS)).astype(np.float32)
LARGE = 65_536


class Allocations(TorchDispatchMode):
    """Notes what returns 64 KiB or more that it was not given."""

    def __init__(self):
        super().__init__()
        self.calls, self.made = 0, []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        given = {t.untyped_storage().data_ptr() for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)}
        out = function(*args, **(kwargs or {}))
        self.calls += 1
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                if storage.nbytes() >= LARGE and storage.data_ptr() not in given:
                    self.made.append(f"{function} {tuple(tensor.shape)}")
        return out


class Constant(nn.Module):
    """One height everywhere: what is left is the loop's own."""

    def __init__(self, outputs=1):
        super().__init__()
        self.level = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return self.level.expand(len(x)) if len(self.level) == 1 else self.level.expand(len(x), -1)


def mapped(tmp_path):
    np.save(tmp_path / "rows.npy", TABLE)
    return np.load(tmp_path / "rows.npy", mmap_mode="r")


PAIRS = {
    "rows": lambda _: Pair(TABLE, bases.Uniform().fit(TABLE)),
    "float64 rows": lambda _: Pair(TABLE.astype(np.float64), bases.Uniform().fit(TABLE)),
    "weighted": lambda _: Pair(Rows(TABLE, np.ones(ROWS)), bases.Uniform().fit(TABLE)),
    "mapped": lambda folder: Pair(mapped(folder), bases.Uniform().fit(TABLE)),
    "labelled": lambda _: Labelled(TABLE, np.arange(ROWS) % 3),
}


@pytest.mark.parametrize("name", PAIRS)
def test_no_step_allocates_much(name, tmp_path):
    """After a first epoch, whatever the options that work every step."""
    pair, watched = PAIRS[name](tmp_path), Allocations()

    def watch(step, *_):
        if step == 25:
            watched.__enter__()
        if step == 50:
            watched.__exit__(None, None, None)

    surface = Constant(3 if name == "labelled" else 1)
    instance = "softmax_cross_entropy" if name == "labelled" else "pso_lde"
    options = {"n_up": BATCH, "noise": 0.1, "average": 0.99, "clip": 1.0, "record_every": 25, "seed": 0}
    push(surface, instance, pair, steps=60, callbacks=[watch], **options)
    assert watched.calls > 25 * 20
    assert not watched.made


def test_an_allocation_would_be_noted():
    with Allocations() as watched:
        kept = torch.zeros(BATCH, COLUMNS)
        torch.add(kept, 1.0, out=kept)
        kept[:10].mul_(2.0)
        kept + 1.0
    assert [name.split()[0] for name in watched.made] == ["aten.zeros.default", "aten.add.Tensor"]


def test_pages_are_not_faulted_in_step_by_step():
    faults = []
    hook = [lambda *_: faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)]
    pair = Pair(TABLE, bases.Uniform().fit(TABLE))
    push(Constant(), "pso_lde", pair, steps=401, record_every=100, callbacks=hook, seed=0)
    assert (faults[-1] - faults[1]) / 300 < 20.0


def test_gradients_are_summed_where_they_are():
    """Every step finds the gradient's memory where the first one put it."""
    places = []
    surface = FullyConnected(COLUMNS, 8, 1)
    hook = [lambda *_: places.append([w.grad.data_ptr() for w in surface.parameters()])]
    push(surface, "nce", Pair(TABLE, TABLE), steps=4, n_up=50, record_every=1, callbacks=hook)
    assert all(place == places[0] for place in places)
