"""Where a method stands in the paper and in the literature, and the formulas as the paper prints them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """Where a method comes from.

    Arguments:
        tables: Numbers of the paper's instance tables (1 to 6) that list it.
        place: The line, equation or section of the paper.
        cite: Keys of ``catalog.bibliography``.
    """

    tables: tuple[int, ...] = ()
    place: str = ""
    cite: tuple[str, ...] = ()


@dataclass(frozen=True)
class Printed:
    """The paper's formulas, letter by letter, as text in the height f, the base p and the instance's parameters.

    Arguments:
        up: M_up.
        down: M_down.
        loss_up: The loss's term under the expectation over up samples.
        loss_down: The loss's term under the expectation over down samples.
        interval: K, in the paper's words.
        erratum: What is misprinted in these formulas, and the correct form.
    """

    up: str
    down: str
    loss_up: str = ""
    loss_down: str = ""
    interval: str = ""
    erratum: str = ""
