"""Where numbers fall between knots, by arithmetic and by search, is where numpy finds them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from tests.asserts import assert_close

from equipoise.surfaces.knots import Knots
from equipoise.surfaces.laying import equal


def placed(at, x):
    index, share = Knots.of(at).place(x)
    assert bool(((index >= 0) & (index < at.shape[1] - 1)).all())
    return index, share


def interpolated(at, values, x):
    """Heights through place, and numpy's."""
    index, share = placed(at, x)
    ours = torch.lerp(values.gather(1, index), values.gather(1, index + 1), share)
    twin = [np.interp(*(t[i].double().numpy() for t in (x, at, values))) for i in range(len(at))]
    return ours, torch.from_numpy(np.stack(twin)).to(ours.dtype)


@settings(max_examples=150)
@given(
    knots=st.integers(2, 70),
    columns=st.integers(1, 3),
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([1e-20, 1e-3, 1.0, 1e6, 1e20]),
    even=st.booleans(),
    shift=st.sampled_from([0.0, -1.0, 3.0]),
)
def test_it_interpolates_as_numpy_does(knots, columns, seed, scale, even, shift):
    generator = torch.Generator().manual_seed(seed)
    rand = lambda *size: torch.rand(size, generator=generator, dtype=torch.float64)  # noqa: E731
    low = shift + rand(columns)
    at = (
        equal(low[:, None], (low + 0.1 + rand(columns))[:, None], knots)
        if even
        else torch.cumsum(1e-3 + rand(columns, knots), dim=1)
    )
    x = torch.cat([at, at[:, :1] - rand(columns, 5), at[:, -1:] * 2 * rand(columns, 40)], dim=1)
    ours, twin = interpolated(scale * at, rand(columns, knots), scale * x)
    assert_close(ours, twin, absolute=1e-9)
    assert (Knots.of(scale * at).density is not None) == (even or knots == 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("knots", [2, 3, 4, 5, 64, 65, 400])
def test_arithmetic_and_search_agree(knots, dtype):
    at = equal(torch.tensor([[-1.0], [5.0]], dtype=dtype), torch.tensor([[2.0], [5.5]], dtype=dtype), knots)
    by_arithmetic = Knots.of(at)
    by_search = Knots(at, None, by_arithmetic.inverse, by_arithmetic.tree)
    assert by_arithmetic.density is not None
    x = torch.rand(2, 3000, generator=torch.Generator().manual_seed(0), dtype=dtype) * 5 - torch.tensor([[2.0], [-3.0]])
    positions = [index + share for index, share in (by_arithmetic.place(x.to(dtype)), by_search.place(x.to(dtype)))]
    assert_close(*positions, absolute=60 * knots * torch.finfo(dtype).eps)


def test_knots_a_little_off_equal_are_searched():
    at = equal(torch.zeros(1, 1), torch.ones(1, 1), 9)
    assert Knots.of(at).density is not None
    at[0, 4] += 1e-5
    assert Knots.of(at).density is None


@pytest.mark.parametrize("even", [True, False])
def test_infinities_are_beyond_the_ends_and_nan_stays(even):
    at = torch.tensor([[0.0, 1.0, 2.0 if even else 3.0]])
    x = torch.tensor([[-torch.inf, -3e38, 0.0, 3e38, torch.inf, torch.nan]])
    index, share = placed(at, x)
    assert (index + share)[0, :5].tolist() == [0.0, 0.0, 0.0, 2.0, 2.0]
    assert torch.isnan(share[0, 5])


def test_knots_that_rounding_made_one_are_a_jump():
    at, values = torch.tensor([[0.0, 1.0, 1.0, 2.0]]), torch.tensor([[0.0, 0.0, 5.0, 5.0]])
    index, share = placed(at, torch.tensor([[0.5, 1.0, 1.0 + 2e-7, 1.5]]))
    assert torch.lerp(values.gather(1, index), values[:, 1:].gather(1, index), share)[0].tolist() == [0, 0, 5, 5]
    index, share = placed(torch.tensor([[1.0, 1.0, 2.0]]), torch.tensor([[0.0, 1.0, 1.5]]))
    assert bool(torch.isfinite(share).all())


@pytest.mark.parametrize("at", [[[0.0, 2.0, 1.0]], [[0.0, torch.nan, 1.0]], [[0.0, 1.0, torch.inf]]])
def test_knots_that_fall_or_are_no_numbers_are_refused(at):
    with pytest.raises(ValueError, match="finite and rise"):
        Knots.of(torch.tensor(at))
