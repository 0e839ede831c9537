import numpy as np
import pytest
import torch

from equipoise.interval import POSITIVE
from equipoise.magnitude import Inverse, Magnitude, Quadrature, Quotient
from tests.asserts import assert_close

U = torch.linspace(-2.0, 2.0, 9, dtype=torch.float64)


def test_a_function_of_the_height():
    magnitude = Magnitude.of(torch.exp, "M")
    assert not magnitude.needs_base
    assert_close(magnitude(U), torch.exp(U))
    assert_close(magnitude(U, -3.0), torch.exp(U))


def test_a_function_of_the_height_and_the_base():
    magnitude = Magnitude.of(lambda u, log_base: u * torch.exp(log_base), "M_up of mine")
    assert magnitude.needs_base
    assert_close(magnitude(U, -1.0), U * torch.exp(torch.tensor(-1.0).double()))
    assert_close(magnitude(U, U), U * torch.exp(U))
    with pytest.raises(ValueError, match=r"M_up of mine depends on the base.*log_base"):
        magnitude(U)


def test_an_optional_base():
    magnitude = Magnitude.of(lambda u, log_base=None: u if log_base is None else u + log_base, "M")
    assert not magnitude.needs_base
    assert_close(magnitude(U), U)
    assert_close(magnitude(U, 1.0), U + 1.0)


def test_a_second_argument_of_another_name_and_a_default_is_not_the_base():
    magnitude = Magnitude.of(lambda u, power=2.0: u**power, "M")
    assert_close(magnitude(U, -5.0), U**2)


@pytest.mark.parametrize("constant", [2, 2.0, lambda _: 2.0, lambda _: 2], ids=["int", "float", "returned", "whole"])
def test_a_constant(constant):
    assert_close(Magnitude.of(constant, "M")(U), torch.full_like(U, 2.0))


def test_values_come_in_the_precision_of_the_heights():
    for dtype in (torch.float32, torch.float64):
        u = U.to(dtype)
        for function in (lambda u: u > 0, lambda u: (u > 0).float(), lambda u: u.double(), lambda _: 1):
            assert Magnitude.of(function, "M")(u).dtype == dtype


@pytest.mark.parametrize("u", [0.5, 2, [1, 2], torch.tensor([1, 2]), np.array([0.5, 1.5]), np.float32(0.5)])
def test_heights_may_be_any_numbers(u):
    came = Magnitude.of(torch.exp, "M")(u)
    assert came.is_floating_point()
    assert came.dtype == (torch.float64 if isinstance(u, np.ndarray) else torch.float32)
    np.testing.assert_allclose(came, np.exp(np.asarray(u)), rtol=1e-6)


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match=r"M must be a function of heights or a number, got 'exp\(u\)'.*from_formulas"):
        Magnitude.of("exp(u)", "M")
    with pytest.raises(TypeError, match="M must be a function of heights or a number, got None"):
        Magnitude.of(None, "M")
    with pytest.raises(TypeError, match="M must return a tensor, or a number, got a ndarray"):
        Magnitude.of(lambda u: u.numpy(), "M")(U)


def test_a_magnitude_stays_as_it_is():
    magnitude = Magnitude.of(torch.exp, "M")
    assert Magnitude.of(magnitude, "another") is magnitude


def test_one_value_per_height_is_asked_for():
    with pytest.raises(ValueError, match=r"M_up of mine must return one value per height: got \(\) for u of \(9,\)"):
        Magnitude.of(torch.sum, "M_up of mine")(U)


@pytest.mark.parametrize("shape", [(8,), (2, 9), (9, 1), (0,)])
def test_a_base_stands_beside_every_height_or_is_one_for_all(shape):
    magnitude = Magnitude.of(lambda u, log_base: u + log_base, "M_up of mine")
    with pytest.raises(ValueError, match=rf"log_base as one number per height.*got \({shape[0]},.* for u of \(9,\)"):
        magnitude(U, torch.zeros(shape))
    assert_close(magnitude(U, torch.ones(1)), U + 1.0)
    assert_close(magnitude(torch.stack([U, U], -1), U.unsqueeze(-1)), torch.stack([2.0 * U, 2.0 * U], -1))


@pytest.mark.parametrize("function", [lambda: 1.0, lambda u, v, w: u], ids=["none", "three"])
def test_functions_of_anything_else_are_refused(function):
    with pytest.raises(TypeError, match=r"\(u\) or \(u, log_base\)"):
        Magnitude.of(function, "M")


def test_quotient_and_inverse_are_each_others():
    ratio = Quotient(Magnitude.of(lambda u: 1.0 / u, "up"), Magnitude.of(lambda u: u**2, "down"))
    z = torch.tensor([1e-6, 0.3, 8.0, 1e9], dtype=torch.float64)
    u = Inverse(ratio, POSITIVE, 1)(z)
    assert_close(u, z ** (1.0 / 3.0), relative=1e-12)
    assert_close(ratio(u), z, relative=1e-12)


def test_quotient_and_inverse_follow_the_base():
    ratio = Quotient(Magnitude.of(1.0, "up"), Magnitude.of(lambda u, log_base: u * torch.exp(log_base), "down"))
    z = torch.tensor([0.5, 2.0], dtype=torch.float64)
    assert_close(Inverse(ratio, POSITIVE, 1)(z, 1.0), z / torch.e, relative=1e-12)


def test_a_quotient_knows_whether_it_needs_the_base():
    plain, against = Magnitude.of(1.0, "up"), Magnitude.of(lambda u, log_base: u * log_base, "down")
    assert not Quotient(plain, plain).needs_base
    assert Quotient(plain, against).needs_base


def test_quadrature_follows_the_base_row_by_row():
    primitive = Quadrature(Magnitude.of(lambda u, log_base: u * torch.exp(log_base), "M"), start=0.0)
    assert primitive.needs_base
    log_base = torch.linspace(-3.0, 0.0, 9, dtype=torch.float64)
    assert_close(primitive(U, log_base), 0.5 * U**2 * torch.exp(log_base), relative=1e-12)


def test_quadrature_of_several_outputs_is_refused():
    with pytest.raises(ValueError, match="several outputs"):
        Quadrature(Magnitude.of(torch.exp, "M"), start=0.0, scalar=False)(U)
