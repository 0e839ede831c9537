"""Relabellings: the true labels first, gaps as loops would find them, and p-values that are exact."""

import numpy as np
import pytest
import torch
from tests.asserts import assert_close

from equipoise.discrepancy.relabelling import Relabellings, p_value


def labels(n, m, count=20, seed=0):
    truth = torch.arange(n + m)[torch.randperm(n + m, generator=torch.Generator().manual_seed(9))] < n
    return Relabellings.draw(truth, count, seed), truth


def test_every_labelling_calls_as_many_rows_x():
    drawn, truth = labels(7, 5)
    assert torch.equal(drawn.called[0], truth)
    assert drawn.sizes == (7, 5)
    assert torch.equal(drawn.called.sum(dim=1), torch.full((21,), 7))
    assert len({tuple(row) for row in drawn.called.tolist()}) > 15


def test_a_seed_repeats_them():
    assert torch.equal(labels(7, 5, seed=3)[0].called, labels(7, 5, seed=3)[0].called)
    assert not torch.equal(labels(7, 5, seed=3)[0].called, labels(7, 5, seed=4)[0].called)


@pytest.mark.parametrize("count", [12, 8])
def test_forces_are_those_of_the_unit_instance(count):
    drawn, _ = labels(7, 5)
    forces = drawn.forces(count)
    for called, force in zip(drawn.called[:, :count], forces, strict=True):
        n = int(called.sum())
        assert_close(force, called.double() / n - (~called).double() / (count - n), absolute=1e-15)


@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("cells", [1 << 22, 12])
def test_gaps_and_spreads_are_what_loops_find(monkeypatch, products, cells):
    monkeypatch.setattr("equipoise.discrepancy.relabelling._CELLS", cells)  # parts of many rows, or of four
    drawn, _ = labels(9, 6)
    rows = torch.randn(15, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64) + 100.0

    def features(x):
        return torch.cat([x, x[:, :1] * x[:, 1:]], dim=1)

    found, made = drawn.measure(features, rows, products=products), features(rows)
    for called, gap in zip(drawn.called, found.gaps, strict=True):
        assert_close(gap, made[called].mean(dim=0) - made[~called].mean(dim=0), relative=1e-9)
    expected = torch.cov(made.T)
    assert_close(found.spread, expected if products else expected.diagonal(), relative=1e-7)
    assert_close(found.mean, made.mean(dim=0), relative=1e-12)


def test_z_has_the_variance_of_all_labellings():
    values = torch.tensor([[0.3], [1.0], [-2.0], [0.1], [4.0]], dtype=torch.float64)
    every = torch.tensor([[i in pair for i in range(5)] for pair in [(i, j) for i in range(5) for j in range(i)]])
    z = Relabellings(every).measure(lambda x: x, values).z
    assert_close(z.square().mean(), torch.tensor(1.0).double(), relative=1e-12)


def test_constant_features_have_no_gap():
    drawn, _ = labels(4, 4)
    rows = torch.full((8, 2), 0.1, dtype=torch.float64)
    assert torch.equal(drawn.measure(lambda x: x, rows).z, torch.zeros(21, 2, dtype=torch.float64))


def test_a_p_value_counts_labellings_and_ties():
    assert p_value(torch.tensor([3.0, 1.0, 5.0, 3.0])) == 0.75
    assert p_value(torch.tensor([3.0, 1.0, 5.0, 3.0 - 1e-9]).double()) == 0.75
    assert p_value(torch.tensor([9.0, 1.0, 5.0, 3.0])) == 0.25
    assert p_value(torch.zeros(10)) == 1.0


def test_p_values_are_uniform_at_the_smallest_sizes():
    """All labellings of four rows, each taken as the true one: the p-value is at most k/6 in k of six cases."""
    values = np.array([0.3, 1.0, -2.0, 0.1])
    every = [[i in pair for i in range(4)] for pair in [(i, j) for i in range(4) for j in range(i)]]
    found = []
    for truth in every:
        called = torch.tensor([truth] + [other for other in every if other != truth])
        gaps = Relabellings(called).measure(lambda x: x, torch.from_numpy(values)[:, None]).gaps
        found.append(p_value(gaps[:, 0]))
    assert sorted(found) == pytest.approx([k / 6 for k in range(1, 7)])
