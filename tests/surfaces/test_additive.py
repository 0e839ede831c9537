"""The additive surface is the sum of its columns' splines, learns jumps, and follows its knots wherever they go."""

import copy
import pickle

import numpy as np
import pytest
import torch

import equipoise as eq
from equipoise.surfaces import Additive


def rows(n=500, d=3, seed=0):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def filled(surface, seed=1):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        surface.values.copy_(torch.randn(surface.values.shape, generator=generator, dtype=torch.float64))
    return surface


def numpy_s(surface, x):
    columns = range(x.shape[1])
    return sum(
        np.interp(*(t.detach().double().numpy() for t in (x[:, i], surface.knots[i], surface.values[i])))
        for i in columns
    )


def assert_numpy_s(surface, x, tolerance):
    assert np.abs(surface(x).detach().double().numpy() - numpy_s(surface, x)).max() < tolerance


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 2e-5)])
@pytest.mark.parametrize("at", ["quantiles", "equal"])
def test_it_is_numpy_s_interpolation_column_by_column(at, dtype, tolerance):
    surface = filled(Additive.on_rows(rows(), 20, at=at).to(dtype))
    assert_numpy_s(surface, 1.5 * rows(seed=2).to(dtype), tolerance)  # some rows lie beyond the outermost knots


def plain(x, knots, values):
    """The same in the plainest torch: every hat at every row."""
    left = torch.nn.functional.pad(
        (x.T.unsqueeze(2) - knots[:, None, :-1]) / torch.diff(knots)[:, None], (1, 0), value=1
    )
    right = torch.nn.functional.pad(
        (knots[:, None, 1:] - x.T.unsqueeze(2)) / torch.diff(knots)[:, None], (0, 1), value=1
    )
    return (torch.minimum(left.clamp(0, 1), right.clamp(0, 1)) * values[:, None]).sum(dim=(0, 2))


@pytest.mark.parametrize("at", ["quantiles", "equal"])
def test_its_gradients_are_those_of_a_dense_twin(at):
    surface = filled(Additive.on_rows(rows(), 20, at=at).double())
    x = (1.5 * rows(seed=2)).requires_grad_()
    force = rows(500, 1, seed=3)[:, 0]
    ours = torch.autograd.grad(surface(x), (surface.values, x), force)
    twin = torch.autograd.grad(plain(x, surface.knots, surface.values), (surface.values, x), force)
    for mine, other in zip(ours, twin, strict=True):
        assert float((mine - other).abs().max()) < 1e-9 * float(other.abs().max())


def test_it_follows_its_knots_when_they_change():
    surface = filled(Additive.on_rows(rows(), 20).double())
    x = rows(seed=2)
    assert_numpy_s(surface, x, 1e-12)
    surface.load_state_dict(filled(Additive.on_rows(rows() * 3, 20, at="equal").double(), 5).state_dict())
    twin = copy.deepcopy(surface)  # before it has looked at its new knots
    for one in (surface, twin, pickle.loads(pickle.dumps(surface))):
        assert_numpy_s(one, x, 1e-12)
    surface.knots.mul_(0.5)
    assert_numpy_s(surface, x, 1e-12)
    assert_numpy_s(twin, x, 1e-12)
    assert_numpy_s(surface.float(), x.float(), 2e-5)
    assert_numpy_s(surface.double(), x, 1e-12)


def test_knots_that_a_file_brings_are_checked():
    surface = Additive.on_rows(rows(), 5)
    state = surface.state_dict()
    state["knots"] = state["knots"].flip(1)
    surface.load_state_dict(state)
    with pytest.raises(ValueError, match="finite and rise"):
        surface(rows().float())


def test_it_works_in_inference_mode():
    with torch.inference_mode():
        surface = filled(Additive.on_rows(rows(), 5).double())
        assert_numpy_s(surface, rows(seed=2), 1e-12)


def test_knots_stay_apart_where_values_repeat():
    x = torch.randint(0, 2, (200, 1)).double()
    surface = Additive.on_rows(x, 400)
    assert bool((torch.diff(surface.knots.double(), dim=1) > 0).all())
    assert bool(torch.isfinite(surface(x.float())).all())


def test_it_learns_a_jump_that_a_smooth_network_does_not():
    up, down = torch.distributions.Uniform(0.0, 0.5), torch.distributions.Uniform(0.0, 1.0)
    torch.manual_seed(0)
    pair = eq.Pair(up.sample((5000, 1)), down.sample((5000, 1)))
    surface = Additive.on_rows(torch.linspace(0, 1, 1000).unsqueeze(1), 50, at="equal")
    eq.push(surface, "logistic", pair, steps=600, learning_rate=0.05, seed=0)
    with torch.no_grad():
        left, right = surface(torch.tensor([[0.25], [0.75]])).tolist()
    assert left == pytest.approx(np.log(2.0), abs=0.15)
    assert right < -2.0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Additive(torch.zeros(2, 3)), "increasing"),
        (lambda: Additive(torch.zeros(3)), "K >= 2"),
        (lambda: Additive(torch.zeros(3, 1)), "K >= 2"),
        (lambda: Additive.on_rows(rows(), 4, at="random"), "quantiles"),
        (lambda: Additive.on_rows(rows(), 1), "at least 2 knots, got 1"),
        (lambda: Additive.on_rows(torch.ones(5, 2), 4), r"columns \[0, 1\] hold one value"),
        (lambda: Additive.on_rows(torch.tensor([[0.0], [torch.nan]]), 4), "columns"),
        (lambda: Additive.on_rows(rows(), 4)(rows(d=2).float()), "rows of 3 columns"),
    ],
)
def test_bad_input_is_said(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_rows_of_another_precision_are_refused():
    with pytest.raises(TypeError, match=r"rows are torch.float64 and the surface torch.float32"):
        Additive.on_rows(rows(), 4)(rows())
