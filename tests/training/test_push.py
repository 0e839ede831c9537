"""The push: its steps are those of the loss, it stops where it should, and says what went wrong."""

import re

import numpy as np
import pytest
import torch
from tests.asserts import assert_close, label
from torch import nn

from equipoise import Instance, Pair, bases, catalog, push
from equipoise.batch import Batch
from equipoise.sources import Generated, Labelled, Rows
from equipoise.surfaces import FullyConnected, InRange, Standardise
from equipoise.training import PushDivergedError

RANDOM = np.random.default_rng(2)
UP, DOWN = RANDOM.normal(0.5, 1.0, size=(60, 2)), RANDOM.normal(-0.5, 1.0, size=(80, 2))


def surface_of(instance=None, *, outputs=1, seed=0, dtype=torch.float64):
    torch.manual_seed(seed)
    surface = FullyConnected(2, width=8, layers=2, outputs=outputs).to(dtype)
    return surface if instance is None or instance.heights.is_real_line else InRange(surface, instance.interval)


def weights_of(surface):
    return [parameter.detach().clone() for parameter in surface.parameters()]


def same(ours, theirs):
    return all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


# --- one step -------------------------------------------------------------------------------------------------------


class Fixed:
    """A pair that always draws the same batch."""

    features = 2

    def __init__(self, weight=None, log_base=None):
        self.batch = Batch(torch.from_numpy(np.vstack([UP, DOWN])), len(UP), log_base, weight=weight)

    def draw(self, n_up, n_down, generator, *, like=None, log_base=False):
        return self.batch


def weighted_mean(values, weight):
    return values.mean() if weight is None else (values * weight).sum() / weight.sum()


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize(
    "instance",
    [
        catalog.nce,
        catalog.pso_lde(0.25),
        catalog.pso_max,
        catalog.deep_pdf,
        catalog.mle,
        catalog.ulsif,
        catalog.lsgan(1.0, 0.0),
        catalog.root_density(2),
        catalog.hinge(1.0),
        catalog.unit,
    ],
    ids=label,
)
def test_a_step_is_a_step_down_the_loss(instance, weighted):
    """Plain SGD moves the weights by exactly the learning rate times autograd's gradient of the loss."""
    n, up = len(UP) + len(DOWN), slice(0, len(UP))
    down = slice(len(UP), n)
    weight = torch.rand(n, dtype=torch.float64) if weighted else None
    pair = Fixed(weight, torch.randn(n, dtype=torch.float64) if instance.needs_base else None)
    log_base = pair.batch.log_base
    bases_of = [None, None] if log_base is None else [log_base[up], log_base[down]]
    shares = [None, None] if weight is None else [weight[up], weight[down]]

    surface = surface_of(instance)
    before = weights_of(surface)
    u = surface(pair.batch.x)
    loss = weighted_mean(instance.down_primitive(u[down], bases_of[1]), shares[1]) - weighted_mean(
        instance.up_primitive(u[up], bases_of[0]), shares[0]
    )
    gradients = torch.autograd.grad(loss, list(surface.parameters()), allow_unused=True, materialize_grads=True)

    push(surface, instance, pair, steps=1, optimizer=torch.optim.SGD(surface.parameters(), lr=0.01))
    for now, was, gradient in zip(weights_of(surface), before, gradients, strict=True):
        assert_close(now, was - 0.01 * gradient, relative=1e-10, absolute=1e-14)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_a_step_on_labels_is_a_step_down_cross_entropy(weighted):
    y = RANDOM.integers(0, 3, size=60)
    weight = RANDOM.uniform(size=60) if weighted else None
    surface = surface_of(outputs=3)
    before = weights_of(surface)
    x, labels = torch.from_numpy(UP), torch.from_numpy(y)
    each = nn.functional.cross_entropy(surface(x), labels, reduction="none")
    loss = weighted_mean(each, None if weight is None else torch.from_numpy(weight))
    gradients = torch.autograd.grad(loss, list(surface.parameters()))
    optimizer = torch.optim.SGD(surface.parameters(), lr=0.01)
    push(surface, "softmax_cross_entropy", Labelled(UP, y, weight), steps=1, n_up=30, optimizer=optimizer)
    for now, was, gradient in zip(weights_of(surface), before, gradients, strict=True):
        assert_close(now, was - 0.01 * gradient, relative=1e-9, absolute=1e-13)


def test_binary_cross_entropy_is_logistic_regression():
    """Magnitudes carry the prior, so that one batch of each label in any proportion has the table's loss."""
    surface = surface_of()
    before = weights_of(surface)
    u = surface(torch.from_numpy(np.vstack([UP, DOWN])))
    labels = torch.cat([torch.ones(60), torch.zeros(80)]).double()
    loss = nn.functional.binary_cross_entropy_with_logits(u, labels)
    gradients = torch.autograd.grad(loss, list(surface.parameters()))
    instance = catalog.binary_cross_entropy(60 / 140)
    push(surface, instance, Fixed(), steps=1, optimizer=torch.optim.SGD(surface.parameters(), lr=0.01))
    for now, was, gradient in zip(weights_of(surface), before, gradients, strict=True):
        assert_close(now, was - 0.01 * gradient, relative=1e-9, absolute=1e-13)


def test_several_surfaces_at_once_are_pushed_each_by_itself():
    """Two outputs from one last layer move as two surfaces would."""
    both = surface_of(outputs=2)
    push(both, "nce", Fixed(), steps=1, optimizer=torch.optim.SGD(both.last.parameters(), lr=0.1))
    for k in (0, 1):
        one = surface_of(outputs=2)
        single = FullyConnected(2, width=8, layers=2).double()
        single.hidden.load_state_dict(one.hidden.state_dict())
        with torch.no_grad():
            single.last.weight.copy_(one.last.weight[k : k + 1])
            single.last.bias.copy_(one.last.bias[k : k + 1])
        push(single, "nce", Fixed(), steps=1, optimizer=torch.optim.SGD(single.last.parameters(), lr=0.1))
        assert_close(both.last.weight[k], single.last.weight[0].detach(), relative=1e-10)
        assert_close(both.last.bias[k], single.last.bias[0].detach(), relative=1e-10, absolute=1e-15)


def test_frozen_weights_stay():
    surface = surface_of()
    surface.hidden.requires_grad_(requires_grad=False)
    hidden, last = weights_of(surface.hidden), weights_of(surface.last)
    push(surface, "nce", Pair(UP, DOWN), steps=5, n_up=20, seed=0)
    assert same(weights_of(surface.hidden), hidden)
    assert not same(weights_of(surface.last), last)


# --- the loop -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_seed_repeats_the_push_bit_for_bit(dtype):
    surfaces = [surface_of(dtype=dtype) for _ in range(3)]
    pair = Pair(UP, bases.Gaussian().fit(DOWN))
    histories = [push(s, "nce", pair, steps=7, n_up=20, seed=seed) for s, seed in zip(surfaces, (3, 3, 4), strict=True)]
    assert same(weights_of(surfaces[0]), weights_of(surfaces[1]))
    assert histories[0] == histories[1]
    assert not same(weights_of(surfaces[0]), weights_of(surfaces[2]))


def test_the_global_generator_is_neither_used_nor_moved():
    state = torch.get_rng_state()
    surface = surface_of()
    state = torch.get_rng_state()
    push(surface, "nce", Pair(UP, torch.distributions.Normal(torch.zeros(2), 1.0)), steps=3, n_up=10, seed=1)
    assert torch.equal(torch.get_rng_state(), state)


def test_without_a_seed_pushes_differ():
    surfaces = [surface_of(), surface_of()]
    for surface in surfaces:
        push(surface, "nce", Pair(UP, DOWN), steps=3, n_up=10)
    assert not same(weights_of(surfaces[0]), weights_of(surfaces[1]))


@pytest.mark.parametrize(
    ("steps", "every", "recorded"), [(10, 4, [0, 4, 8, 9]), (9, 4, [0, 4, 8]), (1, 50, [0]), (0, 1, [])]
)
def test_the_history_records_every_so_often_and_the_last_step(steps, every, recorded):
    history = push(surface_of(), "nce", Pair(UP, DOWN), steps=steps, n_up=10, record_every=every, seed=0)
    assert history.step == recorded
    assert len(history) == len(recorded) == len(history.balance)
    for name in ("up_height", "down_height", "up_force", "down_force", "learning_rate"):
        assert len(getattr(history, name)) == len(recorded)
        assert bool(np.isfinite(getattr(history, name)).all())


@pytest.mark.parametrize("instance", [catalog.nce, catalog.lsgan(1.0, 0.0), catalog.deep_pdf], ids=label)
def test_the_history_holds_mean_magnitudes(instance):
    """Up force is the mean of M_up over up rows whatever its sign, down force that of M_down."""
    surface = surface_of(instance)
    pair = Fixed(log_base=torch.zeros(140, dtype=torch.float64))
    with torch.no_grad():
        u = surface(pair.batch.x)
        up, down = (instance.up(u[:60], torch.zeros(60).double()), instance.down(u[60:], torch.zeros(80).double()))
    history = push(surface, instance, pair, steps=1)
    assert history.up_height == pytest.approx([u[:60].mean().item()])
    assert history.down_height == pytest.approx([u[60:].mean().item()])
    assert history.up_force == pytest.approx([up.mean().item()])
    assert history.down_force == pytest.approx([down.mean().item()])
    assert history.balance == pytest.approx([(up.mean() - down.mean()).item()])


def test_the_forces_balance_at_the_end():
    surface = surface_of()
    history = push(surface, "nce", Fixed(), steps=400, learning_rate=0.01, record_every=1)
    assert abs(history.balance[0]) > 0.05
    assert abs(history.balance[-1]) < 0.02 * history.up_force[-1]
    assert history.up_height[-1] > history.down_height[-1] + 0.3


def test_the_rate_follows_a_cosine_to_zero():
    history = push(surface_of(), "nce", Fixed(), steps=100, learning_rate=0.02, record_every=25)
    assert history.learning_rate == pytest.approx(
        [0.02, 0.01 * (1 + 2**-0.5), 0.01, 0.01 * (1 - 2**-0.5), 4.9e-6], rel=1e-2
    )


def test_no_steps_change_nothing():
    surface = surface_of()
    before = weights_of(surface)
    assert len(push(surface, "nce", Pair(UP, DOWN), steps=0)) == 0
    assert same(weights_of(surface), before)


def test_a_callback_sees_the_surface_and_stops_the_push():
    seen = []

    def stop_at_six(step, surface, history):
        seen.append((step, history.step[-1], surface.training))
        return step >= 6

    other = []
    surface = surface_of()
    callbacks = [stop_at_six, lambda step, *_: other.append(step)]
    history = push(surface, "nce", Pair(UP, DOWN), steps=100, n_up=10, record_every=2, callbacks=callbacks, seed=0)
    assert seen == [(step, step, True) for step in (0, 2, 4, 6)]
    assert other == history.step == [0, 2, 4, 6]
    assert not surface.training


def test_a_callback_that_returns_something_else_does_not_stop():
    history = push(surface_of(), "nce", Fixed(), steps=4, record_every=1, callbacks=[lambda *_: 1, lambda *_: "stop"])
    assert len(history) == 4


def test_rows_arrive_in_the_surfaces_precision():
    for dtype in (torch.float32, torch.float64):
        seen = []
        surface = surface_of(dtype=dtype)
        surface.register_forward_pre_hook(lambda _, x, seen=seen: seen.append(x[0].dtype))
        push(surface, "nce", Pair(UP.astype(np.float32), DOWN), steps=1, n_up=5)
        assert set(seen) == {dtype}


def test_sides_may_differ_in_number():
    drawn = []

    class Watched(Pair):
        def draw(self, n_up, n_down, generator, **rest):
            drawn.append((n_up, n_down))
            return super().draw(n_up, n_down, generator, **rest)

    push(surface_of(), "nce", Watched(UP, DOWN), steps=1, n_up=7, n_down=3)
    push(surface_of(), "nce", Watched(UP, DOWN), steps=1, n_up=7)
    assert drawn == [(7, 3), (7, 7)]


def test_an_instance_goes_by_its_name():
    surfaces = [surface_of(), surface_of()]
    for surface, instance in zip(surfaces, ("pso_lde", catalog.pso_lde(0.25)), strict=True):
        push(surface, instance, Pair(UP, DOWN), steps=3, n_up=10, seed=1)
    assert same(weights_of(surfaces[0]), weights_of(surfaces[1]))
    with pytest.raises(ValueError, match="the catalogue has no 'nec'; did you mean nce"):
        push(surfaces[0], "nec", Pair(UP, DOWN), steps=1)


def test_the_base_is_not_evaluated_where_the_instance_does_without():
    """Rows against rows have no base at all, and most instances need none."""
    push(surface_of(), "nce", Pair(UP, DOWN), steps=1, n_up=10)
    with pytest.raises(ValueError, match="the down density of this pair is not known: give a base with log_prob"):
        push(surface_of(catalog.deep_pdf), "deep_pdf", Pair(UP, DOWN), steps=1, n_up=10)


def test_equal_densities_leave_equal_heights():
    surface = surface_of()
    push(surface, "logistic", Pair(UP, Rows(UP)), steps=200, n_up=60, learning_rate=0.01, seed=0)
    with torch.no_grad():
        assert surface(torch.from_numpy(UP)).abs().max() < 0.05


# --- classes --------------------------------------------------------------------------------------------------------

MEANS = np.array([[0.0, 1.5], [1.5, -1.0], [-1.5, -1.0]])
PRIORS = np.array([0.5, 0.3, 0.2])


@pytest.mark.parametrize("norm", [1.0, 2.0, float("inf")])
def test_classes_land_on_their_posterior(norm):
    """Three Gaussians in the plane: softmax of the heights against Bayes' rule."""
    codes = RANDOM.choice(3, size=20_000, p=PRIORS)
    rows = MEANS[codes] + RANDOM.normal(size=(20_000, 2))
    torch.manual_seed(0)
    surface = FullyConnected(2, width=32, layers=2, outputs=3)
    pair = Labelled(rows, np.array(["oak", "elm", "yew"])[codes])
    assert pair.classes.tolist() == ["elm", "oak", "yew"]
    history = push(surface, catalog.softmax_cross_entropy(norm), pair, steps=300, n_up=400, learning_rate=0.01, seed=0)
    x = RANDOM.normal(size=(2000, 2)) * 1.5
    joint = PRIORS * np.exp(-0.5 * ((x[:, None] - MEANS) ** 2).sum(axis=2))
    bayes = (joint / joint.sum(axis=1, keepdims=True))[:, [1, 0, 2]]
    with torch.no_grad():
        posterior = torch.softmax(surface(torch.from_numpy(x).float()), dim=1).numpy()
    assert np.abs(posterior - bayes).mean() <= 0.03
    assert abs(history.balance[-1]) < 1e-6  # what lifts a row's class presses the others: exactly, row by row
    assert bool(np.isnan(history.down_height).all())


@pytest.mark.parametrize("prior", [0.2, 0.7])
def test_two_labels_land_on_their_log_odds(prior):
    """Whatever the numbers of rows drawn, heights are log(prior/(1 − prior)) + log z."""
    surface = FullyConnected(1, width=16, layers=2)
    normal = torch.distributions.Normal
    pair = Pair(normal(0.5, 1.0), normal(-0.5, 1.0))
    push(
        surface, catalog.binary_cross_entropy(prior), pair, steps=400, n_up=500, n_down=300, learning_rate=0.01, seed=0
    )
    x = torch.linspace(-1.5, 1.5, 61).unsqueeze(1)
    with torch.no_grad():
        error = surface(x) - (x.squeeze(1) + np.log(prior / (1.0 - prior)))
    assert error.abs().median() < 0.1


def test_forces_of_unit_never_rest():
    """They are 1 on both sides at every height, so that different densities drive the heights apart for ever."""
    torch.manual_seed(0)
    surface = FullyConnected(2, width=8, layers=1)
    history = push(surface, "unit", Pair(UP, DOWN), steps=200, n_up=60, learning_rate=0.02, record_every=50, seed=0)
    gap = np.subtract(history.up_height, history.down_height)
    assert bool((np.diff(gap) > 0.0).all())
    assert gap[-1] > 10.0
    assert history.up_force == pytest.approx([1.0] * 5)
    assert history.down_force == pytest.approx([1.0] * 5)


# --- what cannot be pushed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("instance", [i for i in catalog.all() if i.feasible and not i.heights.is_real_line], ids=label)
def test_an_instance_limited_to_k_refuses_a_bare_surface(instance):
    bare, pair = surface_of(), Pair(UP, bases.Gaussian().fit(DOWN))
    before = weights_of(bare)
    with pytest.raises(ValueError, match=r"wrap it as eq\.surfaces\.InRange\(surface, instance\.interval\)"):
        push(bare, instance, pair, steps=1, n_up=5)
    assert same(weights_of(bare), before)
    for wrapped in (InRange(bare, instance.interval), Standardise(InRange(bare, instance.interval), [0, 0], [1, 1])):
        assert len(push(wrapped.double(), instance, pair, steps=1, n_up=5)) == 1


def test_a_force_that_is_not_finite_stops_the_push_and_says_where():
    surface = surface_of()
    with torch.no_grad():
        surface.last.bias.fill_(800.0)  # exp overflows
    before = weights_of(surface)
    with pytest.raises(PushDivergedError) as error:
        push(surface, "importance_sampling", Fixed(), steps=5)
    assert same(weights_of(surface), before)
    message = str(error.value)
    assert re.match(r"step 0: M_down of importance_sampling is inf at height (79|80)\d", message)
    assert "the surface is back at the weights it started from" in message
    assert "eq.theory.bound(instance)" in message


def test_the_side_and_the_step_are_the_true_ones():
    calls, kept = [], []

    def breaks_at_the_third(instance, u, batch):
        calls.append(None)
        forces = torch.zeros_like(u)
        if len(calls) == 3:
            forces[5] = float("nan")
        return forces + 1e-3

    brittle = Instance("brittle", torch.ones_like, torch.ones_like, force_rule=breaks_at_the_third)
    surface = surface_of()
    with pytest.raises(
        PushDivergedError, match=r"step 2: M_up of brittle is nan at height .*back at its weights of step 1"
    ):
        push(
            surface, brittle, Fixed(), steps=9, record_every=1, callbacks=[lambda *_: kept.append(weights_of(surface))]
        )
    assert len(kept) == 2
    assert same(weights_of(surface), kept[0])  # what step 1 began with, and found everything finite
    assert issubclass(PushDivergedError, ArithmeticError)


class Misshapen(nn.Module):
    """A surface that answers something else than one height per row."""

    def __init__(self, shape):
        super().__init__()
        self.inner, self.shape = nn.Linear(2, 1), shape

    def forward(self, x):
        return self.shape(self.inner(x.float()))


@pytest.mark.parametrize(
    "shape", [lambda u: u[:-1, 0], lambda u: u.T, lambda u: torch.cat([u, u])[:, 0]], ids=["short", "lying", "long"]
)
def test_a_surface_of_the_wrong_shape_is_refused(shape):
    with pytest.raises(ValueError, match="a surface must return one height per row: 2 rows gave u of"):
        push(Misshapen(shape), "nce", Fixed(), steps=1)


def test_classes_need_a_surface_each():
    pair = Labelled(UP, np.arange(60) % 3)
    with pytest.raises(ValueError, match="one output per class"):
        push(surface_of(), "softmax_cross_entropy", pair, steps=1, n_up=5)
    with pytest.raises(ValueError, match=r"needs labels: draw from sources\.Labelled"):
        push(surface_of(outputs=3), "softmax_cross_entropy", Pair(UP, DOWN), steps=1, n_up=5)


def test_labelled_rows_have_no_base_to_give():
    with pytest.raises(ValueError, match="labelled rows have no base"):
        push(surface_of(catalog.deep_pdf), "deep_pdf", Labelled(UP, np.arange(60) % 3), steps=1, n_up=5)


BROKEN = {
    "features": (lambda: (FullyConnected(3, 4, 1), Pair(UP, DOWN), {}), r"pair's rows of 2 columns: it has 3 features"),
    "unsaid features": (
        lambda: (nn.Sequential(nn.Linear(3, 1), nn.Flatten(0)), Pair(UP, DOWN), {}),
        "rows of 2 columns: mat1",
    ),
    "no weights": (lambda: (nn.Flatten(0), Pair(UP, DOWN), {}), "this Flatten has no weights to push"),
    "no up rows": (
        lambda: (surface_of(), Pair(UP, DOWN), {"n_up": 0}),
        "n_up must be a whole number of at least 1, got 0",
    ),
    "no down rows": (lambda: (surface_of(), Pair(UP, DOWN), {"n_down": 0}), "n_down must be a whole number"),
    "half a row": (lambda: (surface_of(), Pair(UP, DOWN), {"n_up": 2.5}), "n_up must be a whole number"),
    "no pace": (lambda: (surface_of(), Pair(UP, DOWN), {"record_every": 0}), "record_every must be a whole number"),
    "negative steps": (lambda: (surface_of(), Pair(UP, DOWN), {"steps": -1}), "steps must not be negative"),
    "no steps": (lambda: (surface_of(), Pair(UP, DOWN), {"steps": "soon"}), "a budget is a number of steps, or a time"),
    "no source": (lambda: (surface_of(), Pair(np.empty((0, 2)), DOWN), {}), "shape"),
    "a generator of NaN": (
        lambda: (surface_of(), Pair(UP, Generated(lambda z: z / 0, 2)), {}),
        "returned NaN or infinity",
    ),
    "weights below zero": (lambda: (surface_of(), Pair(Rows(UP, -np.ones(60)), DOWN), {}), "non-negative"),
    "weights of zero": (lambda: (surface_of(), Pair(Rows(UP, np.zeros(60)), DOWN), {}), "not all zero"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_bad_input_is_said_before_the_first_step(name):
    make, words = BROKEN[name]

    def attempt():
        surface, pair, options = make()
        push(surface, "nce", pair, **{"steps": 1, "n_up": 5} | options)

    with pytest.raises(ValueError, match=words) as error:
        attempt()
    assert "\n" not in str(error.value)


def test_what_is_no_surface_and_what_is_no_pair_are_named():
    with pytest.raises(TypeError, match=r"must be an nn.Module .* got the class FullyConnected"):
        push(FullyConnected, "nce", Pair(UP, DOWN), steps=1)
    with pytest.raises(TypeError, match=r"must be an eq.Pair\(up, down\), .* got a ndarray"):
        push(surface_of(), "nce", np.asarray(UP), steps=1)


def test_a_known_density_without_log_prob_cannot_be_a_base():
    class Sampler:
        def sample(self, n):
            return torch.zeros(n, 2)

    surface = surface_of(catalog.deep_pdf)
    before = weights_of(surface)
    with pytest.raises(ValueError, match="the down density of this pair is not known: give a base with log_prob"):
        push(surface, "deep_pdf", Pair(UP, Sampler()), steps=1, n_up=5)
    assert same(weights_of(surface), before)


def test_a_generator_that_breaks_later_stops_the_push_there():
    calls = []

    def tires(noise):
        calls.append(None)
        return noise * (float("nan") if len(calls) > 3 else 1.0)

    surface = surface_of()
    with pytest.raises(ValueError, match="the generator returned NaN or infinity in 5 rows"):
        push(surface, "nce", Pair(UP, Generated(tires, 2)), steps=9, n_up=5)
    assert all(bool(torch.isfinite(w).all()) for w in weights_of(surface))
    assert not surface.training


def test_heights_that_hang_on_nothing_cannot_be_pushed():
    class Adrift(nn.Module):
        def __init__(self):
            super().__init__()
            self.unused = nn.Parameter(torch.zeros(1))

        def forward(self, x):
            return x[:, 0]

    with pytest.raises(ValueError, match="heights do not depend on its weights"):
        push(Adrift(), "nce", Pair(UP, DOWN), steps=1, n_up=5)


def test_a_module_named_features_is_no_number_of_columns():
    class Layered(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Linear(2, 1)

        def forward(self, x):
            return self.features(x).squeeze(1)

    assert len(push(Layered(), "nce", Pair(UP, DOWN), steps=1, n_up=5)) == 1


def test_dropout_follows_the_seed():
    surfaces = [nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.5), nn.Linear(8, 1), nn.Flatten(0)) for _ in range(3)]
    start = {key: value.clone() for key, value in surfaces[0].state_dict().items()}
    for surface, seed in zip(surfaces, (1, 1, 2), strict=True):
        surface.load_state_dict(start)
        torch.rand(7)
        push(surface, "nce", Fixed32(), steps=3, seed=seed)
    assert same(weights_of(surfaces[0]), weights_of(surfaces[1]))
    assert not same(weights_of(surfaces[0]), weights_of(surfaces[2]))


class Fixed32(Fixed):
    """The same batch, in single precision."""

    def __init__(self):
        super().__init__()
        self.batch = Batch(self.batch.x.float(), self.batch.n_up)


def test_a_batch_that_weighs_nothing_does_not_push():
    """All its up rows have weight zero: that side rests, the other goes on."""
    weight = torch.cat([torch.zeros(60), torch.ones(80)]).double()
    surface = surface_of()
    history = push(surface, "nce", Fixed(weight), steps=3, record_every=1)
    assert history.up_force == [0.0] * 3
    assert min(history.down_force) > 0.0


def test_numbers_may_be_numpys():
    history = push(
        surface_of(), "nce", Pair(UP, DOWN), steps=np.int64(2), n_up=np.int32(5), learning_rate=np.float32(0.01)
    )
    assert history.steps == 2


def test_callbacks_that_open_are_closed(monkeypatch):
    """However the push ends; and the surface is in evaluation mode after."""
    log = []

    class Opening:
        def __enter__(self):
            log.append("open")
            return self

        def __exit__(self, *_):
            log.append("close")

        def __call__(self, step, surface, history):
            log.append(step)
            if step == 2:
                raise ZeroDivisionError

    surface = surface_of()
    with pytest.raises(ZeroDivisionError):
        push(surface, "nce", Pair(UP, DOWN), steps=9, n_up=5, record_every=1, callbacks=[Opening()])
    assert log == ["open", 0, 1, 2, "close"]
    assert not surface.training


def test_the_callback_that_ended_the_push_is_named():
    def enough(step, surface, history):
        return step == 1

    history = push(surface_of(), "nce", Pair(UP, DOWN), steps=9, n_up=5, record_every=1, callbacks=[enough])
    assert history.stopped == "by enough"


# --- where it rests ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("instance", [catalog.nce, catalog.pso_lde(0.25), catalog.ulsif, catalog.kliep], ids=label)
def test_the_mean_gradient_vanishes_at_the_analytic_optimum(instance):
    """Within five standard errors at T(z), and far from it one unit of log z away."""

    class Optimum(nn.Module):
        heights = instance.interval

        def __init__(self, shift):
            super().__init__()
            self.tilt = nn.Parameter(torch.tensor([shift, 1.0, 0.0], dtype=torch.float64))

        def forward(self, x):
            log_z = self.tilt[0] + self.tilt[1] * x[:, 0] + self.tilt[2] * x[:, 0] ** 2
            return instance.target(torch.exp(log_z))

    up, down = (torch.distributions.Normal(torch.tensor([m], dtype=torch.float64), 1.0) for m in (0.5, -0.5))
    gradients = {}
    for shift in (0.0, 1.0):
        surface = Optimum(shift)
        seen = gradients[shift] = []
        hooks = [lambda _, module, __, seen=seen: seen.append(module.tilt.grad.clone())]
        push(
            surface,
            instance,
            Pair(up, down),
            steps=200,
            n_up=500,
            learning_rate=0.0,
            record_every=1,
            callbacks=hooks,
            seed=0,
        )
    for shift, seen in gradients.items():
        each = torch.stack(seen)
        error = each.mean(dim=0).abs() / (each.std(dim=0) / 200**0.5)
        assert bool((error < 5.0).all()) == (shift == 0.0)
