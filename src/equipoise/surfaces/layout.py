"""How a block-diagonal surface's weights lie in one flat vector, channel-major in every layer.

    W_0 (B, d, w), b_0 (B, w),   W_l (B, w, w), b_l (B, w) of each inner layer,   v (B, w),   c (1)

Flat weights and flat gradients make an optimizer's step three vector operations, and a kernel's arguments one pointer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

from torch import Tensor


@dataclass(frozen=True)
class Weights:
    """Views of a flat vector.

    Arguments:
        layers: (W, b) of the first and every inner layer: (B, fan_in, w) and (B, 1, w).
        last: v, (B, w, 1).
        constant: c, (1,).
    """

    layers: tuple[tuple[Tensor, Tensor], ...]
    last: Tensor
    constant: Tensor


@dataclass(frozen=True)
class Layout:
    """The sizes of a block-diagonal surface.

    Arguments:
        features: d, columns of a row.
        blocks: B, channels.
        width: w, units of a channel's layer.
        layers: All layers: the first, the inner ones, and the last sum.
    """

    features: int
    blocks: int
    width: int
    layers: int

    @property
    def inner(self) -> int:
        """Layers with block-diagonal weights."""
        return self.layers - 2

    @property
    def size(self) -> int:
        """How many weights there are."""
        wide = self.blocks * self.width
        return self.features * wide + wide + self.inner * (self.width * wide + wide) + wide + 1

    def views(self, flat: Tensor) -> Weights:
        """The weights of a flat vector (size,), without copying."""
        shapes, counts = self._shapes
        *matrices, last, constant = map(Tensor.view, flat.split_with_sizes(counts), shapes)
        return Weights(tuple(zip(matrices[::2], matrices[1::2], strict=True)), last, constant)

    @cached_property
    def _shapes(self) -> tuple[list[tuple[int, ...]], list[int]]:
        b, w = self.blocks, self.width
        shapes = [(b, self.features, w), (b, 1, w), *[(b, w, w), (b, 1, w)] * self.inner, (b, w, 1), (1,)]
        return shapes, [prod(shape) for shape in shapes]
