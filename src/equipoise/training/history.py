"""What a push has seen, step by step: heights and forces on both sides, and how near they are to balance.

balance = mean M_up on up rows − mean M_down on down rows      (zero at rest, for any surface with a free constant)
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any, Self

from torch import Tensor


@dataclass
class History:
    """Records of a push.

    Arguments:
        step: Which steps were recorded; the lists down to ``gradient_norm`` have an entry for each.
        up_height: Mean height of the up rows.
        down_height: Mean height of the down rows.
        up_force: Mean M_up over the up rows.
        down_force: Mean M_down over the down rows.
        learning_rate: The optimizer's, at that step.
        gradient_norm: Of all weights together, before any clipping.
        time: Seconds since the push began, pauses between resumed parts left out.
        scored: Which steps the monitor scored.
        score: Its scores.
        score_se: Their standard errors.
        steps: The budget in steps.
        budget: The budget as it was given, a number or a time.
        best_step: The step with the best score, whose weights the surface has; −1 without a monitor.
        stopped: Why the push ended before its budget; empty where it did not.
        interrupted: Whether Ctrl-C ended it.
    """

    step: list[int] = field(default_factory=list)
    up_height: list[float] = field(default_factory=list)
    down_height: list[float] = field(default_factory=list)
    up_force: list[float] = field(default_factory=list)
    down_force: list[float] = field(default_factory=list)
    learning_rate: list[float] = field(default_factory=list)
    gradient_norm: list[float] = field(default_factory=list)
    time: list[float] = field(default_factory=list, compare=False)
    scored: list[int] = field(default_factory=list)
    score: list[float] = field(default_factory=list)
    score_se: list[float] = field(default_factory=list)
    steps: int = 0
    budget: int | str = 0
    best_step: int = -1
    stopped: str = ""
    interrupted: bool = False

    def record(
        self,
        step: int,
        u: Tensor,
        forces: Tensor,
        n_up: int,
        learning_rate: float,
        gradient_norm: float = float("nan"),
        time: float = float("nan"),
    ) -> None:
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
        self.gradient_norm.append(gradient_norm)
        self.time.append(time)

    @property
    def balance(self) -> list[float]:
        """Up force minus down force at every recorded step."""
        return [up - down for up, down in zip(self.up_force, self.down_force, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """A document that JSON can hold; it has no infinities, so these go as words that ``float`` reads."""
        return {entry.name: _spelled(getattr(self, entry.name)) for entry in fields(self)}

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        """Read :meth:`to_dict` back, or a document with some of its entries."""
        known = {entry.name for entry in fields(cls)}
        if not isinstance(document, dict) or not known >= set(document):
            message = f"a history has {', '.join(sorted(known))}; got {document!r:.200}"
            raise ValueError(message)
        entries: dict[str, Any] = {k: _read(v) if isinstance(v, list) else v for k, v in document.items()}
        return cls(**entries)

    def __len__(self) -> int:
        return len(self.step)


def _spelled(value: Any) -> Any:  # noqa: ANN401
    if not isinstance(value, list):
        return value
    return [str(v) if isinstance(v, float) and not isfinite(v) else v for v in value]


def _read(values: list[Any]) -> list[Any]:
    return [float(v) if isinstance(v, str) else v for v in values]
