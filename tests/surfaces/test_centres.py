"""Centres are rows, chosen by seed, and spread ones cover what random ones crowd."""

import pytest
import torch

from equipoise.surfaces.centres import choose, median_distance


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("at", ["random", "spread"])
def test_centres_are_different_rows_and_follow_the_seed(at):
    rows = torch.randn(100, 3, generator=generator())
    centres = choose(rows, 20, at, generator(1))
    assert centres.shape == (20, 3)
    found = (centres[:, None] == rows[None]).all(dim=2)
    assert bool((found.sum(dim=1) == 1).all())
    assert bool((found.sum(dim=0) <= 1).all())
    assert torch.equal(choose(rows, 20, at, generator(1)), centres)
    assert not torch.equal(choose(rows, 20, at, generator(2)), centres)
    assert len(choose(rows, 100, at, generator())) == 100


def test_spread_centres_reach_rare_rows():
    rows = torch.cat([0.1 * torch.randn(990, 2, generator=generator()), torch.randn(10, 2, generator=generator()) + 20])
    reached = [bool((choose(rows, 5, "spread", generator(seed))[:, 0] > 10).any()) for seed in range(20)]
    missed = [bool((choose(rows, 5, "random", generator(seed))[:, 0] > 10).any()) for seed in range(20)]
    assert sum(reached) > 18
    assert sum(missed) < 5


def test_spread_centres_follow_squared_distance():
    rows = torch.tensor([[0.0], [1.0], [3.0]])
    second = torch.tensor([float(choose(rows, 2, "spread", generator(seed))[1]) for seed in range(3000)])
    first = torch.tensor([float(choose(rows, 2, "spread", generator(seed))[0]) for seed in range(3000)])
    after_zero = second[first == 0.0]
    share = float((after_zero == 3.0).double().mean())
    assert share == pytest.approx(0.9, abs=4 * (0.09 / len(after_zero)) ** 0.5)


def test_fewer_points_than_centres_is_said():
    with pytest.raises(ValueError, match="2 different points, fewer than the 3 centres"):
        choose(torch.tensor([[0.0], [1.0]]).repeat(10, 1), 3, "spread", generator())


def test_the_median_distance_of_normal_rows_is_known():
    rows = torch.randn(1000, 1, generator=generator())
    assert median_distance(rows, generator()) == pytest.approx(0.6745 * 2**0.5, rel=0.1)
    assert median_distance(rows + 1e6, generator()) == pytest.approx(0.6745 * 2**0.5, rel=0.1)


def test_rows_that_mostly_repeat_still_have_a_distance():
    rows = torch.cat([torch.zeros(95, 1), torch.full((5, 1), 3.0)])
    assert median_distance(rows, generator()) == 3.0
