"""Divergences of samples against their generators, closed forms, and what a bound must do."""

from math import exp, log, sqrt

import pytest
import torch
from scipy.integrate import quad
from scipy.stats import norm

from equipoise.catalog.generators import GENERATORS
from equipoise.ratios import KINDS, divergence
from equipoise.ratios.score import LogRatios

SHIFT = 1.0  # num N(1, 1), den N(0, 1): log r = x − 1/2


def closed_form(kind):
    """Of N(1, 1) against N(0, 1)."""

    def integral(integrand):
        return quad(lambda x: integrand(norm.pdf(x, SHIFT), norm.pdf(x)), -12, 13)[0]

    return {
        "kl": 0.5 * SHIFT**2,
        "reverse_kl": 0.5 * SHIFT**2,
        "js": integral(lambda p, q: 0.5 * (p * log(2 * p / (p + q)) + q * log(2 * q / (p + q)))),
        "pearson": exp(SHIFT**2) - 1.0,
        "neyman": exp(SHIFT**2) - 1.0,
        "hellinger": 1.0 - exp(-(SHIFT**2) / 8.0),
        "total_variation": 2.0 * norm.cdf(SHIFT / 2.0) - 1.0,
    }[kind]


def samples(n=200_000, seed=0):
    generator = torch.Generator().manual_seed(seed)
    num, den = (torch.randn(n, generator=generator, dtype=torch.float64) + shift for shift in (SHIFT, 0.0))
    return num, den


def exact(x):
    return SHIFT * x - 0.5 * SHIFT**2


@pytest.mark.parametrize("kind", KINDS)
def test_both_means_are_the_generators(kind):
    log_ratio = torch.linspace(-6.0, 6.0, 101, dtype=torch.float64)
    log_ratio = log_ratio[log_ratio != 0]  # where total variation has no slope
    z, generator, ours = log_ratio.exp(), GENERATORS[kind], KINDS[kind]
    torch.testing.assert_close(ours.num(log_ratio), generator.slope(z), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(ours.den(log_ratio), generator.phi(z) - z * generator.slope(z), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_exact_ratio_gives_the_closed_form_within_its_error(kind):
    num, den = samples()
    found = divergence(kind, LogRatios(exact(num), exact(den)))
    assert abs(found.value - closed_form(kind)) < 4.0 * found.se
    assert found.interval[0] < found.value < found.interval[1]
    assert found.is_bound


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrong", [lambda x: 0.5 * exact(x), lambda x: exact(x) + 0.4, lambda x: 0.0 * x])
def test_a_wrong_ratio_stays_below(kind, wrong):
    num, den = samples()
    found = divergence(kind, LogRatios(wrong(num), wrong(den)))
    assert found.value < closed_form(kind) + 3.0 * found.se


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "total_variation"])  # whose generator has a kink
def test_an_error_of_the_log_ratio_enters_by_its_square(kind):
    num, den = samples()

    def loss(error):
        return (
            divergence(kind, LogRatios(exact(num), exact(den))).value
            - divergence(kind, LogRatios(exact(num) + error * num.sin(), exact(den) + error * den.sin())).value
        )

    assert loss(0.02) == pytest.approx(loss(0.04) / 4.0, rel=0.35, abs=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_log_ratios_far_out_give_numbers(kind):
    found = divergence(kind, LogRatios(torch.full((3,), 1e4), torch.full((3,), -1e4)))
    assert found.value == found.value
    assert found.value >= min(KINDS[kind].most, 1.0) - 1e-12


def test_means_take_weights():
    num, den = samples(2000)
    weight = (torch.arange(2000) % 3).double()
    repeated = num.repeat_interleave(weight.long()), den.repeat_interleave(weight.long())
    weighted = divergence("kl", LogRatios(exact(num), exact(den), weight, weight))
    plain = divergence("kl", LogRatios(*map(exact, repeated)))
    assert weighted.value == pytest.approx(plain.value)


def test_without_overlap_kl_is_the_mean_log_ratio_and_no_bound():
    num, den = samples(100)
    found = divergence("kl", LogRatios(exact(num), exact(den)), trusted=False)
    assert found.value == pytest.approx(exact(num).mean().item())
    assert found.se == pytest.approx(exact(num).std().item() / sqrt(100))
    assert not found.is_bound
    assert "hardly overlap" in found.words


def test_an_unknown_kind_is_refused_by_name():
    with pytest.raises(ValueError, match=r"kind must be one of kl, .*'kullback'"):
        divergence("kullback", LogRatios(torch.zeros(2), torch.zeros(2)))


@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_is_told_apart_the_value_is_zero_with_an_error(kind):
    found = divergence(kind, LogRatios(torch.full((50,), 1e-9), torch.full((40,), 1e-9)), different=False)
    assert found.value == 0.0
    assert found.se >= 1.0 / 40
