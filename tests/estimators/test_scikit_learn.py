"""The scikit-learn face: its own checks of an estimator, and life in its tools."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from equipoise import Classifier, Density, Outliers, catalog

X = np.random.default_rng(1).normal(size=(120, 2))


@pytest.mark.parametrize("estimator", [Density, Classifier, Outliers])
def test_scikit_learns_own_checks(estimator):
    results = check_estimator(estimator(random_state=0), on_fail=None, on_skip=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed
    assert len(results) > 40


def test_clone_copies_parameters_and_nothing_fitted():
    model = Density(instance=catalog.pso_lde(0.5), base="gaussian", budget=5, random_state=3).fit(X)
    again = clone(model)
    assert not hasattr(again, "base_")
    ours, theirs = model.get_params(), again.get_params()
    assert ours["instance"].label == theirs["instance"].label
    assert {**ours, "instance": None} == {**theirs, "instance": None}
    np.testing.assert_array_equal(again.fit(X).score_samples(X), model.score_samples(X))


def test_parameters_are_kept_as_given_and_judged_by_fit():
    model = Density(budget="soon", validation_fraction=7)
    assert model.get_params()["budget"] == "soon"
    model.set_params(budget=0, validation_fraction=0.2)
    assert model.fit(X) is model
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(steps=3)


def test_it_is_cross_validated_by_its_score():
    scores = cross_val_score(Density(base="gaussian", budget=0, random_state=0), X, cv=3)
    assert scores.shape == (3,)
    entropy = 1.0 + np.log(2.0 * np.pi)
    assert scores.mean() == pytest.approx(-entropy, abs=0.3)


def test_it_is_searched_over():
    narrow = np.vstack([X - 6.0, X + 6.0])
    search = GridSearchCV(Density(budget=0, random_state=0), {"base": ["gaussian", "gaussian_mixture"]}, cv=3).fit(
        narrow
    )
    assert search.best_params_ == {"base": "gaussian_mixture"}
