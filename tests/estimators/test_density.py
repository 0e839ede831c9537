"""Density: a table in, a normalised log density out, whatever the table's clothes, units and weights."""

from functools import cache
from math import log

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import stats
from sklearn.exceptions import NotFittedError
from tests.asserts import label
from torch import nn

from equipoise import Density, Instance, bases, catalog, targets
from equipoise.surfaces import FullyConnected

RANDOM = np.random.default_rng(5)


def two_humps(n, random=RANDOM):
    left = random.uniform(size=n) < 0.5
    return np.where(left, random.normal(-2.0, 0.6, n), random.normal(1.5, 1.0, n))[:, None]


def true_log_density(x):
    return np.log(0.5 * stats.norm.pdf(x[:, 0], -2.0, 0.6) + 0.5 * stats.norm.pdf(x[:, 0], 1.5, 1.0))


def ring(n):
    angle = RANDOM.uniform(0.0, 2.0 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.2 * RANDOM.normal(size=(n, 2))


HUMPS, RING, FRESH = two_humps(3000), ring(2000), two_humps(4000)
PLAIN = RANDOM.normal(size=(300, 2)) @ np.array([[1.0, 0.7], [0.0, 0.6]]) + np.array([2.0, -1.0])


def quick(X=PLAIN, sample_weight=None, **settings):
    """A fit whose quality does not matter."""
    return Density(**{"budget": 30, "random_state": 0, **settings}).fit(X, sample_weight=sample_weight)


@cache
def humps(instance="auto"):
    """A surface over a Gaussian that cannot have two humps."""
    return Density(instance=instance, base="gaussian", budget=400, random_state=0).fit(HUMPS)


@cache
def circled():
    return Density(base="gaussian", budget=400, random_state=0).fit(RING)


# --- what it is a density of ------------------------------------------------------------------------------------------


def test_it_integrates_to_one_in_one_dimension():
    """Within four of the standard errors that it states."""
    model = humps()
    x = np.linspace(-14.0, 14.0, 20_001)[:, None]
    total = np.exp(model.score_samples(x)).sum() * (x[1, 0] - x[0, 0])
    assert model.surface_ is not None
    assert 0.0 < model.log_normalizer_se_ < 0.01
    assert abs(log(total)) <= 4.0 * model.log_normalizer_se_


def test_it_integrates_to_one_in_two_dimensions():
    model = circled()
    axis = np.linspace(-6.0, 6.0, 400)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    total = np.exp(model.score_samples(grid)).sum() * (axis[1] - axis[0]) ** 2
    assert model.surface_ is not None
    assert abs(log(total)) <= 4.0 * model.log_normalizer_se_


@pytest.mark.parametrize(
    "instance",
    [
        "auto",
        *("nce", "pso_max", "log_ratio", "kliep", "mle", "ulsif", "lsgan", "square", "ldar", "reversed_kl"),
        catalog.lsgan(1.0, 0.0),
        Instance("mine", up=lambda u: torch.sigmoid(-u), down=torch.sigmoid),
    ],
    ids=lambda given: given if isinstance(given, str) else label(given),
)
def test_every_instance_that_it_takes_lands_near_the_truth(instance):
    """Mean log density of fresh rows: a tenth of what the base leaves over.

    Of reversed_kl it is a third: its up forces, 1/u², are all in the gaps.
    """
    model = humps(instance)
    left = np.mean(true_log_density(FRESH) - model.score_samples(FRESH))
    over_base = np.mean(true_log_density(FRESH)) - model.base_.log_prob(FRESH).mean().item()
    assert over_base > 0.2
    slow = instance == "reversed_kl"
    assert left < (0.33 if slow else 0.1) * over_base
    assert np.abs(model.score_samples(FRESH) - true_log_density(FRESH)).mean() < (0.3 if slow else 0.1)


@pytest.mark.parametrize(("instance", "small"), [("deep_pdf", True), ("root_density", True), ("pso_lde", False)])
def test_magnitudes_that_contain_densities_are_called_small_in_many_columns(instance, small):
    rows = RANDOM.normal(size=(300, 5))
    said = [
        words for words in quick(rows, base="gaussian", instance=instance).warnings_ if "too small to learn" in words
    ]
    assert bool(said) == small
    few = quick(rows[:, :3], base="gaussian", instance=instance)
    assert not any("too small to learn" in words for words in few.warnings_)


def test_no_row_is_called_much_rarer_than_the_rows_can_tell():
    """DeepPDF's surface ends below zero here and there; the base keeps a share of 1/(n + 2)."""
    model = quick(RING[:600], base="gaussian", instance="deep_pdf", budget=200)
    assert model.surface_ is not None
    least = model.base_.log_prob(RING).numpy() - model.log_normalizer_ - log(602.0)
    assert bool((model.score_samples(RING) >= least - 1e-9).all())


def test_a_push_whose_normaliser_rests_on_a_few_rows_is_left_out(monkeypatch):
    """But where its base was asked for: then it stays, and the warning says so."""
    monkeypatch.setattr("equipoise.normalizer._LEAST_ESS", 1e12)
    model = quick(RING, budget=100)
    assert model.surface_ is None
    assert any("was left out: log Z rests on" in words for words in model.warnings_)
    assert any(" over " in row["name"] for row in model.selection_)
    asked = quick(RING, base="gaussian", budget=100)
    assert asked.surface_ is not None
    assert any("its standard error is too small" in words for words in asked.warnings_)


@pytest.mark.parametrize(
    ("instance", "words"),
    [
        ("softmax_cross_entropy", "no balance on one surface"),
        ("unit", "no balance"),
        ("ebgan", "no balance"),
        ("ndmr", "samples a mixture pair; Density samples rows against a base"),
        ("conditional_nce", "samples a conditional pair"),
        ("binary_cross_entropy", "samples a two labels pair"),
        ("nec", "the catalogue has no 'nec'; did you mean nce"),
    ],
)
def test_an_instance_from_which_no_density_follows_is_refused(instance, words):
    with pytest.raises(ValueError, match=words):
        quick(instance=instance)


def test_samples_follow_the_density():
    """The model's own distribution function makes them uniform: Kolmogorov–Smirnov at 5,000 rows."""
    model = humps()
    x = np.linspace(-14.0, 14.0, 20_001)
    mass = np.cumsum(np.exp(model.score_samples(x[:, None])))
    drawn = model.sample(5000, random_state=3)
    assert drawn.shape == (5000, 1)
    ranks = np.interp(drawn[:, 0], x, mass / mass[-1])
    assert stats.kstest(ranks, "uniform").pvalue > 0.01


def test_the_base_alone_is_sampled_where_it_is_the_answer():
    model = quick(budget=0)
    drawn = model.sample(20_000, random_state=1)
    mean, covariance = PLAIN.mean(axis=0), np.cov(PLAIN.T)
    assert np.abs(drawn.mean(axis=0) - mean).max() < 0.1
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.1)


@pytest.mark.parametrize("model", [humps, quick], ids=["surface", "base"])
def test_samples_are_seeded_and_counted(model):
    model = model()
    first, again, other = (model.sample(50, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert model.sample().shape == (1, model.n_features_in_)
    assert first.dtype == np.float64
    for n in (0, 1.5, "3"):
        with pytest.raises(ValueError, match="n must be at least 1, an integer"):
            model.sample(n)


def test_a_million_rows_are_drawn():
    """Their pool grows no further than memory allows, and torch.multinomial ends at 2^24 categories."""
    drawn = humps().sample(1_000_000, random_state=0)
    assert drawn.shape == (1_000_000, 1)
    assert np.mean(drawn > 0.0) == pytest.approx(np.mean(HUMPS > 0.0), abs=0.03)


def test_height_is_the_papers_and_differs_from_the_score_by_log_z():
    model = humps()
    height = model.height(FRESH)
    np.testing.assert_allclose(height - model.log_normalizer_, model.score_samples(FRESH), rtol=1e-12)
    standard = torch.from_numpy((FRESH - model.shift_.numpy()) / model.scale_.numpy())
    with torch.no_grad():
        u = model.surface_(standard)
    np.testing.assert_allclose(height, u + model.base_.log_prob(FRESH), rtol=1e-12)
    ratio = humps("kliep").height(FRESH)
    assert bool((ratio > 0.0).all())
    expected = humps("kliep").base_.log_prob(FRESH).numpy() + np.log(ratio) - humps("kliep").log_normalizer_
    np.testing.assert_allclose(humps("kliep").score_samples(FRESH), expected, rtol=1e-10)


def test_the_score_is_the_mean():
    model = humps()
    assert model.score(FRESH) == pytest.approx(model.score_samples(FRESH).mean(), rel=1e-12)


# --- far out ----------------------------------------------------------------------------------------------------------

FAR = np.array([[1e6, 1e6], [-1e6, 0.0], [0.0, 1e9], [-1e150, 1e150], [1e308, -1e308]])


@pytest.mark.parametrize("base", bases.BASES)
@pytest.mark.parametrize("instance", ["pso_lde", "kliep", "ldtr"])
def test_nothing_is_nan_far_from_the_data(base, instance):
    model = quick(RING, base=base, instance=instance, budget=60)
    score = model.score_samples(FAR)
    assert not np.isnan(score).any()
    assert bool((score < -30.0).all())  # of marginals with Pareto tails, −3·log 10⁶ and more
    assert bool(np.isneginf(score).all() if base == "uniform" else np.isfinite(score[:3]).all())
    assert not np.isnan(model.height(FAR)).any()


def test_a_row_scores_the_same_whatever_comes_with_it():
    model = circled()
    np.testing.assert_allclose(model.score_samples(RING)[:5], model.score_samples(RING[:5]), rtol=1e-12)


# --- what is kept -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [humps, circled, quick], ids=["humps", "ring", "plain"])
def test_what_is_kept_is_never_worse_than_the_base_on_the_rows_that_chose(model):
    """Weights are a mixture's; members carry the heaviest first, and every candidate is there to be read."""
    selection, stack = model().selection_, model().stack_
    weights = [row["weight"] for row in selection]
    assert sum(weights) == pytest.approx(1.0)
    kept = {row["name"]: row["weight"] for row in selection if row["weight"] > 0.0}
    assert kept == pytest.approx(dict(zip(stack.names, stack.weights, strict=True)))
    assert list(stack.weights) == sorted(stack.weights, reverse=True)
    best = max(row["score"] for row in selection if row["name"] in kept)
    assert best >= selection[0]["score"] - 2.0 * selection[0]["se"]
    assert (model().surface_ is None) == all(" over " not in name for name in kept)


def test_held_out_scores_are_in_the_tables_units():
    """A candidate's score is comparable with the score of any rows."""
    model = quick(1000.0 * PLAIN, budget=0)
    assert model.selection_[0]["score"] == pytest.approx(model.score(1000.0 * PLAIN), abs=0.5)


@pytest.mark.parametrize("n", [2, 3, 10, 49])
def test_few_rows_have_no_surface(n):
    model = quick(PLAIN[:n])
    assert model.surface_ is None
    assert (model.log_normalizer_, model.log_normalizer_se_) == (0.0, 0.0)
    assert len(model.history_) == 0
    np.testing.assert_allclose(model.score_samples(PLAIN), model.base_.log_prob(PLAIN), rtol=1e-12)


def test_no_budget_has_no_surface():
    assert quick(RING, base="gaussian", budget=0).surface_ is None
    assert circled().surface_ is not None


@pytest.mark.parametrize("budget", [1, 30, np.int64(30), "0.02s"])
def test_a_budget_is_steps_or_time(budget):
    history = quick(budget=budget).history_
    assert history.step[0] == 0
    if not isinstance(budget, str):
        assert history.step[-1] < budget


@pytest.mark.parametrize("budget", [-5, True, 1.5, None, "soon", "30 days"])
def test_what_is_no_budget_is_refused(budget):
    with pytest.raises(ValueError, match="budget"):
        quick(budget=budget)


# --- bases ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", bases.BASES)
def test_a_base_by_name(name):
    model = quick(RING, base=name)
    assert isinstance(model.base_.density, bases.BASES[name])
    assert model.selection_[0]["name"] == name


def test_what_rows_allow_is_tried_by_default():
    """Every base but for one flow of two, and surfaces for smooth and for sharp structure."""
    names = [row["name"] for row in quick(RING).selection_]
    tried = {name for name in names if " over " not in name}
    assert tried | {"flow", "copula_flow"} == set(bases.BASES)
    assert len(tried & {"flow", "copula_flow"}) == 1
    pushed = [name for name in names if " over " in name]
    assert len(pushed) >= 2
    assert "pso_lde(alpha=0.25), sharp over marginals" in pushed


def test_without_a_budget_nothing_is_trained():
    names = [row["name"] for row in quick(RING, budget=0).selection_]
    assert sorted(names) == sorted(set(bases.BASES) - {"flow", "copula_flow"})


def test_independent_columns_are_not_searched_for_dependence():
    model = quick(RANDOM.gamma(2.0, size=(1500, 3)))
    assert [row["name"] for row in model.selection_ if row["name"].endswith("flow")] == []


def test_a_table_of_stripes_is_learned_by_a_surface():
    """What no smooth base can have; the base's error is reduced to less than half."""
    target = targets.get("stripes")
    rows, fresh = (target.sample(n, torch.Generator().manual_seed(n), torch.float64).numpy() for n in (4000, 4001))
    model = Density(random_state=0, budget=600).fit(rows)
    alone = Density(random_state=0, budget=0).fit(rows)
    truth = target.log_prob(torch.from_numpy(fresh)).numpy()
    assert model.surface_ is not None
    assert np.mean(truth - model.score_samples(fresh)) < 0.5 * np.mean(truth - alone.score_samples(fresh))
    assert any("jitter" in words or "edge" in words for words in model.warnings_)


def test_a_fitted_base_stays_in_the_tables_units():
    base = bases.Gaussian().fit(PLAIN)
    before = {key: value.clone() for key, value in base.state().items()}
    model = quick(base=base, budget=0)
    np.testing.assert_allclose(model.score_samples(FAR[:3]), base.log_prob(FAR[:3]), rtol=1e-9)
    assert all(torch.equal(value, before[key]) for key, value in base.state().items())


def test_an_unfitted_base_is_fitted_as_a_copy():
    base = bases.GaussianMixture(components=2)
    model = quick(base=base)
    assert not base.is_fitted
    assert len(model.base_.density.shares_) == 2


def test_a_torch_distribution_is_a_base_in_the_tables_units():
    density = torch.distributions.MultivariateNormal(torch.tensor([2.0, -1.0]).double(), torch.eye(2).double())
    model = quick(base=density, budget=0)
    np.testing.assert_allclose(model.score_samples(PLAIN), density.log_prob(torch.from_numpy(PLAIN)), rtol=1e-9)
    pushed = Density(base=density, budget=300, random_state=0).fit(np.vstack([PLAIN] * 5))
    assert pushed.surface_ is not None
    assert pushed.score(PLAIN) > model.score(PLAIN) + 0.1


@pytest.mark.parametrize(
    ("base", "error", "words"),
    [
        ("normal", ValueError, "base must be 'auto', one of uniform, gaussian, marginals"),
        (3, TypeError, "a base needs sample and log_prob"),
        (torch.distributions.Normal(torch.zeros(3), 1.0), ValueError, "the base has 3 columns and the rows 2"),
        (bases.Gaussian().fit(RANDOM.normal(size=(9, 3))), ValueError, "the base has 3 columns and the rows 2"),
    ],
)
def test_what_is_no_base_is_refused(base, error, words):
    with pytest.raises(error, match=words):
        quick(base=base)


# --- surfaces ---------------------------------------------------------------------------------------------------------


class Quadratic(nn.Module):
    """A surface of one's own."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 1)

    def forward(self, x):
        return self.inner(torch.cat([x, x**2], dim=1)).squeeze(1)


def test_a_surface_of_ones_own_is_copied_and_pushed():
    mine = Quadratic()
    before = [parameter.clone() for parameter in mine.parameters()]
    density = torch.distributions.Normal(torch.zeros(2).double(), torch.full((2,), 3.0).double())
    model = Density(base=density, surface=mine, budget=300, random_state=0).fit(np.vstack([PLAIN] * 5))
    assert isinstance(model.surface_, Quadratic)
    assert model.surface_ is not mine
    assert all(torch.equal(a, b) for a, b in zip(mine.parameters(), before, strict=True))
    assert mine.inner.weight.dtype == torch.float32
    assert not any(torch.equal(a, b.double()) for a, b in zip(model.surface_.parameters(), before, strict=True))


@pytest.mark.parametrize("rows", [PLAIN, PLAIN[:20]], ids=["many", "few"])
def test_what_is_no_surface_is_refused(rows):
    with pytest.raises(TypeError, match="surface must be 'auto' or a torch module, got 'deep'"):
        quick(rows, surface="deep")


def test_a_surface_must_keep_the_range_that_its_instance_needs():
    with pytest.raises(ValueError, match=r"eq\.surfaces\.InRange"):
        quick(surface=FullyConnected(2), instance="kliep")


# --- units, weights, seeds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("powers", [(1, 0), (-3, 5), (40, -40), (-700, 700)])
def test_a_columns_unit_costs_exactly_its_logarithm(powers):
    """Multiplying a column by 2^k changes no bit of what is fitted, and log p by −k·log 2."""
    scale = 2.0 ** np.array(powers)
    plain = quick(RING, base="gaussian", budget=300)
    scaled = quick(RING * scale, base="gaussian", budget=300)
    assert plain.surface_ is not None
    expected = plain.score_samples(RING) - sum(powers) * log(2.0)
    np.testing.assert_allclose(scaled.score_samples(RING * scale), expected, rtol=0.0, atol=1e-9)


def test_other_units_and_origins_cost_their_jacobian_but_for_rounding():
    scale, shift = np.array([3.7e5, 1e-3]), np.array([-2e5, 0.1])
    plain = quick(RING, base="gaussian", budget=300)
    moved = quick(RING * scale + shift, base="gaussian", budget=300)
    assert plain.surface_ is not None
    expected = plain.score_samples(RING) - np.log(scale).sum()
    np.testing.assert_allclose(moved.score_samples(RING * scale + shift), expected, rtol=0.0, atol=1e-4)


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_columns_whose_squares_float64_cannot_hold_are_named(scale):
    with pytest.raises(ValueError, match=r"columns 1 \(up to .*\) are spread too far or too little"):
        quick(PLAIN * np.array([1.0, scale]))


def test_weights_count_in_a_columns_units_as_rows_would():
    """Twenty rows, the last of them five times."""
    rows, weight = PLAIN[:20], np.r_[np.ones(19), 5.0]
    weighted, repeated = quick(rows, weight), quick(np.vstack([rows, *[rows[-1:]] * 4]))
    np.testing.assert_allclose(weighted.score_samples(PLAIN), repeated.score_samples(PLAIN), rtol=1e-6)


def test_where_a_column_starts_does_not_matter():
    """But for rounding, which a push in single precision carries on."""
    plain, moved = quick(RING, budget=60), quick(RING + np.array([8.0, -16.0]), budget=60)
    np.testing.assert_allclose(moved.score_samples(RING + np.array([8.0, -16.0])), plain.score_samples(RING), atol=1e-3)


def test_the_order_of_columns_does_not_matter_to_a_base():
    plain, turned = quick(base="gaussian", budget=0), quick(PLAIN[:, ::-1], base="gaussian", budget=0)
    np.testing.assert_allclose(turned.score_samples(PLAIN[:, ::-1]), plain.score_samples(PLAIN), rtol=1e-9)


def test_a_row_of_no_weight_is_not_there():
    """Wherever it stands and however far out it lies."""
    rows, weight = np.vstack([PLAIN, 1e4 + PLAIN[:40]]), np.r_[np.ones(300), np.zeros(40)]
    order = RANDOM.permutation(340)
    rows, weight = rows[order], weight[order]
    with_them, without = quick(rows, weight), quick(rows[weight > 0], np.ones(300))
    np.testing.assert_allclose(with_them.score_samples(PLAIN), without.score_samples(PLAIN), rtol=1e-12)


def test_weights_move_the_density():
    """Rows of the right hump count nine times: its share becomes 0.9."""
    weight = np.where(HUMPS[:, 0] > 0.0, 9.0, 1.0)
    model = quick(HUMPS, weight, base="gaussian_mixture", budget=0)
    x = np.linspace(-14.0, 14.0, 4001)
    mass = np.exp(model.score_samples(x[:, None])) * (x[1] - x[0])
    expected = np.average(HUMPS[:, 0] > 0.0, weights=weight)
    assert mass[x > 0.0].sum() == pytest.approx(expected, abs=0.03)


def test_a_surface_learns_the_weights():
    weight = np.where(HUMPS[:, 0] > 0.0, 9.0, 1.0)
    model = Density(base=bases.Gaussian().fit(HUMPS), budget=300, random_state=0).fit(HUMPS, sample_weight=weight)
    x = np.linspace(-14.0, 14.0, 4001)
    mass = np.exp(model.height(x[:, None]))
    share = mass[x > 0.0].sum() / mass.sum()
    plain = Density(base=bases.Gaussian().fit(HUMPS), budget=300, random_state=0).fit(HUMPS)
    mass = np.exp(plain.height(x[:, None]))
    assert share > mass[x > 0.0].sum() / mass.sum() + 0.2


@pytest.mark.parametrize(
    ("weight", "words"),
    [(np.ones(3), r"expected \(300,\)"), (-np.ones(300), "non-negative"), (np.zeros(300), "not all")],
)
def test_what_is_no_weight_is_refused(weight, words):
    with pytest.raises(ValueError, match=words):
        quick(PLAIN, weight)


def test_a_random_state_repeats_the_fit():
    first, again, other = (quick(RING, base="gaussian", budget=60, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.score_samples(RING), again.score_samples(RING))
    assert first.history_ == again.history_
    assert not np.array_equal(first.score_samples(RING), other.score_samples(RING))
    state = [quick(RING, budget=60, random_state=np.random.RandomState(7)) for _ in range(2)]
    np.testing.assert_array_equal(state[0].score_samples(RING), state[1].score_samples(RING))


def test_the_global_generators_stay_where_they_are():
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    quick(RING, budget=30).sample(5, random_state=0)
    assert torch.equal(torch.get_rng_state(), torch_state)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_state)  # noqa: NPY002


# --- tables -----------------------------------------------------------------------------------------------------------


def frame(kind, X=PLAIN, names=("east", "north")):
    columns = dict(zip(names, X.T, strict=True))
    makers = {
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "arrow": pa.table,
        "torch": lambda _: torch.from_numpy(X),
        "list": lambda _: X.tolist(),
        "fortran": lambda _: np.asfortranarray(X),
    }
    return makers[kind](columns)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "torch", "list", "fortran"])
def test_every_kind_of_table_gives_the_same_density(kind):
    plain, model = quick(), quick(frame(kind))
    assert type(model.score_samples(frame(kind))) is np.ndarray
    np.testing.assert_array_equal(model.score_samples(frame(kind)), plain.score_samples(PLAIN))
    assert model.n_features_in_ == 2
    assert hasattr(model, "feature_names_in_") == (kind in {"pandas", "polars", "arrow"})


def test_columns_are_found_by_name():
    model = quick(frame("pandas"))
    assert model.feature_names_in_.tolist() == ["east", "north"]
    turned = frame("polars", PLAIN[:, ::-1], ("north", "east"))
    np.testing.assert_array_equal(model.score_samples(turned), model.score_samples(frame("pandas")))
    np.testing.assert_array_equal(model.score_samples(PLAIN), model.score_samples(frame("pandas")))
    with pytest.raises(ValueError, match="no column 'north'; there are east, up"):
        model.score_samples(frame("pandas", names=("east", "up")))
    with pytest.raises(ValueError, match="X has columns east, north, up; Density was fitted on east, north"):
        model.score_samples(frame("pandas", np.hstack([PLAIN, PLAIN[:, :1]]), ("east", "north", "up")))
    with pytest.raises(ValueError, match="X has 3 features, but Density is expecting 2"):
        model.score_samples(np.ones((4, 3)))


def test_names_are_those_of_the_last_fit():
    model = quick(frame("pandas"))
    model.fit(PLAIN)
    assert not hasattr(model, "feature_names_in_")


def test_a_read_only_memory_map_is_fitted(tmp_path):
    np.save(tmp_path / "rows.npy", PLAIN)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    np.testing.assert_array_equal(quick(mapped, mapped[:, 0] ** 2).score_samples(mapped).shape, (300,))


def test_what_no_density_can_be_fitted_to_is_said():
    for rows, words in (
        (PLAIN[:1], "at least 2 rows, got n_samples = 1"),
        (np.column_stack([PLAIN, np.full(300, 0.1)]), "columns 2 hold one value only"),
        (np.where(PLAIN > 3.0, np.nan, PLAIN), "NaN"),
        (PLAIN[:, 0], "Reshape your data"),
    ):
        with pytest.raises(ValueError, match=words):
            quick(rows)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"validation_fraction": 0.0}, "validation_fraction must lie between 0 and 1"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"device": "abacus"}, "device"),
        ({"verbose": "loud"}, "verbose must be 0 or 1"),
        ({"bounds": (1.0, 0.0)}, "bounds need low < high"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises((ValueError, TypeError), match=words):
        quick(**settings)


@pytest.mark.parametrize("ask", ["score_samples", "height", "score"])
def test_fit_comes_first(ask):
    with pytest.raises(NotFittedError):
        getattr(Density(), ask)(PLAIN)
    for other in (lambda: Density().sample(), lambda: Density().plot, lambda: Density().to_document()):
        with pytest.raises(NotFittedError):
            other()
