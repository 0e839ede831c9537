"""The fully connected surface is the network written out, whatever its options."""

import pytest
import torch
from tests.asserts import assert_close

from equipoise.surfaces import FullyConnected
from equipoise.surfaces.activation import ACTIVATIONS

PLAIN = {
    "silu": lambda h, _: h * torch.sigmoid(h),
    "tanh": lambda h, _: 1.0 - 2.0 / (torch.exp(2.0 * h) + 1.0),
    "relu": lambda h, _: 0.5 * (h + h.abs()),
    "leaky_relu": lambda h, slope: torch.where(h > 0, h, slope * h),
}


@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_it_is_the_network_written_out(activation, residual, layer_norm):
    surface = FullyConnected(
        2, 6, 3, 2, activation, slope=0.3, residual=residual, layer_norm=layer_norm, dropout=0.5
    ).double()
    surface.eval()
    x = torch.randn(40, 2, dtype=torch.float64)
    state, h = surface.state_dict(), x
    for layer in range(3):
        z = h @ state[f"hidden.{layer}.linear.weight"].T + state[f"hidden.{layer}.linear.bias"]
        if layer_norm:
            z = (z - z.mean(1, keepdim=True)) / torch.sqrt(z.var(1, correction=0, keepdim=True) + 1e-5)
        bent = PLAIN[activation](z, 0.3)
        h = h + bent if residual and layer else bent
    assert_close(surface(x), h @ state["last.weight"].T + state["last.bias"], relative=1e-9, absolute=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_surface_bends_and_follows_its_weights(activation):
    surface = FullyConnected(2, width=16, layers=2, activation=activation).double()
    x = torch.randn(50, 2, dtype=torch.float64)
    flat = 0.5 * (surface(x) + surface(-x))
    assert (flat - surface(torch.zeros(1, 2, dtype=torch.float64))).abs().max() > 1e-3
    surface(x).sum().backward()
    assert all(bool(parameter.grad.abs().sum() > 0) for parameter in surface.parameters())


def test_the_gain_spreads_the_first_layer_alone():
    torch.manual_seed(3)
    plain = FullyConnected(2, width=8, layers=2)
    torch.manual_seed(3)
    wide = FullyConnected(2, width=8, layers=2, gain=4.0)
    assert_close(wide.hidden[0].linear.weight, 4.0 * plain.hidden[0].linear.weight.detach(), relative=1e-6)
    assert_close(wide.hidden[1].linear.weight, plain.hidden[1].linear.weight.detach())


def test_options_that_are_off_take_nothing_from_the_random_stream():
    torch.manual_seed(3)
    plain = FullyConnected(2, width=8, layers=2)
    torch.manual_seed(3)
    other = FullyConnected(2, width=8, layers=2, residual=True, layer_norm=True, dropout=0.5)
    assert all(torch.equal(other.state_dict()[key], value) for key, value in plain.state_dict().items())


def test_dropout_silences_its_share_in_training_alone():
    surface = FullyConnected(1, width=2000, layers=1, activation="tanh", dropout=0.25)
    x = torch.ones(1, 1)
    torch.manual_seed(0)
    units = surface.hidden(x)
    assert float((units == 0).double().mean()) == pytest.approx(0.25, abs=4 * (0.25 * 0.75 / 2000) ** 0.5)
    surface.eval()
    silent = surface.hidden(x)
    assert not bool((silent == 0).any())
    assert_close(units[units != 0], silent[units != 0] / 0.75, relative=1e-5)


def test_softmax_learns_its_classes():
    import equipoise as eq

    torch.manual_seed(0)
    centres = torch.tensor([[-2.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    labels = torch.arange(600) % 3
    x = centres[labels] + 0.5 * torch.randn(600, 2)
    surface = FullyConnected(2, width=16, layers=1, outputs=3)
    eq.push(surface, "softmax_cross_entropy", eq.sources.Labelled(x, labels), steps=200, n_up=100, seed=0)
    assert float((surface(x).argmax(dim=1) == labels).double().mean()) > 0.97


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"features": 0}, "at least 1"),
        ({"features": 2, "width": 0}, "at least 1"),
        ({"features": 2, "layers": 0}, "at least 1"),
        ({"features": 2, "outputs": 0}, "at least 1"),
        ({"features": 2, "activation": "gelu"}, "leaky_relu, relu, tanh, silu, got 'gelu'"),
        ({"features": 2, "dropout": 1.0}, "dropout must be in"),
        ({"features": 2, "dropout": -0.1}, "dropout must be in"),
        ({"features": 2, "dropout": float("nan")}, "dropout must be in"),
    ],
)
def test_what_is_no_network_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        FullyConnected(**arguments)
