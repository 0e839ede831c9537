"""Rows of a density that can be sampled, and evaluated where it has a log_prob.

    x ~ p_down,   log p_down(x) = density.log_prob(x)

The packages's own bases take the generator; other distributions are sampled under a seed drawn from it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor


class Known:
    """A density as a source.

    Arguments:
        density: One of :mod:`equipoise.bases` or :mod:`equipoise.targets`, a ``torch.distributions.Distribution``, or
            anything with ``sample(n)`` and, where it is known, ``log_prob(x)``.
    """

    def __init__(self, density: Any) -> None:  # noqa: ANN401  # anything that can be sampled
        if not callable(getattr(density, "sample", None)):
            message = f"a known density needs sample and log_prob; {type(density).__name__} cannot be sampled"
            raise TypeError(message)
        self.density = density
        draws = getattr(density, "draw", None)
        self._draws = draws if callable(draws) and _arguments(draws) == ["out", "generator"] else None
        takes = _arguments(density.sample)
        self._seeded_by = next((name for name in ("generator", "random_state") if name in takes), None)
        self._takes_dtype = "dtype" in takes
        self._is_torch = isinstance(density, torch.distributions.Distribution)
        if self._is_torch and len(density.batch_shape) + len(density.event_shape) > 1:
            message = (
                f"a distribution must give one row per draw: batch_shape {tuple(density.batch_shape)} with event_shape "
                f"{tuple(density.event_shape)} gives tables"
            )
            raise ValueError(message)
        self._row = self._sample(1, torch.Generator().manual_seed(0), torch.float64)  # lies where the density does
        if not bool(torch.isfinite(self._row).all()):
            message = f"the density drew a row that is not finite: {self._row.flatten().tolist()}"
            raise ValueError(message)
        self.features = self._row.shape[1]

    @property
    def log_prob(self) -> Callable[[Tensor], Tensor] | None:
        """The log density of rows (n, d), as (n,)."""
        return self._log_prob if hasattr(self.density, "log_prob") else None

    def draw(self, out: Tensor, generator: Generator) -> None:
        """Fill ``out`` with independent rows; a density that can write into it does."""
        if self._draws is not None:
            self._draws(out, generator)
            return
        out.copy_(self._sample(out.shape[0], generator, out.dtype))

    def outline(self) -> str:
        """What this is, in short."""
        return f"{type(self.density).__name__} of {self.features} columns"

    def _sample(self, n: int, generator: Generator, dtype: torch.dtype) -> Tensor:
        if self._seeded_by == "generator":
            rows = self.density.sample(n, generator=generator, **({"dtype": dtype} if self._takes_dtype else {}))
        else:
            rows = self._sample_seeded(n, int(torch.randint(2**31 - 1, (), generator=generator)))
        rows = torch.as_tensor(rows)
        return rows.unsqueeze(1) if rows.dim() == 1 else rows

    def _sample_seeded(self, n: int, seed: int) -> Any:  # noqa: ANN401  # tensors and arrays alike
        if self._seeded_by == "random_state":
            return self.density.sample(n, random_state=seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return self.density.sample((n,)) if self._is_torch else self.density.sample(n)

    def _log_prob(self, x: Tensor) -> Tensor:
        if not self._is_torch:
            return torch.as_tensor(self.density.log_prob(x))
        row = self._row.to(x)
        if not self.density.batch_shape and not self.density.event_shape:
            x, row = x.squeeze(1), row.squeeze(1)  # a density of one number
        return _torch_log_prob(self.density, x, row)


def _torch_log_prob(density: Any, x: Tensor, row: Tensor) -> Tensor:  # noqa: ANN401  # torch's classes carry no types
    """The log density of rows, −∞ outside the support, where torch itself raises or extrapolates."""
    inside = density.support.check(x)
    beside = inside.unsqueeze(1) if inside.dim() < x.dim() else inside
    log_prob: Tensor = density.log_prob(torch.where(beside, x, row)).masked_fill(~inside, -torch.inf)
    return log_prob.sum(dim=1) if log_prob.dim() == 2 else log_prob  # independent columns


def _arguments(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
