"""TwoSampleTest: exact, powerful where it should be, plain about what it was given, and clear about bad input."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy.stats import binom
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import equipoise as eq

RNG = np.random.default_rng(0)
NORTH = np.array([0.0, 0.8, 0.0])
LEAST = 1 / 299  # the smallest p-value by default
OLD = pd.DataFrame(RNG.normal(size=(150, 3)), columns=["east", "north", "up"])
NEW = pd.DataFrame(RNG.normal(size=(120, 3)) + NORTH, columns=["east", "north", "up"])


def fitted(X=OLD, Y=NEW, **options):
    return eq.TwoSampleTest(random_state=0, **options).fit(X, Y)


def test_a_shift_is_found_and_its_column_named():
    test = fitted()
    assert test.pvalue_ == LEAST
    assert test.rejected_
    assert test.drift_[0].name == "north"
    assert [c.name for c in test.drift_ if c.alone <= 0.05] == ["north"]
    assert [c.name for c in test.drift_ if c.given_others <= 0.05] == ["north"]
    assert (test.n_samples_, test.n_features_in_) == ((150, 120), 3)
    assert test.feature_names_in_.tolist() == ["east", "north", "up"]


@pytest.mark.parametrize("statistic", ["auto", "mmd", "energy", "classifier", "columns", "logistic", eq.catalog.unit])
def test_the_witness_is_positive_where_the_first_sample_is_denser(statistic):
    witness = fitted(statistic=statistic).witness
    fresh = np.random.default_rng(1).normal(size=(500, 3))
    assert witness(fresh).mean() > witness(fresh + NORTH).mean()
    swapped = fitted(NEW, OLD, statistic=statistic).witness
    assert swapped(fresh).mean() < swapped(fresh + NORTH).mean()


ALTERNATIVES = {
    "scale": lambda rng: rng.normal(size=(200, 5)) * [1.0, 1.0, 1.7, 1.0, 1.0],
    "correlation": lambda rng: (
        rng.normal(size=(200, 5)) @ np.linalg.cholesky(np.eye(5) + 0.5 * np.eye(5)[[1, 0, 2, 3, 4]] * [1, 1, 0, 0, 0]).T
    ),
    "mixture with the same moments": lambda rng: (
        0.95 * rng.choice([-1, 1], (200, 5)) + 0.31 * rng.normal(size=(200, 5))
    ),
    "heavy tails": lambda rng: rng.standard_t(3, (200, 5)) / np.sqrt(3.0),
    "one radius for all columns": lambda rng: rng.normal(size=(200, 5)) / np.sqrt(rng.chisquare(4, (200, 1)) / 2.0),
}


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_many_kinds_of_difference_are_found_by_default(name):
    rng = np.random.default_rng(2)
    assert fitted(rng.normal(size=(200, 5)), ALTERNATIVES[name](rng)).pvalue_ <= 0.05


def test_the_level_is_kept():
    """200 null pairs at 5 %: between the binomial's 1-in-10,000 bounds."""
    rng, found = np.random.default_rng(3), []
    for seed in range(200):
        test = eq.TwoSampleTest(permutations=39, random_state=seed)
        found.append(test.fit(rng.normal(size=(40, 3)), rng.normal(size=(40, 3))).rejected_)
    assert binom(200, 0.05).ppf(0.0001) <= sum(found) <= binom(200, 0.05).ppf(0.9999)


def test_a_seed_repeats_everything_and_units_change_nothing():
    one, two, metric = fitted(), fitted(), fitted(np.exp(OLD * [1, 2, 3]), np.exp(NEW * [1, 2, 3]))
    assert (one.pvalue_, one.statistic_) == (two.pvalue_, two.statistic_) == (metric.pvalue_, metric.statistic_)
    np.testing.assert_array_equal(one.witness(OLD), two.witness(OLD))


def test_swapping_the_samples_changes_the_sign_only():
    """Not the labellings' luck: the values under the true labels are the same, as far as the random order of sums."""
    ours, theirs = fitted(statistic="energy"), fitted(NEW, OLD, statistic="energy")
    assert ours.selection_[0]["value"] == pytest.approx(theirs.selection_[0]["value"], rel=1e-9)
    np.testing.assert_allclose(ours.witness(OLD), -theirs.witness(OLD), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize(
    "kind",
    [
        pl.from_pandas,
        lambda f: f.to_numpy(),
        lambda f: torch.from_numpy(f.to_numpy().copy()),
        lambda f: f.to_numpy().tolist(),
    ],
)
def test_tables_of_any_kind_give_the_same(kind):
    assert fitted(kind(OLD), kind(NEW)).statistic_ == fitted().statistic_


def test_another_order_of_columns_is_put_right_and_said():
    test = fitted(OLD, NEW[["up", "east", "north"]])
    assert test.statistic_ == fitted().statistic_
    assert test.warnings_ == ["Y's columns were put into the order of X's, by name."]
    np.testing.assert_array_equal(test.witness(OLD[["up", "east", "north"]]), test.witness(OLD))


def test_identical_tables_have_p_value_one_and_are_said_to_be():
    test = fitted(OLD, OLD.sample(frac=1.0, random_state=1))
    assert test.pvalue_ == 1.0
    assert not test.rejected_
    assert test.warnings_ == ["X and Y hold the same rows: there is nothing to tell apart."]
    assert all(column.alone == 1.0 for column in test.drift_)


def test_the_same_rows_on_both_sides_are_said():
    test = fitted(OLD, pd.concat([OLD[:30], NEW]))
    assert test.warnings_[0].startswith("30 of X's 150 rows stand in Y as well")


def test_constant_columns_are_left_out_and_said():
    ours = fitted(OLD.assign(k=1.0), NEW.assign(k=1.0))
    assert ours.statistic_ == fitted().statistic_
    assert ours.warnings_ == ["Left out, since they hold one value in both tables: 'k'."]
    assert ours.drift_[-1].name == "k"
    other = fitted(OLD.assign(k=1.0), NEW.assign(k=2.0))
    assert next(c for c in other.drift_ if c.name == "k").alone == LEAST
    assert other.witness(OLD.assign(k=1.0)).mean() > other.witness(OLD.assign(k=2.0)).mean()


def test_few_rows_are_tested_and_said():
    test = fitted([[0.0], [0.1]], [[5.0], [5.1]])
    assert test.pvalue_ > 0.05
    assert "can be labelled in 6 ways only" in test.warnings_[-1]
    assert fitted(np.arange(5.0)[:, None], 10.0 + np.arange(5.0)[:, None]).pvalue_ < 0.02


def test_discrete_columns_are_tested():
    rng = np.random.default_rng(0)
    X, Y, Z = (rng.binomial(1, p, (300, 2)) for p in (0.3, 0.3, 0.5))
    assert fitted(X, Y).pvalue_ > 0.05
    assert fitted(X, Z).pvalue_ == LEAST
    assert not fitted(X, Y).warnings_


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 90)), rng.normal(size=(30, 90))
    assert fitted(X, Y).pvalue_ > 0.05
    assert fitted(X, Y + 0.5).pvalue_ == LEAST
    assert fitted(X, Y).drift_[0].given_others is None
    assert "not asked" in str(fitted(X, Y).report_)


@pytest.mark.parametrize(
    ("X", "Y", "words"),
    [
        (OLD, NEW.rename(columns={"up": "down"}), "X has no column 'down'; Y has no column 'up'"),
        (OLD, NEW[:0], "Y is empty"),
        (OLD, NEW[:1], "Y has 1 row: a test needs at least 2"),
        (OLD.mask(OLD > 2.0), NEW, "X has missing values"),
        (np.ones((5, 2)), np.ones((4, 2)), "columns 0, 1 hold one value in both tables: there is nothing to compare"),
        (OLD.assign(name="a"), NEW, "not numbers in column 'name'"),
        ([[1.0, np.inf]], NEW, "X contains infinity"),
    ],
)
def test_bad_tables_are_refused_in_words(X, Y, words):
    with pytest.raises(ValueError, match=words):
        fitted(X, Y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"statistic": "mdm"}, "statistic must be 'auto', 'mmd', .*got 'mdm'"),
        ({"statistic": "softmax_cross_entropy"}, "cannot push one surface"),
        ({"level": 1.5}, "level must lie between 0 and 1"),
        ({"permutations": 10}, "at least 19 for level 0.05 to be reached at all; got 10"),
        ({"permutations": 99.5}, "whole number"),
        ({"surface": torch.nn.Linear(3, 1)}, "a surface is for an instance to push"),
    ],
)
def test_bad_options_are_refused_in_words(options, words):
    with pytest.raises(ValueError, match=words):
        fitted(**options)


def test_missing_values_are_dropped_where_asked():
    test = fitted(OLD.mask(OLD > 2.0), NEW, missing="drop")
    assert test.n_samples_[0] == int((OLD <= 2.0).all(axis=1).sum())
    assert "with missing values left out" in test.warnings_[0]


def test_a_witness_asks_for_the_columns_it_knows():
    with pytest.raises(NotFittedError):
        eq.TwoSampleTest().witness(OLD)
    with pytest.raises(ValueError, match="expecting 3 features"):
        fitted().witness(np.zeros((4, 2)))


def test_fitting_again_forgets_and_parameters_are_scikit_learn_s():
    test = clone(eq.TwoSampleTest(level=0.01, permutations=199, random_state=0))
    assert test.get_params()["level"] == 0.01
    test.fit(OLD, NEW)
    assert test.drift_[0].name == "north"
    test.fit(OLD.to_numpy(), OLD.to_numpy() + np.array([3.0, 0.0, 0.0]))
    assert not hasattr(test, "feature_names_in_")
    assert test.drift_[0].name == "0"
    assert test.permutations_ == 199


@pytest.mark.parametrize("statistic", ["auto", "mmd", "logistic"])
def test_a_fitted_test_can_be_pickled(statistic):
    test = fitted(statistic=statistic)
    again = pickle.loads(pickle.dumps(test))
    np.testing.assert_array_equal(again.witness(OLD), test.witness(OLD))
    assert str(again.report_) == str(test.report_)


def test_the_report_is_words_and_json():
    report = fitted(OLD.rename(columns={"up": "[bold]up"}), NEW.rename(columns={"up": "[bold]up"})).report_
    text = str(report)
    assert text.startswith("The two samples differ (p = 0.0033, level 0.05).")
    assert "[bold]up" in text
    assert "Alone, north differs. Given the others, north differs." in text
    facts = json.loads(json.dumps(report.facts, allow_nan=False))
    assert facts["columns"][0]["name"] == "north"
    assert facts["columns"][0]["median_y"] == pytest.approx(NEW["north"].median())
    assert [question["name"] for question in facts["questions"]] == [
        "shift",
        "shape of a column",
        "dependence",
        "anything",
    ]
    null = fitted(OLD, OLD + 0.01).report_
    assert str(null).startswith("No difference was found (p = ")


def test_the_pair_whose_dependence_changes_is_named():
    rng = np.random.default_rng(4)
    X, Y = (pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd")) for _ in range(2))
    Y["d"] = 0.7 * Y["b"] + 0.7 * Y["d"]
    test = fitted(X.assign(a=1.0), Y.assign(a=1.0))
    assert (test.pair_.names, test.pair_.positions, test.pair_.pvalue) == (("b", "d"), (1, 3), LEAST)
    assert "Of pairs, b and d differ most in how they depend on each other (p = 0.0033)." in str(test.report_)
    assert test.report_.facts["pair"] == {"names": ["b", "d"], "pvalue": LEAST}
    assert fitted(X, X + 0.01).report_.pair_said == ""
    assert fitted(X[["a"]], Y[["b"]].rename(columns={"b": "a"})).pair_ is None


def test_many_rows_go_by_centres():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(3_000, 4)), rng.normal(size=(3_000, 4))
    test = fitted(X, Y, permutations=99)
    assert test.pvalue_ > 0.05
    Y[:, 1] += 0.15 * (X[:, 0] ** 2 - 1.0)
    Y[:, 0] = X[:, 0] + 0.01 * Y[:, 2]
    test = fitted(X, Y, permutations=99)
    assert test.pvalue_ == 0.01
    assert test.witness(X).shape == (3_000,)
