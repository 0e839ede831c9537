import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings, strategies as st

import equipoise as eq
from equipoise.catalog import pairings
from equipoise.theory import bound, consistent, cut_at, reverse_at

EVERY = [pytest.param(inst, id=inst.label) for inst in [*eq.catalog.all(), eq.catalog.lsgan(1.0, 0.0)]]
BALANCED = [case for case in EVERY if case.values[0].feasible and case.values[0].scalar]
NORMS = [1, 3.5]


def _base(inst, log_base=-1.3):
    return (log_base,) if inst.needs_base else ()


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("inst", EVERY)
def test_the_norm_is_at_most_one_and_never_nan(inst, norm):
    calm = bound(inst, norm)
    for dtype in (torch.float32, torch.float64):
        u = torch.tensor([-1e4, -200.0, -9, -1, -0.5, 0, 1e-30, 0.3, 1, 9, 200, 1e4, -math.inf, math.inf], dtype=dtype)
        u = u if inst.scalar else torch.stack([u.nan_to_num(), torch.zeros_like(u)], dim=-1)
        for log_base in (0.0, -300.0):
            pair = torch.stack([calm.up(u, *_base(inst, log_base)), calm.down(u, *_base(inst, log_base))])
            size = torch.linalg.vector_norm(pair.double(), ord=norm, dim=0)
            assert not pair.isnan().any()
            assert pair.dtype == dtype
            assert (size <= 1 + 1e-6).all()
            assert ((size > 1 - 1e-6) | (size == 0)).all()


@pytest.mark.parametrize("norm", [2])
@pytest.mark.parametrize("inst", BALANCED)
def test_the_balance_stays(inst, norm):
    calm = bound(inst, norm)
    z = torch.logspace(-3, 3, 13, dtype=torch.float64)
    u = inst.target(z, *_base(inst))
    torch.testing.assert_close(calm.down(u, *_base(inst)) / calm.up(u, *_base(inst)), z, rtol=1e-6, atol=0.0)
    torch.testing.assert_close(calm.target(z, *_base(inst)), u, rtol=1e-9, atol=1e-12)
    assert (calm.interval, calm.sign, calm.needs_base) == (inst.interval, inst.sign, inst.needs_base)
    assert calm.estimand is inst.estimand
    assert calm.pairings is inst.pairings
    assert calm.bounded
    assert not calm.has_loss
    assert consistent(calm, inst)


@pytest.mark.parametrize("inst", EVERY)
def test_feasibility_is_never_lost(inst):
    rank = ["no balance", "range must be K", "any range"]
    assert rank.index(bound(inst).range) >= rank.index(inst.range)


def test_is_the_papers_example_4():
    u = torch.linspace(-4, 4, 33, dtype=torch.float64)
    calm = bound(eq.catalog.get("square"))
    size = torch.abs(1 - u) + torch.abs(1 + u)
    torch.testing.assert_close(calm.up(u), (1 - u) / size)
    torch.testing.assert_close(calm.down(u), (1 + u) / size)


def test_turns_importance_sampling_into_nce():
    u = torch.linspace(-700, 700, 57, dtype=torch.float64)
    calm, nce = bound(eq.catalog.get("importance_sampling")), eq.catalog.get("nce")
    torch.testing.assert_close(calm.up(u), nce.up(u))
    torch.testing.assert_close(calm.down(u), nce.down(u))


@pytest.mark.parametrize("inst", [eq.catalog.get("polynomial"), eq.catalog.get("inverse_polynomial")])
def test_overflow_and_underflow_take_the_ratio_from_r(inst):
    calm = bound(inst)
    u = torch.tensor([-500.0, -60.0, 60.0, 500.0], dtype=torch.float64)
    torch.testing.assert_close(calm.up(u), torch.sigmoid(-u))
    single = calm.up(u.float()).double()
    torch.testing.assert_close(single, torch.sigmoid(-u.float()).double(), rtol=1e-5, atol=1e-30)


def test_a_quotient_that_is_no_number_takes_its_limit():
    mine = eq.Instance("mine", up=torch.exp, down=lambda u: torch.exp(2 * u))
    far = torch.tensor([-1e4, 1e4])
    assert bound(mine).up(far).tolist() == [1.0, 0.0]
    assert bound(mine).down(far).tolist() == [0.0, 1.0]


def test_where_no_force_acts_outside_of_k_none_is_made():
    mine = eq.Instance(
        "mine",
        up=lambda u: torch.clamp(1 - u, 0),
        down=lambda u: torch.clamp(u, 0) * (u < 2),
        interval=eq.Interval(0, 1),
    )
    assert bound(mine).up(torch.tensor([3.0])).item() == 0.0
    assert bound(mine).down(torch.tensor([3.0])).item() == 0.0


@pytest.mark.parametrize("norm", [0.5, 0, -1, math.nan])
def test_refuses_what_is_no_norm(norm):
    with pytest.raises(ValueError, match="p >= 1"):
        bound(eq.catalog.get("nce"), norm)
    with pytest.raises(TypeError, match="bound's norm must be a number, got 'two'"):
        bound(eq.catalog.get("nce"), "two")


@settings(max_examples=30, deadline=None)
@given(st.floats(-5, 5), st.floats(0.1, 5), st.floats(-9, 9), st.floats(-3, 3))
def test_thresholds_act_on_the_papers_height(lower, width, u, log_base):
    upper = lower + width
    inst = eq.catalog.get("nce")
    cut, turned = cut_at(inst, upper=upper, lower=lower), reverse_at(inst, upper=upper, lower=lower)
    at, base = torch.tensor([u], dtype=torch.float64), torch.tensor([log_base], dtype=torch.float64)
    f = inst.height(at, base).item()
    assert cut.up(at, base).item() == (0.0 if f > upper else inst.up(at).item())
    assert cut.down(at, base).item() == (0.0 if f < lower else inst.down(at).item())
    assert turned.up(at, base).item() == inst.up(at).item() * (-1 if f > upper else 1)
    assert turned.down(at, base).item() == inst.down(at).item() * (-1 if f < lower else 1)
    assert cut.ratio(at, base).item() == pytest.approx(
        math.inf if f > upper else 0.0 if f < lower else inst.ratio(at).item()
    )


def _land(inst, z_up, z_down, log_base=None, steps=3000):
    """Where expected forces leave heights that are free of each other, from 0."""
    u = torch.zeros_like(z_up)
    extra = () if log_base is None else (log_base,)
    for step in range(steps):
        rate = 2.0 / (1 + step / 400)
        u = u + rate * (z_up * inst.up(u, *extra) - z_down * inst.down(u, *extra))
    return u


@pytest.mark.parametrize("limit", [cut_at, reverse_at])
def test_the_papers_picture_of_a_gaussian_cut_at_minus_3(limit):
    x = torch.linspace(-5, 5, 41, dtype=torch.float64)
    p_up = torch.distributions.Normal(0.0, 1.0).log_prob(x) * 2  # along the diagonal of a 2D normal
    log_base = torch.full_like(x, math.log(0.01))
    share = torch.exp(torch.stack([p_up, log_base]) - torch.logaddexp(p_up, log_base))
    inst = limit(eq.catalog.pso_lde(0.25), upper=-3.0)
    landed = inst.height(_land(inst, *share, log_base=log_base), log_base)
    expected = torch.clamp(p_up, max=-3.0)
    assert (torch.abs(landed - expected)[p_up > -10] < 0.1).all()
    torch.testing.assert_close(inst.height(inst.target(torch.exp(p_up - log_base), log_base), log_base), expected)


def test_thresholds_hold_a_negative_instance_too():
    inst = cut_at(eq.catalog.lsgan(1.0, 0.0), upper=0.8, lower=0.3)
    landed = _land(inst, torch.tensor([0.05, 0.5, 0.95]).double(), torch.tensor([0.95, 0.5, 0.05]).double())
    torch.testing.assert_close(landed, torch.tensor([0.8, 0.5, 0.3]).double(), rtol=0, atol=0.05)


def test_relative_thresholds_need_no_base():
    cut = cut_at(eq.catalog.get("nce"), upper=2.0, of="relative")
    assert not cut.needs_base
    assert cut.up(torch.tensor([1.0, 3.0]))[1].item() == 0.0
    assert cut.target(torch.tensor([1.0, 1e4])).tolist() == [0.0, 2.0]


def test_heights_against_a_base_need_it():
    cut = cut_at(eq.catalog.get("nce"), upper=2.0)
    assert cut.needs_base
    with pytest.raises(ValueError, match="depends on the base"):
        cut.up(torch.zeros(1))
    assert not cut_at(eq.catalog.get("logistic"), upper=2.0).needs_base


def test_bounding_keeps_a_cut():
    calm = bound(cut_at(eq.catalog.get("polynomial"), upper=1.0, of="relative"))
    assert calm.up(torch.tensor([0.0, 2.0, 1e4])).tolist() == [0.5, 0.0, 0.0]
    assert calm.down(torch.tensor([0.0, 2.0, 1e4])).tolist() == [0.5, 1.0, 1.0]


@pytest.mark.parametrize("limit", [cut_at, reverse_at])
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "needs a threshold"),
        ({"upper": 1.0, "lower": 1.0}, "upper > lower"),
        ({"upper": 0.0, "lower": 1.0}, "upper > lower"),
        ({"upper": 0.0, "of": "f"}, "'height' .* or 'relative'"),
        ({"upper": math.nan}, "must be a number"),
        ({"upper": 1.0, "lower": math.nan}, "must be a number"),
    ],
)
def test_refuses_thresholds_that_make_no_sense(limit, arguments, why):
    with pytest.raises(ValueError, match=why):
        limit(eq.catalog.get("nce"), **arguments)


@pytest.mark.parametrize("limit", [cut_at, reverse_at])
def test_refuses_thresholds_that_are_no_numbers(limit):
    with pytest.raises(TypeError, match=f"{limit.__name__}'s threshold must be a number, got 'three'"):
        limit("nce", upper="three")


def test_names_will_do():
    u = torch.tensor([0.25, 4.0])
    assert torch.equal(bound("ulsif").down(u), bound(eq.catalog.ulsif).down(u))
    for limit in (cut_at, reverse_at):
        assert torch.equal(limit("log_ratio", upper=1.0).up(u), limit(eq.catalog.log_ratio, upper=1.0).up(u))


def test_the_pairing_survives():
    shuffled = replace(eq.catalog.get("logistic"), pairings=(pairings.CONDITIONAL_GENERATED,))
    assert bound(shuffled).pairing is pairings.CONDITIONAL_GENERATED


def test_the_largest_norm_keeps_one_magnitude_at_one():
    calm, u = bound(eq.catalog.get("log_ratio"), math.inf), torch.tensor([-1e4, -2.0, 0.0, 3.0, 1e4])
    torch.testing.assert_close(calm.up(u), torch.exp(-u.clamp(min=0.0)))  # PSO-MAX
    torch.testing.assert_close(calm.down(u), torch.exp(u.clamp(max=0.0)))
