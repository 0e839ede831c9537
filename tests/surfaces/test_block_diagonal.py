"""Block-diagonal surfaces: counts of the paper, numbers of a slow twin, and right in every use."""

import copy
import io
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given, settings, strategies as st

from equipoise.surfaces import node
from equipoise.surfaces.block_diagonal import BlockDiagonal
from equipoise.surfaces.buffered import Buffered
from equipoise.surfaces.engine import backend, engine_for
from equipoise.surfaces.native import library
from equipoise.surfaces.native.kernel import ACTIVATIONS

SMALL = {"features": 3, "blocks": 4, "width": 5, "layers": 4}


def twin(surface: BlockDiagonal, x: torch.Tensor, force: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Heights and gradient in float64, channel by channel and row by row as the paper writes them."""
    flat = surface.weights.detach().double().requires_grad_()
    spec, at = surface.spec, 0

    def take(*shape: int) -> torch.Tensor:
        nonlocal at
        count = int(torch.tensor(shape).prod())
        at += count
        return flat[at - count : at].view(shape)

    def activate(z: torch.Tensor) -> torch.Tensor:
        if spec["activation"] == "leaky_relu":
            return torch.where(z > 0, z, spec["slope"] * z)
        return {"relu": lambda: z.clamp(min=0), "tanh": z.tanh, "silu": lambda: z / (1 + torch.exp(-z))}[
            spec["activation"]
        ]()

    b, w = spec["blocks"], spec["width"]
    h = activate(torch.einsum("nd,bdw->nbw", x.double(), take(b, spec["features"], w)) + take(b, w))
    for _ in range(spec["layers"] - 2):
        made = activate(torch.einsum("nbm,bmk->nbk", h, take(b, w, w)) + take(b, w))
        h = made + h if spec["residual"] else made
    u = torch.einsum("nbw,bw->n", h, take(b, w)) + take(1)
    u.backward(force.double())
    return u.detach(), flat.grad


def away_from_kinks(surface: BlockDiagonal, n: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Rows at which no z is so near to zero that rounding could take it to the other side."""
    generator = torch.Generator().manual_seed(1)
    form = surface.form
    x = torch.randn(4 * n + 40, surface.features, generator=generator, dtype=torch.float64)
    weights = form.layout.views(surface.weights.detach().double())
    h, least = x, torch.full((len(x),), torch.inf, dtype=torch.float64)
    for depth, (matrix, bias) in enumerate(weights.layers):
        z = torch.matmul(h, matrix) + bias
        least = torch.minimum(least, z.abs().amin(dim=(0, 2)))
        made = form.activate(z)
        h = made + h if form.residual and depth else made
    smooth = form.activation in ("tanh", "silu")
    return x[(least > 1e-6) | smooth][:n].to(dtype)


def relative(value: torch.Tensor, truth: torch.Tensor) -> float:
    return float((value.double() - truth).norm() / truth.norm().clamp(min=1e-30))


@pytest.fixture(params=["native", "torch"])
def engine(request, monkeypatch):
    if request.param == "torch":
        monkeypatch.setattr(node, "engine_for", lambda x: Buffered())
    elif library() is None:
        pytest.skip("this machine has no kernel")
    return request.param


def test_counts_are_the_paper_s():
    assert BlockDiagonal(20, 50, 64, 6).weights.numel() == 902_401
    assert BlockDiagonal(20, 50, 16, 6).weights.numel() == 72_001


def test_the_machine_that_tests_has_a_kernel():
    """The suite is run where a C compiler is, by the README; without one the fast path would go untested."""
    assert backend().name == "native", str(backend())


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 260),
    features=st.integers(1, 24),
    blocks=st.integers(1, 5),
    width=st.sampled_from([1, 3, 8, 15, 16, 17, 32, 40, 64, 80]),
    layers=st.integers(2, 6),
    residual=st.booleans(),
    activation=st.sampled_from(ACTIVATIONS),
    slope=st.sampled_from([0.2, 0.01, 0.0, -0.5]),
    seed=st.integers(0, 10_000),
)
def test_heights_and_gradients_are_the_twin_s(n, features, blocks, width, layers, residual, activation, slope, seed):
    torch.manual_seed(seed)
    surface = BlockDiagonal(features, blocks, width, layers, residual, activation, slope)
    x = away_from_kinks(surface, n)
    if len(x) == 0:
        return
    force = torch.randn(len(x))
    u, gradient = twin(surface, x, force)
    engines = [Buffered()] + ([engine_for(x)] if library() else [])
    for each in engines:
        room, found = surface._pool.lease().room, torch.empty_like(surface.weights)
        heights = each.forward(surface.form, x, surface.weights.detach(), room, keep=True)
        each.backward(surface.form, x, surface.weights.detach(), force, room, found)
        scale = surface.weights.detach().double().abs().sum() * 1e-7  # heights may cancel to nearly nothing
        assert (heights.double() - u).norm() <= 2e-6 * u.norm() + scale, type(each).__name__
        assert relative(found, gradient) <= 1e-5, type(each).__name__
    wide = copy.deepcopy(surface).double()
    heights = wide(x.double())
    heights.backward(force.double())
    assert relative(wide.weights.grad, gradient) <= 1e-10
    assert relative(heights.detach(), u) <= 1e-10


@pytest.mark.parametrize(("blocks", "width"), [(50, 16), (50, 64), (100, 32)])
def test_the_paper_s_sizes_have_the_twin_s_gradients(engine, blocks, width):
    torch.manual_seed(0)
    surface = BlockDiagonal(20, blocks, width, 6)
    x = away_from_kinks(surface, 300)
    force = torch.randn(len(x))
    surface(x).backward(force)
    assert len(x) == 300
    assert relative(surface.weights.grad, twin(surface, x, force)[1]) < 1e-5


def test_one_backward_call_is_the_gradient(engine):
    surface = BlockDiagonal(**SMALL)
    x, force = torch.randn(301, 3), torch.randn(301)
    surface(x).backward(force)
    assert relative(surface.weights.grad, twin(surface, x, force)[1]) < 1e-5


def test_two_forwards_before_a_backward_do_not_overwrite_each_other(engine):
    surface = BlockDiagonal(**SMALL)
    (x, y), force = torch.randn(2, 50, 3), torch.randn(50)
    first, second = surface(x), surface(y)
    first.backward(force)
    second.backward(-2.0 * force)
    expected = twin(surface, x, force)[1] + twin(surface, y, -2.0 * force)[1]
    assert relative(surface.weights.grad, expected) < 1e-5


def test_a_second_backward_after_another_pass_computes_again(engine):
    surface = BlockDiagonal(**SMALL)
    (x, y), force = torch.randn(2, 50, 3), torch.randn(50)
    u = surface(x)
    u.backward(force, retain_graph=True)
    surface(y).backward(force)  # uses the room that held what u needs
    surface.weights.grad = None
    u.backward(force)
    assert relative(surface.weights.grad, twin(surface, x, force)[1]) < 1e-5


def test_gradients_that_somebody_holds_stay_as_they_are(engine):
    surface = BlockDiagonal(**SMALL)
    (x, y), force = torch.randn(2, 50, 3), torch.randn(50)
    (held,) = torch.autograd.grad(surface(x), surface.weights, force)
    before = held.clone()
    torch.autograd.grad(surface(y), surface.weights, force)
    surface(y).backward(force)
    assert torch.equal(held, before)


def test_gradients_accumulate(engine):
    surface = BlockDiagonal(**SMALL)
    x, force = torch.randn(40, 3), torch.randn(40)
    surface(x).backward(force)
    once = surface.weights.grad.clone()
    surface(x).backward(force)
    torch.testing.assert_close(surface.weights.grad, 2.0 * once)


def test_a_pass_that_is_never_gone_back_gives_its_room_away(engine):
    surface = BlockDiagonal(**SMALL)
    for _ in range(5):
        u = surface(torch.randn(20, 3))
        del u
    assert len(surface._pool.free) == 1


@pytest.mark.parametrize("n", [1, 2, 119, 120, 121, 1000])
def test_batch_sizes_may_change(engine, n):
    surface = BlockDiagonal(**SMALL)
    surface(torch.randn(300, 3)).sum().backward()
    surface.weights.grad = None
    x, force = torch.randn(n, 3), torch.randn(n)
    surface(x).backward(force)
    assert relative(surface.weights.grad, twin(surface, x, force)[1]) < 1e-5


def test_a_row_scores_the_same_whatever_comes_with_it():
    if library() is None:
        pytest.skip("this machine has no kernel")
    surface = BlockDiagonal(7, 6, 24, 5, activation="silu", residual=True).eval()
    x = torch.randn(1000, 7)
    with torch.no_grad():
        whole = surface(x)
        for rows in (x[137:138], x[130:140], x[1:].flip(0)):
            index = torch.cat([torch.nonzero((x == row).all(dim=1)).flatten() for row in rows[:10]])
            assert torch.equal(surface(rows)[:10], whole[index])


def test_threads_do_not_change_a_bit():
    surface = BlockDiagonal(20, 10, 32, 6)
    x, force = torch.randn(700, 20), torch.randn(700)
    found = []
    before = torch.get_num_threads()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        surface.weights.grad = None
        u = surface(x)
        u.backward(force)
        found.append((u.detach(), surface.weights.grad))
    torch.set_num_threads(before)
    if library() is not None:
        assert torch.equal(found[0][0], found[1][0])
        assert torch.equal(found[0][1], found[1][1])


def test_inference_mode_leaves_a_workspace_that_training_can_use(engine):
    surface = BlockDiagonal(**SMALL)
    x, force = torch.randn(40, 3), torch.randn(40)
    with torch.inference_mode():
        surface(x)
    surface(x).backward(force)
    assert relative(surface.weights.grad, twin(surface, x, force)[1]) < 1e-5


def test_no_grad_and_eval_give_the_same_heights(engine):
    surface = BlockDiagonal(**SMALL)
    x = torch.randn(90, 3)
    trained = surface(x)
    with torch.no_grad():
        assert torch.equal(surface(x), trained)
    assert torch.equal(surface.eval()(x), trained)
    surface.weights.requires_grad_(requires_grad=False)
    assert not surface(x).requires_grad


def test_second_derivatives_are_the_twin_s():
    surface = BlockDiagonal(**SMALL, activation="tanh").double()
    x = torch.randn(20, 3, dtype=torch.float64)
    (first,) = torch.autograd.grad(surface(x).pow(2).sum(), surface.weights, create_graph=True)
    first.pow(2).sum().backward()
    twin_weights = surface.weights.detach().clone().requires_grad_()
    (plain,) = torch.autograd.grad(surface.form.heights(x, twin_weights).pow(2).sum(), twin_weights, create_graph=True)
    plain.pow(2).sum().backward()
    torch.testing.assert_close(surface.weights.grad, twin_weights.grad)


def test_rows_may_want_a_gradient():
    surface = BlockDiagonal(**SMALL, activation="silu").double()
    x = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(surface, (x,))
    assert torch.autograd.gradgradcheck(surface, (x,))


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")  # torch itself, in jvp
def test_torch_func_takes_it():
    surface = BlockDiagonal(**SMALL)
    x = torch.randn(30, 3)
    parameters = {"weights": surface.weights.detach()}

    def heights(weights, row):
        return torch.func.functional_call(surface, weights, (row.unsqueeze(0),)).squeeze(0)

    jacobian = torch.func.vmap(torch.func.grad(heights), in_dims=(None, 0))(parameters, x)["weights"]
    for i in (0, 17):
        (expected,) = torch.autograd.grad(surface(x[i : i + 1]), surface.weights)
        torch.testing.assert_close(jacobian[i], expected, rtol=1e-4, atol=1e-5)
    tangent = {"weights": torch.randn_like(surface.weights)}
    _, moved = torch.func.jvp(lambda w: torch.func.functional_call(surface, w, (x,)), (parameters,), (tangent,))
    torch.testing.assert_close(moved, jacobian @ tangent["weights"], rtol=1e-3, atol=1e-4)


def test_many_gradients_at_once_are_the_single_ones(engine):
    """A batched gradient has no memory that a kernel could read."""
    surface, x = BlockDiagonal(**SMALL), torch.randn(6, 3)
    singly = torch.stack([torch.autograd.grad(surface(row[None]).sum(), surface.weights)[0].clone() for row in x])
    for again in (False, True):
        u = surface(x)
        (all_at_once,) = torch.autograd.grad(
            u, surface.weights, torch.eye(6), is_grads_batched=True, create_graph=again
        )
        assert relative(all_at_once.detach(), singly.double()) < 1e-6
    u = surface(x)
    pull = torch.func.vmap(lambda force: torch.autograd.grad(u, surface.weights, force, retain_graph=True)[0])
    assert relative(pull(torch.eye(6)), singly.double()) < 1e-6


def test_python_threads_do_not_meet_in_a_workspace(engine):
    surface, batches = BlockDiagonal(**SMALL), [torch.randn(150, 3) for _ in range(4)]

    def gradient(x: torch.Tensor) -> torch.Tensor:
        return torch.autograd.grad(surface(x).sum(), surface.weights)[0].clone()

    alone = [gradient(x) for x in batches]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(gradient, batches * 25))
    assert all(torch.equal(found, alone[k % 4]) for k, found in enumerate(together))


def test_what_changed_since_the_forward_pass_is_not_used_in_silence(engine):
    surface, x = BlockDiagonal(**SMALL), torch.randn(9, 3)
    for changed in (x, surface.weights):
        u = surface(x)
        with torch.no_grad():
            changed.add_(1.0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            u.sum().backward()


def test_autocast_leaves_it_alone(engine):
    """Its engines work in the surface's own precision."""
    surface, x = BlockDiagonal(**SMALL), torch.randn(9, 3)
    with torch.autocast("cpu", torch.bfloat16):
        u = surface(x)
    assert torch.equal(u, surface(x))


def test_copies_share_nothing(engine):
    surface = BlockDiagonal(**SMALL)
    x, force = torch.randn(30, 3), torch.randn(30)
    u = surface(x)
    twins = [copy.deepcopy(surface), pickle.loads(pickle.dumps(surface))]  # our own
    for other in twins:
        other(torch.randn(30, 3)).sum().backward()
        with torch.no_grad():
            other.weights.zero_()
    u.backward(force)
    assert relative(surface.weights.grad, twin(surface, x, force)[1]) < 1e-5


def test_state_goes_into_another_surface():
    surface, other = BlockDiagonal(**SMALL), BlockDiagonal(**SMALL)
    file = io.BytesIO()
    torch.save(surface.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    x = torch.randn(10, 3)
    assert torch.equal(surface(x), other(x))


def test_precision_can_change_and_come_back():
    surface = BlockDiagonal(**SMALL)
    x = torch.randn(10, 3)
    u = surface(x).detach()
    wide = surface.double()(x.double())
    assert wide.dtype == torch.float64
    torch.testing.assert_close(wide.float(), u, rtol=1e-4, atol=1e-5)
    assert torch.equal(surface.float()(x), u)


def test_it_starts_near_zero():
    torch.manual_seed(0)
    with torch.no_grad():
        assert BlockDiagonal(20, 50, 64, 6)(torch.randn(1000, 20)).abs().mean() < 0.5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"features": 0}, "at least 1"),
        ({"width": 8.5}, "integers"),
        ({"layers": 1}, "at least 2"),
        ({"slope": float("nan")}, "slope and gain must be finite"),
        ({"activation": "gelu"}, "leaky_relu, relu, tanh, silu"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(change, words):
    with pytest.raises(ValueError, match=words):
        BlockDiagonal(**SMALL | change)


def test_rows_that_do_not_fit_are_refused():
    surface = BlockDiagonal(**SMALL)
    with pytest.raises(ValueError, match="rows of 3 columns"):
        surface(torch.randn(5, 4))
    with pytest.raises(TypeError, match=r"torch.float64 and the surface torch.float32: use rows.to"):
        surface(torch.randn(5, 3, dtype=torch.float64))


def test_no_rows_give_no_heights():
    assert BlockDiagonal(**SMALL)(torch.empty(0, 3)).shape == (0,)
