"""Bases: densities that integrate to one, sample what they score, and say what they cannot."""

from math import log, pi

import numpy as np
import pytest
import torch
from scipy import integrate, stats
from tests.asserts import assert_close

from equipoise.bases import (
    BASES,
    Gaussian,
    GaussianMixture,
    Rescaled,
    Uniform,
    as_base,
    candidates,
    choose,
)
from equipoise.sources import Known

RANDOM = np.random.default_rng(7)
ROWS = {
    1: RANDOM.gamma(3.0, 2.0, size=(400, 1)),
    2: RANDOM.normal(size=(400, 2)) @ np.array([[1.0, 0.8], [0.0, 0.5]]) + np.array([3.0, -1.0]),
}
NAMES = pytest.mark.parametrize("name", BASES)
CLOSED = pytest.mark.parametrize("name", ["uniform", "gaussian", "gaussian_mixture"])  # their moments are their state


def made(name):
    """An unfitted base, a flow a small one."""
    return BASES[name](transforms=2, width=16, steps=60) if "flow" in name else as_base(name)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@CLOSED
def test_log_prob_integrates_to_one_in_one_dimension(name):
    base = made(name).fit(ROWS[1])

    def density(x):
        return base.log_prob(torch.tensor([[x]], dtype=torch.float64)).exp().item()

    ends = [base.low_.item(), base.high_.item()] if name == "uniform" else [-60.0, 90.0]
    total, _ = integrate.quad(density, *ends, limit=200, points=[5.0])
    assert total == pytest.approx(1.0, abs=1e-6)


@CLOSED
def test_log_prob_integrates_to_one_in_two_dimensions(name):
    """The trapezoid's sum is spectrally exact for smooth densities; over the box it is cell by cell."""
    base = made(name).fit(ROWS[2])
    low, high = (
        (base.low_, base.high_) if name == "uniform" else (torch.tensor([-7.0, -9.0]), torch.tensor([13.0, 7.0]))
    )
    steps = (high - low).double() / 500
    axes = [low[k] + steps[k] * (torch.arange(500, dtype=torch.float64) + 0.5) for k in (0, 1)]
    grid = torch.cartesian_prod(*axes)
    assert (base.log_prob(grid).exp().sum() * steps.prod()).item() == pytest.approx(1.0, abs=1e-6)


def moments(name, base):
    """Mean and covariance of a fitted base, from its state."""
    if name == "uniform":
        return 0.5 * (base.low_ + base.high_), torch.diag((base.high_ - base.low_) ** 2 / 12.0)
    if name == "gaussian":
        return base.mean_, base.factor_ @ base.factor_.T
    mean = base.shares_ @ base.means_
    second = base.factors_ @ base.factors_.mT + torch.einsum("ki,kj->kij", base.means_ - mean, base.means_ - mean)
    return mean, torch.einsum("k,kij->ij", base.shares_, second)


@CLOSED
def test_samples_have_the_moments_of_the_density(name):
    """Of 50,000 rows, within five standard errors, each estimated from the rows."""
    base, n = made(name).fit(ROWS[2]), 50_000
    mean, covariance = moments(name, base)
    x = base.sample(n, generator=generator(), dtype=torch.float64)
    assert bool(((x.mean(dim=0) - mean).abs() < 5.0 * x.std(dim=0) / n**0.5).all())
    products = torch.einsum("ni,nj->nij", x - mean, x - mean)
    assert bool(((products.mean(dim=0) - covariance).abs() < 5.0 * products.std(dim=0) / n**0.5).all())


@NAMES
def test_samples_match_log_prob(name):
    """E_base[q/p] = 1 for a density q inside the base's support; five standard errors."""
    base, n = made(name).fit(ROWS[2]), 50_000
    x = base.sample(n, generator=generator(1), dtype=torch.float64)
    assert bool(torch.isfinite(base.log_prob(x)).all())
    mean, covariance = moments("gaussian", Gaussian().fit(ROWS[2]))
    probe = torch.distributions.MultivariateNormal(mean, 0.05 * covariance)
    weight = torch.exp(probe.log_prob(x) - base.log_prob(x))
    assert weight.mean().item() == pytest.approx(1.0, abs=5.0 * weight.std().item() / n**0.5 + 1e-3)


def test_the_gaussian_is_scipys():
    base = Gaussian(shrinkage=0.0).fit(ROWS[2])
    expected = stats.multivariate_normal(ROWS[2].mean(axis=0), np.cov(ROWS[2].T, bias=True))
    x = np.vstack([ROWS[2][:20], [[100.0, -50.0]]])
    np.testing.assert_allclose(base.log_prob(x), expected.logpdf(x), rtol=1e-10)


def test_shrinkage_leads_from_the_covariance_to_its_diagonal():
    whole, half, none = (Gaussian(shrinkage).fit(ROWS[2]) for shrinkage in (0.0, 0.5, 1.0))
    covariance = [base.factor_ @ base.factor_.T for base in (whole, half, none)]
    assert_close(covariance[1], 0.5 * (covariance[0] + covariance[2]), relative=1e-10)
    assert_close(covariance[2], torch.diag(torch.diagonal(covariance[0])), absolute=1e-12)


def test_more_columns_than_rows_still_have_a_density():
    base = Gaussian().fit(RANDOM.normal(size=(6, 9)))
    assert bool(torch.isfinite(base.log_prob(RANDOM.normal(size=(4, 9)))).all())


def test_dependent_columns_still_have_a_density():
    x = RANDOM.normal(size=(50, 1))
    base = Gaussian(shrinkage=0.0).fit(np.hstack([x, 2.0 * x]))
    assert bool(torch.isfinite(base.log_prob(np.hstack([x, 2.0 * x]))).all())


def test_a_mixture_finds_two_separated_components():
    rows = np.concatenate([RANDOM.normal(-4.0, 0.5, size=(300, 2)), RANDOM.normal(4.0, 1.0, size=(100, 2))])
    base = GaussianMixture().fit(rows)
    assert base.shares_.sort().values.tolist() == pytest.approx([0.25, 0.75], abs=0.01)
    heavy, light = base.shares_.argmax(), base.shares_.argmin()
    assert_close(base.means_[heavy], torch.full((2,), -4.0), absolute=5.0 * 0.5 / 300**0.5)
    assert_close(base.means_[light], torch.full((2,), 4.0), absolute=5.0 * 1.0 / 100**0.5)
    truth = 0.75 * stats.norm.pdf(rows, -4.0, 0.5).prod(axis=1) + 0.25 * stats.norm.pdf(rows, 4.0, 1.0).prod(axis=1)
    assert np.abs(base.log_prob(rows).numpy() - np.log(truth)).mean() < 0.1


def test_bic_takes_one_component_where_there_is_one():
    assert len(GaussianMixture().fit(RANDOM.normal(size=(300, 2))).shares_) == 1
    assert len(GaussianMixture(components=3).fit(RANDOM.normal(size=(300, 2))).shares_) == 3


WEIGHTS = RANDOM.integers(0, 4, size=400)


@pytest.mark.parametrize("scale", [1.0, 0.37])
@pytest.mark.parametrize("name", ["uniform", "gaussian"])
def test_a_weight_is_a_repetition(name, scale):
    weighted = made(name).fit(ROWS[2], scale * WEIGHTS)
    repeated = made(name).fit(np.repeat(ROWS[2], WEIGHTS, axis=0))
    for key, value in repeated.state().items():
        assert_close(weighted.state()[key], value, relative=1e-12)


@NAMES
def test_a_row_of_no_weight_is_not_there(name):
    """Not even where it lies far out."""
    rows = np.vstack([ROWS[2], [[1e7, -1e7]]])
    without = made(name).fit(ROWS[2]).state()
    for key, value in made(name).fit(rows, np.append(np.ones(400), 0.0)).state().items():
        assert_close(value, without[key], relative=1e-9)


def test_a_mixture_follows_the_weights():
    """By resampling: the weighted mean, within five standard errors of a resample."""
    weight = np.where(ROWS[2][:, 0] > 3.0, 3.0, 1.0)
    base = GaussianMixture(components=1).fit(ROWS[2], weight)
    expected = np.average(ROWS[2], axis=0, weights=weight)
    np.testing.assert_allclose(base.means_[0], expected, atol=5.0 * ROWS[2].std() / 20.0)
    assert np.abs(base.means_[0].numpy() - ROWS[2].mean(axis=0))[0] > 0.2


def test_only_the_box_ends():
    far = np.array([[1e6, 1e6], [-1e6, 3.0]])
    for name in BASES:
        log_prob = made(name).fit(ROWS[2]).log_prob(far)
        assert bool(torch.isneginf(log_prob).all() if name == "uniform" else torch.isfinite(log_prob).all())


def test_the_box_has_margins_and_closed_ends():
    base = Uniform(margin=0.1).fit([[0.0], [1.0]])
    assert (base.low_.item(), base.high_.item()) == pytest.approx((-0.1, 1.1))
    given = Uniform([0.0, 0.0], [2.0, 1.0])
    corners = [[0.0, 0.0], [2.0, 1.0], [2.0, 1.0 + 1e-9]]
    assert given.log_prob(corners).tolist() == pytest.approx([-log(2.0), -log(2.0), -np.inf])
    half = Uniform(low=[0.0]).fit([[0.5], [1.0]])
    assert (half.low_.item(), half.high_.item()) == pytest.approx((0.0, 1.025))


@pytest.mark.parametrize("name", [name for name in BASES if name != "kernel_density"])
def test_constant_columns_are_named(name):
    rows = np.column_stack([ROWS[2], np.full(400, 0.1), ROWS[2][:, 0], np.zeros(400)])
    with pytest.raises(ValueError, match=r"columns \[2, 4\] are constant"):
        made(name).fit(rows)


@NAMES
def test_a_column_that_only_unweighted_rows_vary_is_constant(name):
    rows, weight = np.zeros((30, 1)), np.ones(30)
    rows[0], weight[0] = 5.0, 0.0
    with pytest.raises(ValueError, match=r"columns \[0\] are constant"):
        made(name).fit(rows, weight)


@NAMES
def test_the_state_rebuilds_the_base(name):
    base = made(name).fit(ROWS[2])
    again = BASES[name](**base.parameters()).load_state(base.state())
    assert again.features == 2
    assert torch.equal(again.log_prob(ROWS[2]), base.log_prob(ROWS[2]))
    assert torch.equal(again.sample(9, generator=generator()), base.sample(9, generator=generator()))


@NAMES
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_base_answers_in_the_precision_it_is_asked_in(name, dtype):
    base = made(name).fit(ROWS[2])
    x = torch.from_numpy(ROWS[2])
    log_prob = base.log_prob(x.to(dtype))
    assert log_prob.dtype == dtype
    assert_close(log_prob, base.log_prob(x), relative=1e-9 if dtype == torch.float64 else 1e-4)
    assert base.sample(3, dtype=dtype).dtype == dtype
    assert base.sample(3).dtype == torch.get_default_dtype()
    assert all(value.dtype == torch.float64 for value in base.state().values())


@NAMES
def test_a_single_precision_sample_is_not_outside_its_base(name):
    base = made(name).fit(1e3 + ROWS[1])
    assert bool(torch.isfinite(base.log_prob(base.sample(20_000, generator=generator(), dtype=torch.float32))).all())


@NAMES
def test_a_seed_repeats_the_sample(name):
    base = made(name).fit(ROWS[2])
    first, again, other = (base.sample(5, generator=generator(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@NAMES
def test_fit_is_asked_for_and_columns_are_counted(name):
    base = made(name)
    for ask in (lambda: base.sample(1), lambda: base.log_prob([[0.0]]), base.state):
        with pytest.raises(ValueError, match=r"not fitted: call fit\(X\) first"):
            ask()
    assert not base.is_fitted
    base.fit(ROWS[2])
    with pytest.raises(ValueError, match=r"has 2 columns, got rows of shape \(400, 1\)"):
        base.log_prob(ROWS[1])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Gaussian(shrinkage=1.5), "between 0 and 1"),
        (lambda: Gaussian(shrinkage=float("nan")), "between 0 and 1"),
        (lambda: GaussianMixture(components=0), "at least 1"),
        (lambda: Uniform(margin=-0.1), "not be negative"),
        (lambda: Uniform([0.0], [0.0]), "low < high"),
        (lambda: Uniform([0.0], [1.0, 2.0]), "low < high"),
        (lambda: as_base("normal"), "uniform, gaussian, marginals, copula"),
    ],
)
def test_parameters_that_make_no_density_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_what_is_no_density_is_no_base():
    with pytest.raises(TypeError, match="needs sample and log_prob, and int has not"):
        as_base(3)


def test_as_base_passes_densities():
    density = torch.distributions.Normal(torch.zeros(2), 1.0)
    assert as_base(density) is density


# --- choosing -------------------------------------------------------------------------------------------------------


def chosen(draw, n=1000):
    rows = torch.from_numpy(draw(n))
    return choose(rows[: n // 2], None, rows[n // 2 :])


def test_the_better_base_is_chosen():
    assert chosen(lambda n: RANDOM.normal(size=(n, 2)))[0].name == "gaussian"
    corners = np.array([[0.0, 0.0], [9.0, 2.0], [2.0, 9.0]])
    three = chosen(lambda n: RANDOM.normal(size=(n, 2)) + corners[RANDOM.integers(0, 3, size=n)])
    assert three[0].name == "gaussian_mixture"
    gaussian = next(s for s in three if s.name == "gaussian")
    assert three[0].score > gaussian.score + 5.0 * three[0].se
    assert chosen(lambda n: RANDOM.uniform(-1.0, 1.0, size=(n, 2)) @ np.array([[2.0, 1.0], [-1.0, 1.0]]))[0].name == (
        "independent"
    )


def test_all_candidates_are_scored_on_held_out_rows():
    rows = torch.from_numpy(RANDOM.normal(size=(400, 1)))
    scored = choose(rows[:200], None, rows[200:])
    assert sorted(s.name for s in scored) == sorted(candidates(200, 1, 30.0))
    for s in scored:
        log_prob = s.base.log_prob(rows[200:])
        if bool(torch.isneginf(log_prob).any()):
            assert (s.score, s.se) == (-np.inf, np.inf)
            continue
        assert s.score == pytest.approx(log_prob.mean().item())
        assert s.se == pytest.approx(log_prob.std().item() / 200**0.5)


def test_a_base_that_excludes_a_held_out_row_loses():
    rows = torch.from_numpy(RANDOM.uniform(size=(400, 1)))
    scored = choose(rows, None, torch.cat([rows[:50], torch.tensor([[2.0]], dtype=torch.float64)]))
    assert scored[0].name != "uniform"
    assert next(s for s in scored if s.name == "uniform").score == -np.inf


# --- other units ----------------------------------------------------------------------------------------------------


def test_a_density_in_other_units_is_the_same_density():
    base = Gaussian().fit(ROWS[2])
    shift, scale = torch.tensor([[5.0, -3.0], [10.0, 0.01]], dtype=torch.float64)
    moved = Rescaled(base, shift, scale)
    x = torch.from_numpy(ROWS[2])
    assert_close(moved.log_prob(shift + scale * x), base.log_prob(x) - log(10.0) - log(0.01), relative=1e-9)
    assert moved.log_jacobian == pytest.approx(log(0.1))
    drawn = moved.sample(7, generator=generator(), dtype=torch.float64)
    assert_close(drawn, shift + scale * base.sample(7, generator=generator(), dtype=torch.float64))


def test_a_torch_distribution_is_handed_back_in_the_users_units():
    there = torch.distributions.Normal(torch.tensor([100.0, 0.0]), torch.tensor([5.0, 1e-3]))
    shift, scale = torch.tensor([90.0, 0.1]), torch.tensor([8.0, 0.5])
    standard = Rescaled(there, -shift / scale, 1.0 / scale)  # as Density stores it
    back = Rescaled(standard, shift, scale)
    x = torch.tensor([[101.0, 0.001], [70.0, -0.002]], dtype=torch.float64)
    expected = stats.norm.logpdf(x.numpy(), [100.0, 0.0], [5.0, 1e-3]).sum(axis=1)
    np.testing.assert_allclose(back.log_prob(x), expected, rtol=1e-5)
    sample = back.sample(40_000, generator=generator(), dtype=torch.float64).numpy()
    assert np.abs(sample.mean(axis=0) - [100.0, 0.0]).max() < 5.0 * 5.0 / 200.0
    np.testing.assert_allclose(sample.std(axis=0), [5.0, 1e-3], rtol=5.0 / np.sqrt(2.0 * 40_000))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_other_units_keep_the_precision(dtype):
    moved = Rescaled(torch.distributions.Normal(torch.zeros(2), 1.0), torch.zeros(2), torch.ones(2))
    log_prob = moved.log_prob(torch.zeros(3, 2, dtype=dtype))
    assert log_prob.dtype == dtype
    assert_close(log_prob, torch.full((3,), -log(2.0 * pi), dtype=dtype), relative=1e-6)
    assert moved.sample(2, dtype=dtype).dtype == dtype


def test_units_must_fit_the_columns():
    with pytest.raises(ValueError, match="the base has 2 columns and the rows 3"):
        Rescaled(torch.distributions.Normal(torch.zeros(2), 1.0), torch.zeros(3), torch.ones(3))


def test_a_density_without_log_prob_says_so():
    class Sampler:
        def sample(self, n):
            return torch.rand(n, 1)

    with pytest.raises(TypeError, match="Sampler has no log_prob"):
        Rescaled(Sampler(), torch.zeros(1), torch.ones(1)).log_prob([[0.0]])


def test_rescaled_is_a_source_of_rows():
    source = Known(Rescaled(Gaussian().fit(ROWS[2]), torch.zeros(2), torch.ones(2)))
    out = torch.empty(5, 2)
    source.draw(out, generator())
    assert source.log_prob(out).shape == (5,)
