"""Heights stay strictly inside their interval, by every map, and follow the map's formula."""

from math import atan, erf, exp, inf, pi, tanh

import pytest
import torch
from hypothesis import given, strategies as st
from tests.asserts import BALANCED, assert_close, label

from equipoise import Interval
from equipoise.surfaces import FullyConnected, InRange, heights_of
from equipoise.surfaces.in_range import AUTO, MAPS

INTERVALS = [Interval(), Interval(0.0, inf), Interval(-inf, -2.0), Interval(-1.0, 3.0), Interval(1e3, 1e3 + 1e-3)]
BOUNDED = [
    Interval(-1.0, 3.0),
    Interval(0.0, 1.0),
    Interval(1e3, 1e3 + 1e-3),
    Interval(-2.0, 0.0),
    Interval(-1e30, 1e-30),
]
SHARES = {
    "tanh": tanh,
    "erf": erf,
    "sigmoid": lambda s: 2.0 / (1.0 + exp(-s)) - 1.0,
    "arctan": lambda s: 2.0 * atan(s) / pi,
}


class Steep(torch.nn.Module):
    """A surface of heights up to ±scale."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return self.scale * x[:, 0]


SCALES = st.sampled_from([1.0, 30.0, 1e3, 1e30])
DTYPES = st.sampled_from([torch.float32, torch.float64])


@given(scale=SCALES, interval=st.sampled_from(INTERVALS), dtype=DTYPES)
def test_heights_stay_in_range(scale, interval, dtype):
    _check(InRange(Steep(scale), interval), dtype)


@given(scale=SCALES, interval=st.sampled_from(BOUNDED), dtype=DTYPES, by=st.sampled_from(sorted(MAPS)))
def test_heights_stay_in_range_by_every_map(scale, interval, dtype, by):
    _check(InRange(Steep(scale), interval, by), dtype)


def _check(surface, dtype):
    x = torch.linspace(-1.0, 1.0, 101, dtype=dtype).unsqueeze(1)
    u = surface(x)
    assert u.dtype == dtype
    assert bool(surface.heights.contains(u).all())
    assert bool((torch.diff(u) >= -4 * torch.finfo(dtype).eps * u.abs().max()).all())


@pytest.mark.parametrize("ends", [(-1.0, 3.0), (0.0, 1.0), (-7.0, -6.5)])
@pytest.mark.parametrize("by", MAPS)
def test_a_map_is_the_paper_s_formula(by, ends):
    low, high = ends
    s = torch.linspace(-3.0, 3.0, 61, dtype=torch.float64)
    u = InRange(Steep(1.0), ends, by)(s.unsqueeze(1))
    expected = [0.5 * (high - low) * SHARES[by](float(v)) + 0.5 * (high + low) for v in s]
    assert_close(u, torch.tensor(expected, dtype=u.dtype), relative=1e-12, absolute=1e-12)
    assert bool((torch.diff(u) > 0).all())


@pytest.mark.parametrize("by", MAPS)
def test_a_map_s_slope_is_its_derivative(by):
    surface = InRange(Steep(1.0), (-0.5, 1.5), by)
    x = torch.linspace(-3.0, 3.0, 13, dtype=torch.float64).unsqueeze(1).requires_grad_()
    assert torch.autograd.gradcheck(surface, x)
    assert torch.autograd.gradgradcheck(surface, x)


def test_auto_is_the_sigmoid_on_a_bounded_interval():
    x = torch.linspace(-5.0, 5.0, 21, dtype=torch.float64).unsqueeze(1)
    by_hand, by_itself = (InRange(Steep(1.0), (-0.5, 1.5), by)(x) for by in ("sigmoid", AUTO))
    assert_close(by_hand, by_itself, relative=1e-12, absolute=1e-12)


def test_far_out_arctan_alone_still_has_a_slope():
    slopes = {}
    for by in MAPS:
        x = torch.tensor([[60.0]], dtype=torch.float64, requires_grad=True)
        slopes[by] = float(torch.autograd.grad(InRange(Steep(1.0), (-1.0, 1.0), by)(x).sum(), x)[0])
    assert slopes["arctan"] == pytest.approx(2 / pi / 3601, rel=1e-9)
    assert max(slopes[by] for by in MAPS if by != "arctan") < 1e-15


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


@pytest.mark.parametrize(
    ("interval", "by", "words"),
    [
        ((0.0, inf), "tanh", "has no end"),
        ((-inf, inf), "erf", "has no end"),
        ((0.0, 1.0), "softsign", "sigmoid, tanh, erf, arctan, got 'softsign'"),
    ],
)
def test_a_map_that_does_not_fit_is_refused(interval, by, words):
    with pytest.raises(ValueError, match=words):
        InRange(FullyConnected(1), interval, by)


def test_heights_of_a_bare_module_are_any():
    assert heights_of(torch.nn.Linear(1, 1)) == Interval()
    odd = torch.nn.Linear(1, 1)
    odd.heights = "high"
    assert heights_of(odd) == Interval()
