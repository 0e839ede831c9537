"""Planes for classes: logistic regression to the last digits, whatever the order, the weights and the classes."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from tests.asserts import assert_close

from equipoise.estimators.class_planes import class_planes
from equipoise.surfaces import Affine


def table(n=120, d=4, classes=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randn(n, d, generator=generator, dtype=torch.float64)
    labels = (rows[:, 0] + 0.7 * torch.randn(n, generator=generator)).argsort().argsort() * classes // n
    weight = torch.rand(n, generator=generator, dtype=torch.float64) + 0.2
    return rows, labels, weight / weight.sum()


def heights(planes, rows):
    with torch.no_grad():
        u = planes(rows)
    return u - u.mean(dim=1, keepdim=True)


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("penalty", [1.0, 1e-2])
def test_it_is_logistic_regression(classes, penalty):
    """scikit-learn's, by another solver; two classes have a slope each, so that both together cost half."""
    rows, labels, share = table(classes=classes)
    planes = class_planes(rows, labels, share, classes, penalty)
    strength = 1.0 / (penalty if classes > 2 else penalty / 2.0)
    theirs = LogisticRegression(C=strength, tol=1e-12, max_iter=10_000).fit(rows, labels, sample_weight=share.numpy())
    expected = theirs.predict_log_proba(rows)
    np.testing.assert_allclose(torch.log_softmax(heights(planes, rows), dim=1), expected, atol=1e-6)


@pytest.mark.parametrize("penalty", [1.0, 1e-6])
def test_forces_and_penalty_balance_by_autograd(penalty):
    rows, labels, share = table()
    planes = class_planes(rows, labels, share, 3, penalty)
    loss = torch.nn.functional.cross_entropy(planes(rows), labels, reduction="none") @ share
    (loss + 0.5 * penalty * planes.weights.square().sum()).backward()
    assert planes.weights.grad.abs().max() < 1e-10
    assert planes.bias.grad.abs().max() < 1e-10


def test_the_order_of_rows_does_not_matter():
    rows, labels, share = table()
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(1))
    plain, turned = (class_planes(rows[at], labels[at], share[at], 3, 1e-3) for at in (torch.arange(len(rows)), order))
    assert_close(heights(turned, rows), heights(plain, rows), absolute=1e-9)


def test_a_weight_of_two_is_a_row_twice():
    rows, labels, _ = table()
    twice = torch.arange(len(rows)) % 3 == 0
    weight = torch.where(twice, 2.0, 1.0).double()
    weighted = class_planes(rows, labels, weight / weight.sum(), 3, 1e-3)
    more, again = torch.cat([rows, rows[twice]]), torch.cat([labels, labels[twice]])
    repeated = class_planes(more, again, torch.full((len(more),), 1.0 / len(more), dtype=torch.float64), 3, 1e-3)
    assert_close(heights(weighted, rows), heights(repeated, rows), absolute=1e-9)


def test_where_it_begins_does_not_matter():
    rows, labels, share = table()
    begin = Affine.of(torch.randn(4, 3, generator=torch.Generator().manual_seed(2)).double(), torch.ones(3).double())
    near, far = class_planes(rows, labels, share, 3, 1e-2, begin), class_planes(rows, labels, share, 3, 1e-2)
    assert_close(heights(near, rows), heights(far, rows), absolute=1e-8)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_classes_apart_end_at_the_penalty(scale):
    rows = scale * torch.tensor([[-2.0], [-1.0], [1.0], [2.0]], dtype=torch.float64)
    labels, share = torch.tensor([0, 0, 1, 1]), torch.full((4,), 0.25, dtype=torch.float64)
    planes = class_planes(rows, labels, share, 2, 1e-4 * scale**2)
    odds = heights(planes, rows)
    assert bool(torch.isfinite(odds).all())
    assert bool((odds.argmax(dim=1) == labels).all())
    assert_close(odds[:, 1], -odds[:, 0], relative=1e-8)
