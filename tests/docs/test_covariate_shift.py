"""The recipe for covariate shift: weights from a ratio, for any estimator of scikit-learn that takes sample_weight."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

import equipoise as eq

DOCS = Path(__file__).parents[2] / "docs"


def module(path):
    spec = importlib.util.spec_from_file_location(f"docs_{path.stem}", path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def example():
    return module(DOCS / "examples" / "covariate_shift.py")


@pytest.mark.parametrize("seed", range(2))
def test_the_example_holds_on_rows_that_nobody_looked_at(example, seed):
    """A model that cannot be right everywhere is right where the new rows are, nearly as if the ratio were known."""
    effective, found = example.errors({"ridge": Ridge(), "linear": LinearRegression()}, seed=100 + seed, budget=0)
    for plain, weighted, exactly, labelled in found.values():
        assert weighted < 0.5 * plain
        assert weighted < 1.1 * min(exactly, labelled)
    assert 250 < effective < 600


def test_the_examples_ratio_is_exact(example):
    """Old rows by their exact weights have the new rows' moments."""
    rng = np.random.default_rng(0)
    old, new = example.rows(50_000, rng, new=False), example.rows(50_000, rng, new=True)
    weight = example.selected(old)
    weight = weight / weight.sum()
    for moment in (lambda X: X, lambda X: X**2, lambda X: X[:, [0]] * X[:, 1:]):
        # Kish's number of rows bounds the error of the weighted mean, up to what weights and rows have in common
        se = moment(new).std(axis=0) * np.sqrt(1.0 / 50_000 + (weight**2).sum())
        np.testing.assert_array_less(np.abs(weight @ moment(old) - moment(new).mean(axis=0)), 5 * se)


def shifted(n, seed):
    """Shimodaira's problem: y = x³ − x, old rows about ½, new ones about 0."""
    rng = np.random.default_rng(seed)
    old, new = rng.normal(0.5, 0.5, (n, 1)), rng.normal(0.0, 0.3, (n, 1))
    return old, new, *(X[:, 0] ** 3 - X[:, 0] + 0.3 * rng.standard_normal(n) for X in (old, new))


@pytest.fixture(scope="module")
def problems():
    """Three problems, and the weights of their old rows."""
    drawn = [shifted(600, seed) for seed in range(3)]
    return [(rows, eq.DensityRatio(budget=0, random_state=0).fit(rows[1], rows[0]).weights(rows[0])) for rows in drawn]


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), LogisticRegression()])
def test_models_that_are_too_simple_gain_from_weights(problems, model):
    for (old, new, *values), weight in problems:
        y_old, y_new = ((y > 0.1) if isinstance(model, LogisticRegression) else y for y in values)
        plain, weighted = clone(model).fit(old, y_old), clone(model).fit(old, y_old, sample_weight=weight)
        assert weighted.score(new, y_new) > plain.score(new, y_new)


def test_a_model_that_can_be_right_everywhere_gains_little(problems):
    for (old, new, y_old, y_new), weight in problems:
        plain, weighted = (
            RandomForestRegressor(50, min_samples_leaf=5, random_state=0).fit(old, y_old, w).score(new, y_new)
            for w in (None, weight)
        )
        assert abs(weighted - plain) < 0.15


def test_a_shift_too_far_for_weights_is_said():
    rng = np.random.default_rng(0)
    old, new = rng.normal(0.0, 1.0, (500, 2)), rng.normal(4.0, 1.0, (500, 2))
    ratio = eq.DensityRatio(budget=0, random_state=0).fit(new, old)
    with pytest.warns(UserWarning, match=r"of 500 rows carry the weight"):
        weight = ratio.weights(old)
    assert weight.sum() ** 2 / (weight**2).sum() < 10
    assert any("hardly overlap" in sentence for sentence in ratio.warnings_)


def test_what_a_script_prints_is_kept_and_a_script_that_fails_says_so(tmp_path, monkeypatch):
    examples = module(DOCS / "_examples.py")
    script = tmp_path / "said.py"
    script.write_text("print('said')")
    monkeypatch.setattr(examples, "SCRIPTS", tmp_path)
    (target,) = examples.write(tmp_path / "made")
    assert target.read_text(encoding="utf-8") == "said\n"
    before = target.stat().st_mtime_ns
    examples.write(tmp_path / "made")
    assert target.stat().st_mtime_ns == before
    script.write_text("import warnings\nwarnings.warn('not so')")
    with pytest.raises(RuntimeError, match=r"said\.py ended with 1"):
        examples.write(tmp_path / "made")
