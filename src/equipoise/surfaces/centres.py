"""Which rows stand for all: centres of a kernel surface, and the distance between rows that its bandwidth follows.

random: without replacement.    spread: each next centre drawn with probability ∝ its squared distance to the nearest
"""

from __future__ import annotations

import torch
from torch import Tensor

_POOL, _LEAST = 20, 5000  # rows looked at for each centre wanted, and altogether
_PAIRED = 1000  # rows whose distances give the median


def choose(rows: Tensor, count: int, at: str, generator: torch.Generator) -> Tensor:
    """Centres (count, d) among rows (n, d).

    Arguments:
        rows: Where to choose from.
        count: How many.
        at: ``"random"``, or ``"spread"`` as k-means++ does.
        generator: Draws them.
    """
    if at not in ("random", "spread"):
        message = f"at must be 'random' or 'spread', got {at!r}"
        raise ValueError(message)
    if not 1 <= count <= len(rows):
        message = f"centres must be between 1 and the {len(rows)} rows that there are, got {count}"
        raise ValueError(message)
    order = torch.randperm(len(rows), generator=generator).to(rows.device)
    if at == "random":
        return rows[order[:count]]
    return _spread(rows[order[: max(_LEAST, _POOL * count)]], count, generator)


def median_distance(rows: Tensor, generator: torch.Generator) -> float:
    """The median distance between two rows, of a random thousand."""
    some = rows[torch.randperm(len(rows), generator=generator)[:_PAIRED].to(rows.device)].double()
    apart = torch.pdist(some)
    median = float(apart[apart > 0].median()) if bool((apart > 0).any()) else 0.0
    if not 0.0 < median < torch.inf:
        message = "the rows are all one point, or not finite: there is no distance for the bandwidth to follow"
        raise ValueError(message)
    return median


def _spread(pool: Tensor, count: int, generator: torch.Generator) -> Tensor:
    chosen = [0]  # the pool is in random order
    nearest = (pool - pool[0]).double().square().sum(dim=1)
    while len(chosen) < count:
        if not bool((nearest > 0).any()):
            message = f"the rows hold {len(chosen)} different points, fewer than the {count} centres wanted"
            raise ValueError(message)
        chosen.append(int(torch.multinomial(nearest.cpu() / nearest.max().cpu(), 1, generator=generator)))
        nearest = torch.minimum(nearest, (pool - pool[chosen[-1]]).double().square().sum(dim=1))
    return pool[chosen]
