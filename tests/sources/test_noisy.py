"""Noise on rows: its variance, where it goes, and the convolution that is learned."""

import numpy as np
import pytest
import torch

from equipoise import Pair, bases, push
from equipoise.sources import Labelled, Noisy, Rows
from equipoise.surfaces import FullyConnected

N = 40_000


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def rows_of(source, n=N, seed=0, dtype=torch.float64):
    out = torch.empty(n, source.features, dtype=dtype)
    weight = source.draw(out, generator(seed))
    return out, weight


@pytest.mark.parametrize("sigma", [0.3, torch.tensor([0.1, 2.0]), [0.1, 2.0], np.array([0.0, 1.0])], ids=repr)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_column_has_its_own_variance_and_nothing_else(sigma, dtype):
    """Mean 0, variance σ², no correlation, a normal's kurtosis: within five standard errors of 40,000 rows."""
    noise = rows_of(Noisy(np.ones((5, 2)), sigma), dtype=dtype)[0].double() - 1.0
    expected = torch.as_tensor(sigma, dtype=torch.float64).expand(2)
    assert bool((noise.mean(dim=0).abs() <= 5.0 * expected / N**0.5 + 1e-12).all())
    assert bool(((noise.var(dim=0) - expected**2).abs() <= 5.0 * expected**2 * (2.0 / N) ** 0.5 + 1e-12).all())
    if bool((expected > 0).all()):
        z = noise / expected
        assert abs((z[:, 0] * z[:, 1]).mean().item()) <= 5.0 / N**0.5
        assert ((z**4).mean(dim=0) - 3.0).abs().max().item() <= 5.0 * (96.0 / N) ** 0.5
        assert abs((z[:-1] * z[1:]).mean().item()) <= 5.0 / (2 * N) ** 0.5  # fresh on every row


def test_rows_keep_their_order_and_their_weights():
    table, weight = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    noisy, drawn = rows_of(Noisy(Rows(table, weight), 1e-6), 6)
    assert sorted(noisy[:, 0].round().tolist()) == table[:, 0].tolist()
    assert drawn.tolist() == (noisy[:, 0] / 2).round().tolist()


def test_a_convolution_is_not_known():
    assert Noisy(bases.Uniform([0.0], [1.0]), 0.1).log_prob is None


def test_only_up_rows_are_blurred_and_the_base_is_evaluated_where_they_are():
    base = bases.Gaussian().fit(np.random.default_rng(0).normal(size=(200, 2)))
    pair = Pair(np.zeros((4, 2)), base).with_noise(0.5)
    batch = pair.draw(1000, 1000, generator(), like=torch.empty(0, dtype=torch.float64), log_base=True)
    assert batch.x[:1000].std().item() == pytest.approx(0.5, rel=0.1)
    assert torch.equal(batch.log_base, base.log_prob(batch.x))
    assert Pair(np.zeros((4, 2)), np.zeros((4, 2))).with_noise(0.5).draw(5, 5, generator()).x[5:].abs().max() == 0.0


def test_labelled_rows_are_blurred_all_alike_and_their_table_is_not():
    table = np.arange(24.0).reshape(12, 2)
    pair = Labelled(table, np.arange(12) % 2)
    noisy = pair.with_noise(1e-4)
    batch = noisy.draw(6, 6, generator())
    assert batch.x.dtype == torch.float64
    assert not bool((batch.x == batch.x.round()).any())
    assert (batch.x[:, 0].round() / 2 % 2).tolist() == batch.labels.tolist()
    plain = pair.draw(6, 6, generator())
    assert torch.equal(plain.x, plain.x.round())


def test_what_is_learned_is_the_convolution():
    """Up N(0, 0.6²) blurred by 0.8 is N(0, 1): against N(0, 1) the log ratio is 0 everywhere."""
    rows = 0.6 * np.random.default_rng(1).normal(size=(5000, 1))
    normal = torch.distributions.Normal(0.0, 1.0)
    x = torch.linspace(-2.0, 2.0, 41).unsqueeze(1)
    heights = []
    for noise in (0.0, 0.8):
        torch.manual_seed(0)
        surface = FullyConnected(1, width=16, layers=2)
        push(surface, "logistic", Pair(rows, normal), steps=400, n_up=500, learning_rate=0.01, noise=noise, seed=0)
        with torch.no_grad():
            heights.append(surface(x))
    assert heights[1].abs().mean() < 0.1
    truth = -np.log(0.6) - 0.5 * x.squeeze(1) ** 2 * (1 / 0.36 - 1)
    assert (heights[0] - truth).abs().mean() < 0.25


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        (-0.1, "noise must be one number of at least 0, or one per column"),
        (float("nan"), "noise must be"),
        (torch.ones(3), r"one per column \(2\)"),
        (torch.tensor([0.1, -0.1]), "at least 0"),
    ],
)
def test_what_is_no_noise_is_refused(noise, words):
    with pytest.raises(ValueError, match=words):
        push(FullyConnected(2, 4, 1), "nce", Pair(np.eye(2), np.eye(2)), steps=1, noise=noise)


def test_a_pair_that_takes_no_noise_says_so():
    class Plain:
        features = 2
        draw = Pair(np.eye(2), np.eye(2)).draw

    with pytest.raises(TypeError, match=r"a Plain takes no noise: draw its up rows from eq\.sources\.Noisy"):
        push(FullyConnected(2, 4, 1), "nce", Plain(), steps=1, noise=0.1)
    assert len(push(FullyConnected(2, 4, 1), "nce", Plain(), steps=1, n_up=2)) == 1
