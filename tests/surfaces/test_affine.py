"""The affine surface: planes as they were given, one height a row or several."""

import pytest
import torch
from tests.asserts import assert_close

from equipoise.surfaces import Affine

X = torch.randn(20, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("outputs", [1, 4])
def test_planes_are_those_given(outputs):
    weights = torch.arange(3.0 * outputs, dtype=torch.float64).reshape(3, outputs)
    bias = -torch.arange(1.0 * outputs, dtype=torch.float64)
    surface = Affine.of(weights, bias)
    expected = torch.stack([sum(X[:, i] * weights[i, j] for i in range(3)) + bias[j] for j in range(outputs)], dim=1)
    assert_close(surface(X).detach(), expected.squeeze(1), absolute=1e-14)
    assert surface.weights.dtype == torch.float64


def test_it_is_flat_at_the_start():
    assert torch.equal(Affine(3, 2)(X.float()), torch.zeros(20, 2))


@pytest.mark.parametrize("sizes", [(0, 1), (3, 0)])
def test_it_has_columns_and_heights(sizes):
    with pytest.raises(ValueError, match="features and outputs must be at least 1"):
        Affine(*sizes)
