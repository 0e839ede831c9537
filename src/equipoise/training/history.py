"""What a push has seen, step by step: heights and forces on both sides, and how near they are to balance.

balance = mean M_up on up rows − mean M_down on down rows      (zero at rest, for any surface with a free constant)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor


@dataclass
class History:
    """Records of a push, one entry per recorded step."""

    step: list[int] = field(default_factory=list)
    up_height: list[float] = field(default_factory=list)
    down_height: list[float] = field(default_factory=list)
    up_force: list[float] = field(default_factory=list)
    down_force: list[float] = field(default_factory=list)
    learning_rate: list[float] = field(default_factory=list)

    def record(self, step: int, u: Tensor, forces: Tensor, n_up: int, learning_rate: float) -> None:
        """Add one step: heights u and signed forces, up rows first."""
        up, down = u[:n_up].detach(), u[n_up:].detach()
        self.step.append(step)
        self.up_height.append(up.mean().item())
        self.down_height.append(down.mean().item() if down.numel() else float("nan"))
        if down.numel():
            up_force, down_force = -forces[:n_up].sum(), forces[n_up:].sum()
        else:  # a batch without sides pushes each of its rows both ways
            up_force, down_force = -forces.clamp(max=0.0).sum(), forces.clamp(min=0.0).sum()
        self.up_force.append(up_force.item())
        self.down_force.append(down_force.item())
        self.learning_rate.append(learning_rate)

    @property
    def balance(self) -> list[float]:
        """Up force minus down force at every recorded step."""
        return [up - down for up, down in zip(self.up_force, self.down_force, strict=True)]

    def __len__(self) -> int:
        return len(self.step)
