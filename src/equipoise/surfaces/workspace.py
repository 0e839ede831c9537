"""Memory that a surface uses again step after step, and never twice at once.

    lease = pool.lease()   →   lease.room.floats("kept", n, like)   →   lease.release()

Fresh memory is mapped and faulted in page by page, which costs more than the arithmetic done in it. So a room is handed
from one forward pass to the next as soon as the backward pass between them is through. A second backward pass over the
same heights finds its lease given up, and computes again what it needs.
"""

from __future__ import annotations

from typing import Any, Self

import torch
from torch import Tensor

from equipoise.surfaces.pages import advise

_ALIGNED = 64  # bytes: a vector register, and a cache line


class Room:
    """Buffers by name, each as large as the largest that was asked for."""

    def __init__(self) -> None:
        self.buffers: dict[str, Tensor] = {}
        self.prepared: tuple[Any, Any] | None = None  # what an engine made of them, and for what

    def floats(self, name: str, count: int, like: Tensor) -> Tensor:
        """``count`` numbers of the type and on the device of ``like``, as they were left; aligned."""
        buffer = self.buffers.get(name)
        if buffer is None or buffer.numel() < count or buffer.dtype != like.dtype or buffer.device != like.device:
            buffer = self.buffers[name] = like.new_empty(0)  # before its successor is there, or both would be
            spare = _ALIGNED // like.element_size()
            with torch.inference_mode(mode=False):  # the buffer will outlive the caller's mode
                whole = torch.empty(count + spare, dtype=like.dtype, device=like.device)
            advise(whole)
            start = -(whole.data_ptr() // like.element_size()) % spare
            buffer = self.buffers[name] = whole[start : start + count]
        return buffer[:count]


class Lease:
    """The use of a room until it is released, or forgotten.

    Arguments:
        pool: Where the room goes back to.
        room: The room.
    """

    def __init__(self, pool: Pool, room: Room) -> None:
        self._pool = pool
        self.room = room
        self.held = True

    def release(self) -> None:
        """Let others have the room."""
        if self.held:
            self.held = False
            self._pool.free.append(self.room)

    def __del__(self) -> None:
        self.release()


class Pool:
    """The rooms of one surface; copies and files take none of them along."""

    def __init__(self) -> None:
        self.free: list[Room] = []
        self._gradients: list[Tensor] = []

    def lease(self) -> Lease:
        """A free room, or a new one."""
        try:
            return Lease(self, self.free.pop())
        except IndexError:
            return Lease(self, Room())

    def gradient(self, like: Tensor) -> Tensor:
        """A vector like ``like`` that nobody else holds; the last one where everybody has let go of it."""
        try:
            last: Tensor | None = self._gradients.pop()
        except IndexError:
            last = None
        if last is None or last.shape != like.shape or last.dtype != like.dtype or last.device != like.device:
            last = None
        if last is None or _holders(last) > _ALONE:
            last = torch.empty_like(like, memory_format=torch.contiguous_format)
        given = last.detach()
        self._gradients[:] = [last]  # only now: until it has a second holder, another thread must not find it
        return given

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)()

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        return type(self), ()


def _holders(tensor: Tensor) -> int:
    """How many tensors share this memory, and the few references that asking makes."""
    count: int = torch._C._storage_Use_Count(tensor.untyped_storage()._cdata)
    return count


def _count_alone() -> int:
    try:
        return _holders(torch.empty(1))
    except AttributeError:  # a torch that does not tell: every gradient is a fresh one
        return -1


_ALONE = _count_alone()
