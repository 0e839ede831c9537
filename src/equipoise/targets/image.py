"""A density drawn by an image: bright where rows are many (line 6620).

    p(x) = F(x) / ∫F,   F multilinear between pixels, pixels at equal distances from edge to edge of the unit cube

F is Σ_v F_v·Π_j hat_vj(x_j) over pixels v, so p is a mixture of products of hats: its integral is a weighted sum of
pixels, and a row of it is a pixel drawn by weight with a triangular step along each axis. Both are exact.
"""

from __future__ import annotations

from itertools import product
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Generator, Tensor

from equipoise.targets.target import Target, pick, uniform


class ImageDensity(Target):
    """The density of an image on (x, y), or on (x, y, channel) where it has channels.

    Column x runs along the image's width and y down its height; the channel is an axis like the others.

    Arguments:
        image: Non-negative brightnesses (h, w) or (h, w, c), every axis at least 2 long; a photograph that comes with
            scikit-learn where it is None.
    """

    bounded_support: ClassVar[bool] = True
    smooth: ClassVar[bool] = False

    def __init__(self, image: Any = None) -> None:  # noqa: ANN401  # arrays and tensors alike
        pixels = _brightness(_photograph() if image is None else image)
        self.features = pixels.dim()
        self._shape = pixels.shape  # (w, h) or (w, h, c)
        reach = torch.ones_like(pixels)  # ∫ of a pixel's hat: one cell, half of it at an edge
        for axis, size in enumerate(self._shape):
            reach.select(axis, 0).mul_(0.5)
            reach.select(axis, size - 1).mul_(0.5)
            reach /= size - 1
        share = pixels * reach
        self._share = (share / share.sum()).flatten()
        self._density = (pixels / share.sum()).flatten()
        self._cells = torch.tensor(self._shape, dtype=torch.float64) - 1.0

    def _sample(self, n: int, generator: Generator | None) -> Tensor:
        pixel = torch.stack(torch.unravel_index(pick(self._share, n, generator), self._shape), dim=1)
        shape = (n, self.features)
        step = uniform(*shape, generator) - uniform(*shape, generator)  # triangular on (−1, 1)
        place = (pixel + step).abs()  # half a hat at the lower edge is a hat folded over, and so at the upper one
        return torch.where(place > self._cells, 2.0 * self._cells - place, place) / self._cells

    def _log_prob(self, x: Tensor) -> Tensor:
        inside = ((x >= 0.0) & (x <= 1.0)).all(dim=1)
        place = torch.where(inside.unsqueeze(1), x, 0.5) * self._cells
        low = torch.minimum(torch.floor(place.detach()), self._cells - 1.0)
        share = place - low
        value = x.new_zeros(len(x))
        for corner in product((0, 1), repeat=self.features):
            at = torch.tensor(corner)
            weight = torch.where(at == 1, share, 1.0 - share).prod(dim=1)
            value = value + weight * self._density[self._flat(low.long() + at)]
        return torch.log(value).masked_fill(~inside, -torch.inf)

    def _flat(self, pixel: Tensor) -> Tensor:
        """Positions of pixels in the flattened image."""
        index = pixel[:, 0]
        for axis in range(1, self.features):
            index = index * self._shape[axis] + pixel[:, axis]
        return index


def _brightness(image: Any) -> Tensor:  # noqa: ANN401
    """The image as (w, h) or (w, h, c) in float64, checked."""
    values = np.asarray(image, dtype=np.float64)
    if values.ndim not in (2, 3) or min(values.shape) < 2:
        message = f"an image must be (h, w) or (h, w, c) with every axis at least 2 long, got {values.shape}"
        raise ValueError(message)
    if not np.isfinite(values).all() or (values < 0.0).any() or not values.any():
        message = "an image's values must be finite, not negative and not all zero"
        raise ValueError(message)
    return torch.from_numpy(np.swapaxes(values, 0, 1).copy())


def _photograph() -> Any:  # noqa: ANN401  # scikit-learn carries no types
    from sklearn.datasets import load_sample_image

    return load_sample_image("china.jpg")
