"""Pairs: one buffer, up rows first, the base only where it is asked for."""

import numpy as np
import pytest
import torch
from tests.asserts import assert_close

from equipoise import Pair, bases
from equipoise.sources import Mixture, Rows

UP = np.random.default_rng(0).normal(5.0, 0.1, size=(40, 2))
BASE = bases.Uniform([-1.0, -1.0], [1.0, 1.0])


class Counting(bases.Uniform):
    """A base that counts how often it is evaluated."""

    asked = 0

    def log_prob(self, x):
        self.asked += 1
        return super().log_prob(x)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_up_rows_come_first():
    batch = Pair(UP, BASE).draw(7, 11, generator())
    assert (batch.x.shape, batch.n_up, batch.n_down) == ((18, 2), 7, 11)
    assert bool((batch.x[:7] > 4.0).all())
    assert bool((batch.x[7:].abs() <= 1.0).all())
    assert batch.log_base is None
    assert batch.weight is None
    assert batch.labels is None


def test_the_buffer_is_used_again_until_its_shape_or_type_changes():
    pair, seeded = Pair(UP, BASE), generator()
    first = pair.draw(7, 11, seeded).x
    kept = first.clone()
    second = pair.draw(7, 11, seeded).x
    assert second.data_ptr() == first.data_ptr()
    assert not torch.equal(first, kept)
    larger = pair.draw(8, 11, seeded).x
    assert larger.shape == (19, 2)
    assert larger.data_ptr() != first.data_ptr()
    assert pair.draw(8, 11, seeded, like=torch.empty(0, dtype=torch.float64)).x.dtype == torch.float64


def test_sides_may_share_the_buffer_differently():
    """As many rows in all, other sides: the buffer stays, the batch does not mix them up."""
    pair, seeded = Pair(UP, BASE), generator()
    pair.draw(7, 11, seeded)
    batch = pair.draw(11, 7, seeded)
    assert bool((batch.x[:11] > 4.0).all())
    assert bool((batch.x[11:].abs() <= 1.0).all())


def test_the_base_is_evaluated_only_where_it_is_asked_for():
    base = Counting([-1.0, -1.0], [1.0, 1.0])
    pair, seeded = Pair(UP, base), generator()
    pair.draw(3, 4, seeded)
    assert base.asked == 0
    batch = pair.draw(3, 4, seeded, log_base=True)
    assert base.asked == 1
    assert batch.log_base.dtype == batch.x.dtype == torch.float32
    assert batch.log_base.tolist() == pytest.approx([-np.inf] * 3 + [-np.log(4.0)] * 4)


def test_the_base_is_that_of_the_down_source():
    pair = Pair(UP, Mixture([BASE, BASE]))
    x = torch.zeros(3, 2, dtype=torch.float64)
    assert_close(pair.log_base(x), torch.full((3,), -np.log(4.0), dtype=torch.float64))


@pytest.mark.parametrize("down", [UP, Mixture([UP, BASE])], ids=["rows", "mixture with rows"])
def test_an_unknown_base_is_asked_for(down):
    pair = Pair(UP, down)
    with pytest.raises(ValueError, match="the down density of this pair is not known: give a base with log_prob"):
        pair.log_base(torch.zeros(1, 2))
    assert pair.draw(2, 2, generator()).log_base is None
    with pytest.raises(ValueError, match="not known"):
        pair.draw(2, 2, generator(), log_base=True)


@pytest.mark.parametrize(("up", "down"), [(True, True), (True, False), (False, True)])
def test_weights_of_both_sides_are_joined(up, down):
    """A side without weights counts each row once."""
    weight = np.linspace(0.5, 2.0, 40)

    def side(rows, weighted):
        return Rows(rows, weight) if weighted else Rows(rows)

    rows = np.column_stack([np.arange(40.0), np.arange(40.0)])
    batch = Pair(side(rows, up), side(rows, down)).draw(6, 9, generator())
    expected = torch.from_numpy(weight)[batch.x[:, 0].long()].to(batch.x)
    for part, weighted in ((slice(0, 6), up), (slice(6, 15), down)):
        assert_close(batch.weight[part], expected[part] if weighted else torch.ones_like(expected[part]))


def test_the_same_rows_may_push_both_ways():
    source = Rows(np.arange(10.0))
    batch = Pair(source, source).draw(5, 5, generator())
    assert sorted(batch.x.squeeze(1).tolist()) == list(range(10))


def test_a_seed_repeats_the_draw():
    pair = Pair(UP, BASE)
    first, again, other = (pair.draw(5, 5, generator(seed)).x.clone() for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_sides_of_different_width_are_refused():
    with pytest.raises(ValueError, match="up rows have 2 columns, down rows 1"):
        Pair(UP, np.zeros((5, 1)))


def test_strangers_are_refused():
    with pytest.raises(TypeError, match=r"cannot draw rows from a list: expected an \(n, d\) array"):
        Pair([[1.0]], UP)
