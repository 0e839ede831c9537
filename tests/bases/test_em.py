"""EM's steps against the textbook's, row by row; and the likelihood's climb."""

import numpy as np
import pytest
import torch
from scipy import stats
from tests.asserts import assert_close

from equipoise.bases.em import Components, Quadratic, climb, start

RANDOM = np.random.default_rng(1)
ROWS = torch.from_numpy(np.concatenate([RANDOM.normal(-1.0, 0.3, (150, 3)), RANDOM.normal(0.5, 0.8, (150, 3))]))
WEIGHT = torch.from_numpy(RANDOM.gamma(2.0, size=300))


def some(k=4):
    factors = torch.from_numpy(RANDOM.normal(size=(k, 3, 3)))
    shares = torch.from_numpy(RANDOM.dirichlet(np.ones(k)))
    return Components(shares, torch.from_numpy(RANDOM.normal(size=(k, 3))), factors @ factors.mT + 0.1 * torch.eye(3))


def densities(model, rows):
    parts = zip(model.shares, model.means, model.covariances, strict=True)
    return np.stack([w.item() * stats.multivariate_normal(m.numpy(), c.numpy()).pdf(rows) for w, m, c in parts], axis=1)


def test_a_step_is_the_textbooks():
    model, rows = some(), Quadratic(ROWS, WEIGHT)
    after, score = rows.step(model)
    joint = densities(model, ROWS.numpy())
    assert score == pytest.approx(np.average(np.log(joint.sum(axis=1)), weights=WEIGHT))
    share = joint / joint.sum(axis=1, keepdims=True) * WEIGHT.numpy()[:, None]
    count = share.sum(axis=0)
    means = share.T @ ROWS.numpy() / count[:, None]
    mean = np.average(ROWS, axis=0, weights=WEIGHT)
    spread = np.diag(np.average((ROWS.numpy() - mean) ** 2, axis=0, weights=WEIGHT))
    np.testing.assert_allclose(after.shares, count / count.sum(), rtol=1e-9)
    np.testing.assert_allclose(after.means, means, rtol=1e-8, atol=1e-10)
    for k in range(4):
        centred = ROWS.numpy() - means[k]
        scatter = (share[:, k, None] * centred).T @ centred
        expected = (scatter + spread * 4 ** (-2.0 / 3.0)) / (count[k] + 1.0) + 1e-6 * spread
        np.testing.assert_allclose(after.covariances[k], expected, rtol=1e-7, atol=1e-10)
    assert rows.score(after) == pytest.approx(
        np.average(np.log(densities(after, ROWS.numpy()).sum(axis=1)), weights=WEIGHT)
    )


def test_single_precision_takes_the_same_step():
    model = some()
    double, score = Quadratic(ROWS, WEIGHT).step(model)
    single, again = Quadratic(ROWS.float(), WEIGHT).step(model)
    assert again == pytest.approx(score, abs=1e-4)
    assert_close(single.means, double.means, relative=1e-3, absolute=1e-4)
    assert_close(single.covariances, double.covariances, relative=1e-2, absolute=1e-3)


def test_the_climb_climbs():
    rows = Quadratic(ROWS, WEIGHT)
    begun = start(rows, 3, torch.Generator().manual_seed(0))
    assert rows.score(climb(rows, begun, 50)) > rows.score(begun)


def test_a_start_finds_separate_clusters():
    centres = torch.tensor([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], dtype=torch.float64)
    rows = centres.repeat_interleave(100, dim=0) + torch.from_numpy(RANDOM.normal(size=(300, 2)))
    model = start(Quadratic(rows, torch.ones(300)), 3, torch.Generator().manual_seed(0))
    assert torch.cdist(centres, model.means).amin(dim=1).max() < 0.6
    assert_close(model.shares, torch.full((3,), 1.0 / 3.0), absolute=0.01)


def test_numbers_are_counted():
    assert some(4).parameters == 4 * (1 + 3 + 6) - 1
