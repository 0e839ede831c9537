from math import inf

import pytest
import torch
from hypothesis import given, strategies as st

from equipoise import Interval
from equipoise.interval import NEGATIVE, POSITIVE, REALS, UNIT
from tests.asserts import assert_close, slope

KINDS = [REALS, POSITIVE, NEGATIVE, UNIT, Interval(-1.5, 2.0), Interval(3.0, inf), Interval(-inf, -7.0)]
EVERY = pytest.mark.parametrize("interval", KINDS, ids=str)
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])

ends = st.floats(-1e6, 1e6)
widths = st.floats(1.0, 1e6)
reals = st.floats(-1e30, 1e30)


def intervals():
    bounded = st.builds(lambda low, width: Interval(low, low + width), ends, widths)
    half = st.one_of(st.builds(lambda e: Interval(e, inf), ends), st.builds(lambda e: Interval(-inf, e), ends))
    return st.one_of(bounded, half)


@given(intervals(), st.lists(reals, min_size=1, max_size=20))
def test_from_real_stays_strictly_inside(interval, s):
    for dtype in (torch.float32, torch.float64):
        u = interval.from_real(torch.tensor(s, dtype=dtype))
        assert u.dtype == dtype
        assert bool(interval.contains(u).all())
        assert bool(((u.double() > interval.low) & (u.double() < interval.high)).all())


@given(intervals(), st.lists(reals, min_size=2, max_size=20))
def test_from_real_is_monotone(interval, s):
    for dtype in (torch.float32, torch.float64):
        u = interval.from_real(torch.sort(torch.tensor(s, dtype=dtype)).values)
        assert bool((torch.diff(u) >= 0).all())


@EVERY
def test_from_real_is_strictly_increasing_at_moderate_heights(interval):
    assert bool((torch.diff(interval.from_real(torch.linspace(-15.0, 15.0, 301).double())) > 0).all())


@EVERY
def test_to_real_inverts_from_real(interval):
    s = torch.linspace(-9.0, 9.0, 181, dtype=torch.float64)
    assert_close(interval.to_real(interval.from_real(s)), s, relative=1e-9, absolute=1e-9)


@EVERY
@DTYPES
def test_from_real_inverts_to_real(interval, dtype):
    u = interval.from_real(torch.linspace(-4.0, 40.0, 101, dtype=dtype))
    again = interval.from_real(interval.to_real(u))
    assert_close(again, u, relative=64 * torch.finfo(dtype).eps, absolute=64 * torch.finfo(dtype).eps)


@given(st.floats(-1e300, 1e300))
def test_the_real_line_maps_to_itself(s):
    here = torch.tensor([s], dtype=torch.float64)
    assert REALS.from_real(here).item() == REALS.to_real(here).item() == s


@EVERY
def test_from_real_is_smooth(interval):
    s = torch.linspace(-30.0, 30.0, 601, dtype=torch.float64)
    first = slope(interval.from_real, s)
    assert bool((first >= 0).all())
    assert bool((first[(s > -9) & (s < 9)] > 0).all())
    step = 1e-4
    central = (interval.from_real(s + step) - interval.from_real(s - step)) / (2.0 * step)
    assert_close(first, central, relative=1e-6, absolute=1e-7)
    assert torch.diff(first).abs().max() < 0.1 * (3.5 if interval.high - interval.low < inf else 1.0)


@EVERY
@pytest.mark.parametrize("margin", [1e-14, 1e-6])
@pytest.mark.parametrize("reach", [10.0, 1e12])
def test_grid_is_inside_and_in_order(interval, margin, reach):
    u = interval.grid(101, reach=reach, margin=margin)
    assert u.dtype == torch.float64
    assert bool(interval.contains(u).all())
    assert bool((torch.diff(u) > 0).all())
    assert 50 <= len(u) <= 110
    if interval.high == inf:
        assert u.max() >= 0.5 * reach


def test_contains_and_covers():
    assert UNIT.contains(torch.tensor([-1.0, 0.0, 0.5, 1.0, 2.0, torch.nan])).tolist() == [False, False, True] + 3 * [
        False
    ]
    assert REALS.covers(UNIT)
    assert UNIT.covers(UNIT)
    assert POSITIVE.covers(UNIT)
    assert not UNIT.covers(POSITIVE)
    assert not NEGATIVE.covers(UNIT)


def test_is_a_value():
    assert Interval(0, 1) == UNIT
    assert hash(Interval(0, 1)) == hash(UNIT)
    assert REALS.is_real_line
    assert not POSITIVE.is_real_line
    assert str(Interval(-inf, 0.5)) == "(-inf, 0.5)"


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (float("nan"), 1.0), (0.0, float("nan"))])
def test_ends_in_the_wrong_order_are_refused(low, high):
    with pytest.raises(ValueError, match="low < high"):
        Interval(low, high)


@pytest.mark.parametrize(("low", "high"), [("a", 1.0), (0.0, None), ([0.0, 1.0], 2.0)])
def test_ends_that_are_no_numbers_are_refused(low, high):
    with pytest.raises(TypeError, match="the ends of an interval are numbers, got"):
        Interval(low, high)


def test_an_interval_is_taken_as_callers_hold_it():
    assert Interval.of(None) is None
    assert Interval.of(UNIT) is UNIT
    for given_ in ((0, 1), [0.0, 1.0], torch.tensor([0.0, 1.0])):
        assert Interval.of(given_) == UNIT
    with pytest.raises(ValueError, match="low < high"):
        Interval.of((1, 0))


@pytest.mark.parametrize("wrong", [3, "a", (0,), (0, 1, 2), ("a", "b"), {}])
def test_what_is_no_interval_is_refused(wrong):
    with pytest.raises(TypeError, match=r"an Interval or two numbers \(low, high\), got"):
        Interval.of(wrong)
