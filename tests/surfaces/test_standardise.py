"""A standardised surface sees columns of mean 0 and deviation 1, whatever the rows' units."""

from math import inf

import pytest
import torch
from tests.asserts import assert_close

from equipoise import Interval
from equipoise.surfaces import FullyConnected, InRange, Standardise, heights_of


def test_standardised_columns_have_mean_zero_and_deviation_one():
    rows = torch.randn(500, 3) * torch.tensor([1.0, 100.0, 1e-3]) + torch.tensor([0.0, -7.0, 5.0])
    seen = []
    inner = torch.nn.Identity()
    inner.register_forward_hook(lambda _, __, output: seen.append(output))
    Standardise.to_rows(inner, rows)(rows)
    assert_close(seen[0].mean(dim=0), torch.zeros(3), absolute=1e-2)
    assert_close(seen[0].std(dim=0, correction=0), torch.ones(3), relative=1e-2)


def test_the_statistics_survive_a_large_mean_in_float32():
    rows = (torch.arange(100_001) % 2).unsqueeze(1).float() + 4096.0  # float32 sums of these lose the deviation
    surface = Standardise.to_rows(torch.nn.Identity(), rows)
    share = 50_000 / 100_001
    assert float(surface.mean) == pytest.approx(4096.0 + share, rel=1e-7)
    assert float(surface.scale) == pytest.approx((share * (1 - share)) ** 0.5, rel=1e-6)


def test_standardise_is_the_surface_in_other_units():
    inner = FullyConnected(2)
    x = torch.randn(9, 2)
    moved = Standardise(inner, [1.0, -2.0], [10.0, 0.5])
    assert_close(moved(x * torch.tensor([10.0, 0.5]) + torch.tensor([1.0, -2.0])), inner(x), relative=1e-4)
    assert set(moved.state_dict()) > {"mean", "scale"}


def test_standardise_passes_the_range_on():
    assert heights_of(Standardise(InRange(FullyConnected(1), (0.0, 1.0)), [0.0], [1.0])) == Interval(0.0, 1.0)


@pytest.mark.parametrize(
    ("mean", "scale"),
    [([0.0], [0.0]), ([0.0, 1.0], [1.0]), ([0.0], [-1.0]), ([0.0], [inf * 0]), ([inf], [1.0]), ([0.0], [inf])],
)
def test_units_that_do_not_exist_are_refused(mean, scale):
    with pytest.raises(ValueError, match="mean and scale need"):
        Standardise(FullyConnected(1), mean, scale)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (torch.tensor([[1.0, 0.1, 2.0], [2.0, 0.1, 2.0], [3.0, 0.1, 2.0]]), r"columns \[1, 2\] hold one value"),
        (torch.zeros(0, 2), "n >= 1"),
        (torch.zeros(5), "n >= 1"),
        (torch.tensor([[1.0], [float("nan")]]), "finite"),
    ],
)
def test_rows_without_a_scale_are_refused(rows, words):
    with pytest.raises(ValueError, match=words):
        Standardise.to_rows(FullyConnected(3), rows)


def test_rows_of_another_width_are_refused_though_they_would_broadcast():
    with pytest.raises(ValueError, match="rows of 1 columns"):
        Standardise(FullyConnected(3, 4, 1), mean=[0.0], scale=[1.0])(torch.zeros(5, 3))
