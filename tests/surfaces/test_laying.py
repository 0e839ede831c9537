"""Knots lie where they were asked for, apart, and on either side of every jump."""

import numpy as np
import pytest
import torch
from tests.surfaces.test_jumps import generator, steps, uniform

import equipoise as eq
from equipoise.surfaces import Additive
from equipoise.surfaces.laying import lay

SINGLE, DOUBLE = torch.empty(0), torch.empty(0, dtype=torch.float64)


def test_quantile_knots_hold_equally_many_rows_between_them():
    x = torch.randn(1001, 2, dtype=torch.float64, generator=generator())
    for column, knots in zip(x.T, lay(x, 11, "quantiles", jumps=False, like=DOUBLE), strict=True):
        counts = torch.histogram(column.contiguous(), knots).hist
        assert (counts - 100).abs().max() <= 2


def test_equal_knots_are_equal_from_end_to_end():
    x = torch.randn(100, 2, dtype=torch.float64, generator=generator())
    knots = lay(x, 11, "equal", jumps=False, like=DOUBLE)
    assert torch.equal(knots[:, 0], x.amin(dim=0))
    even = torch.from_numpy(np.linspace(x.amin(0).numpy(), x.amax(0).numpy(), 11, axis=1))
    assert float((knots - even).abs().max()) < 1e-14


@pytest.mark.parametrize("jumps", [False, True])
@pytest.mark.parametrize("like", [SINGLE, DOUBLE], ids=["float32", "float64"])
@pytest.mark.parametrize(("offset", "knots"), [(0.0, 16), (1.0, 64), (1000.0, 400), (-1e5, 20)])
def test_knots_stay_apart_where_values_repeat(offset, knots, like, jumps):
    x = torch.randint(0, 2, (5000, 1), generator=generator()).double() + offset
    at = lay(x, knots, "quantiles", jumps=jumps, like=like).to(like.dtype)
    assert at.shape == (1, knots)
    assert bool((torch.diff(at) > 0).all())
    assert float(at[0, 0]) == pytest.approx(offset, abs=2e-3)
    assert float(at[0, -1]) == offset + 1


@pytest.mark.parametrize("at", ["equal", "quantiles"])
def test_two_knots_come_to_stand_around_each_jump(at):
    knots = lay(steps(100_000).unsqueeze(1), 40, at, jumps=True, like=SINGLE)[0]
    assert len(knots) == 40
    assert bool((torch.diff(knots) > 0).all())
    for jump in (1.0, 1.2):
        near = knots[(knots - jump).abs() < 1e-3]
        assert len(near) >= 2
        assert near[0] - 1e-4 < jump < near[-1] + 1e-4


def test_too_few_knots_are_left_to_lie_where_they_would():
    column = steps(100_000).unsqueeze(1)
    for count in (2, 3, 4, 5):
        plain, asked = (lay(column, count, "equal", jumps=jumps, like=SINGLE) for jumps in (False, True))
        assert float((plain - asked).abs().max()) < 1e-12
    assert lay(column, 6, "equal", jumps=True, like=SINGLE).shape == (1, 6)


def test_columns_too_narrow_for_their_knots_are_named():
    x = torch.rand(200, 3, dtype=torch.float64) + torch.tensor([0.0, -1e6, 1e6])
    for at in ("equal", "quantiles"):
        with pytest.raises(ValueError, match=r"columns \[1, 2\] are too narrow for 100 knots in torch.float32: stand"):
            lay(x, 100, at, jumps=False, like=SINGLE)


def test_a_push_follows_a_jump_that_falls_between_equal_knots():
    rows = steps(100_000)[torch.randperm(100_000, generator=generator())].unsqueeze(1).float()
    down = 2 * uniform(100_000, 5).unsqueeze(1).float()
    x = torch.linspace(0.805, 1.395, 60).unsqueeze(1)
    truth = np.log(2 * np.where(x < 1, 0.5, np.where(x < 1.2, 1.5, 0.25)))[:, 0]
    errors = {}
    for jumps in (False, True):
        surface = Additive.on_rows(rows, 16, at="equal", jumps=jumps)
        eq.push(surface, "logistic", eq.Pair(rows, down), steps=400, n_up=1000, learning_rate=0.03, seed=0)
        with torch.no_grad():
            errors[jumps] = float(((surface(x).numpy() - truth) ** 2).mean())
    assert errors[True] < 0.01
    assert errors[False] > 0.05
