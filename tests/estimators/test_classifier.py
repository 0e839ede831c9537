"""Classifier: labelled rows in, class probabilities out; a push is cross-entropy's gradient where the norm is 1."""

from functools import cache
from math import inf, log

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from tests.asserts import assert_close
from torch import nn
from torch.nn import functional as F

import equipoise as eq
from equipoise import Classifier, catalog
from equipoise.estimators.class_rows import ClassRows
from equipoise.estimators.classifier_fit import PLANES, SHARES, Candidate, simplest, unseen_log_prob
from equipoise.estimators.classifier_plan import ClassifierSettings, plan
from equipoise.estimators.classifier_push import Beside, beside
from equipoise.sources import Labelled
from equipoise.surfaces import Affine, FullyConnected

RANDOM = np.random.default_rng(3)
MOONS, SIDES = make_moons(900, noise=0.2, random_state=0)
FRESH, FRESH_SIDES = make_moons(2000, noise=0.2, random_state=1)
WORDS = np.array(["cat", "dog", "eel"])


def humps(n, seed=0):
    """Three normal classes whose log odds are planes, and their true probabilities."""
    random = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])
    y = random.integers(0, 3, n)
    X = centres[y] + random.normal(size=(n, 2))
    log_density = -0.5 * ((X[:, None, :] - centres) ** 2).sum(axis=2)
    truth = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    return X, y, truth / truth.sum(axis=1, keepdims=True)


X, Y, TRUTH = humps(300)


def quick(X=X, y=Y, sample_weight=None, **settings):
    """A fit whose quality does not matter."""
    return Classifier(**{"budget": 20, "random_state": 0, **settings}).fit(X, y, sample_weight=sample_weight)


@cache
def moons(norm=1.0):
    return Classifier(norm=norm, random_state=0).fit(MOONS, SIDES)


def loss(model, X, y):
    """The mean log loss of labels that are positions among the classes."""
    return -model.predict_log_proba(X)[np.arange(len(y)), y].mean()


# --- the push ---------------------------------------------------------------------------------------------------------


def gradients(surface, act):
    surface.zero_grad()
    act()
    return [parameter.grad.clone() for parameter in surface.parameters()]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 10])
def test_at_norm_one_the_push_is_the_gradient_of_cross_entropy(classes, weighted):
    """Through the engine: a batch of labelled rows, the instance's forces, one backward pass on the heights."""
    generator = torch.Generator().manual_seed(classes)
    rows = torch.randn(64, 5, generator=generator, dtype=torch.float64)
    labels = torch.arange(64) % classes
    weight = torch.rand(64, generator=generator, dtype=torch.float64) if weighted else None
    batch = Labelled(rows, labels.numpy(), weight).draw(32, 32, generator)
    surface = FullyConnected(5, 16, 2, classes).double()

    def push():
        u = surface(batch.x)
        u.backward(catalog.softmax_cross_entropy(1.0).forces(u.detach(), batch))

    def descend():
        losses = F.cross_entropy(surface(batch.x), batch.labels, reduction="none")
        share = torch.full_like(losses, 1.0 / 64) if weight is None else batch.weight / batch.weight.sum()
        (losses @ share).backward()

    for ours, theirs in zip(gradients(surface, push), gradients(surface, descend), strict=True):
        assert_close(ours, theirs, relative=1e-12, absolute=1e-12)


def test_two_surfaces_hold_the_binary_log_odds():
    """Softmax over two outputs pushes their difference as the one surface of binary cross-entropy, by half each way."""
    u = torch.randn(40, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    batch = Labelled(np.zeros((40, 1)), np.arange(40) % 2).draw(20, 20, torch.Generator().manual_seed(1))
    forces = catalog.softmax_cross_entropy(1.0).forces(u, batch)
    odds = (u[:, 1] - u[:, 0]).requires_grad_()
    F.binary_cross_entropy_with_logits(odds, batch.labels.double()).backward()
    assert_close(forces[:, 1], odds.grad, absolute=1e-15)
    assert_close(forces[:, 0], -odds.grad, absolute=1e-15)


def test_a_surface_beside_a_start_adds_to_it():
    table = ClassRows(torch.zeros(5, 2).double(), torch.tensor([0, 1, 2, 0, 1]), torch.ones(5).double(), 3)
    rows, heights = torch.randn(5, 2).double(), torch.tensor([[0.5, -1.0, 1e9]] * 5).double()
    planes = Affine.of(torch.ones(2, 3).double(), torch.zeros(3).double())
    u = Beside(planes, 3)(beside(rows, heights, table).rows)
    assert_close(u.detach(), planes(rows).detach() + heights.clamp(max=1e4))
    with pytest.raises(ValueError, match=r"one height per class, \(n, 3\); 5 rows gave u of \(5, 2\)"):
        Beside(Affine(2, 2).double(), 3)(beside(rows, heights, table).rows)


def test_networks_begin_flat():
    network = plan(500, 500, ClassifierSettings(catalog.softmax_cross_entropy(1.0))).network(4, 3)
    assert torch.equal(network(torch.randn(7, 4)), torch.zeros(7, 3))


# --- what it finds ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [1.0, 2.0, inf])
def test_every_norm_bends_where_planes_cannot(norm):
    """Moons: far below the loss of planes, and near that of 100,000 neighbours."""
    model = moons(norm)
    planes = LogisticRegression().fit(MOONS, SIDES)
    assert model.instance_.parameters == {"norm": norm}
    assert "networks over" in next(row["name"] for row in model.selection_ if row["weight"])
    assert loss(model, FRESH, FRESH_SIDES) < 0.14
    assert -planes.predict_log_proba(FRESH)[np.arange(2000), FRESH_SIDES].mean() > 0.25
    assert model.score(FRESH, FRESH_SIDES) > 0.95


def test_planes_are_kept_where_they_are_the_truth():
    model = Classifier(random_state=0).fit(X, Y)
    kept = next(row["name"] for row in model.selection_ if row["weight"])
    assert kept.startswith("planes")
    fresh, labels, truth = humps(4000, seed=9)
    excess = loss(model, fresh, labels) + np.log(truth[np.arange(4000), labels]).mean()
    assert 0.0 < excess < 0.03
    assert np.abs(model.predict_proba(fresh) - truth).mean() < 0.05


def test_noise_is_given_the_shares_of_the_classes():
    y = RANDOM.choice(3, size=400, p=[0.5, 0.3, 0.2])
    model = Classifier(random_state=0).fit(RANDOM.normal(size=(400, 4)), y)
    expected = np.tile(np.bincount(y) / 400, (5, 1))
    np.testing.assert_allclose(model.predict_proba(100.0 * np.ones((5, 4))), expected, rtol=1e-9)
    assert any("Nothing told the classes apart" in said for said in model.warnings_)


def test_what_is_kept_is_never_worse_than_its_start():
    """By more than rounding, on the rows that chose."""
    for model in (moons(), quick(budget=300), quick(X[:120], Y[:120])):
        scores = {row["name"]: row["score"] for row in model.selection_}
        kept = next(row["name"] for row in model.selection_ if row["weight"])
        assert [row["weight"] for row in model.selection_].count(1.0) == 1
        if " over " in kept:
            assert scores[kept] >= scores[kept.split(" over ")[1]]


def test_heavy_tails_are_seen_through_scores():
    rows = np.exp(2.0 * RANDOM.normal(size=(800, 3)))
    y = (np.log(rows) @ [1.0, -1.0, 0.5] + 0.5 * RANDOM.logistic(size=800) > 0.0).astype(int)
    model = Classifier(budget=0, random_state=0).fit(rows[:500], y[:500])
    assert "on scores" in next(row["name"] for row in model.selection_ if row["weight"])
    plain = LogisticRegression(max_iter=2000).fit(rows[:500], y[:500])
    theirs = np.logaddexp(0.0, (1 - 2 * y[500:]) * plain.decision_function(rows[500:])).mean()
    assert loss(model, rows[500:], y[500:]) < theirs - 0.1


# --- how it chooses ---------------------------------------------------------------------------------------------------


def candidate(kind, *log_prob):
    return Candidate(f"{kind}", kind, torch.tensor(log_prob).double(), lambda: None)


@pytest.mark.parametrize(
    ("simple", "complex_", "kept"),
    [
        ([-1.0, -1.0, -1.0, -1.0], [-0.5, -0.5, -0.5, -0.6], 1),
        ([-1.0, -1.0, -1.0, -1.0], [-3.0, 0.0, 0.0, -0.5], 0),  # better by less than its standard error
        ([-1.0, -1.0, -1.0, -1.0], [-2.0, -2.0, -2.0, -2.0], 0),
    ],
)
def test_the_simpler_is_kept_within_one_standard_error(simple, complex_, kept):
    found = [candidate(SHARES, *simple), candidate(PLANES, *complex_)]
    assert simplest(found, torch.ones(4)) is found[kept]


def test_a_mean_of_members_is_worth_their_mean_and_the_gap():
    """With all members' scores in place of the one that has not seen the row, it is an identity."""
    heights = torch.randn(4, 30, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    labels = torch.arange(30) % 3
    mean = torch.stack([unseen_log_prob(heights, torch.full((30,), m), labels) for m in range(4)]).mean(dim=0)
    together = torch.log_softmax(heights.mean(dim=0), dim=1).gather(1, labels.unsqueeze(1)).squeeze(1)
    assert_close(mean, together, relative=1e-12)
    alone = torch.log_softmax(heights, dim=2).mean(dim=0).gather(1, labels.unsqueeze(1)).squeeze(1)
    assert bool((together >= alone).all())


def test_held_out_scores_are_near_those_of_fresh_rows():
    """Of the answer itself: the estimate from below is no farther off than four standard errors."""
    kept = next(row for row in moons().selection_ if row["weight"])
    assert abs(kept["score"] + loss(moons(), FRESH, FRESH_SIDES)) < 4.0 * kept["se"] + 0.02


def test_where_certainty_would_not_help_nothing_is_pushed():
    rows = np.r_[RANDOM.normal(size=(150, 2)), 30.0 + RANDOM.normal(size=(150, 2))]
    model = Classifier(random_state=0).fit(rows, np.arange(300) // 150)
    assert len(model.history_) == 0
    assert model.score(rows, np.arange(300) // 150) == 1.0


@pytest.mark.parametrize(("n", "pushed"), [(30, False), (120, False), (300, True)])
def test_few_rows_have_no_network(n, pushed):
    model = quick(X[:n], Y[:n])
    assert (len(model.history_) > 0) == pushed
    assert (model.n_selecting_ > 0) == (n >= 50)
    assert any("too few to hold any out" in said for said in model.warnings_) == (n < 50)
    assert model.n_samples_ == n


def test_rare_classes_teach_and_are_predicted():
    """One row, two rows, and three: no fold lacks a class."""
    rows = np.r_[X, [[40.0, 40.0]], [[-40.0, 40.0]] * 2, [[40.0, -40.0]] * 3]
    y = np.r_[Y, [3], [4] * 2, [5] * 3]
    model = quick(rows, y)
    assert model.predict([[40.0, 40.0], [-40.0, 40.0], [40.0, -40.0]]).tolist() == [3, 4, 5]
    np.testing.assert_allclose(model.class_prior_, np.bincount(y) / len(y))


def test_classes_of_two_rows_each_are_planes_of_all():
    model = quick(X[:120], np.arange(120) // 2)
    assert "120 rows of 60 classes are too few to hold any out" in model.warnings_[0]
    assert model.predict_proba(X).shape == (300, 60)


def test_few_that_can_be_spared_are_in_large_parts():
    y = np.r_[Y[:60], 3 + np.arange(240) // 2]
    model = quick(y=y, validation_fraction=0.01, budget=0)
    assert model.n_selecting_ == 60


# --- labels, priors, weights ------------------------------------------------------------------------------------------


def test_words_are_predicted():
    model = quick(y=WORDS[Y])
    plain = quick()
    assert model.classes_.tolist() == WORDS.tolist()
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), WORDS[plain.predict(X)])
    assert model.score(X, WORDS[Y]) == plain.score(X, Y)


def test_two_classes_have_one_decision():
    model = moons()
    odds, proba = model.decision_function(FRESH), model.predict_proba(FRESH)
    assert odds.shape == (2000,)
    np.testing.assert_allclose(odds, np.log(proba[:, 1] / proba[:, 0]), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(model.predict(FRESH), (odds > 0.0).astype(int))


def test_more_classes_have_a_decision_each():
    model = quick()
    decision, log_proba = model.decision_function(X), model.predict_log_proba(X)
    assert decision.shape == (300, 3)
    np.testing.assert_allclose(decision.sum(axis=1), 0.0, atol=1e-9)
    np.testing.assert_allclose(decision - decision[:, :1], log_proba - log_proba[:, :1], atol=1e-9)
    np.testing.assert_allclose(np.exp(log_proba).sum(axis=1), 1.0, rtol=1e-12)


def test_known_priors_shift_the_log_posteriors():
    """Line 4704: at other priors, each probability carries the ratio of priors as a factor."""
    plain, shifted = quick(y=WORDS[Y]), quick(y=WORDS[Y], priors={"cat": 0.1, "dog": 0.1, "eel": 0.8})
    ratio = np.array([0.1, 0.1, 0.8]) / plain.class_prior_
    expected = plain.predict_proba(X) * ratio
    np.testing.assert_allclose(shifted.predict_proba(X), expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)
    same = quick(y=WORDS[Y], priors=plain.class_prior_)
    np.testing.assert_allclose(same.predict_log_proba(X), plain.predict_log_proba(X), rtol=1e-9)


def test_priors_undo_a_table_with_other_shares():
    """Taught where one class is rare, used where all are alike: better with the priors than without."""
    rows, y, _ = humps(3000, seed=4)
    rare = (y != 2) | (np.arange(3000) % 10 == 0)
    fresh, labels, _ = humps(3000, seed=5)
    told = Classifier(budget=0, random_state=0, priors=[1 / 3] * 3).fit(rows[rare], y[rare])
    untold = Classifier(budget=0, random_state=0).fit(rows[rare], y[rare])
    assert loss(told, fresh, labels) < loss(untold, fresh, labels) - 0.1


@pytest.mark.parametrize("n", [30, 300])
def test_a_row_of_no_weight_is_not_there(n):
    rows, y = np.r_[X[:n], 1e4 + X[:20]], np.r_[WORDS[Y[:n]], ["fox"] * 20]
    order = RANDOM.permutation(n + 20)
    weight = np.r_[np.ones(n), np.zeros(20)][order]
    with_them, without = quick(rows[order], y[order], weight), quick(rows[order][weight > 0], y[order][weight > 0])
    assert "fox" not in with_them.classes_
    np.testing.assert_allclose(with_them.predict_proba(X), without.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("budget", [0, 200])
def test_weights_move_probabilities(budget):
    """Rows of one class count ten times: its odds grow about tenfold."""
    plain = quick(budget=budget)
    weighted = quick(sample_weight=np.where(Y == 1, 10.0, 1.0), budget=budget)
    grown = weighted.predict_log_proba(X) - plain.predict_log_proba(X)
    assert np.median(grown[:, 1] - grown[:, 0]) == pytest.approx(log(10.0), abs=0.7)
    assert weighted.class_prior_[1] == pytest.approx(10.0 * (Y == 1).sum() / (300 + 9.0 * (Y == 1).sum()))


@pytest.mark.parametrize(
    ("weight", "words"),
    [(np.ones(3), r"expected \(300,\)"), (-np.ones(300), "non-negative"), (np.zeros(300), "not all")],
)
def test_what_is_no_weight_is_refused(weight, words):
    with pytest.raises(ValueError, match=words):
        quick(sample_weight=weight)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least two classes, got one class only: 'cat'"):
        quick(y=["cat"] * 300)
    with pytest.raises(ValueError, match="one class only: 1"):
        quick(y=Y % 2, sample_weight=(Y % 2).astype(float))


# --- units, seeds, far out --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [40, 300])
def test_units_do_not_matter(n):
    """Powers of two change no bit; a shift rounds, and single precision carries that on."""
    plain = quick(X[:n], Y[:n], budget=60)
    scaled = quick(X[:n] * [2.0**40, 2.0**-40], Y[:n], budget=60)
    np.testing.assert_array_equal(scaled.predict_proba(X * [2.0**40, 2.0**-40]), plain.predict_proba(X))
    moved = quick(X[:n] + 1024.0, Y[:n], budget=60)
    np.testing.assert_allclose(moved.predict_proba(X + 1024.0), plain.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_columns_at_the_ends_of_float64_are_seen(scale):
    np.testing.assert_allclose(quick(scale * X).predict_proba(scale * X), quick().predict_proba(X), atol=1e-3)


def test_columns_of_one_value_are_left_out():
    wide = np.column_stack([np.full(300, 7.0), X])
    model = quick(wide)
    np.testing.assert_array_equal(model.predict_proba(wide + np.array([5.0, 0.0, 0.0])), quick().predict_proba(X))
    assert model.warnings_[0] == "Left out, since they hold one value only: 0."
    assert model.n_features_in_ == 3
    with pytest.raises(ValueError, match="columns 0, 1 hold one value only: there is nothing to tell classes apart by"):
        quick(np.ones((300, 2)))


FAR = np.array([[1e6, 1e6], [-1e6, 0.0], [-1e150, 1e150], [1e308, -1e308]])


@pytest.mark.parametrize("model", [moons, quick, lambda: quick(X[:40], Y[:40])], ids=["networks", "planes", "few"])
def test_nothing_is_nan_far_from_the_data(model):
    model = model()
    assert bool(np.isfinite(model.predict_log_proba(FAR)).all())
    np.testing.assert_allclose(model.predict_proba(FAR).sum(axis=1), 1.0)


def test_a_row_scores_the_same_whatever_comes_with_it():
    whole = moons().predict_proba(FRESH)
    np.testing.assert_allclose(whole[:5], moons().predict_proba(FRESH[:5]), rtol=1e-12)


def test_a_random_state_repeats_the_fit():
    first, again, other = (quick(MOONS, SIDES, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.predict_proba(MOONS), again.predict_proba(MOONS))
    assert first.history_.gradient_norm == again.history_.gradient_norm
    assert first.selection_ == again.selection_
    assert not np.array_equal(first.predict_proba(MOONS), other.predict_proba(MOONS))


def test_the_global_generators_stay_where_they_are():
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    quick()
    assert torch.equal(torch.get_rng_state(), torch_state)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_state)  # noqa: NPY002


# --- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 30, np.int64(30), "0.1s"])
def test_a_budget_is_steps_or_time(budget):
    history = quick(MOONS, SIDES, budget=budget).history_
    assert history.step[0] == 0
    if not isinstance(budget, str):
        assert history.steps == budget


def test_without_a_budget_nothing_is_pushed():
    model = quick(MOONS, SIDES, budget=0)
    assert len(model.history_) == 0
    assert not any("over" in row["name"] for row in model.selection_)


class Products(nn.Module):
    """A surface of one's own."""

    def __init__(self, outputs=2):
        super().__init__()
        self.inner = nn.Linear(5, outputs)

    def forward(self, x):
        return self.inner(torch.cat([x, x**2, x[:, :1] * x[:, 1:]], dim=1))


def test_a_surface_of_ones_own_is_copied_and_pushed():
    mine = Products()
    before = [parameter.clone() for parameter in mine.parameters()]
    y = (MOONS[:, 0] ** 2 + RANDOM.normal(size=900) > 1.0).astype(int)
    model = Classifier(surface=mine, budget=300, random_state=0).fit(MOONS, y)
    kept = next(row["name"] for row in model.selection_ if row["weight"])
    assert kept.startswith("Products over")
    assert all(torch.equal(a, b) for a, b in zip(mine.parameters(), before, strict=True))
    assert loss(model, MOONS, y) < loss(quick(MOONS, y, budget=0), MOONS, y) - 0.02


def test_a_surface_needs_a_height_per_class():
    with pytest.raises(ValueError, match=r"one height per class, \(n, 3\)"):
        quick(surface=Products())
    with pytest.raises(TypeError, match="surface must be 'auto' or a torch module, got 'deep'"):
        quick(surface="deep")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"norm": 0.5}, "softmax_cross_entropy needs norm >= 1"),
        ({"validation_fraction": 0.0}, "validation_fraction must lie between 0 and 1/3"),
        ({"validation_fraction": 0.5}, "validation_fraction must lie between 0 and 1/3"),
        ({"budget": "soon"}, "budget"),
        ({"device": "abacus"}, "device"),
        ({"priors": [0.5, 0.5]}, "3 positive numbers"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        quick(**settings)


@pytest.mark.parametrize("fraction", [1e-6, 0.02, 0.25, 1 / 3])
def test_a_share_of_the_rows_judges(fraction):
    model = quick(validation_fraction=fraction)
    parts = min(round(1 / fraction), 60)
    assert model.n_selecting_ == pytest.approx(300 * min(5, parts) / parts, abs=3)


# --- tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [
        lambda X, names: pd.DataFrame(X, columns=names),
        lambda X, names: pl.DataFrame(X, schema=names),
        lambda X, _: torch.from_numpy(np.ascontiguousarray(X)),
        lambda X, _: X.tolist(),
    ],
    ids=["pandas", "polars", "torch", "list"],
)
def test_every_kind_of_table_gives_the_same(frame):
    table = frame(X, ["east", "north"])
    model = quick(table, pd.Series(WORDS[Y], dtype="category"))
    np.testing.assert_array_equal(model.predict_proba(table), quick().predict_proba(X))
    assert hasattr(model, "feature_names_in_") == hasattr(table, "columns")


def test_columns_are_found_by_name():
    table = pd.DataFrame(X, columns=["east", "north"])
    model = quick(table)
    np.testing.assert_array_equal(model.predict_proba(table[["north", "east"]]), model.predict_proba(X))
    with pytest.raises(ValueError, match="no column 'north'; there are east, up"):
        model.predict(table.rename(columns={"north": "up"}))
    with pytest.raises(ValueError, match="X has 3 features, but Classifier is expecting 2"):
        model.predict(np.ones((4, 3)))
    assert not hasattr(model.fit(X, Y), "feature_names_in_")


def test_missing_values_are_counted():
    broken = X.copy()
    broken[:3, 1] = np.nan
    with pytest.raises(ValueError, match=r"missing values or NaN in 3 of 300 rows \(by column, 1: 3\)"):
        quick(broken)
    with pytest.raises(ValueError, match="missing values or NaN in 3"):
        quick().predict(broken)


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "predict_log_proba", "decision_function"])
def test_fit_comes_first(ask):
    with pytest.raises(NotFittedError):
        getattr(Classifier(), ask)(X)
    with pytest.raises(NotFittedError):
        Classifier().to_document()


def test_it_is_there_under_its_public_name():
    assert eq.Classifier is Classifier
