"""Surfaces on normal scores: the dense twin's scores, slopes inside bins, tails without end, and numbers of a file."""

import copy

import numpy as np
import pytest
import torch
from scipy import stats
from tests.asserts import assert_close
from tests.surfaces.every import FEATURES, columns, rows

from equipoise.bases import Copula, Marginals
from equipoise.surfaces import FullyConnected, InRange, OnScores, build, describe, heights_of, size


class First(torch.nn.Module):
    """The scores themselves, summed with weights that tell them apart."""

    def __init__(self, d=FEATURES):
        super().__init__()
        self.weights = torch.nn.Parameter(10.0 ** torch.arange(d, dtype=torch.float64))

    def forward(self, z):
        return z @ self.weights


def network(seed=0, d=FEATURES):
    torch.manual_seed(seed)
    return FullyConnected(d, 8, 2, activation="silu").double()


def twin(of, x):
    """Normal scores from the distribution function bin by bin, in numpy: linear on the arsinh scale, Pareto beyond."""
    z = np.empty(x.shape)
    for i in range(x.shape[1]):
        centre, spread, low, high = (v[i].item() for v in (of.centre, of.spread, of.low, of.high))
        mass, tails = of.mass[i].numpy(), of.tails[:, i].numpy()
        edges = np.linspace(low, high, len(mass) + 1)
        at = np.arcsinh((x[:, i] - centre) / spread)
        below = np.interp(at, edges, tails[0] + np.concatenate([[0.0], np.cumsum(mass)]))
        above = np.interp(at, edges, tails[1] + np.concatenate([np.cumsum(mass[::-1])[::-1], [0.0]]))
        width = (high - low) / len(mass)
        for sign, tail, end, share in ((-1, tails[0], low, mass[0]), (1, tails[1], high, mass[-1])):
            density = share / (width * spread * np.cosh(end))
            distance = np.maximum(sign * (x[:, i] - centre - spread * np.sinh(end)), 0.0)
            beyond = tail * (1.0 + distance * density / (2.0 * tail)) ** -2.0
            far = sign * (at - end) > 0.0
            small, large = (below, above) if sign < 0 else (above, below)
            small[far], large[far] = beyond[far], 1.0 - beyond[far]
        z[:, i] = np.where(below < above, stats.norm.ppf(below), -stats.norm.ppf(above))
    return z


PLACES = torch.cat([rows(300, 5), rows(100, 6, scale=30.0), rows(20, 7, scale=1e6)]).double()


def test_it_sees_the_scores_of_the_dense_twin():
    of = columns()
    seen = OnScores(First(), of)(PLACES)
    expected = First()(torch.from_numpy(twin(of, PLACES.numpy())))
    assert_close(seen.detach(), expected.detach(), relative=1e-9, absolute=1e-8)


def test_the_fitted_rows_have_standard_normal_scores():
    x = torch.exp(rows(4000, features=2)).double()
    z = Marginals().fit(x).columns.scores(x)
    assert all(stats.kstest(column, "norm").pvalue > 0.1 for column in z.T)


def test_slopes_are_numeric_ones_inside_bins_and_tails():
    """p_i(x)/φ(z_i) for the scores, and autograd's for a network on them."""
    of = columns()
    x = inside_bins(of, PLACES)
    x.requires_grad_()
    (slope,) = torch.autograd.grad(OnScores(First(), of)(x).sum(), x)
    z = of.scores(x.detach())
    phi = torch.distributions.Normal(0.0, 1.0).log_prob(z)
    assert_close(slope, torch.exp(of.log_prob(x.detach()) - phi) * First().weights.detach(), relative=1e-6)
    surface, step = OnScores(network(), of), 1e-7
    (slope,) = torch.autograd.grad(surface(x).sum(), x)
    for i in range(FEATURES):
        move = torch.zeros(FEATURES, dtype=torch.float64)
        move[i] = step
        with torch.no_grad():
            numeric = (surface(x + move) - surface(x - move)) / (2.0 * step)
        assert_close(slope[:, i], numeric, relative=1e-4, absolute=1e-6)


def inside_bins(of, x):
    """The rows whose entries all stand clear of a bin's edge, where the distribution function bends."""
    position = (torch.asinh((x - of.centre) / of.spread) - of.low) / of.step
    clear = ((position - position.round()).abs() > 1e-3) | (position < -1e-3) | (position > of.mass.shape[1] + 1e-3)
    kept = x[clear.all(dim=1) & (x.abs() < 100.0).all(dim=1)]
    assert len(kept) > 100
    return kept


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rows_without_end_have_finite_heights_and_slopes(dtype):
    surface = OnScores(network().to(dtype), columns())
    far = torch.finfo(dtype).max
    x = torch.tensor([[far, -far, far], [1e30, 1e-30, -1e30], [0.0, far, 0.0]], dtype=dtype, requires_grad=True)
    u = surface(x)
    assert u.dtype == dtype
    (slope,) = torch.autograd.grad(u.sum(), x)
    assert bool(torch.isfinite(u).all())
    assert bool(torch.isfinite(slope).all())


def test_scores_go_on_to_grow_in_the_tails_and_end_at_bounds():
    of = columns(low=[-np.inf, 0.0, -np.inf])
    steps = 10.0 ** torch.arange(2.0, 100.0, 7.0, dtype=torch.float64)
    up, down = (of.scores((sign * steps).unsqueeze(1).expand(-1, FEATURES)) for sign in (1.0, -1.0))
    assert bool((torch.diff(up, dim=0) > 0.0).all())
    assert bool((torch.diff(down[:, [0, 2]], dim=0) < 0.0).all())
    assert bool((down[:, 1] < -30.0).all())  # outside of the bound, finite all the same
    assert bool(torch.isfinite(down).all())


def test_a_copulas_quantiles_lead_back_to_the_scores():
    base = Copula().fit(torch.exp(rows(500)).double())
    z = rows(200, 3, scale=2.0).double()
    x = base.marginals.columns.quantile(torch.special.ndtr(z), torch.special.ndtr(-z))
    surface = OnScores(First(), base.marginals.columns)
    assert_close(surface(x).detach(), First()(z).detach(), relative=1e-7, absolute=1e-7)
    assert_close(base.scores_of(x), z, absolute=1e-7)


def test_single_precision_rows_are_scored_in_double():
    """Their last digits would be lost in a distribution function near one."""
    of, x = columns(), (PLACES[:50] + 3.0).float()
    surface = OnScores(First(), of)
    assert_close(surface(x.double()).detach(), First()(of.scores(x.double())).detach(), relative=1e-12)
    narrow = OnScores(First().float(), of)
    assert_close(narrow(x).detach().double(), surface(x.double()).detach(), relative=1e-5, absolute=1e-3)


def test_heights_are_those_of_the_surface_inside():
    assert heights_of(OnScores(InRange(network(), (-1.0, 2.0)), columns())).high == 2.0
    assert heights_of(OnScores(network(), columns())).is_real_line


def test_a_copy_follows_its_own_columns():
    surface, x = OnScores(First(), columns()), PLACES[:20]
    before = surface(x).detach()
    other = copy.deepcopy(surface)
    other.load_state_dict(OnScores(First(), columns(low=[-np.inf, 0.0, -9e9])).state_dict())
    assert torch.equal(surface(x).detach(), before)
    assert not torch.equal(other(x).detach(), before)


# --- numbers of a file ----------------------------------------------------------------------------------------------


def rebuilt(change):
    surface = OnScores(network(), columns())
    state = {name: value.clone() for name, value in surface.state_dict().items()}
    change(state)
    again = build(describe(surface)).double()
    again.load_state_dict(state)
    return surface, again


def put(name, at, value):
    def change(state):
        state[name][at] = value

    return change


def test_an_unchanged_state_is_taken():
    surface, again = rebuilt(lambda _: None)
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in surface.state_dict().items())


@pytest.mark.parametrize(
    "change",
    [
        put("mass", (0, 3), torch.nan),
        put("mass", (0, 3), -0.1),
        put("mass", (2, 0), 0.0),
        put("mass", (1, 5), 0.5),
        put("tails", (0, 1), -0.01),
        put("tails", (0, 1), torch.nan),
        put("spread", 0, 0.0),
        put("spread", 1, -1.0),
        put("spread", 2, torch.inf),
        put("centre", 0, torch.nan),
        put("low", 0, 1e9),
        put("low", 0, -1e9),
        put("high", 1, torch.nan),
        lambda state: state["mass"].zero_(),
        lambda state: state["low"].copy_(state["high"]),
    ],
)
def test_numbers_that_make_no_densities_are_refused(change):
    with pytest.raises(RuntimeError, match="do not fit together: they make no densities"):
        rebuilt(change)


def test_a_blueprint_of_other_bins_does_not_take_the_state():
    surface = OnScores(network(), columns())
    blueprint = describe(surface)
    assert blueprint["features"] == FEATURES
    assert size(blueprint) == sum(value.numel() for value in surface.state_dict().values())
    other = build({**blueprint, "bins": blueprint["bins"] // 2}).double()
    with pytest.raises(RuntimeError, match="mass"):
        other.load_state_dict(surface.state_dict())
    assert size({**blueprint, "bins": 2 * blueprint["bins"]}) > size(blueprint)
