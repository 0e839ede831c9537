"""Every metric against its closed form on Gaussians, its standard error against repeats, and what it refuses."""

import math

import numpy as np
import pytest
import torch
from torch.distributions import Normal

import equipoise as eq
from equipoise import metrics
from equipoise.metrics import Measured

TRUTH, MODEL = Normal(0.0, 1.0), Normal(0.3, 1.2)
N = 50_000
KL = math.log(1.2) + (1.0 + 0.09) / (2 * 1.44) - 0.5


def rows(n=N, seed=0):
    return torch.randn(n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def base_rows(n=N, seed=1):
    return 2.0 * rows(n, seed)


def quadrature(function):
    x = torch.linspace(-15, 15, 60_001, dtype=torch.float64)
    return torch.trapezoid(function(x), x).item()


def squared_log_error(x):
    return (TRUTH.log_prob(x) - MODEL.log_prob(x)) ** 2


def squared_error(x):
    return (TRUTH.log_prob(x).exp() - MODEL.log_prob(x).exp()) ** 2


def against_truth(metric, n=N, seed=0):
    x = rows(n, seed)
    return metric(TRUTH.log_prob(x), MODEL.log_prob(x))


CASES = {
    "lsqr": (
        lambda n, seed: against_truth(metrics.lsqr, n, seed),
        quadrature(lambda x: TRUTH.log_prob(x).exp() * squared_log_error(x)),
    ),
    "psqr": (
        lambda n, seed: against_truth(metrics.psqr, n, seed),
        quadrature(lambda x: TRUTH.log_prob(x).exp() * squared_error(x)),
    ),
    "kl": (lambda n, seed: against_truth(metrics.kl, n, seed), KL),
    "log_likelihood": (
        lambda n, seed: metrics.log_likelihood(MODEL.log_prob(rows(n, seed))),
        -KL - 0.5 * math.log(2 * math.pi * math.e),
    ),
    "total_integral": (
        lambda n, seed: metrics.total_integral(
            MODEL.log_prob(base_rows(n, seed)) + math.log(0.7), Normal(0.0, 2.0).log_prob(base_rows(n, seed))
        ),
        0.7,
    ),
    "importance_loss": (
        lambda n, seed: metrics.importance_loss(
            MODEL.log_prob(rows(n, seed)) + math.log(0.7),
            MODEL.log_prob(base_rows(n, seed + 10_000)) + math.log(0.7),
            Normal(0.0, 2.0).log_prob(base_rows(n, seed + 10_000)),
        ),
        KL + 0.5 * math.log(2 * math.pi * math.e) - math.log(0.7) + 0.7,
    ),
}
each = pytest.mark.parametrize("name", CASES)


@each
def test_the_figure_is_the_closed_form_within_its_error(name):
    measure, expected = CASES[name]
    result = measure(N, 0)
    assert abs(result.value - expected) < 4.5 * result.se
    assert result.se < 0.02 * max(abs(expected), 0.5)
    assert result.failed == 0


@each
def test_the_standard_error_is_the_spread_over_repeats(name):
    measure = CASES[name][0]
    results = [measure(400, seed) for seed in range(300)]
    spread = np.std([result.value for result in results])
    claimed = np.mean([result.se for result in results])
    assert 0.85 < spread / claimed < 1.15  # the spread of 300 repeats is known to 4 %; the tails of squares add some


def test_the_public_names():
    assert eq.metrics is metrics
    assert float(metrics.lsqr([0.0, 0.0], [1.0, -1.0])) == 1.0


def test_arrays_tensors_lists_and_single_precision_agree():
    truth, model = TRUTH.log_prob(rows(100)), MODEL.log_prob(rows(100))
    expected = metrics.lsqr(truth, model)
    assert metrics.lsqr(truth.numpy(), model.tolist()) == expected
    assert metrics.lsqr(truth, model.clone().requires_grad_()) == expected
    assert abs(metrics.lsqr(truth.float(), model.float()).value - expected.value) < 1e-6


def test_rows_scored_minus_infinity_fail_the_model():
    truth = torch.tensor([-1.0, -2.0, -3.0, -4.0])
    model = torch.tensor([-1.5, -torch.inf, -2.0, -torch.inf])
    squares = metrics.lsqr(truth, model)
    assert (squares.value, squares.n, squares.failed) == ((0.25 + 1.0) / 2, 2, 2)
    density = metrics.psqr(truth, model)
    assert (density.n, density.failed) == (4, 2)
    expected = ((truth.double().exp() - model.double().exp()) ** 2).mean().item()
    assert math.isclose(density.value, expected)
    for infinite in (metrics.kl(truth, model), metrics.importance_loss(model, truth, truth)):
        assert infinite.value == math.inf
        assert infinite.se == math.inf
        assert infinite.failed == 2
    assert metrics.log_likelihood(model).value == -math.inf
    assert "2 rows scored −∞" in str(squares)
    assert "∞" not in str(metrics.lsqr(truth, truth))


def test_a_model_that_fails_every_row_is_infinitely_far():
    result = metrics.lsqr([0.0, 1.0], [-np.inf, -np.inf])
    assert result == Measured(math.inf, math.inf, 0, 2)


def test_one_row_has_no_standard_error():
    assert metrics.lsqr([0.0], [0.5]) == Measured(0.25, math.inf, 1)


def test_a_surface_may_be_minus_infinity_where_the_base_is_not():
    result = metrics.total_integral([0.0, -np.inf], [0.0, 0.0])
    assert result.value == 0.5
    assert result.failed == 0


def test_effective_sample_sizes():
    assert metrics.effective_sample_size(np.full(10, -700.0)) == pytest.approx(10.0)
    assert metrics.effective_sample_size([5.0, -np.inf, -np.inf]) == pytest.approx(1.0)
    weight = torch.rand(100, dtype=torch.float64)
    assert metrics.effective_sample_size(weight.log() + 900.0) == pytest.approx(
        (weight.sum() ** 2 / (weight**2).sum()).item()
    )
    with pytest.raises(ValueError, match="all weights are zero"):
        metrics.effective_sample_size([-np.inf, -np.inf])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_log_density_is_refused(bad):
    with pytest.raises(ValueError, match=r"log_model must hold log densities: 1 of 2 are NaN or \+∞"):
        metrics.lsqr([0.0, 0.0], [0.0, bad])


@pytest.mark.parametrize(("truth", "model"), [([0.0, 1.0], [0.0]), ([], []), ([[0.0]], [[0.0]])])
def test_other_shapes_are_refused(truth, model):
    with pytest.raises(ValueError, match=r"must be of the same rows|must hold one number per row"):
        metrics.kl(truth, model)


def test_rows_must_come_from_where_they_are_said_to():
    with pytest.raises(ValueError, match="log_truth is −∞ at 1 of 2 rows, but rows come from the truth"):
        metrics.lsqr([0.0, -np.inf], [0.0, 0.0])
    with pytest.raises(ValueError, match="log_base_down is −∞ at 1 of 2 rows, but down rows come from the base"):
        metrics.total_integral([0.0, 0.0], [0.0, -np.inf])
