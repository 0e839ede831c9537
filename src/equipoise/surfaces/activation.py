"""The activations of every network here, by name: one table, so that all networks know the same ones.

    leaky_relu(h) = max(h, slope·h)    relu(h) = max(h, 0)    tanh(h)    silu(h) = h / (1 + exp(−h))

The paper's networks use the first two (line 5315); the smooth ones do better where the surface is smooth.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

Activation = Callable[[Tensor, float], Tensor]

# Each takes the slope, which the leaky one alone uses.
ACTIVATIONS: dict[str, Activation] = {
    "leaky_relu": F.leaky_relu,
    "relu": lambda h, _: F.relu(h),
    "tanh": lambda h, _: torch.tanh(h),
    "silu": lambda h, _: F.silu(h),
}


def activation(name: str) -> Activation:
    """The activation of a name."""
    if name not in ACTIVATIONS:
        message = f"activation must be one of {', '.join(ACTIVATIONS)}, got {name!r}"
        raise ValueError(message)
    return ACTIVATIONS[name]
