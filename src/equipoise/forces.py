"""The scalar rule of forces: what one batch does to the heights of a surface.

    weights = −M_up(u)/N_up on up rows,   +M_down(u)/N_down on down rows      (Eq. GeneralPSOLossFrml, line 602)

One backward pass on the heights with these weights is the whole gradient; no loss is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from equipoise.batch import Batch

if TYPE_CHECKING:
    from equipoise.instance import Instance


def scalar_forces(instance: Instance, u: Tensor, batch: Batch) -> Tensor:
    """Signed weights for heights u, (n,), or (n, C) where every output is pushed by itself."""
    log_base = batch.log_base
    if log_base is not None and u.dim() > log_base.dim():
        log_base = log_base.unsqueeze(-1)
    up_base, down_base = (None, None) if log_base is None else (log_base[: batch.n_up], log_base[batch.n_up :])
    up = instance.up(u[: batch.n_up], up_base)
    down = instance.down(u[batch.n_up :], down_base)
    if batch.weight is None:
        return torch.cat([up / -batch.n_up, down / batch.n_down])
    share = batch.weight if u.dim() == 1 else batch.weight.unsqueeze(-1)
    up_share, down_share = share[: batch.n_up], share[batch.n_up :]
    return torch.cat([-up * _normalised(up_share), down * _normalised(down_share)])


def _normalised(share: Tensor) -> Tensor:
    """Weights that sum to one; where a batch drew none but rows of weight zero, that side does not push."""
    return share / torch.clamp(share.sum(), min=torch.finfo(share.dtype).tiny)
