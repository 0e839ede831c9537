"""Families at many parameters, and stable forms against the textbook forms in their docstrings."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from tests.asserts import assert_close, ratios, slope

from equipoise import catalog
from equipoise.catalog.generators import Potential
from equipoise.quadrature import antiderivative

U = torch.linspace(-12.0, 12.0, 121, dtype=torch.float64)
INSIDE = torch.linspace(0.02, 0.98, 49, dtype=torch.float64)
POSITIVE = torch.logspace(-3, 3, 61, dtype=torch.float64)
Z = ratios()


def assert_balances(instance, log_base=None, z=Z):
    u = instance.target(z)
    assert instance.feasible
    assert bool(instance.interval.contains(u).all())
    assert_close(instance.ratio(u), z, relative=1e-6)
    assert_close(instance.down(u, log_base) / instance.up(u, log_base), z, relative=1e-6)
    assert bool((instance.sign * instance.up(u, log_base) > 0).all())


@given(st.floats(0.03, 30.0))
def test_pso_lde_balances_and_is_bounded(alpha):
    instance = catalog.pso_lde(alpha)
    assert_balances(instance)
    assert instance.range == "any range"
    for side in (instance.up, instance.down):
        values = side(torch.tensor([-1e8, -1e4, 0.0, 1e4, 1e8]))
        assert bool(((values >= 0.0) & (values <= 1.0)).all())
    assert_close(instance.up(U), instance.down(-U), relative=0.0)


@given(st.floats(0.1, 10.0), st.floats(-5.0, 0.0))
def test_pso_lde_is_its_textbook_form(alpha, log_p):
    """p/(e^{αf} + p^α)^{1/α} and e^f/(e^{αf} + p^α)^{1/α} (line 1332), f = u + log p."""
    f, p = U + log_p, torch.tensor(log_p, dtype=torch.float64).exp()
    below = (torch.exp(f) ** alpha + p**alpha) ** (1.0 / alpha)
    instance = catalog.pso_lde(alpha)
    assert_close(instance.up(U), p / below, relative=1e-10)
    assert_close(instance.down(U), torch.exp(f) / below, relative=1e-10)


@pytest.mark.parametrize("whole", [*range(1, 9), 64])
def test_pso_lde_primitives_are_closed_at_one_over_a_whole_number(whole):
    instance = catalog.pso_lde(1.0 / whole)
    assert instance.has_loss
    assert_close(slope(instance.up_primitive, U), instance.up(U), relative=1e-6, absolute=1e-12)
    assert_close(slope(instance.down_primitive, U), instance.down(U), relative=1e-6, absolute=1e-12)
    start = torch.zeros_like(U)
    for side, primitive in ((instance.up, instance.up_primitive), (instance.down, instance.down_primitive)):
        area = antiderivative(lambda t, _, side=side: side(t), U, 0.0)
        assert_close(area, primitive(U) - primitive(start), relative=1e-8, absolute=1e-11)


@given(st.floats(0.1, 10.0))
def test_pso_lde_primitives_differentiate_to_magnitudes_at_any_alpha(alpha):
    instance = catalog.pso_lde(alpha)
    step = 1e-3
    for side, primitive in ((instance.up, instance.up_primitive), (instance.down, instance.down_primitive)):
        central = (primitive(U + step) - primitive(U - step)) / (2.0 * step)
        assert_close(central, side(U), relative=1e-4, absolute=1e-7)


@pytest.mark.parametrize("alpha", [0.3, 2.0, 1.0 / 65.0])
def test_pso_lde_primitives_are_integrated_elsewhere(alpha):
    assert not catalog.pso_lde(alpha).has_loss


def test_pso_lde_at_one_is_nce():
    ours, nce = catalog.pso_lde(1.0), catalog.nce
    for part in ("up", "down", "ratio", "up_primitive", "down_primitive"):
        assert_close(getattr(ours, part)(U), getattr(nce, part)(U), relative=1e-12, absolute=1e-15)


def test_pso_lde_approaches_log_pdf_4_relative_to_its_strength():
    """(1/α)·[softplus(αu) − log 2] = u/2 + α·u²/8 + …"""
    u = torch.linspace(-6.0, 6.0, 25, dtype=torch.float64)
    for alpha in (0.1, 0.01, 0.002):
        instance = catalog.pso_lde(alpha)
        relative = torch.log(instance.up(u) / instance.strength) - torch.log(catalog.log_pdf_4.up(u))
        assert instance.strength == pytest.approx(2.0 ** (-1.0 / alpha), rel=1e-10)
        assert bool((relative <= 1e-12).all())
        assert bool((relative >= -alpha * u**2 / 8.0 - 1e-12).all())


def test_pso_lde_approaches_pso_max():
    """The sup distance is at u = 0, where it is 1 − 2^(−1/α)."""
    for alpha in (1.0, 8.0, 64.0, 1e4):
        ours = catalog.pso_lde(alpha)
        for side in ("up", "down"):
            distance = (getattr(ours, side)(U) - getattr(catalog.pso_max, side)(U)).abs().max().item()
            assert distance == pytest.approx(1.0 - 2.0 ** (-1.0 / alpha), rel=1e-6)


@given(st.floats(1.0, 12.0), st.floats(-3.0, 1.0))
def test_root_density_balances(degree, log_base):
    instance = catalog.root_density(degree)
    assert_balances(instance, log_base)
    assert instance.range == "any range"
    u = instance.target(Z)
    expected = torch.exp((torch.log(Z) + log_base) / degree)  # the root of p_up = z·p
    assert_close(instance.height(u, log_base), expected, relative=1e-9)


@pytest.mark.parametrize("degree", [1, 2, 3, 2.5])
def test_root_density_is_its_textbook_form(degree):
    """In heights f = u·p^(1/d): M_up = p and M_down = |f|^d·sign f, times df/du = p^(1/d)."""
    instance, log_p = catalog.root_density(degree), torch.tensor(-0.9, dtype=torch.float64)
    per_height = torch.exp(log_p / degree)
    f = U * per_height
    assert_close(instance.up(U, log_p), (torch.exp(log_p) * per_height).expand_as(U), relative=1e-12)
    assert_close(instance.down(U, log_p), torch.abs(f) ** degree * torch.sign(f) * per_height, relative=1e-12)


def test_root_density_of_degree_one_is_deep_pdf():
    for log_base in (-3.0, 0.5):
        for side in ("up", "down", "up_primitive", "down_primitive"):
            ours, deep_pdf = getattr(catalog.root_density(1), side), getattr(catalog.deep_pdf, side)
            assert_close(ours(U, log_base), deep_pdf(U, log_base), relative=1e-12)


@given(st.floats(0.02, 5.0))
def test_power_divergence_balances(alpha):
    instance = catalog.power_divergence(alpha)
    assert_balances(instance)
    assert instance.range == ("any range" if alpha == 1.0 else "range must be K")
    assert_close(slope(instance.up_primitive, POSITIVE), POSITIVE ** (alpha - 1.0), relative=1e-9)


def test_power_divergence_at_one_is_ulsif():
    ours, ulsif = catalog.power_divergence(1.0), catalog.ulsif
    assert ours.range == ulsif.range == "any range"
    for part in ("up", "down", "up_primitive", "down_primitive", "ratio"):
        assert_close(getattr(ours, part)(POSITIVE), getattr(ulsif, part)(POSITIVE), relative=1e-12)


def test_power_divergence_approaches_kliep():
    for side in ("up", "down"):
        ours = getattr(catalog.power_divergence(1e-9), side)
        assert_close(ours(POSITIVE), getattr(catalog.kliep, side)(POSITIVE), relative=1e-7)


@given(st.floats(-5.0, 5.0), st.floats(0.1, 10.0), st.booleans())
def test_lsgan_balances_in_both_directions(a, gap, falling):
    b = a - gap if falling else a + gap
    instance = catalog.lsgan(a, b)
    assert instance.sign == (-1 if falling else 1)
    assert (instance.interval.low, instance.interval.high) == (min(a, b), max(a, b))
    assert instance.range == "any range"
    z = ratios(-3.0, 3.0)
    u = instance.target(z)
    assert bool((instance.sign * torch.diff(u) > 0).all())
    assert_close(u, (b * z + a) / (z + 1.0), relative=1e-12)
    assert_close(instance.down(u) / instance.up(u), z, relative=1e-6)
    assert_close(instance.ratio(u), z, relative=1e-6)
    assert (instance.where_only_up, instance.where_only_down) == pytest.approx((b, a), abs=1e-9)


@given(st.floats(0.01, 0.99))
def test_binary_cross_entropy_balances(prior):
    instance = catalog.binary_cross_entropy(prior)
    assert_balances(instance)
    assert_close(instance.target(Z), torch.log(Z * prior / (1.0 - prior)), relative=1e-12, absolute=1e-12)
    assert instance.bounds == pytest.approx((prior, 1.0 - prior))


@given(st.floats(0.1, 10.0))
def test_ebgan_and_hinge_stop_at_their_margin(margin):
    assert catalog.ebgan(margin).bounds == (1.0, 1.0)
    ebgan, hinge = catalog.ebgan(margin), catalog.hinge(margin)
    u = margin * torch.tensor([0.5, 0.999, 1.001, 3.0], dtype=torch.float64)
    assert ebgan.up(u).tolist() == [-1.0] * 4
    assert ebgan.down(u).tolist() == [-1.0, -1.0, 0.0, 0.0]
    assert hinge.up(u).tolist() == hinge.down(-u).tolist() == [1.0, 1.0, 0.0, 0.0]
    assert hinge.up(-u).tolist() == hinge.down(u).tolist() == [1.0] * 4
    for instance in (ebgan, hinge):
        assert instance.range == "no balance"


BREGMAN = {
    "kl": (lambda s: s * torch.log(s), lambda s: 1.0 / s),
    "squared": (lambda s: 0.5 * s**2, torch.ones_like),
    "itakura_saito": (lambda s: -torch.log(s), lambda s: 1.0 / s**2),
}


def cubic(s):
    return s**3


@pytest.mark.parametrize("phi", [*BREGMAN, cubic, torch.exp, lambda s: torch.cosh(2.0 * s)])
@pytest.mark.parametrize("log_base", [-2.0, 0.0])
def test_bregman_density_balances(phi, log_base):
    assert_balances(catalog.bregman_density(phi), log_base, z=ratios(-4.0, 2.0))


@pytest.mark.parametrize("name", BREGMAN)
def test_bregman_density_is_its_textbook_form(name):
    """M_up = φ″(f) and M_down = f·φ″(f)/p at f = u·p, times df/du = p; from a callable the same by autograd."""
    phi, curvature = BREGMAN[name]
    log_p = torch.tensor(-0.8, dtype=torch.float64)
    p = torch.exp(log_p)
    for instance in (catalog.bregman_density(name), catalog.bregman_density(phi)):
        f = POSITIVE * p
        assert_close(instance.up(POSITIVE, log_p), p * curvature(f), relative=1e-9)
        assert_close(instance.down(POSITIVE, log_p), f * curvature(f), relative=1e-9)


def test_bregman_density_of_kl_is_mle():
    kl, mle = catalog.bregman_density("kl"), catalog.mle
    for side in ("up", "down"):
        assert_close(getattr(kl, side)(POSITIVE, -1.3), getattr(mle, side)(POSITIVE, -1.3), relative=1e-12)


@pytest.mark.parametrize("phi", [*BREGMAN, cubic])
def test_bregman_loss_is_the_divergence(phi):
    """L(f) − L(f*) = ∫ φ(q) − φ(f) − φ′(f)·(q − f) (Claim PSO_Bregman_rel, line 2707)."""
    x = torch.linspace(-5.0, 5.0, 1501, dtype=torch.float64)
    q = torch.distributions.Normal(0.3, 1.0).log_prob(x).exp()
    log_p = torch.full_like(x, -2.3)
    p = torch.exp(log_p)
    instance = catalog.bregman_density(phi)

    def loss(f):
        u = f / p
        return torch.trapezoid(-q * instance.up_primitive(u, log_p) + p * instance.down_primitive(u, log_p), x)

    generator = BREGMAN[phi][0] if isinstance(phi, str) else phi
    f = q * (1.0 + 0.4 * torch.sin(2.0 * x))
    expected = torch.trapezoid(generator(q) - generator(f) - slope(generator, f) * (q - f), x)
    assert (loss(f) - loss(q)).item() == pytest.approx(expected.item(), rel=1e-8)
    assert expected > 0.0


def test_bregman_density_keeps_a_callable_as_its_parameter():
    instance = catalog.bregman_density(cubic)
    assert instance.label == "bregman_density(phi=cubic)"
    again = catalog.get(instance.name, **instance.parameters)
    assert_close(again.up(POSITIVE, -1.0), instance.up(POSITIVE, -1.0), relative=0.0)


def test_bregman_density_takes_a_potential():
    quartic = Potential("quartic", lambda s: s**4, lambda s: 4.0 * s**3, lambda s: 12.0 * s**2)
    instance = catalog.bregman_density(quartic)
    assert_balances(instance, -0.5)
    assert instance.label == "bregman_density(phi=quartic)"


def test_bregman_magnitudes_can_be_differentiated():
    u = POSITIVE.clone().requires_grad_()
    up = catalog.bregman_density(cubic).up(u, 0.0)
    assert_close(torch.autograd.grad(up.sum(), u)[0], torch.full_like(POSITIVE, 6.0), relative=1e-12)
    with torch.no_grad():
        assert not catalog.bregman_density(cubic).up(POSITIVE, 0.0).requires_grad


REFUSED = [
    *(("pso_lde", {"alpha": alpha}, "0 < alpha") for alpha in (0.0, -0.25, nan, inf)),
    *(("conditional_pso_lde", {"alpha": alpha}, "0 < alpha") for alpha in (0.0, -1.0)),
    *(("power_divergence", {"alpha": alpha}, "0 < alpha") for alpha in (0.0, -1.0, nan, inf)),
    *(("root_density", {"degree": degree}, "1 <= degree") for degree in (0.5, 0, -2, nan, inf)),
    *(("ebgan", {"margin": margin}, "margin > 0") for margin in (0.0, -1.0, nan, inf)),
    *(("hinge", {"margin": margin}, "margin > 0") for margin in (0.0, -1.0, nan, inf)),
    *(("lsgan", {"a": a, "b": 1.0}, "two different labels") for a in (1.0, nan, inf)),
    *(("binary_cross_entropy", {"prior": prior}, "0 < prior < 1") for prior in (0.0, 1.0, -0.1, 1.5, nan)),
    *(("softmax_cross_entropy", {"norm": norm}, "norm >= 1") for norm in (0.5, 0.0, -1.0, nan)),
    ("f_divergence", {"kind": "chi"}, "kl, reverse_kl, js, gan, pearson, neyman, hellinger, total_variation"),
    ("f_divergence", {"kind": ["kl"]}, "kind must be one of"),
    ("bregman_density", {"phi": "chi"}, "kl, itakura_saito|squared, kl, itakura_saito"),
]


@pytest.mark.parametrize(("name", "parameters", "message"), REFUSED)
def test_parameters_out_of_range_name_the_range(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        catalog.get(name, **parameters)


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        *((name, "alpha") for name in ("pso_lde", "conditional_pso_lde", "power_divergence")),
        *(("ebgan", "margin"), ("hinge", "margin"), ("lsgan", "a"), ("lsgan", "b"), ("root_density", "degree")),
        *(("binary_cross_entropy", "prior"), ("softmax_cross_entropy", "norm")),
    ],
)
@pytest.mark.parametrize("value", ["a quarter", None, True, [1.5], 1.5j])
def test_a_parameter_that_is_no_number_is_refused(name, parameter, value):
    with pytest.raises(TypeError, match=rf"{parameter} must be a number, got "):
        catalog.get(name, **{parameter: value})


@pytest.mark.parametrize("value", [np.float64(0.5), np.float32(0.5), torch.tensor(0.5), Fraction(1, 2)])
def test_any_kind_of_number_is_a_parameter(value):
    assert catalog.pso_lde(value).label == "pso_lde(alpha=0.5)"
    assert type(catalog.pso_lde(value).parameters["alpha"]) is float
    assert catalog.root_density(np.int64(3)).label == "root_density(degree=3)"


def test_a_potential_that_is_not_strictly_convex_has_no_balance():
    for phi in (lambda s: 3.0 * s + 1.0, lambda s: -(s**2), torch.ones_like):
        assert catalog.bregman_density(phi).range == "no balance"


def test_a_potential_must_be_a_function():
    with pytest.raises(TypeError, match="convex function"):
        catalog.bregman_density(3.0)


def exp(u):
    return torch.exp(u)


TEXTBOOK = {  # M_up, M_down as the docstrings and tables print them, on heights where they are accurate in float64
    "pso_max": (lambda u: exp(-torch.clamp(u, min=0)), lambda u: exp(torch.clamp(u, max=0)), U),
    "nce": (lambda u: 1 / (exp(u) + 1), lambda u: exp(u) / (exp(u) + 1), U),
    "logistic": (lambda u: 1 / (exp(u) + 1), lambda u: 1 / (exp(-u) + 1), U),
    "binary_cross_entropy": (lambda u: 0.5 / (1 + exp(u)), lambda u: 0.5 * exp(u) / (1 + exp(u)), U),
    "importance_sampling": (torch.ones_like, exp, U),
    "polynomial": (exp, lambda u: exp(u) ** 2, U),
    "inverse_polynomial": (lambda u: exp(u) ** -2, lambda u: 1 / exp(u), U),
    "inverse_importance_sampling": (lambda u: 1 / exp(u), torch.ones_like, U),
    "log_pdf_4": (lambda u: 1 / torch.sqrt(exp(u)), lambda u: torch.sqrt(exp(u)), U),
    "exponential": (lambda u: exp(-u), exp, U),
    "kl_divergence": (torch.ones_like, lambda u: exp(u) / torch.e, U),
    "ndmlr": (torch.ones_like, lambda u: 2 * exp(u), U),
    "lipschitz": (lambda u: 1 - u / torch.sqrt(u**2 + 1), lambda u: 1 + u / torch.sqrt(u**2 + 1), U),
    "ldar": (lambda u: 1 / (exp(torch.tan(u)) + 1), lambda u: 1 / (exp(-torch.tan(u)) + 1), 1.5 * (2 * INSIDE - 1)),
    "ldtr": (lambda u: torch.sqrt(1 - u), lambda u: torch.sqrt(1 + u), 2 * INSIDE - 1),
    "square": (lambda u: 1 - u, lambda u: 1 + u, U),
    "gan_critic": (lambda u: 1 / u, lambda u: 1 / (1 - u), INSIDE),
    "gan_critic_log": (lambda u: 1 / exp(u), lambda u: 1 / (1 - exp(u)), -POSITIVE[:50]),
    "balanced_ratio": (lambda u: 1 / (u + 1), lambda u: u / (u + 1), POSITIVE),
    "reversed_kl": (lambda u: u**-2, lambda u: u**-1, POSITIVE),
    "reverse_kl_divergence": (torch.ones_like, lambda u: 1 / (-u), -POSITIVE),
}


@pytest.mark.parametrize("name", TEXTBOOK)
def test_stable_forms_are_the_textbook_forms(name):
    up, down, u = TEXTBOOK[name]
    instance = catalog.get(name)
    assert_close(instance.up(u), up(u).to(u.dtype), relative=1e-11)
    assert_close(instance.down(u), down(u).to(u.dtype), relative=1e-11)


def test_stable_forms_hold_where_textbook_forms_give_out():
    far = torch.tensor([1e4], dtype=torch.float64)
    assert_close(catalog.lipschitz.up(far), torch.tensor([0.5e-8]).double(), relative=1e-7)
    assert_close(catalog.nce.up_primitive(-far), -far, relative=1e-12)
    assert_close(catalog.pso_lde(0.25).up_primitive(-far), -far, relative=1e-2)
    assert_close(catalog.gan_critic_log.down_primitive(-far), -far, relative=1e-12)
    tiny = torch.tensor([1e-12], dtype=torch.float64)
    assert_close(catalog.gan_critic_log.down(-tiny), 1.0 / tiny, relative=1e-9)
