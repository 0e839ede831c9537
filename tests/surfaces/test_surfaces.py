"""Surfaces: shapes, ranges, units, and blueprints that rebuild them."""

import json
from math import inf

import pytest
import torch
from hypothesis import given, strategies as st
from tests.asserts import BALANCED, assert_close, label

from equipoise import Interval
from equipoise.surfaces import FullyConnected, InRange, Standardise, build, describe, heights_of

INTERVALS = [Interval(), Interval(0.0, inf), Interval(-inf, -2.0), Interval(-1.0, 3.0), Interval(1e3, 1e3 + 1e-3)]


@pytest.mark.parametrize("outputs", [1, 2, 5])
@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("features", [1, 3])
def test_one_height_per_row_and_output(features, rows, outputs):
    u = FullyConnected(features, width=4, layers=2, outputs=outputs)(torch.randn(rows, features))
    assert u.shape == ((rows,) if outputs == 1 else (rows, outputs))


@pytest.mark.parametrize("activation", ["silu", "tanh", "relu", "leaky_relu"])
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


def test_a_row_scores_the_same_whatever_comes_with_it():
    surface, x = FullyConnected(3).double(), torch.randn(300, 3, dtype=torch.float64)
    with torch.no_grad():
        assert_close(surface(x)[:7], surface(x[:7]), relative=1e-12)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"features": 0}, "at least 1"),
        ({"features": 2, "width": 0}, "at least 1"),
        ({"features": 2, "layers": 0}, "at least 1"),
        ({"features": 2, "outputs": 0}, "at least 1"),
        ({"features": 2, "activation": "gelu"}, "leaky_relu, relu, tanh, silu, got 'gelu'"),
    ],
)
def test_what_is_no_network_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        FullyConnected(**arguments)


class Steep(torch.nn.Module):
    """A surface of heights up to ±scale."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return self.scale * x[:, 0]


@given(
    scale=st.sampled_from([1.0, 30.0, 1e3, 1e30]),
    interval=st.sampled_from(INTERVALS),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_heights_stay_in_range(scale, interval, dtype):
    x = torch.linspace(-1.0, 1.0, 101, dtype=dtype).unsqueeze(1)
    u = InRange(Steep(scale), interval)(x)
    assert u.dtype == dtype
    assert bool(interval.contains(u).all())
    assert bool((torch.diff(u) >= 0).all())


@pytest.mark.parametrize("instance", [i for i in BALANCED if not i.interval.is_real_line], ids=label)
def test_every_k_of_the_catalogue_can_be_kept(instance):
    x = torch.randn(200, 2) * 100.0
    surface = InRange(FullyConnected(2, gain=4.0), instance.interval)
    assert bool(instance.interval.contains(surface(x)).all())
    assert heights_of(surface) == instance.interval


def test_a_pair_of_numbers_is_an_interval():
    assert InRange(FullyConnected(1), (0.0, inf)).heights == Interval(0.0, inf)


@pytest.mark.parametrize("interval", [(1.0, 1.0), (2.0, 1.0), (float("nan"), 1.0)])
def test_an_empty_interval_is_refused(interval):
    with pytest.raises(ValueError, match="low < high"):
        InRange(FullyConnected(1), interval)


def test_heights_of_a_bare_module_are_any():
    assert heights_of(torch.nn.Linear(1, 1)) == Interval()
    odd = torch.nn.Linear(1, 1)
    odd.heights = "high"
    assert heights_of(odd) == Interval()


def test_standardised_columns_have_mean_zero_and_deviation_one():
    rows = torch.randn(500, 3) * torch.tensor([1.0, 100.0, 1e-3]) + torch.tensor([0.0, -7.0, 5.0])
    seen = []
    inner = torch.nn.Identity()
    inner.register_forward_hook(lambda _, __, output: seen.append(output))
    Standardise.to_rows(inner, rows)(rows)
    assert_close(seen[0].mean(dim=0), torch.zeros(3), absolute=1e-2)
    assert_close(seen[0].std(dim=0, correction=0), torch.ones(3), relative=1e-2)


def test_standardise_is_the_surface_in_other_units():
    inner = FullyConnected(2)
    x = torch.randn(9, 2)
    moved = Standardise(inner, [1.0, -2.0], [10.0, 0.5])
    assert_close(moved(x * torch.tensor([10.0, 0.5]) + torch.tensor([1.0, -2.0])), inner(x), relative=1e-4)
    assert set(moved.state_dict()) > {"mean", "scale"}


def test_standardise_passes_the_range_on():
    assert heights_of(Standardise(InRange(FullyConnected(1), (0.0, 1.0)), [0.0], [1.0])) == Interval(0.0, 1.0)


@pytest.mark.parametrize(("mean", "scale"), [([0.0], [0.0]), ([0.0, 1.0], [1.0]), ([0.0], [-1.0]), ([0.0], [inf * 0])])
def test_units_that_do_not_exist_are_refused(mean, scale):
    with pytest.raises(ValueError, match="mean and scale need"):
        Standardise(FullyConnected(1), mean, scale)


SURFACES = {
    "plain": FullyConnected(2),
    "other": FullyConnected(3, width=5, layers=1, outputs=4, activation="tanh", gain=2.5),
    "half-line": InRange(FullyConnected(2), (0.0, inf)),
    "other half": InRange(FullyConnected(2), (-inf, 1.5)),
    "bounded": InRange(FullyConnected(2), (-0.5, 1.5)),
    "units": Standardise(InRange(FullyConnected(2), (0.0, 1.0)), [1.0, 2.0], [3.0, 4.0]),
    "nested": InRange(Standardise(FullyConnected(2), [1.0, 2.0], [3.0, 4.0]), (0.0, 1.0)),
}


@pytest.mark.parametrize("name", SURFACES)
def test_a_blueprint_rebuilds_the_surface(name):
    surface = SURFACES[name]
    blueprint = json.loads(json.dumps(describe(surface), allow_nan=False))
    rebuilt = build(blueprint)
    rebuilt.load_state_dict(surface.state_dict())
    x = torch.randn(6, 3 if name == "other" else 2)
    assert torch.equal(rebuilt(x), surface(x))
    assert heights_of(rebuilt) == heights_of(surface)
    assert describe(rebuilt) == describe(surface)


def test_a_surface_of_ones_own_has_no_blueprint():
    for surface in (torch.nn.Linear(2, 1), InRange(torch.nn.Linear(2, 1), (0.0, 1.0))):
        with pytest.raises(TypeError, match="a Linear cannot go into a model file, which holds no code"):
            describe(surface)


@pytest.mark.parametrize("blueprint", [{}, {"type": "linear"}, {"type": None}, {"type": "os.system"}])
def test_an_unknown_blueprint_is_refused(blueprint):
    with pytest.raises(ValueError, match="unknown surface"):
        build(blueprint)
