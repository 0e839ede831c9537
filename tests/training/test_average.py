"""The moving average: its closed form, its place in the surface at the end, and none of it in the steps."""

import numpy as np
import pytest
import torch

from equipoise import Pair, push
from equipoise.surfaces import FullyConnected
from equipoise.training.average import Average

RANDOM = np.random.default_rng(4)
PAIR = UP, DOWN = RANDOM.normal(0.5, 1.0, size=(40, 2)), RANDOM.normal(-0.5, 1.0, size=(40, 2))


def surface():
    torch.manual_seed(0)
    return FullyConnected(2, width=5, layers=1).double()


def flat(module):
    return torch.cat([w.detach().flatten() for w in module.parameters()]).numpy()


@pytest.mark.parametrize("decay", [0.5, 0.9, 0.999])
def test_the_average_is_its_closed_form(decay):
    """Σ d^(t−k)·θ_k / Σ d^(t−k) over the weights after every step, of which averaging changes none."""
    seen, averaged, plain = [], surface(), surface()
    watch = [lambda _, module, __: seen.append(flat(module))]
    options = {"steps": 25, "n_up": 20, "seed": 0, "record_every": 1}
    push(averaged, "nce", Pair(*PAIR), average=decay, callbacks=watch, **options)
    push(plain, "nce", Pair(*PAIR), **options)
    shares = decay ** np.arange(24, -1, -1)
    expected = shares @ np.array(seen) / shares.sum()
    np.testing.assert_allclose(flat(averaged), expected, rtol=1e-10)
    np.testing.assert_array_equal(seen[-1], flat(plain))


def test_the_monitor_scores_the_average():
    scored, raw = [], []

    class Spy:
        def score(self, module):
            scored.append(flat(module))
            return 0.0, 1.0

    module = surface()
    watch = [lambda _, module, __: raw.append(flat(module))]
    options = {"n_up": 20, "seed": 0, "record_every": 1, "monitor": Spy(), "monitor_every": 1}
    push(module, "nce", Pair(*PAIR), steps=3, average=0.5, callbacks=watch, **options)
    np.testing.assert_allclose(scored[0], raw[0])
    np.testing.assert_allclose(scored[1], (raw[0] + 2.0 * raw[1]) / 3.0)
    np.testing.assert_allclose(scored[2], (raw[0] + 2.0 * raw[1] + 4.0 * raw[2]) / 7.0)
    np.testing.assert_allclose(flat(module), scored[0])  # all scores alike: the first is the best


def test_before_the_first_step_there_is_no_average():
    module = surface()
    before = flat(module)
    average = Average(list(module.parameters()), 0.9)
    with average.shown():
        np.testing.assert_array_equal(flat(module), before)
    average.settle()
    np.testing.assert_array_equal(flat(module), before)


def test_the_weights_come_back_though_scoring_fails():
    module = surface()
    average = Average(list(module.parameters()), 0.9)
    average.update()
    with torch.no_grad():
        module.last.bias.add_(1.0)
    before = flat(module)

    def fail():
        assert not np.array_equal(flat(module), before)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), average.shown():
        fail()
    np.testing.assert_array_equal(flat(module), before)


@pytest.mark.parametrize("decay", [0.0, 1.0, -0.5, 2, float("nan"), "ema"])
def test_what_is_no_decay_is_refused(decay):
    with pytest.raises(ValueError, match="average must be a decay between 0 and 1"):
        push(surface(), "nce", Pair(*PAIR), steps=1, average=decay)
