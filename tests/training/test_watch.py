"""What hangs on a push: budgets, the held-out monitor, the progress line."""

import re
from math import log

import numpy as np
import pytest
import torch
from torch import nn

from equipoise import catalog
from equipoise.training import History
from equipoise.training.budget import steps_of
from equipoise.training.monitor import HeldOut
from equipoise.training.progress import Progress

# --- budget -----------------------------------------------------------------------------------------------------------


def no_trial(count):
    message = "a number of steps needs no calibration"
    raise AssertionError(message)


@pytest.mark.parametrize("steps", [0, 1, 5000])
def test_a_number_of_steps_is_taken_as_it_is(steps):
    assert steps_of(steps, no_trial) == steps


class Clock:
    """A clock on which a step takes a tenth of a second, and the first three, warming up, far longer."""

    def __init__(self):
        self.now, self.counts = 0.0, []

    def trial(self, count):
        self.counts.append(count)
        self.now += 100.0 if len(self.counts) == 1 else 0.1 * count


@pytest.mark.parametrize(
    ("budget", "steps"),
    [("90s", 900), ("5m", 3000), ("1h", 36_000), ("1.5m", 900), (" 2 s ", 20), ("0s", 1), ("0.01s", 1)],
)
def test_a_time_becomes_steps_once(monkeypatch, budget, steps):
    clock = Clock()
    monkeypatch.setattr("equipoise.training.budget.perf_counter", lambda: clock.now)
    assert steps_of(budget, clock.trial) == steps
    assert len(clock.counts) == 2


@pytest.mark.parametrize("budget", [-1, True, 1.5, None, "soon", "5", "5 days", "-5s", "", "1e3s", "5ms"])
def test_what_is_no_budget_is_refused(budget):
    with pytest.raises(ValueError, match="budget"):
        steps_of(budget, no_trial)


# --- the monitor ------------------------------------------------------------------------------------------------------


class Slope(nn.Module):
    """u = slope·x + 3, with the slope to be set."""

    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(0.0, dtype=torch.float64))

    def forward(self, x):
        return self.slope * x[:, 0] + 3.0


def monitor(**settings):
    """Held-out rows of N(0.5, 1), base N(0, 1): the gain of slope s is 0.5·s − s²/2, best at 0.5."""
    draws = torch.randn(2, 20_000, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return HeldOut(catalog.nce, 0.5 + draws[0], draws[1], **settings)


def follow(watch, slopes):
    surface, stops = Slope(), []
    for step, slope in enumerate(slopes):
        with torch.no_grad():
            surface.slope.fill_(slope)
        stops.append(watch(step, surface, History()))
    return stops


def test_the_score_is_the_gain_over_the_base():
    """Of the normalised model, whatever constant the surface carries; within four of its standard errors."""
    for slope in (0.0, 0.3, 0.5, 1.0):
        watch = monitor()
        follow(watch, [slope])
        assert watch.best == pytest.approx(0.5 * slope - 0.5 * slope**2, abs=4.0 * watch.best_se + 1e-12)
        assert watch.best_se == pytest.approx(slope * np.sqrt(2.0 / 20_000), rel=0.2, abs=1e-9)


def test_the_best_weights_are_kept():
    watch = monitor()
    follow(watch, [0.0, 0.4, 0.5, 0.9, -1.0])
    assert watch.best_step == 2
    assert watch.state["slope"].item() == 0.5
    assert [step for step, _ in watch.scores] == [0, 1, 2, 3, 4]
    assert watch.best == max(score for _, score in watch.scores)


def test_it_stops_when_patience_ends():
    assert follow(monitor(patience=3), [0.4, 0.5, 0.9, 0.8, 0.7, 0.6]) == [False, False, False, False, True, True]
    assert follow(monitor(patience=2), [0.1, 0.2, 0.3, 0.4, 0.5]) == [False] * 5


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308])
def test_heights_that_are_no_density_score_below_all_others(bad):
    watch = monitor(patience=2)
    assert follow(watch, [bad, 0.4, bad, bad]) == [False, False, False, True]
    assert watch.best_step == 1
    assert watch.scores[0][1] == -np.inf


def test_there_are_weights_to_go_back_to_even_if_none_scored():
    watch = monitor()
    follow(watch, [np.nan, np.nan])
    assert set(watch.state) == {"slope"}
    assert watch.best == -np.inf


def test_the_surface_goes_on_training():
    surface = Slope()
    monitor()(0, surface, History())
    assert surface.training


def test_any_instance_is_scored_by_its_log_ratio():
    """A surface that holds z itself scores as one that holds log z."""

    class Ratio(Slope):
        def forward(self, x):
            return torch.exp(super().forward(x))

    ours, theirs = monitor(), monitor()
    theirs.monitor.instance = catalog.ulsif
    for watch, surface in ((ours, Slope()), (theirs, Ratio())):
        surface.slope.data.fill_(0.5)
        watch(0, surface, History())
    assert ours.best == pytest.approx(theirs.best, rel=1e-9)
    assert ours.best == pytest.approx(0.125, abs=0.03)


# --- progress and history ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("visible", [True, False])
def test_the_progress_line_goes_to_standard_error_or_nowhere(capsys, monkeypatch, visible):
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm"), ("COLUMNS", "150")):
        monkeypatch.setenv(name, value)
    history = History()
    history.record(0, torch.tensor([1.0, 2.0]), torch.tensor([-0.5, 0.25]), 1, 0.1)
    with Progress(3, visible=visible) as progress:
        assert progress(0, nn.Identity(), history) is None
    out, err = capsys.readouterr()
    assert not out
    err = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", err)
    assert ("1/3 steps" in err and "balance +2.5e-01" in err) if visible else not err


def test_the_line_ends_when_the_push_fails():
    with pytest.raises(ZeroDivisionError), Progress(3, visible=False):
        raise ZeroDivisionError


def test_a_record_is_one_step():
    history = History()
    history.record(7, torch.tensor([1.0, 3.0, -1.0]), torch.tensor([-0.5, -0.5, 0.25]), 2, 0.1)
    assert (history.step, history.up_height, history.down_height) == ([7], [2.0], [-1.0])
    assert (history.up_force, history.down_force, history.balance) == ([1.0], [0.25], [0.75])
    assert len(history) == 1


def test_a_batch_without_sides_balances_what_lifts_and_what_presses():
    """Two rows on two surfaces: each row lifts its own class and presses the other."""
    history = History()
    u = torch.log(torch.tensor([[0.75, 0.25], [0.5, 0.5]]))
    forces = torch.tensor([[-0.25, 0.25], [0.5, -0.5]]) / 2.0
    history.record(0, u, forces, 2, 0.1)
    assert history.up_force == history.down_force == pytest.approx([0.375])
    assert history.up_height == pytest.approx([np.mean([log(0.75), log(0.25), log(0.5), log(0.5)])])
