"""Random waves: their products approach the kernel as one over the root of their number, without bias."""

import pytest
import torch
from tests.asserts import assert_close
from tests.surfaces.test_kernel import exact

from equipoise.surfaces import RandomFeatures
from equipoise.surfaces.radial import RADIAL

KINDS = pytest.mark.parametrize("kind", RADIAL)
X = 0.7 * torch.randn(40, 3, generator=torch.Generator().manual_seed(0))


def error(kind, waves, seed, bandwidth=1.5):
    bumps = RandomFeatures(3, waves, bandwidth, kind, seed=seed).feature_map(X)
    return bumps @ bumps.T - exact(kind, X, X, bandwidth)


@KINDS
def test_the_error_falls_as_one_over_the_root_of_their_number(kind):
    few, many = (
        torch.stack([error(kind, waves, seed) for seed in range(40)]).square().mean().sqrt() for waves in (50, 5000)
    )
    assert float(few / many) == pytest.approx(10.0, rel=0.15)


@KINDS
def test_the_mean_over_seeds_is_the_kernel(kind):
    errors = torch.stack([error(kind, 500, seed) for seed in range(100)])
    deviations = errors.mean(dim=0) / (errors.std(dim=0) / 10 + 1e-6)
    assert float(deviations.abs().max()) < 5.5  # of 780 pairs
    assert float(deviations.square().mean()) < 2.0


@KINDS
def test_a_row_meets_itself_exactly(kind):
    bumps = RandomFeatures(3, 7, 0.1, kind, seed=0).feature_map(100 * X)
    assert_close((bumps * bumps).sum(dim=1), torch.ones(40), relative=1e-5)


def test_the_seed_fixes_the_waves():
    waves = [RandomFeatures(3, 7, seed=seed).frequencies for seed in (0, 0, 1, None, None)]
    assert torch.equal(waves[0], waves[1])
    assert len({tuple(w.flatten().tolist()) for w in waves}) == 4


def test_on_rows_takes_the_median_distance():
    wide = RandomFeatures.on_rows(X, 7, seed=0).frequencies
    narrow = RandomFeatures.on_rows(X, 7, bandwidth=1.0, seed=0).frequencies
    assert_close(narrow / wide, torch.pdist(X).median(), relative=1e-5)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"features": 0}, "at least 1, got 0, 500, 1"),
        ({"features": 1, "waves": 0}, "at least 1"),
        ({"features": 1, "outputs": 0}, "at least 1"),
        ({"features": 1, "bandwidth": -1.0}, "positive number, got -1.0"),
        ({"features": 1, "kind": "cubic"}, "gaussian, laplacian"),
    ],
)
def test_bad_input_is_said(arguments, said):
    with pytest.raises(ValueError, match=said):
        RandomFeatures(**arguments)
