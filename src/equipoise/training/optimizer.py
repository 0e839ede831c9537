"""What moves the weights: Adam with the paper's constants, its relatives, or anything torch calls an optimizer.

adam     β₁ = 0.75,  β₂ = 0.999,  ε = 1e-10      (line 5562)
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import torch
from torch import Tensor
from torch.optim import SGD, Adam, AdamW, Optimizer

Factory = Callable[[list[Tensor], float], Optimizer]

_ADAM: dict[str, Any] = {"betas": (0.75, 0.999), "eps": 1e-10}
_FUSED_ON = {"cpu", "cuda"}


def adam(weights: list[Tensor], rate: float, decay: float) -> Optimizer:
    """The paper's; weight decay is part of the gradient."""
    return Adam(weights, lr=rate, weight_decay=decay, fused=_fused(weights), **_ADAM)


def adamw(weights: list[Tensor], rate: float, decay: float) -> Optimizer:
    """The same with weight decay beside the gradient."""
    return AdamW(weights, lr=rate, weight_decay=decay, fused=_fused(weights), **_ADAM)


def sgd(weights: list[Tensor], rate: float, decay: float) -> Optimizer:
    """The paper's algorithm to the letter (line 658): θ − rate·dθ."""
    return SGD(weights, lr=rate, weight_decay=decay, fused=_fused(weights))


OPTIMIZERS = {"adam": adam, "adamw": adamw, "sgd": sgd}


def as_optimizer(given: str | Optimizer | Factory, weights: list[Tensor], rate: float, decay: float) -> Optimizer:
    """An optimizer from its name, from a function of (weights, rate), or as it comes, with its own rate."""
    for name, value in (("learning_rate", rate), ("weight_decay", decay)):
        if not (isfinite(value) and value >= 0.0):
            message = f"{name} must be a number of at least 0, got {value!r}"
            raise ValueError(message)
    if isinstance(given, str) and given in OPTIMIZERS:
        return OPTIMIZERS[given](weights, rate, decay)
    if decay and not isinstance(given, str):
        message = f"weight_decay goes with {', '.join(OPTIMIZERS)}; give it to the optimizer that you build"
        raise ValueError(message)
    made = given if isinstance(given, Optimizer | str) else given(weights, rate) if callable(given) else None
    if not isinstance(made, Optimizer):
        message = (
            f"optimizer must be one of {', '.join(OPTIMIZERS)}, a torch.optim.Optimizer, or a function of "
            f"(weights, rate) that returns one; got {given!r}"
        )
        raise ValueError(message)
    return made


def _fused(weights: list[Tensor]) -> bool:
    """Whether torch has one kernel for the whole update of such weights."""
    return all(torch.is_floating_point(w) and w.device.type in _FUSED_ON for w in weights)
