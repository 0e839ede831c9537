"""Landing: pushed in one dimension, every instance with a balance comes to rest on its T.

up N(0.4, 1), down N(−0.4, 1):  log z = 0.8·x,     median |log R(u) − log z| ≤ 0.1 over 0.2 < z < 5
"""

from math import log

import pytest
import torch
from tests.asserts import label

from equipoise import Pair, catalog, push
from equipoise.sources import Mixture
from equipoise.surfaces import FullyConnected, InRange

UP, DOWN = torch.distributions.Normal(0.4, 1.0), torch.distributions.Normal(-0.4, 1.0)
X = torch.linspace(-4.0, 4.0, 401).unsqueeze(1)

LANDING = [
    *(instance for instance in catalog.all() if instance.scalar and instance.feasible),
    catalog.lsgan(1.0, 0.0),  # of sign −1
    catalog.pso_lde(0.125),
    catalog.root_density(3),
    catalog.power_divergence(2.0),
    *(catalog.f_divergence(kind) for kind in ("kl", "reverse_kl", "pearson", "neyman", "hellinger")),
]


def surface_for(instance):
    torch.manual_seed(0)
    surface = FullyConnected(1, width=32, layers=2)
    return surface if instance.heights.is_real_line else InRange(surface, instance.interval)


def land(instance, steps=400, seed=1):
    """The pushed surface, its history, and log z along X."""
    log_z, down = 0.8 * X.squeeze(1), DOWN
    if instance.pairing.z_high == 2.0:
        log_z = log(2.0) - torch.nn.functional.softplus(-log_z)
        down = Mixture([UP, DOWN])
    surface = surface_for(instance)
    history = push(surface, instance, Pair(UP, down), steps=steps, n_up=500, learning_rate=0.01, seed=seed)
    return surface, history, log_z


@pytest.mark.parametrize("instance", LANDING, ids=label)
def test_every_instance_lands_on_its_target(instance):
    surface, history, log_z = land(instance)
    within = (log_z > log(0.2)) & (log_z < log(5.0))
    with torch.no_grad():
        u = surface(X)
    error = (instance.log_ratio(u) - log_z)[within].abs()
    assert error.median() <= 0.1
    assert bool(instance.heights.contains(u).all())
    if instance.bounded:  # elsewhere one batch's mean is too wild to tell
        assert abs(history.balance[-1]) <= 0.1 * abs(history.up_force[-1])
