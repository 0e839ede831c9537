"""Where a push breaks: one sum per step tells whether all is finite, and only what is not is explained.

    Σ forces + ‖gradient‖ finite   →   go on

A copy of weights that worked is kept, in buffers made once, and put back where they no longer do.
"""

from __future__ import annotations

from math import isfinite

import torch
from torch import Tensor, nn

from equipoise.batch import Batch
from equipoise.instance import Instance

_REMEDY = "Lower the learning rate, or bound the magnitudes with eq.theory.bound(instance)"


class PushDivergedError(FloatingPointError):
    """A force or the gradient was not finite; the surface is back at weights that worked."""


class Guard:
    """Watches over one surface.

    Arguments:
        surface: Whose weights and buffers are kept.
        instance: Named where a magnitude fails.
        clip: The largest norm that a gradient may have; longer ones are shortened to it.
    """

    def __init__(self, surface: nn.Module, instance: Instance, clip: float | None = None) -> None:
        self.surface, self.instance, self.clip = surface, instance, clip
        self._weights = [p for p in surface.parameters() if p.requires_grad]
        self.step: int | None = None
        self._live = [t.detach() for t in (*surface.parameters(), *surface.buffers())]
        self._kept = [t.clone() for t in self._live]

    def keep(self, step: int) -> None:
        """Keep the weights with which ``step`` found everything finite."""
        self.step = step
        for kept, live in zip(self._kept, self._live, strict=True):
            kept.copy_(live)

    def check(self, step: int, u: Tensor, forces: Tensor, batch: Batch) -> Tensor:
        """The gradient's norm, before it is clipped; an error where it or a force is not finite."""
        norms = [torch.linalg.vector_norm(weight.grad) for weight in self._weights if weight.grad is not None]
        norm: Tensor = norms[0] if len(norms) == 1 else torch.linalg.vector_norm(torch.stack(norms))
        if not isfinite((forces.sum() + norm).item()):
            self._explain(step, u.detach(), forces, batch)
        if self.clip is not None:
            torch.nn.utils.clip_grads_with_norm_(self._weights, self.clip, norm)
        return norm

    def _explain(self, step: int, u: Tensor, forces: Tensor, batch: Batch) -> None:
        """Raise with the surface back at the kept weights; sums may overflow though every summand is finite."""
        reason = self._reason(u, forces, batch)
        if reason is None:
            return
        for kept, live in zip(self._kept, self._live, strict=True):
            live.copy_(kept)
        where = "the weights it started from" if self.step is None else f"its weights of step {self.step}"
        message = f"step {step}: {reason}; the surface is back at {where}. {_REMEDY}"
        raise PushDivergedError(message)

    def _reason(self, u: Tensor, forces: Tensor, batch: Batch) -> str | None:
        missing = torch.nonzero(~torch.isfinite(batch.x).all(dim=1)).flatten().tolist()
        if missing:
            side = "up" if missing[0] < batch.n_up else "down"
            return f"the pair drew {len(missing)} rows with NaN or infinity, the first on the {side} side"
        bad = torch.nonzero(~torch.isfinite(forces))
        if len(bad):
            row = int(bad[0, 0])
            side, at = ("up" if row < batch.n_up else "down"), tuple(bad[0].tolist())
            others = "" if len(bad) == 1 else f", and {len(bad) - 1} more of {forces.numel()} forces are not finite"
            return f"M_{side} of {self.instance.label} is {forces[at].item()} at height {u[at].item():.6g}{others}"
        for name, weight in self.surface.named_parameters():
            if weight.grad is not None and not bool(torch.isfinite(weight.grad).all()):
                reach = f"heights from {u.min().item():.6g} to {u.max().item():.6g}"
                return f"the gradient of {name} is not finite, though every force of {self.instance.label} is ({reach})"
        return None
