"""A push as a stretch of time: what is opened before its first step is closed after its last, however it ends.

    Ctrl-C ends the push after the step that it falls into; a second one ends it at once

Within, torch's global generator belongs to the push, so that dropout follows its seed; after, it is as it was.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from types import FrameType, TracebackType
from typing import Any, Self

import torch
from torch import nn

_APART = 0x9E3779B97F4A7C15  # keeps the global generator's numbers from being those of the draws


class Attended:
    """The stretch of one push.

    Arguments:
        surface: In training mode within, in evaluation mode after.
        hooks: Callbacks; those that are context managers are entered.
        seed: Seeds torch's global generator within.
    """

    def __init__(self, surface: nn.Module, hooks: Iterable[Any], seed: int) -> None:
        self.surface, self.hooks, self.seed = surface, list(hooks), seed
        self.interrupted = False
        self._stack = ExitStack()
        self._before: Any = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(torch.random.fork_rng(devices=[]))
            torch.default_generator.manual_seed((self.seed ^ _APART) % 2**63)
            stack.callback(self.surface.train, mode=False)
            self.surface.train()
            for hook in self.hooks:
                if isinstance(hook, AbstractContextManager):
                    stack.enter_context(hook)
            self._listen(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def _listen(self, stack: ExitStack) -> None:
        """Take Ctrl-C over, where it would raise KeyboardInterrupt: elsewhere somebody else has a use for it."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._before = signal.getsignal(signal.SIGINT)
        if self._before is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._first)
            stack.callback(signal.signal, signal.SIGINT, self._before)

    def _first(self, number: int, frame: FrameType | None) -> None:
        self.interrupted = True
        signal.signal(signal.SIGINT, self._before)
