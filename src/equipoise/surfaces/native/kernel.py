"""The compiled kernel as two functions on tensors, checked against a textbook form before it is trusted.

    forward: u = f(x; θ)          backward: ∂(Σ force·u)/∂θ

Tensors must be float32, contiguous, and on the processor; the caller sees to it.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from equipoise.surfaces.layout import Layout
from equipoise.surfaces.native.compiler import NoKernelError, compiled, this_machine

ACTIVATIONS = ("leaky_relu", "relu", "tanh", "silu")  # in the order of the kernel's enumeration
_TORCH = Path(torch.__file__).parent
_PROCESS = os.getpid()  # a forked child has none of the threads that OpenMP remembers, and would wait for them for ever
_FEW = 2_000_000  # multiplications; with fewer, a second thread is not worth waking


class _Shape(ctypes.Structure):
    _fields_ = (
        *((size, ctypes.c_int64) for size in ("rows", "features", "blocks", "width", "inner")),
        *((choice, ctypes.c_int64) for choice in ("activation", "residual")),
        ("slope", ctypes.c_double),
    )
    threads: int  # of one call: torch's own number may change between asking for scratch and using it


class Kernel:
    """A loaded kernel.

    Arguments:
        path: The compiled library.
        name: What it was compiled for.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        _share_openmp()
        try:
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            message = f"the compiled kernel does not load: {error}"
            raise NoKernelError(message) from None
        for size in (self._library.eq_scratch, self._library.eq_kept):
            size.restype = ctypes.c_int64

    def shape(self, layout: Layout, rows: int, activation: str, residual: bool, slope: float) -> _Shape:
        """The kernel's own description of a surface and a batch."""
        sizes = (rows, layout.features, layout.blocks, layout.width, layout.inner)
        shape = _Shape(*sizes, ACTIVATIONS.index(activation), int(residual), slope)
        shape.threads = _threads(shape)
        return shape

    def scratch(self, shape: _Shape) -> int:
        """Floats that all threads of a call need for themselves."""
        return int(self._library.eq_scratch(ctypes.byref(shape))) * shape.threads

    def kept(self, shape: _Shape) -> int:
        """Floats that the forward pass keeps for the backward pass."""
        return int(self._library.eq_kept(ctypes.byref(shape)))

    def forward(
        self, shape: _Shape, x: Tensor, flat: Tensor, u: Tensor, kept: Tensor | None, parts: Tensor, scratch: Tensor
    ) -> None:
        """Write heights to u (n,); parts holds (blocks, n)."""
        call = self._library.eq_forward
        call(ctypes.byref(shape), *map(_address, (x, flat, u, kept, parts, scratch)), shape.threads)

    def backward(
        self, shape: _Shape, x: Tensor, flat: Tensor, force: Tensor, kept: Tensor, gradient: Tensor, scratch: Tensor
    ) -> None:
        """Write the gradient of Σ force·u to ``gradient``, flat like the weights."""
        call = self._library.eq_backward
        call(ctypes.byref(shape), *map(_address, (x, flat, force, kept, gradient, scratch)), shape.threads)


def library() -> Kernel | None:
    """The kernel for this machine, compiled on first use; None where there is none."""
    return _loaded()[0]


def unavailable() -> str:
    """Why there is no kernel; empty where there is one."""
    return _loaded()[1]


@cache
def _loaded() -> tuple[Kernel | None, str]:
    if os.environ.get("EQUIPOISE_NATIVE", "").lower() in ("0", "off", "no"):
        return None, "switched off by EQUIPOISE_NATIVE"
    if os.name != "posix":
        return None, f"no kernel for {os.name} systems"
    try:
        kernel = Kernel(compiled(), this_machine().name)
        verify(kernel)
    except NoKernelError as error:
        return None, str(error)
    return kernel, ""


@torch.inference_mode(mode=False)
@torch.enable_grad()
def verify(kernel: Kernel) -> None:
    """Hold the kernel to a straightforward float64 computation on a small odd shape, value and gradient."""
    layout, n = Layout(features=3, blocks=2, width=5, layers=3), 7
    generator = torch.Generator().manual_seed(0)
    flat, x, force = (torch.randn(k, generator=generator) for k in (layout.size, n * 3, n))
    u, gradient = torch.empty(n), torch.empty(layout.size)
    shape = kernel.shape(layout, n, "leaky_relu", residual=False, slope=0.2)
    kept, scratch, parts = (torch.empty(k + 16) for k in (kernel.kept(shape), kernel.scratch(shape), 2 * n))
    kept = kept[-(kept.data_ptr() // 4) % 16 :]
    kernel.forward(shape, x, flat, u, kept, parts, scratch)
    kernel.backward(shape, x, flat, force, kept, gradient, scratch)
    twin = flat.double().requires_grad_()
    h, weights = x.double().view(n, 3), layout.views(twin)
    for matrix, bias in weights.layers:
        h = torch.nn.functional.leaky_relu(h @ matrix + bias, 0.2)
    expected = (h @ weights.last).sum(dim=(0, 2)) + weights.constant
    (wanted,) = torch.autograd.grad(expected, twin, force.double())
    worst = max(_distance(u, expected.detach()), _distance(gradient, wanted))
    if not worst < 1e-5:
        message = f"the compiled kernel computes wrong numbers on this machine (off by {worst:.1e})"
        raise NoKernelError(message)


def _distance(value: Tensor, truth: Tensor) -> float:
    return float((value.double() - truth).norm() / truth.norm())


def _threads(shape: _Shape) -> int:
    work = shape.rows * shape.blocks * shape.width * (shape.features + shape.inner * shape.width)
    return min(torch.get_num_threads(), shape.blocks) if work > _FEW and os.getpid() == _PROCESS else 1


def _address(tensor: Tensor | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if tensor is None else tensor.data_ptr())


def _share_openmp() -> None:
    """Make torch's OpenMP visible to the kernel: with two, the idle threads of one would keep the other's waiting."""
    maps = Path("/proc/self/maps")
    loaded = {line.split()[-1] for line in maps.read_text().splitlines()} if maps.exists() else set()
    named = (name for name in loaded if Path(name).name.startswith(("libgomp", "libomp", "libiomp")))
    runtimes = sorted(named, key=_is_not_torch_s)
    for name in (*runtimes, str(_TORCH / "lib" / "libomp.dylib"), "libgomp.so.1"):
        try:
            ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
        return  # without any, the kernel runs on one thread


def _is_not_torch_s(library: str) -> bool:
    return not library.startswith(str(_TORCH))
