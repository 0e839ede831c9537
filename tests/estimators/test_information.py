"""Mutual information: known values, its parts against double loops, intervals, files, and bad input."""

import numpy as np
import pandas as pd
import pytest
import torch

import equipoise as eq
from equipoise.estimators.information_fit import estimate, in_folds, influence
from equipoise.ratios.score import LogRatios

RHO = 0.7
TRUE = -0.5 * np.log(1.0 - RHO**2)


def normal(n=1000, seed=0, rho=RHO):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    return x, rho * x + np.sqrt(1.0 - rho**2) * rng.standard_normal(n)


@pytest.fixture(scope="module")
def fitted():
    return eq.MutualInformation(random_state=0).fit(*normal())


def test_the_value_of_a_normal_pair_is_found(fitted):
    assert abs(fitted.value_ - TRUE) < 3 * fitted.se_
    low, high = fitted.interval_
    assert low < fitted.value_ < high
    assert high - low == pytest.approx(2 * 1.959963984540054 * fitted.se_)


def test_pointwise_is_the_log_ratio(fitted):
    x, y = normal(500, seed=1)
    z = (x**2 - 2 * RHO * x * y + y**2) / (1 - RHO**2)
    truth = TRUE - 0.5 * z + 0.5 * (x**2 + y**2)
    assert np.sqrt(np.mean((fitted.pointwise(x, y) - truth) ** 2)) < 0.3


def test_independent_columns_have_none():
    x, _ = normal()
    found = eq.MutualInformation(random_state=0).fit(x, normal(seed=5)[0])
    assert abs(found.value_) < 3 * found.se_ + 0.005
    assert found.se_ > 0


def test_stretching_a_column_changes_little(fitted):
    x, y = normal()
    stretched = eq.MutualInformation(random_state=0).fit(np.sinh(2 * x), np.exp(y))
    assert abs(stretched.value_ - fitted.value_) < 2 * fitted.se_


def test_information_given_what_explains_it_is_none():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(800)
    x, y = (z + rng.standard_normal(800) for _ in range(2))
    plain, given = eq.MutualInformation(random_state=0).fit(x, y), eq.MutualInformation(random_state=0).fit(x, y, z)
    assert abs(plain.value_ + 0.5 * np.log(1 - 0.25)) < 4 * plain.se_
    assert abs(given.value_) < 4 * given.se_ + 0.01
    assert given.pointwise(x, y, z).shape == (800,)


def test_every_part_is_that_of_a_double_loop():
    """The U-statistic and its projections, written out."""
    generator = torch.Generator().manual_seed(0)
    x, y = (torch.randn(12, 1, generator=generator, dtype=torch.float64) for _ in range(2))
    pairs = in_folds(x, y, None, 3, seed=1)

    def log_ratio(rows):
        return 0.3 * rows[:, 0] * rows[:, 1]

    at = LogRatios(log_ratio(torch.cat([x, y], dim=1)), log_ratio(torch.cat([x[pairs.left], y[pairs.right]], dim=1)))
    excess = torch.full((12, 12), torch.nan, dtype=torch.float64)
    for i, j in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True):
        excess[i, j] = torch.exp(0.3 * x[i, 0] * y[j, 0]) - 1.0
    part = influence(at, pairs, corrected=True)
    twin = at.num - excess.nanmean(dim=1) - excess.nanmean(dim=0) + excess[~excess.isnan()].mean()
    torch.testing.assert_close(part, twin)
    assert part.mean().item() == pytest.approx((at.num.mean() - excess[~excess.isnan()].mean()).item())
    torch.testing.assert_close(influence(at, pairs, corrected=False), at.num)


def test_pairs_are_undone_within_folds_and_never_themselves():
    x = torch.arange(50.0, dtype=torch.float64).unsqueeze(1)
    pairs = in_folds(x, x, None, 4, seed=0)
    assert (pairs.left != pairs.right).all()
    for fold in pairs.folds:
        seen, held_out = (set(side.num.rows[:, 0].tolist()) for side in (fold.seen, fold.held_out))
        assert not seen & held_out
        assert set(fold.seen.den.rows.flatten().tolist()) == seen
        assert set(fold.held_out.den.rows.flatten().tolist()) == held_out
        assert (fold.seen.den.rows[:, 0] != fold.seen.den.rows[:, 1]).all()


def test_the_estimate_is_a_mean_with_its_error():
    part = torch.randn(100, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    value, se = estimate(part, None)
    assert value == pytest.approx(part.mean().item())
    assert se == pytest.approx(np.hypot(part.std().item() / 10.0, 0.01))


def test_a_matrix_finds_the_pair_that_belongs_together():
    x, y = normal(400)
    table = pd.DataFrame({"x": x, "noise": normal(400, seed=9)[0], "y": y})
    found = eq.MutualInformation(random_state=0, budget=60).matrix(table)
    assert found.values.shape == (3, 3)
    assert np.isnan(np.diag(found.values)).all()
    np.testing.assert_array_equal(found.values, found.values.T)
    assert found.strongest()[0][:2] == ("x", "y")
    assert abs(found.strongest()[0][2] - TRUE) < 4 * found.strongest()[0][3]


def test_a_constant_column_of_a_matrix_tells_nothing():
    x, y = normal(200)
    found = eq.MutualInformation(random_state=0, budget=0).matrix(np.column_stack([x, y, np.ones(200)]))
    assert found.values[0, 2] == 0.0
    assert any("'2'" in note for note in found.notes)


def test_it_comes_back_from_its_file(fitted, tmp_path):
    eq.save(fitted, tmp_path / "mi.eqp")
    again = eq.load(tmp_path / "mi.eqp")
    assert (again.value_, again.se_, again.interval_) == (fitted.value_, fitted.se_, fitted.interval_)
    x, y = normal(20, seed=3)
    np.testing.assert_array_equal(again.pointwise(x, y), fitted.pointwise(x, y))


@pytest.mark.parametrize(
    "damage",
    [
        lambda doc: doc.update(value=float("nan")),
        lambda doc: doc.update(widths=[1, 2]),
        lambda doc: doc.update(ratios=[]),
    ],
)
def test_a_forged_document_is_refused(fitted, damage):
    document, tensors = fitted.to_document()
    damage(document)
    with pytest.raises((ValueError, KeyError)):
        eq.MutualInformation.from_document(document, tensors)


X, Y = normal(60)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((X, Y[:-1]), "X has 60, Y has 59"),
        ((X, Y, X[:5]), "Z has 5"),
        ((X[:4], Y[:4]), "at least 6 rows"),
        ((np.ones(60), Y), "every column of X holds one value"),
        ((X, np.where(Y > 1, np.nan, Y)), "Y"),
    ],
)
def test_bad_input_is_said_in_one_sentence(given, words):
    with pytest.raises(ValueError, match=words):
        eq.MutualInformation(budget=0).fit(*given)


def test_pointwise_asks_for_what_was_fitted(fitted):
    with pytest.raises(ValueError, match=r"fitted on 2 tables \(X, Y\), got 3"):
        fitted.pointwise(X, Y, X)
    with pytest.raises(ValueError, match="columns"):
        fitted.pointwise(np.column_stack([X, X]), Y)


def test_a_column_that_is_the_other_is_a_large_number_and_said():
    found = eq.MutualInformation(random_state=0, budget=100).fit(X, X)
    assert found.value_ > 1.0
    assert np.isfinite(found.value_)
