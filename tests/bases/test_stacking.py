"""Stacking weights: the optimum's own conditions, and few candidates where few will do."""

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from scipy import stats
from tests.asserts import assert_close

from equipoise.bases import prune, stack_weights

RANDOM = np.random.default_rng(3)


def table(rows, *densities):
    return torch.from_numpy(np.stack([density.logpdf(rows) for density in densities]))


@given(st.integers(1, 5), st.integers(1, 60), st.integers(0, 10_000), st.booleans())
def test_weights_meet_the_conditions_of_the_optimum(m, n, seed, weighted):
    """Of a concave problem on the simplex: Σ_i v_i·p_j/p = 1 where w_j > 0, and at most 1 elsewhere."""
    random = np.random.default_rng(seed)
    log_probs = torch.from_numpy(random.normal(scale=2.0, size=(m, n)))
    share = torch.from_numpy(random.gamma(1.0, size=n)) if weighted else torch.ones(n, dtype=torch.float64)
    found = stack_weights(log_probs, share if weighted else None)
    assert found.weights.sum().item() == pytest.approx(1.0)
    mixed = torch.logsumexp(log_probs + found.weights.log().unsqueeze(1), dim=0)
    slopes = torch.exp(log_probs - mixed) @ (share / share.sum())
    assert bool((slopes <= 1.0 + 0.01).all())
    assert found.score == pytest.approx(((share / share.sum()) @ mixed).item())


def test_a_mixture_gets_its_own_weights_back():
    """Two well-separated densities: the weight is the share of rows, within five standard errors."""
    n = 4000
    rows = np.where(RANDOM.random(n) < 0.3, RANDOM.normal(-5.0, 1.0, n), RANDOM.normal(5.0, 2.0, n))
    found = stack_weights(table(rows, stats.norm(-5.0, 1.0), stats.norm(5.0, 2.0)))
    assert found.weights.tolist() == pytest.approx([0.3, 0.7], abs=5.0 * (0.21 / n) ** 0.5)
    assert found.members == [1, 0]


def test_a_weight_is_a_repetition():
    log_probs = torch.from_numpy(RANDOM.normal(size=(3, 50)))
    times = torch.from_numpy(RANDOM.integers(0, 4, size=50))
    repeated = stack_weights(torch.repeat_interleave(log_probs, times, dim=1))
    weighted = stack_weights(log_probs, times)
    assert_close(weighted.weights, repeated.weights, absolute=1e-6)
    assert weighted.score == pytest.approx(repeated.score)


def test_blunders_are_covered():
    """A sharper density that loses a row is worth less than the mixture of both, whose score no row ruins."""
    rows = RANDOM.normal(size=2000)
    log_probs = table(rows, stats.norm(0.0, 1.0), stats.norm(0.0, 1.6))
    log_probs[0, :3] = -np.inf
    found = stack_weights(log_probs)
    assert 0.9 < found.weights[0] < 1.0
    assert np.isfinite(found.score)
    assert found.score > log_probs[1].mean()


def test_a_row_outside_of_all_candidates_fails_the_stack():
    found = stack_weights(torch.tensor([[0.0, -np.inf, -1.0], [-1.0, -np.inf, 0.0]]))
    assert found.score == -np.inf
    assert found.weights.tolist() == pytest.approx([0.5, 0.5], abs=1e-3)


def test_pruning_keeps_the_one_that_is_enough():
    rows = RANDOM.normal(size=3000)
    log_probs = table(rows, stats.norm(0.0, 1.0), stats.t(40), stats.norm(3.0, 1.0), stats.t(5))
    assert prune(log_probs).members == [0]


def test_pruning_keeps_what_is_needed():
    n = 3000
    rows = np.where(RANDOM.random(n) < 0.5, RANDOM.normal(-4.0, 1.0, n), RANDOM.normal(4.0, 1.0, n))
    candidates = [stats.norm(0.0, 4.2), stats.norm(-4.0, 1.0), stats.norm(4.0, 1.0), stats.norm(4.0, 1.02)]
    kept = prune(table(rows, *candidates))
    assert len(kept.members) == 2
    assert kept.members[0] in {1, 2}
    assert kept.score > stats.norm(0.0, 4.2).logpdf(rows).mean() + 0.5
    assert len(prune(table(rows, *candidates), most=1).members) == 1


def test_the_standard_error_is_that_of_the_mean():
    log_probs = torch.from_numpy(RANDOM.normal(size=(1, 500)))
    found = stack_weights(log_probs)
    assert found.score == pytest.approx(log_probs.mean().item())
    assert found.se == pytest.approx(log_probs.std().item() / 500**0.5)


@pytest.mark.parametrize(
    ("log_probs", "weight", "words"),
    [
        (torch.zeros(3), None, r"must be \(candidates, rows\)"),
        (torch.zeros(0, 3), None, r"must be \(candidates, rows\)"),
        (torch.tensor([[0.0], [np.nan]]), None, r"candidates \[1\]"),
        (torch.tensor([[np.inf], [0.0]]), None, r"candidates \[0\]"),
        (torch.zeros(2, 3), torch.ones(2), r"expected \(3,\), got \(2,\)"),
    ],
)
def test_what_cannot_be_stacked_is_refused(log_probs, weight, words):
    for function in (stack_weights, prune):
        with pytest.raises(ValueError, match=words):
            function(log_probs, weight)
