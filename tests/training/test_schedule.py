"""Schedules: the paper's formula at given steps, names and functions, and rates that reach the optimizer."""

from math import exp, log

import numpy as np
import pytest
import torch

from equipoise import Pair, push
from equipoise.surfaces import FullyConnected
from equipoise.training.schedule import SCHEDULES, as_schedule

RATE, END = 0.0035, 3e-9


@pytest.mark.parametrize(
    ("step", "rate"),
    [
        (0, RATE),
        (20_000, RATE),
        (40_000, RATE),
        (170_000, (RATE * END) ** 0.5),  # half-way through the decay: the geometric mean
        (105_000, RATE**0.75 * END**0.25),
        (300_000, END),
    ],
)
def test_the_paper_holds_its_rate_for_40_000_steps_and_decays_to_its_end(step, rate):
    assert RATE * as_schedule("paper")(step / 300_000) == pytest.approx(rate, rel=1e-9)


def test_the_papers_decay_is_a_constant_factor_per_step():
    rates = np.array([as_schedule("paper")(share) for share in np.linspace(40_000 / 300_000, 1.0, 27)])
    assert np.diff(np.log(rates)) == pytest.approx([log(END / RATE) / 26] * 26)


@pytest.mark.parametrize(("share", "factor"), [(0.0, 1.0), (1 / 3, 0.75), (0.5, 0.5), (2 / 3, 0.25), (1.0, 0.0)])
def test_a_cosine_passes_these_points(share, factor):
    assert as_schedule("cosine")(share) == pytest.approx(factor, abs=1e-12)


@pytest.mark.parametrize(
    ("share", "factor"),
    [(0.0, 0.01), (0.025, 0.505), (0.05, 1.0), (0.5, 1.0), (0.8, 1.0), (0.9, 0.5), (0.95, 0.25), (1.0, 0.0)],
)
def test_warm_up_stable_decay_passes_these_points(share, factor):
    assert as_schedule("warmup_stable_decay")(share) == pytest.approx(factor, abs=1e-12)


@pytest.mark.parametrize("name", SCHEDULES)
def test_no_schedule_leaves_zero_to_one(name):
    factors = [as_schedule(name)(share) for share in np.linspace(0.0, 1.0, 1001)]
    assert min(factors) >= 0.0
    assert max(factors) == 1.0


@pytest.mark.parametrize("steps", [10, 200])
def test_a_schedule_scales_with_the_budget(steps):
    """Whatever their number, a function of the share gives the same rate at the same share."""
    rows = np.random.default_rng(0).normal(size=(20, 2))
    options = {"learning_rate": 0.01, "schedule": lambda share: exp(-share), "record_every": steps // 10}
    history = push(FullyConnected(2, 4, 1), "nce", Pair(rows, rows), steps=steps, n_up=5, **options)
    assert history.learning_rate[:10] == pytest.approx([0.01 * exp(-k / 10) for k in range(10)])


def test_every_group_of_an_optimizer_keeps_its_own_rate():
    surface = FullyConnected(2, 4, 1)
    groups = [{"params": surface.hidden.parameters(), "lr": 0.1}, {"params": surface.last.parameters(), "lr": 0.3}]
    optimizer = torch.optim.SGD(groups)
    rows = np.random.default_rng(0).normal(size=(20, 2))
    push(surface, "nce", Pair(rows, rows), steps=4, n_up=5, optimizer=optimizer, schedule=lambda share: 1.0 - share)
    assert [group["lr"] for group in optimizer.param_groups] == pytest.approx([0.1 * 0.25, 0.3 * 0.25])


@pytest.mark.parametrize(
    "given", ["linear", None, 0.5, lambda _: -1.0, lambda _: float("nan"), lambda _: "half"], ids=repr
)
def test_what_is_no_schedule_is_refused(given):
    with pytest.raises(ValueError, match="schedule must"):
        as_schedule(given)


def test_an_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=r"cosine, paper, warmup_stable_decay, constant.*'cosin'"):
        push(FullyConnected(2, 4, 1), "nce", Pair(np.eye(2), np.eye(2)), steps=1, schedule="cosin")
