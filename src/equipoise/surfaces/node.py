"""A block-diagonal surface as one node of torch's graph.

    u = heights(x, θ)          ∂L/∂θ = engine.backward(∂L/∂u)

The node holds a lease on the workspace from its forward pass to its backward pass. A second backward pass over the same
heights repeats the forward pass in another room.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from equipoise.surfaces.engine import engine_for
from equipoise.surfaces.form import Form
from equipoise.surfaces.transforms import batched, transformed
from equipoise.surfaces.workspace import Pool

_CHUNK = 32_768  # rows at once where nothing is kept


class Heights(Function):
    """The node; use :func:`heights`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, flat: Tensor, form: Form, pool: Pool) -> Tensor:  # noqa: ANN401
        """Heights of rows, with a lease kept for the way back."""
        ctx.save_for_backward(x, flat)
        ctx.form, ctx.pool = form, pool
        ctx.lease = pool.lease()
        return engine_for(x).forward(form, x, flat, ctx.lease.room, keep=True)

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:  # noqa: ANN401
        """The gradient in the weights; rows that want one have gone another way."""
        (force,) = outputs
        x, flat = ctx.saved_tensors
        follows = torch.is_grad_enabled()  # a second derivative
        if follows or batched(force):
            with torch.enable_grad():
                u = ctx.form.heights(x, flat)
            (gradient,) = torch.autograd.grad(u, flat, force, create_graph=follows)
            return None, gradient, None, None
        engine = engine_for(x)
        if not ctx.lease.held:
            ctx.lease = ctx.pool.lease()
            engine.forward(ctx.form, x, flat, ctx.lease.room, keep=True)
        gradient = ctx.pool.gradient(flat)
        engine.backward(ctx.form, x, flat, force.contiguous(), ctx.lease.room, gradient)
        ctx.lease.release()
        return None, gradient, None, None


def heights(form: Form, x: Tensor, flat: Tensor, pool: Pool) -> Tensor:
    """Heights of rows (n, d) by the fastest way that is right for what is going on, in the weights' own precision."""
    device = x.device.type
    if device != "meta" and torch.is_autocast_enabled(device):  # it would see some of torch's operations, none of ours
        with torch.autocast(device, enabled=False):
            return heights(form, x, flat, pool)
    if not _simple(x, flat):
        return form.heights(x, flat)
    rows, weights = x.contiguous(), flat.contiguous()
    if torch.is_grad_enabled() and flat.requires_grad:
        u: Tensor = Heights.apply(rows, weights, form, pool)  # type: ignore[no-untyped-call]
        return u
    lease, engine = pool.lease(), engine_for(x)
    parts = [engine.forward(form, part, weights.detach(), lease.room, keep=False) for part in rows.split(_CHUNK)]
    lease.release()
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _simple(x: Tensor, flat: Tensor) -> bool:
    """Whether these are plain tensors, in plain autograd, and the rows want no gradient."""
    plain = all(type(tensor) in (Tensor, torch.nn.Parameter) for tensor in (x, flat))
    return plain and not (transformed() or torch.compiler.is_compiling() or x.requires_grad or len(x) == 0)
