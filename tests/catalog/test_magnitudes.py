"""Every method of the registry: its theory, its balance, its primitives and its extremes."""

from math import inf, pi

import pytest
import torch
from tests.asserts import (
    BALANCED,
    LOG_BASE,
    MEMBERS,
    assert_close,
    assert_no_nan,
    heights,
    label,
    on_first,
    ratios,
    slope,
)

from equipoise import catalog
from equipoise.interval import NEGATIVE, POSITIVE, REALS, UNIT, Interval
from equipoise.magnitude import Quadrature
from equipoise.quadrature import antiderivative

EVERY = pytest.mark.parametrize("instance", MEMBERS, ids=label)
EVERY_BALANCED = pytest.mark.parametrize("instance", BALANCED, ids=label)
WITH_LOSS = pytest.mark.parametrize("instance", [i for i in MEMBERS if i.has_loss], ids=label)
EXTREMES = [-1e8, -1e4, -1.0, -1e-30, 0.0, 1e-30, 1.0, 1e4, 1e8]

ANY, MUST, NONE = "any range", "range must be K", "no balance"
SYMMETRIC = Interval(-1.0, 1.0)

# K as the tables print it (line 1302 on), and the range by the theorems at 1137 and 1174 and the remarks at 2267, 2326
# and 2531 say about the range. LDTR: zero continues the paper's square roots, and the theorem at 1174 holds.
PAPER = {
    "deep_pdf": (POSITIVE, ANY),
    "pso_lde": (REALS, ANY),
    "pso_max": (REALS, ANY),
    "nce": (REALS, ANY),
    "importance_sampling": (REALS, ANY),
    "polynomial": (REALS, ANY),
    "inverse_polynomial": (REALS, ANY),
    "inverse_importance_sampling": (REALS, ANY),
    "root_density": (POSITIVE, ANY),
    "pdf_convolution": (REALS, ANY),
    "log_pdf_1": (REALS, ANY),
    "log_pdf_2": (REALS, ANY),
    "log_pdf_3": (REALS, ANY),
    "log_pdf_4": (REALS, ANY),
    "log_pdf_5": (REALS, ANY),
    "mle": (POSITIVE, MUST),
    "bregman_density": (POSITIVE, MUST),
    "unit": (REALS, NONE),
    "ebgan": (POSITIVE, NONE),
    "hinge": (REALS, NONE),
    "ulsif": (POSITIVE, ANY),
    "kliep": (POSITIVE, MUST),
    "gan_critic": (UNIT, MUST),
    "ndmr": (POSITIVE, ANY),
    "ndmlr": (REALS, ANY),
    "gan_critic_log": (NEGATIVE, MUST),
    "power_divergence": (POSITIVE, MUST),
    "reversed_kl": (POSITIVE, MUST),
    "balanced_ratio": (POSITIVE, MUST),
    "log_ratio": (REALS, ANY),
    "square": (SYMMETRIC, ANY),
    "logistic": (REALS, ANY),
    "exponential": (REALS, ANY),
    "lsgan": (UNIT, ANY),
    "kl_divergence": (REALS, ANY),
    "reverse_kl_divergence": (NEGATIVE, MUST),
    "lipschitz": (REALS, ANY),
    "ldar": (Interval(-pi / 2, pi / 2), MUST),
    "ldtr": (SYMMETRIC, ANY),
    "f_divergence": (Interval(-inf, 0.34657359027997264), MUST),
    "conditional_density": (POSITIVE, ANY),
    "conditional_log_density": (REALS, ANY),
    "conditional_nce": (REALS, ANY),
    "conditional_pso_lde": (REALS, ANY),
    "conditional_gan": (UNIT, MUST),
    "likelihood_ratio_logistic": (REALS, ANY),
    "binary_cross_entropy": (REALS, ANY),
    "softmax_cross_entropy": (REALS, ANY),
}
NEEDS_BASE = {"deep_pdf", "root_density", "log_pdf_1", "log_pdf_5", "bregman_density", "conditional_density"}
BOUNDED = {  # the largest |M_up| and |M_down| over the heights that the surface may take
    "pso_lde": (1.0, 1.0),
    "conditional_pso_lde": (1.0, 1.0),
    "pso_max": (1.0, 1.0),
    "nce": (1.0, 1.0),
    "conditional_nce": (1.0, 1.0),
    "logistic": (1.0, 1.0),
    "likelihood_ratio_logistic": (1.0, 1.0),
    "unit": (1.0, 1.0),
    "ebgan": (1.0, 1.0),
    "hinge": (1.0, 1.0),
    "balanced_ratio": (1.0, 1.0),
    "lipschitz": (2.0, 2.0),
    "ldar": (1.0, 1.0),
    "binary_cross_entropy": (0.5, 0.5),
    "softmax_cross_entropy": (1.0, 1.0),
}


@pytest.mark.parametrize("instance", catalog.all(), ids=label)
def test_interval_and_verdict_are_the_papers(instance):
    assert (instance.interval, instance.range) == PAPER[instance.name]


@EVERY
def test_only_critics_have_no_balance(instance):
    kind = instance.parameters.get("kind", instance.name)
    assert instance.feasible == (kind not in {"unit", "ebgan", "hinge", "total_variation"})


@pytest.mark.parametrize("instance", catalog.all(), ids=label)
def test_only_the_mixtures_reach_a_part_of_k(instance):
    parts = {"ndmr": UNIT, "ndmlr": NEGATIVE}
    assert instance.reachable == parts.get(instance.name, instance.interval)


@pytest.mark.parametrize("instance", catalog.all(), ids=label)
def test_only_height_dependent_densities_need_the_base(instance):
    assert instance.needs_base == (instance.name in NEEDS_BASE)


@pytest.mark.parametrize("instance", catalog.all(), ids=label)
def test_only_ldar_has_no_loss_in_closed_form(instance):
    assert instance.has_loss == (instance.name != "ldar")


@pytest.mark.parametrize("instance", catalog.all(), ids=label)
def test_bounds(instance):
    assert instance.bounded == (instance.name in BOUNDED)
    if instance.bounded:
        assert instance.bounds == pytest.approx(BOUNDED[instance.name])


@EVERY_BALANCED
def test_ratio_at_target_is_z(instance):
    z = ratios()
    u = instance.target(z)
    log_ratio = on_first(instance, instance.ratio)
    conditioning = torch.abs(slope(lambda h: torch.log(log_ratio(h)), u) * u)
    tolerance = 1e-6 + 8.0 * torch.finfo(torch.float64).eps * conditioning
    for ratio in (log_ratio(u), on_first(instance, instance.down)(u) / on_first(instance, instance.up)(u)):
        assert bool((torch.abs(ratio / z - 1.0) <= tolerance).all())


@EVERY_BALANCED
def test_target_increases_onto_the_interval(instance):
    u = instance.target(ratios())
    assert bool(instance.interval.contains(u).all())
    assert bool((instance.sign * torch.diff(u) > 0).all())
    assert instance.sign == (-1 if instance.parameters.get("a", 0.0) > instance.parameters.get("b", 1.0) else 1)


@pytest.mark.parametrize("instance", [i for i in BALANCED if i.scalar], ids=label)
def test_target_ends_where_the_interval_does(instance):
    """T where one density is absent, and never NaN: the ends of K."""
    for dtype in (torch.float32, torch.float64):
        ends = instance.target(torch.tensor([0.0, inf], dtype=dtype)).tolist()
        assert sorted(ends) == pytest.approx([instance.interval.low, instance.interval.high], rel=1e-6)


@EVERY_BALANCED
def test_log_ratio_is_the_log_of_the_ratio(instance):
    z = ratios()
    if instance.scalar:
        assert_close(instance.log_ratio(instance.target(z)), torch.log(z), relative=1e-5, absolute=1e-5)


@pytest.mark.parametrize("instance", [i for i in BALANCED if i.scalar], ids=label)
def test_log_ratio_is_monotone_at_every_height_the_surface_may_take(instance):
    """Beyond K too, where R = M_down/M_up turns negative above (square, LSGAN) or is not defined (LDTR)."""
    for dtype in (torch.float32, torch.float64):
        u = torch.unique(torch.cat([torch.linspace(-9.0, 9.0, 721, dtype=dtype), torch.tensor(EXTREMES, dtype=dtype)]))
        u = u[instance.heights.contains(u)]
        log_ratio = instance.log_ratio(u)
        assert_no_nan(log_ratio, u)
        assert bool((instance.sign * torch.diff(log_ratio) >= -1e-5 * torch.abs(log_ratio[1:])).all())
        assert bool(torch.isfinite(log_ratio).all())


@EVERY_BALANCED
def test_magnitudes_have_one_sign_on_the_interval(instance):
    u = instance.target(ratios())
    for side in (instance.up, instance.down):
        assert bool((instance.sign * on_first(instance, side)(u) > 0).all())


@WITH_LOSS
def test_primitives_differentiate_to_magnitudes(instance):
    u = heights(instance)
    for side in ("up", "down"):
        primitive = on_first(instance, getattr(instance, f"{side}_primitive"))
        magnitude = on_first(instance, getattr(instance, side))(u)
        assert_close(slope(primitive, u), magnitude, relative=1e-6, absolute=1e-12)
        assert_close(_central(primitive, u, instance.interval), magnitude, relative=1e-6, absolute=1e-8)


@pytest.mark.parametrize("instance", [i for i in MEMBERS if i.has_loss and i.feasible and i.scalar], ids=label)
def test_primitives_are_what_quadrature_gives(instance):
    u = heights(instance, -1.5, 1.5)
    start = heights(instance, 0.0, 0.1)[0]
    for side in ("up", "down"):
        primitive = on_first(instance, getattr(instance, f"{side}_primitive"))
        expected = primitive(u) - primitive(start)
        area = antiderivative(lambda t, _, side=side: on_first(instance, getattr(instance, side))(t), u, start.item())
        assert_close(area, expected, relative=1e-6, absolute=1e-9)


@pytest.mark.parametrize("instance", [i for i in BALANCED if not i.has_loss and i.scalar], ids=label)
def test_derived_primitives_differentiate_to_magnitudes(instance):
    u = heights(instance)
    for side in ("up", "down"):
        primitive = getattr(instance, f"{side}_primitive")
        assert isinstance(primitive, Quadrature)
        difference = _central(primitive, u, instance.interval)
        assert_close(difference, getattr(instance, side)(u), relative=1e-6, absolute=1e-8)


@EVERY
def test_extreme_heights_give_no_nan(instance):
    u = torch.tensor(EXTREMES)
    for log_base in (-80.0, -0.5, 0.0, 3.0):
        for side in (instance.up, instance.down):
            values = side(u, log_base) if instance.scalar else on_first(instance, side)(u)
            assert values.dtype == torch.float32
            assert_no_nan(values, u)


@pytest.mark.parametrize("instance", [i for i in MEMBERS if i.needs_base], ids=label)
def test_a_base_whose_powers_overflow_gives_no_nan(instance):
    u = torch.tensor([-3e38, -1.0, 0.0, 1.0, 3e38])
    for side in (instance.up, instance.down):
        assert_no_nan(side(u, 50.0), u)


@EVERY
def test_no_base_gives_no_nan(instance):
    u = instance.interval.from_real(torch.tensor([-30.0, -1.0, 0.0, 1.0, 30.0]))
    if instance.scalar:
        for side in (instance.up, instance.down):
            assert_no_nan(side(u, -inf), u)


@pytest.mark.parametrize("instance", [i for i in MEMBERS if i.bounded], ids=label)
def test_bounded_magnitudes_stay_in_their_bounds(instance):
    u = torch.tensor(EXTREMES)
    u = u[instance.heights.contains(u)]
    for side, bound in zip((instance.up, instance.down), instance.bounds, strict=True):
        values = torch.abs(on_first(instance, side)(u))
        assert bool((values <= bound * (1.0 + 1e-6)).all())


@pytest.mark.parametrize("instance", [i for i in MEMBERS if i.has_loss and i.scalar], ids=label)
def test_primitives_are_no_nan_beyond_the_interval(instance):
    u = torch.tensor(EXTREMES)
    for log_base in (-3.0, 0.0):
        for primitive in (instance.up_primitive, instance.down_primitive):
            assert_no_nan(primitive(u, log_base), u)


@WITH_LOSS
def test_primitives_are_no_nan_on_the_interval(instance):
    u = instance.interval.from_real(torch.tensor(EXTREMES))
    for primitive in (instance.up_primitive, instance.down_primitive):
        assert_no_nan(on_first(instance, primitive)(u), u)


@EVERY
def test_references_exist(instance):
    assert instance.reference.place
    assert instance.reference.cite
    assert set(instance.tables) <= {1, 2, 3, 4, 5, 6}
    assert instance.pairings
    assert instance.estimand.words
    assert instance.estimand.tex


@pytest.mark.parametrize(
    ("name", "up", "down"),
    [
        ("square", 1.0, -1.0),  # the remark at line 2326
        ("deep_pdf", "arbitrary", 0.0),  # there the base has no density, and the up force none either
        ("nce", inf, -inf),
        ("pso_lde", inf, -inf),
        ("pso_max", inf, -inf),
        ("ulsif", inf, 0.0),
        ("kliep", inf, 0.0),
        ("ndmr", inf, 0.0),
        ("lsgan", 1.0, 0.0),
        ("gan_critic", 1.0, 0.0),
        ("gan_critic_log", 0.0, -inf),
        ("reverse_kl_divergence", 0.0, -inf),
        ("root_density", "arbitrary", 0.0),
        ("log_pdf_1", "arbitrary", -inf),
        ("log_pdf_2", inf, -inf),
        ("log_pdf_5", "arbitrary", -inf),
        ("ldar", pi / 2, -pi / 2),
        ("lipschitz", inf, -inf),
        ("mle", inf, 0.0),
        ("unit", inf, -inf),
        ("ebgan", 0.0, "undecided"),  # every height above the margin is at rest
        ("hinge", "undecided", "undecided"),
        ("ldtr", "undecided", "undecided"),
        ("softmax_cross_entropy", inf, -inf),
    ],
)
def test_where_one_side_is_alone(name, up, down):
    """The theorems at 1199 and 1274."""
    instance = catalog.get(name)
    assert (instance.where_only_up, instance.where_only_down) == (up, down)


def test_where_one_side_is_alone_follows_the_labels():
    instance = catalog.lsgan(a=3.0, b=-1.0)
    assert (instance.where_only_up, instance.where_only_down) == pytest.approx((-1.0, 3.0))


@pytest.mark.parametrize("instance", [i for i in BALANCED if i.scalar], ids=label)
def test_mean_force_vanishes_at_the_optimum(instance):
    """Two Gaussians on a grid: against every test function the two sides do the same work at u = T(p_up / p_down)."""
    x = torch.linspace(-6.0, 6.0, 2001, dtype=torch.float64)
    p_up = torch.distributions.Normal(0.4, 0.9).log_prob(x).exp()
    p_down = torch.distributions.Normal(-0.2, 1.1).log_prob(x).exp()
    if instance.pairing.name == "mixture":
        p_down = 0.5 * (p_up + p_down)
    u = instance.target(p_up / p_down)
    log_base = torch.log(p_down)
    up, down = p_up * instance.up(u, log_base), p_down * instance.down(u, log_base)
    assert_close(up, down, relative=1e-6)
    for test_function in (torch.ones_like(x), x, torch.sin(2.0 * x), torch.exp(-(x**2))):
        work = torch.trapezoid((up - down) * test_function, x).abs()
        assert work <= 1e-8 * torch.trapezoid(up.abs() * test_function.abs(), x)
    away = instance.target(1.1 * p_up / p_down)
    net = p_up * instance.up(away, log_base) - p_down * instance.down(away, log_base)
    assert bool((instance.sign * net < 0).all()), "above the balance the down side must win"


def test_magnitudes_follow_the_base():
    for instance in (i for i in MEMBERS if i.needs_base):
        u = heights(instance, -1.0, 1.0)
        near, far = instance.up(u, LOG_BASE), instance.up(u, LOG_BASE - 1.0)
        if instance.parameters.get("phi") not in {"kl", "itakura_saito"}:  # whose M_up is scale-free up to a factor
            assert bool((far < near).all())


def _central(function, u, interval):
    """Five-point differences, with steps that stay inside K."""
    room = torch.minimum(u - interval.low, interval.high - u)
    step = 1e-3 * torch.minimum(1.0 + torch.abs(u), room)
    near = function(u + step) - function(u - step)
    far = function(u + 2.0 * step) - function(u - 2.0 * step)
    return (8.0 * near - far) / (12.0 * step)
