"""The order in which a table's rows are drawn: seeded permutations end to end, or independent draws.

    π_1(0 … n−1), π_2(0 … n−1), …

Every row is drawn once before any is drawn twice, so that an epoch's mean is the table's.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor


class Order:
    """An endless order over n rows.

    Arguments:
        n: How many rows there are.
        replace: Draw with replacement instead of by permutations.
    """

    def __init__(self, n: int, *, replace: bool = False) -> None:
        self.n = n
        self.replace = replace
        self._permutation = torch.empty(0, dtype=torch.long)
        self._position = 0
        self._generator: Generator | None = None

    def take(self, count: int, generator: Generator) -> Tensor:
        """The next ``count`` row numbers; another generator starts another order, so that a seed repeats a push."""
        if self.replace:
            return torch.randint(self.n, (count,), generator=generator)
        if generator is not self._generator:
            self._generator, self._position = generator, len(self._permutation)
        parts: list[Tensor] = []
        while count > 0:
            if self._position == len(self._permutation):
                self._permutation, self._position = torch.randperm(self.n, generator=generator), 0
            part = self._permutation[self._position : self._position + count]
            self._position += len(part)
            count -= len(part)
            parts.append(part)
        return parts[0] if len(parts) == 1 else torch.cat(parts)
