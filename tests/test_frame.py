import pytest
import torch

from equipoise import catalog, frame
from tests.asserts import assert_close, slope

FRAMES = [frame.RATIO, frame.LOG_DENSITY, frame.DENSITY, frame.root(2.0), frame.root(3.5)]
EVERY = pytest.mark.parametrize("of", FRAMES, ids=lambda f: f.name)
U = torch.linspace(0.1, 5.0, 40, dtype=torch.float64)
LOG_BASE = torch.linspace(-30.0, 2.0, 40, dtype=torch.float64)


@EVERY
def test_relative_inverts_height(of):
    assert_close(of.relative(of.height(U, LOG_BASE), LOG_BASE), U, relative=1e-12)


@EVERY
def test_slope_is_the_derivative_of_the_height(of):
    assert_close(of.slope(U, LOG_BASE), slope(lambda u: of.height(u, LOG_BASE), U), relative=1e-12)


def test_formulas():
    p = torch.exp(LOG_BASE)
    assert_close(frame.RATIO.height(U), U)
    assert_close(frame.LOG_DENSITY.height(U, LOG_BASE), U + LOG_BASE)
    assert_close(frame.DENSITY.height(U, LOG_BASE), U * p)
    assert_close(frame.root(3.0).height(U, LOG_BASE), U * p ** (1.0 / 3.0), relative=1e-12)


@pytest.mark.parametrize("of", FRAMES[1:], ids=lambda f: f.name)
def test_a_height_without_its_base_is_refused(of):
    with pytest.raises(ValueError, match="log_base"):
        of.height(U)


@EVERY
def test_no_base_gives_no_nan(of):
    for u in (U, -U):
        assert not torch.isnan(of.height(u, -torch.inf)).any()


def test_one_base_serves_all_rows():
    assert_close(frame.DENSITY.height(U, -1.0), U * torch.exp(torch.tensor(-1.0, dtype=torch.float64)))


def test_a_density_keeps_its_value_in_every_frame():
    """At the balance u = T(p_up / p_down) the height is what the estimand says."""
    log_p_down = LOG_BASE
    log_p_up = torch.linspace(-20.0, -1.0, 40, dtype=torch.float64)
    z = torch.exp(log_p_up - log_p_down)
    for name, expected in (
        ("nce", log_p_up),
        ("deep_pdf", torch.exp(log_p_up)),
        ("mle", torch.exp(log_p_up)),
        ("root_density", torch.exp(0.5 * log_p_up)),
        ("log_ratio", log_p_up - log_p_down),
    ):
        instance = catalog.get(name)
        assert_close(instance.height(instance.target(z), log_p_down), expected, relative=1e-9)
