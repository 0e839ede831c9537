"""Cross-entropy as forces: torch's gradients, the balance at log P(Y|X) for every norm, priors from labels."""

from math import inf, log

import pytest
import torch
from hypothesis import given, strategies as st
from tests.asserts import assert_close, assert_no_nan
from torch.nn import functional as F

from equipoise import catalog
from equipoise.batch import Batch

NORMS = [1.0, 1.5, 2.0, 7.0, inf]
EVERY_NORM = pytest.mark.parametrize("norm", NORMS)
CLASSES = 4


def labelled(n=60, classes=CLASSES, weighted=False):
    generator = torch.Generator().manual_seed(5)
    labels = torch.randint(classes, (n,), generator=generator)
    weight = torch.rand(n, generator=generator, dtype=torch.float64) if weighted else None
    logits = 3.0 * torch.randn(n, classes, generator=generator, dtype=torch.float64)
    return logits, Batch(torch.zeros(n, 1), n_up=n, labels=labels, weight=weight)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_softmax_forces_are_the_gradient_of_torchs_cross_entropy(weighted):
    logits, rows = labelled(weighted=weighted)
    logits.requires_grad_()
    losses = F.cross_entropy(logits, rows.labels, reduction="none")
    share = torch.ones(60).double() / 60.0 if rows.weight is None else rows.weight / rows.weight.sum()
    expected = torch.autograd.grad((share * losses).sum(), logits)[0]
    forces = catalog.softmax_cross_entropy().forces(logits.detach(), rows)
    assert_close(forces, expected, relative=1e-12, absolute=1e-15)


@EVERY_NORM
def test_softmax_forces_are_the_papers_with_priors_from_the_labels(norm):
    """The dense twin: surface by surface, P(Y=j) = N_j/N, means over N_j and N − N_j rows (lines 9279 to 9400)."""
    logits, rows = labelled()
    forces = catalog.softmax_cross_entropy(norm).forces(logits, rows)
    exps = torch.exp(logits)
    one, below = exps.sum(1), torch.linalg.vector_norm(exps, norm, dim=1)
    n = len(logits)
    for j in range(CLASSES):
        own = rows.labels == j
        prior = own.double().mean()
        up = prior * (one - exps[:, j]) / below
        down = (1.0 - prior) * exps[:, j] / below
        expected = torch.where(own, -up / own.sum(), down / (n - own.sum()))
        assert_close(forces[:, j], expected, relative=1e-11, absolute=1e-15)


@EVERY_NORM
def test_softmax_magnitudes_and_ratio(norm):
    """M_up,j = (‖e^f‖₁ − e^{f_j})/‖e^f‖_p and M_down,j = e^{f_j}/‖e^f‖_p; R is their quotient, whatever the norm."""
    logits, _ = labelled()
    instance = catalog.softmax_cross_entropy(norm)
    exps = torch.exp(logits)
    one, below = exps.sum(1, keepdim=True), torch.linalg.vector_norm(exps, norm, dim=1, keepdim=True)
    assert_close(instance.up(logits), (one - exps) / below, relative=1e-9)
    assert_close(instance.down(logits), exps / below, relative=1e-11)
    assert_close(instance.ratio(logits), exps / (one - exps), relative=1e-9)
    assert_close(instance.down(logits) / instance.up(logits), instance.ratio(logits), relative=1e-11)


@EVERY_NORM
def test_softmax_balances_at_the_log_posterior(norm):
    """X of five values, P(X, Y) known: rows (x, y) of weight P(x, y). At u = log P(Y|X) + c(X) every x is at rest."""
    generator = torch.Generator().manual_seed(6)
    joint = torch.rand(5, CLASSES, generator=generator, dtype=torch.float64)
    joint /= joint.sum()
    posterior = joint / joint.sum(1, keepdim=True)
    rows = Batch(
        x=torch.arange(5).repeat_interleave(CLASSES).unsqueeze(1),
        n_up=5 * CLASSES,
        labels=torch.arange(CLASSES).repeat(5),
        weight=joint.flatten(),
    )
    instance = catalog.softmax_cross_entropy(norm)

    def net(u):
        return instance.forces(u.repeat_interleave(CLASSES, 0), rows).view(5, CLASSES, CLASSES).sum(1)

    shift = torch.randn(5, 1, generator=generator, dtype=torch.float64)
    assert net(torch.log(posterior) + shift).abs().max() < 1e-15
    assert net(torch.zeros(5, CLASSES, dtype=torch.float64)).abs().max() > 1e-3
    u = torch.randn(5, CLASSES, generator=generator, dtype=torch.float64)
    norms = torch.linalg.vector_norm(torch.exp(u), norm, dim=1, keepdim=True)
    scale = torch.exp(u).sum(1, keepdim=True) / norms * joint.sum(1, keepdim=True)
    assert_close(net(u), scale * (torch.softmax(u, 1) - posterior), relative=1e-9, absolute=1e-15)


@EVERY_NORM
def test_softmax_magnitudes_stay_in_their_bounds_at_extreme_heights(norm):
    instance = catalog.softmax_cross_entropy(norm)
    u = torch.tensor([[1e4, 0.0, -1e4], [1e8, 1e8, -1e8], [-1e4, -1e4, -1e4], [1e-30, 0.0, -1e-30], [50.0, 0.0, -50.0]])
    u = torch.cat([u, -u, torch.full((1, 3), 3e38), torch.full((1, 3), -3e38)])
    for side, bound in ((instance.up, 2.0 ** (1.0 - 1.0 / norm)), (instance.down, 1.0)):  # (C − 1)^(1 − 1/p), and 1
        assert_no_nan(side(u), u)
        assert bool(((side(u) >= 0.0) & (side(u) <= bound * (1.0 + 1e-6))).all())


@EVERY_NORM
def test_softmax_magnitudes_do_not_depend_on_a_common_height(norm):
    instance = catalog.softmax_cross_entropy(norm)
    u = torch.tensor([[0.5, -1.0, 2.0], [0.0, 0.0, 0.0]])
    for side in (instance.up, instance.down):
        assert_close(side(u + 4096.0), side(u), relative=1e-6)


def test_one_minus_the_largest_share_does_not_cancel():
    u = torch.tensor([[60.0, 0.0, 1.0]], dtype=torch.float64)
    expected = (1.0 + torch.e) * torch.exp(torch.tensor(-60.0).double())
    assert_close(catalog.softmax_cross_entropy().up(u)[0, 0], expected, relative=1e-12)


def test_the_loss_of_a_saturated_class_does_not_run_out_of_digits():
    """M̃_down = −log(1 − softmax) with softmax = 1 in float64: the margin between the largest and the others."""
    u = torch.tensor([[60.0, 0.0, 1.0], [-800.0, 800.0, 0.0], [-1e4, 1e4, -1e4]], dtype=torch.float64)
    instance = catalog.softmax_cross_entropy()
    others = torch.log1p(torch.tensor(torch.e, dtype=torch.float64))
    assert_close(instance.down_primitive(u).amax(-1), [60.0 - others, 800.0, 2e4 - log(2.0)])
    slopes = torch.autograd.functional.jacobian(instance.down_primitive, u[0])
    assert_close(torch.diagonal(slopes), instance.down(u[0]))


def test_softmax_primitives_are_of_norm_one_only():
    logits, _ = labelled()
    instance = catalog.softmax_cross_entropy()
    assert_close(instance.up_primitive(logits), torch.log_softmax(logits, 1))
    assert not catalog.softmax_cross_entropy(2.0).has_loss
    with pytest.raises(ValueError, match="several outputs"):
        catalog.softmax_cross_entropy(2.0).up_primitive(logits)


def test_two_classes_are_binary():
    """With u₂ = 0 the first surface's forces are those of binary cross-entropy on logits."""
    generator = torch.Generator().manual_seed(7)
    u = torch.randn(40, generator=generator, dtype=torch.float64)
    labels = torch.randint(2, (40,), generator=generator)
    rows = Batch(torch.zeros(40, 1), n_up=40, labels=1 - labels)
    forces = catalog.softmax_cross_entropy().forces(torch.stack([u, torch.zeros_like(u)], 1), rows)[:, 0]
    at = u.clone().requires_grad_()
    expected = torch.autograd.grad(F.binary_cross_entropy_with_logits(at, labels.double()), at)[0]
    assert_close(forces, expected, relative=1e-12, absolute=1e-16)


@given(st.integers(1, 39))
def test_binary_cross_entropy_with_priors_is_torchs(positives):
    """On a labelled sample, P(Y=1) = N₁/N: up rows of label 1, down rows of label 0 (Eq. CEBLoss_PSO_emp)."""
    n = 40
    u = torch.linspace(-6.0, 6.0, n, dtype=torch.float64)
    labels = (torch.arange(n) < positives).double()
    instance = catalog.binary_cross_entropy(positives / n)
    rows = Batch(torch.zeros(n, 1), n_up=positives)
    at = u.clone().requires_grad_()
    loss = F.binary_cross_entropy_with_logits(at, labels)
    assert_close(instance.forces(u, rows), torch.autograd.grad(loss, at)[0], relative=1e-12)
    ours = -instance.up_primitive(u[:positives]).mean() + instance.down_primitive(u[positives:]).mean()
    assert ours.item() == pytest.approx(loss.item(), rel=1e-12)


def test_labels_and_outputs_are_asked_for():
    instance = catalog.softmax_cross_entropy()
    with pytest.raises(ValueError, match="needs labels"):
        instance.forces(torch.zeros(4, 3), Batch(torch.zeros(4, 1), 4))
    for shape in ((4,), (4, 1)):
        with pytest.raises(ValueError, match=r"\(n, C\) with C >= 2"):
            instance.forces(torch.zeros(shape), Batch(torch.zeros(4, 1), 4, labels=torch.zeros(4, dtype=torch.long)))
