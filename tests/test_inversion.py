from math import inf

import pytest
import torch
from hypothesis import given, strategies as st

from equipoise import Interval
from equipoise.interval import NEGATIVE, POSITIVE, REALS, UNIT
from equipoise.inversion import invert
from tests.asserts import assert_close

Z = torch.logspace(-12, 12, 49, dtype=torch.float64)

INVERSES = {
    "exp on ℝ": (torch.exp, torch.log, REALS, 1),
    "exp(-u) on ℝ": (lambda u: torch.exp(-u), lambda z: -torch.log(z), REALS, -1),
    "identity": (lambda u: u, lambda z: z, POSITIVE, 1),
    "cube": (lambda u: u**3, lambda z: z ** (1.0 / 3.0), POSITIVE, 1),
    "-1/u": (lambda u: -1.0 / u, lambda z: -1.0 / z, NEGATIVE, 1),
    "odds": (lambda u: u / (1.0 - u), lambda z: z / (1.0 + z), UNIT, 1),
    "odds, falling": (lambda u: (1.0 - u) / u, lambda z: 1.0 / (1.0 + z), UNIT, -1),
    "far": (lambda u: torch.exp(u - 1e6), lambda z: 1e6 + torch.log(z), REALS, 1),
    "half-line": (lambda u: u - 5.0, lambda z: 5.0 + z, Interval(5.0, inf), 1),
}


@pytest.mark.parametrize("name", INVERSES)
def test_against_the_closed_form(name):
    function, inverse, interval, sign = INVERSES[name]
    assert_close(invert(function, Z, interval, sign), inverse(Z), relative=1e-9, absolute=1e-12)


@pytest.mark.parametrize("name", INVERSES)
def test_stays_in_the_interval(name):
    function, _, interval, sign = INVERSES[name]
    u = invert(function, torch.tensor([0.0, 1e-300, 1.0, 1e300, inf], dtype=torch.float64), interval, sign)
    assert bool(interval.contains(u).all()) or interval.is_real_line
    assert bool((sign * torch.diff(u) >= 0).all())


def test_values_beyond_the_range_give_the_ends():
    u = invert(torch.sigmoid, torch.tensor([-1.0, 2.0], dtype=torch.float64), Interval(-3.0, 4.0))
    assert_close(u, torch.tensor([-3.0, 4.0]).double(), relative=1e-12)


def test_nan_comes_back():
    u = invert(torch.exp, torch.tensor([torch.nan, 1.0]), REALS)
    assert torch.isnan(u).tolist() == [True, False]
    assert u.dtype == torch.float32


@given(st.floats(-340.0, 340.0))
def test_a_quotient_that_is_no_number_far_out(log_z):
    """exp(2u)/exp(u) is 0/0 or ∞/∞ at far heights; what is sought lies between."""
    z = torch.tensor([log_z], dtype=torch.float64).exp()
    u = invert(lambda u: torch.exp(2.0 * (u - 3.0)) / torch.exp(u - 3.0), z, REALS)
    assert u.item() == pytest.approx(log_z + 3.0, abs=1e-9)


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e6))
def test_any_line_is_inverted(value, slope):
    u = invert(lambda u: slope * u, torch.tensor([value], dtype=torch.float64), REALS)
    assert u.item() == pytest.approx(value / slope, rel=1e-9, abs=1e-12)
