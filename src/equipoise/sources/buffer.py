"""A buffer that is used again: draws of every step write into the same memory.

rows(n, d, like)   →   (n, d), uninitialised, of ``like``'s type and device; it lives until the next request
"""

from __future__ import annotations

import torch
from torch import Tensor


class Buffer:
    """Room for rows, made once and made larger where it does not suffice."""

    def __init__(self) -> None:
        self._kept = torch.empty(0)

    def rows(self, n: int, columns: int, like: Tensor) -> Tensor:
        """Room for n rows."""
        kept = self._kept
        if kept.numel() < n * columns or kept.dtype != like.dtype or kept.device != like.device:
            kept = self._kept = torch.empty(n * columns, dtype=like.dtype, device=like.device)
        return kept[: n * columns].view(n, columns)
