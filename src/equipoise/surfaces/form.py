"""The textbook form of a block-diagonal surface: short, differentiable any number of times, and slow.

    h_0 = a(x·W_0 + b_0),   h_l = a(h_(l-1)·W_l + b_l) [+ h_(l-1)],   u = c + Σ_B h_last·v

What the engines compute is this, and wherever they do not serve (second derivatives, torch.func, gradients with respect
to the rows) this is what runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from equipoise.surfaces.activation import activation
from equipoise.surfaces.layout import Layout


@dataclass(frozen=True)
class Form:
    """What a block-diagonal surface computes, apart from its weights.

    Arguments:
        layout: Its sizes.
        activation: ``leaky_relu``, ``relu``, ``tanh`` or ``silu``.
        slope: Of leaky ReLU below zero.
        residual: Whether inner layers add what they were given to what they make.
    """

    layout: Layout
    activation: str
    slope: float
    residual: bool

    def activate(self, z: Tensor) -> Tensor:
        """a(z)."""
        return activation(self.activation)(z, self.slope)

    def heights(self, x: Tensor, flat: Tensor) -> Tensor:
        """Heights of rows (n, d) under flat weights."""
        weights = self.layout.views(flat)
        (first, bias), *inner = weights.layers
        h = self.activate(torch.matmul(x, first) + bias)  # (B, n, w)
        for matrix, bias in inner:
            made = self.activate(torch.matmul(h, matrix) + bias)
            h = made + h if self.residual else made
        return torch.matmul(h, weights.last).sum(dim=0).squeeze(-1) + weights.constant
