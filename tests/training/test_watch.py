"""What hangs on a push: budgets, the held-out monitor, the progress line."""

import re
import sys
import types
from math import log
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import nn

from equipoise import Pair, catalog, push
from equipoise.surfaces import FullyConnected
from equipoise.training import Gain, History, TensorBoard
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


@pytest.mark.parametrize(
    ("every", "steps"),
    [(None, 580), (50, 750)],  # 40 scores of 0.8 s are set aside; or a step and a fiftieth of a score take 0.116 s
)
def test_a_time_leaves_room_for_scores(monkeypatch, every, steps):
    clock = Clock()
    monkeypatch.setattr("equipoise.training.budget.perf_counter", lambda: clock.now)

    def score():
        clock.now += 0.8 if every is None else 1.0

    assert steps_of("90s", clock.trial, score, 40, every) == steps


def test_scores_take_at_most_half_of_a_time(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("equipoise.training.budget.perf_counter", lambda: clock.now)

    def score():
        clock.now += 1000.0

    assert steps_of("90s", clock.trial, score, 40) == 450


def test_a_short_calibration_is_repeated_longer(monkeypatch):
    """Twenty steps of a millisecond say little: as many as fill a quarter of a second say more."""
    clock = Clock()
    monkeypatch.setattr("equipoise.training.budget.perf_counter", lambda: clock.now)

    def quick(count):
        clock.counts.append(count)
        clock.now += 0.001 * count

    assert steps_of("90s", quick) == 90_000
    assert clock.counts == [3, 20, 250]


def test_a_push_by_time_moves_its_own_surface_only_once(monkeypatch):
    """Calibration happens on copies, of the optimizer too; the budget is recorded in both words."""
    rows = np.random.default_rng(0).normal(size=(30, 2))
    surfaces = [FullyConnected(2, 4, 1) for _ in range(2)]
    surfaces[1].load_state_dict(surfaces[0].state_dict())
    optimizers = [torch.optim.Adam(surface.parameters(), lr=0.01) for surface in surfaces]
    monitor = Gain(catalog.nce, torch.zeros(5, 2), torch.zeros(5, 2))
    options = {"n_up": 10, "seed": 0, "monitor": monitor, "average": 0.9, "clip": 1.0, "noise": 0.1}
    timed = push(surfaces[0], "nce", Pair(rows, rows), steps="0.3s", optimizer=optimizers[0], **options)
    assert timed.budget == "0.3s"
    assert timed.steps > 20
    counted = push(surfaces[1], "nce", Pair(rows, rows), steps=timed.steps, optimizer=optimizers[1], **options)
    assert counted.budget == counted.steps == timed.steps
    assert all(torch.equal(a, b) for a, b in zip(surfaces[0].parameters(), surfaces[1].parameters(), strict=True))
    assert counted.up_height == timed.up_height


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


def test_the_line_follows_a_push(capsys, monkeypatch):
    """Steps from the history, the score where there is one; push itself opens and closes the line."""
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm"), ("COLUMNS", "150")):
        monkeypatch.setenv(name, value)
    rows = np.random.default_rng(0).normal(size=(30, 2))
    monitor = Gain(catalog.nce, torch.zeros(5, 2), torch.zeros(5, 2))
    push(FullyConnected(2, 4, 1), "nce", Pair(rows, rows), steps=4, monitor=monitor, callbacks=[Progress()], n_up=5)
    err = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert re.search(r"4/4 steps score \S+ balance [+-]\d\.\de", err)


class Board(types.ModuleType):
    """Stands in for torch.utils.tensorboard, which is an extra."""

    written: ClassVar[dict] = {}
    flushed = 0

    class SummaryWriter:
        def __init__(self, folder):
            Board.written = {"folder": folder}

        def add_scalar(self, name, value, step):
            Board.written.setdefault(name, []).append((step, value))

        def flush(self):
            Board.flushed += 1


def test_tensorboard_gets_every_series_and_every_score_once(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", Board("torch.utils.tensorboard"))
    monitor = Gain(catalog.nce, torch.zeros(5, 2), torch.zeros(5, 2))
    rows = np.random.default_rng(0).normal(size=(30, 2))
    options = {"steps": 9, "n_up": 5, "record_every": 3, "monitor_every": 2, "callbacks": [TensorBoard(tmp_path)]}
    history = push(FullyConnected(2, 4, 1), "nce", Pair(rows, rows), monitor=monitor, **options)
    assert Board.written.pop("folder") == str(tmp_path)
    assert Board.written.pop("held_out/score") == list(zip(history.scored, history.score, strict=True))
    assert set(Board.written) == {
        f"push/{name}"
        for name in ("up_height", "down_height", "up_force", "down_force", "balance", "learning_rate", "gradient_norm")
    }
    for name, entries in Board.written.items():
        assert entries == list(zip(history.step, getattr(history, name.removeprefix("push/")), strict=True))
    assert Board.flushed == 1


def test_without_the_extra_the_install_line_is_said(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ImportError, match=r"pip install 'equipoise\[tensorboard\]'"):
        TensorBoard(tmp_path)


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
