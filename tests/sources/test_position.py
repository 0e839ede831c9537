"""Positions: any source goes on from where another of its kind stood, and outlines tell sources apart."""

import json

import numpy as np
import pytest
import torch

from equipoise import Pair, bases
from equipoise.sources import Conditional, Generated, Known, Labelled, Mixture, Noisy, Rows, Shuffled
from equipoise.sources.order import Order
from equipoise.sources.position import outline, position_of, seek

RANDOM = np.random.default_rng(7)
A, B = RANDOM.normal(size=(31, 2)), RANDOM.normal(size=(23, 2))
BASE, COLUMN = bases.Gaussian().fit(A), bases.Gaussian().fit(A[:, 1:])

SOURCES = {
    "rows": lambda: Rows(A),
    "weighted": lambda: Rows(A, np.arange(31.0)),
    "replaced": lambda: Rows(A, replace=True),
    "known": lambda: Known(torch.distributions.Normal(torch.zeros(2), 1.0)),
    "base": lambda: BASE,
    "mixture": lambda: Mixture([A, B, BASE], [1, 2, 3]),
    "shuffled": lambda: Shuffled(A[:, :1], B[:, 1:]),
    "conditional": lambda: Conditional(A[:, :1], COLUMN),
    "conditional, replaced": lambda: Conditional(A[:, :1], COLUMN, replace=True),
    "generated": lambda: Generated(lambda c, z: c * z, latent=1, conditions=A[:, :1]),
    "noisy": lambda: Noisy(Rows(A), 0.1),
}


def drawn(source, generator, n=9):
    out = torch.empty(n, source.features, dtype=torch.float64)
    weight = source.draw(out, generator)
    return out if weight is None else torch.cat([out, weight.unsqueeze(1)], dim=1)


@pytest.mark.parametrize("before", [0, 1, 3, 8])
@pytest.mark.parametrize("name", SOURCES)
def test_a_source_goes_on_where_another_stood(name, before):
    """Over the ends of several permutations."""
    source, generator = SOURCES[name](), torch.Generator().manual_seed(1)
    for _ in range(before):
        drawn(source, generator)
    position, state = position_of(source), generator.get_state()
    expected = [drawn(source, generator) for _ in range(9)]

    other, again = SOURCES[name](), torch.Generator()
    drawn(other, torch.Generator().manual_seed(5))
    again.set_state(state)
    seek(other, position, again)
    for rows in expected:
        assert torch.equal(drawn(other, again), rows)


@pytest.mark.parametrize("name", ["pair", "labelled", "blurred"])
def test_a_pair_goes_on_where_another_stood(name):
    make = {
        "pair": lambda: Pair(Rows(A), Mixture([A, B])),
        "labelled": lambda: Labelled(A, np.arange(31) % 2),
        "blurred": lambda: Pair(Rows(A), B).with_noise(0.1),
    }[name]
    pair, generator = make(), torch.Generator().manual_seed(1)
    for _ in range(5):
        pair.draw(4, 7, generator)
    position, state = position_of(pair), generator.get_state()
    expected = [pair.draw(4, 7, generator).x.clone() for _ in range(9)]
    other, again = make(), torch.Generator()
    again.set_state(state)
    seek(other, position, again)
    for rows in expected:
        assert torch.equal(other.draw(4, 7, again).x, rows)


def test_a_position_is_small_whatever_the_table():
    """It holds the generator that made a permutation, not the permutation."""
    order = Order(1_000_000)
    order.take(10, torch.Generator().manual_seed(0))
    assert sum(v.nbytes for v in order.position().values() if isinstance(v, torch.Tensor)) < 10_000


def test_a_position_among_other_rows_is_refused():
    order = Order(10)
    with pytest.raises(ValueError, match="a position among 11 rows, and there are 10"):
        order.seek(Order(11).position(), torch.Generator())
    with pytest.raises(ValueError, match="a position among"):
        order.seek(Order(10, replace=True).position(), torch.Generator())


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
@pytest.mark.parametrize("count", [1, 3, 1000])
def test_an_order_is_permutations_end_to_end(n, count):
    order, generator = Order(n), torch.Generator().manual_seed(0)
    draws = -(-3 * n // count)
    numbers = torch.cat([order.take(count, generator).clone() for _ in range(draws)])
    for epoch in numbers[: 3 * n].split(n):
        assert sorted(epoch.tolist()) == list(range(n))


def test_outlines_tell_sources_apart():
    texts = [outline(make()) for make in SOURCES.values()]
    texts += [outline(Rows(A + 1e-9)), outline(Rows(B)), outline(Pair(A, B)), outline(Pair(B, A)), outline(object())]
    texts += [outline(Labelled(A, np.arange(31) % 2)), outline(Labelled(A, np.arange(31) % 3))]
    assert len(set(texts)) == len(texts)
    assert all(json.loads(json.dumps(text)) == text for text in texts)
    assert outline(Rows(A)) == outline(Rows(A.copy()))
