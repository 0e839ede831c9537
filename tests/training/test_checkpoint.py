"""Checkpoints: going on is bit-identical to not having stopped; no other file is taken for one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from equipoise import Pair, bases, catalog, push
from equipoise.sources import Conditional, Generated, Labelled, Mixture, Rows, Shuffled
from equipoise.surfaces import FullyConnected
from equipoise.training import Checkpoint, CheckpointError, Gain, archive
from equipoise.training.budget import Trial
from equipoise.training.watch import Watch

RANDOM = np.random.default_rng(5)
TABLE, OTHER = RANDOM.normal(0.5, 1.0, size=(64, 2)), RANDOM.normal(-0.5, 1.0, size=(50, 2))
WEIGHT = RANDOM.uniform(size=64)
BASE = bases.Gaussian().fit(OTHER)
NOISE = RANDOM.normal(size=(2, 2))


class Dropping(nn.Module):
    """A surface whose heights depend on torch's global generator and on running statistics."""

    def __init__(self, outputs=1):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.drop = nn.Dropout(0.3)
        self.rest = FullyConnected(2, width=6, layers=1, outputs=outputs)

    def forward(self, x):
        return self.rest(self.drop(self.norm(x)))


def fresh(outputs=1):
    torch.manual_seed(0)
    return Dropping(outputs)


def everything(surface):
    return {name: value.clone() for name, value in surface.state_dict().items()}


def assert_same(ours, theirs):
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert torch.equal(ours[name], theirs[name]), name


def after(steps):
    """A callback that ends the push once so many steps are made."""
    return lambda step, *_: step + 1 >= steps


PAIRS = {
    "rows against a base": lambda: Pair(Rows(TABLE, WEIGHT), BASE),
    "with replacement": lambda: Pair(Rows(TABLE, replace=True), Rows(OTHER, WEIGHT[:50])),
    "mixture": lambda: Pair(TABLE, Mixture([TABLE, OTHER, BASE])),
    "shuffled": lambda: Pair(TABLE, Shuffled(TABLE[:, :1], OTHER[:, 1:])),
    "conditional": lambda: Pair(TABLE, Conditional(TABLE[:, :1], bases.Gaussian().fit(OTHER[:, 1:]))),
    "generated": lambda: Pair(TABLE, Generated(lambda z: z @ torch.from_numpy(NOISE).to(z), latent=2)),
    "generated beside": lambda: Pair(TABLE, Generated(lambda c, z: c + z, latent=1, conditions=TABLE[:, :1])),
    "distribution": lambda: Pair(TABLE, torch.distributions.Normal(torch.zeros(2), 1.0)),
}


@pytest.mark.parametrize("stop", [1, 7, 19])
@pytest.mark.parametrize("name", PAIRS)
def test_going_on_is_not_having_stopped(name, stop, tmp_path):
    """Weights, running statistics and history, for every kind of source, with dropout, noise and an average."""
    options = {"steps": 20, "n_up": 9, "n_down": 13, "noise": 0.1, "average": 0.9, "seed": 3, "record_every": 1}
    whole = fresh()
    expected = push(whole, "nce", PAIRS[name](), **options)
    path = tmp_path / "run.safetensors"
    push(fresh(), "nce", PAIRS[name](), checkpoint=path, callbacks=[after(stop)], **options)
    resumed = fresh()
    seen = []
    torch.manual_seed(99)  # neither the global generator's state nor the weights before matter
    with torch.no_grad():
        resumed.rest.last.bias.add_(1.0)
    history = push(
        resumed, "nce", PAIRS[name](), checkpoint=path, callbacks=[lambda step, *_: seen.append(step)], **options
    )
    assert seen == list(range(stop, 20))
    assert_same(everything(resumed), everything(whole))
    assert history == expected
    assert history.time == sorted(history.time)


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd", "momentum", "rmsprop"])
def test_every_optimizer_goes_on(optimizer, tmp_path):
    makers = {
        "momentum": lambda weights, rate: torch.optim.SGD(weights, lr=rate, momentum=0.9),
        "rmsprop": lambda weights, rate: torch.optim.RMSprop(weights, lr=rate),
    }
    options = {"steps": 12, "n_up": 9, "seed": 3, "optimizer": makers.get(optimizer, optimizer), "record_every": 1}
    options |= {"schedule": "paper"}
    whole, resumed = fresh(), fresh()
    push(whole, "nce", Pair(TABLE, OTHER), **options)
    for stop in (4, 8, 12):
        push(resumed, "nce", Pair(TABLE, OTHER), checkpoint=tmp_path / "run", callbacks=[after(stop)], **options)
    assert_same(everything(resumed), everything(whole))


def test_labelled_rows_go_on(tmp_path):
    options = {"steps": 20, "n_up": 9, "noise": [0.1, 0.2], "seed": 3, "record_every": 1}
    options["noise"] = torch.tensor(options["noise"])
    labels = np.arange(64) % 3
    whole, resumed = fresh(3), fresh(3)
    push(whole, "softmax_cross_entropy", Labelled(TABLE, labels, WEIGHT), **options)
    for stop in (7, 20):
        pair = Labelled(TABLE, labels, WEIGHT)
        hooks = [after(stop)]
        history = push(resumed, "softmax_cross_entropy", pair, checkpoint=tmp_path / "run", callbacks=hooks, **options)
    assert_same(everything(resumed), everything(whole))
    assert len(history) == 20


def monitor():
    draws = torch.randn(2, 300, 2, generator=torch.Generator().manual_seed(0))
    return Gain(catalog.nce, draws[0] + 0.3, draws[1])


@pytest.mark.parametrize("stop", [3, 11])
def test_scores_best_weights_and_patience_go_on(stop, tmp_path):
    options = {"steps": 40, "n_up": 9, "seed": 3, "record_every": 1, "monitor_every": 2, "patience": 6}
    options |= {"learning_rate": 0.1, "schedule": "constant", "average": 0.5}
    whole = fresh()
    expected = push(whole, "nce", Pair(TABLE, BASE), monitor=monitor(), **options)
    assert expected.stopped.startswith("6 scores in a row")
    assert 0 < expected.step[-1] < 39
    for steps in (stop, 100, 100):  # the third finds a run that is over, and leaves it so
        resumed = fresh()
        options["checkpoint"] = tmp_path / "run"
        history = push(resumed, "nce", Pair(TABLE, BASE), monitor=monitor(), callbacks=[after(steps)], **options)
    assert_same(everything(resumed), everything(whole))
    assert history == expected


def test_a_callback_with_a_state_goes_on(tmp_path):
    options = {"steps": 20, "n_up": 9, "seed": 3, "record_every": 1}
    whole, resumed = Watch(monitor()), Watch(monitor())
    push(fresh(), "nce", Pair(TABLE, BASE), callbacks=[whole], **options)
    for stop in (8, 20):
        watch = resumed = Watch(monitor())
        push(fresh(), "nce", Pair(TABLE, BASE), callbacks=[watch, after(stop)], checkpoint=tmp_path / "run", **options)
    assert resumed.scores == whole.scores
    assert_same(resumed.state, whole.state)


def test_a_finished_push_is_not_pushed_again(tmp_path):
    calls = []
    options = {"steps": 5, "n_up": 9, "seed": 3, "checkpoint": tmp_path / "run", "average": 0.9}
    surface, again = fresh(), fresh()
    first = push(surface, "nce", Pair(TABLE, OTHER), **options)
    second = push(again, "nce", Pair(TABLE, OTHER), callbacks=[lambda *_: calls.append(1)], **options | {"seed": 3})
    assert not calls
    assert first == second
    assert_same(everything(again), everything(surface))


# --- what ends a push from outside ------------------------------------------------------------------------------------

PROGRAM = """
import sys, time, torch
sys.path.insert(0, {tests!r})
torch.set_num_threads(1)
from tests.training.test_checkpoint import killable
killable({path!r}, slow=True)
"""


def killable(path, *, slow=False):
    """A push that a test kills, or that runs to its end."""

    def wait(step, *_):
        time.sleep(0.02)

    surface = fresh()
    options = {"steps": 60, "n_up": 9, "noise": 0.1, "average": 0.9, "seed": 3, "record_every": 1}
    file = None if path is None else Checkpoint(path, every=1)
    history = push(surface, "nce", Pair(Rows(TABLE, WEIGHT), BASE), checkpoint=file, callbacks=[wait] * slow, **options)
    return surface, history


def start(path):
    tests = os.fspath(Path(__file__).parents[2])
    return subprocess.Popen([sys.executable, "-W", "error", "-c", PROGRAM.format(tests=tests, path=os.fspath(path))])


def wait_for(condition, process, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the push wrote no checkpoint"
        assert process.poll() is None, "the push ended before it was stopped"
        time.sleep(0.005)


def step_of(path):
    return archive.read(path)["run"]["next_step"] if path.exists() else 0


def test_killed_in_mid_step_a_push_goes_on_bit_for_bit(tmp_path):
    whole, expected = killable(None)
    path = tmp_path / "run.safetensors"
    process = start(path)
    try:
        wait_for(lambda: step_of(path) >= 20, process)
    finally:
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert 20 <= step_of(path) < 60
    resumed, history = killable(path)
    assert_same(everything(resumed), everything(whole))
    assert history == expected
    left = [entry.name for entry in tmp_path.iterdir() if entry.name != path.name]
    assert all(name.startswith(".run.safetensors.") for name in left)  # at most what it was just writing


def test_control_c_ends_the_push_after_its_step(tmp_path):
    """The weights so far, in evaluation mode; the checkpoint goes on to what an undisturbed run gives."""
    options = {"steps": 20, "n_up": 9, "seed": 3, "record_every": 1, "checkpoint": tmp_path / "run"}
    before = signal.getsignal(signal.SIGINT)
    steps = []

    class Interrupting(Pair):
        def draw(self, *args, **rest):
            steps.append(None)
            if len(steps) == 6:
                signal.raise_signal(signal.SIGINT)
            return super().draw(*args, **rest)

    pair = Interrupting(TABLE, OTHER)
    surface = fresh()
    history = push(surface, "nce", pair, **options)
    assert history.interrupted
    assert history.step == list(range(6))
    assert not surface.training
    assert signal.getsignal(signal.SIGINT) is before
    stopped = fresh()
    undisturbed = push(stopped, "nce", Pair(TABLE, OTHER), callbacks=[after(6)], **options | {"checkpoint": None})
    assert_same(everything(surface), everything(stopped))
    assert undisturbed.up_height == history.up_height

    whole, resumed = fresh(), fresh()
    push(whole, "nce", Pair(TABLE, OTHER), **options | {"checkpoint": None})
    again = push(resumed, "nce", pair, **options)
    assert not again.interrupted
    assert_same(everything(resumed), everything(whole))


def test_a_second_control_c_ends_it_at_once():
    before = signal.getsignal(signal.SIGINT)

    class Impatient(Pair):
        def draw(self, *args, **rest):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            pytest.fail("the second interrupt did nothing")

    surface = fresh()
    with pytest.raises(KeyboardInterrupt):
        push(surface, "nce", Impatient(TABLE, OTHER), steps=5)
    assert signal.getsignal(signal.SIGINT) is before
    assert not surface.training


def test_control_c_in_the_calibration_ends_the_push_that_has_not_begun():
    class Interrupting(Pair):
        def draw(self, *args, **rest):
            signal.raise_signal(signal.SIGINT)
            return super().draw(*args, **rest)

    surface = fresh()
    before = everything(surface)
    with pytest.raises(KeyboardInterrupt):
        push(surface, "nce", Interrupting(TABLE, OTHER), steps="10s", n_up=5)
    assert_same(everything(surface), before)


def test_somebody_elses_handler_is_left_in_place():
    calls = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    try:
        ends = [lambda step, *_: signal.raise_signal(signal.SIGINT) if step == 1 else None]
        history = push(fresh(), "nce", Pair(TABLE, OTHER), steps=3, n_up=5, record_every=1, callbacks=ends)
    finally:
        signal.signal(signal.SIGINT, before)
    assert calls == [1]
    assert len(history) == 3
    assert not history.interrupted


# --- which file is taken --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"instance": "logistic"}, "instance was 'nce' and is 'logistic'"),
        ({"steps": 7}, "steps was 5 and is 7"),
        ({"n_up": 10}, "n_up was 9 and is 10"),
        ({"learning_rate": 0.1}, "learning_rate was 0.0035 and is 0.1"),
        ({"schedule": "paper"}, "schedule was 'cosine' and is 'paper'"),
        ({"seed": 4}, "seed was 3 and is 4"),
        ({"average": 0.9}, "average was None and is 0.9"),
        ({"surface": FullyConnected(2, 4, 1)}, "surface was"),
        ({"pair": Pair(TABLE, TABLE)}, "pair was"),
        ({"pair": Pair(TABLE + 1e-3, OTHER)}, "pair was"),
        ({"pair": Pair(TABLE, BASE)}, "pair was"),
        ({"callbacks": [Watch(None)]}, r"callbacks was None and is \['Watch'\]"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_checkpoint_of_another_push_is_refused(change, words, tmp_path):
    path = tmp_path / "run"
    given = {"surface": fresh(), "instance": "nce", "pair": Pair(TABLE, OTHER), "steps": 5, "n_up": 9, "seed": 3}
    push(**given, checkpoint=path)
    kept = path.read_bytes()
    with pytest.raises(CheckpointError, match=words) as error:
        push(**given | change, checkpoint=path)
    assert "Give another path, or delete it" in str(error.value)
    assert path.read_bytes() == kept


def test_a_file_that_is_no_checkpoint_is_refused_and_kept(tmp_path):
    given = {"surface": fresh(), "instance": "nce", "pair": Pair(TABLE, OTHER), "steps": 5, "n_up": 9, "seed": 3}
    good = tmp_path / "good"
    push(**given, checkpoint=good)
    whole = good.read_bytes()
    flipped = bytearray(whole)
    flipped[-3] ^= 1
    for content in (b"", b"PK\x03\x04 a zip", whole[:-7], bytes(flipped), whole[: len(whole) // 2]):
        path = tmp_path / "bad"
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=r"cannot go on from this checkpoint: .*bad"):
            push(**given, checkpoint=path)
        assert path.read_bytes() == content


@pytest.mark.parametrize("missing", ["surface", "optimizer", "generators", "history", "position", "average"])
def test_a_checkpoint_without_some_of_its_parts_is_damaged(missing, tmp_path):
    path = tmp_path / "run"
    given = {"surface": fresh(), "instance": "nce", "pair": Pair(TABLE, OTHER), "steps": 5, "n_up": 9, "seed": 3}
    push(**given, checkpoint=path, average=0.9)
    tree = archive.read(path)
    del tree["run"][missing]
    archive.write(path, tree)
    with pytest.raises((CheckpointError, KeyError), match=missing):
        push(**given, checkpoint=path, average=0.9)


def test_another_number_of_threads_is_said(tmp_path):
    path = tmp_path / "run"
    given = {"surface": fresh(), "instance": "nce", "pair": Pair(TABLE, OTHER), "steps": 5, "n_up": 9, "seed": 3}
    push(**given, checkpoint=path)
    tree = archive.read(path)
    archive.write(path, tree | {"threads": 64})
    with pytest.warns(UserWarning, match="written with 64 threads, and there are"):
        push(**given, checkpoint=path)


@pytest.mark.parametrize("every", [0, -1, "soon", 1.5, None])
def test_a_checkpoint_has_a_pace(every, tmp_path):
    with pytest.raises(ValueError, match=r"budget|every"):
        Checkpoint(tmp_path / "run", every=every)


def test_a_checkpoint_needs_a_folder(tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        push(fresh(), "nce", Pair(TABLE, OTHER), steps=1, checkpoint=tmp_path / "nowhere" / "run")


def test_steps_and_times_pace_the_writing(tmp_path):
    written = []

    class Spy(Checkpoint):
        def write(self, run, settings):
            written.append(run.next_step)
            super().write(run, settings)

    options = {"steps": 10, "n_up": 5}
    push(fresh(), "nce", Pair(TABLE, OTHER), checkpoint=Spy(tmp_path / "a", every=4), **options)
    assert written == [4, 8, 10]
    written.clear()
    push(fresh(), "nce", Pair(TABLE, OTHER), checkpoint=Spy(tmp_path / "b", every="1h"), **options)
    assert written == [10]
    written.clear()
    push(fresh(), "nce", Pair(TABLE, OTHER), checkpoint=Spy(tmp_path / "c", every="0.000001s"), **options)
    assert written == [*range(1, 11), 10]


def test_a_time_budget_is_calibrated_once(tmp_path, monkeypatch):
    """The second part of a run takes its steps from the first, whatever the clock says now."""
    options = {"steps": "0.2s", "n_up": 5, "seed": 0, "record_every": 1, "checkpoint": tmp_path / "run"}
    first = push(fresh(), "nce", Pair(TABLE, OTHER), callbacks=[after(2)], **options)
    monkeypatch.setattr(Trial, "push", lambda *_: pytest.fail("calibrated again"))
    second = push(fresh(), "nce", Pair(TABLE, OTHER), callbacks=[after(4)], **options)
    assert first.steps == second.steps > 4
    assert first.budget == second.budget == "0.2s"
    assert second.step == [0, 1, 2, 3]
