"""Marginals: sharp at jumps, smooth elsewhere, close to the truth at the size of the sample, whatever the units."""

from math import log

import numpy as np
import pytest
import torch
from scipy import stats
from tests.asserts import assert_close

from equipoise.bases import Marginals


def columns(n, d, seed):
    """The paper's Columns: two boxes and three Gaussians a column, log density by its formula."""
    random = np.random.default_rng(seed)
    part, u, g = random.integers(0, 5, (n, d)), random.random((n, d)), random.normal(size=(n, d))
    return np.where(part == 0, -2.3 + 0.6 * u, np.where(part == 4, 1.7 + 0.6 * u, part - 2.0 + 0.2 * g))


def columns_log_prob(x):
    boxes = ((np.abs(np.abs(x) - 2.0) <= 0.3) / 0.6).astype(float)
    return np.log(0.2 * (boxes + sum(stats.norm.pdf(x, centre, 0.2) for centre in (-1.0, 0.0, 1.0)))).sum(axis=1)


FRESH = columns(20_000, 20, 99)


@pytest.mark.parametrize(("n", "most"), [(10_000, 0.25), (100_000, 0.025)])
def test_columns_in_twenty_dimensions(n, most):
    """A 500-bin histogram of 10^5 rows: 0.175; the tree was measured at 0.13 and 0.0136."""
    base = Marginals().fit(columns(n, 20, 0))
    error = columns_log_prob(FRESH) - base.log_prob(FRESH).numpy()
    assert np.mean(error**2) < most


@pytest.mark.parametrize(
    "density",
    [
        stats.norm(),
        stats.gamma(2.0),
        stats.expon(),
        stats.lognorm(1.0),
        stats.t(2.0),
        stats.uniform(),
        stats.beta(2, 5),
    ],
    ids=lambda density: density.dist.name,
)
def test_the_error_falls_as_that_of_a_smoother_should(density):
    """Mean squared log error a column: n^(−4/5) for smooth densities; a factor of 6 from 1,000 to 10,000 rows."""
    random = np.random.default_rng(2)
    fresh = density.rvs((20_000, 1), random_state=random)
    errors = {}
    for n in (1_000, 10_000):
        base = [Marginals().fit(density.rvs((n, 1), random_state=random)) for _ in range(4)]
        log_probs = [part.log_prob(fresh).numpy() for part in base]
        errors[n] = np.mean([np.mean((density.logpdf(fresh[:, 0]) - values) ** 2) for values in log_probs])
    assert errors[1_000] < 0.05
    assert errors[10_000] < 0.008
    assert errors[10_000] < errors[1_000] / 2.0


def test_units_are_only_units():
    """A power of two moves the log density by exactly its logarithm; scales of 1e±12 and shifts, to rounding."""
    rows = columns(3000, 2, 1)
    base = Marginals().fit(rows).log_prob(rows[:500])
    doubled = Marginals().fit(rows * [2.0, 0.25])
    assert_close(doubled.log_prob(rows[:500] * [2.0, 0.25]), base + log(2.0), absolute=1e-12)
    moved = Marginals().fit(rows * [1e12, 1e-12] + [3e11, 2e-12])
    log_prob = moved.log_prob(rows[:500] * [1e12, 1e-12] + [3e11, 2e-12])
    assert ((log_prob - base).abs() > 1e-6).sum() <= 5  # rows at a bin's edge


def test_repeated_values_have_a_finite_density():
    random = np.random.default_rng(0)
    rows = np.column_stack(
        [random.poisson(3.0, 2000), np.where(random.random(2000) < 0.9, 0.0, random.normal(size=2000))]
    )
    base = Marginals().fit(rows)
    assert bool(torch.isfinite(base.log_prob(rows)).all())
    assert base.log_prob(rows).mean() > stats.poisson(3.0).logpmf(rows[:, 0]).mean()


def test_one_far_row_does_not_blunt_the_rest():
    rows = np.random.default_rng(0).normal(size=(5000, 1))
    fresh = np.random.default_rng(1).normal(size=(5000, 1))
    base = Marginals().fit(np.vstack([rows, [[1e12]]]))
    assert np.mean((stats.norm.logpdf(fresh[:, 0]) - base.log_prob(fresh).numpy()) ** 2) < 0.02


def test_two_rows_are_enough():
    base = Marginals().fit([[0.0, 5.0], [1.0, -5.0]])
    assert bool(torch.isfinite(base.log_prob([[0.5, 0.0], [100.0, 3.0]])).all())


@pytest.mark.parametrize("scale", [1.0, 0.37])
def test_a_weight_is_a_repetition(scale):
    random = np.random.default_rng(4)
    rows, weight = random.normal(size=(60, 2)), random.integers(0, 4, size=60)
    weighted = Marginals().fit(rows, scale * weight).state()
    for key, value in Marginals().fit(np.repeat(rows, weight, axis=0)).state().items():
        assert_close(weighted[key], value, relative=1e-9)


def test_fractional_weights_are_followed():
    random = np.random.default_rng(6)
    rows = random.normal(size=(20_000, 1))
    base = Marginals().fit(rows, np.exp(rows[:, 0] - 0.5))  # a normal of mean one, by importance weights
    fresh = 1.0 + random.normal(size=(20_000, 1))
    assert np.mean((stats.norm.logpdf(fresh[:, 0], 1.0) - base.log_prob(fresh).numpy()) ** 2) < 0.03


def test_a_row_scores_the_same_in_any_company():
    base = Marginals().fit(FRESH[:2000])
    whole = base.log_prob(FRESH[:9000])
    assert torch.equal(whole[8190:8200], base.log_prob(FRESH[8190:8200]))
    assert torch.equal(whole[:1], base.log_prob(FRESH[:1]))


def test_the_support_is_what_was_given():
    rows = np.random.default_rng(0).random((100, 2))
    low, high = Marginals(low=[0.0, -np.inf], high=[2.0, np.inf]).fit(rows).support
    assert low.tolist() == pytest.approx([0.0, -np.inf])
    assert high.tolist() == pytest.approx([2.0, np.inf])


def test_bounds_and_bins_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match=r"columns \[1\] have rows outside of the bounds"):
        Marginals(low=[0.0, 0.5]).fit(np.random.default_rng(0).random((50, 2)))
    with pytest.raises(ValueError, match="power of two, at least 8; got 100"):
        Marginals(bins=100)
