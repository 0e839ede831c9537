"""Functions that magnitudes are made of, in forms that neither overflow nor cancel.

softplus s = log(1 + exp s)        tail u = 1 − u/√(u² + 1)
"""

from __future__ import annotations

import torch
from torch import Tensor


def softplus(s: Tensor) -> Tensor:
    """log(1 + exp s), without torch's own shortcut to s beyond 20."""
    return torch.logaddexp(s, torch.zeros_like(s))


def tail(u: Tensor) -> Tensor:
    """1 − u/√(u² + 1); where u is large, 1/(r·(r + u)) with r = √(u² + 1)."""
    r = torch.hypot(u, torch.ones_like(u))
    return torch.where(u > 0.0, 1.0 / (r * (r + torch.abs(u))), 1.0 + torch.abs(u) / r)
