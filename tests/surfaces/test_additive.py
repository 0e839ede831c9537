"""The additive surface is the sum of its columns' splines, and the sum of surfaces is their sum."""

import numpy as np
import pytest
import torch

import equipoise as eq
from equipoise.surfaces.additive import Additive
from equipoise.surfaces.total import Sum


def rows(n=500, d=3, seed=0):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def filled(surface, seed=1):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        surface.values.copy_(torch.randn(surface.values.shape, generator=generator, dtype=torch.float64))
    return surface


@pytest.mark.parametrize("at", ["quantiles", "equal"])
def test_it_is_numpy_s_interpolation_column_by_column(at):
    surface = filled(Additive.on_rows(rows(), 20, at=at).double())
    x = 1.5 * rows(seed=2)  # some rows beyond the outermost knots, where it stays constant
    twin = sum(
        np.interp(x[:, i].numpy(), surface.knots[i].numpy(), surface.values[i].detach().numpy()) for i in range(3)
    )
    assert np.abs(surface(x).detach().numpy() - twin).max() < 1e-12


def test_its_gradients_are_those_of_finite_differences():
    surface = filled(Additive.on_rows(rows(50, 2), 5).double())
    x = rows(6, 2, seed=3)
    assert torch.autograd.gradcheck(lambda v: torch.func.functional_call(surface, {"values": v}, (x,)), surface.values)
    assert torch.autograd.gradcheck(surface, x.clone().requires_grad_())


def test_quantile_knots_hold_equally_many_rows_between_them():
    x = rows(1001, 1)
    knots = Additive.on_rows(x, 11).knots[0].double()
    counts = torch.histogram(x.flatten(), knots).hist
    assert (counts - 100).abs().max() <= 2


def test_knots_stay_apart_where_values_repeat():
    x = torch.randint(0, 2, (200, 1)).double()
    surface = Additive.on_rows(x, 16)
    assert bool((torch.diff(surface.knots.double(), dim=1) > 0).all())
    assert bool(torch.isfinite(surface(x.float())).all())


def test_it_learns_a_jump_that_a_smooth_network_does_not():
    up, down = torch.distributions.Uniform(0.0, 0.5), torch.distributions.Uniform(0.0, 1.0)
    pair = eq.Pair(up.sample((5000, 1)), down.sample((5000, 1)))
    surface = Additive.on_rows(torch.linspace(0, 1, 1000).unsqueeze(1), 50, at="equal")
    eq.push(surface, "logistic", pair, steps=600, learning_rate=0.05, seed=0)
    with torch.no_grad():
        left, right = surface(torch.tensor([[0.25], [0.75]])).tolist()
    assert left == pytest.approx(np.log(2.0), abs=0.15)
    assert right < -2.0


def test_a_sum_is_the_sum_and_trains_all_its_parts():
    torch.manual_seed(0)
    parts = eq.surfaces.FullyConnected(3, width=8, layers=1), Additive.on_rows(rows(), 8)
    total = Sum(*parts)
    x = rows(20).float()
    assert torch.equal(total(x), parts[0](x) + parts[1](x))
    before = [p.detach().clone() for p in total.parameters()]
    eq.push(total, "logistic", eq.Pair(rows() + 1, rows(seed=4)), steps=3, n_up=50, seed=0)
    assert all(not torch.equal(old, new) for old, new in zip(before, total.parameters(), strict=True))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Additive(torch.zeros(2, 3)), "increasing"),
        (lambda: Additive(torch.zeros(3)), "K >= 2"),
        (lambda: Additive.on_rows(rows(), 4, at="random"), "quantiles"),
        (lambda: Additive.on_rows(torch.ones(5, 2), 4), "one value"),
        (Sum, "at least one"),
        (lambda: Sum(eq.surfaces.InRange(eq.surfaces.FullyConnected(1), (0, 1))), "wrap the sum"),
    ],
)
def test_bad_input_is_said(make, said):
    with pytest.raises(ValueError, match=said):
        make()
