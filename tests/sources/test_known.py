"""Known densities: whatever can be sampled becomes rows, from the push's generator and no other."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch import distributions as D

from equipoise import bases
from equipoise.sources import Known, Rows, as_source


class Coin:
    """Somebody's own density: numbers without a column axis, and no log_prob."""

    def sample(self, n):
        return torch.rand(n)


class Seeded:
    """In scikit-learn's way: numpy in, numpy out, seeded by random_state."""

    def sample(self, n, random_state=None):
        return np.random.default_rng(random_state).normal(size=(n, 2))

    def log_prob(self, x):
        return stats.norm.logpdf(np.asarray(x)).sum(axis=1)


MIXTURE = D.MixtureSameFamily(D.Categorical(torch.tensor([1.0, 3.0])), D.Normal(torch.tensor([-1.0, 2.0]), 0.5))
DENSITIES = {
    "one number": (D.Normal(1.0, 2.0), 1),
    "one column": (D.Normal(torch.ones(1), 2.0), 1),
    "columns as a batch": (D.Normal(torch.zeros(3), torch.tensor([1.0, 2.0, 3.0])), 3),
    "columns as an event": (D.Independent(D.Laplace(torch.zeros(3), 1.0), 1), 3),
    "covariance": (D.MultivariateNormal(torch.zeros(2), torch.tensor([[2.0, 0.5], [0.5, 1.0]])), 2),
    "mixture": (MIXTURE, 1),
    "box": (D.Uniform(-torch.ones(2), torch.ones(2)), 2),
    "base": (bases.Uniform([0.0, -1.0], [1.0, 1.0]), 2),
    "own": (Coin(), 1),
    "random_state": (Seeded(), 2),
}
NAMES = pytest.mark.parametrize("name", DENSITIES)


def rows_of(density, n=50, seed=0, dtype=torch.float32):
    source = Known(density)
    out = torch.empty(n, source.features, dtype=dtype)
    assert source.draw(out, torch.Generator().manual_seed(seed)) is None
    return out


@NAMES
def test_columns_are_counted(name):
    density, features = DENSITIES[name]
    assert Known(density).features == features
    assert bool(torch.isfinite(rows_of(density)).all())


@NAMES
def test_rows_come_from_the_generator_alone(name):
    density = DENSITIES[name][0]
    torch.manual_seed(11)
    np.random.seed(11)  # noqa: NPY002
    before, expected = torch.get_rng_state(), np.random.rand(3)  # noqa: NPY002
    np.random.seed(11)  # noqa: NPY002
    first, again, other = (rows_of(density, seed=seed) for seed in (5, 5, 6))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_array_equal(np.random.rand(3), expected)  # noqa: NPY002


@pytest.mark.parametrize("name", [name for name in DENSITIES if name != "own"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_log_prob_is_one_number_per_row(name, dtype):
    density = DENSITIES[name][0]
    x = rows_of(density, dtype=dtype)
    log_prob = Known(density).log_prob(x)
    assert log_prob.shape == (50,)
    assert bool(torch.isfinite(log_prob).all())


def test_log_prob_of_independent_columns_is_their_sum():
    scale = np.array([1.0, 2.0, 3.0])
    density = D.Normal(torch.zeros(3, dtype=torch.float64), torch.from_numpy(scale))
    x = rows_of(density, dtype=torch.float64)
    expected = stats.norm.logpdf(x.numpy(), scale=scale).sum(axis=1)
    np.testing.assert_allclose(Known(density).log_prob(x), expected, rtol=1e-12)
    joint = D.MultivariateNormal(torch.zeros(3, dtype=torch.float64), torch.diag(torch.from_numpy(scale) ** 2))
    np.testing.assert_allclose(Known(joint).log_prob(x), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("density", "expected"),
    [
        (D.Uniform(torch.zeros(2), torch.ones(2)), [0.0, -np.inf]),
        (D.Exponential(torch.ones(2)), [-1.0, -np.inf]),
        (D.Exponential(torch.ones(2), validate_args=False), [-1.0, -np.inf]),
        (D.Independent(D.Exponential(torch.ones(2)), 1), [-1.0, -np.inf]),
    ],
)
def test_outside_the_support_the_density_is_zero_and_nothing_is_raised(density, expected):
    x = torch.tensor([[0.5, 0.5], [0.5, -1.0]])
    state = torch.get_rng_state()
    assert Known(density).log_prob(x).tolist() == pytest.approx(expected)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_density_that_can_write_its_rows_does():
    """Into the very buffer, without a sample in between; somebody's other ``draw`` is left alone."""

    class Writing(Seeded):
        def draw(self, out, generator):
            out.uniform_(generator=generator)

    class Painting(Seeded):
        def draw(self, canvas):
            raise AssertionError

    class Spy(Writing):
        def sample(self, n, random_state=None):
            assert n == 1  # the columns are counted once
            return super().sample(n, random_state)

    out = rows_of(Spy())
    assert bool(((out >= 0) & (out < 1)).all())
    assert torch.equal(rows_of(Painting()), rows_of(Seeded()))


def test_a_density_that_draws_no_numbers_is_refused():
    class Broken:
        def sample(self, n):
            return torch.full((n, 2), float("nan"))

    with pytest.raises(ValueError, match="drew a row that is not finite"):
        Known(Broken())


def test_samples_have_the_densitys_moments():
    """Mean and variance of 40,000 rows, within five standard errors."""
    n = 40_000
    x = rows_of(DENSITIES["one number"][0], n).double()
    assert x.mean().item() == pytest.approx(1.0, abs=5.0 * 2.0 / np.sqrt(n))
    assert x.var().item() == pytest.approx(4.0, abs=5.0 * 4.0 * np.sqrt(2.0 / n))


def test_what_has_no_log_prob_is_unknown():
    assert Known(Coin()).log_prob is None


@pytest.mark.parametrize(
    ("density", "error", "words"),
    [
        (object(), TypeError, "cannot be sampled"),
        (bases.Gaussian(), ValueError, "not fitted"),
        (D.Normal(torch.zeros(2, 2), 1.0), ValueError, "one row per draw"),
        (D.MultivariateNormal(torch.zeros(3, 2), torch.eye(2)), ValueError, r"batch_shape \(3,\)"),
    ],
    ids=["object", "unfitted", "table", "batch of events"],
)
def test_what_cannot_be_sampled_is_refused(density, error, words):
    with pytest.raises(error, match=words):
        Known(density)


def test_a_frame_is_its_rows_though_it_can_be_sampled():
    import pandas as pd
    import polars as pl

    for frame in (pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}), pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})):
        source = as_source(frame)
        assert isinstance(source, Rows)
        assert source.rows.tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_sources_pass_and_strangers_are_refused():
    source = Rows([[1.0]])
    assert as_source(source) is source
    with pytest.raises(TypeError, match="cannot draw rows from a str"):
        as_source("rows.csv")
