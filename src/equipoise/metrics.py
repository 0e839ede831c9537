"""How far a density is from the truth, each figure with its standard error (line 5558).

    PSQR = E_up[(p − q)²]     LSQR = E_up[(log p − log q)²]     KL = E_up[log p − log q]
    IS = −E_up[f] + E_down[exp f / p_down]                      TI = E_down[exp f / p_down]

p is the truth, q the model, f the model's log density, normalised or not. All sums are in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, inf, sqrt
from typing import Any

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Measured:
    """A figure measured on rows.

    Arguments:
        value: The figure.
        se: Its standard error.
        n: How many rows it was taken over.
        failed: How many rows the model scored −∞: it holds impossible what happened.
    """

    value: float
    se: float
    n: int
    failed: int = 0

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        lost = f", {self.failed} rows scored −∞" if self.failed else ""
        return f"{self.value:.4g} ± {self.se:.2g} ({self.n} rows{lost})"


def psqr(log_truth: Any, log_model: Any) -> Measured:  # noqa: ANN401  # arrays and tensors alike, here and below
    """The mean squared error of the density at rows of the truth; a row scored −∞ counts with a density of zero."""
    truth, model = _pair(log_truth, log_model)
    return _mean((torch.exp(truth) - torch.exp(model)) ** 2, _failed(model))


def lsqr(log_truth: Any, log_model: Any) -> Measured:  # noqa: ANN401
    """The mean squared error of the log density at rows of the truth: over those not scored −∞, which are counted."""
    truth, model = _pair(log_truth, log_model)
    kept = torch.isfinite(model)
    return _mean((truth[kept] - model[kept]) ** 2, _failed(model))


def kl(log_truth: Any, log_model: Any) -> Measured:  # noqa: ANN401
    """KL(truth ‖ model) at rows of the truth; infinite where one row is scored −∞."""
    truth, model = _pair(log_truth, log_model)
    return _mean(truth - model, _failed(model))


def log_likelihood(log_model: Any) -> Measured:  # noqa: ANN401
    """The mean log density of rows; −∞ where one row is scored so."""
    model = _scores(log_model, "log_model")
    return _mean(model, _failed(model))


def importance_loss(f_up: Any, f_down: Any, log_base_down: Any) -> Measured:  # noqa: ANN401
    """The loss of importance sampling: heights at up rows, heights and base at down rows. It needs no truth."""
    up = _scores(f_up, "f_up")
    height, integral = _mean(-up, _failed(up)), total_integral(f_down, log_base_down)
    return Measured(height.value + integral.value, hypot(height.se, integral.se), height.n + integral.n, height.failed)


def total_integral(f_down: Any, log_base_down: Any) -> Measured:  # noqa: ANN401
    """∫ exp f by importance sampling from the base: one where the model is normalised."""
    return _mean(torch.exp(_log_weight(f_down, log_base_down)), 0)


def effective_sample_size(log_weight: Any) -> float:  # noqa: ANN401
    """(Σ w)² / Σ w²: how many equal weights would say as much."""
    weight = _scores(log_weight, "log_weight")
    total = torch.logsumexp(weight, dim=0)
    if torch.isneginf(total):
        message = "all weights are zero: there is no sample to count"
        raise ValueError(message)
    return float(torch.exp(2.0 * total - torch.logsumexp(2.0 * weight, dim=0)))


def _log_weight(f_down: Any, log_base_down: Any) -> Tensor:  # noqa: ANN401
    f, log_base = _scores(f_down, "f_down"), _scores(log_base_down, "log_base_down")
    _same_length(f, log_base, "f_down", "log_base_down")
    _finite(log_base, "log_base_down", "down rows come from the base")
    return f - log_base


def _pair(log_truth: Any, log_model: Any) -> tuple[Tensor, Tensor]:  # noqa: ANN401
    truth, model = _scores(log_truth, "log_truth"), _scores(log_model, "log_model")
    _same_length(truth, model, "log_truth", "log_model")
    _finite(truth, "log_truth", "rows come from the truth")
    return truth, model


def _scores(values: Any, name: str) -> Tensor:  # noqa: ANN401
    """Values as (n,) in float64; −∞ may be among them, NaN and +∞ may not."""
    column = values.detach() if isinstance(values, Tensor) else torch.from_numpy(np.array(values, dtype=np.float64))
    column = column.to("cpu", torch.float64)
    if column.dim() != 1 or not len(column):
        message = f"{name} must hold one number per row, (n,) with n >= 1; got {tuple(column.shape)}"
        raise ValueError(message)
    bad = int((torch.isnan(column) | torch.isposinf(column)).sum())
    if bad:
        message = f"{name} must hold log densities: {bad} of {len(column)} are NaN or +∞"
        raise ValueError(message)
    return column


def _same_length(one: Tensor, other: Tensor, name: str, other_name: str) -> None:
    if len(one) != len(other):
        message = f"{name} and {other_name} must be of the same rows, got {len(one)} and {len(other)}"
        raise ValueError(message)


def _finite(values: Tensor, name: str, reason: str) -> None:
    if not bool(torch.isfinite(values).all()):
        message = f"{name} is −∞ at {int(torch.isneginf(values).sum())} of {len(values)} rows, but {reason}"
        raise ValueError(message)


def _failed(model: Tensor) -> int:
    return int(torch.isneginf(model).sum())


def _mean(values: Tensor, failed: int) -> Measured:
    n = len(values)
    if not n:
        return Measured(inf, inf, 0, failed)  # every row failed: as far from the truth as can be
    value = values.mean().item()
    spread = values.std().item() if n > 1 and abs(value) < inf else inf
    return Measured(value, spread / sqrt(n), n, failed)
