"""K found from R, for pairs of magnitudes that say nothing about it."""

from math import inf, pi

import pytest
import torch
from hypothesis import example, given, strategies as st

from equipoise import Instance, Interval, catalog
from equipoise.discovery import find_interval
from equipoise.interval import NEGATIVE, POSITIVE, REALS, UNIT
from tests.asserts import BALANCED, assert_close, label, on_first, ratios


def one(u):
    return torch.ones_like(u)


PAIRS = {
    "nce": (lambda u: torch.sigmoid(-u), torch.sigmoid, REALS),
    "nce in ratios of exp": (lambda u: 1 / (1 + torch.exp(u)), lambda u: torch.exp(u) / (1 + torch.exp(u)), REALS),
    "exponential": (lambda u: torch.exp(-u), torch.exp, REALS),
    "polynomial": (torch.exp, lambda u: torch.exp(2.0 * u), REALS),
    "steep": (lambda u: torch.sigmoid(-1000.0 * u), lambda u: torch.sigmoid(1000.0 * u), REALS),
    "steeper than exp": (lambda u: torch.exp(-u * u.abs()), lambda u: torch.exp(u * u.abs()), REALS),
    "lipschitz": (lambda u: 1 - u / torch.hypot(u, one(u)), lambda u: 1 + u / torch.hypot(u, one(u)), REALS),
    "gan": (lambda u: 1.0 / u, lambda u: 1.0 / (1.0 - u), UNIT),
    "square": (lambda u: 1.0 - u, lambda u: 1.0 + u, Interval(-1.0, 1.0)),
    "roots": (
        lambda u: torch.sqrt(torch.clamp(1.0 - u, min=0.0)),
        lambda u: torch.sqrt(torch.clamp(1.0 + u, min=0.0)),
        Interval(-1.0, 1.0),
    ),
    "kliep": (lambda u: 1.0 / u, one, POSITIVE),
    "ulsif": (one, lambda u: u, POSITIVE),
    "reversed kl": (lambda u: 1.0 / u**2, lambda u: 1.0 / u, POSITIVE),
    "high poles": (lambda u: 1.0 / u**6, lambda u: 1.0 / u**5, POSITIVE),
    "reverse kl divergence": (one, lambda u: -1.0 / u, NEGATIVE),
    "gan on log-scale, textbook": (lambda u: 1 / torch.exp(u), lambda u: 1 / (1 - torch.exp(u)), NEGATIVE),
    "gan on log-scale": (lambda u: torch.exp(-u), lambda u: -1.0 / torch.expm1(u), NEGATIVE),
    "pearson": (one, lambda u: 1.0 + 0.5 * u, Interval(-2.0, inf)),
    "falling": (lambda u: -u, lambda u: u - 1.0, UNIT),
    "falling on ℝ": (lambda u: -torch.sigmoid(u), lambda u: -torch.sigmoid(-u), REALS),
    "cubic": (lambda u: torch.exp(-(u**3)), one, REALS),
}


@pytest.mark.parametrize("name", PAIRS)
def test_interval(name):
    up, down, interval = PAIRS[name]
    assert find_interval(up, down) == interval


def test_goes_on_through_heights_where_a_magnitude_has_underflowed():
    """LDAR's sigmoid is 0 in float64 from 1.5694 on; K ends where the tangent does (Example 3, line 2273)."""
    found = find_interval(lambda u: torch.sigmoid(-torch.tan(u)), lambda u: torch.sigmoid(torch.tan(u)))
    assert (found.low, found.high) == pytest.approx((-pi / 2, pi / 2), rel=1e-15)


def test_of_several_stretches_the_one_nearest_to_zero():
    found = find_interval(lambda u: torch.sigmoid(-torch.tan(u - 1.0)), lambda u: torch.sigmoid(torch.tan(u - 1.0)))
    assert (found.low, found.high) == pytest.approx((1.0 - pi / 2, 1.0 + pi / 2), rel=1e-14)


@pytest.mark.parametrize("pair", [(one, one), (one, lambda u: -one(u)), (torch.exp, lambda u: torch.exp(-u))])
def test_where_nothing_balances_all_of_the_line(pair):
    assert find_interval(*pair) == REALS


@given(st.floats(-15.0, 15.0), st.floats(0.05, 500.0))
def test_any_bounded_interval(low, width):
    high = low + width
    found = find_interval(lambda u: high - u, lambda u: u - low)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-14, abs=1e-14)


@given(st.floats(1.0, 1e5), st.sampled_from([-1.0, 1.0]), st.floats(-5.0, 0.9))
@example(2.1, 1.0, -2.25)  # begins on a height of that line
def test_an_interval_far_out_and_narrow(far, side, magnitude):
    """Labels such as 255 and 256: K lies between two heights of the line on which it is looked for."""
    low = side * far
    high = low + far * 10.0**magnitude
    found = find_interval(lambda u: high - u, lambda u: u - low)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-13, abs=1e-13)
    half = find_interval(one, lambda u: u - low)
    assert (half.low, half.high) == (pytest.approx(low, rel=1e-13), inf)


@given(st.floats(-300.0, 300.0), st.floats(0.01, 20.0))
def test_a_shifted_and_stretched_log_ratio(shift, scale):
    found = find_interval(lambda u: torch.sigmoid(scale * (shift - u)), lambda u: torch.sigmoid(scale * (u - shift)))
    assert found == REALS


@pytest.mark.parametrize("instance", [i for i in BALANCED if i.scalar], ids=label)
def test_agrees_with_the_catalogue(instance):
    """The magnitudes of every method alone give back the K that the catalogue states, but for a rounding."""
    mine = Instance("mine", on_first(instance, instance.up), on_first(instance, instance.down))
    for found, stated in ((mine.interval.low, instance.interval.low), (mine.interval.high, instance.interval.high)):
        assert found == pytest.approx(stated, rel=1e-14)
    assert mine.sign == instance.sign
    assert mine.range == instance.range
    z = ratios()
    assert_close(mine.ratio(mine.target(z)), z, relative=1e-6)
    assert_close(mine.target(z), instance.target(z), relative=1e-6, absolute=1e-9)


def test_a_name_says_nothing():
    """Discovery looks at the functions; a method's own K is its estimand's."""
    assert Instance("gan_critic", torch.exp, torch.exp).interval == REALS
    assert catalog.get("gan_critic").interval == UNIT
