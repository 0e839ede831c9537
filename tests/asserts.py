"""What several test files need: the methods to walk, heights to evaluate them at, and comparisons with a message."""

import torch

from equipoise import catalog

# Families are walked at their defaults (catalog.all) and at members that take another branch of their code.
MEMBERS = [
    *catalog.all(),
    *(catalog.pso_lde(alpha) for alpha in (0.125, 0.3, 1.0, 3.0)),
    *(catalog.root_density(degree) for degree in (1, 2.5, 3)),
    *(catalog.bregman_density(phi) for phi in ("squared", "itakura_saito")),
    catalog.bregman_density(lambda s: s**3),
    *(catalog.power_divergence(alpha) for alpha in (0.1, 1.0, 2.0)),
    *(catalog.lsgan(a, b) for a, b in ((1.0, 0.0), (-1.0, 3.0))),
    *(catalog.f_divergence(kind) for kind in ("kl", "reverse_kl", "gan", "pearson", "neyman", "hellinger")),
    catalog.f_divergence("total_variation"),
    catalog.ebgan(2.5),
    catalog.hinge(0.4),
    catalog.conditional_pso_lde(0.5),
    *(catalog.binary_cross_entropy(prior) for prior in (0.1, 0.8)),
    *(catalog.softmax_cross_entropy(norm) for norm in (2.0, 7.5, float("inf"))),
]
BALANCED = [instance for instance in MEMBERS if instance.feasible]

LOG_BASE = -0.7  # of the base at every row, where magnitudes ask for one


def label(instance):
    return instance.label


def on_first(instance, function):
    """A function of one height, whatever the instance: several outputs are followed along the first, beside a zero."""
    takes_base = {"log_base": LOG_BASE} if instance.needs_base else {}
    if instance.scalar:
        return lambda u: function(u, **takes_base)
    return lambda u: function(torch.stack([u, torch.zeros_like(u)], dim=-1))[..., 0]


def ratios(low=-4.0, high=4.0, n=80):
    """Density ratios from 10^low to 10^high; an even number of them, so that 1 is not among them."""
    return torch.logspace(low, high, n, dtype=torch.float64)


def heights(instance, low=-2.0, high=2.0):
    """Heights well inside K, away from kinks; where there is no balance, heights that the surface may take."""
    if instance.feasible:
        return instance.target(ratios(low, high))
    u = torch.linspace(-3.15, 3.15, 43, dtype=torch.float64)
    return u[instance.interval.contains(u)]


def slope(function, u):
    """The derivative of a function of one height, by autograd."""
    at = u.detach().clone().requires_grad_()
    value = function(at)
    return torch.zeros_like(u) if not value.requires_grad else torch.autograd.grad(value.sum(), at)[0]


def assert_close(actual, expected, *, relative=1e-9, absolute=0.0):
    expected = torch.as_tensor(expected, dtype=actual.dtype).expand_as(actual)
    torch.testing.assert_close(actual, expected, rtol=relative, atol=absolute)


def assert_no_nan(values, u):
    assert not torch.isnan(values).any(), f"NaN at u = {u[torch.isnan(values)].tolist()}"
