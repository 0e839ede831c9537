"""A block-diagonal surface in several processes: data-parallel training, a forked child, no home to compile into."""

import os
import subprocess
import sys

import pytest
import torch
import torch.distributed
import torch.multiprocessing
from torch import nn

from equipoise import Pair, push
from equipoise.surfaces import BlockDiagonal

STEPS, ROWS = 5, 100


def surface() -> BlockDiagonal:
    torch.manual_seed(0)
    return BlockDiagonal(5, 4, 16, 4)


def train_in_parallel(rank: int, folder: str) -> None:
    """Every process sees half of the rows; gloo averages the gradients. Then a push of the wrapped surface."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    parallel = nn.parallel.DistributedDataParallel(surface())
    generator = torch.Generator().manual_seed(1)
    x, force = torch.randn(ROWS, 5, generator=generator), torch.randn(ROWS, generator=generator) / ROWS
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        parallel(x[rank::2]).backward(2.0 * force[rank::2])
        optimizer.step()
    trained = parallel.module.weights.detach().clone()
    push(parallel, "nce", Pair(x, torch.randn(ROWS, 5)), steps=STEPS, n_up=20, seed=rank)
    torch.save([trained, parallel.module.weights.detach()], f"{folder}/{rank}.pt")
    torch.distributed.destroy_process_group()


@pytest.mark.slow
def test_two_processes_train_what_one_does(tmp_path):
    torch.multiprocessing.spawn(train_in_parallel, (str(tmp_path),), 2)
    (first, pushed_first), (second, pushed_second) = (torch.load(tmp_path / f"{rank}.pt") for rank in range(2))
    assert torch.equal(first, second)
    assert torch.equal(pushed_first, pushed_second)
    assert not torch.equal(first, pushed_first)
    alone = surface()
    generator = torch.Generator().manual_seed(1)
    x, force = torch.randn(ROWS, 5, generator=generator), torch.randn(ROWS, generator=generator) / ROWS
    optimizer = torch.optim.SGD(alone.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        alone(x).backward(force)
        optimizer.step()
    moved = (alone.weights - surface().weights).detach().norm()
    assert float((first - alone.weights.detach()).norm()) < 1e-4 * float(moved)


FORKED = """
import os, signal, torch
from equipoise.surfaces import BlockDiagonal
torch.set_num_threads(2)
surface, x = BlockDiagonal(20, 50, 64, 4), torch.randn(500, 20)
with torch.no_grad():
    wanted = surface(x)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if torch.equal(surface(x), wanted) else 1)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_does_not_wait_for_threads_that_it_has_not():
    """OpenMP remembers the parent's threads, of which a child has none."""
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    subprocess.run(command, check=True, timeout=120)


HOMELESS = """
import os
from equipoise.surfaces import backend
os.environ.pop("HOME", None)
os.setuid(54321)
print(backend())
"""


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can become nobody")
def test_a_user_without_a_home_is_served_by_torch():
    environment = {k: v for k, v in os.environ.items() if k not in ("EQUIPOISE_CACHE", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", HOMELESS], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.startswith("torch: no place to keep the kernel")


def test_a_surface_is_pickled_without_its_workspace(tmp_path):
    mine = surface()
    mine(torch.randn(10, 5)).sum().backward()
    torch.save(mine, tmp_path / "surface.pt")
    other = torch.load(tmp_path / "surface.pt", weights_only=False)
    assert other._pool.free == []
    x = torch.randn(7, 5)
    assert torch.equal(other(x), mine(x))
