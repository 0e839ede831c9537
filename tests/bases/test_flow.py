"""Flows: trained by likelihood, never at a loss for a density, and asked for where missing."""

import sys

import numpy as np
import pytest
import torch

from equipoise.bases import Flow, Gaussian, GaussianMixture

RANDOM = np.random.default_rng(4)


def banana(n):
    x = RANDOM.normal(size=(n, 2))
    x[:, 1] = 0.3 * x[:, 1] + x[:, 0] ** 2
    return x


def truth(x):
    return -0.5 * x[:, 0] ** 2 - 0.5 * ((x[:, 1] - x[:, 0] ** 2) / 0.3) ** 2 - np.log(2.0 * np.pi * 0.3)


@pytest.mark.parametrize("kind", ["maf", "nsf"])
def test_a_flow_learns_a_curve(kind):
    """KL in nats; a Gaussian's is above 1."""
    rows, fresh = banana(3000), banana(3000)
    flow = Flow(kind, transforms=3, width=32, steps=400).fit(rows)
    gap = truth(fresh) - flow.log_prob(fresh).numpy()
    assert gap.mean() < 0.25
    assert (truth(fresh) - Gaussian().fit(rows).log_prob(fresh).numpy()).mean() > 1.0


def test_samples_are_the_flows_own():
    """E_flow[q/p] = 1 for a mixture fitted to the same rows, five standard errors; and the curve is there."""
    rows = banana(2000)
    flow = Flow(transforms=3, width=32, steps=300).fit(rows)
    drawn = flow.sample(20_000, torch.Generator().manual_seed(0), torch.float64)
    probe = GaussianMixture(components=1).fit(rows[np.abs(rows).max(axis=1) < 1.0])
    weight = torch.exp(probe.log_prob(drawn) - flow.log_prob(drawn))
    assert weight.mean().item() == pytest.approx(1.0, abs=5.0 * weight.std().item() / 20_000**0.5)
    assert np.corrcoef(drawn[:, 0].square(), drawn[:, 1])[0, 1] > 0.8


def test_far_rows_keep_a_density():
    flow = Flow(transforms=2, width=16, steps=50).fit(banana(500))
    far = torch.tensor([[1e9, -1e9], [1e150, 0.0]], dtype=torch.float64)
    log_prob = flow.log_prob(far)
    assert bool(torch.isfinite(log_prob[:1]).all())
    assert not bool(torch.isnan(log_prob).any())


def test_weights_are_followed():
    rows = RANDOM.normal(size=(3000, 2))
    weight = np.where(rows[:, 0] > 0.0, 1.0, 0.05)
    flow = Flow(transforms=2, width=32, steps=300).fit(rows, weight)
    log_prob = flow.log_prob([[1.0, 0.0], [-1.0, 0.0]])
    assert log_prob[0] - log_prob[1] > 1.0  # log 20 = 3.0, of a jump


def test_the_same_seed_gives_the_same_flow():
    rows = banana(300)
    one, two = (Flow(transforms=2, width=16, steps=20).fit(rows) for _ in range(2))
    assert torch.equal(one.weights_, two.weights_)
    other = Flow(transforms=2, width=16, steps=20, seed=1).fit(rows)
    assert not torch.equal(one.weights_, other.weights_)


def test_a_missing_package_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "zuko", None)
    with pytest.raises(ImportError, match=r'pip install "equipoise\[flow\]"'):
        Flow(steps=1).fit(banana(50))


def test_a_kind_that_there_is_not():
    with pytest.raises(ValueError, match="one of maf, nsf; got 'glow'"):
        Flow("glow")
