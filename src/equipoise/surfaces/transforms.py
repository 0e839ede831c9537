"""Whether torch is doing plain work, in which buffers may be written to, or something that must see every operation."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import forward_ad


def transformed() -> bool:
    """Whether a transform of torch.func, or forward-mode differentiation, is going on."""
    inside = torch._C._functorch.peek_interpreter_stack() is not None
    return inside or getattr(forward_ad, "_current_level", -1) >= 0


def batched(tensor: Tensor) -> bool:
    """Whether a tensor stands for many, as gradients do under ``is_grads_batched``: it has no memory to point at."""
    functorch = torch._C._functorch
    return bool(functorch.is_batchedtensor(tensor) or functorch.is_legacy_batchedtensor(tensor))
