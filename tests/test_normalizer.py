"""log Z by importance sampling: closed forms, and a standard error that keeps its word."""

from math import exp, inf, log, sqrt

import pytest
import torch
from hypothesis import given, strategies as st

from equipoise.normalizer import normalise, tail_shape, until

REPEATS, ROWS = 2000, 2000


def base_rows(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_log_z_is_that_of_the_closed_form():
    """Over a standard normal E[exp(a·x + c)] = exp(a²/2 + c); four stated standard errors."""
    for a, c in ((0.5, 0.0), (1.0, 700.0), (-0.3, -5000.0)):
        found = normalise(a * base_rows(100_000) + c)
        assert found.log_z == pytest.approx(0.5 * a**2 + c, abs=4.0 * found.se)
        assert found.n == 100_000


def test_the_standard_error_is_that_of_the_closed_form():
    """Var(w)/E[w]² = exp(a²) − 1 for w = exp(a·x), so se² = (exp(a²) − 1)/n and ess = n·exp(−a²)."""
    n, a = 400_000, 0.5
    found = normalise(a * base_rows(n))
    assert found.se == pytest.approx(sqrt((exp(a**2) - 1.0) / n), rel=0.02)
    assert found.ess == pytest.approx(n * exp(-(a**2)), rel=0.01)


def test_the_standard_error_is_honest():
    """Of 2,000 repeats 95 % hold the truth within 1.96 se, in a band of three binomial standard errors."""
    a, truth = 0.5, 0.125
    inside = 0
    for x in base_rows(REPEATS, ROWS, seed=1):
        found = normalise(a * x)
        inside += abs(found.log_z - truth) <= 1.96 * found.se
    assert abs(inside / REPEATS - 0.95) <= 3.0 * sqrt(0.95 * 0.05 / REPEATS)


def test_the_error_falls_with_the_root_of_the_rows():
    errors = [normalise(0.5 * base_rows(n)).se for n in (1_000, 16_000, 256_000)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.15)


@given(st.floats(-1e4, 1e4), st.integers(1, 500))
def test_a_flat_surface_is_known_exactly(height, n):
    found = normalise(torch.full((n,), height, dtype=torch.float64))
    assert found.log_z == pytest.approx(height, abs=1e-9 * max(1.0, abs(height)))
    assert found.se == pytest.approx(0.0, abs=1e-6)
    assert found.ess == pytest.approx(n)
    assert found.trusted == (n >= 100)


def test_one_row_that_carries_all_the_weight_is_not_trusted():
    found = normalise(torch.tensor([1000.0] + [0.0] * 9999))
    assert found.ess == pytest.approx(1.0)
    assert not found.trusted
    assert found.log_z == pytest.approx(1000.0 - log(10_000))


def test_rows_without_weight_count_as_rows():
    found = normalise(torch.tensor([-inf, 0.0, 0.0, -inf]))
    assert found.log_z == pytest.approx(log(0.5))
    assert found.se == pytest.approx(0.5)  # two of four: √((1 − ½)/½/4)


def test_single_precision_weights_are_summed_in_double():
    weights = 0.5 * base_rows(300_000).float()
    assert normalise(weights).log_z == pytest.approx(normalise(weights.double()).log_z, abs=1e-12)


@pytest.mark.parametrize("values", [[-inf, -inf], []], ids=["no weight", "no rows"])
def test_no_weight_at_all_is_refused(values):
    with pytest.raises(ValueError, match="no row of the base lies where the surface has weight"):
        normalise(torch.tensor(values))


@pytest.mark.parametrize("bad", [inf, float("nan")])
def test_weights_that_are_no_numbers_are_refused(bad):
    with pytest.raises(ValueError, match="1 of 3 weights"):
        normalise(torch.tensor([0.0, bad, 1.0]))


# --- coverage, precision, warnings ----------------------------------------------------------------------------------

FITS, POOL = 2000, 4096


def waves(d, generator):
    """A surface u(x) = Σ_j a_j·sin(b_j·x_j + c_j) on the unit cube; log Z is a sum of single quadratures."""
    amplitude, phase = 1.2 * torch.rand(2, d, generator=generator, dtype=torch.float64)
    frequency = 8.0 * torch.rand(d, generator=generator, dtype=torch.float64)
    middle = (torch.arange(2000, dtype=torch.float64).unsqueeze(1) + 0.5) / 2000
    log_z = torch.log(torch.exp(amplitude * torch.sin(frequency * middle + 6.0 * phase)).mean(dim=0)).sum().item()
    return lambda x: (amplitude * torch.sin(frequency * x + 6.0 * phase)).sum(dim=1), log_z


def test_the_stated_error_covers_the_truth_over_two_thousand_surfaces():
    """In one to three columns, truth by quadrature: 93.5 to 96.5 % lie within 1.96 standard errors."""
    generator = torch.Generator().manual_seed(11)
    inside = 0
    for k in range(FITS):
        surface, truth = waves(1 + k % 3, generator)
        x = torch.rand(POOL, 1 + k % 3, generator=generator, dtype=torch.float64)
        found = normalise(surface(x))
        inside += abs(found.log_z - truth) <= 1.96 * found.se
        assert not found.warning
    assert 0.935 <= inside / FITS <= 0.965


def test_more_rows_are_drawn_until_the_precision_is_reached():
    generator = torch.Generator().manual_seed(0)
    asked = []

    def draw(n):
        asked.append(n)
        return torch.randn(n, generator=generator, dtype=torch.float64)

    found = until(0.004, draw, first=1000)
    assert found.se <= 0.004
    assert found.n == sum(asked)
    assert found.n == pytest.approx((exp(1.0) - 1.0) / 0.004**2, rel=0.6)
    assert found.log_z == pytest.approx(0.5, abs=4.0 * found.se)
    assert len(asked) > 1


def test_the_search_for_precision_ends():
    found = until(1e-9, base_rows, first=500, most=20_000)
    assert found.n == 20_000
    assert found.se > 1e-9
    with pytest.raises(ValueError, match="precision must be positive"):
        until(0.0, base_rows)


@pytest.mark.parametrize("shape", [0.1, 0.3, 0.5, 0.8, 1.2])
def test_the_tail_shape_is_that_of_the_weights(shape):
    """Weights U^(−k) have tail shape k; 20 estimates from 475 largest each, of spread (1 + k)/√475, on average."""
    found = []
    for seed in range(20):
        u = torch.rand(25_000, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        found.append(tail_shape(u**-shape))
    assert sum(found) / 20 == pytest.approx(shape, abs=5.0 * (1.0 + shape) / sqrt(475 * 20) + 0.02)


def test_weights_without_a_variance_are_not_trusted():
    u = torch.rand(100_000, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    found = normalise(-0.9 * torch.log(u))
    assert found.ess > 100.0
    assert not found.trusted
    assert "a few of 100000 weights decide log Z" in found.warning
    few = normalise(torch.tensor([1000.0] + [0.0] * 9999))
    assert "log Z rests on 1 effective rows of 10000" in few.warning
    even = normalise(0.3 * base_rows(10_000))
    assert even.trusted
    assert not even.warning


def test_balance_is_z():
    assert normalise(torch.full((200,), log(1.5))).balance == pytest.approx(1.5)
