"""Where the surface goes when one of the two densities is absent: Theorems 1199 (only up) and 1274 (only down).

only up:   rises while M_up > 0, falls while M_up < 0, rests where M_up turns from + to −
only down: falls while M_down > 0, rises while M_down < 0, rests where M_down turns from − to +
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from equipoise import catalog
from equipoise.instance import Instance
from equipoise.interval import Interval

__all__ = ["Alone", "alone"]


@dataclass(frozen=True)
class Alone:
    """Where the surface goes on one-sided ground.

    Arguments:
        only_up: The height where only the up density lives; ``"arbitrary"`` or ``"undecided"`` where there is none.
        only_down: The same where only the down density lives.
        words_up: Why, in words, with the theorem's entry.
        words_down: Likewise.
    """

    only_up: str | float
    only_down: str | float
    words_up: str
    words_down: str

    def __str__(self) -> str:
        return f"only up:   {self.words_up}\nonly down: {self.words_down}"


def alone(inst: Instance | str) -> Alone:
    """Say where the surface goes when only one of the two densities lives at a place.

    Heights are relative ones, u. Where only the up density lives, a base that the magnitudes take is zero.

    Example:
        >>> from equipoise import catalog
        >>> alone(catalog.get("square")).only_up
        1.0
    """
    inst = catalog.get(inst)
    up, down = inst.where_only_up, inst.where_only_down
    return Alone(
        up,
        down,
        f"{_words(up, 'M_up', inst.heights, rising=1)} [Theorem 1199]",
        f"{_words(down, 'M_down', inst.heights, rising=2)} [Theorem 1274]",
    )


def _words(where: str | float, magnitude: str, heights: Interval, rising: int) -> str:
    """The entry of the theorem that applies; ``rising`` is the one by which the surface rises for good."""
    if where == "arbitrary":
        return f"{magnitude} is 0 at every height: nothing moves the surface, its height is arbitrary (entry 3)"
    if isinstance(where, str):
        return f"{magnitude} changes its sign in a way that the theorem does not decide (entry 5)"
    if where == heights.high:
        sign, verb, entry = ("> 0" if rising == 1 else "< 0"), "rises", rising
    elif where == heights.low:
        sign, verb, entry = ("< 0" if rising == 1 else "> 0"), "falls", 3 - rising
    else:
        return f"{magnitude} pushes towards u = {where:g} from both sides, where the surface rests (entry 4)"
    end = "for ever" if not isfinite(where) else f"to the end of its range, u = {where:g}"
    return f"{magnitude} {sign} at every height: the surface {verb} {end} (entry {entry})"
