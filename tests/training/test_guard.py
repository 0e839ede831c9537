"""Divergence: what broke, where, and weights that worked; and sums that only look broken."""

import json

import numpy as np
import pytest
import torch
from torch import nn

from equipoise import Instance, Pair, push
from equipoise.batch import Batch
from equipoise.surfaces import FullyConnected
from equipoise.training import History, PushDivergedError

RANDOM = np.random.default_rng(6)
UP, DOWN = RANDOM.normal(0.5, 1.0, size=(40, 2)), RANDOM.normal(-0.5, 1.0, size=(40, 2))


def surface():
    torch.manual_seed(0)
    return FullyConnected(2, width=5, layers=1).double()


def weights_of(module):
    return [w.detach().clone() for w in module.parameters()]


def same(ours, theirs):
    return all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_a_surface_that_runs_away_is_back_at_weights_that_worked():
    """IS has unbounded magnitudes: at a wild rate exp(u) overflows, and the weights of the last record are put back."""
    module, seen = surface(), {}
    options = {
        "optimizer": "sgd",
        "learning_rate": 1.5,
        "schedule": "constant",
        "n_up": 40,
        "seed": 0,
        "record_every": 2,
    }
    hooks = [lambda step, *_: seen.update({step: weights_of(module)})]
    with pytest.raises(PushDivergedError) as error:
        push(module, "importance_sampling", Pair(UP, DOWN), steps=500, callbacks=hooks, **options)
    message = str(error.value)
    step, back = (
        int(message.split()[1].rstrip(":")),
        int(message.split("weights of step ")[1].split(".", maxsplit=1)[0]),
    )
    assert "M_down of importance_sampling is inf at height" in message or "is nan at height" in message
    assert back == max(seen) <= step
    assert back > 0
    again = surface()
    push(again, "importance_sampling", Pair(UP, DOWN), steps=back, **options)
    assert same(weights_of(module), weights_of(again))
    assert not module.training
    with torch.no_grad():
        assert bool(torch.isfinite(torch.exp(module(torch.from_numpy(UP)))).all())


class Cliff(nn.Module):
    """Finite heights whose slope is not: u = c + √(w·0) at w = 0."""

    def __init__(self):
        super().__init__()
        self.free = nn.Parameter(torch.tensor(0.5))
        self.steep = nn.Parameter(torch.tensor(0.0))

    def forward(self, x):
        return self.free + torch.sqrt(self.steep.abs()) * x[:, 0]


def test_a_gradient_that_is_not_finite_is_told_from_a_force():
    module = Cliff()
    with pytest.raises(
        PushDivergedError, match="step 0: the gradient of steep is not finite, though every force of nce"
    ):
        push(module, "nce", Pair(UP, DOWN), steps=3, n_up=5)
    assert [w.item() for w in module.parameters()] == [0.5, 0.0]


@pytest.mark.parametrize(("row", "side"), [(1, "up"), (7, "down")])
def test_rows_that_are_not_finite_are_told_from_a_force(row, side):
    class Broken:
        features = 2

        def draw(self, n_up, n_down, generator, *, like=None, log_base=False):
            x = torch.zeros(10, 2)
            x[row, 1] = float("nan")
            return Batch(x, 5)

    words = f"step 0: the pair drew 1 rows with NaN or infinity, the first on the {side} side"
    with pytest.raises(PushDivergedError, match=words):
        push(FullyConnected(2, 4, 1), "nce", Broken(), steps=2)


def test_a_sum_that_overflows_is_no_divergence():
    """The square of a gradient of 3e38 is infinite in float32, the gradient is not."""
    huge = Instance("huge", lambda u: torch.full_like(u, 3e38), lambda u: torch.full_like(u, 1e30))
    module = nn.Sequential(nn.Linear(2, 1), nn.Flatten(0))
    history = push(module, huge, Pair(UP * 1e-30, DOWN * 1e-30), steps=2, n_up=2, optimizer="sgd", learning_rate=0.0)
    assert history.gradient_norm == [float("inf")] * 2
    assert History.from_dict(json.loads(json.dumps(history.to_dict(), allow_nan=False))) == history


def test_running_statistics_go_back_too():
    class Normed(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.rest = nn.BatchNorm1d(2), surface()
            self.double()

        def forward(self, x):
            return self.rest(self.norm(x))

    calls = []

    def breaks(instance, u, batch):
        calls.append(None)
        return torch.full_like(u, float("nan") if len(calls) == 6 else 1e-3)

    module, kept = Normed(), []
    brittle = Instance("brittle", torch.ones_like, torch.ones_like, force_rule=breaks)
    hooks = [lambda *_: kept.append(module.norm.running_mean.clone())]
    with pytest.raises(PushDivergedError, match="back at its weights of step 4"):
        push(module, brittle, Pair(UP, DOWN), steps=9, n_up=9, record_every=4, callbacks=hooks)
    assert torch.equal(module.norm.running_mean, kept[1])
