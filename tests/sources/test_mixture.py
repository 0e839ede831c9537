"""Mixtures of sources: shares, log densities, and the pair that contains the data."""

import numpy as np
import pytest
import torch
from tests.asserts import assert_close

from equipoise import bases
from equipoise.sources import Known, Mixture, Rows

UP, DOWN = (torch.distributions.Normal(torch.tensor([mean], dtype=torch.float64), 1.0) for mean in (0.5, -0.5))


def rows_of(source, n, seed=0):
    out = torch.empty(n, source.features, dtype=torch.float64)
    assert source.draw(out, torch.Generator().manual_seed(seed)) is None
    return out


@pytest.mark.parametrize("weights", [None, [1.0, 1.0, 1.0], [1, 2, 7], [0.0, 0.5, 0.5]])
def test_parts_come_in_their_shares(weights):
    """Counts of 30,000 rows, within five standard errors; and the parts are not in blocks."""
    n = 30_000
    x = rows_of(Mixture([np.full((4, 1), float(k)) for k in range(3)], weights), n).squeeze(1)
    shares = np.full(3, 1 / 3) if weights is None else np.array(weights) / sum(weights)
    for k, share in enumerate(shares):
        assert (x == k).double().mean().item() == pytest.approx(share, abs=5.0 * np.sqrt(share * (1 - share) / n))
    half = x[: n // 2].mean().item() - x[n // 2 :].mean().item()
    assert abs(half) < 5.0 * x.std().item() * np.sqrt(4.0 / n)


def test_log_prob_is_that_of_the_weighted_sum():
    mixture = Mixture([UP, DOWN], [1.0, 3.0])
    x = torch.linspace(-40.0, 40.0, 81, dtype=torch.float64).unsqueeze(1)
    by_hand = torch.logsumexp(torch.cat([UP.log_prob(x) + np.log(0.25), DOWN.log_prob(x) + np.log(0.75)], dim=1), dim=1)
    assert_close(mixture.log_prob(x), by_hand, relative=1e-12)


def test_a_part_of_no_share_does_not_count():
    x = torch.linspace(-3.0, 3.0, 13, dtype=torch.float64).unsqueeze(1)
    assert_close(Mixture([UP, DOWN], [1.0, 0.0]).log_prob(x), UP.log_prob(x).squeeze(1))


def test_outside_a_part_the_others_remain():
    box = bases.Uniform([0.0], [1.0])
    x = torch.tensor([[0.5], [3.0]], dtype=torch.float64)
    expected = torch.log(0.5 * torch.exp(UP.log_prob(x).squeeze(1)) + 0.5 * torch.tensor([1.0, 0.0]))
    assert_close(Mixture([UP, box]).log_prob(x), expected, relative=1e-12)


def test_a_part_that_is_not_known_makes_the_mixture_unknown():
    assert Mixture([np.zeros((5, 1)), DOWN]).log_prob is None
    assert Mixture([UP, Mixture([np.zeros((5, 1)), DOWN])]).log_prob is None
    assert Mixture([UP, DOWN]).log_prob is not None


def test_the_pair_that_contains_the_data_keeps_z_below_two():
    """NDMR's down density is half the up density (line 2433)."""
    x = torch.linspace(-8.0, 30.0, 400, dtype=torch.float64).unsqueeze(1)
    z = torch.exp(Known(UP).log_prob(x) - Mixture([UP, DOWN]).log_prob(x))
    assert z.max().item() == pytest.approx(2.0, rel=1e-9)
    assert bool((z <= 2.0).all())
    assert z.min() < 0.01


def test_a_seed_repeats_the_draw():
    table = np.random.default_rng(0).normal(size=(20, 1))
    first, again, other = (rows_of(Mixture([Rows(table), DOWN]), 9, seed) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_rows_of_a_part_are_drawn_once_per_epoch():
    table = np.arange(1.0, 101.0)
    x = rows_of(Mixture([Rows(table), np.zeros((1, 1))]), 150).squeeze(1)
    seen = x[x > 0]
    assert len(torch.unique(seen)) == len(seen) <= 100


@pytest.mark.parametrize(
    ("parts", "weights", "words"),
    [
        ([], None, "at least one part"),
        ([np.zeros((3, 1)), np.zeros((3, 2))], None, r"equally many columns, got \[1, 2\]"),
        ([UP, DOWN], [1.0], r"per part \(2\)"),
        ([UP, DOWN], [1.0, -1.0], "non-negative"),
        ([UP, DOWN], [0.0, 0.0], "non-negative"),
        ([UP, DOWN], [1.0, np.nan], "non-negative"),
        ([UP, DOWN], [1.0, np.inf], "non-negative"),
    ],
)
def test_what_cannot_be_mixed_is_refused(parts, weights, words):
    with pytest.raises(ValueError, match=words):
        Mixture(parts, weights)


def test_weighted_rows_are_refused_with_the_remedy():
    mixture = Mixture([Rows(np.zeros((5, 1)), np.ones(5)), DOWN])
    with pytest.raises(ValueError, match="sample weights cannot be mixed"):
        rows_of(mixture, 50)
