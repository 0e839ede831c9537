"""Large pages for large buffers: a 512th of the page faults, and fewer misses of the translation cache.

    madvise(inner 2 MiB pages of [p, p + n), MADV_HUGEPAGE)

Advice only: where the system gives no large pages, nothing changes.
"""

from __future__ import annotations

import ctypes
import sys

from torch import Tensor

_LARGE = 2**21  # bytes
_HUGEPAGE = 14  # MADV_HUGEPAGE of Linux


def advise(buffer: Tensor) -> None:
    """Ask for large pages under a new buffer, before it is first written to."""
    size = buffer.numel() * buffer.element_size()
    if not sys.platform.startswith("linux") or buffer.device.type != "cpu" or size < 2 * _LARGE:
        return
    start = buffer.data_ptr()
    first, end = -(-start // _LARGE) * _LARGE, (start + size) // _LARGE * _LARGE
    ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), _HUGEPAGE)
