"""Held-out scores against quadrature for Gaussians, and what is done around them, once for all of them."""

import json
from math import inf, log, nan, sqrt

import numpy as np
import pytest
import torch
from scipy import integrate, stats
from torch import nn

from equipoise import Pair, bases, catalog, push
from equipoise.sources import Labelled
from equipoise.surfaces import FullyConnected
from equipoise.training import CrossEntropy, Gain, History, Importance, Logistic
from equipoise.training.monitor import heights

N = 40_000
DRAWS = torch.randn(2, N, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
UP, DOWN = 0.5 + DRAWS[0], DRAWS[1]  # N(0.5, 1) and N(0, 1): log z = 0.5·x − 0.125


class Line(nn.Module):
    """u = slope·x + shift."""

    def __init__(self, slope, shift=0.0):
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(slope, dtype=torch.float64))
        self.shift = nn.Parameter(torch.tensor(shift, dtype=torch.float64))

    def forward(self, x):
        return self.slope * x[:, 0] + self.shift


def mean_of(function, mean):
    """E[function(x)] for x ~ N(mean, 1), by quadrature."""
    return integrate.quad(lambda x: function(x) * stats.norm.pdf(x - mean), -12.0, 12.0)[0]


LINES = pytest.mark.parametrize(("slope", "shift"), [(0.0, 0.0), (0.5, -0.125), (0.5, 3.0), (-0.7, 0.2), (1.5, -1.0)])


@LINES
def test_gain_is_the_quadrature_of_its_definition(slope, shift):
    value, se = Gain(catalog.nce, UP, DOWN).score(Line(slope, shift))
    mass = mean_of(lambda x: np.exp(slope * x + shift), 0.0)
    assert value == pytest.approx(mean_of(lambda x: slope * x + shift, 0.5) - log(mass), abs=4.0 * se + 1e-12)
    second = mean_of(lambda x: np.exp(2.0 * (slope * x + shift)), 0.0)
    assert se == pytest.approx(sqrt(abs(slope**2 + second / mass**2 - 1.0) / N), rel=0.25, abs=1e-9)


@LINES
def test_importance_is_the_quadrature_of_its_definition_and_below_gain(slope, shift):
    value, se = Importance(catalog.nce, UP, DOWN).score(Line(slope, shift))
    mass = mean_of(lambda x: np.exp(slope * x + shift), 0.0)
    assert value == pytest.approx(mean_of(lambda x: slope * x + shift, 0.5) - mass + 1.0, abs=4.0 * se + 1e-12)
    assert value <= Gain(catalog.nce, UP, DOWN).score(Line(slope, shift))[0] + 1e-12


@LINES
@pytest.mark.parametrize("prior", [0.5, 0.2])
def test_logistic_is_the_quadrature_of_its_definition(slope, shift, prior):
    value, se = Logistic(catalog.logistic, UP, DOWN, prior=prior).score(Line(slope, shift))

    def moment(power, sign):
        """Of log σ(±s) over the up rows, or the down rows."""
        odds = log(prior / (1.0 - prior))
        return mean_of(
            lambda x: (-np.logaddexp(0.0, -sign * (slope * x + shift + odds))) ** power, 0.5 if sign > 0 else 0.0
        )

    assert value == pytest.approx(prior * moment(1, 1) + (1.0 - prior) * moment(1, -1), abs=4.0 * se + 1e-12)
    spread = [abs(moment(2, sign) - moment(1, sign) ** 2) for sign in (1, -1)]
    assert se == pytest.approx(sqrt((prior**2 * spread[0] + (1 - prior) ** 2 * spread[1]) / N), rel=0.1, abs=1e-9)
    assert value <= 0.0


@pytest.mark.parametrize("monitor", [Gain, Importance, Logistic])
def test_the_truth_scores_best(monitor):
    """Proper: any other line is worse, by more than chance on the very same rows."""
    scores = monitor(catalog.logistic, UP, DOWN)
    truth = scores.score(Line(0.5, -0.125))[0]
    for slope, shift in ((0.4, -0.08), (0.6, -0.18), (0.3, -0.045), (-0.5, -0.125)):
        assert scores.score(Line(slope, shift))[0] < truth


@pytest.mark.parametrize("monitor", [Gain, Importance, Logistic])
@pytest.mark.parametrize("bad", [nan, inf, -inf, 1e305])
def test_heights_that_are_no_ratio_score_below_all_others(monitor, bad):
    with torch.no_grad():
        value, se = monitor(catalog.nce, UP[:50], DOWN[:50]).score(Line(bad))
    assert (value, se) == (-inf, inf)


def test_any_instance_is_scored_by_its_log_ratio():
    class Ratio(Line):
        def forward(self, x):
            return torch.exp(super().forward(x))

    for monitor in (Gain, Importance, Logistic):
        ours = monitor(catalog.nce, UP, DOWN).score(Line(0.5, 0.1))
        assert monitor(catalog.ulsif, UP, DOWN).score(Ratio(0.5, 0.1)) == pytest.approx(ours, rel=1e-9)


def test_weights_repeat_rows():
    twice = torch.cat([UP[:100], UP[:100], UP[100:200]])
    weight = torch.tensor([2.0] * 100 + [1.0] * 100)
    for make in (
        lambda rows, weight: Gain(catalog.nce, rows, DOWN, weight),
        lambda rows, weight: Importance(catalog.nce, rows, DOWN, weight),
        lambda rows, weight: Logistic(catalog.nce, rows, DOWN, 0.5, weight),
        lambda rows, weight: Logistic(catalog.nce, DOWN, rows, 0.5, None, weight),
    ):
        weighted, repeated = make(UP[:200], weight).score(Line(0.8)), make(twice, None).score(Line(0.8))
        assert weighted[0] == pytest.approx(repeated[0], rel=1e-12)


def test_cross_entropy_is_torchs():
    rows, labels = torch.randn(50, 2), torch.arange(50) % 3
    surface = FullyConnected(2, 8, 1, outputs=3)
    value, se = CrossEntropy(rows, labels).score(surface)
    each = nn.functional.cross_entropy(surface(rows), labels, reduction="none").detach()
    assert value == pytest.approx(-each.mean().item(), rel=1e-6)
    assert se == pytest.approx(each.std().item() / sqrt(50), rel=1e-5)


@pytest.mark.parametrize("prior", [0.0, 1.0, -1.0, nan])
def test_a_prior_lies_between_0_and_1(prior):
    with pytest.raises(ValueError, match="prior must lie between 0 and 1"):
        Logistic(catalog.nce, UP, DOWN, prior=prior)


def test_rows_are_scored_in_parts_and_in_the_surfaces_precision():
    seen = []
    surface = FullyConnected(1, 4, 1)
    surface.register_forward_pre_hook(lambda _, x: seen.append((len(x[0]), x[0].dtype)))
    with torch.no_grad():
        u = heights(surface, UP[:4500])
    assert seen == [(2000, torch.float32), (2000, torch.float32), (500, torch.float32)]
    assert u.shape == (4500,)


# --- in the push ------------------------------------------------------------------------------------------------------

BASE = bases.Gaussian().fit(DOWN)


class Scripted:
    """A monitor that says what it is told, and remembers the surfaces it saw."""

    def __init__(self, values):
        self.values, self.seen, self.modes = iter(values), [], []

    def score(self, surface):
        self.seen.append(torch.cat([w.detach().flatten() for w in surface.parameters()]))
        self.modes.append((surface.training, torch.is_grad_enabled()))
        return next(self.values), 0.5


def pushed(monitor, steps=8, **options):
    torch.manual_seed(0)
    surface = FullyConnected(1, 4, 1)
    options = {"n_up": 10, "seed": 0, "monitor_every": 1, "record_every": 1} | options
    history = push(surface, "nce", Pair(UP, BASE), steps=steps, monitor=monitor, **options)
    return torch.cat([w.detach().flatten() for w in surface.parameters()]), history


def test_the_surface_ends_at_its_best_weights():
    monitor = Scripted([0.0, 1.0, 3.0, 2.0, 3.0, 2.9, nan, -inf])
    weights, history = pushed(monitor)
    assert torch.equal(weights, monitor.seen[2])
    assert not torch.equal(weights, monitor.seen[7])
    assert history.scored == list(range(8))
    assert history.score == [0.0, 1.0, 3.0, 2.0, 3.0, 2.9, -inf, -inf]
    assert history.score_se == [0.5] * 6 + [inf, 0.5]
    assert history.best_step == 2
    assert history.stopped == ""
    assert monitor.modes == [(False, False)] * 8


def test_it_stops_when_patience_ends():
    weights, history = pushed(monitor := Scripted([0.0, 1.0, 0.9, 0.8, 2.0, 1.9, 1.8, 1.7, 9.0]), steps=20, patience=3)
    assert history.scored == list(range(8))
    assert history.stopped == "3 scores in a row without a new best"
    assert torch.equal(weights, monitor.seen[4])


def test_scores_have_a_pace_of_their_own():
    _, history = pushed(Scripted(range(99)), steps=11, monitor_every=4, record_every=3)
    assert history.scored == [0, 4, 8, 10]
    assert history.step == [0, 3, 6, 9, 10]
    _, history = pushed(Scripted(range(99)), steps=120, monitor_every=None)
    assert history.scored == [*range(0, 120, 3), 119]


def test_one_monitor_serves_many_pushes():
    """The second push does not stop at what the first has reached."""
    monitor = Gain(catalog.nce, UP[:200], DOWN[:200])
    first, second = (pushed(monitor, patience=2)[1] for _ in range(2))
    assert first == second


def test_the_held_out_score_ends_an_overfitted_push_near_the_truth():
    """Twenty rows, a long push: without a monitor the surface spikes, with one it keeps what was best."""
    few, held_out = UP[:20], UP[1000:6000]
    scores = {}
    for watched in (False, True):
        torch.manual_seed(0)
        surface = FullyConnected(1, 64, 3, gain=8.0)
        monitor = Gain(catalog.nce, held_out, DOWN[:5000])
        options = {"monitor": monitor, "patience": 8, "monitor_every": 10} if watched else {}
        history = push(surface, "nce", Pair(few, BASE), steps=800, n_up=20, learning_rate=0.02, seed=0, **options)
        with torch.no_grad():
            scores[watched] = Gain(catalog.nce, UP[10_000:], DOWN[10_000:]).score(surface)[0]
    assert scores[True] > scores[False] + 0.05
    assert history.best_step < 400
    assert 0.0 < scores[True] <= 0.13  # the best there is: 0.125


def test_classes_are_watched_in_the_same_loop():
    codes = np.arange(300) % 3
    rows = np.random.default_rng(0).normal(size=(300, 2)) + 2.0 * np.eye(3, 2)[codes]
    torch.manual_seed(0)
    surface = FullyConnected(2, 16, 1, outputs=3)
    monitor = CrossEntropy(torch.from_numpy(rows[200:]), torch.from_numpy(codes[200:]))
    pair = Labelled(rows[:200], codes[:200])
    history = push(
        surface, "softmax_cross_entropy", pair, steps=200, n_up=50, monitor=monitor, learning_rate=0.01, seed=0
    )
    assert history.score[0] < -0.8
    assert max(history.score) == history.score[history.scored.index(history.best_step)] > -0.6


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"monitor": object()}, TypeError, "a monitor needs score"),
        ({"patience": 0, "monitor": Scripted([])}, ValueError, "patience must be a number of scores"),
        ({"patience": 3, "monitor": None}, ValueError, "patience needs a monitor"),
        ({"monitor_every": 0, "monitor": Scripted([])}, ValueError, "monitor_every must be a whole number"),
    ],
)
def test_what_cannot_watch_is_refused(options, error, words):
    with pytest.raises(error, match=words):
        pushed(**options)


def test_a_history_goes_through_json():
    _, history = pushed(Scripted([0.0, -inf, nan]), steps=3)
    document = json.loads(json.dumps(history.to_dict(), allow_nan=False))
    assert History.from_dict(document) == history
    assert History.from_dict(document).time == history.time
    with pytest.raises(ValueError, match="a history has"):
        History.from_dict(document | {"password": 1})
    older = {key: document[key] for key in ("step", "up_height")}
    assert History.from_dict(older).step == [0, 1, 2]
