import pytest
import torch

from equipoise.quadrature import antiderivative
from tests.asserts import assert_close

U = torch.linspace(-8.0, 8.0, 33, dtype=torch.float64)

PRIMITIVES = {
    "constant": (torch.ones_like, lambda u: u),
    "exp": (torch.exp, torch.exp),
    "cosine": (torch.cos, torch.sin),
    "sigmoid": (torch.sigmoid, lambda u: torch.logaddexp(u, torch.zeros_like(u))),
    "steep sigmoid": (
        lambda u: torch.sigmoid(50.0 * u),
        lambda u: torch.logaddexp(50.0 * u, torch.zeros_like(u)) / 50.0,
    ),
    "odd power": (lambda u: u**7, lambda u: u**8 / 8.0),
}


@pytest.mark.parametrize("name", PRIMITIVES)
@pytest.mark.parametrize("start", [-1.3, 0.0, 2.0])
def test_against_the_closed_form(name, start):
    function, primitive = PRIMITIVES[name]
    expected = primitive(U) - primitive(torch.full_like(U, start))
    assert_close(antiderivative(lambda t, _: function(t), U, start), expected, relative=1e-9, absolute=1e-9)


def test_starts_at_zero_and_is_odd_in_its_ends():
    start = torch.tensor([0.7], dtype=torch.float64)
    assert antiderivative(lambda t, _: torch.exp(t), start, 0.7).item() == 0.0
    there = antiderivative(lambda t, _: torch.exp(t), start, 0.0)
    back = antiderivative(lambda t, _: torch.exp(t), torch.zeros_like(start), 0.7)
    assert there.item() == pytest.approx(-back.item(), rel=1e-13)


def test_an_integrable_end():
    """1/√u from 0: the panels crowd where the function bends."""
    u = torch.tensor([1e-3, 1.0, 100.0], dtype=torch.float64)
    assert_close(antiderivative(lambda t, _: torch.rsqrt(t), u, 0.0), 2.0 * torch.sqrt(u), relative=1e-3)


def test_a_base_for_every_row():
    log_base = torch.linspace(-2.0, 0.0, len(U), dtype=torch.float64)
    area = antiderivative(lambda t, b: torch.exp(b) * t, U, 0.0, log_base)
    assert_close(area, 0.5 * U**2 * torch.exp(log_base), relative=1e-12)
    assert_close(antiderivative(lambda t, b: torch.exp(b) * t, U, 0.0, log_base[:1]), 0.5 * U**2 * log_base[:1].exp())


def test_shape_and_precision_are_the_heights():
    u = torch.rand(3, 4)
    area = antiderivative(lambda t, _: t, u, 0.0)
    assert area.shape == u.shape
    assert area.dtype == torch.float32
    assert_close(area, 0.5 * u**2, relative=1e-6)
