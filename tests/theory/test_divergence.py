import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings, strategies as st

import equipoise as eq
from equipoise.catalog.generators import GENERATORS
from equipoise.theory import f_divergence, pso_divergence, u_divergence
from equipoise.theory.divergence import Estimate

F64 = torch.float64
MEAN, SPREAD = 0.3, 1.1  # the up density is N(0.3, 1), the down density N(0, 1.1²)
NUM = torch.distributions.Normal(torch.tensor(MEAN, dtype=F64), torch.tensor(1.0, dtype=F64))
DEN = torch.distributions.Normal(torch.tensor(0.0, dtype=F64), torch.tensor(SPREAD, dtype=F64))
GRID = torch.linspace(-14, 14, 40001, dtype=F64)
CELL = (GRID[1] - GRID[0]).item()
QUANTILES = torch.special.ndtri((torch.arange(100_000, dtype=F64) + 0.5) / 100_000)
X_UP, X_DOWN = MEAN + QUANTILES, SPREAD * QUANTILES


def ratio(x):
    return torch.exp(NUM.log_prob(x) - DEN.log_prob(x))


def integral(values):
    return (values.sum() * CELL).item()


def at_optimum(inst):
    bases = (DEN.log_prob(X_UP), DEN.log_prob(X_DOWN)) if inst.needs_base else (None, None)
    return f_divergence(inst, inst.target(ratio(X_UP), bases[0]), inst.target(ratio(X_DOWN), bases[1]), *bases)


def _kl(m0, s0, m1, s1):
    return math.log(s1 / s0) + (s0**2 + (m0 - m1) ** 2) / (2 * s1**2) - 0.5


def _chi_square(m0, s0, m1, s1):
    """∫ N0²/N1 − 1."""
    v = 2 * s1**2 - s0**2
    return s1**2 / (s0 * math.sqrt(v)) * math.exp((m0 - m1) ** 2 / v) - 1.0


CLOSED = {
    "kl": _kl(MEAN, 1.0, 0.0, SPREAD),
    "reverse_kl": _kl(0.0, SPREAD, MEAN, 1.0),
    "pearson": _chi_square(MEAN, 1.0, 0.0, SPREAD),
    "neyman": _chi_square(0.0, SPREAD, MEAN, 1.0),
    "hellinger": 1.0 - math.sqrt(2 * SPREAD / (1 + SPREAD**2)) * math.exp(-(MEAN**2) / (4 * (1 + SPREAD**2))),
}
p, q = torch.exp(NUM.log_prob(GRID)), torch.exp(DEN.log_prob(GRID))
QUADRATURE = {
    "js": integral(0.5 * (p * torch.log(2 * p / (p + q)) + q * torch.log(2 * q / (p + q)))),
    "total_variation": integral(0.5 * torch.abs(p - q)),
}


@pytest.mark.parametrize("kind", [*CLOSED, *QUADRATURE])
def test_every_kind_against_closed_forms_and_quadrature(kind):
    expected = {**CLOSED, **QUADRATURE}[kind]
    found = at_optimum(eq.catalog.f_divergence(kind))
    assert found.value == pytest.approx(expected, rel=1e-2 if kind == "neyman" else 1e-3)  # its tail is heavy


@pytest.mark.parametrize("kind", CLOSED)
def test_the_closed_forms_themselves(kind):
    assert integral(q * GENERATORS[kind].phi(p / q)) == pytest.approx(CLOSED[kind], rel=1e-6)


@pytest.mark.parametrize(
    ("inst", "expected"),
    [
        (eq.catalog.get("logistic"), 2 * QUADRATURE["js"]),
        (eq.catalog.get("nce"), 2 * QUADRATURE["js"]),
        (eq.catalog.get("gan_critic"), 2 * QUADRATURE["js"]),
        (eq.catalog.f_divergence("gan"), 2 * QUADRATURE["js"]),
        (eq.catalog.get("log_ratio"), CLOSED["kl"]),
        (eq.catalog.get("kliep"), CLOSED["kl"]),
        (eq.catalog.get("ulsif"), 0.5 * CLOSED["pearson"]),
        (eq.catalog.get("exponential"), 2 * CLOSED["hellinger"]),
        (eq.catalog.get("gan_critic_log"), CLOSED["reverse_kl"]),
        (eq.catalog.get("deep_pdf"), 0.5 * integral(q * (p - q) ** 2)),
    ],
    ids=lambda value: getattr(value, "label", ""),
)
def test_what_the_losses_of_other_methods_estimate(inst, expected):
    assert at_optimum(inst).value == pytest.approx(expected, rel=2e-3)


def test_is_minus_the_loss_minus_beta():
    inst = eq.catalog.get("logistic")
    u_up, u_down = torch.log(ratio(X_UP)), torch.log(ratio(X_DOWN))
    zero = torch.zeros(1, dtype=F64)  # T(1)
    loss = -inst.up_primitive(u_up).mean() + inst.down_primitive(u_down).mean()
    beta = (inst.up_primitive(zero) - inst.down_primitive(zero)).item()
    assert at_optimum(inst).value == pytest.approx(-loss.item() - beta, abs=1e-9)


def test_constants_in_the_primitives_cancel():
    inst = eq.catalog.get("nce")
    moved = replace(
        inst,
        up_primitive=lambda u: inst.up_primitive(u) + 17.0,
        down_primitive=lambda u, log_base=None: inst.down_primitive(u) - 5.0,
    )
    assert at_optimum(moved).value == pytest.approx(at_optimum(inst).value, abs=1e-9)


def test_quadrature_serves_where_no_primitive_is_known():
    calm = eq.theory.bound(eq.catalog.get("log_ratio"))  # NCE's magnitudes
    few = slice(None, None, 500)
    heights = torch.log(ratio(X_UP[few])), torch.log(ratio(X_DOWN[few]))
    assert f_divergence(calm, *heights).value == pytest.approx(
        f_divergence(eq.catalog.get("logistic"), *heights).value, abs=1e-9
    )


@settings(max_examples=20)
@given(st.floats(-2, 2), st.floats(0.3, 2))
def test_away_from_the_optimum_it_is_smaller(shift, scale):
    inst = eq.catalog.get("logistic")
    up, down = (shift + scale * torch.log(ratio(x)) for x in (X_UP[::50], X_DOWN[::50]))
    best = f_divergence(inst, torch.log(ratio(X_UP[::50])), torch.log(ratio(X_DOWN[::50])))
    assert f_divergence(inst, up, down).value <= best.value + 1e-6


def test_the_standard_error_covers():
    inst, inside = eq.catalog.get("logistic"), 0
    for _ in range(300):
        up, down = NUM.sample((400,)), DEN.sample((600,))
        found = f_divergence(inst, torch.log(ratio(up)), torch.log(ratio(down)))
        low, high = found.interval
        inside += low <= 2 * QUADRATURE["js"] <= high
    assert inside / 300 == pytest.approx(0.95, abs=0.05)  # four standard errors of a binomial


BALANCED = [inst for inst in eq.catalog.all() if inst.feasible and inst.scalar and inst.has_loss]


@pytest.mark.parametrize("inst", BALANCED, ids=lambda inst: inst.label)
def test_pso_divergence_is_zero_at_the_optimum_and_positive_elsewhere(inst):
    bases = (DEN.log_prob(X_UP[::20]), DEN.log_prob(X_DOWN[::20])) if inst.needs_base else (None, None)
    best = [inst.target(ratio(x[::20]), base) for x, base in zip((X_UP, X_DOWN), bases, strict=True)]
    bent = [inst.target(1.3 * ratio(x[::20]) ** 0.8, base) for x, base in zip((X_UP, X_DOWN), bases, strict=True)]
    at_best = pso_divergence(inst, (best[0], best[0]), (best[1], best[1]), *bases)
    assert at_best == Estimate(0.0, 0.0)
    distance = pso_divergence(inst, (bent[0], best[0]), (bent[1], best[1]), *bases).value
    assert distance > 0
    losses = f_divergence(inst, *best, *bases).value - f_divergence(inst, *bent, *bases).value  # line 3048
    assert distance == pytest.approx(losses, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("phi", ["kl", "squared", "itakura_saito"])
def test_the_bregman_family_is_the_u_divergence(phi):
    """Claim 2674: D_PSO(p_up, f) = D_φ(p_up, f) for the instance of φ."""
    inst = eq.catalog.bregman_density(phi)
    inside = torch.abs(GRID) < 3.0
    x, num, den = GRID[inside], p[inside], q[inside]
    model = 0.8 * torch.exp(torch.distributions.Normal(0.1, 1.2).log_prob(x))
    log_base = torch.log(den)
    rise = inst.up_primitive(model / den, log_base) - inst.up_primitive(num / den, log_base)
    fall = inst.down_primitive(model / den, log_base) - inst.down_primitive(num / den, log_base)
    pso = ((-num * rise + den * fall) * CELL).sum().item()
    assert u_divergence(phi, num, model, CELL) == pytest.approx(pso, rel=1e-6)


def test_u_divergences_closed_forms():
    assert u_divergence("kl", p, q, CELL) == pytest.approx(CLOSED["kl"], rel=1e-6)  # both are normalised
    assert u_divergence("squared", p, q, CELL) == pytest.approx(0.5 * integral((p - q) ** 2), rel=1e-9)
    assert u_divergence(lambda s: s**3, p, q, CELL) == pytest.approx(
        integral(p**3 - q**3 - 3 * q**2 * (p - q)), rel=1e-6
    )
    weights = torch.exp(-DEN.log_prob(X_DOWN)) / len(X_DOWN)
    by_samples = u_divergence("kl", torch.exp(NUM.log_prob(X_DOWN)), torch.exp(DEN.log_prob(X_DOWN)), weights)
    assert by_samples == pytest.approx(CLOSED["kl"], rel=1e-2)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(0.01, 9), st.floats(0.01, 9)), min_size=1, max_size=6))
def test_u_divergences_are_never_negative(values):
    first, second = (torch.tensor(side, dtype=F64) for side in zip(*values, strict=True))
    for phi in ("kl", "squared", "itakura_saito"):
        assert u_divergence(phi, first, second, 1.0) >= -1e-12
        assert u_divergence(phi, first, first, 1.0) == 0.0


def test_zeros_that_agree_cost_nothing():
    zero = torch.tensor([0.0, 1.0])
    assert u_divergence("kl", zero, zero, 1.0) == 0.0
    assert u_divergence("itakura_saito", zero, zero, 1.0) == 0.0


def test_refuses_what_it_cannot_compare():
    with pytest.raises(ValueError, match="same points"):
        u_divergence("kl", torch.ones(2), torch.ones(3), 1.0)
    with pytest.raises(ValueError, match="negative"):
        u_divergence("kl", torch.ones(2), -torch.ones(2), 1.0)
    with pytest.raises(ValueError, match="two vectors of one length"):
        pso_divergence(eq.catalog.get("nce"), (torch.ones(2), torch.ones(3)), (torch.ones(2), torch.ones(2)))
    with pytest.raises(ValueError, match="depends on the base"):
        f_divergence(eq.catalog.get("deep_pdf"), torch.ones(2), torch.ones(2))
