"""Forces: the gradient of the loss where there is one, and the scalar rule where there is none."""

import pytest
import torch

from equipoise import Instance, catalog
from equipoise.batch import Batch
from tests.asserts import MEMBERS, assert_close, heights, label

WITH_LOSS = [instance for instance in MEMBERS if instance.has_loss and instance.scalar]
N_UP, N_DOWN, OUTPUTS = 30, 24, 3


def batch(weighted=False):
    n = N_UP + N_DOWN
    generator = torch.Generator().manual_seed(1)
    return Batch(
        x=torch.zeros(n, 2),
        n_up=N_UP,
        log_base=torch.randn(n, generator=generator, dtype=torch.float64) - 1.0,
        weight=torch.rand(n, generator=generator, dtype=torch.float64) if weighted else None,
    )


def draw(instance, shape):
    """Heights drawn from those that lie well inside K."""
    within = heights(instance, -1.5, 1.5)
    return within[torch.randint(len(within), shape, generator=torch.Generator().manual_seed(2))]


def loss(instance, u, rows):
    """−mean M̃_up over up rows plus mean M̃_down over down rows, means weighted where weights are given."""
    log_base = rows.log_base if u.dim() == 1 else rows.log_base[:, None].expand_as(u)
    weight = torch.ones(len(u), dtype=u.dtype) if rows.weight is None else rows.weight
    up = instance.up_primitive(u[:N_UP], log_base[:N_UP])
    down = instance.down_primitive(u[N_UP:], log_base[N_UP:])
    return (
        torch.tensordot(weight[N_UP:] / weight[N_UP:].sum(), down, 1)
        - torch.tensordot(weight[:N_UP] / weight[:N_UP].sum(), up, 1)
    ).sum()


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("shape", [(), (OUTPUTS,)], ids=["one output", "three outputs"])
@pytest.mark.parametrize("instance", WITH_LOSS, ids=label)
def test_forces_are_the_gradient_of_the_loss(instance, shape, weighted):
    rows = batch(weighted)
    u = draw(instance, (N_UP + N_DOWN, *shape)).requires_grad_()
    expected = torch.autograd.grad(loss(instance, u, rows), u)[0]
    forces = instance.forces(u.detach(), rows)
    assert forces.shape == u.shape
    assert_close(forces, expected, relative=1e-9, absolute=1e-15)


@pytest.mark.parametrize("instance", [i for i in MEMBERS if i.scalar], ids=label)
def test_forces_are_the_scalar_rule(instance):
    """The dense twin, row by row (Eq. GeneralPSOLossFrml, line 591)."""
    rows = batch()
    u = draw(instance, (N_UP + N_DOWN,))
    forces = instance.forces(u, rows)
    for i in (0, N_UP - 1, N_UP, N_UP + N_DOWN - 1):
        at, base = u[i : i + 1], rows.log_base[i : i + 1]
        expected = -instance.up(at, base) / N_UP if i < N_UP else instance.down(at, base) / N_DOWN
        assert_close(forces[i : i + 1], expected, relative=1e-12)


def test_backward_on_the_heights_is_the_gradient_of_the_loss_in_the_surface():
    """One backward call with the forces gives the loss's gradient in every parameter."""
    instance, rows = catalog.pso_lde(0.25), batch()
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(N_UP + N_DOWN, 2, generator=generator, dtype=torch.float64)
    surface = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
    pushed = surface(x).squeeze(-1)
    pushed.backward(instance.forces(pushed.detach(), rows))
    gradients = [parameter.grad.clone() for parameter in surface.parameters()]
    expected = torch.autograd.grad(loss(instance, surface(x).squeeze(-1), rows), list(surface.parameters()))
    for gradient, of_loss in zip(gradients, expected, strict=True):
        assert_close(gradient, of_loss, relative=1e-9, absolute=1e-15)


def test_equal_weights_are_no_weights():
    instance = catalog.get("nce")
    plain = batch()
    u = draw(instance, (N_UP + N_DOWN,))
    weighted = Batch(plain.x, N_UP, plain.log_base, weight=torch.full((N_UP + N_DOWN,), 7.0, dtype=torch.float64))
    assert_close(instance.forces(u, weighted), instance.forces(u, plain), relative=1e-12)


def test_a_row_of_weight_two_is_a_row_twice():
    instance = catalog.get("logistic")
    u = torch.tensor([0.3, -0.2, 0.9, 1.4], dtype=torch.float64)
    weighted = instance.forces(u, Batch(torch.zeros(4, 1), 2, weight=torch.tensor([2.0, 1.0, 1.0, 3.0]).double()))
    repeats = torch.tensor([0, 0, 1, 2, 3, 3, 3])
    repeated = instance.forces(u[repeats], Batch(torch.zeros(7, 1), 3))
    assert_close(weighted, torch.zeros(4, dtype=torch.float64).index_add(0, repeats, repeated), relative=1e-12)


@pytest.mark.parametrize("n_up", [0, 3], ids=["no up rows", "no down rows"])
def test_a_side_without_rows_has_no_force(n_up):
    instance = catalog.get("nce")
    forces = instance.forces(torch.zeros(3), Batch(torch.zeros(3, 1), n_up))
    assert_close(forces, (-0.5 if n_up else 0.5) * torch.ones(3) / 3.0, relative=1e-6)


def test_signs():
    """Up rows are pushed up, down rows down: descent on the heights moves against the weights."""
    instance = catalog.get("nce")
    forces = instance.forces(torch.zeros(5), Batch(torch.zeros(5, 1), 2))
    assert bool((forces[:2] < 0).all())
    assert bool((forces[2:] > 0).all())


def test_a_missing_base_is_asked_for():
    with pytest.raises(ValueError, match="log_base"):
        catalog.get("deep_pdf").forces(torch.ones(4), Batch(torch.zeros(4, 1), 2))


def test_an_own_rule_replaces_the_scalar_one():
    mine = Instance("mine", torch.exp, torch.exp, force_rule=lambda _, u, rows: u * rows.n_down)
    assert not mine.scalar
    assert_close(mine.forces(torch.ones(5), Batch(torch.zeros(5, 1), 2)), torch.full((5,), 3.0))
