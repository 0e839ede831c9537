"""The image density: exact integral, exact sampler, and the interpolation of the paper."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.interpolate import RegularGridInterpolator

from equipoise.targets import ImageDensity


def picture(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape).astype(float)


SHAPES = [(2, 2), (3, 5), (4, 3, 2), (5, 4, 3), (3, 3, 4)]


def quadrature(features, cells):
    """Gauss's rule of two points a cell: exact for what is linear along every axis between pixels."""
    nodes, weights = np.polynomial.legendre.leggauss(2)
    axes, masses = [], []
    for count in cells:
        axes.append(np.concatenate([(k + 0.5 + 0.5 * nodes) / count for k in range(count)]))
        masses.append(np.tile(0.5 * weights / count, count))
    points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    mass = np.prod([m.ravel() for m in np.meshgrid(*masses, indexing="ij")], axis=0)
    return points, mass


@pytest.mark.parametrize("shape", SHAPES)
def test_it_integrates_to_one_exactly(shape):
    target = ImageDensity(picture(shape))
    height, width, *channels = shape
    points, mass = quadrature(target.features, [size - 1 for size in (width, height, *channels)])
    assert abs((target.log_prob(points).exp().numpy() * mass).sum() - 1.0) < 1e-12


@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_the_linear_interpolation_of_the_pixels(shape):
    image = picture(shape)
    target = ImageDensity(image)
    rows = np.random.default_rng(1).random((500, target.features))
    pixels = np.swapaxes(image, 0, 1)
    interpolate = RegularGridInterpolator([np.linspace(0, 1, size) for size in pixels.shape], pixels)
    ratio = target.log_prob(rows).exp().numpy() / interpolate(rows)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-10)


@pytest.mark.parametrize("shape", [(3, 5), (5, 4, 3)])
def test_rows_fall_into_cells_as_often_as_they_should(shape):
    """χ² over the halves of every cell, where a hat folded at the wrong edge would show."""
    target = ImageDensity(picture(shape, seed=2))
    height, width, *channels = shape
    bins = [2 * (size - 1) for size in (width, height, *channels)]
    rows = target.sample(40_000, torch.Generator().manual_seed(0), torch.float64).numpy()
    counts = np.histogramdd(rows, bins=bins, range=[(0, 1)] * target.features)[0]
    points, mass = quadrature(target.features, bins)
    each = target.log_prob(points).exp().numpy() * mass
    expected = np.histogramdd(points, bins=bins, range=[(0, 1)] * target.features, weights=each)[0]
    assert stats.chisquare(counts.ravel(), 40_000 * expected.ravel() / expected.sum()).pvalue > 0.001


def test_x_runs_along_the_width_and_y_down():
    image = np.zeros((3, 7))
    image[0, 6] = 1.0
    rows = ImageDensity(image).sample(100, torch.Generator().manual_seed(0))
    assert bool((rows[:, 0] > 5 / 6 - 1e-6).all())
    assert bool((rows[:, 1] < 0.5 + 1e-6).all())


def test_black_and_outside_are_impossible():
    image = np.zeros((4, 4))
    image[:2] = 1.0
    log_prob = ImageDensity(image).log_prob([[0.5, 0.9], [0.5, 0.1], [1.1, 0.1], [0.5, -0.1]])
    assert torch.isneginf(log_prob).tolist() == [True, False, True, True]


def test_the_photograph_has_three_axes():
    target = ImageDensity()
    assert target.features == 3
    rows = target.sample(4_000, torch.Generator().manual_seed(0), torch.float64)
    assert target.log_prob(rows).mean() > 0.1  # nats below a uniform cube's entropy of zero


@pytest.mark.parametrize("image", [np.zeros(5), np.zeros((1, 5)), np.zeros((3, 3, 1)), np.zeros((2, 2, 2, 2))])
def test_shapes_that_are_no_image_are_refused(image):
    with pytest.raises(ValueError, match="an image must be"):
        ImageDensity(image)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_values_that_are_no_brightness_are_refused(value):
    image = np.ones((3, 3))
    image[1, 1] = value
    with pytest.raises(ValueError, match="finite, not negative and not all zero"):
        ImageDensity(image)
    with pytest.raises(ValueError, match="not all zero"):
        ImageDensity(np.zeros((3, 3)))
