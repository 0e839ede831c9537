"""A block-diagonal surface: many narrow channels that meet only in the last sum (pso.tex 5136-5200).

    u(x) = c + Σ_B v_B·h_B(x),   h_B a network of width w that no other channel reaches into

Channels that share no weights disturb each other little: a push at one row moves the surface elsewhere less than in a
fully connected network of the same size, and the surface learns finer detail.
"""

from __future__ import annotations

from math import isfinite, sqrt
from numbers import Integral

import torch
from torch import Tensor, nn

from equipoise.surfaces.activation import ACTIVATIONS, activation as activation_of
from equipoise.surfaces.blueprint import saved_as
from equipoise.surfaces.field import COUNT, DEPTH, FLAG, NUMBER, one_of
from equipoise.surfaces.form import Form
from equipoise.surfaces.layout import Layout
from equipoise.surfaces.node import heights
from equipoise.surfaces.rows import check_rows
from equipoise.surfaces.workspace import Pool


@saved_as(
    "block_diagonal",
    features=COUNT,
    blocks=COUNT,
    width=COUNT,
    layers=DEPTH,
    residual=FLAG,
    activation=one_of(ACTIVATIONS),
    slope=NUMBER,
    gain=NUMBER,
)
class BlockDiagonal(nn.Module):
    """A block-diagonal network, its weights one flat vector.

    Arguments:
        features: Columns of a row.
        blocks: Channels.
        width: Units in each of a channel's layers.
        layers: All layers: the first, ``layers - 2`` block-diagonal ones, and the last sum; at least 2.
        residual: Whether a block-diagonal layer adds what it was given to what it makes.
        activation: ``leaky_relu``, ``relu``, ``tanh`` or ``silu``.
        slope: Of leaky ReLU below zero; 0.2 is the paper's.
        gain: Scale of the first layer's weights at the start; above one, finer detail is learned sooner.

    Example:
        >>> BlockDiagonal(features=20, blocks=50, width=64, layers=6).weights.numel()
        902401
    """

    def __init__(
        self,
        features: int,
        blocks: int = 50,
        width: int = 64,
        layers: int = 6,
        residual: bool = False,
        activation: str = "leaky_relu",
        slope: float = 0.2,
        gain: float = 1.0,
    ) -> None:
        super().__init__()
        sizes = features, blocks, width, layers
        if not all(isinstance(size, Integral) for size in sizes) or min(sizes[:3]) < 1 or layers < 2:
            message = "features, blocks and width must be integers of at least 1, and layers one of at least 2; "
            message += f"got {features}, {blocks}, {width} and {layers}"
            raise ValueError(message)
        if not (isfinite(slope) and isfinite(gain)):
            message = f"slope and gain must be finite numbers, got {slope} and {gain}"
            raise ValueError(message)
        activation_of(activation)
        self.spec = {
            "features": features,
            "blocks": blocks,
            "width": width,
            "layers": layers,
            "residual": residual,
            "activation": activation,
            "slope": slope,
            "gain": gain,
        }
        self.features = features
        self.gain = gain
        self.form = Form(Layout(features, blocks, width, layers), activation, slope, residual)
        self.weights = nn.Parameter(torch.empty(self.form.layout.size))
        self._pool = Pool()
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw weights anew, as Xavier does for each layer that is a matrix, and set biases to zero."""
        layout = self.form.layout
        weights = layout.views(self.weights)
        wide = layout.blocks * layout.width
        self.weights.zero_()
        for depth, (matrix, _) in enumerate(weights.layers):
            fans = layout.width * 2 if depth else layout.features + wide
            matrix.uniform_(-1.0, 1.0).mul_(sqrt(6.0 / fans) * (1.0 if depth else self.gain))
        weights.last.uniform_(-1.0, 1.0).mul_(sqrt(6.0 / (wide + 1)))

    def forward(self, x: Tensor) -> Tensor:
        """Heights of rows (n, d)."""
        check_rows(x, self.features, self.weights)
        return heights(self.form, x, self.weights, self._pool)

    @staticmethod
    def numbers(*, features: int, blocks: int, width: int, layers: int, **_: object) -> int:
        """How many numbers a surface of these sizes holds."""
        return Layout(features, blocks, width, layers).size

    def extra_repr(self) -> str:
        """What repr shows."""
        return ", ".join(f"{key}={value!r}" for key, value in self.spec.items())
