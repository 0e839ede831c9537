"""Kernel surfaces against closed forms: Nyström on all points is the kernel, and pushes follow its gradient flow."""

import pytest
import torch
from tests.asserts import assert_close

import equipoise as eq
from equipoise.surfaces import Kernel
from equipoise.surfaces.radial import RADIAL, radial

KINDS = pytest.mark.parametrize("kind", RADIAL)


def rows(n=40, d=3, seed=0):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def exact(kind, x, y, bandwidth):
    apart = (x[:, None] - y[None]).norm(dim=2) / bandwidth
    return torch.exp(-0.5 * apart.square()) if kind == "gaussian" else torch.exp(-apart)


@pytest.fixture(autouse=True)
def _double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@KINDS
@pytest.mark.parametrize("bandwidth", [0.3, 2.0])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_a_matrix_is_the_formula(kind, bandwidth, offset):
    x, y = rows(seed=1) + offset, rows(25) + offset
    width = torch.tensor(bandwidth)
    ours = radial(kind).matrix(x, y, width)
    assert_close(ours, exact(kind, x, y, bandwidth), relative=1e-9, absolute=1e-12)
    assert_close(torch.func.vmap(lambda x: radial(kind).matrix(x[None], y, width)[0])(x), ours, absolute=1e-13)


@KINDS
def test_at_a_centre_the_kernel_is_one_to_the_last_digit(kind):
    x = (rows() * 3).float()
    peak = radial(kind).matrix(x, x, torch.tensor(0.5)).diagonal()
    assert float((peak - 1).abs().max()) < (1e-4 if kind == "gaussian" else 1e-7)
    assert float(peak.max()) <= 1.0


@KINDS
def test_with_all_points_as_centres_it_is_the_exact_kernel(kind):
    x = rows()
    bumps = Kernel(x, 1.0, kind).feature_map(x)
    assert_close(bumps @ bumps.T, exact(kind, x, x, 1.0), absolute=1e-6)


@KINDS
def test_elsewhere_it_is_the_kernel_s_projection_onto_the_centres(kind):
    x, centres = rows(30, seed=1), rows(12)
    bumps = Kernel(centres, 1.5, kind).feature_map(x)
    across = exact(kind, x, centres, 1.5)
    assert_close(
        bumps @ bumps.T, across @ torch.linalg.solve(exact(kind, centres, centres, 1.5), across.T), absolute=1e-8
    )


@KINDS
def test_more_centres_come_nearer_to_the_kernel(kind):
    x = rows(200, 2, seed=1)
    errors = []
    for count in (5, 20, 80):
        bumps = Kernel.on_rows(rows(400, 2), count, bandwidth=1.5, kind=kind, seed=0).feature_map(x)
        errors.append(float((bumps @ bumps.T - exact(kind, x, x, 1.5)).square().mean().sqrt()))
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


@KINDS
def test_heights_are_weights_on_features(kind):
    surface, x = Kernel(rows(12), 1.0, kind, outputs=2), rows(seed=1)
    with torch.no_grad():
        surface.weights.normal_()
        surface.bias.normal_()
    assert_close(surface(x), surface.feature_map(x) @ surface.weights + surface.bias, absolute=1e-10)


@KINDS
def test_a_step_of_unit_magnitudes_is_the_witness_of_mmd(kind):
    up, down, elsewhere = rows(20), rows(15, seed=1) + 0.5, rows(30, seed=2)
    surface = Kernel(torch.cat([up, down]), 1.2, kind)
    batch = eq.Pair(up, down).draw(20, 15, torch.Generator().manual_seed(0), like=up)
    u = surface(batch.x)
    u.backward(eq.catalog.unit.forces(u.detach(), batch))
    with torch.no_grad():
        surface.weights.sub_(0.7 * surface.weights.grad)
        surface.bias.sub_(0.7 * surface.bias.grad)
    up_rows, down_rows = batch.x[:20], batch.x[20:]
    witness = exact(kind, elsewhere, up_rows, 1.2).mean(1) - exact(kind, elsewhere, down_rows, 1.2).mean(1)
    # witness at points outside of the span is the projection; at the centres it is exact
    at = torch.cat([up, down])
    exactly = exact(kind, at, up_rows, 1.2).mean(1) - exact(kind, at, down_rows, 1.2).mean(1)
    assert_close(surface(at), 0.7 * exactly, absolute=1e-6)
    assert_close(surface(elsewhere), 0.7 * witness, absolute=1e-6)  # both sides lie in the span of all points


@KINDS
def test_steps_of_descent_are_gradient_flow_in_its_space(kind):
    x = rows(25)
    surface, target = Kernel(x, 1.0, kind), torch.sin(3 * x[:, 0])
    gram = exact(kind, x, x, 1.0)
    u = torch.zeros(25)
    for _ in range(20):  # of half the squared distance to a target
        force = (u - target) / 25
        u = u - (gram @ force + force.sum())  # the bias is a constant kernel beside
        heights = surface(x)
        surface.zero_grad()
        heights.backward(((heights - target) / 25).detach())
        with torch.no_grad():
            for parameter in surface.parameters():
                parameter.sub_(parameter.grad)
    assert_close(surface(x), u, absolute=1e-6)


def test_repeated_centres_do_no_harm():
    points = rows(10)
    once, twice = Kernel(points), Kernel(torch.cat([points, points]))
    x = rows(seed=1)
    ours, theirs = (surface.feature_map(x) for surface in (twice, once))
    assert_close(ours @ ours.T, theirs @ theirs.T, absolute=1e-6)


def test_in_float32_whitening_leaves_out_what_rounding_has_filled():
    torch.set_default_dtype(torch.float32)
    surface = Kernel.on_rows(rows(500, 1), 200, bandwidth=1.0, seed=0)
    x = rows(100, 1, seed=1)
    bumps = surface.feature_map(x.float()).double()
    assert float((bumps @ bumps.T - exact("gaussian", x, x, 1.0)).abs().max()) < 2e-2


def test_the_median_bandwidth_is_the_median_distance():
    x = rows(300)
    surface = Kernel.on_rows(x, 20, seed=0)
    assert float(surface.bandwidth) == pytest.approx(float(torch.pdist(x).median()), rel=1e-12)


def test_a_push_learns_a_log_ratio():
    torch.set_default_dtype(torch.float32)
    up, down = torch.randn(4000, 1, generator=torch.Generator().manual_seed(0)) + 1, rows(4000, 1).float()
    surface = Kernel.on_rows(torch.cat([up, down]), 30, seed=0)
    eq.push(surface, "logistic", eq.Pair(up, down), steps=400, n_up=500, learning_rate=0.05, seed=0)
    x = torch.linspace(-1, 2, 7).unsqueeze(1)
    assert float((surface(x).detach() - (x[:, 0] - 0.5)).abs().max()) < 0.3


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Kernel(torch.zeros(3)), r"\(m, d\)"),
        (lambda: Kernel(torch.zeros(0, 2)), r"\(m, d\)"),
        (lambda: Kernel([[float("nan")]]), "finite"),
        (lambda: Kernel(rows(), outputs=0), "at least 1"),
        (lambda: Kernel(rows(), 0.0), "positive number, got 0.0"),
        (lambda: Kernel(rows(), float("inf")), "positive number"),
        (lambda: Kernel(rows(), kind="cubic"), "gaussian, laplacian, got 'cubic'"),
        (lambda: Kernel.on_rows(rows(), bandwidth="mean"), "'median', got 'mean'"),
        (lambda: Kernel.on_rows(rows(), 41), "between 1 and the 40 rows"),
        (lambda: Kernel.on_rows(rows(), 4, at="grid"), "'random' or 'spread'"),
        (lambda: Kernel.on_rows(torch.ones(30, 2), 4), "one point"),
        (lambda: Kernel(rows())(rows(d=2)), "rows of 3 columns"),
    ],
)
def test_bad_input_is_said(make, said):
    with pytest.raises(ValueError, match=said):
        make()
