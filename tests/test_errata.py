"""The paper's printed formulas against each other and against the code; docs/errata.md names the tests below.

A misprint is shown to be one: the printed form fails, the corrected form holds.
"""

import re
from itertools import product
from math import exp, inf, log, pi
from pathlib import Path

import pytest
import torch
from scipy.special import hyp2f1

from equipoise import catalog
from equipoise.catalog import bibliography
from equipoise.catalog.generators import GENERATORS
from equipoise.conditions import ANY_RANGE
from equipoise.formula import Formula

PAGE = Path(__file__).parents[1] / "docs" / "errata.md"
MISPRINTED_LOSS = {("gan_critic_log", "down")}
REACHABLE_AS_K = {"ndmr", "ndmlr"}

MEMBERS = [
    catalog.pso_lde(1.0),
    catalog.pso_lde(0.4),
    catalog.pso_lde(2.0),
    catalog.root_density(3),
    catalog.root_density(2.5),
    catalog.power_divergence(1.0),
    catalog.power_divergence(2.0),
    catalog.lsgan(-1.0, 1.0),
    catalog.lsgan(2.0, -1.0),
    catalog.ebgan(2.0),
    catalog.binary_cross_entropy(0.2),
    catalog.conditional_pso_lde(0.5),
]
PRINTED = [instance for instance in [*catalog.all(), *MEMBERS] if instance.printed]
by_label = pytest.mark.parametrize("instance", PRINTED, ids=lambda instance: instance.label)


def grid(*ends, n=81):
    return torch.linspace(*ends, n, dtype=torch.float64)


def heights(instance):
    """Relative heights over K, log-bases beside them, and the paper's heights."""
    u = instance.interval.from_real(grid(-4.0, 4.0))
    log_base = 2.0 * torch.sin(3.0 * grid(-4.0, 4.0)) - 1.0
    return u, log_base, instance.height(u, log_base)


def printed(instance, part, f, log_base):
    return Formula(getattr(instance.printed, part))(f, p=torch.exp(log_base), **instance.parameters)


def slope_of(instance, part, f, log_base):
    f = f.detach().requires_grad_()
    value = printed(instance, part, f, log_base)
    if not value.requires_grad:
        return torch.zeros_like(f)
    return torch.autograd.grad(value.sum(), f)[0]


def close(a, b, rtol=1e-9, atol=1e-12):
    return bool(torch.isclose(a, b, rtol=rtol, atol=atol).all())


# --- the tables, entry by entry -----------------------------------------------------------------------------------


@by_label
def test_printed_ratio_is_the_code_s_ratio(instance):
    u, log_base, f = heights(instance)
    ratio = printed(instance, "down", f, log_base) / printed(instance, "up", f, log_base)
    assert close(ratio, instance.ratio(u, log_base))


@by_label
def test_printed_magnitudes_are_the_code_s_magnitudes(instance):
    u, log_base, f = heights(instance)
    slope = instance.estimand.frame.slope(u, log_base)
    assert close(printed(instance, "up", f, log_base) * slope, instance.up(u, log_base))
    assert close(printed(instance, "down", f, log_base) * slope, instance.down(u, log_base))


@by_label
def test_printed_loss_has_the_printed_magnitudes(instance):
    _, log_base, f = heights(instance)
    for side, sign in (("up", -1.0), ("down", 1.0)):
        if getattr(instance.printed, f"loss_{side}"):
            slope = sign * slope_of(instance, f"loss_{side}", f, log_base)
            if (instance.name, side) in MISPRINTED_LOSS:
                assert "sign" in instance.printed.erratum
                slope = -slope
            assert close(slope, printed(instance, side, f, log_base))


@by_label
def test_printed_interval_is_k(instance):
    if not instance.printed.interval:
        assert not instance.feasible
        return
    names = {"inf": inf, "pi": pi, "min": min, "max": max, **instance.parameters}
    ends = eval(instance.printed.interval, {"__builtins__": {}}, names)
    expected = instance.reachable if instance.name in REACHABLE_AS_K else instance.interval
    assert ends == pytest.approx((expected.low, expected.high), abs=1e-12)


@by_label
def test_printed_forces_balance_at_the_target(instance):
    if not instance.feasible:
        return
    z = torch.exp(grid(-6.0, 6.0))
    log_base = torch.cos(z)
    f = instance.height(instance.target(z), log_base)
    assert close(z * printed(instance, "up", f, log_base), printed(instance, "down", f, log_base), rtol=1e-7)


def test_the_listed_errata_are_the_catalogue_s():
    marked = {instance.name for instance in catalog.all() if instance.printed and instance.printed.erratum}
    assert marked == {name for name, _ in MISPRINTED_LOSS} | REACHABLE_AS_K
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in marked)


def test_every_test_the_page_names_exists():
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text(encoding="utf-8")))
    assert named
    assert named <= set(globals())


# --- formulas that the tables give in words ------------------------------------------------------------------------


@pytest.mark.parametrize("phi", ["kl", "squared", "itakura_saito"])
def test_bregman_magnitudes_of_the_claim(phi):
    instance = catalog.bregman_density(phi)
    curvature = {"kl": "1/f", "squared": "1", "itakura_saito": "1/f**2"}[phi]
    u, log_base, f = heights(instance)
    up = Formula(curvature)(f)
    assert close(up * torch.exp(log_base), instance.up(u, log_base))
    assert close(f * up, instance.down(u, log_base))


@pytest.mark.parametrize("kind", [kind for kind in GENERATORS if kind != "total_variation"])
def test_f_divergence_magnitudes_of_the_claim(kind):
    generator, instance = GENERATORS[kind], catalog.f_divergence(kind)
    z = torch.exp(grid(-3.0, 3.0)).requires_grad_()
    s = torch.autograd.grad(generator.phi(z).sum(), z)[0]  # φ′(z)
    assert close(instance.target(z.detach()), s)
    assert close(instance.down(s), z.detach(), rtol=1e-8)  # φᶜ′ inverts φ′
    assert close(generator.conjugate(s), z.detach() * s - generator.phi(z.detach()), rtol=1e-8, atol=1e-8)


# --- misprints ------------------------------------------------------------------------------------------------------


def test_gan_critic_log_down_loss_has_the_wrong_sign():
    instance = catalog.gan_critic_log
    _, log_base, f = heights(instance)
    down = printed(instance, "down", f, log_base)
    assert close(slope_of(instance, "loss_down", f, log_base), -down)
    assert bool((down > 0).all())


def test_mixture_methods_print_what_can_be_reached():
    for instance, k in ((catalog.ndmr, (0.0, inf)), (catalog.ndmlr, (-inf, inf))):
        assert (instance.interval.low, instance.interval.high) == k
        assert instance.feasible  # M_down/M_up is onto (0, ∞) over this K; over the printed one it stays below 2
        inside = instance.reachable.from_real(grid(-9.0, 9.0))
        assert instance.ratio(inside).max().item() < 2.0


@pytest.mark.parametrize("whole", [1, 2, 3, 4, 10])
def test_pso_lde_loss_is_elementary_for_whole_inverse_alpha(whole):
    instance = catalog.pso_lde(1.0 / whole)
    assert instance.has_loss
    f, log_base = grid(-6.0, 6.0).requires_grad_(), torch.sin(grid(-6.0, 6.0))
    u = f - log_base
    for side, primitive in (("up", instance.up_primitive), ("down", instance.down_primitive)):
        slope = torch.autograd.grad(primitive(u).sum(), f, retain_graph=True)[0]
        assert close(slope, printed(instance, side, f.detach(), log_base))


@pytest.mark.parametrize("alpha", [0.15, 0.4, 0.7, 3.0])
def test_pso_lde_loss_is_hypergeometric_for_every_alpha(alpha):
    u = grid(-4.0, 4.0)
    w, a = torch.sigmoid(-alpha * u), 1.0 / alpha
    closed = torch.from_numpy(-(w.numpy() ** a) * hyp2f1(1.0, a, a + 1.0, w.numpy()))
    by_quadrature = catalog.pso_lde(alpha).up_primitive(u)
    assert close(torch.diff(closed), torch.diff(by_quadrature), rtol=1e-8, atol=1e-10)


def test_pso_max_loss_is_elementary():
    instance = catalog.pso_max
    assert instance.has_loss
    u = grid(-5.0, 5.0, n=80).requires_grad_()
    for side, primitive in (("up", instance.up_primitive), ("down", instance.down_primitive)):
        slope = torch.autograd.grad(primitive(u).sum(), u)[0]
        assert close(slope, printed(instance, side, u.detach(), torch.zeros(80, dtype=torch.float64)))


def test_supports_need_and_for_or():
    for in_up, in_down in product((True, False), repeat=2):
        areas = {
            "both": in_up and in_down,
            "up only": in_up and not in_down,
            "down only": not in_up and in_down,
        }
        as_printed = {
            "both": in_up or in_down,
            "up only": in_up or not in_down,
            "down only": not in_up or in_down,
        }
        assert sum(areas.values()) == (in_up or in_down)  # the loss splits into three areas, each X in one of them
        assert sum(as_printed.values()) >= 2  # every X, even outside of both supports, in two or three


VALUES = (-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0)
RATIOS = [10.0**k for k in range(-6, 7)]


def test_conditions_outside_k_exchange_and_with_or():
    above = printed_long = printed_short = 0
    for up, down in product(VALUES, VALUES):
        needed = all(down > z * up for z in RATIOS)  # above K every ratio must push down
        assert needed == ((up == 0 and down > 0) or (up < 0 and down >= 0))
        assert needed == (up < down and up * down <= 0)
        above += needed
        printed_long += (up == 0 or down > 0) and (up < 0 or down >= 0)
        printed_short += up < down or up * down <= 0
        below = all(down < z * up for z in RATIOS)
        assert below == (up > down and up * down <= 0)
    assert above < printed_long
    assert above < printed_short


def test_conditions_outside_k_are_sufficient_not_necessary():
    s = grid(1.0, 3.0, n=201)
    up, down = -((s - 2.0) ** 2), (s - 2.0) ** 2
    for z in RATIOS:
        cost = -z * (-((s - 2.0) ** 3) / 3.0) + (s - 2.0) ** 3 / 3.0
        assert bool((torch.diff(cost) > 0).all())
    assert up[100] == down[100] == 0  # here M_up < M_down fails, and the cost increases strictly all the same


def test_quadrants_need_and_for_or():
    up, down = -1.0, 1.0
    radius, angle = torch.tensor([up, down]).norm().item(), torch.atan2(torch.tensor(down), torch.tensor(up)).item()
    assert radius > 0 or 0 < angle < pi / 2  # as printed: true of every pair but (0, 0)
    assert not (radius > 0 and 0 < angle < pi / 2)


def test_angles_of_the_lemma_are_meant_modulo_a_turn():
    square, ulsif = catalog.square, catalog.ulsif
    below = grid(-5.0, -1.0)
    angle = torch.atan2(square.down(below), square.up(below))
    assert square.range == ANY_RANGE  # Theorem 1174 holds for it
    assert not bool((angle >= 1.5 * pi).any())  # atan2 never gets there
    assert bool(((angle >= -0.5 * pi) & (angle <= 0)).all())
    end = torch.zeros(1, dtype=torch.float64)
    assert torch.atan2(ulsif.down(end), ulsif.up(end)).item() == 0.0  # not 2π, with angles counted from 0 either


def test_lemma_s_closed_angles_agree_with_the_theorem_s_strict_inequalities():
    for up, down in product(VALUES, VALUES):
        angle = torch.atan2(torch.tensor(down), torch.tensor(up)).item()
        alive = up != 0 or down != 0
        quarter_ii = alive and pi / 2 - 1e-6 <= angle <= pi + 1e-6
        quarter_iv = alive and -pi / 2 - 1e-6 <= angle <= 1e-6
        assert quarter_ii == (up < down and up * down <= 0)
        assert quarter_iv == (up > down and up * down <= 0)


def test_consistent_set_needs_and_for_or():
    nce = catalog.nce
    u = grid(-2.0, 2.0)
    assert nce.feasible
    assert not torch.allclose(nce.ratio(u), u)  # as printed, [nce] would be in the set of T = z


def test_legendre_pair_integrates_t_not_r():
    s, s0 = grid(0.1, 1.5), 0.3
    z, z0 = torch.exp(s), exp(s0)
    r_integral = z - z0  # R = exp
    t_integral = (z * torch.log(z) - z) - (z0 * s0 - z0)  # T = log
    printed_integral = torch.exp(z) - exp(z0)
    assert close(r_integral + t_integral, s * z - s0 * z0)  # Legendre-Fenchel, up to the constant s0·z0
    assert not torch.allclose(r_integral + printed_integral, s * z - s0 * z0, rtol=0.1)


def test_bregman_gradient_is_taken_at_p():
    generator = torch.Generator().manual_seed(0)
    q, p = torch.rand(2, 50, 6, generator=generator, dtype=torch.float64) + 0.1

    def psi(mu):
        return torch.xlogy(mu, mu).sum(-1)

    def slope(mu):
        return 1.0 + torch.log(mu)

    at_p = psi(q) - psi(p) - (slope(p) * (q - p)).sum(-1)
    at_q = psi(q) - psi(p) - (slope(q) * (q - p)).sum(-1)  # as printed
    assert bool((at_p > 0).all())
    assert bool((at_q < 0).all())
    assert close(
        at_p, (q * (torch.log(q) - 1.0) - q * torch.log(p) + p).sum(-1)
    )  # the generalised KL the paper derives


def test_tangent_is_defined_at_even_multiples():
    zero = torch.zeros(1, dtype=torch.float64)
    ldar = catalog.ldar
    assert (ldar.up(zero).item(), ldar.down(zero).item()) == (0.5, 0.5)  # 0 = (π/2)·0 lies in the middle of K


@pytest.fixture
def densities():
    generator = torch.Generator().manual_seed(1)
    up, down = torch.rand(2, 40, generator=generator, dtype=torch.float64) + 0.02
    return up / up.sum(), down / down.sum()


def test_printed_js_generator_is_twice_the_usual_divergence(densities):
    q, p = densities
    middle = 0.5 * (q + p)
    usual = 0.5 * (q * torch.log(q / middle)).sum() + 0.5 * (p * torch.log(p / middle)).sum()
    z = q / p
    printed_phi = -(z + 1.0) * torch.log((1.0 + z) / 2.0) + z * torch.log(z)
    assert close((p * printed_phi).sum(), 2.0 * usual)
    assert close((p * GENERATORS["js"].phi(z)).sum(), usual)


def test_unit_up_magnitude_estimates_the_divergence(densities):
    q, p = densities
    generator = GENERATORS["pearson"]
    divergence = (p * generator.phi(q / p)).sum()

    def loss(f):
        return -(q * f).sum() + (p * generator.conjugate(f)).sum()

    best = generator.slope(q / p)
    assert close(-loss(best), divergence)
    for step in (
        0.01,
        0.1,
        -0.3,
    ):  # the loss falls towards −D: its minimum raises a lower bound of D, D itself is fixed
        assert loss(best + step) > loss(best)


def test_divergence_from_unnormalised_primitives(densities):
    q, p = densities
    z = q / p
    up, down = catalog.nce.up_primitive, catalog.nce.down_primitive  # with arbitrary constants added
    best, one = torch.log(z), torch.zeros(1, dtype=torch.float64)

    def loss(f):
        return -(q * (up(f) + 5.0)).sum() + (p * (down(f) - 2.0)).sum()

    beta = ((up(one) + 5.0) - (down(one) - 2.0)).item()
    value = -loss(best) - beta
    generator = 2.0 * 0.5 * ((q * torch.log(2 * q / (q + p))).sum() + (p * torch.log(2 * p / (q + p))).sum())
    assert close(value, generator)  # 2 JS ≥ 0, and 0 at q = p


def test_single_precision_exponential_reaches_beyond_81():
    e = torch.exp(torch.tensor([81.5, 87.0, 88.7, 88.8, -81.5, -87.3, -103.0, -104.0], dtype=torch.float32))
    assert torch.isfinite(e).tolist() == [True, True, True, False, True, True, True, True]
    assert e[5].item() > torch.finfo(torch.float32).tiny  # the last normal number
    assert (e[6].item() > 0, e[7].item()) == (True, 0.0)  # subnormal to −103
    exact = torch.exp(torch.tensor([81.5, -81.5], dtype=torch.float64))
    assert close(e[[0, 4]].double(), exact, rtol=1e-5, atol=0.0)


def test_conditional_gan_is_mirza_s():
    assert "Least squares" in bibliography.entry("Mao17iccv").title
    assert "Conditional" in bibliography.entry("Mirza14arxiv").title
    assert catalog.conditional_gan.reference.cite == ("Mirza14arxiv",)


def test_optimal_critic_need_not_be_steep_everywhere():
    up, down = grid(0.0, 1.0), grid(2.0, 3.0)  # uniform on [0, 1] and on [2, 3]: one is 2 away from the other

    def potential(x):
        return -torch.clamp(x, 0.0, 3.0)

    assert potential(up).mean().item() - potential(down).mean().item() == pytest.approx(2.0)  # the Wasserstein distance
    x = torch.tensor([0.5, 2.5, 5.0], dtype=torch.float64, requires_grad=True)
    slope = torch.autograd.grad(potential(x).sum(), x)[0].abs()
    assert slope.tolist() == [1.0, 1.0, 0.0]  # 1 where the densities live, at most 1 elsewhere


# --- statements that need a condition ---------------------------------------------------------------------------------


def test_strictly_increasing_is_less_than_a_positive_derivative():
    s = torch.tensor([-1.0, -0.5, 0.0, 0.5, 1.0], dtype=torch.float64)
    assert bool((torch.diff(s**3) > 0).all())
    assert (3.0 * s**2)[2].item() == 0.0  # G = s³ increases strictly, and M_up = G′ is 0 at s = 0


def test_strict_convexity_is_less_than_a_positive_curvature():
    instance = catalog.bregman_density(lambda s: (s - 1.0) ** 4)  # strictly convex, twice differentiable, φ″(1) = 0
    u = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
    assert (instance.up(u, 0.0) > 0).tolist() == [True, False, True]


def test_left_derivative_passes_through_g_only_where_g_is_continuous():
    def g(s):
        return s if s < 1.0 else s + 1.0  # strictly increasing, right-continuous; T = z

    left_of_phi = g(1.0 - 1e-12)
    assert left_of_phi == pytest.approx(1.0)
    assert g(1.0) == 2.0  # G at T̃D₋(1) = 1: the printed identity would have both equal


def test_constant_pieces_of_t_end_on_the_border_of_k():
    z = torch.tensor([0.1, 0.9, 1.1, 9.0], dtype=torch.float64)
    heights_reached = catalog.hinge(1.0).target(z)
    low, high = heights_reached.min().item(), heights_reached.max().item()
    assert not bool(((heights_reached > low) & (heights_reached < high)).any())  # none is in the open (inf T, sup T)


def test_infimum_of_a_decreasing_cost_may_be_finite():
    u = torch.tensor([0.0, 10.0, 30.0], dtype=torch.float64)
    cost = -catalog.nce.up_primitive(u)
    assert bool((torch.diff(cost) < 0).all())
    assert bool((cost >= 0).all())  # it falls to 0, not to −∞


def test_not_almost_all_methods_are_free_of_their_range():
    rows = {instance.name: instance for number in range(1, 6) for instance in catalog.table(number)}
    bound_to_k = {name for name, row in rows.items() if row.feasible and row.range != ANY_RANGE}
    assert bound_to_k == {
        "kliep",
        "gan_critic",
        "gan_critic_log",
        "power_divergence",
        "reversed_kl",
        "balanced_ratio",
        "reverse_kl_divergence",
        "ldar",
    }
    assert len(rows) == 31
    assert {name for name, row in rows.items() if not row.feasible} == {"unit", "ebgan"}


def test_claims_for_densities_hold_on_the_down_support():
    down = torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64)
    up = torch.tensor([0.3, 0.7, 0.0], dtype=torch.float64)
    f = torch.tensor([0.3, 0.4, 0.3], dtype=torch.float64)  # total 1, but a part of it lies where nothing pushes down
    lives = down > 0
    # Bregman with φ = s²/2: L_PSO sees f only where the down density lives
    pso = -(up * f).sum() + (down[lives] * (0.5 * f[lives] ** 2 / down[lives])).sum()
    cross_entropy = -(0.5 * f**2).sum() - (f * (up - f)).sum()
    assert pso.item() < cross_entropy.item()
    # MLE: E_D f/p is the integral of f over that support, 0.7, not 1
    assert (down[lives] * (f[lives] / down[lives])).sum().item() == pytest.approx(0.7)


def test_deep_pdf_is_no_u_divergence_of_one_phi():
    instance = catalog.deep_pdf
    f = torch.full((2,), 0.5, dtype=torch.float64)
    magnitudes = printed(instance, "up", f, torch.log(torch.tensor([0.1, 0.9], dtype=torch.float64)))
    assert magnitudes[0] != magnitudes[1]  # the same height: φ″(f) would have to depend on X as well


@pytest.mark.parametrize("name", ["pso_lde", "nce", "pso_max", "inverse_importance_sampling"])
def test_up_force_vanishes_where_the_base_is_zero(name):
    instance = catalog.get(name)
    f = grid(-20.0, 20.0)
    nothing = torch.full_like(f, -inf)
    assert bool((printed(instance, "up", f, nothing) == 0).all())  # condition 3 of Theorem 1199: f is arbitrary there


def test_active_range_is_around_the_base():
    base, epsilon = -49.0, 4.0
    f = torch.tensor([base + epsilon, epsilon], dtype=torch.float64)
    up = printed(catalog.nce, "up", f, torch.full_like(f, base))
    assert up[0].item() == pytest.approx(1.0 / (1.0 + exp(epsilon)))
    assert up[1].item() < 1e-20  # at height ε itself nothing has pushed for a long way


def test_small_alpha_is_weaker_everywhere_and_relatively_wider():
    d = grid(0.0, 10.0)
    narrow, wide = catalog.pso_lde(1.0), catalog.pso_lde(0.25)
    assert bool((wide.up(d) < narrow.up(d)).all())
    relative = [instance.up(d) / instance.up(torch.zeros(1, dtype=torch.float64)) for instance in (narrow, wide)]
    assert bool((relative[1][1:] > relative[0][1:]).all())
    for alpha, half_width in ((1.0, log(3.0)), (0.25, 4.0 * log(2.0 * 2.0**0.25 - 1.0))):
        at = torch.tensor([0.0, half_width], dtype=torch.float64)
        zero, half = catalog.pso_lde(alpha).up(at).tolist()
        assert half == pytest.approx(0.5 * zero)


@pytest.mark.parametrize("alpha", [1.0, 0.25, 0.01])
def test_small_alpha_does_not_keep_magnitudes_from_underflow(alpha):
    instance = catalog.pso_lde(alpha)
    d = torch.tensor([50.0, 110.0], dtype=torch.float32)
    assert instance.up(d)[1].item() == 0.0
    assert bool((instance.up(d.double()) <= torch.exp(-d.double())).all())
    overflowing = (torch.exp(alpha * torch.tensor(400.0)) + 1.0) ** (-1.0 / alpha)
    assert overflowing.item() == 0.0  # nor was the overflow harmful: ∞ to a negative power is 0


@pytest.fixture
def three_classes():
    generator = torch.Generator().manual_seed(2)
    joint = torch.rand(30, 3, generator=generator, dtype=torch.float64) + 0.05  # P(X, Y) on 30 points
    return joint / joint.sum(), torch.randn(30, 3, generator=generator, dtype=torch.float64)


def softmax_forces(joint, f, norm=1.0):
    """Eqs. 9296 and 9318 weighed by their densities: what pushes each height, up minus down."""
    instance = catalog.softmax_cross_entropy(norm)
    others = joint.sum(1, keepdim=True) - joint
    return joint * instance.up(f) - others * instance.down(f)


def test_class_ratio_of_the_softmax_balance(three_classes):
    joint, _ = three_classes
    prior, share = joint.sum(0), joint / joint.sum(1, keepdim=True)
    ratio = (joint / prior) / ((joint.sum(1, keepdim=True) - joint) / (1.0 - prior))
    assert close(ratio, (1.0 - prior) / prior * share / (1.0 - share))


def test_softmax_forces_are_the_gradient_of_cross_entropy_not_of_the_summed_losses(three_classes):
    joint, f = three_classes
    f.requires_grad_()
    log_share = torch.log_softmax(f, dim=-1)
    others = joint.sum(1, keepdim=True) - joint
    cross_entropy = -(joint * log_share).sum()
    summed = cross_entropy - (others * torch.log1p(-torch.exp(log_share))).sum()  # Σ_j of the primitives' losses
    forces = softmax_forces(joint, f.detach())
    assert close(-torch.autograd.grad(cross_entropy, f, retain_graph=True)[0], forces)
    assert not torch.allclose(-torch.autograd.grad(summed, f)[0], forces, rtol=0.1)


def test_other_norms_keep_the_balance_and_have_no_loss(three_classes):
    joint, _ = three_classes
    share = joint / joint.sum(1, keepdim=True)
    for norm in (1.0, 2.0, inf):
        assert close(softmax_forces(joint, torch.log(share), norm), torch.zeros_like(joint))
    point = joint[:1]

    def asymmetry(norm):
        f = torch.tensor([[0.3, -0.7, 1.1]], dtype=torch.float64)
        jacobian = torch.autograd.functional.jacobian(lambda g: softmax_forces(point, g, norm)[0], f)[:, 0]
        return (jacobian - jacobian.T).abs().max().item()

    assert asymmetry(1.0) < 1e-15
    assert asymmetry(2.0) > 1e-4  # no gradient of anything


# --- checked, and right as printed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
def test_cross_entropy_with_priors_balances_at_the_posterior(prior):
    generator = torch.Generator().manual_seed(3)
    one, zero = torch.rand(2, 20, generator=generator, dtype=torch.float64) + 0.1
    posterior = prior * one / (prior * one + (1.0 - prior) * zero)
    instance = catalog.binary_cross_entropy(prior)
    assert close(torch.sigmoid(instance.target(one / zero)), posterior)


def test_mle_loss_reduces_to_the_likelihood(densities):
    up, down = densities
    f = torch.flip(up, (0,))  # positive, total 1, and the down density lives everywhere
    loss = -(up * (1.0 + torch.log(f))).sum() + (down * (f / down)).sum()
    assert close(loss, -(up * torch.log(f)).sum())


def test_ebgan_settles_at_the_margin_or_at_zero():
    margin, f = 1.5, grid(0.0, 4.0, n=401)
    for up, down in ((0.2, 0.9), (0.9, 0.2)):
        loss = up * f + down * torch.clamp(margin - f, min=0.0)
        assert f[loss.argmin()].item() == pytest.approx(margin if up < down else 0.0)
        assert catalog.ebgan(margin).target(torch.tensor([up / down])).item() == pytest.approx(
            margin if up < down else 0.0
        )


def test_tanh_and_lipschitz_targets_are_the_table_s():
    z = torch.exp(grid(-5.0, 5.0))
    assert close(catalog.ldtr.target(z), torch.tanh(torch.log(z)))
    assert close(catalog.lipschitz.target(z), 0.5 * (z - 1.0) / torch.sqrt(z))


def test_sigmoid_critic_has_the_logistic_loss():
    h = grid(-8.0, 8.0)
    critic, logistic = catalog.gan_critic.printed, catalog.logistic.printed
    for side in ("loss_up", "loss_down"):
        assert close(Formula(getattr(critic, side))(torch.sigmoid(h)), Formula(getattr(logistic, side))(h))
