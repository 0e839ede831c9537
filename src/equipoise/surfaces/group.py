"""Some channels of a block-diagonal surface: their way through all layers and back, in buffers that stay.

    forward:  z_l = b_l + W_lᵀ·h_(l-1),  h_l = a(z_l)
    backward: ∂W_l = h_(l-1)·∂z_lᵀ,  ∂b_l = Σ ∂z_l,  ∂z_(l-1) = a'(z_(l-1))·(W_l·∂z_l)

Channels come first and rows last, (channels, w, n), so that all products are batched ones. The way back writes over
what the way there left, layer by layer, once it has been read for the last time: that is in the cache already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from equipoise.surfaces.form import Form
from equipoise.surfaces.layout import Weights

_ops = torch.ops.aten


@dataclass(frozen=True)
class Layer:
    """A layer's weights and buffers.

    Arguments:
        matrix: W, (channels, fan_in, w).
        matrix_t: Wᵀ.
        bias: b, (channels, w, 1).
        z: For W·h + b, (channels, w, n).
        h: For a(z); the same buffer where z itself need not be kept.
    """

    matrix: Tensor
    matrix_t: Tensor
    bias: Tensor
    z: Tensor
    h: Tensor


@dataclass(frozen=True)
class Group:
    """Some channels.

    Arguments:
        form: What the surface computes.
        layers: From the first to the last but one.
        last: v of these channels, (channels, w, 1).
        dh: A buffer that groups share, (channels, w, n).
    """

    form: Form
    layers: Sequence[Layer]
    last: Tensor
    dh: Tensor

    def forward(self, rows: Tensor) -> Tensor:
        """These channels' share of the heights, (n,), at rows as every channel sees them, (channels, d, n)."""
        h = rows
        for depth, layer in enumerate(self.layers):
            torch.baddbmm(layer.bias, layer.matrix_t, h, out=layer.z)
            before, h = h, _activate(self.form, layer.z, layer.h)
            if self.form.residual and depth > 0:
                h.add_(before)
        return h.flatten(0, 1).T @ self.last.flatten()

    def backward(self, rows: Tensor, force: Tensor, gradients: Weights) -> None:
        """Write these channels' gradients."""
        residual, dh, h = self.form.residual, self.dh, self.layers[-1].h
        torch.mv(h.flatten(0, 1), force, out=gradients.last.flatten())
        torch.mul(self.last, force, out=dh)
        for depth in range(len(self.layers) - 1, -1, -1):
            layer, (matrix, bias) = self.layers[depth], gradients.layers[depth]
            dz = layer.z if residual else dh
            _slope_times(self.form, dh, layer.z, layer.h, out=dz)
            before = self.layers[depth - 1].h if depth else rows
            torch.bmm(before, dz.transpose(1, 2), out=matrix)
            torch.sum(dz, dim=2, keepdim=True, out=bias)
            if depth:
                dh = dh.baddbmm_(layer.matrix, dz) if residual else torch.bmm(layer.matrix, dz, out=layer.z)


def in_place(form: Form) -> bool:
    """Whether a'(z) follows from a(z), so that z itself need not be kept."""
    return not form.residual and form.activation != "silu" and not (form.activation == "leaky_relu" and form.slope <= 0)


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


def _slope_times(form: Form, dh: Tensor, z: Tensor, h: Tensor, out: Tensor) -> None:
    """Out = dh·a'(z), from z, or from h = a(z) where that took its place; z is not needed after."""
    if form.activation == "leaky_relu":
        _ops.leaky_relu_backward.grad_input(dh, z, form.slope, in_place(form), grad_input=out)
    elif form.activation == "relu":
        _ops.threshold_backward.grad_input(dh, z, 0.0, grad_input=out)
    elif form.activation == "tanh":
        _ops.tanh_backward.grad_input(dh, h if in_place(form) else z.tanh_(), grad_input=out)
    else:
        _ops.silu_backward.grad_input(dh, z, grad_input=out)
