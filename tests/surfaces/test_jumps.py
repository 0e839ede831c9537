"""Jumps of a density are found where they are, and nowhere else."""

import pytest
import torch

from equipoise.surfaces.jumps import find


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def uniform(n, seed=0):
    return torch.rand(n, generator=generator(seed), dtype=torch.float64)


def normal(n, seed=0):
    return torch.randn(n, generator=generator(seed), dtype=torch.float64)


def steps(n, seed=0):
    """Density ½ on (0, 1), 3/2 on (1, 1.2), 0.2/0.8 on (1.2, 2): jumps at 1 and 1.2."""
    which = uniform(n, seed + 1000)
    u = uniform(n, seed)
    return torch.where(which < 0.5, u, torch.where(which < 0.8, 1 + 0.2 * u, 1.2 + 0.8 * u)).sort().values


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e9])
@pytest.mark.parametrize("n", [10_000, 100_000])
def test_jumps_are_found_to_within_a_few_rows(n, scale):
    for seed in range(5):
        places, errors = find(scale * steps(n, seed))
        assert len(places) == 2
        order = places.argsort()
        off = (places[order] / scale - torch.tensor([1.0, 1.2], dtype=torch.float64)).abs()
        assert bool((off < 20 / n).all())
        assert bool((errors / scale < 10 / n).all())


@pytest.mark.parametrize(
    "draw",
    [
        uniform,
        normal,
        lambda n, seed: -torch.log(uniform(n, seed)),
        lambda n, seed: torch.cat([normal(n // 2, seed), 4 + 0.3 * normal(n // 2, seed + 50)]),
    ],
    ids=["uniform", "normal", "exponential", "two modes"],
)
def test_a_smooth_density_has_none(draw):
    found = [len(find(draw(n, seed).sort().values)[0]) for seed in range(10) for n in (2000, 100_000)]
    assert sum(found) == 0


def test_few_rows_have_none():
    assert len(find(steps(100))[0]) == 0


def test_values_that_repeat_are_one_place_a_side():
    places, _ = find(torch.randint(0, 5, (20_000,), generator=generator()).double().sort().values)
    assert set(places.tolist()) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert len(places) <= 8
