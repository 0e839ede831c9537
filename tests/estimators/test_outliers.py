"""Outliers: rows that do not belong are found, counted as asked for, and do not vouch for themselves."""

from functools import cache
from math import isnan

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KernelDensity
from tests.io.test_model_file import forge, put, refused, tensor

import equipoise as eq
from equipoise import Density, DensityRatio, Outliers, load, save
from equipoise.estimators.outliers_fit import by_density
from equipoise.io.table import Table

RANDOM = np.random.default_rng(2)


def planted(n=570, m=30, seed=0):
    """A ring with rows strewn over the square around it, and which these are."""
    random = np.random.default_rng(seed)
    angle = random.uniform(0.0, 2.0 * np.pi, n)
    ring = 3.0 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.2 * random.normal(size=(n, 2))
    rows, strange = np.vstack([ring, random.uniform(-5.0, 5.0, (m, 2))]), np.arange(n + m) >= n
    order = random.permutation(n + m)
    return rows[order], strange[order]


X, STRANGE = planted()
FRESH, FRESH_STRANGE = planted(seed=1)
QUICK = Density(base="gaussian", budget=0, random_state=0)


@cache
def ring():
    return Outliers(random_state=0).fit(X)


@cache
def referred():
    """A clump of rows that no density finds strange, and a reference without it."""
    table = np.vstack([RANDOM.normal(size=(400, 2)), 2.5 + 0.1 * RANDOM.normal(size=(40, 2))])
    reference = RANDOM.normal(size=(500, 2))
    return Outliers(contamination=0.1, ratio=DensityRatio(budget=60, random_state=0)).fit(table, reference=reference)


# --- what it finds ----------------------------------------------------------------------------------------------------


def test_planted_rows_are_found():
    """A share of them lies on the ring itself, and nobody can tell."""
    near = np.abs(np.hypot(*X.T) - 3.0) < 0.7
    assert roc_auc_score(STRANGE[~near | ~STRANGE], -ring().score_samples(X)[~near | ~STRANGE]) > 0.99
    assert roc_auc_score(FRESH_STRANGE, -ring().score_samples(FRESH)) > 0.88


def test_scores_are_the_densitys():
    model = ring()
    np.testing.assert_array_equal(model.score_samples(X), model.density_.score_samples(X))
    assert isinstance(model.density_, Density)
    assert model.ratio_ is None


@pytest.mark.parametrize("contamination", [0.01, 0.05, 0.3, 0.5])
def test_as_many_rows_are_called_outliers_as_were_asked_for(contamination):
    model = Outliers(contamination=contamination, density=QUICK).fit(X)
    assert (model.predict(X) == -1).sum() == round(600 * contamination)
    assert set(model.predict(FRESH)) == {-1, 1}


def test_the_decision_is_the_score_less_the_offset():
    model = ring()
    decision = model.decision_function(FRESH)
    np.testing.assert_array_equal(decision, model.score_samples(FRESH) - model.offset_)
    np.testing.assert_array_equal(model.predict(FRESH), np.where(decision < 0.0, -1, 1))
    np.testing.assert_array_equal(model.predict(X), Outliers(random_state=0).fit_predict(X))


# --- honesty ----------------------------------------------------------------------------------------------------------


class Memory(KernelDensity):
    """A density so narrow that it knows its own rows and nothing else."""

    def __init__(self):
        super().__init__(bandwidth=0.02)


def test_no_outlier_vouches_for_itself():
    """What each half finds strangest in the other is kept from the final density."""
    judge = by_density(Table(X), Memory(), 0.05, seed=0)
    assert len(judge.model.tree_.data) == 570
    kept = {tuple(row) for row in np.asarray(judge.model.tree_.data)}
    away = np.array([tuple(row) not in kept for row in X])
    assert away.sum() == 30
    assert STRANGE[away].mean() > 0.5


def test_the_share_of_unseen_rows_is_told():
    """A density that memorises calls far more of them outliers than it was asked to, and says so."""
    judge = by_density(Table(X), Memory(), 0.05, seed=0)
    assert judge.unseen_share > 0.3
    assert "fell below the offset, not 5.0%" in judge.warnings[-1]
    assert 0.01 < ring().unseen_share_ < 0.1
    fresh = (ring().predict(FRESH) == -1).mean()
    assert abs(ring().unseen_share_ - fresh) < 4.0 * np.sqrt(0.05 * 0.95 * (1 / 600 + 1 / 600))


def test_few_rows_are_judged_as_they_are():
    model = Outliers(contamination=0.1, random_state=0).fit(X[:40])
    assert isnan(model.unseen_share_)
    assert "judged by a density that has seen it" in model.warnings_[-1]
    assert (model.predict(X[:40]) == -1).sum() == 4


def test_what_the_density_found_is_passed_on():
    whole = np.round(X)
    model = Outliers(density=QUICK).fit(whole)
    assert model.warnings_[0] == model.density_.warnings_[0]
    assert "lattice" in model.warnings_[0]


def test_a_column_that_hardly_varies_is_kept_whole():
    """All of its other values stand in one half, or among the rows kept away."""
    rare = np.zeros(len(X))
    rare[:1] = 1.0
    rows = np.column_stack([X, rare])
    assert isnan(Outliers(density=QUICK).fit(rows).unseen_share_)
    rare = np.where(np.arange(len(X)) % 100 == 0, 30.0, 0.001 * RANDOM.normal(size=len(X)))
    model = Outliers(contamination=0.1, density=QUICK, random_state=0).fit(np.column_stack([X, rare]))
    assert (model.predict(np.column_stack([X, rare])) == -1).sum() == 60


def test_impossible_rows_are_outliers():
    """A box leaves some rows out: their score is −∞, and the decision no NaN."""
    model = Outliers(contamination=0.02, density=Density(base="uniform", budget=0, random_state=0)).fit(X)
    decision = model.decision_function(np.vstack([X, [[1e3, 1e3]]]))
    assert np.isfinite(model.offset_)
    assert np.isneginf(decision[-1])
    assert not np.isnan(decision).any()


# --- a reference ------------------------------------------------------------------------------------------------------


def test_a_clump_is_strange_to_a_reference_alone():
    clump, ordinary = 2.5 + 0.1 * RANDOM.normal(size=(100, 2)), RANDOM.normal(size=(100, 2))
    both, labels = np.vstack([clump, ordinary]), np.repeat([True, False], 100)
    model = referred()
    assert roc_auc_score(labels, -model.score_samples(both)) > 0.95
    assert (model.predict(clump) == -1).mean() > 0.7
    assert model.density_ is None
    np.testing.assert_array_equal(model.score_samples(both), model.ratio_.log_ratio(both))


def test_by_a_reference_new_rows_are_called_outliers_as_often_as_the_tables_own():
    random = np.random.default_rng(8)
    fresh = np.vstack([random.normal(size=(2000, 2)), 2.5 + 0.1 * random.normal(size=(200, 2))])
    share = (referred().predict(fresh) == -1).mean()
    assert abs(share - 0.1) < 4.0 * np.sqrt(0.1 * 0.9 * (1 / 2200 + 1 / 440))
    assert isnan(referred().unseen_share_)


def test_a_reference_has_the_same_columns_in_any_order():
    names = ["east", "north"]
    table, reference = pd.DataFrame(X, columns=names), pl.DataFrame(FRESH[:, ::-1], schema=names[::-1])
    ratio = DensityRatio(budget=0, random_state=0)
    model = Outliers(ratio=ratio).fit(table, reference=reference)
    plain = Outliers(ratio=ratio).fit(X, reference=FRESH)
    np.testing.assert_allclose(model.score_samples(X), plain.score_samples(X), atol=1e-9)
    np.testing.assert_array_equal(model.score_samples(table[names[::-1]]), model.score_samples(X))
    with pytest.raises(ValueError, match="has no column 'north'"):
        Outliers(ratio=ratio).fit(table, reference=reference.rename({"north": "up"}))


def test_a_reference_goes_by_name():
    for reference in (
        FRESH,
        FRESH.tolist(),
        pd.DataFrame(FRESH),
        pl.DataFrame(FRESH),
        {"a": FRESH[:, 0]},
        Table(FRESH),
    ):
        with pytest.raises(TypeError, match=r"pass it as reference=\.\.\."):
            Outliers().fit(X, reference)
    Outliers(density=QUICK).fit(X, STRANGE)  # labels are ignored


# --- settings, seeds, tables ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("contamination", [0.0, -0.1, 0.6, "auto", None, True, np.nan])
def test_what_is_no_share_is_refused(contamination):
    with pytest.raises(ValueError, match="contamination must be the share of rows to call outliers"):
        Outliers(contamination=contamination).fit(X)


def test_a_density_of_ones_own_is_copied():
    mine = Density(base="gaussian", budget=0, random_state=3)
    model = Outliers(density=mine).fit(X)
    assert model.density_.get_params() == mine.get_params()
    assert not hasattr(mine, "stack_")
    with pytest.raises(TypeError, match=r"ratio must be an eq\.DensityRatio or None"):
        Outliers(ratio=mine).fit(X, reference=FRESH)


def test_a_density_of_scikit_learn_judges():
    model = Outliers(density=KernelDensity(bandwidth=0.3)).fit(pd.DataFrame(X, columns=["east", "north"]))
    assert roc_auc_score(STRANGE, -model.score_samples(X)) > 0.85
    np.testing.assert_array_equal(model.score_samples(X), model.density_.score_samples(X))


def test_a_random_state_repeats_the_fit():
    first, again, other = (Outliers(random_state=seed).fit(X).score_samples(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    "frame",
    [
        lambda X, names: pd.DataFrame(X, columns=names),
        lambda X, names: pl.DataFrame(X, schema=names),
        lambda X, _: torch.from_numpy(X),
        lambda X, _: X.tolist(),
    ],
    ids=["pandas", "polars", "torch", "list"],
)
def test_every_kind_of_table_gives_the_same(frame):
    table = frame(X, ["east", "north"])
    model, plain = (Outliers(density=QUICK, random_state=0).fit(rows) for rows in (table, X))
    np.testing.assert_array_equal(model.score_samples(table), plain.score_samples(X))
    assert hasattr(model, "feature_names_in_") == hasattr(table, "columns")


def test_columns_are_found_by_name():
    table = pd.DataFrame(X, columns=["east", "north"])
    model = Outliers(density=QUICK).fit(table)
    np.testing.assert_array_equal(model.score_samples(table[["north", "east"]]), model.score_samples(X))
    with pytest.raises(ValueError, match="no column 'north'"):
        model.predict(table.rename(columns={"north": "up"}))
    with pytest.raises(ValueError, match="X has 3 features, but Outliers is expecting 2"):
        model.predict(np.ones((4, 3)))
    assert not hasattr(model.fit(X), "feature_names_in_")


def test_missing_values_are_counted_or_dropped():
    broken = X.copy()
    broken[:3, 1] = np.nan
    with pytest.raises(ValueError, match="missing values or NaN in 3 of 600 rows"):
        Outliers().fit(broken)
    model = Outliers(density=QUICK, missing="drop").fit(broken)
    assert model.n_samples_ == 597
    with pytest.raises(ValueError, match="missing values or NaN in 3"):
        model.predict(broken)


@pytest.mark.parametrize("ask", ["predict", "score_samples", "decision_function"])
def test_fit_comes_first(ask):
    with pytest.raises(NotFittedError):
        getattr(Outliers(), ask)(X)
    with pytest.raises(NotFittedError):
        Outliers().to_document()


# --- files ------------------------------------------------------------------------------------------------------------

MODELS = {
    "density": ring,
    "reference": referred,
    "few rows": lambda: Outliers(contamination=0.2, random_state=0).fit(X[:30]),
    "names": lambda: Outliers(density=QUICK).fit(pd.DataFrame(X, columns=["east", "north"])),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_bit_for_bit(tmp_path, name):
    model = MODELS[name]()
    save(model, tmp_path / "model.eqp")
    again = load(tmp_path / "model.eqp")
    assert type(again) is Outliers
    for ask in ("predict", "score_samples", "decision_function"):
        np.testing.assert_array_equal(getattr(again, ask)(FRESH), getattr(model, ask)(FRESH))
    for kept in ("offset_", "contamination", "warnings_", "n_samples_", "n_features_in_"):
        assert getattr(again, kept) == getattr(model, kept)
    assert again.unseen_share_ == pytest.approx(model.unseen_share_, rel=0.0, abs=0.0, nan_ok=True)
    assert hasattr(again, "feature_names_in_") == (name == "names")
    save(again, tmp_path / "again.eqp")
    assert (tmp_path / "again.eqp").read_bytes() == (tmp_path / "model.eqp").read_bytes()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("by", "eval"), "damaged"),
        (put("by", "ratio"), "damaged"),
        (put("offset", "nan"), "do not fit together"),
        (put("offset", "low"), "damaged"),
        (put("contamination", 0.9), "do not fit together"),
        (put("unseen_share", -0.5), "do not fit together"),
        (put("names", ["east"]), "1 names for 2 columns"),
        (put("names", [1, 2, 3]), "3 names for 2 columns"),
        (put("samples", None), "damaged"),
        (put("warnings", 5), "damaged"),
        (put("judge", {}), "damaged"),
        (put("judge", "features", 3), "damaged"),
        (lambda document, _: document.pop("judge") and None, "damaged"),
        (tensor("judge.scale", torch.zeros(2)), "do not fit together"),
        (tensor("judge.shift", None), "damaged"),
    ],
)
def test_a_forged_document_is_refused(tmp_path, change, words):
    path = tmp_path / "model.eqp"
    save(ring(), path)
    forge(path, change)
    assert refused(path, words)


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / "model.eqp"
    save(ring(), path)
    path.write_bytes(path.read_bytes()[:-100])
    assert refused(path, "not a model file")


def test_a_judge_of_another_make_cannot_be_saved(tmp_path):
    model = Outliers(density=KernelDensity()).fit(X)
    with pytest.raises(TypeError, match=r"outliers by a KernelDensity cannot go into a model file: use an eq\.Density"):
        save(model, tmp_path / "model.eqp")
    assert list(tmp_path.iterdir()) == []


def test_it_is_there_under_its_public_name():
    assert eq.Outliers is Outliers
