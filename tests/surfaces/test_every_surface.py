"""What holds for every surface: shapes, copies, files, precision, derivatives, rows far out."""

import copy
import io
import json

import pytest
import torch
from tests.asserts import assert_close
from tests.surfaces.every import FEATURES, SURFACES, make, rows

import equipoise as eq
from equipoise.surfaces import build, describe, heights_of, size
from equipoise.surfaces.blueprint import known

ALL = pytest.mark.parametrize("name", SURFACES)
PRECISIONS = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])


def outputs(surface):
    return surface(rows(5).to(next(surface.parameters()).dtype)).shape[1:].numel()


def plain(surface, x):
    """Heights under no graph."""
    with torch.no_grad():
        return surface(x)


def test_every_class_that_can_be_saved_is_walked():
    def types(blueprint):
        inner = [v for value in blueprint.values() for v in (value if isinstance(value, list) else [value])]
        return {blueprint["type"]}.union(*(types(v) for v in inner if isinstance(v, dict)))

    walked = set().union(*(types(describe(make(name))) for name in SURFACES))
    assert walked == set(known()), "tests/surfaces/every.py wants one of each"


@ALL
@PRECISIONS
@pytest.mark.parametrize("n", [1, 2, 37])
def test_one_height_per_row_and_output(name, dtype, n):
    surface = make(name, dtype)
    x = rows(n).to(dtype)
    u = surface(x)
    assert u.dtype == dtype
    assert u.shape in {(n,), (n, 2), (n, 4)}
    assert u.requires_grad
    assert not plain(surface, x).requires_grad
    assert torch.equal(plain(surface, x), u)


@ALL
def test_no_rows_have_no_heights(name):
    assert make(name)(rows(0).double()).shape[0] == 0


@ALL
def test_a_row_scores_the_same_whatever_comes_with_it(name):
    surface, x = make(name), rows(300).double()
    whole = plain(surface, x)
    assert_close(torch.cat([plain(surface, part) for part in x.split([1, 7, 92, 200])]), whole, absolute=1e-11)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    assert_close(plain(surface, x[order]), whole[order], absolute=1e-11)
    assert_close(plain(surface, x.T.contiguous().T), whole, absolute=1e-11)  # however the rows lie in memory


@ALL
def test_float32_is_float64_in_fewer_digits(name):
    surface = make(name)
    x = rows(50)
    narrow = copy.deepcopy(surface).float()
    assert_close(plain(narrow, x).double(), plain(surface.double(), x.double()), relative=2e-3, absolute=2e-3)
    narrow.double()
    assert plain(narrow, x.double()).dtype == torch.float64


@ALL
def test_a_copy_lives_its_own_life(name):
    surface = make(name)
    x = rows(20).double()
    before = plain(surface, x)
    twin = copy.deepcopy(surface)
    assert torch.equal(plain(twin, x), before)
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.mul_(1.5).add_(0.1)
    assert torch.equal(plain(surface, x), before)
    assert not torch.equal(plain(twin, x), before)


@ALL
def test_state_moves_to_another_of_its_kind(name):
    surface, other = make(name), make(name, seed=2)
    x = rows(20).double()
    assert not torch.equal(plain(other, x), plain(surface, x))
    other.load_state_dict(surface.state_dict())
    assert torch.equal(plain(other, x), plain(surface, x))
    buffer = io.BytesIO()
    torch.save(surface.state_dict(), buffer)
    buffer.seek(0)
    third = make(name, seed=3)
    third.load_state_dict(torch.load(buffer, weights_only=True))
    assert torch.equal(plain(third, x), plain(surface, x))


@ALL
@PRECISIONS
def test_a_blueprint_rebuilds_the_surface(name, dtype):
    surface = make(name, dtype)
    blueprint = json.loads(json.dumps(describe(surface), allow_nan=False))
    assert size(blueprint) == sum(tensor.numel() for tensor in surface.state_dict().values())
    rebuilt = build(blueprint).to(dtype)
    plain(rebuilt, rows(3).to(dtype))  # what it has prepared for its own numbers must not outlive them
    rebuilt.load_state_dict(surface.state_dict())
    rebuilt.eval()
    x = rows(20).to(dtype)
    assert torch.equal(plain(rebuilt, x), plain(surface, x))
    assert heights_of(rebuilt) == heights_of(surface)
    assert describe(rebuilt) == describe(surface)


@ALL
def test_gradients_are_those_of_finite_differences(name):
    surface = make(name)
    x = rows(4, seed=5).double()
    keys = [key for key, _ in surface.named_parameters()]
    values = tuple(value.detach().clone().requires_grad_() for value in surface.parameters())

    def heights(*values):
        return torch.func.functional_call(surface, dict(zip(keys, values, strict=True)), (x,))

    assert torch.autograd.gradcheck(heights, values)
    assert torch.autograd.gradcheck(surface, x.clone().requires_grad_())


@ALL
def test_second_derivatives_are_those_of_finite_differences(name):
    surface = make(name)
    x = rows(2, seed=6).double().requires_grad_()
    (slopes,) = torch.autograd.grad(surface(x).sum(), x, create_graph=True)
    assert slopes.shape == x.shape
    if slopes.requires_grad:  # a gradient penalty trains the surface through this
        parameters = list(surface.parameters())
        rate = torch.autograd.grad(slopes.square().sum(), parameters, allow_unused=True)
        with torch.no_grad():
            for parameter, g in zip(parameters, rate, strict=True):
                parameter.add_(0.0 if g is None else 1e-7 * g)
        moved = torch.autograd.grad(surface(x).sum(), x)[0].square().sum()
        expected = sum(float(g.square().sum()) for g in rate if g is not None)
        assert float(moved - slopes.detach().square().sum()) / 1e-7 == pytest.approx(expected, rel=1e-3, abs=1e-6)


@ALL
@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")  # torch's own, on the first jvp
def test_transforms_see_through_it(name):
    surface = make(name)
    x = rows(6, seed=7).double()
    state = dict(surface.named_parameters())

    def height(parameters, row):
        return torch.func.functional_call(surface, parameters, (row.unsqueeze(0),)).sum()

    each = torch.func.vmap(torch.func.grad(height), in_dims=(None, 0))(state, x)
    whole = torch.autograd.grad(surface(x).sum(), list(state.values()))
    for key, expected in zip(state, whole, strict=True):
        assert_close(each[key].sum(dim=0), expected, relative=1e-8, absolute=1e-10)
    value, tangent = torch.func.jvp(lambda x: surface(x).sum(), (x,), (torch.ones_like(x),))
    moving = x.clone().requires_grad_()
    assert_close(value, surface(x).sum())
    assert_close(tangent, torch.autograd.grad(surface(moving).sum(), moving)[0].sum(), absolute=1e-10)


@ALL
@PRECISIONS
def test_rows_far_out_have_finite_heights_and_gradients(name, dtype):
    surface = make(name, dtype)
    x = torch.tensor([[1e12] * FEATURES, [-1e12] * FEATURES, [1e12, 0.0, -1e12], [0.0] * FEATURES], dtype=dtype)
    u = surface(x)
    assert bool(torch.isfinite(u).all())
    assert bool(heights_of(surface).contains(u).all())
    u.sum().backward()
    assert all(bool(torch.isfinite(parameter.grad).all()) for parameter in surface.parameters())


@ALL
def test_a_missing_number_is_never_a_height(name):
    x = rows(3).double()
    x[1, 2] = float("nan")
    u = plain(make(name), x)
    assert torch.isnan(u).reshape(3, -1).all(dim=1).tolist() == [False, True, False]


@ALL
def test_rows_of_another_width_are_refused(name):
    with pytest.raises((ValueError, RuntimeError), match=r"rows of 3 columns|shape|size"):
        make(name)(rows(4, features=5).double())


@ALL
def test_a_push_moves_it(name):
    surface = make(name, torch.float32)
    x = rows(50)
    before = plain(surface, x)
    forces = torch.randn(before.shape, generator=torch.Generator().manual_seed(0))
    optimizer = torch.optim.SGD(surface.parameters(), lr=1e-4)
    surface(x).backward(forces)
    optimizer.step()
    assert float(((plain(surface, x) - before) * forces).sum()) < 0.0  # against the forces, as a step of descent does


def test_the_loop_pushes_a_sum_of_everything():
    parts = [make(name, torch.float32) for name in SURFACES if outputs(make(name)) == 1]
    free = [part for part in parts if heights_of(part).is_real_line]
    assert len(free) >= 5
    total = eq.surfaces.Sum(*free)
    before = [parameter.detach().clone() for parameter in total.parameters()]
    eq.push(total, "logistic", eq.Pair(rows() + 1, rows(seed=4)), steps=3, n_up=50, seed=0)
    assert all(not torch.equal(old, new) for old, new in zip(before, total.parameters(), strict=True))
