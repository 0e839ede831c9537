"""The pairs that the level and power of the two-sample test are measured on are what they claim to be."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

ROWS = 40_000


@pytest.fixture
def level(monkeypatch):
    monkeypatch.syspath_prepend("benchmarks")
    import _two_sample_level

    return _two_sample_level


def test_pairs_that_differ_have_the_columns_they_say(level):
    for columns, draw in level.ALTERNATIVES.values():
        x, y = draw(np.random.default_rng(0), 50, columns)
        assert x.shape == y.shape == (50, columns)


@pytest.mark.parametrize("name", ["mixture with normal's moments", "heavy tails", "one radius for all columns"])
def test_moments_are_equal_where_they_should_be(level, name):
    columns, draw = level.ALTERNATIVES[name]
    _, y = draw(np.random.default_rng(0), ROWS, columns)
    np.testing.assert_allclose(y.mean(axis=0), 0.0, atol=0.03)
    np.testing.assert_allclose(np.cov(y.T), np.eye(columns), atol=0.1)


@pytest.mark.parametrize("name", ["nonlinear dependence", "a ring", "correlation of one pair"])
def test_columns_are_equal_one_by_one_where_dependence_alone_differs(level, name):
    columns, draw = level.ALTERNATIVES[name]
    x, y = draw(np.random.default_rng(0), ROWS, columns)
    assert min(ks_2samp(x[:, j], y[:, j]).pvalue for j in range(columns)) > 1e-3


def test_null_pairs_come_from_one_density(level):
    x, y = level.null(np.random.default_rng(0), ROWS, 10)
    assert min(ks_2samp(x[:, j], y[:, j]).pvalue for j in range(10)) > 1e-3
    assert (x[:, 9] == np.floor(x[:, 9])).all()


def test_peers_are_calibrated(level):
    rng = np.random.default_rng(0)
    for method in ("mmd", "energy", "logistic"):
        found = [level.p_values(method, rng.normal(size=(30, 2)), rng.normal(size=(30, 2)), k) for k in range(40)]
        assert 0.25 < np.mean(found) < 0.75
        assert level.p_values(method, rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 2.0, 0) == 1 / 299


def test_the_report_says_what_was_not_run(level, monkeypatch):
    import two_sample_level

    text = two_sample_level.report({})
    assert text.count("Not run.") == 2
    line = {"cell": {"section": "level", "columns": 2, "count": 100}, "status": "ok", "result": {"rejected": 9}}
    text = two_sample_level.report({"one": line})
    assert "| 2 | 100 | 0.090 | 0.152 |" in text
    assert "**missed**" in text
