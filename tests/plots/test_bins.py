"""Bins stand where the rows are, and the band holds what binomial counts do."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from equipoise.plots.bins import Bins, band, bins_of, spacing

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        (np.repeat([0.0, 1.0], 10), 1.0),
        (np.repeat([3.0, 5.0, 9.0], 5), 2.0),
        (np.round(RNG.normal(size=5000), 1), 0.1),
        (RNG.integers(0, 1000, 50_000).astype(float), 1.0),
        (RNG.normal(size=500), None),
        (np.arange(50.0), None),  # evenly spaced, but nothing repeats
        (np.repeat([0.0, 1.0, 2.5, 2.5 + 2**0.5], 10), None),
        (np.full(20, 3.0), None),
        (np.repeat([1e12, 1e12 + 2.0, 1e12 + 6.0], 9), 2.0),
    ],
)
def test_repeated_even_values_are_recognised(values, step):
    found = spacing(values)
    assert found == (None if step is None else pytest.approx(step, rel=1e-6))


def test_integers_get_a_bin_each():
    values = RNG.poisson(3.0, 2000).astype(float)
    bins = bins_of(values)
    assert bins.lattice
    np.testing.assert_allclose(bins.middles, np.arange(values.max() + 1.0))
    np.testing.assert_allclose(bins.widths, 1.0)
    expected = np.bincount(values.astype(int)) / len(values)
    np.testing.assert_allclose(bins.shares(values), expected)


def test_many_integers_share_bins_of_whole_steps():
    values = RNG.integers(0, 1000, 50_000).astype(float)
    bins = bins_of(values)
    assert not bins.lattice
    np.testing.assert_allclose(bins.widths, np.round(bins.widths[0]))
    np.testing.assert_allclose(bins.edges % 1.0, 0.5)  # no integer on an edge
    assert bins.beyond(values) == 0.0


def test_a_heavy_tail_is_cut_and_counted():
    values = RNG.standard_cauchy(20_000)
    bins = bins_of(values)
    outside = np.mean((values < bins.edges[0]) | (values > bins.edges[-1]))
    assert bins.edges[-1] < 60.0
    assert 0.005 < outside < 0.05
    assert bins.beyond(values) == outside
    assert bins.shares(values).sum() == pytest.approx(1.0 - outside, abs=1e-12)


@pytest.mark.parametrize("values", [RNG.normal(size=300), RNG.uniform(size=5000), RNG.exponential(size=100)])
def test_light_tails_are_kept_whole(values):
    bins = bins_of(values)
    assert bins.beyond(values) == 0.0
    assert bins.shares(values).sum() == pytest.approx(1.0)
    assert 16 <= len(bins.widths) <= 60


def test_the_axis_holds_rows_and_model():
    bins = bins_of(RNG.normal(size=500), RNG.normal(8.0, 1.0, size=500))
    assert bins.edges[0] < -1.0
    assert bins.edges[-1] > 9.0


@pytest.mark.parametrize("values", [np.full(5, 2.0), np.array([1.0]), np.array([1e12, 3e12]), np.array([1e-12, 2e-12])])
def test_few_or_equal_values_have_bins(values):
    bins = bins_of(values)
    assert (bins.widths > 0.0).all()
    assert bins.shares(values).sum() == pytest.approx(1.0)


@given(p=st.floats(1e-6, 1.0 - 1e-6), n=st.integers(1, 10_000))
def test_the_band_holds_at_least_95_percent_of_binomial_counts(p, n):
    low, high = (float(v) for v in band(np.array(p), n))
    low, high = np.floor(low * n), np.ceil(high * n)
    held = stats.binom.cdf(high, n, p) - stats.binom.cdf(low - 1.0, n, p)
    assert held >= 0.95
    assert low <= n * p <= high


def test_the_band_is_not_much_wider_than_it_must_be():
    for p in (0.01, 0.2, 0.5):
        low, high = band(np.array(p), 5000)
        exact = stats.binom.ppf(0.975, 5000, p) - stats.binom.ppf(0.025, 5000, p)
        assert 5000 * float(high - low) < 1.15 * exact + 2.0


def test_the_band_of_what_cannot_be():
    low, high = band(np.array([0.0, 1.0]), 100.0)
    assert low[0] == 0.0
    assert high[1] == 1.0
    assert high[0] < 0.05
    assert low[1] > 0.95


def test_shares_count_everything():
    assert Bins(np.array([0.0, 1.0, 2.0])).shares(np.array([0.5, 0.6, 1.5, 9.0])).tolist() == [0.5, 0.25]
