"""What is sampled up and what is sampled down: the half of a method that is not in its magnitudes.

z is always the ratio of the two densities that a pairing samples. Where that ratio is bounded by construction (a down
mixture that contains the up density), only part of K can be reached, and the pairing says which.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Pairing:
    """Which densities push up and down.

    Arguments:
        name: What the pairing is called.
        up: The up density, in TeX.
        down: The down density, in TeX.
        words: How the two are sampled, and what becomes of the surface if that is not obvious.
        z_high: The largest density ratio that the pairing allows.
        place: Where the paper describes it (a line of pso.tex).
    """

    name: str
    up: str = r"\mathbb{P}^U(X)"
    down: str = r"\mathbb{P}^D(X)"
    words: str = "two densities, sampled independently"
    z_high: float = inf
    place: str = ""


TWO_SIDED = Pairing("two-sided")
