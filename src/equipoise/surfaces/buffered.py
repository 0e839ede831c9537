"""A block-diagonal surface on torch, over buffers that are used again step after step.

    u = c + Σ over groups of channels of group.forward(x)

Any type, any device. A few channels at a time go through all layers: what one layer writes is still in the cache when
the next one reads it. Views of the weights and of the buffers are made once, and kept with the buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, prod
from typing import Any

import torch
from torch import Tensor

from equipoise.surfaces.form import Form
from equipoise.surfaces.group import Group, Layer, in_place
from equipoise.surfaces.layout import Layout, Weights
from equipoise.surfaces.workspace import Room

_AT_ONCE = 15_000_000  # multiplications in a product: enough to hide a call's cost, few enough to stay in the cache


class Buffered:
    """Torch as an engine."""

    def forward(self, form: Form, x: Tensor, flat: Tensor, room: Room, *, keep: bool) -> Tensor:
        """Heights of rows (n, d)."""
        u = flat[-1:].expand(len(x)).clone()
        for group in _groups(form, x, flat.detach(), room, keep=keep):
            u.add_(group.forward(_seen(x, group)))
        return u

    def backward(self, form: Form, x: Tensor, flat: Tensor, force: Tensor, room: Room, gradient: Tensor) -> None:
        """Write ∂(Σ force·u)/∂θ to ``gradient``; the room holds nothing of use after."""
        gradients = form.layout.views(gradient)
        torch.sum(force, dim=0, keepdim=True, out=gradients.constant)
        groups = _groups(form, x, flat.detach(), room, keep=True)
        for group, part in zip(groups, _split(gradients, _channels(form.layout, x)), strict=True):
            group.backward(_seen(x, group), force, part)


def _seen(x: Tensor, group: Group) -> Tensor:
    """The rows as every channel of a group sees them, (channels, d, n)."""
    return x.T.expand(len(group.last), -1, -1)


def _channels(layout: Layout, x: Tensor) -> int:
    """How many channels go together: as many for each thread as for the next."""
    if x.device.type != "cpu":
        return layout.blocks
    groups = max(1, layout.blocks * len(x) * layout.width**2 // _AT_ONCE)
    threads = torch.get_num_threads()
    return min(layout.blocks, ceil(ceil(layout.blocks / groups) / threads) * threads)


def _groups(form: Form, x: Tensor, flat: Tensor, room: Room, *, keep: bool) -> list[Group]:
    """All channels, over the buffers of a room; the last time's groups where they serve again."""
    size = _channels(form.layout, x)
    key = (form, len(x), size, keep, flat.data_ptr(), flat.dtype, flat.device)
    if room.prepared is None or room.prepared[0] != key:
        room.prepared = None  # or its views would hold the buffers that are about to be replaced
        groups = list(_prepare(form, len(x), flat, room, size, keep=keep))
        room.prepared = (key, groups)
    prepared: list[Group] = room.prepared[1]
    return prepared


def _prepare(form: Form, n: int, flat: Tensor, room: Room, size: int, *, keep: bool) -> Iterator[Group]:
    """Without ``keep``, two layers' buffers of one group serve for all."""
    layout, layers = form.layout, form.layout.inner + 1

    def buffer(name: str, channels: int) -> tuple[Tensor, ...]:
        shape = (channels, layout.width, n)
        return tuple(_cut(room.floats(name, prod(shape), flat).view(shape), size))

    def buffers(name: str) -> list[tuple[Tensor, ...]]:
        if keep:
            return [buffer(f"{name}{depth}", layout.blocks) for depth in range(layers)]
        return [buffer(f"{name}{depth % 2}", size) * ceil(layout.blocks / size) for depth in range(layers)]

    z = buffers("z")
    h = buffers("h") if keep and not in_place(form) else z
    (dh,) = buffer("dh", size)
    for number, part in enumerate(_split(layout.views(flat), size)):
        some = slice(len(part.last))
        made = [
            Layer(matrix, matrix.transpose(1, 2), bias, z[depth][number][some], h[depth][number][some])
            for depth, (matrix, bias) in enumerate(part.layers)
        ]
        yield Group(form, made, part.last, dh[some])


def _split(weights: Weights, size: int) -> Iterator[Weights]:
    """Weights or gradients, ``size`` channels at a time, biases as columns."""
    matrices = [_cut(matrix, size) for matrix, _ in weights.layers]
    biases = [_cut(bias.transpose(1, 2), size) for _, bias in weights.layers]
    for number, last in enumerate(_cut(weights.last, size)):
        layers = tuple((matrix[number], bias[number]) for matrix, bias in zip(matrices, biases, strict=True))
        yield Weights(layers, last, weights.constant)


def _cut(tensor: Tensor, size: int) -> Any:  # noqa: ANN401  # a sequence of tensors
    return (tensor,) if len(tensor) <= size else tensor.split(size)
