"""Optimizers: the update by hand, in float64; names, objects and functions."""

import numpy as np
import pytest
import torch

from equipoise import Pair, push
from equipoise.surfaces import FullyConnected
from equipoise.training.optimizer import as_optimizer

RANDOM = np.random.default_rng(3)
UP, DOWN = RANDOM.normal(0.5, 1.0, size=(40, 2)), RANDOM.normal(-0.5, 1.0, size=(40, 2))
B1, B2, EPS = 0.75, 0.999, 1e-10  # the paper's (line 5562)


def moved(name, steps, decay=0.0, **options):
    """The surface's weights after real steps, and after steps by hand on the gradients those steps had."""
    torch.manual_seed(0)
    surface = FullyConnected(2, width=5, layers=1).double()
    weights = list(surface.parameters())
    start, gradients = [w.detach().numpy().copy() for w in weights], []
    watch = [lambda *_: gradients.append([w.grad.numpy().copy() for w in weights])]
    options |= {"steps": steps, "n_up": 40, "learning_rate": 0.01, "schedule": "constant", "seed": 0}
    push(surface, "nce", Pair(UP, DOWN), optimizer=name, weight_decay=decay, record_every=1, callbacks=watch, **options)
    return start, gradients, [w.detach().numpy() for w in weights]


@pytest.mark.parametrize(("name", "decay"), [("adam", 0.0), ("adam", 0.1), ("adamw", 0.0), ("adamw", 0.1)])
def test_adam_is_the_papers(name, decay):
    values, gradients, ends = moved(name, 6, decay)
    first, second = [np.zeros_like(v) for v in values], [np.zeros_like(v) for v in values]
    for t, step in enumerate(gradients, start=1):
        for i, gradient in enumerate(step):
            g = gradient + decay * values[i] if name == "adam" else gradient
            values[i] = values[i] * (1.0 - 0.01 * decay) if name == "adamw" else values[i]
            first[i] = B1 * first[i] + (1.0 - B1) * g
            second[i] = B2 * second[i] + (1.0 - B2) * g**2
            mean, square = first[i] / (1.0 - B1**t), second[i] / (1.0 - B2**t)
            values[i] = values[i] - 0.01 * mean / (np.sqrt(square) + EPS)
    for by_hand, end in zip(values, ends, strict=True):
        np.testing.assert_allclose(end, by_hand, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_sgd_is_the_papers_algorithm(decay):
    values, gradients, ends = moved("sgd", 4, decay)
    for step in gradients:
        values = [v - 0.01 * (g + decay * v) for v, g in zip(values, step, strict=True)]
    for by_hand, end in zip(values, ends, strict=True):
        np.testing.assert_allclose(end, by_hand, rtol=1e-12)


def test_an_optimizer_may_come_ready_or_as_a_function():
    """A ready one has its own rate; a function takes the push's."""
    ends = []
    for how in ("name", "ready", "function"):
        torch.manual_seed(0)
        surface = FullyConnected(2, width=5, layers=1)
        made = {
            "name": "sgd",
            "ready": torch.optim.SGD(surface.parameters(), lr=0.02),
            "function": lambda weights, rate: torch.optim.SGD(weights, lr=rate),
        }
        rate = 0.5 if how == "ready" else 0.02
        push(surface, "nce", Pair(UP, DOWN), steps=3, n_up=9, optimizer=made[how], learning_rate=rate, seed=0)
        ends.append(torch.cat([w.detach().flatten() for w in surface.parameters()]))
    torch.testing.assert_close(ends[1], ends[0])
    torch.testing.assert_close(ends[2], ends[0])


@pytest.mark.parametrize("clip", [0.01, 0.05])
def test_a_long_gradient_is_shortened_to_the_clip(clip):
    """Plain SGD from the same weights: the step is rate · clip long, in the direction it would have had."""
    values, _gradients, ends = moved("sgd", 1, clip=clip)
    step = np.concatenate([(v - e).ravel() for v, e in zip(values, ends, strict=True)])
    free = moved("sgd", 1)
    whole = np.concatenate([(v - e).ravel() for v, e in zip(values, free[2], strict=True)])
    assert np.linalg.norm(whole) / 0.01 > 0.06
    assert np.linalg.norm(step) == pytest.approx(0.01 * clip, rel=1e-4)
    assert step @ whole == pytest.approx(np.linalg.norm(step) * np.linalg.norm(whole), rel=1e-9)
    np.testing.assert_array_equal(moved("sgd", 1, clip=1e3)[2][0], free[2][0])


def test_the_history_has_the_gradients_norm_before_clipping():
    norms = []
    for clip in (None, 0.01):
        torch.manual_seed(0)
        surface = FullyConnected(2, width=5, layers=1).double()
        history = push(surface, "nce", Pair(UP, DOWN), steps=1, n_up=40, clip=clip, seed=0)
        norms.append(history.gradient_norm[0])
        whole = torch.cat([w.grad.flatten() for w in surface.parameters()]).norm().item()
        assert whole == pytest.approx(norms[0] if clip is None else clip, rel=1e-4)
    assert norms[0] == norms[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"optimizer": "adm"}, "adam, adamw, sgd.*'adm'"),
        ({"optimizer": None}, "optimizer must be one of"),
        ({"optimizer": lambda weights, rate: "moved"}, "that returns one"),
        ({"learning_rate": -1.0}, "learning_rate must be a number of at least 0"),
        ({"learning_rate": float("nan")}, "learning_rate must be"),
        ({"weight_decay": -0.1}, "weight_decay must be"),
        ({"weight_decay": 0.1, "optimizer": torch.optim.SGD}, "give it to the optimizer that you build"),
        ({"clip": 0.0}, "clip must be a number above 0"),
        ({"clip": float("inf")}, "clip must be"),
    ],
)
def test_what_cannot_move_weights_is_refused_before_the_first_step(options, words):
    surface = FullyConnected(2, width=5, layers=1)
    before = [w.detach().clone() for w in surface.parameters()]
    with pytest.raises(ValueError, match=words):
        push(surface, "nce", Pair(UP, DOWN), steps=1, n_up=5, **options)
    assert all(torch.equal(a, b) for a, b in zip(before, surface.parameters(), strict=True))


def test_weights_without_a_fused_kernel_take_the_plain_one():
    weight = torch.zeros(3, dtype=torch.complex64, requires_grad=True)
    assert not as_optimizer("adam", [weight], 0.1, 0.0).param_groups[0]["fused"]
    assert as_optimizer("adam", [torch.zeros(3, requires_grad=True)], 0.1, 0.0).param_groups[0]["fused"]
