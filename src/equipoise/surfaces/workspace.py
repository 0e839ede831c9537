"""Memory that a surface uses again step after step, and never twice at once.

    lease = pool.lease()   →   lease.room.floats("kept", n, like)   →   lease.release()

Fresh memory is mapped and faulted in page by page, which costs more than the arithmetic done in it. So a room is handed
from one forward pass to the next as soon as the backward pass between them is through. A lease knows whether its room
still holds what was left there: a second backward pass over the same heights either finds it, or computes it again.
"""

from __future__ import annotations

from typing import Any, Self

import torch
from torch import Tensor

_ALIGNED = 64  # bytes: a vector register, and a cache line


class Room:
    """Buffers by name, each as large as the largest that was asked for."""

    def __init__(self) -> None:
        self.buffers: dict[str, Tensor] = {}
        self.leases = 0

    def floats(self, name: str, count: int, like: Tensor) -> Tensor:
        """``count`` numbers of the type and on the device of ``like``, as they were left; aligned."""
        buffer = self.buffers.get(name)
        if buffer is None or buffer.numel() < count or buffer.dtype != like.dtype or buffer.device != like.device:
            self.buffers.pop(name, None)  # before its successor is there, or both would be
            spare = _ALIGNED // like.element_size()
            with torch.inference_mode(mode=False):  # the buffer will outlive the caller's mode
                whole = torch.empty(count + spare, dtype=like.dtype, device=like.device)
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
        room.leases += 1
        self._number = room.leases
        self._held = True

    def release(self) -> None:
        """Let others have the room; what was left in it stays until they do."""
        if self._held:
            self._held = False
            self._pool.free.append(self.room)

    def resume(self) -> bool:
        """Take the room up again; False where somebody else has had it since."""
        if not self._held and self.room.leases == self._number:
            try:
                self._pool.free.remove(self.room)
            except ValueError:
                return False
            self._held = True
        return self._held

    def __del__(self) -> None:
        self.release()


class Pool:
    """The rooms of one surface; copies and files take none of them along."""

    def __init__(self) -> None:
        self.free: list[Room] = []
        self._gradient: Tensor | None = None

    def lease(self) -> Lease:
        """A free room, or a new one."""
        try:
            return Lease(self, self.free.pop())
        except IndexError:
            return Lease(self, Room())

    def gradient(self, like: Tensor) -> Tensor:
        """A vector like ``like`` that nobody else holds; the last one where everybody has let go of it."""
        last = self._gradient
        if last is None or last.shape != like.shape or last.dtype != like.dtype or last.device != like.device:
            last = None
        if last is None or _holders(last) > _ALONE:
            last = torch.empty_like(like, memory_format=torch.contiguous_format)
        self._gradient = last
        return last.detach()

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
