"""Least-squares classifiers: the closed forms against fits made one by one, primal against dual."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge
from tests.asserts import assert_close

from equipoise.discrepancy import classifier_statistic
from equipoise.discrepancy.classifier_statistic import RIDGE, linear, monomials, quadratic
from equipoise.discrepancy.comparison import Comparison


def compared(n=40, m=30, d=2, count=10):
    draw = torch.Generator().manual_seed(0)
    x, y = (torch.randn(k, d, generator=draw, dtype=torch.float64) for k in (n, m))
    return Comparison(x, y * 1.5 + 0.3, count, 0)


def test_the_quadratic_statistic_refits_ridge_regression_under_every_labelling():
    """The gap of a fitted ridge regression's scores is proportional to T, labelling by labelling."""
    comparison = compared()
    features = monomials(comparison.pooled.scores).numpy()
    features = (features - features.mean(axis=0)) / features.std(axis=0, ddof=1)
    count = len(features)
    found = quadratic(comparison).values
    for called, value in zip(comparison.labels.called.numpy(), found, strict=True):
        fit = Ridge(alpha=RIDGE * (count - 1)).fit(features, called.astype(float))
        scores = fit.predict(features)
        gap = scores[called].mean() - scores[~called].mean()
        n, m = called.sum(), (~called).sum()
        assert float(value) == pytest.approx(gap * count / (n * m) * (count - 1), rel=1e-6)


def test_the_linear_statistic_is_hotelling_s_in_whitened_scores():
    comparison = compared()
    pooled = comparison.pooled
    whitened = pooled.whitened(pooled.scores)
    for called, value in zip(comparison.labels.called, linear(comparison).values, strict=True):
        gap = whitened[called].mean(dim=0) - whitened[~called].mean(dim=0)
        assert float(value) == pytest.approx(float(gap.square().sum()), rel=1e-9)


@pytest.mark.parametrize("statistic", [linear, quadratic])
def test_the_statistic_is_the_gap_of_its_witness(statistic):
    comparison = compared()
    found, truth = statistic(comparison), comparison.pooled.truth
    u = found.witness(comparison.pooled.scores)
    assert float(u[truth].mean() - u[~truth].mean()) == pytest.approx(float(found.values[0]), rel=1e-6)


def test_many_features_are_fitted_in_the_dual(monkeypatch):
    comparison = compared(300, 250, d=3, count=60)
    primal = quadratic(comparison)
    monkeypatch.setattr(classifier_statistic, "MOST_FEATURES", 2)
    dual = quadratic(comparison)
    assert np.corrcoef(primal.values, dual.values)[0, 1] > 0.99
    truth, u = comparison.pooled.truth, dual.witness(comparison.pooled.scores)
    assert float(u[truth].mean() - u[~truth].mean()) == pytest.approx(float(dual.values[0]), rel=1e-6)


def test_the_dual_is_the_primal_of_its_own_features(monkeypatch):
    comparison = compared(20, 15, d=2, count=5)
    monkeypatch.setattr(classifier_statistic, "MOST_FEATURES", 2)
    s = comparison.pooled.scores
    features = torch.cat([s, s.square() / 2**0.5, s[:, :1] * s[:, 1:]], dim=1)
    features = features - features.mean(dim=0)
    inside = torch.linalg.inv(features.T @ features / len(s) + RIDGE * torch.eye(5).double())
    for force, value in zip(comparison.labels.forces(len(s)), quadratic(comparison).values, strict=True):
        gap = force @ features
        assert_close(value, gap @ inside @ gap, relative=1e-9)
