import math
from functools import cache

import pytest
import torch
from hypothesis import given, settings, strategies as st

import equipoise as eq
from equipoise.catalog import pairings
from equipoise.interval import POSITIVE, REALS, UNIT, Interval
from equipoise.inversion import invert
from equipoise.theory.derivation import derive
from equipoise.theory.tabulated import TabulatedRatio, range_of

Z = torch.logspace(-4, 4, 41, dtype=torch.float64)
HALF_PI = 0.5 * math.pi

TARGETS = {
    "log": (torch.log, torch.exp, REALS),
    "identity": (lambda z: z, lambda u: u, POSITIVE),
    "root": (torch.sqrt, lambda u: u**2, POSITIVE),
    "posterior": (lambda z: z / (1 + z), lambda u: u / (1 - u), UNIT),
    "contrast": (lambda z: (z - 1) / (z + 1), lambda u: (1 + u) / (1 - u), Interval(-1, 1)),
    "atan": (lambda z: torch.atan(torch.log(z)), lambda u: torch.exp(torch.tan(u)), Interval(-HALF_PI, HALF_PI)),
    "sinh": (lambda z: torch.sinh(0.5 * torch.log(z)), lambda u: torch.exp(2 * torch.asinh(u)), REALS),
    "inverse": (lambda z: -1 / z, lambda u: -1 / u, Interval(-math.inf, 0.0)),
    "falling log": (lambda z: -torch.log(z), lambda u: torch.exp(-u), REALS),
    "falling posterior": (lambda z: 1 / (1 + z), lambda u: (1 - u) / u, UNIT),
    "saddle": (lambda z: torch.log(z) ** 3, lambda u: torch.exp(torch.sign(u) * torch.abs(u) ** (1 / 3)), REALS),
}
CASES = [pytest.param(name, id=name) for name in TARGETS]


def _from(which, target, ratio):
    return {"T": {"target": target}, "R": {"ratio": ratio}, "both": {"ratio": ratio, "target": target}}[which]


@cache
def _derived(name, which):
    target, ratio, _ = TARGETS[name]
    return derive(**_from(which, target, ratio))


@pytest.mark.parametrize("which", ["T", "R", "both"])
@pytest.mark.parametrize("name", CASES)
def test_lands_where_the_function_wanted_says(name, which):
    target, _, interval = TARGETS[name]
    inst = _derived(name, which)
    u = target(Z)
    torch.testing.assert_close(inst.target(Z), u, rtol=1e-7, atol=1e-9)
    torch.testing.assert_close(inst.ratio(inst.target(Z)), Z, rtol=1e-6, atol=0.0)
    torch.testing.assert_close(inst.down(u) / inst.up(u), Z, rtol=1e-6, atol=0.0)
    assert inst.interval.low == pytest.approx(interval.low, abs=1e-6)
    assert inst.interval.high == pytest.approx(interval.high, abs=1e-6)
    assert inst.sign == (1 if target(Z)[-1] > target(Z)[0] else -1)


@pytest.mark.parametrize("which", ["T", "R"])
@pytest.mark.parametrize("name", ["contrast", "falling posterior"])
def test_needs_no_restricted_range(name, which):
    report = eq.theory.check(_derived(name, which))
    assert report.verdict == "any range"
    assert report.sign == (-1 if "falling" in name else 1)


@pytest.mark.parametrize("which", ["T", "R"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_magnitudes_are_bounded_numbers_everywhere(name, which, dtype):
    inst = _derived(name, which)
    u = torch.tensor([-math.inf, -1e38, -1e4, -30, -1, -0.5, 0, 0.5, 1, 30, 1e4, 1e38, math.inf], dtype=dtype)
    for side in (inst.up(u), inst.down(u)):
        assert side.dtype == dtype
        assert ((inst.sign * side >= 0) & (inst.sign * side <= 1)).all()
    assert inst.up(torch.tensor([math.nan])).isnan().all()


@settings(max_examples=20, deadline=None)
@given(st.floats(0.2, 3.0), st.floats(-3.0, 3.0), st.sampled_from([-1.0, 1.0]))
def test_any_power_and_shift_of_the_log_ratio(scale, shift, direction):
    inst = derive(target=lambda z: shift + direction * scale * torch.log(z))
    torch.testing.assert_close(inst.ratio(inst.target(Z)), Z, rtol=1e-9, atol=0.0)
    assert inst.sign == direction


@pytest.mark.parametrize("name", ["log", "contrast", "sinh", "falling posterior"])
def test_the_table_agrees_with_ninety_halvings(name):
    target, _, interval = TARGETS[name]
    table = TabulatedRatio.of(target)
    u = interval.from_real(torch.linspace(-6, 6, 23, dtype=torch.float64))
    torch.testing.assert_close(table(u), invert(target, u, POSITIVE, table.sign), rtol=1e-8, atol=0.0)


def test_the_table_ends_in_nothing_and_everything():
    table = TabulatedRatio.of(lambda z: z / (1 + z))
    assert table(torch.tensor([-1.0, 2.0])).tolist() == [0.0, math.inf]


@pytest.mark.parametrize("name", CASES)
def test_the_range_of_a_target(name):
    target, _, interval = TARGETS[name]
    found = range_of(target)
    assert found.low == pytest.approx(interval.low, abs=1e-6)
    assert found.high == pytest.approx(interval.high, abs=1e-6)


def test_recovers_the_bounded_square_loss_of_example_4():
    inst = _derived("contrast", "T")
    u = torch.linspace(-3, 3, 61, dtype=torch.float64)
    inside = torch.abs(u) < 1
    size = torch.abs(1 - u) + torch.abs(1 + u)
    torch.testing.assert_close(inst.up(u)[inside], ((1 - u) / size)[inside])
    assert eq.theory.consistent(inst, eq.catalog.get("square"))


@pytest.mark.parametrize("of", ["density", "conditional_density"])
@pytest.mark.parametrize("which", ["T", "R"])
@pytest.mark.parametrize("name", ["log", "identity", "root", "falling log"])
def test_learns_functions_of_the_density_itself(name, which, of):
    target, ratio, _ = TARGETS[name]
    inst = derive(**_from(which, target, ratio), of=of)
    p_up, p_down = torch.tensor([0.3, 2e-4, 7.0]).double(), torch.tensor([0.5, 9e-3, 0.1]).double()
    u = target(p_up)
    torch.testing.assert_close(inst.target(p_up / p_down, p_down.log()), u, rtol=1e-7, atol=1e-9)
    torch.testing.assert_close(inst.ratio(u, p_down.log()), ratio(u) / p_down, rtol=1e-6, atol=0.0)
    torch.testing.assert_close(p_up * inst.up(u, p_down.log()), p_down * inst.down(u, p_down.log()), rtol=1e-6, atol=0)
    assert inst.needs_base
    assert inst.height(u) is u
    assert (inst.pairing is pairings.CONDITIONAL) == (of == "conditional_density")


def test_density_magnitudes_are_those_of_nce():
    inst, nce = derive(ratio=torch.exp, of="density"), eq.catalog.get("nce")
    f = torch.linspace(-60, 5, 27)
    log_base = torch.linspace(-230, 3, 27)
    torch.testing.assert_close(inst.up(f - 200, log_base), nce.up(f - 200 - log_base))
    torch.testing.assert_close(inst.down(f - 200, log_base), nce.down(f - 200 - log_base))
    assert eq.theory.consistent(inst, nce)


def test_a_base_of_zero_gives_numbers():
    inst = derive(ratio=torch.exp, of="density")
    zero = torch.full((3,), -math.inf)
    u = torch.tensor([-1e4, 0.0, 1e4])
    assert not inst.up(u, zero).isnan().any()
    assert not inst.down(u, zero).isnan().any()


def test_conditional_ratios_take_the_generators_pairing():
    inst = derive(target=torch.log, of="conditional_ratio", name="mine")
    assert inst.pairing is pairings.CONDITIONAL_GENERATED
    assert inst.name == inst.estimand.name == "mine"
    assert not inst.needs_base


def test_a_derived_instance_has_primitives_by_quadrature():
    inst = _derived("contrast", "T")
    u = torch.tensor([-0.7, 0.2, 0.8], dtype=torch.float64)
    step = 1e-4
    slope = (inst.up_primitive(u + step) - inst.up_primitive(u - step)) / (2 * step)
    torch.testing.assert_close(slope, inst.up(u), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "ratio=R, target=T, or both"),
        ({"target": torch.log, "of": "entropy"}, "of must be one of ratio, density"),
        ({"ratio": lambda u: torch.exp(2 * u), "target": torch.log}, "not inverse of each other: .* at z = "),
        ({"target": lambda z: (z - 1) ** 2}, "strictly monotone .* near z = "),
        ({"target": lambda z: z.clamp(max=2)}, "is flat .* near z = 2.0"),
        ({"target": lambda z: torch.where(z > 3, z + 1, z)}, "jumps at z = 3"),
        ({"target": torch.ones_like}, "near z = 1"),
        ({"target": lambda z: z.sum()}, "one value per ratio"),
        ({"ratio": lambda u: 1 + torch.exp(u)}, "found no interval"),
        ({"ratio": torch.exp, "interval": Interval(-1, 2)}, "every value in .* stays within"),
        ({"ratio": lambda u: (1 + u) / (1 - u), "interval": Interval(-1, 2)}, "negative at u = 1.0"),
        ({"ratio": lambda u: torch.exp(u**3 - 6 * u), "interval": REALS}, "FAILS R is strictly increasing"),
        ({"target": lambda z: (z - 1) / (z + 1), "interval": Interval(-1, 2)}, r"onto \(-1, 1\)"),
    ],
)
def test_refuses_what_has_no_instance(arguments, why):
    with pytest.raises(ValueError, match=why):
        derive(**arguments)


@pytest.mark.parametrize(
    ("of", "theorem"),
    [("ratio", "1118"), ("density", "1118"), ("conditional_density", "4338"), ("conditional_ratio", "4645")],
)
def test_names_its_theorem(of, theorem):
    assert derive(target=torch.log, of=of).reference.place == f"Theorem {theorem}"


def test_an_interval_may_be_two_numbers():
    assert derive(ratio=lambda u: u, interval=(0.0, math.inf)).interval == POSITIVE


@pytest.mark.parametrize(("arguments", "why"), [({"ratio": "exp(u)"}, "ratio=R must be"), ({"target": 3}, "target=T")])
def test_refuses_what_is_no_function(arguments, why):
    with pytest.raises(TypeError, match=why):
        derive(**arguments)
