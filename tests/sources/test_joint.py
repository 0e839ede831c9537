"""Sources of joint rows: shuffled pairs, conditions beside a base, and generated rows; what is pushed on them lands."""

import pytest
import torch

import equipoise as eq
from equipoise.sources import Conditional, Generated, Shuffled


def draw(source, n, seed=0):
    out = torch.empty(n, source.features, dtype=torch.float64)
    source.draw(out, torch.Generator().manual_seed(seed))
    return out


def table(n, rho=0.8, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 1, generator=generator, dtype=torch.float64)
    return x, rho * x + (1 - rho**2) ** 0.5 * torch.randn(n, 1, generator=generator, dtype=torch.float64)


def test_shuffled_keeps_the_marginals_and_breaks_the_pairs():
    x, y = table(4000)
    rows = draw(Shuffled(x, y), 4000)
    assert torch.equal(rows[:, :1].sort(dim=0).values, x.sort(dim=0).values)
    assert torch.equal(rows[:, 1:].sort(dim=0).values, y.sort(dim=0).values)
    correlation = torch.corrcoef(rows.T)[0, 1].item()
    assert abs(correlation) < 4 / 4000**0.5


def test_shuffled_is_reproducible_and_takes_tables_of_different_length():
    x, y = table(50)
    assert torch.equal(draw(Shuffled(x, y), 80, seed=3), draw(Shuffled(x, y), 80, seed=3))
    assert draw(Shuffled(x, torch.randn(7, 2)), 30).shape == (30, 3)


def test_conditional_keeps_conditions_and_takes_targets_from_the_base():
    x, _ = table(300)
    base = eq.bases.Gaussian().fit(torch.randn(500, 2, dtype=torch.float64) + 5.0)
    source = Conditional(x, base)
    rows = draw(source, 300)
    assert torch.equal(rows[:, :1].sort(dim=0).values, x.sort(dim=0).values)
    assert (rows[:, 1:].mean(dim=0) - base.mean_).abs().max() < 5 / 300**0.5
    assert torch.equal(source.log_prob(rows), base.log_prob(rows[:, 1:]))


def test_conditional_without_a_known_target_has_no_base():
    class Sampler:
        def sample(self, n):
            return torch.zeros(n, 1)

    x, y = table(20)
    pair = eq.Pair(torch.cat([x, y], dim=1), Conditional(x, Sampler()))
    with pytest.raises(ValueError, match="not known"):
        eq.push(eq.surfaces.FullyConnected(2), "conditional_density", pair, steps=1)


def test_generated_rows_come_from_the_generator():
    rows = draw(Generated(lambda noise: 3.0 + 2.0 * noise, latent=2), 5000)
    assert (rows.mean(dim=0) - 3.0).abs().max() < 5 * 2.0 / 5000**0.5
    assert (rows.std(dim=0) - 2.0).abs().max() < 0.15


def test_generated_rows_stand_beside_their_conditions():
    x, _ = table(100)
    rows = draw(Generated(lambda seen, noise: seen + 0 * noise, latent=1, conditions=x), 100)
    assert torch.equal(rows[:, :1], rows[:, 1:])
    assert torch.equal(rows[:, :1].sort(dim=0).values, x.sort(dim=0).values)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Generated(lambda noise: noise / 0, latent=1), "NaN or infinity"),
        (lambda: Generated(lambda noise: noise.sum(), latent=1), "rows of shape"),
        (lambda: Generated(lambda noise: noise, latent=0), "at least 1"),
        (lambda: Shuffled(torch.empty(0, 1), torch.zeros(3, 1)), "left"),
        (lambda: Conditional(torch.zeros(3, 1), "no density"), "sample"),
    ],
)
def test_bad_input_is_said_at_the_door(make, said):
    with pytest.raises((TypeError, ValueError), match=said):
        make()


def test_a_conditional_density_is_learned_from_the_conditional_pairing():
    x, y = table(4000)
    base = eq.bases.Gaussian().fit(y)
    torch.manual_seed(0)
    surface = eq.surfaces.FullyConnected(2, width=32, layers=2)
    rows = torch.cat([x, y], dim=1)
    eq.push(surface, "conditional_nce", eq.Pair(rows, Conditional(x, base)), steps=800, learning_rate=0.01, seed=0)
    with torch.no_grad():
        log_density = surface(rows.float()).double() + base.log_prob(y)
    truth = torch.distributions.Normal(0.8 * x, 0.6).log_prob(y).squeeze(1)
    assert (log_density - truth).abs().median() < 0.08


def test_the_log_ratio_of_joint_to_shuffled_rows_is_the_mutual_information():
    x, y = table(4000)
    torch.manual_seed(0)
    surface = eq.surfaces.FullyConnected(2, width=32, layers=2)
    rows = torch.cat([x, y], dim=1)
    eq.push(surface, "logistic", eq.Pair(rows, Shuffled(x, y)), steps=800, learning_rate=0.01, seed=0)
    fresh = torch.cat(table(20_000, seed=1), dim=1)
    with torch.no_grad():
        pointwise = surface(fresh.float())
    truth = -0.5 * torch.log(torch.tensor(1 - 0.8**2))
    assert abs(pointwise.mean().item() - truth.item()) < 0.05


def test_a_conditional_critic_learns_the_posterior_against_a_generator():
    x, y = table(4000)
    down = Generated(lambda seen, noise: 0.6 * noise + 0 * seen, latent=1, conditions=x)
    K = eq.catalog.conditional_gan.interval
    torch.manual_seed(0)
    surface = eq.surfaces.InRange(eq.surfaces.FullyConnected(2, width=32, layers=2), K)
    rows = torch.cat([x, y], dim=1)
    eq.push(surface, "conditional_gan", eq.Pair(rows, down), steps=800, learning_rate=0.01, seed=0)
    normal = torch.distributions.Normal
    log_z = (normal(0.8 * x, 0.6).log_prob(y) - normal(0.0, 0.6).log_prob(y)).squeeze(1)
    with torch.no_grad():
        posterior = surface(rows.float()).double()
    assert (posterior - torch.sigmoid(log_z)).abs().median() < 0.03
