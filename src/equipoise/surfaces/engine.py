"""What computes a block-diagonal surface: the fused kernel, or torch over buffers where there is none.

    engine.forward(x, θ, room, keep) → u          engine.backward(x, θ, force, room, gradient)

Both leave what the backward pass needs in a room of the surface's workspace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from equipoise.surfaces.buffered import Buffered
from equipoise.surfaces.form import Form
from equipoise.surfaces.native import Kernel, library, unavailable
from equipoise.surfaces.workspace import Room


class Engine(Protocol):
    """A way to compute heights and their gradient in the weights."""

    def forward(self, form: Form, x: Tensor, flat: Tensor, room: Room, *, keep: bool) -> Tensor:
        """Heights of rows (n, d); with ``keep``, a backward pass may follow."""

    def backward(self, form: Form, x: Tensor, flat: Tensor, force: Tensor, room: Room, gradient: Tensor) -> None:
        """Write ∂(Σ force·u)/∂θ to ``gradient``, (size,)."""


@dataclass(frozen=True)
class Native:
    """The fused kernel as an engine.

    Arguments:
        kernel: The loaded kernel.
    """

    kernel: Kernel

    def forward(self, form: Form, x: Tensor, flat: Tensor, room: Room, *, keep: bool) -> Tensor:
        """Heights of rows (n, d)."""
        shape = self.kernel.shape(form.layout, len(x), form.activation, form.residual, form.slope)
        kept = room.floats("kept", self.kernel.kept(shape), flat) if keep else None
        parts = room.floats("parts", form.layout.blocks * len(x), flat)
        u = torch.empty(len(x), dtype=flat.dtype)
        self.kernel.forward(shape, x, flat, u, kept, parts, room.floats("scratch", self.kernel.scratch(shape), flat))
        return u

    def backward(self, form: Form, x: Tensor, flat: Tensor, force: Tensor, room: Room, gradient: Tensor) -> None:
        """Write ∂(Σ force·u)/∂θ to ``gradient``."""
        shape = self.kernel.shape(form.layout, len(x), form.activation, form.residual, form.slope)
        kept = room.floats("kept", self.kernel.kept(shape), flat)
        scratch = room.floats("scratch", self.kernel.scratch(shape), flat)
        self.kernel.backward(shape, x, flat, force, kept, gradient, scratch)


@dataclass(frozen=True)
class Backend:
    """What computes block-diagonal surfaces on this machine.

    Arguments:
        name: ``"native"`` or ``"torch"``.
        why: In words.
    """

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"


def backend() -> Backend:
    """Which engine serves float32 surfaces on the processor, and why."""
    kernel = library()
    if kernel is None:
        return Backend("torch", unavailable())
    return Backend("native", f"the fused kernel, compiled for {kernel.name}, on {torch.get_num_threads()} threads")


def engine_for(x: Tensor) -> Engine:
    """The engine for rows of this type and place."""
    if x.dtype == torch.float32 and x.device.type == "cpu":
        kernel = library()
        if kernel is not None:
            return Native(kernel)
    return Buffered()
