"""Which bases are tried, and how they are drawn into buffers and bounded."""

import numpy as np
import pytest
import torch
from tests.asserts import assert_close

from equipoise.bases import BASES, Uniform, as_base, candidates, choose
from equipoise.bases.choice import Scored, ranked

FLOWS = ("flow", "copula_flow")
QUICK = [name for name in BASES if "flow" not in name]
ROWS = torch.from_numpy(np.random.default_rng(6).normal(size=(400, 2)))


def test_size_dimension_and_time_decide_what_is_tried():
    assert candidates(10, 3) == ["uniform", "gaussian"]
    assert "kernel_density" in candidates(1000, 3)
    assert "kernel_density" not in candidates(1000, 4)
    assert "independent" not in candidates(1000, 200)
    assert not {"copula", "copula_mixture", "independent", *FLOWS} & set(candidates(100_000, 1))
    assert candidates(10_000_000, 20, 1.0) == ["uniform", "gaussian", "marginals", "copula"]


def test_flows_are_tried_where_rows_columns_and_time_allow():
    assert set(FLOWS) < set(candidates(100_000, 5))
    assert set(FLOWS) < set(candidates(700, 2, 20.0))
    for less in (candidates(699, 5), candidates(100_000, 1), candidates(100_000, 5, 19.0)):
        assert not set(FLOWS) & set(less)
    assert candidates(100_000, 5, trained=False) == [name for name in candidates(100_000, 5) if name not in FLOWS]


def test_flows_are_not_tried_where_they_are_not_installed(monkeypatch):
    monkeypatch.setattr("equipoise.bases.choice.find_spec", lambda _: None)
    assert not set(FLOWS) & set(candidates(100_000, 5))


def scored(name, *log_prob):
    values = torch.tensor(log_prob, dtype=torch.float64)
    return Scored(name, None, values.mean().item(), 0.0, log_prob=values)


def test_the_first_that_is_as_good_as_the_best_leads_and_scores_order_the_rest():
    """The paired loss decides: the second loses 0.1 ± 0.1 to the best, the first 1 ± 0."""
    worst = scored("worst", 0.0, 0.0, 1.0)
    simple, best = scored("simple", 1.0, 1.0, 1.7), scored("best", 1.0, 1.0, 2.0)
    assert [s.name for s in ranked([worst, simple, best])] == ["simple", "best", "worst"]
    assert [s.name for s in ranked([best, worst, simple])] == ["best", "simple", "worst"]
    weight = torch.tensor([1.0, 1.0, 100.0])  # of a row that speaks for many: the loss is certain
    assert [s.name for s in ranked([worst, simple, best], weight)] == ["best", "simple", "worst"]


def test_one_that_excludes_a_row_comes_last():
    best, excluding = scored("best", 0.0, 0.0), scored("excluding", 9.0, -torch.inf)
    assert [s.name for s in ranked([excluding, best])] == ["best", "excluding"]
    assert len(ranked([excluding])) == 1


def test_candidates_are_in_the_order_of_the_registry():
    found = candidates(100_000, 2)
    assert found == [name for name in BASES if name in found]


def test_the_comparison_says_what_was_tried():
    scored = choose(ROWS[:200], None, ROWS[200:], names=["uniform", "gaussian", "marginals"])
    assert sorted(s.name for s in scored) == ["gaussian", "marginals", "uniform"]
    assert all(s.seconds > 0.0 for s in scored)
    assert [s.score for s in scored[1:]] == sorted((s.score for s in scored[1:]), reverse=True)


def test_held_out_weights_decide():
    """Rows of the left half only: a base of those wins where they count alone."""
    left, right = ROWS[ROWS[:, 0] < 0.0], ROWS[ROWS[:, 0] >= 0.0]
    held_out = torch.cat([left, right])
    weight = torch.cat([torch.ones(len(left)), torch.zeros(len(right))])
    scored = choose(left, None, held_out, held_out_weight=weight.double(), names=["gaussian"])
    assert scored[0].score == pytest.approx(scored[0].base.log_prob(left).mean().item())


@pytest.mark.parametrize("name", ["uniform", "gaussian", "marginals", "copula", "gaussian_mixture", "kernel_density"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_drawing_fills_the_buffer_with_what_sampling_gives(name, dtype):
    base = as_base(name).fit(ROWS)
    out = torch.full((50, 2), torch.nan, dtype=dtype)
    base.draw(out, torch.Generator().manual_seed(3))
    assert torch.equal(out, base.sample(50, torch.Generator().manual_seed(3), dtype))
    part = torch.zeros(50, 4, dtype=dtype)
    base.draw(part[:, 1:3], torch.Generator().manual_seed(3))
    assert torch.equal(part[:, 1:3], out)
    assert bool((part[:, [0, 3]] == 0.0).all())


@pytest.mark.parametrize("name", QUICK)
def test_the_support_holds_the_density(name):
    base = as_base(name).fit(ROWS)
    low, high = base.support
    assert low.shape == high.shape == (2,)
    assert low.dtype == torch.float64
    if name == "uniform":
        assert torch.isneginf(base.log_prob((high + 1e-6).unsqueeze(0))).all()
    else:
        assert torch.isinf(torch.cat([low, high])).all()


def test_a_box_rounded_to_single_precision_holds_its_rows():
    base = Uniform([0.1], [0.1 + 3e-8])
    assert bool(torch.isfinite(base.log_prob(base.sample(1000, dtype=torch.float32).double().float())).all())


@pytest.mark.parametrize("name", QUICK)
def test_a_row_scores_the_same_in_any_company(name):
    base = as_base(name).fit(ROWS)
    many = ROWS.repeat(60, 1)  # more rows than any chunk
    whole = base.log_prob(many)
    for part in (slice(0, 1), slice(5, 12), slice(-3, None)):
        assert (base.log_prob(many[part]) - whole[part]).abs().max() < 1e-9


@pytest.mark.parametrize("name", ["uniform", "gaussian", "marginals", "copula", "kernel_density"])
def test_a_weight_is_a_repetition_for_every_base_without_a_seed(name):
    random = np.random.default_rng(9)
    weight = random.integers(0, 4, size=60)
    weighted = as_base(name).fit(ROWS[:60], weight)
    repeated = as_base(name).fit(np.repeat(ROWS[:60].numpy(), weight, axis=0))
    assert_close(weighted.log_prob(ROWS), repeated.log_prob(ROWS), absolute=1e-9)


@pytest.mark.parametrize("name", QUICK)
def test_columns_of_any_scale(name):
    """Scales of 1e±12 change the log density by the Jacobian; 1e-6 of rounding, a bin's edge aside."""
    base, scale = as_base(name).fit(ROWS).log_prob(ROWS), torch.tensor([1e12, 1e-12], dtype=torch.float64)
    scaled = as_base(name).fit(ROWS * scale).log_prob(ROWS * scale)
    assert ((scaled - base).abs() > 1e-5).sum() <= 4


@pytest.mark.parametrize("name", QUICK)
def test_repeated_rows_have_a_finite_density(name):
    rows = torch.from_numpy(np.random.default_rng(1).poisson(2.0, size=(300, 2)).astype(float))
    assert bool(torch.isfinite(as_base(name).fit(rows).log_prob(rows)).all())
