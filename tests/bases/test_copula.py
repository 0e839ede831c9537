"""Copulas: a density that integrates to one, and dependence found behind any marginals."""

import numpy as np
import pytest
import torch
from scipy import stats

from equipoise.bases import Copula, CopulaMixture, Gaussian, Marginals
from equipoise.targets import Clayton

RANDOM = np.random.default_rng(8)


def lognormal(n, rho=0.8):
    return np.exp(RANDOM.multivariate_normal([0.0, 0.0], [[1.0, rho], [rho, 1.0]], size=n))


def truth(rows, rho=0.8):
    z = np.log(rows)
    return stats.multivariate_normal([0.0, 0.0], [[1.0, rho], [rho, 1.0]]).logpdf(z) - z.sum(axis=1)


@pytest.mark.parametrize("base", [Copula(), CopulaMixture(), Copula(components=3)])
def test_the_density_integrates_to_one(base):
    """By importance sampling from a Gaussian and the marginals; five standard errors."""
    rows = np.concatenate([RANDOM.normal(size=(300, 2)), RANDOM.normal(4.0, size=(300, 2))])
    base.fit(rows)
    generator, n = torch.Generator().manual_seed(0), 60_000
    wide, alone = Gaussian().fit(rows), Marginals().fit(rows)
    x = torch.cat([part.sample(n // 2, generator, torch.float64) for part in (wide, alone)])
    log_q = torch.logaddexp(wide.log_prob(x), alone.log_prob(x)) - np.log(2.0)
    weight = torch.exp(base.log_prob(x) - log_q)
    assert weight.mean().item() == pytest.approx(1.0, abs=5.0 * weight.std().item() / n**0.5)


def test_a_gaussian_copula_is_found_behind_lognormal_columns():
    base = Copula().fit(lognormal(20_000))
    covariance = base.scores.factor_ @ base.scores.factor_.T
    assert covariance[0, 1].item() == pytest.approx(0.8, abs=5.0 * 0.36 / 20_000**0.5 + 0.005)
    fresh = lognormal(5000)
    error = truth(fresh) - base.log_prob(fresh).numpy()
    assert np.mean(error**2) < 0.02
    assert np.mean((truth(fresh) - Gaussian().fit(lognormal(20_000)).log_prob(fresh).numpy()) ** 2) > 1.0


def test_samples_keep_rank_correlation_and_marginals():
    base, rows = Copula().fit(lognormal(20_000)), lognormal(20_000)
    drawn = base.sample(20_000, torch.Generator().manual_seed(3), torch.float64).numpy()
    expected = 6.0 / np.pi * np.arcsin(0.4)  # Spearman's, of a Gaussian copula
    assert stats.spearmanr(drawn).statistic == pytest.approx(expected, abs=0.02)
    assert stats.ks_2samp(drawn[:, 0], rows[:, 0]).pvalue > 1e-4


def test_a_mixture_of_scores_follows_a_clayton_copula():
    """Whose lower tail a Gaussian copula misses; KL at 2,000 rows, measured 1.0 and 1.7."""
    target = Clayton()
    rows, fresh = (target.sample(n, torch.Generator().manual_seed(n), torch.float64) for n in (2000, 10_000))
    gap = {
        name: (target.log_prob(fresh) - base.fit(rows).log_prob(fresh)).mean().item()
        for name, base in (("one", Copula()), ("mixture", CopulaMixture()))
    }
    assert gap["mixture"] < 1.25
    assert gap["one"] > gap["mixture"] + 0.3


def test_far_rows_have_a_density_bounded_by_the_marginals():
    """At least 1/(n + 2) of the product of the columns."""
    rows = lognormal(500)
    base = Copula().fit(rows)
    far = torch.tensor([[1e6, 1e-9], [-1e5, 1e5], [1e300, -1e300]], dtype=torch.float64)
    floor = base.marginals.log_prob(far) - np.log(502.0)
    assert bool((base.log_prob(far) >= floor - 1e-9).all())
    assert bool(torch.isfinite(base.log_prob(far)).all())
