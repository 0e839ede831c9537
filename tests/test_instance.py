"""A user's own instance: what follows from two functions, and what is refused."""

from dataclasses import FrozenInstanceError, replace
from math import inf, log, nan

import numpy as np
import pytest
import torch

from equipoise import Instance, Interval, catalog
from equipoise.interval import NEGATIVE, POSITIVE, REALS, UNIT
from equipoise.pairing import Pairing
from tests.asserts import assert_close, ratios

Z = ratios()


def nce():
    return Instance("mine", up=lambda u: torch.sigmoid(-u), down=torch.sigmoid)


def test_everything_follows_from_two_functions():
    mine = nce()
    assert mine.interval == REALS
    assert mine.range == "any range"
    assert (mine.sign, mine.bounded, mine.needs_base, mine.has_loss, mine.scalar) == (1, True, False, False, True)
    assert_close(mine.target(Z), torch.log(Z), relative=1e-9, absolute=1e-12)
    assert_close(mine.ratio(torch.log(Z)), Z, relative=1e-9)
    assert_close(mine.log_ratio(torch.log(Z)), torch.log(Z), relative=1e-9, absolute=1e-12)
    assert (mine.where_only_up, mine.where_only_down) == (inf, -inf)
    u = torch.linspace(-9.0, 9.0, 19, dtype=torch.float64)
    area = torch.nn.functional.softplus(u) - torch.nn.functional.softplus(torch.zeros_like(u))
    assert_close(mine.down_primitive(u), area, relative=1e-9, absolute=1e-12)
    assert_close(mine.height(u), u)


@pytest.mark.parametrize(
    ("up", "down", "interval", "range_"),
    [
        (lambda u: 1.0 / u, lambda u: 1.0 / (1.0 - u), UNIT, "range must be K"),
        (lambda u: 1.0 - u, lambda u: 1.0 + u, Interval(-1.0, 1.0), "any range"),
        (lambda u: 1.0 / u, 1.0, POSITIVE, "range must be K"),
        (1, lambda u: -1.0 / u, NEGATIVE, "range must be K"),
        (torch.exp, lambda u: torch.exp(2.0 * u), REALS, "any range"),
        (lambda u: -u, lambda u: u - 1.0, UNIT, "any range"),
    ],
    ids=["gan", "square", "kliep", "reverse kl", "polynomial", "falling"],
)
def test_interval_and_range_are_found(up, down, interval, range_):
    mine = Instance("mine", up, down)
    assert (mine.interval, mine.range) == (interval, range_)
    assert_close(mine.ratio(mine.target(Z)), Z, relative=1e-6)
    assert_close(mine.down(mine.target(Z)) / mine.up(mine.target(Z)), Z, relative=1e-6)


def test_a_falling_pair_with_negative_magnitudes():
    mine = Instance("mine", lambda u: -torch.sigmoid(u), lambda u: -torch.sigmoid(-u))
    assert mine.sign == -1
    assert mine.feasible
    assert_close(mine.target(Z), -torch.log(Z), relative=1e-9, absolute=1e-12)


def test_a_pair_that_asks_for_the_base():
    mine = Instance(
        "mine", lambda u, log_base: torch.exp(0.0 * u + log_base), lambda u, log_base: torch.exp(u + log_base)
    )
    assert mine.needs_base
    assert mine.interval == REALS
    u, log_base = torch.tensor([0.3, -2.0]).double(), torch.tensor([-1.0, -5.0]).double()
    assert_close(mine.ratio(u, log_base), torch.exp(u), relative=1e-12)
    assert_close(mine.up_primitive(u, log_base), u * torch.exp(log_base), relative=1e-9)
    with pytest.raises(ValueError, match="log_base"):
        mine.up(u)


def test_what_is_given_is_taken():
    mine = Instance(
        "mine",
        torch.ones_like,
        lambda u: u,
        interval=POSITIVE,
        target=lambda z: z,
        ratio=lambda u: u,
        up_primitive=lambda u: u,
        down_primitive=lambda u: 0.5 * u**2,
    )
    assert mine.has_loss
    assert mine.target(Z) is Z
    assert_close(mine.down_primitive(Z), 0.5 * Z**2)


@pytest.mark.parametrize("interval", [(0.0, 1.0), [0, 1]])
def test_an_interval_may_be_two_numbers(interval):
    assert Instance("mine", lambda u: 1.0 - u, lambda u: u, interval=interval).interval == UNIT


def test_what_is_no_interval_is_refused():
    with pytest.raises(TypeError, match="an Interval or two numbers"):
        Instance("mine", torch.ones_like, torch.exp, interval="ℝ")


@pytest.mark.parametrize("u", [1, 0.5, [0.5, 1.0], np.array([0.5, 1.0])], ids=repr)
def test_every_function_takes_any_numbers(u):
    expected = torch.as_tensor(u)
    derived = Instance("mine", up=lambda u: torch.sigmoid(-u), down=torch.sigmoid)
    for instance in (catalog.nce, catalog.ldar, catalog.ulsif, derived):
        for name in ("up", "down", "ratio", "target", "up_primitive", "down_primitive", "log_ratio"):
            came = getattr(instance, name)(u)
            assert came.is_floating_point()
            assert came.shape == expected.shape
    assert_close(catalog.nce.height(u, -1.0), expected - 1.0, relative=1e-6)
    assert_close(catalog.nce.height(u, np.array(-1.0)), expected - 1.0, relative=1e-6)


def test_log_ratio_beyond_k_is_the_log_of_the_least_or_largest_number():
    u = torch.tensor([-1e4, -1.5, -1.0, 0.0, 1.0, 1.5, 1e4, torch.nan], dtype=torch.float64)
    low, high = log(torch.finfo(u.dtype).tiny), log(torch.finfo(u.dtype).max)
    expected = torch.tensor([low, low, low, 0.0, high, high, high, nan], dtype=torch.float64)
    for name in ("square", "ldtr"):
        torch.testing.assert_close(catalog.get(name).log_ratio(u), expected, equal_nan=True)
    falling = catalog.lsgan(1.0, -1.0)
    torch.testing.assert_close(falling.log_ratio(-u), expected, equal_nan=True)


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        (catalog.nce, 0.5),
        (catalog.ulsif, 1.0),
        (catalog.pso_lde(0.25), 2.0**-4),
        (catalog.pso_lde(0.05), 2.0**-20),
        (catalog.lsgan(2.0, 0.0), 1.0),
        (catalog.deep_pdf, 1.0),  # which depends on the base,
        (catalog.softmax_cross_entropy(), 1.0),  # on the other surfaces,
        (catalog.unit, 1.0),  # and has no balance
    ],
    ids=lambda given: getattr(given, "label", None),
)
def test_strength_is_the_magnitude_where_densities_are_equal(instance, expected):
    assert instance.strength == pytest.approx(expected, rel=1e-12)


def test_one_primitive_is_no_loss():
    assert not Instance("mine", torch.exp, torch.exp, up_primitive=torch.exp).has_loss


@pytest.mark.parametrize("interval", [None, REALS], ids=["found", "given"])
def test_a_magnitude_of_another_shape_is_refused_at_once(interval):
    with pytest.raises(ValueError, match=r"M_down of mine must return one value per height: got \(1,\)"):
        Instance("mine", torch.exp, lambda u: u.sum().reshape(1), interval=interval)


def test_nan_on_the_interval_is_refused_at_once_by_its_height():
    with pytest.raises(ValueError, match=r"M_up of mine is NaN at u = -1.*inside K = \(-10, 10\)"):
        Instance("mine", lambda u: torch.where(u < -9.0, torch.nan, 1.0), torch.exp, interval=Interval(-10.0, 10.0))
    with pytest.raises(ValueError, match=r"M_down of mine is NaN at u = "):
        Instance("mine", torch.exp, lambda u: u * torch.nan)


def test_nan_outside_the_interval_is_nobodys_business():
    mine = Instance("mine", lambda u: 1.0 / torch.sqrt(u), torch.sqrt)
    assert mine.interval == POSITIVE
    assert mine.range == "range must be K"


@pytest.mark.parametrize("side", ["up", "down"])
def test_a_function_of_three_arguments_is_refused(side):
    functions = {"up": torch.exp, "down": torch.exp} | {side: lambda u, v, w: u}
    with pytest.raises(TypeError, match=rf"M_{side} of mine must take \(u\) or \(u, log_base\)"):
        Instance("mine", **functions)


def test_a_pair_without_a_balance_is_marked():
    mine = Instance("mine", 1.0, 1.0)
    assert (mine.interval, mine.range, mine.feasible) == (REALS, "no balance", False)
    assert mine.heights == REALS


def test_heights_follow_the_verdict():
    assert catalog.get("square").heights == REALS
    assert catalog.get("gan_critic").heights == UNIT
    assert catalog.get("unit").heights == REALS
    assert catalog.get("ebgan").heights == POSITIVE


@pytest.mark.parametrize(("sign", "reached"), [(1, Interval(-inf, 3.0)), (-1, Interval(-3.0, inf))])
def test_a_pairing_bounds_what_can_be_reached(sign, reached):
    mine = Instance(
        "mine",
        lambda u: sign * torch.sigmoid(-sign * u),
        lambda u: sign * torch.sigmoid(sign * u),
        pairings=(Pairing("bounded", z_high=float(torch.tensor(3.0).double().exp())),),
    )
    assert (mine.reachable.low, mine.reachable.high) == pytest.approx((reached.low, reached.high))


def test_an_instance_is_frozen_and_its_own_identity():
    mine = nce()
    with pytest.raises(FrozenInstanceError):
        mine.name = "yours"
    assert mine == mine  # noqa: PLR0124  # identity, not fields
    assert mine != nce()
    assert len({mine, nce()}) == 2


def test_label_and_repr():
    assert nce().label == "mine"
    assert catalog.lsgan(0.0, 2.0).label == "lsgan(a=0.0, b=2.0)"
    assert catalog.f_divergence("kl").label == "f_divergence(kind='kl')"
    assert repr(catalog.get("nce")) == "<Instance nce: log_density on (-inf, inf)>"


def test_replace_keeps_what_was_given():
    parent = catalog.pso_lde(0.5)
    child = replace(parent, name="child")
    assert child.name == "child"
    for part in ("up", "down", "target", "ratio", "up_primitive", "down_primitive", "estimand"):
        assert getattr(child, part) is getattr(parent, part)
    assert child.has_loss


def test_replace_derives_again_what_was_derived():
    parent = nce()
    assert parent.target(Z)[0].item() == pytest.approx(torch.log(Z[0]).item())
    child = replace(parent, up=torch.ones_like, down=lambda u: u, interval=None)
    assert child.interval == POSITIVE
    assert child.range == "any range"
    assert_close(child.target(Z), Z, relative=1e-9)
    assert_close(child.ratio(Z), Z, relative=1e-12)
    assert not child.has_loss
    assert_close(child.down_primitive(Z) - child.down_primitive(Z[:1]), 0.5 * (Z**2 - Z[0] ** 2), relative=1e-7)
    assert parent.interval == REALS


def test_magnitudes_keep_the_heights_precision_and_shape():
    for dtype in (torch.float32, torch.float64):
        u = torch.rand(4, 3, dtype=dtype)
        for instance in (nce(), catalog.get("nce"), Instance("mine", 1.0, lambda u: u > 0.5, interval=UNIT)):
            for side in (instance.up, instance.down, instance.ratio, instance.target, instance.up_primitive):
                assert side(u).dtype == dtype
                assert side(u).shape == u.shape
