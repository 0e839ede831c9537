"""The order in which a table's rows are drawn: seeded permutations end to end, or independent draws.

    π_1(0 … n−1), π_2(0 … n−1), …

Every row is drawn once before any is drawn twice, so that an epoch's mean is the table's.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Generator, Tensor

_SMALL = 2**31  # tables with fewer rows are numbered in half the memory


class Order:
    """An endless order over n rows.

    Arguments:
        n: How many rows there are.
        replace: Draw with replacement instead of by permutations.
    """

    def __init__(self, n: int, *, replace: bool = False) -> None:
        self.n = n
        self.replace = replace
        self._permutation = torch.empty(0, dtype=torch.int32 if n < _SMALL else torch.int64)
        self._at = n  # how many of the permutation are drawn; all of them before the first
        self._began = torch.empty(0, dtype=torch.uint8)  # the generator, when it made the permutation
        self._generator: Generator | None = None

    def take(self, count: int, generator: Generator) -> Tensor:
        """The next ``count`` row numbers; another generator starts another order, so that a seed repeats a push."""
        if self.replace:
            return torch.randint(self.n, (count,), generator=generator)
        if generator is not self._generator:
            self._generator, self._at = generator, self.n
        if self._at + count <= self.n:
            self._at += count
            return self._permutation[self._at - count : self._at]
        return self._across(count, generator)

    def _across(self, count: int, generator: Generator) -> Tensor:
        """Row numbers from the end of one permutation and the beginning of others."""
        numbers, filled = self._permutation.new_empty(count), 0
        while filled < count:
            if self._at == self.n:
                self._began = generator.get_state()
                self._shuffle(generator)
                self._at = 0
            part = self._permutation[self._at : self._at + count - filled]
            numbers[filled : filled + len(part)] = part
            filled += len(part)
            self._at += len(part)
        return numbers

    def _shuffle(self, generator: Generator) -> None:
        if len(self._permutation) != self.n:
            self._permutation = self._permutation.new_empty(self.n)
        torch.randperm(self.n, generator=generator, out=self._permutation)

    def outline(self) -> str:
        """What this is, in short, behind what is drawn."""
        return ", with replacement" if self.replace else ""

    def position(self) -> dict[str, Any]:
        """Where the order stands: the generator that made the permutation makes it again."""
        return {"n": self.n, "replace": self.replace, "at": self._at, "began": self._began}

    def seek(self, position: dict[str, Any], generator: Generator) -> None:
        """Go to a position of an order over as many rows."""
        if (position["n"], position["replace"]) != (self.n, self.replace):
            message = f"this is a position among {position['n']} rows, and there are {self.n}"
            raise ValueError(message)
        self._generator, self._at, self._began = generator, int(position["at"]), position["began"]
        if len(self._began):
            again = Generator()
            again.set_state(self._began)
            self._shuffle(again)
