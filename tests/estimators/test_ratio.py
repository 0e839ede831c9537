"""DensityRatio as a user meets it: known pairs, weights, divergences, files, and bad input."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

import equipoise as eq
from equipoise.estimators.ratio_settings import as_two_sample
from equipoise.io.model_file import ModelFileError
from equipoise.surfaces import FullyConnected

SHIFT = np.array([1.0, -0.5])


def gaussians(n=1000, seed=0):
    """N(μ, I) against N(0, I): log r = x·μ − |μ|²/2."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)) + SHIFT, rng.standard_normal((n + 100, 2))


def truth(x):
    return x @ SHIFT - 0.5 * SHIFT @ SHIFT


@pytest.fixture(scope="module")
def fitted():
    return eq.DensityRatio(random_state=0).fit(*gaussians())


def test_a_known_ratio_is_found(fitted):
    num, den = gaussians(seed=1)
    for rows in (num, den):
        assert np.sqrt(np.mean((fitted.log_ratio(rows) - truth(rows)) ** 2)) < 0.3
    np.testing.assert_allclose(fitted.ratio(num), np.exp(fitted.log_ratio(num)))
    assert fitted.overlaps_
    assert not fitted.bridged_


def test_the_score_is_near_the_truths_and_above_knowing_nothing(fitted):
    num, den = gaussians(seed=1)
    best = -0.5 * (np.log1p(np.exp(-truth(num))).mean() + np.log1p(np.exp(truth(den))).mean())
    assert best - 0.02 < fitted.score(num, den) < best + 0.002
    assert fitted.score_ > -np.log(2) + 5 * fitted.score_se_


def test_the_self_checks_hold(fitted):
    for name in ("balance", "mean_ratio", "mean_inverse"):
        fact = fitted.checks_[name]
        assert abs(fact["value"] - fact["should_be"]) < 5 * fact["se"] + 0.02


@pytest.mark.parametrize(
    ("kind", "value"), [("kl", 0.625), ("reverse_kl", 0.625), ("hellinger", 1 - np.exp(-1.25 / 8))]
)
def test_divergences_are_near_their_closed_forms(fitted, kind, value):
    found = fitted.divergence(kind)
    assert abs(found.value - value) < 4 * found.se
    low, high = found.interval
    assert low < found.value < high


def test_swapping_the_sides_flips_the_sign_within_the_error(fitted):
    num, den = gaussians()
    swapped = eq.DensityRatio(random_state=0).fit(den, num)
    rows = np.concatenate(gaussians(300, seed=2))
    (here, se), (there, se_there) = fitted.log_ratio(rows, return_se=True), swapped.log_ratio(rows, return_se=True)
    assert np.mean(np.abs(here + there) <= 3 * np.hypot(se, se_there) + 0.05) > 0.9


def test_weights_turn_one_side_into_the_other(fitted):
    num, den = gaussians(4000, seed=3)
    weights = fitted.weights(den)
    assert weights.mean() == pytest.approx(1.0)
    np.testing.assert_allclose((weights[:, None] * den).mean(axis=0), num.mean(axis=0), atol=0.2)
    assert fitted.weights(den, normalize="sum").sum() == pytest.approx(1.0)
    np.testing.assert_allclose(fitted.weights(den, normalize=None), fitted.ratio(den))


def test_a_handful_of_rows_that_carry_the_weight_is_said(fitted):
    _, den = gaussians()
    with pytest.warns(UserWarning, match="rows carry the weight"):
        fitted.weights(np.concatenate([0.2 * den[:50] + [-3.0, 2.0], [[3.0, -2.0]]]))


def test_weights_are_refused_in_an_unknown_unit(fitted):
    with pytest.raises(ValueError, match="normalize must be 'mean', 'sum' or None"):
        fitted.weights(np.zeros((3, 2)), normalize="max")


def test_the_same_rows_on_both_sides_are_no_difference():
    rows, _ = gaussians(400)
    ratio = eq.DensityRatio(random_state=0).fit(rows, rows)
    found = ratio.divergence("kl")
    assert abs(found.value) <= 2 * found.se + 0.01
    assert np.abs(ratio.log_ratio(rows)).max() < 0.5
    assert any("hold the same rows" in said for said in ratio.warnings_)


def test_two_halves_of_a_table_are_no_distance_apart():
    rows, _ = gaussians(2000)
    found = eq.DensityRatio(random_state=0).fit(rows[::2], rows[1::2]).divergence("kl")
    assert abs(found.value) <= 3 * found.se + 1e-3


def test_rows_in_both_tables_are_counted():
    num, den = gaussians(300)
    ratio = eq.DensityRatio(budget=0, random_state=0).fit(num, np.concatenate([den, num[:7]]))
    assert any(said.startswith("7 of X_num's 300 rows stand in X_den") for said in ratio.warnings_)


def test_disjoint_supports_give_numbers_and_are_said():
    rng = np.random.default_rng(0)
    num, den = rng.uniform(10.0, 11.0, (400, 2)), rng.uniform(-1.0, 0.0, (400, 2))
    ratio = eq.DensityRatio(budget=100, random_state=0).fit(num, den)
    assert np.isfinite(ratio.log_ratio(np.concatenate([num, den]))).all()
    assert (ratio.log_ratio(num) > 0).all()
    assert any("hardly overlap" in said for said in ratio.warnings_)
    assert not ratio.divergence("kl").is_bound
    assert ratio.divergence("js").value == pytest.approx(np.log(2), abs=0.05)
    assert ratio.bridged_


def test_the_same_seed_gives_the_same_ratio():
    num, den = gaussians(300)
    one, two = (eq.DensityRatio(random_state=3).fit(num, den).log_ratio(num) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_a_row_scores_the_same_whatever_comes_with_it(fitted):
    num, _ = gaussians()
    alone = np.concatenate([fitted.log_ratio(num[i : i + 1]) for i in range(5)])
    np.testing.assert_allclose(fitted.log_ratio(num)[:5], alone, rtol=1e-9)


def test_a_power_of_two_in_the_units_changes_nothing():
    num, den = gaussians(300)
    scale = np.array([2.0**30, 2.0**-20])
    here, there = (
        eq.DensityRatio(random_state=0, budget=100).fit(num * s, den * s).log_ratio(num * s) for s in (1.0, scale)
    )
    np.testing.assert_array_equal(here, there)


def takes(instance):
    try:
        as_two_sample(instance)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("instance", [i for i in eq.catalog.all() if takes(i)], ids=lambda i: i.label)
def test_every_instance_that_it_takes_lands_near_the_truth(instance):
    num, den = gaussians(400)
    ratio = eq.DensityRatio(instance=instance, budget=30, random_state=0).fit(num, den)
    assert np.sqrt(np.mean((ratio.log_ratio(num) - truth(num)) ** 2)) < 0.45


def test_a_surface_of_the_users_is_pushed():
    num, den = gaussians(400)
    torch.manual_seed(0)
    ratio = eq.DensityRatio(surface=FullyConnected(2, 8, 2), budget=50, random_state=0).fit(num, den)
    assert any("logistic over" in row["name"] for row in ratio.selection_)


def test_weights_of_two_are_rows_twice_and_zeros_are_no_rows():
    num, den = gaussians(600)
    weight = (np.arange(600) % 3).astype(float)
    ratio = eq.DensityRatio(random_state=0, budget=0).fit(num, den, sample_weight_num=weight)
    heavy = np.concatenate([num[weight == 1], num[weight == 2], num[weight == 2]])
    twin = eq.DensityRatio(random_state=0, budget=0).fit(heavy, den)
    assert np.abs(ratio.log_ratio(den) - twin.log_ratio(den)).mean() < 0.15


def test_a_ratio_comes_back_bit_for_bit(fitted, tmp_path):
    num, _ = gaussians(seed=5)
    eq.save(fitted, tmp_path / "ratio.eqp")
    again = eq.load(tmp_path / "ratio.eqp")
    np.testing.assert_array_equal(again.log_ratio(num), fitted.log_ratio(num))
    assert again.divergence("kl") == fitted.divergence("kl")
    assert again.selection_ == fitted.selection_
    assert again.warnings_ == fitted.warnings_


def test_a_bridge_and_densities_come_back(tmp_path):
    rng = np.random.default_rng(0)
    num, den = rng.standard_normal((400, 2)) + 8.0, rng.standard_normal((400, 2))
    ratio = eq.DensityRatio(budget=60, random_state=0).fit(num, den)
    eq.save(ratio, tmp_path / "ratio.eqp")
    np.testing.assert_array_equal(eq.load(tmp_path / "ratio.eqp").log_ratio(num), ratio.log_ratio(num))


@pytest.mark.parametrize(
    "damage",
    [
        lambda doc: doc["folds"][0]["weights"].append(0.1),
        lambda doc: doc["folds"][0]["members"][0].update(kind="exec"),
        lambda doc: doc.update(folds=[]),
        lambda doc: doc.update(instance={"name": "unit", "parameters": {}, "more": 1}, names=["one"]),
    ],
)
def test_a_forged_document_is_refused(fitted, damage):
    document, tensors = fitted.to_document()
    damage(document)
    with pytest.raises((ValueError, KeyError, TypeError)):
        eq.DensityRatio.from_document(document, tensors)


def test_a_truncated_file_is_refused(fitted, tmp_path):
    path = tmp_path / "ratio.eqp"
    eq.save(fitted, path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ModelFileError):
        eq.load(path)


def test_columns_go_by_name():
    num, den = gaussians(300)
    left = pd.DataFrame(num, columns=["a", "b"])
    right = pl.DataFrame({"b": den[:, 1], "a": den[:, 0]})
    ratio = eq.DensityRatio(random_state=0, budget=0).fit(left, right)
    assert any("order" in said for said in ratio.warnings_)
    np.testing.assert_array_equal(ratio.log_ratio(left[["b", "a"]]), ratio.log_ratio(left))
    with pytest.raises(ValueError, match="no column 'b'"):
        ratio.log_ratio(left.rename(columns={"b": "c"}))
    with pytest.raises(ValueError, match="has no column 'b'"):
        eq.DensityRatio().fit(left, right.rename({"b": "c"}))


def test_a_column_of_one_value_is_left_out_and_said():
    num, den = gaussians(300)
    ratio = eq.DensityRatio(random_state=0, budget=0).fit(
        *(np.column_stack([side, np.ones(len(side))]) for side in (num, den))
    )
    assert any("hold one value in both tables: 2" in said for said in ratio.warnings_)
    assert np.isfinite(ratio.log_ratio(np.column_stack([num, np.full(len(num), 7.0)]))).all()


def test_a_column_of_two_values_is_no_trouble():
    num, den = gaussians(400)
    flags = [np.random.default_rng(i).random(len(side)) < p for i, (side, p) in enumerate([(num, 0.7), (den, 0.2)])]
    tables = [np.column_stack([side, flag]) for side, flag in zip((num, den), flags, strict=True)]
    ratio = eq.DensityRatio(random_state=0, budget=50).fit(*tables)
    extra = np.log(np.where(flags[0], 0.7 / 0.2, 0.3 / 0.8))
    assert np.sqrt(np.mean((ratio.log_ratio(tables[0]) - truth(num) - extra) ** 2)) < 0.5


NUM, DEN = gaussians(60)


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"X_num": NUM[:0]}, ValueError, "X_num"),
        ({"X_num": NUM[:1]}, ValueError, "X_num has 1 rows: a ratio needs at least 2"),
        ({"X_den": DEN[:, :1]}, ValueError, "same columns"),
        ({"X_num": np.where(NUM > 1, np.nan, NUM)}, ValueError, "X_num"),
        ({"X_den": np.where(DEN > 1, np.inf, DEN)}, ValueError, "X_den"),
        ({"X_den": DEN.astype(str)}, (ValueError, TypeError), "X_den"),
        ({"X_num": np.ones((5, 2)), "X_den": np.ones((5, 2))}, ValueError, "nothing to compare"),
        ({"sample_weight_num": np.ones(3)}, ValueError, "sample_weight_num: weight must hold one number per row"),
        (
            {"sample_weight_den": -np.ones(len(DEN))},
            ValueError,
            "sample_weight_den: weight must be finite, non-negative",
        ),
        ({"sample_weight_num": np.eye(60)[0]}, ValueError, "sample_weight_num leaves 1 row"),
    ],
)
def test_bad_input_is_said_in_one_sentence(given, kind, words):
    with pytest.raises(kind, match=words):
        eq.DensityRatio(budget=0).fit(**{"X_num": NUM, "X_den": DEN, **given})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"instance": "logistc"}, "logistic"),
        ({"instance": "unit"}, "no balance"),
        ({"instance": "deep_pdf"}, "known down density"),
        ({"instance": "ndmr"}, "mixture"),
        ({"budget": "soon"}, "a budget is a number of steps"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"device": "abacus"}, "device"),
    ],
)
def test_bad_settings_are_said_before_any_work(settings, words):
    with pytest.raises((ValueError, KeyError), match=words):
        eq.DensityRatio(**settings).fit(NUM, DEN)


def test_tiny_tables_are_no_trouble():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ratio = eq.DensityRatio(random_state=0).fit(NUM[:6], DEN[:5])
    assert np.isfinite(ratio.log_ratio(NUM)).all()


def test_it_asks_to_be_fitted():
    with pytest.raises(ValueError, match="not fitted"):
        eq.DensityRatio().log_ratio(NUM)
