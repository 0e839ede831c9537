"""Numbers as a reader wants them: as many digits as their standard error supports, and a minus that is one."""

from __future__ import annotations

from math import floor, inf, isfinite, isnan, log10

_NOTHING = 1e-7  # an error below this is rounding


def number(value: float, digits: int = 4) -> str:
    """A number with so many digits after the point."""
    if isnan(value):
        return "not known"
    if not isfinite(value):
        return "∞" if value > 0.0 else "−∞"
    if abs(value) >= 1e7:
        return f"{value:.3g}".replace("-", "−")
    return f"{value:,.{digits}f}".replace("-", "−")


def plus_minus(value: float, error: float) -> str:
    """A number and its standard error, which gets two figures."""
    if not isfinite(value) or not isfinite(error):
        return number(value)
    digits = decimals(error)
    return f"{number(value, digits)} ± {number(error, digits)}"


def decimals(error: float) -> int:
    """Digits after the point that show two figures of an error."""
    return 4 if error < _NOTHING else max(1 - floor(log10(error)), 0)


def general(value: float) -> str:
    """A value of data: four figures, in powers of ten where it is very large or small."""
    if value in (inf, -inf) or isnan(value):
        return number(value)
    plain = value == round(value) and abs(value) < 1e7
    return (f"{value:,.0f}" if plain else f"{value:.4g}").replace("-", "−")
