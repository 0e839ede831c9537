"""The two theorems (1137, 1174) on pairs of magnitudes that keep or break one condition each."""

from math import inf

import pytest
import torch

from equipoise import Instance, Interval
from equipoise.conditions import ANY_RANGE, NO_BALANCE, RANGE_IS_K, alone, bound_of, examine, sign_on
from equipoise.interval import NEGATIVE, POSITIVE, REALS, UNIT


def one(u):
    return torch.ones_like(u)


def verdict(up, down, interval):
    return examine(up, down, interval).verdict


def failing(report):
    return [condition for condition in report.conditions if not condition.holds]


def test_a_pair_that_keeps_every_condition():
    report = examine(lambda u: 1.0 - u, lambda u: 1.0 + u, Interval(-1.0, 1.0))
    assert report.feasible
    assert report.verdict == ANY_RANGE
    assert report.sign == 1
    assert failing(report) == []
    assert "verdict: any range" in str(report)
    assert "FAILS" not in str(report)


def test_on_all_of_the_line_only_the_balance_counts():
    report = examine(lambda u: torch.sigmoid(-u), torch.sigmoid, REALS)
    assert report.unconstrained == ()
    assert report.verdict == ANY_RANGE


@pytest.mark.parametrize(
    ("up", "down", "interval", "text", "at"),
    [
        (one, one, REALS, "strictly increasing", None),
        (one, lambda u: torch.exp(-u), REALS, "strictly increasing", None),
        (one, lambda u: 1.0 + torch.sigmoid(u), REALS, "every value", None),
        (one, lambda u: torch.exp(torch.clamp(u, max=3.0)), REALS, "strictly increasing", 3.2),
        (one, lambda u: torch.exp(u - (u <= 2.0).double()), REALS, "continuous on K", 2.0),
        (one, lambda u: u, REALS, "positive on K", 0.0),
        (one, lambda u: 1.0 / u**2, REALS, "continuous on K", 0.0),
    ],
    ids=["constant", "falling", "not onto", "flat from 3", "jump at 2", "sign at 0", "pole at 0"],
)
def test_a_broken_balance_names_the_condition_and_the_height(up, down, interval, text, at):
    report = examine(up, down, interval)
    assert report.verdict == NO_BALANCE
    named = [condition for condition in failing(report) if text in condition.text]
    assert len(named) == 1
    assert "1137" in named[0].theorem
    assert "FAILS" in str(named[0])
    if at is not None:
        assert named[0].at == pytest.approx(at, abs=0.2)
        assert "first seen at u" in str(named[0])


@pytest.mark.parametrize(
    ("up", "down", "interval", "text"),
    [
        (lambda u: 1.0 / u, one, POSITIVE, "continuous on ℝ"),
        (lambda u: 1.0 / u, one, POSITIVE, "M_up > M_down below K"),
        (torch.abs, lambda u: u * torch.abs(u), POSITIVE, "M_up > M_down below K"),
        (lambda u: torch.exp(-u), lambda u: -1.0 / torch.expm1(u), NEGATIVE, "M_up < M_down above K"),
        (lambda u: torch.abs(1 - u), torch.abs, UNIT, "differ in sign"),
    ],
    ids=["pole", "wrong force below", "no force at the end", "wrong force above", "one sign outside"],
)
def test_a_range_that_must_be_k_says_why(up, down, interval, text):
    report = examine(up, down, interval)
    assert report.verdict == RANGE_IS_K
    named = [condition for condition in failing(report) if text in condition.text]
    assert len(named) == 1
    assert "1174" in named[0].theorem
    assert not interval.contains(torch.tensor(named[0].at, dtype=torch.float64))


def test_falling_pairs_hold_with_negative_magnitudes():
    report = examine(lambda u: -u, lambda u: u - 1.0, UNIT)
    assert (report.sign, report.verdict) == (-1, ANY_RANGE)
    assert "strictly decreasing" in str(report)
    assert "negative magnitudes" in str(report)
    assert verdict(lambda u: -(1.0 - u), lambda u: -u, UNIT) == NO_BALANCE


def test_numbers_that_run_out_are_no_jump():
    assert verdict(lambda u: torch.exp(-u * u.abs()), lambda u: torch.exp(u * u.abs()), REALS) == ANY_RANGE
    assert verdict(lambda u: torch.sigmoid(-1e4 * u), lambda u: torch.sigmoid(1e4 * u), REALS) == ANY_RANGE


def test_a_slow_ratio_is_onto_all_the_same():
    """R = (1 − u)^(−1/2) needs heights of −10⁸ to come near 10⁻⁴."""
    assert verdict(one, lambda u: torch.rsqrt(torch.clamp(1.0 - u, min=0.0)), Interval(-inf, 1.0)) == RANGE_IS_K
    assert verdict(one, lambda u: torch.sign(u) * torch.abs(u) ** 0.25, POSITIVE) == ANY_RANGE


def test_where_numbers_run_out_a_ratio_may_still_be_onto():
    assert verdict(torch.exp, lambda u: u * torch.exp(u), POSITIVE) != NO_BALANCE
    assert verdict(torch.exp, lambda u: torch.exp(u) * (1.0 + torch.sigmoid(u)), REALS) == NO_BALANCE


def test_a_magnitude_that_is_no_number_is_no_balance():
    report = examine(one, lambda u: torch.where(u > 5.0, torch.nan, torch.exp(u)), REALS)
    assert report.verdict == NO_BALANCE
    assert failing(report)[0].at == pytest.approx(5.0, abs=0.5)


@pytest.mark.parametrize(
    ("curve", "interval", "bound"),
    [
        (torch.sigmoid, REALS, 1.0),
        (torch.tanh, REALS, 1.0),
        (torch.exp, REALS, inf),
        (torch.exp, NEGATIVE, 1.0),
        (lambda u: u, UNIT, 1.0),
        (lambda u: 1.0 / u, UNIT, inf),
        (torch.log, UNIT, inf),
        (lambda u: -3.0 * torch.cos(u), Interval(-1.0, 1.0), 3.0),
        (torch.sqrt, POSITIVE, inf),
    ],
)
def test_bounds(curve, interval, bound):
    assert bound_of(curve, interval) == pytest.approx(bound, rel=1e-3)


def test_sign_is_that_of_most_heights():
    assert sign_on(one, lambda u: u, POSITIVE) == 1
    assert sign_on(lambda u: -one(u), lambda u: -u, POSITIVE) == -1


@pytest.mark.parametrize(
    ("curve", "interval", "up", "down"),
    [
        (one, REALS, inf, -inf),
        (lambda u: -one(u), REALS, -inf, inf),
        (torch.zeros_like, REALS, "arbitrary", "arbitrary"),
        (lambda u: 2.0 - u, REALS, 2.0, "undecided"),
        (lambda u: u - 2.0, REALS, "undecided", 2.0),
        (torch.sin, REALS, "undecided", "undecided"),
        (lambda u: torch.clamp(u, min=0.0), REALS, "undecided", "undecided"),
        (lambda u: torch.exp(-torch.exp(u)), REALS, inf, -inf),
        (one, UNIT, 1.0, 0.0),
        (lambda u: 1.0 / u, POSITIVE, inf, 0.0),
    ],
    ids=["1", "-1", "0", "2 - u", "u - 2", "sin", "from 0 on", "fading", "in (0, 1)", "1/u"],
)
def test_a_force_without_its_opponent(curve, interval, up, down):
    """The theorems at 1199 and 1274, entry by entry."""
    assert (alone(curve, interval, +1), alone(curve, interval, -1)) == (up, down)


TEXTBOOK = {
    "sigmoids, ∞/∞ beyond 710": (lambda u: 1 / (1 + torch.exp(u)), lambda u: torch.exp(u) / (1 + torch.exp(u))),
    "one minus sigmoid, 0 beyond 37": (lambda u: 1 - torch.sigmoid(u), torch.sigmoid),
    "one minus tanh, 0 beyond 19": (lambda u: 1 - torch.tanh(u), lambda u: 1 + torch.tanh(u)),
}


@pytest.mark.parametrize("pair", TEXTBOOK.values(), ids=TEXTBOOK)
def test_textbook_forms_that_run_out_of_digits_balance_on_the_real_line(pair):
    found = Instance("textbook", *pair)
    assert found.interval == REALS
    assert found.range == ANY_RANGE


def test_a_magnitude_that_really_ends_is_not_taken_for_a_rounded_one():
    ends = Instance("ends", lambda u: torch.clamp(30 - u, min=0.0), lambda u: torch.clamp(30 + u, min=0.0))
    assert (ends.interval.low, ends.interval.high) == pytest.approx((-30.0, 30.0), abs=1e-12)
    assert ends.range == ANY_RANGE


def test_numbers_missing_where_r_has_not_gone_its_way_are_reported():
    report = examine(
        lambda u: torch.where(u > 100, torch.nan, 1.0), lambda u: torch.where(u > 0, 1 + u, 1 / (1 - u)), REALS
    )
    assert not report.feasible
    assert any(condition.at is not None and condition.at > 100 for condition in failing(report))
