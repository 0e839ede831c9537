"""A block-diagonal surface on torch, over buffers that are used again step after step.

    forward:  z_l = b_l + W_lᵀ·h_(l-1) into its own buffer, h_l = a(z_l), in place where z_l is not needed again
    backward: ∂W_l = h_(l-1)·∂z_lᵀ and ∂z_(l-1) = a'(z)·(W_l·∂z_l), straight into the flat gradient

Any type, any device. Channels come first in every buffer and rows last, (B, w, n): all products are batched ones, the
rows themselves are one operand for all channels, and the last sum is one product of a matrix and a vector. A few
channels at a time go through all layers: what one layer writes is still in the cache when the next one reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from equipoise.surfaces.form import Form
from equipoise.surfaces.layout import Weights
from equipoise.surfaces.workspace import Room

_AT_ONCE = 1_700_000  # numbers in a layer of one group of channels

_ops = torch.ops.aten


class Buffered:
    """Torch as an engine."""

    def forward(self, form: Form, x: Tensor, flat: Tensor, room: Room, *, keep: bool) -> Tensor:
        """Heights of rows (n, d)."""
        del keep  # the buffers are there either way
        u = flat.new_zeros(len(x)).add_(form.layout.views(flat).constant)
        for group in Group.all_of(form, len(x), flat, room):
            u.add_(group.forward(x))
        return u

    def backward(self, form: Form, x: Tensor, flat: Tensor, force: Tensor, room: Room, gradient: Tensor) -> None:
        """Write ∂(Σ force·u)/∂θ to ``gradient``."""
        gradients = form.layout.views(gradient)
        gradients.constant.copy_(force.sum())
        for group in Group.all_of(form, len(x), flat, room):
            group.backward(x, force, _some(gradients, group.channels))


@dataclass(frozen=True)
class Group:
    """Some channels, with their weights and their part of the buffers."""

    form: Form
    channels: slice
    rows: int
    weights: Weights
    like: Tensor
    room: Room

    @classmethod
    def all_of(cls, form: Form, rows: int, flat: Tensor, room: Room) -> Iterator[Self]:
        """The groups of a surface."""
        layout, weights = form.layout, form.layout.views(flat)
        size = max(1, _AT_ONCE // (rows * layout.width)) if flat.device.type == "cpu" else layout.blocks
        for start in range(0, layout.blocks, size):
            channels = slice(start, min(start + size, layout.blocks))
            yield cls(form, channels, rows, _some(weights, channels), flat, room)

    def forward(self, x: Tensor) -> Tensor:
        """These channels' share of the heights, (n,)."""
        h = self._input(x)
        for depth, (matrix, bias) in enumerate(self.weights.layers):
            z = self._layer("z", depth)
            torch.baddbmm(bias.transpose(1, 2), matrix.transpose(1, 2), h, out=z)
            before, h = h, _activate(self.form, z, self._kept(depth))
            if self.form.residual and depth > 0:
                h.add_(before)
        return h.flatten(0, 1).T @ self.weights.last.flatten()

    def backward(self, x: Tensor, force: Tensor, gradients: Weights) -> None:
        """Write these channels' gradients."""
        last, residual = len(self.weights.layers) - 1, self.form.residual
        h = [self._input(x), *map(self._kept, range(last + 1))]
        dz, dh = self._spare("dz"), self._spare("dh")
        torch.mv(h[-1].flatten(0, 1), force, out=gradients.last.flatten())
        torch.mul(self.weights.last, force, out=dh)
        for depth in range(last, -1, -1):
            _slope_times(self.form, dh, self._layer("z", depth), h[depth + 1], out=dz)
            matrix, bias = gradients.layers[depth]
            torch.bmm(h[depth], dz.transpose(1, 2), out=matrix)
            torch.sum(dz, dim=2, keepdim=True, out=bias.transpose(1, 2))
            if depth > 0:
                forward = self.weights.layers[depth][0]
                dh.baddbmm_(forward, dz) if residual else torch.bmm(forward, dz, out=dh)

    def _input(self, x: Tensor) -> Tensor:
        """The rows as every channel sees them, (channels, d, n)."""
        return x.T.expand(len(self.weights.last), -1, -1)

    def _kept(self, depth: int) -> Tensor:
        """H of a layer; where z need not be kept, it takes its place."""
        return self._layer("z" if _in_place(self.form) else "h", depth)

    def _layer(self, name: str, depth: int) -> Tensor:
        """This group's part of a buffer (B, w, n) that lasts from the forward pass to the backward pass."""
        layout = self.form.layout
        whole = self.room.floats(f"{name}{depth}", layout.blocks * layout.width * self.rows, self.like)
        return whole.view(layout.blocks, layout.width, self.rows)[self.channels]

    def _spare(self, name: str) -> Tensor:
        """A buffer (channels, w, n) that every group uses again."""
        shape = (len(self.weights.last), self.form.layout.width, self.rows)
        return self.room.floats(name, shape[0] * shape[1] * shape[2], self.like).view(shape)


def _some(weights: Weights, channels: slice) -> Weights:
    layers = tuple((matrix[channels], bias[channels]) for matrix, bias in weights.layers)
    return Weights(layers, weights.last[channels], weights.constant)


def _activate(form: Form, z: Tensor, h: Tensor) -> Tensor:
    """H = a(z)."""
    if form.activation == "leaky_relu":
        _ops.leaky_relu.out(z, form.slope, out=h)
    elif form.activation == "relu":
        torch.clamp_min(z, 0.0, out=h)
    elif form.activation == "tanh":
        torch.tanh(z, out=h)
    else:
        _ops.silu.out(z, out=h)
    return h


def _in_place(form: Form) -> bool:
    """Whether a'(z) follows from a(z), so that z itself need not be kept."""
    return not form.residual and form.activation != "silu" and not (form.activation == "leaky_relu" and form.slope <= 0)


def _slope_times(form: Form, dh: Tensor, z: Tensor, h: Tensor, out: Tensor) -> None:
    """Out = dh·a'(z), from z, or from h = a(z) where that took its place."""
    if form.activation == "leaky_relu":
        _ops.leaky_relu_backward.grad_input(dh, z, form.slope, _in_place(form), grad_input=out)
    elif form.activation == "relu":
        _ops.threshold_backward.grad_input(dh, z, 0.0, grad_input=out)
    elif form.activation == "tanh":
        _ops.tanh_backward.grad_input(dh, h if _in_place(form) else torch.tanh(z), grad_input=out)
    else:
        _ops.silu_backward.grad_input(dh, z, grad_input=out)
